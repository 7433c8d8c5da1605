"""Waiting and retrying: hints, deadlines, budgets, and calls that would fail again."""

from __future__ import annotations

import asyncio
import random

import pytest
from effects.figures import show
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import ToolSpec, build_graph
from selfcorrect.loop.failures import FailureMemory, fingerprint, noted
from selfcorrect.loop.nodes.retry import waiting
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import awalk, walk
from selfcorrect.model import Call, Diagnosis, Finding
from selfcorrect.policies.retry_budget import Budgets, RetryBudget, budget_of
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs.wait import Wait
from selfcorrect.testing import VirtualTime
from selfcorrect.testing.faults import HINT, Fault
from selfcorrect.testing.world import World


def call(item="a", task=None, id_="c1"):
    given = {"call": {"name": "act", "args": {"item": item}, "id": id_}}
    return given if task is None else {**given, "task_id": task}


def always(fault):
    while True:
        yield fault


@pytest.fixture(autouse=True)
def fresh_budgets():
    budget_of.cache_clear()
    yield
    budget_of.cache_clear()


# --- the storm ------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [60, pytest.param(1_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("fault", [Fault.TRANSIENT, Fault.RATE_LIMIT, Fault.TIMEOUT_BEFORE])
def test_an_outage_under_many_runs_at_once(fault, runs):
    world = World()
    spec = world.tool("act", effect="idempotent", faults=always(fault))
    limits = {"retry_ratio": 0.1, "attempts": 5, "seconds": None}
    loop = assemble([spec], Options(limits=limits, time=world.time))

    async def main():
        return await asyncio.gather(
            *(awalk(loop, call(f"item-{number}")) for number in range(runs))
        )

    outs = asyncio.run(main())
    show(f"{fault}: {runs} runs, {len(world.executions)} executions")
    assert all(out["failure"] for out in outs)
    assert len(world.executions) <= 1.1 * runs
    assert any("retry budget" in out["failure"]["detail"] for out in outs)


def test_without_a_budget_every_run_retries_for_itself():
    world = World()
    spec = world.tool("act", effect="idempotent", faults=always(Fault.TRANSIENT))
    loop = assemble([spec], Options(limits={"attempts": 3}, time=world.time))
    for number in range(20):
        walk(loop, call(f"item-{number}"))
    assert len(world.executions) == 60


def test_the_budget_is_shared_by_all_loops_of_the_process():
    world = World()
    for number in range(30):
        spec = world.tool("act", effect="idempotent", faults=always(Fault.TRANSIENT))
        limits = {"retry_ratio": 0.1, "attempts": 5}
        walk(assemble([spec], Options(limits=limits, time=world.time)), call(f"item-{number}"))
    assert len(world.executions) <= 30 + 3 + 10


def test_a_budget_recovers():
    budget = RetryBudget(0.1, spare=2)
    assert [budget.may_repeat(0.0) for _ in range(3)] == [True, True, False]
    assert budget.may_repeat(60.0)
    assert Budgets().of("a", 0.1) is Budgets().of("a", 0.1) is not Budgets().of("b", 0.1)
    assert Budgets().of("a", None) is None


# --- hints and deadlines --------------------------------------------------------------------------


def test_nothing_before_the_hint_and_nothing_after_the_deadline():
    for seed in range(200):
        drawn = random.Random(seed)
        world = World()
        faults = iter(
            drawn.choices([Fault.RATE_LIMIT_WITH_HINT, Fault.TRANSIENT, Fault.LATENCY], k=6)
        )
        spec = world.tool("act", effect="read_only", faults=faults)
        seconds = drawn.choice((5, 10, 20, 60))
        limits = {"attempts": 6, "seconds": seconds}
        walk(assemble([spec], Options(limits=limits, time=world.time)), call(f"item-{seed}"))
        for before, after in zip(world.executions, world.executions[1:], strict=False):
            if before.fault is Fault.RATE_LIMIT_WITH_HINT:
                assert after.at - before.at >= HINT - 1e-6
        assert all(each.at < seconds for each in world.executions)


def test_a_hint_holds_whatever_the_strategy_says():
    from selfcorrect import StrategyMap
    from selfcorrect.mapping.rules import ErrorRule
    from selfcorrect.model import Wait as WaitFor

    def soon(call, diagnosis, context):
        return WaitFor(0.1)

    world = World()
    spec = world.tool("act", effect="read_only", faults=iter([Fault.RATE_LIMIT_WITH_HINT]))
    rule = ErrorRule(id="soon", kind="rate_limit", status=(429,), repair=(soon,))
    walk(assemble([spec], Options(strategies=StrategyMap((rule,)), time=world.time)), call())
    assert [each.at for each in world.executions] == [0.0, HINT]


