"""`selfcorrect repair`: mend calls from a file, and execute nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Annotated, Any, Final

import typer

from selfcorrect.batch.repairing import RepairOutcome, check_only, mend
from selfcorrect.cli import batch, lines
from selfcorrect.cli.screen import clip, dump, listed, refuse
from selfcorrect.errors import MapError, SelfCorrectError
from selfcorrect.evidence import read_report
from selfcorrect.json_forms import call_from_json, to_json
from selfcorrect.loop.context import Node, RunContext, SystemTime, Update
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.progress import add
from selfcorrect.loop.setup import assemble
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import JSON, Call, Change
from selfcorrect.state import CorrectionState
from selfcorrect.tools import ToolSpec

SHOWN: Final = ("path", "before", "after", "strategy", "rule", "safety")
"""What of a change is written; `before` or `after` is left out where there was or is nothing."""

GIVEN: Final = {
    "id": "anything; the answer has it too",
    "tools": "the tools on offer, a list: name, description, parameters, effect",
    "raw": "what the model wrote, as text; a line has this or call",
    "call": "a call, a message or a response as an object, or a list of calls",
    "request": "what the user asked for",
    "messages": "the last messages of the conversation, a list",
    "finish_reason": 'why the model stopped; "length": the text is cut',
    "error": "what the tool said to this call, which is then not valid as it is",
}
"""The keys of a line that is read."""
ANSWERED: Final = {
    "id": "the line's own",
    "outcome": "valid, repaired, ask (a person has to decide) or failed",
    "calls": "the calls to run, each name and arguments; none if ask or failed",
    "changes": f"what was changed, each {', '.join(SHOWN)}",
    "reason": "why not, in one word, if ask or failed",
    "detail": "the same in a sentence: what is wrong, and where",
    "question": "what a person would have to answer, if ask",
    "model_calls": "how often a model was asked",
    "each": "of several calls that are not all ready: outcome, calls and reason of each",
}
"""The keys of a line that is written; those of a reason, and `each`, only where there is one."""


HELP: Final = "\n\n".join(
    (
        listed("A line of IN is an object in JSON; null means absent:", GIVEN),
        listed("A line of OUT:", ANSWERED),
    )
)
"""What `--help` says of the lines."""


def repair(
    jsonl: Annotated[str, typer.Option(metavar="IN", help="Calls, one per line; - is stdin.")],
    out: Annotated[str, typer.Option(metavar="OUT", help="Answers, in order; - is stdout.")],
    strategies: Annotated[
        str | None, typer.Option(metavar="NAME|PATH", help="Another error-strategy map.")
    ] = None,
    no_model: Annotated[  # noqa: ARG001 -- no way to name a model exists yet
        bool, typer.Option("--no-model", help="Ask no model, even if one is configured.")
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="How many processes; by default as many as a big file is worth."),
    ] = None,
) -> None:
    """Mend tool calls without executing them: one answer per line, in order."""
    try:
        policy = load_map(strategies)
    except MapError as error:
        refuse(str(error))
    count = batch.processes(jsonl, processes)
    all_done = True
    with lines.raw_reader(jsonl) as given, lines.writer(out, jsonl) as stream:
        if count > 1:
            answers = batch.in_processes(given, answer_in_worker, strategies, count)
        else:
            answers = (answer_all([raw], policy) for raw in given)
        for text, done in answers:
            stream.write(text)
            stream.flush()  # whoever follows the file sees an answer as soon as it is there
            all_done = all_done and done
    raise typer.Exit(0 if all_done else 1)


def answer_in_worker(chunk: list[lines.Raw], strategies: str | None) -> batch.Answers:
    """`answer_all` in a process of its own, which loads the map by its name, once."""
    return answer_all(chunk, _policy(strategies))


def answer_all(chunk: list[lines.Raw], policy: StrategyMap) -> batch.Answers:
    """The answers to a chunk of lines, as text, and whether every call may run now."""
    answers = [answered(line, policy) for raw in chunk if (line := lines.read(raw)) is not None]
    done = all(answer["outcome"] in ("valid", "repaired") for answer in answers)
    return "".join(f"{dump(answer)}\n" for answer in answers), done


@cache
def _policy(strategies: str | None) -> StrategyMap:
    return load_map(strategies)


def answered(line: lines.Line, policy: StrategyMap) -> dict[str, Any]:
    """The answer to one line; whatever is wrong with it becomes an answer too."""
    given = line.value if isinstance(line.value, Mapping) else {}
    try:
        outcome = _mended(line, policy)
    except (_Unusable, SelfCorrectError) as error:
        outcome = RepairOutcome("failed", reason="invalid_input", detail=str(error))
    except Exception as error:  # one bad line never stops the others
        detail = clip(f"{type(error).__name__}: {error}")
        outcome = RepairOutcome("failed", reason="internal_error", detail=detail)
    beside = {
        "reason": outcome.reason,
        "detail": outcome.detail,
        "question": (outcome.failure or {}).get("question"),
    }
    each = [_of_several(one) for one in outcome.each if outcome.outcome in ("ask", "failed")]
    return {
        "id": given.get("id"),
        "outcome": outcome.outcome,
        "calls": _calls(outcome),
        "changes": [_shown(change) for change in outcome.changes],
        **{key: value for key, value in beside.items() if value is not None},
        "model_calls": outcome.model_calls,
        **({"each": each} if each else {}),
    }


def _calls(outcome: RepairOutcome) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": call.args} for call in outcome.calls]


def _of_several(one: RepairOutcome) -> dict[str, Any]:
    """What became of one call of several."""
    shown = {"outcome": one.outcome, "calls": _calls(one)}
    return shown | ({"reason": one.reason} if one.reason is not None else {})


class _Unusable(Exception):
    """The line is not one that this command can answer."""


def _mended(line: lines.Line, policy: StrategyMap) -> RepairOutcome:
    if line.error is not None:
        raise _Unusable(line.error)
    if not isinstance(line.value, Mapping):
        raise _Unusable(f"{line.where}: a line is an object")
    given = {key: value for key, value in line.value.items() if value is not None}
    written, offered = given.get("raw", given.get("call")), given.get("tools")
    if ("raw" in given) == ("call" in given):
        raise _Unusable(f"{line.where}: a line has either raw or call")
    if not isinstance(written, str if "raw" in given else Mapping | list):
        raise _Unusable(f"{line.where}: raw is a text, and call an object or a list of them")
    if not isinstance(offered, list):
        raise _Unusable(f"{line.where}: tools is a list")
    tools, error = tuple(json.dumps(tool) for tool in offered), given.get("error")
    try:
        if error is None:
            loop = _checking(tools, policy)
        else:
            loop = _loop(tools, policy, _rejecting(str(error)))
    except (_Unusable, SelfCorrectError) as wrong:
        raise _Unusable(f"{line.where}: tools: {wrong}") from wrong
    beside = {key: given[key] for key in ("request", "finish_reason", "messages") if key in given}
    return mend(loop, written, beside)


@lru_cache(maxsize=64)
def _checking(tools: tuple[str, ...], policy: StrategyMap) -> Loop:
    """The loop of neighbouring lines, which mostly offer the same tools."""
    return _loop(tools, policy, check_only)


def _loop(tools: tuple[str, ...], policy: StrategyMap, executor: Node) -> Loop:
    made = [_tool(tool) for tool in tools]
    return assemble(made, Options(strategies=policy, executor=executor, time=_NoWaiting()))


@lru_cache(maxsize=256)
def _tool(text: str) -> ToolSpec:
    """One tool of a line, from its text."""
    tool = json.loads(text)
    if not isinstance(tool, dict):
        raise _Unusable("a tool is an object")
    return ToolSpec.from_schema(tool, effect=tool.pop("effect", None))


def _rejecting(error: str) -> Node:
    """Execute, for a call that its tool is known to have rejected as it came in."""

    def execute(state: CorrectionState, context: RunContext) -> Update:
        update = dict(check_only(state, context))
        if update["outcome"] != "done" or state.get("changes"):
            return update
        call: Call = call_from_json(state["current"])
        findings = read_report(
            error, schema=context.tools[call.name].schema, arguments=call.args, tool=call.name
        )
        items = [to_json(finding) for finding in findings]
        return {
            "outcome": "failed",
            "error": {"source": "schema", "findings": items},
            "counts": add(state["counts"], "attempts"),
            "trail": [{"ok": False, "error": [item["text"] for item in items]}],
        }

    return execute


class _NoWaiting(SystemTime):
    """Nothing is executed, so there is nothing to wait for."""

    def sleep(self, seconds: float) -> None:
        """Return at once."""

    async def asleep(self, seconds: float) -> None:
        """Return at once."""


def _shown(change: Change) -> dict[str, JSON]:
    items = to_json(change)
    return {key: items[key] for key in SHOWN if key in items}
