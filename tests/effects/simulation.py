"""One simulated task: faults, crashes, resumes, and what was honest to say in the end."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect.effects import EFFECTS
from selfcorrect.ledger import MemoryLedger
from selfcorrect.loop.failures import FailureMemory
from selfcorrect.loop.graph import compile_loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.testing.clock import VirtualTime
from selfcorrect.testing.crashes import POINTS, Crash, Crashes, FragileLedger
from selfcorrect.testing.faults import ACTS, Fault, stream
from selfcorrect.testing.world import World

ONCE = ("mutating", "destructive")
MOST_LIVES = 6
AMBIGUOUS = frozenset(
    {Fault.TRANSIENT, Fault.TIMEOUT_BEFORE}
    | {Fault.TIMEOUT_AFTER, Fault.RESET_AFTER, Fault.UNCLEAR_AFTER}
)
"""Faults after which nobody who only sees the error knows whether the effect happened."""
LOOP = assemble([World().tool("act")], Options(limits={"attempts": 4}))
"""Built once; each task brings its own tool, ledger and clock."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a task ended, and what really happened."""

    seed: int
    effect: str
    said: str
    effects: int
    executions: int
    crashes: int
    doubt: bool
    may_doubt: bool
    repeated: bool = False

    @property
    def wrong(self) -> str | None:
        """What was dishonest or done twice, or None."""
        if self.repeated:
            return "in doubt, and an equal call under another id was executed"
        if self.effect in ONCE and self.effects > 1:
            return "done twice"
        if self.said == "failed" and self.effects and self.effect in ONCE:
            return "said to have failed, and was done"
        if self.effect in ONCE and self.doubt and self.said != "unknown_outcome":
            return "nobody could know, and it was not said"
        if self.said == "unknown_outcome" and not self.may_doubt:
            return "said to be unknown, and was known"
        return None


class Watched:
    """A stream of faults that notes whether an execution of it left anyone in doubt."""

    def __init__(self, faults: Iterator[Fault]) -> None:
        self._faults = faults
        self.doubt = False
        self.last = Fault.NONE

    def __iter__(self) -> Watched:
        return self

    def __next__(self) -> Fault:
        self.last = next(self._faults)
        if self.last in AMBIGUOUS:
            self.doubt = True
        return self.last


class Oracle:
    """The ledger that outlives all processes; knows whether an intent is open."""

    blocks = False

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.open = False

    def begin(self, key: str) -> Any:
        record = self._inner.begin(key)
        self.open = record is None or record.status not in ("done", "held")
        return record

    def settle(self, key: str, status: str, value: Any = None) -> None:
        self._inner.settle(key, status, value)
        self.open = False

    def doubts(self, scope: str) -> list[str]:
        return self._inner.doubts(scope)


class Noting(FragileLedger):
    """Notes what was last to be settled, also if the process died before that was written."""

    status = ""

    def settle(self, key: str, status: str, value: Any = None) -> None:
        self.status = status
        super().settle(key, status, value)


