"""What a proposed entry has to pass before it is written down: each gate is reported.

First the map language itself and what may stand in it, then all recorded runs: what it matches,
what it decides otherwise, what it mends as a run itself did, and what nobody did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

from selfcorrect.errors import MapError
from selfcorrect.learning.auditing import Replayer, is_same_call, made_later
from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.history import History
from selfcorrect.learning.recoveries import form_of
from selfcorrect.mapping.linting import lint
from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.recalling.binding import is_bound
from selfcorrect.recalling.named import is_named

Entry: TypeAlias = ErrorRule | RecallEntry
OWN: Final = "proposed"
_MOST_HEALTHY: Final = 20_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """What an entry would have changed in recorded runs.

    Attributes:
        matches: Failing calls that it is about.
        changed: Failing calls of other errors that would end otherwise than without it.
        mended: Calls that it mends as the run itself did.
        tasks: Tasks of these calls.
        foreign: Calls that it mends otherwise than the run did.
        unknown: Calls that it mends, and of which the run never got further.
        healthy: Calls that did well and would be made otherwise.
    """

    matches: int = 0
    changed: int = 0
    mended: int = 0
    tasks: int = 0
    foreign: int = 0
    unknown: int = 0
    healthy: int = 0

    def __str__(self) -> str:
        """The counts in one line, as they stand in the file."""
        return (
            f"{self.matches} matches, {self.mended} mended as recorded in {self.tasks} tasks, "
            f"{self.foreign} foreign, {self.unknown} unknown, {self.changed} other decisions "
            f"changed, {self.healthy} healthy calls changed"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an entry passed, the gate that it failed at, and why."""

    gate: str | None
    why: str
    counts: Replayed = field(default_factory=Replayed)

    @property
    def passed(self) -> bool:
        """Whether no gate refused it."""
        return self.gate is None


class Gates:
    """The gates over recorded runs; the runs are replayed without any entry only once.

    Args:
        history: The recorded runs.
        base: The map that entries are proposed for.
    """

    def __init__(self, history: History, base: StrategyMap) -> None:
        self._history = history
        self._base = base

    def __call__(self, entry: Entry, example: str, tool: str) -> Verdict:
        """Put an entry through all gates.

        Args:
            entry: What is proposed.
            example: An error that it is meant for, as a run has it.
            tool: The tool that raised it.
        """
        if (why := self._refused(entry, example, tool)) is not None:
            return Verdict("check", why)
        counts = self._replayed(entry)
        if not counts.matches:
            return Verdict("replay", "it matches no recorded failure", counts)
        if counts.changed:
            return Verdict("replay", f"{counts.changed} other decisions would change", counts)
        if counts.foreign:
            return Verdict(
                "replay", f"{counts.foreign} calls would be mended as nobody did", counts
            )
        if counts.healthy:
            return Verdict("healthy", f"{counts.healthy} healthy calls would change", counts)
        return Verdict(None, "passed", counts)

    # --- check ------------------------------------------------------------------------------------

    def _refused(self, entry: Entry, example: str, tool: str) -> str | None:
        """What the map language, the linter, or the ban on values has against it."""
        try:
            strategies = self._with(entry)
        except MapError as error:
            return str(error.faults[0])
        faults = [each for each in lint(strategies) if each.level == "error"]
        if faults:
            return str(faults[0])
        if isinstance(entry, RecallEntry):
            return next(self._free(entry), None)
        finding = _finding(strategies, example, tool)
        if finding.rule != f"{OWN}/{entry.id}":
            return f"its own example is decided by {finding.rule}"
        return None

    def _free(self, entry: RecallEntry) -> Iterator[str]:
        """Values that no schema names; tools that nobody knows."""
        places = [(step.tool, step.args) for step in entry.first]
        for tool, args in [*places, (entry.tool, entry.edits)]:
            schema = self._history.schemas.get(tool)
            if schema is None:
                yield f"no run has a call of {tool!r}"
                continue
            known: Any = schema.get("properties") or {}
            for name, value in args.items():
                if name not in known:
                    yield f"{tool} takes no {name!r}"
                elif not is_bound(value) and not is_named(value, known[name]):
                    yield f"{tool}.{name}: the schema names no such value"

    # --- replay -----------------------------------------------------------------------------------

    def _with(self, entry: Entry) -> StrategyMap:
        """The map with the entry in force, as if it had left quarantine."""
        free = entry.model_copy(update={"suggest": False})
        extends = [each.label or each.name for each in self._base.documents[:1]]
        rules = [free] if isinstance(free, ErrorRule) else []
        recall = [free] if isinstance(free, RecallEntry) else []
        return StrategyMap(rules, recall=recall, extends=extends, name=OWN)

    @cached_property
    def _before(self) -> list[list[Any]]:
        replayer = Replayer(self._history, self._base)
        return [_end(replayer, call) for _, call in self._calls]

    @cached_property
    def _calls(self) -> list[tuple[int, RecordedCall]]:
        """Every failing call, and every healthy one that differs, with its place in its run."""
        found: list[tuple[int, RecordedCall]] = []
        seen: set[tuple[str, str]] = set()
        for run in self._history.runs.values():
            for place, call in enumerate(run.calls):
                key = (call.tool, repr(call.arguments))
                if call.error is None and (key in seen or len(seen) >= _MOST_HEALTHY):
                    continue
                if call.error is None:
                    seen.add(key)
                found.append((place, call))
        return found

    def _replayed(self, entry: Entry) -> Replayed:
        strategies = self._with(entry)
        replayer = Replayer(self._history, strategies)
        counts = {name: 0 for name in Replayed.__slots__ if name != "tasks"}
        tasks: set[str] = set()
        for (place, call), before in zip(self._calls, self._before, strict=True):
            mine = call.error is not None and _is_about(entry, call, strategies)
            counts["matches"] += mine
            after = _end(replayer, call)
            if after == before:
                continue
            if call.error is None:
                counts["healthy"] += 1
            elif not mine:
                counts["changed"] += 1
            else:
                run = self._history.runs[call.task_id]
                what = _judged(run.calls, place, after)
                counts[what] += 1
                tasks |= {run.kin} if what == "mended" else set()
        return Replayed(**counts, tasks=len(tasks))


