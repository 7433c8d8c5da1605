"""Limits that give more on request, listeners, and what a run tells of its costs."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import ToolSpec, build_graph
from selfcorrect.errors import GraphSetupError
from selfcorrect.limits import Limits
from selfcorrect.policies import Checkpoint, Extend, Hooks, LimitReached, Stop
from selfcorrect.policies.budgets import larger
from selfcorrect.testing import ScriptedModel, VirtualTime

CALL = {"call": {"name": "act", "args": {"a": 1}}}


class World:
    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    def spec(self) -> ToolSpec:
        def act(a: int) -> str:
            """Act."""
            self.calls += 1
            if self.calls <= self.failures:
                raise ConnectionRefusedError("not yet")
            return "done"

        return ToolSpec.from_function(act, effect="read_only")


def run(world: World, on_limit: Any = None, **options: Any) -> dict[str, Any]:
    from selfcorrect.loop.graph import compile_loop
    from selfcorrect.loop.options import Options
    from selfcorrect.loop.setup import assemble

    saver = options.pop("checkpointer", None)
    loop = assemble([world.spec()], Options(time=VirtualTime(), on_limit=on_limit, **options))
    graph = compile_loop(loop, saver)
    out: dict[str, Any] = graph.invoke(CALL, {"configurable": {"thread_id": "t"}})
    return out | {"graph": graph}


class TestLimits:
    def test_without_a_handler_the_run_ends(self):
        world = World(99)
        assert run(world)["failure"]["reason"] == "attempts_exhausted"
        assert world.calls == 3

    def test_extend_goes_on(self):
        seen = []

        def more(reached):
            seen.append(reached)
            return Extend(attempts=6)

        world = World(4)
        assert run(world, more)["result"] == "done"
        assert world.calls == 5
        (reached,) = seen
        assert isinstance(reached, LimitReached)
        assert reached.detail == "3 of at most 3 executions"
        assert reached.limits.attempts == 3

    @pytest.mark.parametrize(
        "decision",
        [Stop(), None, "more", Extend(), Extend(attempts=2), Extend(wings=9), Extend(attempts="x")],
        ids=repr,
    )
    def test_anything_else_ends_it(self, decision):
        world = World(99)
        out = run(world, lambda reached: decision)
        assert out["failure"]["reason"] == "attempts_exhausted"
        assert world.calls == 3

    def test_who_always_gives_more_ends_at_the_ceiling(self):
        world = World(99)
        run(world, lambda reached: Extend(attempts=reached.limits.attempts + 1))
        assert world.calls <= Limits().ceiling

    def test_a_checkpoint_waits_for_a_person(self):
        world = World(4)
        out = run(world, lambda reached: Checkpoint(), checkpointer=InMemorySaver())
        assert "limit" in out["__interrupt__"][0].value
        config = {"configurable": {"thread_id": "t"}}
        answer = {"action": "extend", "limits": {"attempts": 5}}
        assert out["graph"].invoke(Command(resume=answer), config)["result"] == "done"
        assert world.calls == 5

    def test_a_checkpoint_that_is_refused_ends_it(self):
        world = World(4)
        out = run(world, lambda reached: Checkpoint(), checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "t"}}
        out = out["graph"].invoke(Command(resume={"action": "reject"}), config)
        assert out["failure"]["reason"] == "attempts_exhausted"
        assert world.calls == 3

    def test_a_checkpoint_without_a_checkpointer_ends_it(self):
        out = run(World(99), lambda reached: Checkpoint())
        assert out["failure"]["reason"] == "attempts_exhausted"

    def test_only_what_is_larger_counts(self):
        limits = Limits(attempts=3, seconds=None)
        wanted = {
            "attempts": 99,
            "seconds": 5,
            "rounds": 1,
            "tokens": 9,
            "ceiling": 99,
            "wait": True,
        }
        assert larger(limits, wanted) == {"attempts": 10}


class TestHooks:
    def test_a_tools_use(self):
        told = []
        hooks = Hooks(on_tool_use=lambda *use: told.append(use))
        run(World(0), hooks=hooks)
        assert told == [("act", {"a": 1}, "done")]

    def test_a_failed_use_and_its_error_once(self):
        used, failed = [], []
        hooks = Hooks(
            on_tool_use=lambda *use: used.append(use),
            on_error=lambda name, report: failed.append((name, report["reason"])),
        )
        run(World(99), hooks=hooks)
        assert failed == [("act", "attempts_exhausted")]
        assert used[0][2].startswith("The call failed")

    def test_the_error_is_told_also_where_it_is_raised(self):
        failed = []
        hooks = Hooks(on_error=lambda name, report: failed.append(name))
        with pytest.raises(Exception, match="not yet"):
            run(World(99), hooks=hooks, on_failure="raise")
        assert failed == ["act"]

    def test_what_a_hook_raises_changes_nothing(self):
        def broken(*_):
            raise RuntimeError("hook")

        hooks = Hooks(on_tool_use=broken, on_error=broken, on_threshold=broken)
        assert run(World(2), hooks=hooks)["result"] == "done"
        assert run(World(99), hooks=hooks)["failure"]["reason"] == "attempts_exhausted"

    def test_the_threshold_is_told_once_and_before(self):
        told, world = [], World(99)

        def near(*what):
            told.append((*what, world.calls))

        run(world, hooks=Hooks(on_threshold=near), limits={"attempts": 5, "seconds": None})
        assert told == [("attempts", 4, 5, 4)]

    def test_hooks_are_hooks(self):
        with pytest.raises(GraphSetupError, match="Hooks"):
            build_graph([World(0).spec()], hooks=print)

    @pytest.mark.parametrize("name", ["on_limit", "on_model_error"])
    def test_handlers_are_callable(self, name):
        with pytest.raises(GraphSetupError, match=name):
            build_graph([World(0).spec()], **{name: 5})


def test_the_summary_of_the_command_line_counts_model_calls():
    from selfcorrect.cli.show import Tally

    def book(seats: int) -> str:
        """Book."""
        return "booked"

    tally = Tally()
    given = {"call": {"name": "book", "args": {}}, "request": "for two"}
    tally.add(build_graph([book], model=ScriptedModel([{"seats": 2}])).invoke(given))
    assert tally.line().plain.endswith("1 execution, 1 model call")
