"""At most once: simulated tasks that fail and die everywhere, real processes that are killed."""

from __future__ import annotations

from collections import Counter

import pytest
from effects import killing
from effects.figures import show
from effects.simulation import checkpointed, fragile_saver, simulate, table, walked
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import build_graph, resume
from selfcorrect.ledger import SqliteLedger
from selfcorrect.testing.crashes import POINTS, Crash, Crashes
from selfcorrect.testing.world import World

WALKER_POINTS = tuple(point for point in POINTS if not point.startswith("checkpoint"))


def campaign(runs, run, points, ledger=None):
    ended = []
    for seed in runs:
        ended.append(simulate(seed, run, ledger, points))
        if len(ended) % 5_000 == 0 or len(ended) == len(runs):
            show(table(ended))
    wrong = [each for each in ended if each.wrong or each.said == "done, and was not"]
    assert not wrong, (Counter(each.wrong for each in wrong), wrong[:5])
    return ended


def test_simulated_walks():
    ended = campaign(range(1_000), walked, WALKER_POINTS)
    assert {each.said for each in ended} == {"done", "failed", "unknown_outcome"}


def test_simulated_walks_with_a_ledger_on_disk(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.db")
    campaign(range(5_000, 5_060), walked, WALKER_POINTS, ledger)
    ledger.close()


def test_simulated_graph_runs():
    campaign(range(10_000, 10_040), checkpointed, POINTS)


@pytest.mark.nightly
def test_a_hundred_thousand_simulated_walks():
    campaign(range(100_000), walked, WALKER_POINTS)


@pytest.mark.nightly
def test_two_thousand_simulated_graph_runs():
    campaign(range(2_000), checkpointed, POINTS)


def test_without_a_ledger_of_the_caller_a_checkpointed_run_has_one_in_memory():
    crashes, world = Crashes(), World()
    saver = fragile_saver(InMemorySaver(), crashes)
    graph = build_graph([world.tool("act")], checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    given = {"call": {"name": "act", "args": {"item": "a"}, "id": "c"}}
    nth, died = 0, 0
    while not died or died > nth - 1:
        nth += 1
        config = {"configurable": {"thread_id": f"t{nth}"}}
        crashes.revive("checkpoint.before", nth)
        world.effects.clear()
        try:
            graph.invoke(given, config, durability="sync")
        except Crash:
            died += 1
        crashes.revive()
        out = resume(graph, given, config)
        assert out["result"] == {"item": "a", "count": 1}
        assert world.done("act", "a") == 1
    assert died >= 3


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    if request.param == "sqlite":
        return "sqlite", str(tmp_path / "effects.db")
    return "postgres", request.getfixturevalue("postgres")


@pytest.mark.parametrize("points", [5, pytest.param(200, marks=pytest.mark.nightly)])
def test_killed_processes(store, tmp_path, points):
    ended = killing.campaign(*store, tmp_path, points)
    assert not [each for each in ended if not each.honest]


@pytest.mark.parametrize("rounds", [2, pytest.param(50, marks=pytest.mark.nightly)])
def test_two_processes_resume_one_task(store, tmp_path, rounds):
    kind, where = store
    killing.make(kind, where)
    for number in range(rounds):
        thread = f"both-{number}"
        places = [str(tmp_path / f"{thread}-{each}.db") for each in "ab"]
        lives = [killing.Life(kind, where, place, thread) for place in places]
        assert [life.said() for life in lives] == [f"2 for {thread}"] * 2
        assert killing.effects_of(kind, where, thread) == 1