def _end(replayer: Replayer, call: RecordedCall) -> list[Any]:
    """Whether a run succeeds, and every call that it makes."""
    out, made = replayer(call)
    return ["result" in out, *made]


def _finding(strategies: StrategyMap, error: str, tool: str) -> Any:
    from selfcorrect.model import Finding

    return strategies.decide(Finding(error), tool)


def _is_about(entry: Entry, call: RecordedCall, strategies: StrategyMap) -> bool:
    """Whether a failing call is one that the entry speaks of."""
    if isinstance(entry, RecallEntry):
        forms = [form.text for form in form_of(call).forms]
        return call.tool == entry.tool and entry.error in forms
    return bool(_finding(strategies, call.error or "", call.tool).rule == f"{OWN}/{entry.id}")


def _judged(calls: Sequence[RecordedCall], place: int, after: Sequence[Any]) -> str:
    """Of a call that ends otherwise: whether the run itself did the same."""
    done, *made = after
    if not done:
        return "unknown"
    steps = [each for each in made[1:-1] if each[0] != calls[place].tool]
    later = made_later(calls, place, made[-1])
    if later is None:
        tool = made[-1][0]
        got_on = made_later(calls, place, (tool, None)) is not None
        return "foreign" if got_on else "unknown"
    between = calls[place + 1 : later]
    did = all(any(is_same_call(each, step) for each in between) for step in steps)
    return "mended" if did else "foreign"


def as_proposed(entry: Entry, who: str, verdict: Verdict, runs: int, trust: int) -> Entry:
    """The entry with who proposed it on what; in quarantine, unless enough tasks speak for it.

    Args:
        entry: What passed.
        who: The model.
        verdict: What the gates counted.
        runs: Recorded runs.
        trust: Tasks that it must mend as recorded to leave quarantine; 0: only a person lets it.
    """
    said = f"by {who} on {runs} runs: {verdict.counts}"
    trusted = 0 < trust <= verdict.counts.tasks
    changes: Mapping[str, Any] = {"proposed": said, "suggest": not trusted}
    return entry.model_copy(update=changes)
