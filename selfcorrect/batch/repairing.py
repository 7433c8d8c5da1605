"""`repair_call`: mend a call without executing it, and without a graph.

What fixes a call chains, each step taking what the one before returned: the text is read
(`fix-json`), the tool's name and the arguments are brought to the schema, and a model is asked
last, where one was given. Which steps there are, and in which order, says the error-strategy map.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Unpack

from selfcorrect.batch.written import WANTED, Unusable, arguments_of, written
from selfcorrect.json_forms import (
    call_from_json,
    call_to_json,
    change_from_json,
    finding_to_json,
    to_json,
)
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import OptionKeywords, Options
from selfcorrect.loop.setup import DEFAULTS, assemble
from selfcorrect.loop.walk import walk
from selfcorrect.model import Call, Category, Change, Changed, ErrorKind, Finding
from selfcorrect.models.advice import advice
from selfcorrect.models.telling import for_model
from selfcorrect.pointer import apply
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.fix_json import FixJson
from selfcorrect.report import FailureReport
from selfcorrect.state import CorrectionState


@dataclass(frozen=True, slots=True)
class RepairOutcome:
    """What became of a call that was mended without being executed.

    Attributes:
        outcome: `valid` (nothing to do), `repaired`, `ask` (a person has to decide) or `failed`.
        calls: The calls, ready to run; empty unless `valid` or `repaired`.
        changes: What was changed, in order, with strategy, rule and safety class.
        reason: Why not, where the outcome is `ask` or `failed`.
        detail: The same in a sentence: what is wrong, and where.
        model_calls: How often a model was asked.
        failure: The report of a run that came to nothing; see `FailureReport`.
        each: What became of each call, in order, where there were several: one that cannot be
            mended holds up none of the others. The outcome is that of the worst.
    """

    outcome: Literal["valid", "repaired", "ask", "failed"]
    calls: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    reason: str | None = None
    detail: str | None = None
    model_calls: int = 0
    failure: Mapping[str, Any] | None = field(default=None, repr=False)
    each: tuple[RepairOutcome, ...] = ()


def repair_call(
    raw_or_call: Any,
    tools: Any,
    *,
    request: str | None = None,
    messages: list[Any] | None = None,
    finish_reason: str | None = None,
    **options: Unpack[OptionKeywords],
) -> RepairOutcome:
    """Mend one tool call, or all calls in one text, and execute nothing.

    Not the right tool where the call is to be executed, too: `build_graph` learns from what the
    tool answers.

    Args:
        raw_or_call: What a model wrote: a text, a call as an object, a list of calls, a message or
            a provider's whole response as an object, or a LangChain message.
        tools: Functions, LangChain tools, schemas or `ToolSpec`s on offer.
        request: What the user asked for.
        messages: The last messages of the conversation.
        finish_reason: Why the model stopped; `"length"` means that the text is cut. By default
            what a message or response says of it.
        options: `strategies`, `model`, `limits` and all others of `build_graph` that have to do
            with mending.

    Raises:
        GraphSetupError: If a tool is unusable.
        MapError: If the map is unusable.

    Several calls come back all together, or in `calls` none does; `each` has what became of each by
    itself. Those of a text belong together, so beside one that failed do not run the others; those
    that came as parallel calls stand for themselves. The arguments of a call that was valid as it
    came are the caller's own object, untouched.

    >>> def double(number: int) -> int:
    ...     '''Double a number.'''
    ...     return number * 2
    >>> mended = repair_call({"name": "double", "args": {"number": "21"}}, [double])
    >>> mended.outcome, mended.calls[0].args, mended.changes[0].safety.value
    ('repaired', {'number': 21}, 'exact')
    """
    loop = repair_loop(tools, Options.of(options))
    beside = {"request": request, "messages": messages, "finish_reason": finish_reason}
    given = {key: value for key, value in beside.items() if value is not None}
    return mend(loop, raw_or_call, given)


def repair_loop(tools: Any, options: Options = DEFAULTS) -> Loop:
    """A loop whose execute node only checks; build it once to mend many calls."""
    return assemble(tools, options.checking(check_only))


def mend(loop: Loop, raw_or_call: Any, given: Mapping[str, Any]) -> RepairOutcome:
    """`repair_call` on a loop that was built before."""
    try:
        found = written(raw_or_call)
    except Unusable as error:
        return _unusable(error)
    if found.finish_reason is not None:
        given = {"finish_reason": found.finish_reason, **given}
    if found.text is not None:
        outcome = _mend_text(loop, found.text, given)
        if outcome.reason == "no_call" and not isinstance(raw_or_call, str):
            detail = f"the {type(raw_or_call).__name__} holds no call: {WANTED}"
            return replace(outcome, detail=detail)
        return outcome
    return _together([_mend_object(loop, call, given) for call in found.calls])


def _mend_object(loop: Loop, call: Mapping[str, Any], given: Mapping[str, Any]) -> RepairOutcome:
    outcome = _outcome(walk(loop, {"call": call, **given}))
    own = arguments_of(call) if outcome.outcome == "valid" else None
    if own is None:
        return outcome
    # The run had a copy of its own; who gave a valid call gets back the very same arguments.
    return replace(outcome, calls=(replace(outcome.calls[0], args=own),))


def _mend_text(loop: Loop, raw: str, given: Mapping[str, Any]) -> RepairOutcome:
    out = walk(loop, {"raw": raw, **given})
    if not _holds_several(out):
        return _outcome(out)
    reader = _reader(loop.context)
    read = () if reader is None else reader.each(raw, _known(loop.context, given))
    if reader is None or len(read) < 2:
        return _outcome(out)
    made = [_marked(changed, reader, loop.context) for changed in read]
    if why := _refused(made, raw, loop.context):
        detail = f"the text holds {len(read)} calls, of which one may not be read so: {why}"
        return replace(_outcome(out), detail=detail)
    calls = [apply(Call("", raw=raw), changes) for changes in made]
    beside = {**given, "written": raw}
    outs = [walk(loop, {"call": call_to_json(call), **beside}) for call in calls]
    return _together([_outcome(*pair) for pair in zip(outs, made, strict=True)])


def _unusable(error: Unusable) -> RepairOutcome:
    """The report on what is neither a call nor a text."""
    detail = str(error)
    kind, category = ErrorKind.VALIDATION, Category.MALFORMED_JSON
    cut = Finding(
        detail, ("MalformedCall",), code="cut", paths=("/raw",), kind=kind, category=category
    )
    findings = (finding_to_json(cut),) if error.cut else ()
    report = FailureReport("invalid_input", detail, findings=findings)
    told = replace(report, advice=tuple(advice(report, ())), for_model=for_model(report))
    return RepairOutcome("failed", reason="invalid_input", detail=detail, failure=to_json(told))


def _holds_several(out: Mapping[str, Any]) -> bool:
    findings = (out.get("failure") or {}).get("findings") or ()
    return any(finding.get("code") == "several_calls" for finding in findings)


def _reader(context: RunContext) -> FixJson | None:
    """What the map reads malformed calls with, if it lets rules read them."""
    finding = context.strategies.decide(_MALFORMED)
    rungs = (context.strategies.strategy(finding.rule or "", name) for name in finding.ladder)
    return next((rung for rung in rungs if isinstance(rung, FixJson)), None)


def _known(context: RunContext, given: Mapping[str, Any]) -> RepairContext:
    return RepairContext(
        tools=context.tools,
        request=given.get("request"),
        finish_reason=given.get("finish_reason"),
        messages=tuple(given.get("messages") or ()),
        reading=context.strategies.reading,
    )


def _marked(changed: Changed, reader: FixJson, context: RunContext) -> tuple[Change, ...]:
    rule = context.strategies.decide(_MALFORMED).rule
    return tuple(replace(item, strategy=reader.name, rule=rule) for item in changed.changes)


def _refused(made: list[tuple[Change, ...]], raw: str, context: RunContext) -> str | None:
    """Why the policy does not let these changes run unasked: a run carries one call only."""
    whys: set[str] = set()
    for changes in made:
        tool = context.tools.get(apply(Call("", raw=raw), changes).name)
        allowed = context.strategies.allowed(changes[0].rule)
        refusals = context.safety.refusals(changes, context.tools, tool, allowed)
        whys.update(why for _, why in refusals)
    return "; ".join(sorted(whys)) or None


_MALFORMED: Final = Finding("several calls", ("MalformedCall",), code="malformed_json")


def check_only(state: CorrectionState, context: RunContext) -> Update:
    """In the place of execute: a call that fits its tool is the result."""
    call = call_from_json(state["current"])
    tool = context.tools.get(call.name)
    findings: tuple[Finding, ...] = ()
    source = "schema"
    if tool is None or call.raw is not None:
        findings, source = (Finding("there is no such tool", ("UnknownTool",)),), "plan"
    else:
        findings = tool.violations(call.args)
    if findings:
        items = [finding_to_json(finding) for finding in findings]
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


def _outcome(out: Mapping[str, Any], before: tuple[Change, ...] = ()) -> RepairOutcome:
    """What a run came to; `before` are the changes that made its call."""
    failure = out.get("failure")
    if failure:
        asked = failure["reason"] == "needs_person"
        return RepairOutcome(
            "ask" if asked else "failed",
            changes=(*before, *map(change_from_json, failure.get("changes") or ())),
            reason=failure["reason"],
            detail=failure["detail"],
            model_calls=(failure.get("counts") or {}).get("model_calls", 0),
            failure=failure,
        )
    if out["trail"][-1]["node"] != "execute":
        detail = "a strategy answered for the tool, and there is no call"
        return RepairOutcome("failed", reason="no_strategy", detail=detail)
    result = out["result"]
    changes = (*before, *map(change_from_json, result["changes"]))
    return RepairOutcome(
        "repaired" if changes else "valid",
        (call_from_json(result["call"]),),
        changes,
        model_calls=result["model_calls"],
    )


def _together(outcomes: list[RepairOutcome]) -> RepairOutcome:
    """Several calls: what became of each, and of all of them as the worst did."""
    if len(outcomes) == 1:
        return outcomes[0]
    model_calls = sum(item.model_calls for item in outcomes)
    each = tuple(outcomes)
    worst = max(outcomes, key=lambda item: _WORSE.index(item.outcome), default=None)
    if worst is not None and worst.outcome in ("ask", "failed"):
        return replace(worst, calls=(), model_calls=model_calls, each=each)
    changes = tuple(change for item in outcomes for change in item.changes)
    return RepairOutcome(
        "repaired" if changes else "valid",
        tuple(call for item in outcomes for call in item.calls),
        changes,
        model_calls=model_calls,
        each=each,
    )


_WORSE: Final = ("valid", "repaired", "ask", "failed")
