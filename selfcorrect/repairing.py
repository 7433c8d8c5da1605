"""`repair_call`: mend a call without executing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from selfcorrect._walk import walk
from selfcorrect.context import RunContext, Update
from selfcorrect.model import Call, Change, Finding, call_from_json, call_to_json, change_from_json
from selfcorrect.model import to_json as as_json
from selfcorrect.reading import read_calls
from selfcorrect.state import CorrectionState
from selfcorrect.wiring import Loop, Parts, assemble


@dataclass(frozen=True, slots=True)
class RepairOutcome:
    """What became of a call that was mended without being executed.

    Attributes:
        outcome: `valid` (nothing to do), `repaired`, `ask` (a person has to decide) or `failed`.
        calls: The calls, ready to run; empty unless `valid` or `repaired`.
        changes: What was changed, in order, with strategy, rule and safety class.
        reason: Why not, where the outcome is `ask` or `failed`.
        detail: The same in a sentence.
        model_calls: How often a model was asked.
    """

    outcome: str
    calls: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    reason: str | None = None
    detail: str | None = None
    model_calls: int = 0
    failure: Mapping[str, Any] | None = field(default=None, repr=False)


def repair_call(
    raw_or_call: str | Mapping[str, Any],
    tools: Any,
    *,
    strategies: Any = None,
    model: Any = None,
    request: str | None = None,
    messages: list[Any] | None = None,
    finish_reason: str | None = None,
) -> RepairOutcome:
    """Mend one tool call, or all calls in one text, and execute nothing.

    Not the right tool where the call is to be executed, too: `build_graph` learns from what the
    tool answers.

    Args:
        raw_or_call: A call as an object, or the text that a model wrote.
        tools: Functions, LangChain tools, schemas or `ToolSpec`s on offer.
        strategies: The error-strategy map: an object, a name or a path.
        model: A chat model, asked only where rules end.
        request: What the user asked for.
        messages: The last messages of the conversation.
        finish_reason: Why the model stopped; `"length"` means that the text is cut.

    Raises:
        GraphSetupError: If a tool is unusable.
        MapError: If the map is unusable.

    >>> def double(number: int) -> int:
    ...     '''Double a number.'''
    ...     return number * 2
    >>> mended = repair_call({"name": "double", "args": {"number": "21"}}, [double])
    >>> mended.outcome, mended.calls[0].args, mended.changes[0].safety.value
    ('repaired', {'number': 21}, 'exact')
    """
    loop = repair_loop(tools, strategies, model)
    beside = {"request": request, "messages": messages, "finish_reason": finish_reason}
    given = {key: value for key, value in beside.items() if value is not None}
    return mend(loop, raw_or_call, given)


def repair_loop(tools: Any, strategies: Any = None, model: Any = None) -> Loop:
    """A loop whose execute node only checks; build it once to mend many calls."""
    return assemble(Parts(tools, strategies, model, slots={"executor": check_only}))


def mend(
    loop: Loop, raw_or_call: str | Mapping[str, Any], given: Mapping[str, Any]
) -> RepairOutcome:
    """`repair_call` on a loop that was built before."""
    if not isinstance(raw_or_call, str):
        return _outcome(walk(loop, {"call": raw_or_call, **given}))
    reading = read_calls(raw_or_call, loop.context.tools, finish_reason=given.get("finish_reason"))
    if len(reading.calls) < 2:
        return _outcome(walk(loop, {"raw": raw_or_call, **given}))
    outcomes = [
        _outcome(walk(loop, {"call": call_to_json(item.call), **given})) for item in reading.calls
    ]
    return _together(outcomes)


def check_only(state: CorrectionState, context: RunContext) -> Update:
    """In the place of execute: a call that fits its tool is the result."""
    call = call_from_json(state["current"])
    tool = context.tools.get(call.name)
    findings: tuple[Finding, ...] = ()
    source = "schema"
    if tool is None or call.raw is not None:
        findings, source = (Finding("there is no such tool", ("UnknownTool",)),), "plan"
    elif not tool.is_valid(call.args):
        findings = tool.violations(call.args)
    if findings:
        items = [as_json(finding) for finding in findings]
        return {
            "outcome": "failed",
            "error": {"source": source, "findings": items},
            "trail": [{"ok": False, "error": [item["text"] for item in items]}],
        }
    return {
        "outcome": "done",
        "result": {"call": call_to_json(call), "changes": state.get("changes") or []}
        | {"model_calls": state["counts"].get("model_calls", 0)},
        "error": None,
        "trail": [{"ok": True}],
    }


def _outcome(out: Mapping[str, Any]) -> RepairOutcome:
    failure = out.get("failure")
    if failure:
        asked = failure["reason"] == "needs_person"
        return RepairOutcome(
            "ask" if asked else "failed",
            changes=tuple(change_from_json(item) for item in failure.get("changes") or ()),
            reason=_reason(failure),
            detail=failure["detail"],
            model_calls=(failure.get("counts") or {}).get("model_calls", 0),
            failure=failure,
        )
    if out["trail"][-1]["node"] != "execute":
        detail = "a strategy answered for the tool, and there is no call"
        return RepairOutcome("failed", reason="no_strategy", detail=detail)
    result = out["result"]
    changes = tuple(change_from_json(item) for item in result["changes"])
    return RepairOutcome(
        "repaired" if changes else "valid",
        (call_from_json(result["call"]),),
        changes,
        model_calls=result["model_calls"],
    )


def _reason(failure: Mapping[str, Any]) -> str:
    codes = [finding.get("code") for finding in failure.get("findings") or ()]
    return "no_call" if "no_call" in codes else str(failure["reason"])


def _together(outcomes: list[RepairOutcome]) -> RepairOutcome:
    """Several calls of one text: all of them, or the first that could not be mended."""
    model_calls = sum(item.model_calls for item in outcomes)
    for item in outcomes:
        if item.outcome in ("ask", "failed"):
            return RepairOutcome(
                item.outcome, (), item.changes, item.reason, item.detail, model_calls, item.failure
            )
    changes = tuple(change for item in outcomes for change in item.changes)
    return RepairOutcome(
        "repaired" if changes else "valid",
        tuple(call for item in outcomes for call in item.calls),
        changes,
        model_calls=model_calls,
    )