@pytest.mark.parametrize(
    ("wanted", "floor", "longest", "left", "seconds"),
    [
        (1, 0, 30, None, 1),
        (1, 5, 30, None, 5),
        (9, 5, 30, None, 9),
        (-1, 0, 30, None, 0),
        (10, 0, 30, 4, 2),
        (10, 2, 30, 4, 3),
        (10, 4, 30, 4, None),
        (31, 0, 30, None, None),
        (1, 31, 30, None, None),
    ],
)
def test_how_long_to_wait(wanted, floor, longest, left, seconds):
    wait = waiting(wanted, floor, longest, left)
    assert wait == seconds if seconds is not None else isinstance(wait, str)


def test_full_jitter_under_a_cap():
    error = Diagnosis((Finding("busy"),))
    waits = {}
    for attempts in (1, 4, 12, 400):
        context = RepairContext(attempts=(None,) * attempts)
        drawn = [Wait()(Call("f", {"n": n}), error, context).seconds for n in range(300)]
        waits[attempts] = (min(drawn), sum(drawn) / 300, max(drawn))
    for attempts, (low, mean, high) in waits.items():
        bound = min(30.0, 0.2 * 2 ** (attempts - 1)) if attempts < 30 else 30.0
        assert 0 <= low < bound * 0.1
        assert bound * 0.4 < mean < bound * 0.6
        assert bound * 0.9 < high <= bound


# --- what would fail again ------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [Fault.AUTH, Fault.PERMANENT, Fault.INVALID])
def test_what_repeating_cannot_help_is_executed_once_a_run_and_twice_a_thread(fault):
    world = World()
    spec = world.tool("act", effect="read_only", faults=always(fault))
    graph = build_graph([spec], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for executed in (1, 2, 2, 2):
        out = graph.invoke(call(), config)
        assert out.get("failure") or out["__interrupt__"]
        assert len(world.executions) == executed
    graph.invoke(call(), {"configurable": {"thread_id": "another"}})
    assert len(world.executions) == 3


def test_the_same_without_a_checkpointer_by_task():
    world = World()
    spec = world.tool("act", effect="read_only", faults=always(Fault.AUTH))
    loop = assemble([spec])
    for number in range(5):
        walk(loop, call(task="t", id_=f"c{number}"))
    assert len(world.executions) == 2
    walk(loop, call(task="u"))
    walk(loop, call())
    assert len(world.executions) == 4


def test_a_known_failure_takes_another_rung():
    asked = []

    def act(item: str) -> str:
        """Act."""
        asked.append(item)
        if item == "bad":
            raise ValueError("no such item: bad")
        return item

    tool = ToolSpec.from_function(act, effect="read_only")
    graph = build_graph([tool], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    bad = {"call": {"name": "act", "args": {"item": "bad"}}}
    for _ in range(3):
        out = graph.invoke(bad, config)
    assert asked.count("bad") <= 2
    assert out["trail"][1]["refused"].startswith("the same call failed in the same way")
    assert out.get("failure") or out["__interrupt__"]


def test_a_call_that_succeeds_is_no_longer_held_against():
    world = World()
    faults = iter([Fault.AUTH, Fault.NONE, Fault.AUTH, Fault.AUTH, Fault.NONE])
    spec = world.tool("act", effect="read_only", faults=faults)
    graph = build_graph([spec], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for _ in range(6):
        graph.invoke(call(), config)
    assert len(world.executions) == 4


def test_another_error_of_the_same_call_starts_the_count_anew():
    world = World()
    faults = iter([Fault.AUTH, Fault.INVALID, Fault.AUTH, Fault.INVALID])
    spec = world.tool("act", effect="read_only", faults=faults)
    graph = build_graph([spec], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for _ in range(4):
        graph.invoke(call(), config)
    assert len(world.executions) == 4


def test_fingerprints_leave_out_what_varies():
    def of(text, **more):
        return fingerprint([Finding(text, **more)])

    assert of("failed at 12:01 (id 4fd1c2ba-e88f-827d)") == of("failed at 13:59 (id 9ad1c2ba-e88f)")
    assert of("no such user") != of("no such order")
    assert of("no", status=404) != of("no", status=403)


def test_what_is_remembered_is_bounded():
    memory, failed = FailureMemory(capacity=3), {}
    for number in range(1_000):
        failed = noted(failed, str(number), "e", [], until=0.0)
        memory.keep(str(number), failed)
    assert len(failed) <= 64
    assert not memory.of("0")
    assert memory.of("999")
    assert VirtualTime().monotonic() == 0
