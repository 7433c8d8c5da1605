"""ErrorReport calls, one a line: mended, and nothing executed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from selfcorrect.batch.checking import check_only, repair_loop
from selfcorrect.batch.lines import Line, clip
from selfcorrect.batch.mended import Mended, MendedCall
from selfcorrect.batch.mending import mend
from selfcorrect.batch.processes import Job, answered_all
from selfcorrect.errors import SelfCorrectError
from selfcorrect.evidence import ErrorReport, read
from selfcorrect.json_forms import call_from_json, to_json
from selfcorrect.loop.context import Node, RunContext, SystemTime, Update
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.nodes.execute import failed
from selfcorrect.loop.options import Options
from selfcorrect.loop.progress import add
from selfcorrect.mapping.files import MapSource
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import JSON, Call, Change
from selfcorrect.state import CorrectionState
from selfcorrect.tools import ToolSpec

SHOWN: Final = ("path", "before", "after", "strategy", "rule", "safety")
"""What of a change is written; `before` or `after` is left out where there was or is nothing."""


def repair(
    lines: Iterable[Mapping[str, Any] | str | bytes],
    *,
    strategies: StrategyMap | MapSource | None = None,
    processes: int = 1,
) -> Iterator[dict[str, Any]]:
    """Mend recorded calls and execute nothing: one answer per line, in order, as they come.

    Not the right tool for calls that are to be executed: `build_graph` learns from what the tools
    answer.

    Args:
        lines: Calls, each an object (`{"id", "tools", "raw" or "call", …}`) or the JSON text of
            one; the page "ErrorReport calls" has all keys. An empty text is answered, too.
        strategies: An error-strategy map: the object, its name or its path.
        processes: How many processes work; more than one need lines and map that can be pickled,
            and a main module that can be imported.

    Returns:
        An iterator over `{"id", "outcome", "calls", "changes", "reason"?, "model_calls", …}`. A
        line that cannot be used is answered with outcome `failed`, reason `invalid_input`.

    Raises:
        MapError: If the map is unusable; before the first line is asked for.

    >>> tool = {"name": "double", "parameters": {"properties": {"number": {"type": "integer"}}}}
    >>> call = {"name": "double", "arguments": {"number": "21"}}
    >>> [answer] = repair([{"id": 1, "tools": [tool], "call": call}])
    >>> answer["outcome"], answer["calls"]
    ('repaired', [{'name': 'double', 'arguments': {'number': 21}}])
    """
    return answered_all(lines, JOB, load_map(strategies), processes)


def outcome_of(answer: Mapping[str, Any]) -> str:
    """What a line came to, in a word."""
    return str(answer.get("outcome"))


def answered(line: Line, policy: StrategyMap) -> dict[str, Any]:
    """The answer to one line; whatever is wrong with it becomes an answer too."""
    try:
        outcome = _mended(line, policy)
    except (_Unusable, SelfCorrectError) as error:
        outcome = Mended("failed", reason="invalid_input", detail=str(error))
    except Exception as error:  # one bad line never stops the others
        detail = clip(f"{type(error).__name__}: {error}")
        outcome = Mended("failed", reason="internal_error", detail=detail)
    beside = {
        "reason": outcome.reason,
        "detail": outcome.detail,
        "question": (outcome.failure or {}).get("question"),
    }
    is_done = outcome.outcome in ("valid", "repaired")
    several = outcome.calls if len(outcome.calls) > 1 and not is_done else ()
    each = [_of_several(call) for call in several]
    return {
        "id": line.id,
        "outcome": outcome.outcome,
        "calls": [_shown_call(call) for call in outcome.calls] if is_done else [],
        "changes": [_shown(change) for change in outcome.changes],
        **{key: value for key, value in beside.items() if value is not None},
        "model_calls": outcome.model_calls,
        **({"each": each} if each else {}),
    }


def _shown_call(call: MendedCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.args}


def _of_several(call: MendedCall) -> dict[str, Any]:
    """What became of one call of several."""
    calls = [] if call.args is None else [_shown_call(call)]
    shown = {"outcome": call.outcome, "calls": calls}
    return shown | ({"reason": call.reason} if call.reason is not None else {})


class _Unusable(Exception):
    """The line is not one that this command can answer."""


def _mended(line: Line, policy: StrategyMap) -> Mended:
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
            loop = _checking(_distinct(tools, written), policy)
        else:
            loop = _loop(tools, policy, _rejecting(str(error)))
    except (_Unusable, SelfCorrectError) as wrong:
        raise _Unusable(f"{line.where}: tools: {wrong}") from wrong
    beside = {key: given[key] for key in BESIDE if key in given}
    return mend(loop, written, beside)


def _distinct(tools: tuple[str, ...], written: Any) -> tuple[str, ...]:
    """The tools without those that share a name, where a call names one of the others.

    Any other call may mean one of them: nobody knows which.
    """
    named = Counter(_tool(tool).name for tool in tools)
    if not isinstance(written, Mapping) or named.get(str(written.get("name"))) != 1:
        return tools
    return tuple(tool for tool in tools if named[_tool(tool).name] == 1)


@lru_cache(maxsize=64)
def _checking(tools: tuple[str, ...], policy: StrategyMap) -> Loop:
    """The loop of neighbouring lines, which mostly offer the same tools."""
    return _loop(tools, policy, check_only)


def _loop(tools: tuple[str, ...], policy: StrategyMap, executor: Node) -> Loop:
    made = [_tool(tool) for tool in tools]
    return repair_loop(made, Options(strategies=policy, time=NoWaiting()), executor)


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
        tool, bodies = context.tools[call.name], context.strategies.bodies
        reading = read(ErrorReport(error), call, tool, bodies=bodies)
        context.heard.keep(state["run"], reading)
        return {
            **failed("schema", reading.findings, {}),
            "counts": add(state["counts"], "attempts"),
        }

    return execute


class NoWaiting(SystemTime):
    """Nothing is executed, so there is nothing to wait for."""

    def sleep(self, seconds: float) -> None:
        """Return at once."""

    async def asleep(self, seconds: float) -> None:
        """Return at once."""


def _shown(change: Change) -> dict[str, JSON]:
    items = to_json(change)
    return {key: items[key] for key in SHOWN if key in items}


BESIDE: Final = ("request", "messages", "finish_reason", "tool_choice", "answer")
"""What goes with a call into a run."""
KEYS: Final = frozenset({"id", "tools", "raw", "call", "error", *BESIDE})
"""The keys of a line that are read."""
JOB: Final = Job(answered, outcome_of, frozenset({"ask", "failed"}), KEYS)