def simulate(
    seed: int, run: Callable[..., dict[str, Any]], ledger: Any = None, points: Any = POINTS
) -> Ended:
    """One task from its start to its end, through every crash on the way."""
    drawn = random.Random(seed)
    effect = drawn.choice(EFFECTS)
    crashes = Crashes()
    faults = Watched(stream(seed, calm=drawn.choice((0.3, 0.7, 0.95))))
    world = World(VirtualTime(), crashes)
    item = f"item-{seed}"
    args = {"item": item, "count": drawn.choice((1, 1, 1, "1"))}
    given = {"call": {"name": "act", "args": args, "id": "c1"}, "task_id": f"task-{seed}"}
    oracle = Oracle(ledger or MemoryLedger())
    noting = Noting(oracle, crashes)
    deaths, out, doubt, may_doubt = 0, None, False, False
    plan = [drawn.choice(points) for _ in range(drawn.choice((0, 1, 1, 2, 3)))]
    tool = replace(
        LOOP.context.tools["act"].has_effect(effect, atomic=drawn.random() < 0.3),
        _run=lambda args, _: world._act("act", args["item"], args.get("count", 1), next(faults)),
    )
    memory = MemoryLedger()
    own = {"ledger": noting, "memory": memory, "failures": FailureMemory(), "time": world.time}
    context = replace(LOOP.context, tools={"act": tool}, **own)
    loop = replace(LOOP, context=context)
    resume: Callable[..., dict[str, Any]] = run(loop, crashes, given)
    for life in range(MOST_LIVES):
        memory.__init__()  # type: ignore[misc] -- a new process remembers nothing
        crashes.revive(plan[life] if life < len(plan) else None, drawn.choice((1, 1, 2)))
        try:
            out = resume()
            break
        except Crash:
            deaths += 1
            may_doubt = may_doubt or oracle.open
            doubt = doubt or (oracle.open and _starts_over(run, crashes.point, noting.status))
    assert out is not None, "it never ended"
    failure = out.get("failure")
    said = failure["reason"] if failure else "done"
    if said not in ("done", "unknown_outcome") or "__interrupt__" in out:
        said = "failed"  # or a person is asked what to change: it was not done either way
    if said == "done" and effect in ONCE and not (faults.last in ACTS or "implicit" in faults.last):
        said = "done, and was not"
    counted = world.done("act", item)
    doubt, may_doubt = doubt or faults.doubt, may_doubt or faults.doubt
    runs = len(world.executions)
    repeated = False
    if said == "unknown_outcome" and effect in ONCE:
        crashes.revive()
        memory.__init__()  # type: ignore[misc]
        equal = {"name": "act", "args": {**args, "count": int(args["count"])}, "id": "c2"}
        out = run(loop, crashes, {**given, "call": equal})()
        repeated = out["failure"]["reason"] != said or len(world.executions) > runs
    return Ended(seed, effect, said, counted, runs, deaths, doubt, may_doubt, repeated)


def _starts_over(run: Any, point: str | None, status: str) -> bool:
    """Whether the next life executes again what this one has begun."""
    if run is walked or point is None:
        return True
    # What a step has written goes on after it; only the execution itself starts over.
    return point.startswith("tool") or (point, status) == ("ledger.settle.before", "done")


def fragile_saver(saver: Any, crashes: Crashes) -> Any:
    """The same LangGraph checkpointer, with a crash point around each write."""
    for name in ("put", "put_writes"):
        setattr(saver, name, crashes.around(getattr(saver, name), "checkpoint"))
    return saver


def walked(loop: Any, crashes: Crashes, given: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Runs without checkpoints: a new life starts from the input."""
    return lambda: walk(loop, given)


def checkpointed(
    loop: Any, crashes: Crashes, given: dict[str, Any]
) -> Callable[[], dict[str, Any]]:
    """Runs with a checkpoint after every step: a new life goes on from the last one."""
    saver = fragile_saver(InMemorySaver(), crashes)
    graph = compile_loop(loop, saver)
    config = {"configurable": {"thread_id": "t"}}

    def resume() -> dict[str, Any]:
        known = graph.get_state(config)
        if known.values and not known.tasks:
            return {key: known.values[key] for key in ("result", "failure") if key in known.values}
        return graph.invoke(None if known.tasks else given, config, durability="sync")

    return resume


def table(ended: list[Ended]) -> str:
    """The figures of a campaign."""
    lines = [
        f"runs {len(ended)}, crashes {sum(e.crashes for e in ended)}, executions "
        + str(sum(e.executions for e in ended))
    ]
    for effect in EFFECTS:
        of = [each for each in ended if each.effect == effect]
        said = {word: sum(e.said == word for e in of) for word in ("done", "failed")}
        unknown = sum(e.said == "unknown_outcome" for e in of)
        twice = sum(e.effects > 1 for e in of)
        lines.append(
            f"  {effect:12} done {said['done']:6} failed {said['failed']:6} "
            f"unknown_outcome {unknown:6} more than once {twice:6}"
        )
    return "\n".join(lines)
