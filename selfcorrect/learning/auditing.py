"""What selfcorrect would have done with the calls of a log, before anybody installs it.

Each failing call is put through the whole loop, with tools that fail once as they failed then and
are never really called. What it would have made next is compared with what the run itself made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from selfcorrect.batch.recorded_calls import NoWaiting
from selfcorrect.errors import SelfCorrectError
from selfcorrect.kernel.texts import quoted
from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.history import History
from selfcorrect.learning.recoveries import turn
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.tools import ToolSpec

_MOST_EXAMPLES: Final = 50
_LONGEST: Final = 200
_MADE: Final = "made"


class RecordedError(Exception):
    """What a tool failed with, as the log has it."""


@dataclass(frozen=True, slots=True)
class Example:
    """One failing call, and what would have become of it; its texts are quoted and redacted."""

    tool: str
    error: str
    kind: str
    outcome: str
    strategy: str | None
    confirmed: bool


@dataclass(slots=True)
class Audit:
    """What would have become of the failing calls of a log.

    Attributes:
        calls: Calls in the log.
        runs: Runs in the log.
        failures: Calls that failed.
        kinds: How many failed, by kind of error.
        outcomes: What would have become of them: `mended`, `asked`, `proposed`, `left`.
        strategies: How many would have been mended, by strategy; no model is asked.
        confirmed: How many of these are what the run itself made later, with success, by strategy.
        turns: Calls that such runs made in between, and would not have had to.
        tokens: Tokens that these cost, where the log says so.
        has_tokens: Whether the log has usage at all.
        questions: What a person would have been asked, by question.
        tools: Failures by tool.
        mended_tools: Those that would have been mended, by tool.
        examples: Some of the failing calls.
    """

    calls: int = 0
    runs: int = 0
    failures: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    strategies: Counter[str] = field(default_factory=Counter)
    confirmed: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    tokens: int = 0
    has_tokens: bool = False
    questions: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    mended_tools: Counter[str] = field(default_factory=Counter)
    examples: list[Example] = field(default_factory=list)

    @property
    def mended(self) -> int:
        """How many would have been mended without a model."""
        return self.outcomes["mended"]


class Replayer:
    """Puts recorded calls through the loop; the tools fail once as recorded, and do nothing."""

    def __init__(self, history: History, strategies: StrategyMap) -> None:
        self._pending: RecordedCall | None = None
        self._made: list[tuple[str, Mapping[str, Any]]] = []
        tools = [
            spec
            for name, schema in history.schemas.items()
            if (spec := self._spec(name, schema, history.effects.get(name))) is not None
        ]
        self._loop = assemble(tools, Options(strategies=strategies, time=NoWaiting()))

    def __call__(self, call: RecordedCall) -> tuple[dict[str, Any], list[Any]]:
        """What a run comes to, and every call that it would have made, in order."""
        self._pending, self._made = call, []
        given: dict[str, Any] = {"call": {"name": call.tool, "args": dict(call.arguments)}}
        if call.request is not None:
            given["request"] = call.request
        return walk(self._loop, given), self._made

    def _spec(self, name: str, schema: Mapping[str, Any], effect: Any) -> ToolSpec | None:
        described = {"name": name, "description": "", "parameters": schema}
        try:
            return ToolSpec.from_schema(described, call=self._called(name), effect=effect)
        except SelfCorrectError:
            return None

    def _called(self, name: str) -> Callable[..., Any]:
        def call(**args: Any) -> str:
            pending, first = self._pending, (name, args) not in self._made
            self._made.append((name, args))
            if pending is None or not first or (name, args) != (pending.tool, pending.arguments):
                return _MADE
            raise RecordedError(pending.error)

        return call


def audit(
    calls: Iterable[RecordedCall],
    strategies: Any = None,
    step: Callable[[int, int], None] | None = None,
) -> Audit:
    """What selfcorrect would have done with the failing calls of a log; nothing is executed.

    Args:
        calls: The calls of all runs, successes too, in any order.
        strategies: The error-strategy map: a name, a path or the map; by default the default one.
        step: Told how many of how many failing calls are done.

    Raises:
        MapError: If the map is unusable.
    """
    history = History.of(calls)
    replayer = Replayer(history, load_map(strategies))
    found = Audit(runs=len(history.runs), calls=sum(len(r.calls) for r in history.runs.values()))
    failing = [
        (run.calls, place)
        for run in history.runs.values()
        for place, call in enumerate(run.calls)
        if call.error is not None
    ]
    found.has_tokens = any(call.tokens for call in history.calls)
    for done, (run_calls, place) in enumerate(failing, 1):
        _look_at(found, replayer, run_calls, place)
        if step is not None:
            step(done, len(failing))
    return found


def _look_at(found: Audit, replayer: Replayer, calls: Sequence[RecordedCall], place: int) -> None:
    call = calls[place]
    out, made = replayer(call)
    kind = _kind(out)
    failure = out.get("failure")
    strategy = None if failure is not None else _strategy(out)
    outcome = _outcome(failure, strategy)
    found.failures += 1
    found.kinds[kind] += 1
    found.tools[call.tool] += 1
    found.outcomes[outcome] += 1
    confirmed = False
    if outcome == "mended" and strategy is not None:
        found.strategies[strategy] += 1
        found.mended_tools[call.tool] += 1
        later = made_later(calls, place, made[-1])
        confirmed = later is not None
        if later is not None:
            found.confirmed[strategy] += 1
            found.turns += later - place
            found.tokens += sum(each.tokens or 0 for each in calls[place + 1 : later + 1])
    if outcome == "asked":
        question = (failure or {}).get("question") or {}
        found.questions[quoted(str(question.get("question") or ""), _LONGEST)] += 1
    if len(found.examples) < _MOST_EXAMPLES:
        error = quoted(call.error or "", _LONGEST)
        example = Example(quoted(call.tool, 80), error, kind, outcome, strategy, confirmed)
        found.examples.append(example)


def _kind(out: Mapping[str, Any]) -> str:
    kinds = [finding["kind"] for event in out["trail"] for finding in event.get("findings") or ()]
    return str(kinds[0]) if kinds else "none"


def _strategy(out: Mapping[str, Any]) -> str | None:
    """What mended the call: the last strategy that changed, prepared or repeated it."""
    tried = [item for event in out["trail"] for item in event.get("tried") or ()]
    helped = [item["strategy"] for item in tried if item["outcome"] in _HELPED]
    return str(helped[-1]) if helped else None


_HELPED: Final = ("changed", "prepared", "wait", "answered")


def _outcome(failure: Mapping[str, Any] | None, strategy: str | None) -> str:
    if failure is None:
        return "mended" if strategy is not None else "left"
    if failure["reason"] == "needs_person" or failure.get("question"):
        return "asked"
    return "proposed" if failure.get("proposal") else "left"


def made_later(
    calls: Sequence[RecordedCall], place: int, made: tuple[str, Mapping[str, Any] | None]
) -> int | None:
    """Where the run itself made this call with success, in the same turn; None: with any arguments.

    Args:
        calls: The calls of the run.
        place: The failing one.
        made: The tool, and its arguments.
    """
    did = (at for at, call in turn(calls, place) if call.error is None and is_same_call(call, made))
    return next(did, None)


def is_same_call(call: RecordedCall, made: tuple[str, Mapping[str, Any] | None]) -> bool:
    """Whether a recorded call is this one."""
    return call.tool == made[0] and (made[1] is None or dict(call.arguments) == dict(made[1]))
