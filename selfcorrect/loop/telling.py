"""What the model and a person read of a run that failed, out of all that the run knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selfcorrect.effects import destroys
from selfcorrect.kernel.texts import without_folders
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.masking import Mask
from selfcorrect.loop.progress import readings_of, refusal_of
from selfcorrect.model import Category
from selfcorrect.models.advice import advice
from selfcorrect.models.telling import Known, for_model
from selfcorrect.models.unsaid import is_unsaid
from selfcorrect.pointer import get, split
from selfcorrect.protocols import Tool
from selfcorrect.report import FailureReport
from selfcorrect.schema.subschema import Alternatives, at, declared
from selfcorrect.state import CorrectionState
from selfcorrect.text import similar_names


def told(
    report: FailureReport,
    state: CorrectionState,
    refused: Sequence[Mapping[str, Any]],
    mask: Mask,
    context: RunContext,
) -> dict[str, Any]:
    """The texts of a report: for the model, and advice for a person."""
    stop = state["stop"] or {}
    return {
        "advice": tuple(advice(report, refused)),
        "for_model": without_folders(
            for_model(report, _known(state, stop, report, mask, context)), report.call
        ),
    }


def _known(
    state: CorrectionState,
    stop: Mapping[str, Any],
    report: FailureReport,
    mask: Mask,
    context: RunContext,
) -> Known:
    """What the model may know beside the report."""
    tool = context.tools.get(report.tool or "")
    errors = context.errors.of(state.get("run", ""))
    words = context.senses.words(errors[-1]) if errors else ""
    said = stop.get("escalation") or stop.get("said")
    open_ones = {path for one in report.findings for path in one.get("paths") or (None,)}
    advised = (item.get("reason") for item in report.tried if item.get("outcome") == "advised")
    return Known(
        tool_words=context.tool_words,
        said=mask.text(str(said)) if said else None,
        words=mask.text(words),
        unsaid=frozenset(_unsaid(state, report, tool)),
        readings=tuple(readings_of(report.tried, open_ones)),
        refusal=refusal_of(report.tried, open_ones),
        destroys=tool is not None and destroys(tool),
        tools=frozenset(context.tools) - {report.tool or ""},
        before=next(filter(None, advised), None),
    )


def _unsaid(state: CorrectionState, report: FailureReport, tool: Tool | None) -> Iterator[str]:
    """Missing values of which nothing in the conversation speaks."""
    given = state.get("given") or {}
    messages = [item for item in given.get("messages") or () if isinstance(item, Mapping)]
    texts = [str(given.get("request") or ""), *(str(item.get("content")) for item in messages)]
    args = (report.call or {}).get("args")
    for finding in report.findings:
        for path in finding.get("paths") or ():
            schemas = _schemas_at(tool, path)
            is_missing = finding.get("category") == Category.MISSING_PARAM
            if is_missing and schemas and all(is_unsaid(texts, args, one) for one in schemas):
                yield path


def nearest_first(
    finding: Mapping[str, Any], call: Mapping[str, Any] | None, tools: Mapping[str, Tool]
) -> Mapping[str, Any]:
    """The finding, with the names first that a name which does not exist may stand for."""
    types, constraint = list(finding.get("types") or ()), finding.get("constraint") or {}
    path = next(iter(finding.get("paths") or ()), "")
    name = str((call or {}).get("name") or "")
    if types == ["UnknownTool"]:
        near = similar_names(name, tools).names
        listed = list(dict.fromkeys((*near, *(constraint.get("enum") or ()))))
        return {**finding, "suggestions": list(near), "constraint": {**constraint, "enum": listed}}
    if finding.get("suggestions") or types != ["InvalidArgs"]:
        return finding
    wrong: Any = get(call, path) if path else None
    names = constraint.get("enum") or ()
    if finding.get("category") == Category.EXTRA_PARAM:
        around = _schemas_at(tools.get(name), path.rpartition("/")[0])
        wrong, names = split(path)[-1], tuple(declared(around))
    if not isinstance(wrong, str):
        return finding
    near = similar_names(wrong, [name for name in names if isinstance(name, str)]).names
    return {**finding, "suggestions": list(near)}


def _schemas_at(tool: Tool | None, path: str) -> Alternatives:
    """What the tool's schema says of a place among the arguments."""
    if tool is None or not path.startswith("/args"):
        return ()
    return at(tool.schema, split(path)[1:]) or ()
