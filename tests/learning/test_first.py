"""Calls that come first: bounded, of tools that read or are idempotent, and never done twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selfcorrect import Safety, StrategyMap, ToolSpec, build_graph
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger
from selfcorrect.limits import Limits
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.model import Call, Diagnosis, First
from selfcorrect.testing import play

EFFECTS = ("read_only", "idempotent", "mutating", "destructive")
OPENED = "The valve {args.valve} is shut."


class Shut(Exception):
    """A tool refuses."""


class Plant:
    """A pump that runs only with its valve open."""

    def __init__(self, **effects: str) -> None:
        self.log: list[str] = []
        self.open = False
        self.effects = {"open_valve": "idempotent", "start_pump": "idempotent"} | effects

    def open_valve(self, valve: str) -> str:
        self.log.append(f"open {valve}")
        self.open = True
        return "open"

    def start_pump(self, valve: str) -> str:
        self.log.append(f"start {valve}")
        if not self.open:
            raise Shut(f"The valve {valve} is shut.")
        return "running"

    @property
    def tools(self) -> list[ToolSpec]:
        return [
            ToolSpec.from_function(getattr(self, name), effect=effect, atomic=True)
            for name, effect in self.effects.items()
        ]


ENTRY: dict[str, Any] = {
    "tool": "start_pump",
    "error": OPENED,
    "first": [{"tool": "open_valve", "args": {"valve": "{args.valve}"}}],
    "runs": 3,
    "seen": 4,
    "agreement": 0.75,
}
CALL = {"call": {"name": "start_pump", "args": {"valve": "Main-7"}}}


def learned(*entries: dict[str, Any], **more: Any) -> StrategyMap:
    return StrategyMap(extends="default", recall=entries or [ENTRY], **more)


def tried(out: dict[str, Any], outcome: str) -> list[str]:
    return [each["reason"] for each in out["failure"]["tried"] if each["outcome"] == outcome]


def test_what_came_first_is_done_first_and_stands_in_the_trail():
    plant = Plant()
    out = build_graph(plant.tools, strategies=learned()).invoke(CALL)
    assert out["result"] == "running"
    assert plant.log == ["start Main-7", "open Main-7", "start Main-7"]
    (first,) = [step for event in out["trail"] for step in event.get("first", ())]
    assert first["call"]["name"] == "open_valve"
    assert first["outcome"] == "done"
    assert [event["node"] for event in first["trail"]] == ["plan", "execute"]


def test_what_comes_first_passes_the_guard_too():
    plant, seen = Plant(), []

    def guard(state: Any, context: Any) -> None:
        seen.append(state["current"]["name"])

    build_graph(plant.tools, strategies=learned(), before={"execute": guard}).invoke(CALL)
    assert seen == ["start_pump", "open_valve", "start_pump"]


@pytest.mark.parametrize("effect", ["mutating", "destructive", None])
def test_a_tool_that_acts_is_told_of_and_not_called(effect):
    plant = Plant()
    pump, valve = plant.tools[1], ToolSpec.from_function(plant.open_valve, effect=effect)
    out = play([valve, pump], CALL, strategies=learned())
    assert plant.log == ["start Main-7"]
    told = 'open_valve(valve="Main-7") came before it in 3 of 4 runs'
    assert told in tried(out, "advised")
    assert f"{told}." in out["failure"]["for_model"]


def test_a_call_that_may_not_be_made_again_is_not_prepared():
    plant = Plant()
    pump = ToolSpec.from_function(plant.start_pump, effect="mutating")
    out = play([plant.tools[0], pump], CALL, strategies=learned())
    assert plant.log == ["start Main-7"]
    assert out["failure"]["reason"] == "refused"
    assert "came before it" in out["failure"]["for_model"]


def test_an_atomic_tool_that_refused_is_called_again():
    plant = Plant(start_pump="mutating")
    assert play(plant.tools, CALL, strategies=learned())["result"] == "running"


@pytest.mark.parametrize(
    ("policy", "unasked"),
    [({}, True), ({"allow": ["exact", "inferred"]}, False), ({"allow": ["learned"]}, True)],
)
def test_the_policy_says_whether_what_was_learnt_runs_unasked(policy, unasked):
    plant = Plant()
    out = play(plant.tools, CALL, strategies=learned(policy=policy))
    assert ("result" in out) is unasked
    assert ("open Main-7" in plant.log) is unasked


def test_under_strict_it_is_only_told():
    plant = Plant()
    strict = StrategyMap(extends="strict", recall=[ENTRY])
    out = play(plant.tools, CALL, strategies=strict)
    assert plant.log == ["start Main-7"]
    assert "came before it in 3 of 4 runs" in out["failure"]["for_model"]


def test_hidden_words_of_tools_stay_hidden():
    plant = Plant(open_valve="mutating")
    out = play(plant.tools, CALL, strategies=learned(), tool_words="hide")
    assert "Main-7" not in out["failure"]["for_model"]


def test_what_is_in_quarantine_is_only_told():
    plant = Plant()
    out = play(plant.tools, CALL, strategies=learned(ENTRY | {"suggest": True}))
    assert plant.log == ["start Main-7"]
    assert tried(out, "advised")


def test_a_sensitive_field_is_not_filled_in():
    plant = Plant()
    out = play(plant.tools, CALL, strategies=learned(policy={"sensitive": ["valve"]}))
    assert plant.log == ["start Main-7"]
    assert "Main-7" not in str(out["failure"]["tried"])


def test_other_schemas_are_named_and_skipped():
    plant = Plant()
    out = play(plant.tools, CALL, strategies=learned(ENTRY | {"schemas": "0123456789ab"}))
    assert plant.log == ["start Main-7"]
    assert any("learnt with other schemas" in why for why in tried(out, "gave_up"))


def test_a_step_that_fails_ends_it():
    plant = Plant()

    def open_valve(valve: str) -> str:
        plant.log.append("open")
        raise Shut("stuck")

    tools = [ToolSpec.from_function(open_valve, effect="idempotent"), plant.tools[1]]
    out = play(tools, CALL, strategies=learned())
    assert plant.log == ["start Main-7", "open"]
    assert any("open_valve came first and failed" in why for why in tried(out, "gave_up"))


def moved(entry, effect, **more):
    def move(to: str, folder: str = "") -> str:
        if "/" in to and not folder:
            raise Shut("No path allowed.")
        return f"{to} in {folder}"

    tool = ToolSpec.from_function(move, effect=effect, **more)
    return play(
        [tool], {"call": {"name": "move", "args": {"to": "a/b"}}}, strategies=learned(entry)
    )


def test_edits_that_add_what_was_missing_are_of_class_learned():
    entry = {"tool": "move", "error": "No path allowed.", "edits": {"folder": "{args.to|folder}"}}
    out = moved(entry, "idempotent")
    assert out["result"] == "a/b in a"
    (change,) = [each for event in out["trail"] for each in event.get("changes", ())]
    assert (change["safety"], change["strategy"]) == (Safety.LEARNED, "recall")
    assert "result" not in moved(entry, "destructive", atomic=True)


@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
def test_an_edit_that_drops_a_part_of_what_was_written_is_only_told(effect):
    entry = {"tool": "move", "error": "No path allowed.", "edits": {"to": "{args.to|folder}"}}
    out = moved(entry, effect)
    assert "result" not in out
    assert "`to` would run with another value than was written" in str(out["trail"])


def test_the_graph_and_the_walk_do_the_same():
    one, other = Plant(), Plant()
    out = build_graph(one.tools, strategies=learned()).invoke(CALL)
    walked = walk(assemble(other.tools, Options(strategies=learned())), CALL)
    assert one.log == other.log
    assert len(out["trail"]) == len(walked["trail"])


def test_it_works_where_tools_are_awaited():
    plant = Plant()

    async def open_valve(valve: str) -> str:
        return plant.open_valve(valve)

    tools = [ToolSpec.from_function(open_valve, effect="idempotent"), plant.tools[1]]
    out = asyncio.run(build_graph(tools, strategies=learned()).ainvoke(CALL))
    assert out["result"] == "running"


# --- bounds ---------------------------------------------------------------------------------------

NAMES = [f"t{number}" for number in range(6)]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, str], list[dict[str, Any]], dict[str, bool]]:
    """Tools that need each other in any way, circles and themselves included."""
    effects = {name: draw(st.sampled_from(EFFECTS)) for name in NAMES}
    entries = []
    for tool in NAMES:
        others = [name for name in NAMES if name != tool]
        for _ in range(draw(st.integers(0, 2))):
            steps = draw(st.lists(st.sampled_from(others), min_size=1, max_size=3))
            entries.append(
                {
                    "tool": tool,
                    "error": "It has to be ready first.",
                    "first": [{"tool": step, "args": {}} for step in steps],
                    "agreement": draw(st.sampled_from([0.5, 0.7, 1.0])),
                }
            )
    return effects, entries, {name: draw(st.booleans()) for name in NAMES}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.sampled_from(NAMES), st.integers(0, 8))
def test_a_run_ends_within_its_bounds_and_calls_no_acting_tool_unasked(world, start, steps):
    effects, entries, works = world
    ran: Counter[str] = Counter()

    def make(name: str) -> ToolSpec:
        def run() -> str:
            ran[name] += 1
            if not works[name]:
                raise Shut("It has to be ready first.")
            return name

        run.__name__ = name
        return ToolSpec.from_function(run, effect=effects[name], atomic=True)

    limits = Limits(steps=steps)
    strategies = StrategyMap(extends="default", recall=entries)
    out = play([make(n) for n in NAMES], {"call": {"name": start, "args": {}}},
               strategies=strategies, limits=limits)  # fmt: skip
    assert ("result" in out) != ("failure" in out)
    others = {name: count for name, count in ran.items() if name != start}
    assert all(effects[name] in ("read_only", "idempotent") for name in others)
    assert sum(others.values()) <= steps * limits.attempts
    assert ran[start] <= limits.attempts * (1 + steps)
    if effects[start] in ("mutating", "destructive"):
        assert ran[start] <= limits.attempts


def test_a_circle_is_cut():
    ran: list[str] = []

    def failing(name: str) -> ToolSpec:
        def run() -> str:
            ran.append(name)
            raise Shut("It has to be ready first.")

        run.__name__ = name
        return ToolSpec.from_function(run, effect="idempotent")

    entries = [
        {"tool": a, "error": "It has to be ready first.", "first": [{"tool": b, "args": {}}]}
        for a, b in [("a", "b"), ("b", "c"), ("c", "a")]
    ]
    out = play([failing(n) for n in "abc"], {"call": {"name": "a", "args": {}}},
               strategies=StrategyMap(extends="default", recall=entries))  # fmt: skip
    assert ran == ["a", "b", "c"]
    assert out["failure"]["counts"]["steps"] == 2


def test_a_strategy_of_ones_own_is_held_to_the_same():
    plant = Plant(open_valve="mutating")

    def first(call: Call, diagnosis: Diagnosis, context: Any) -> First:
        return First((Call("open_valve", dict(call.args)),))

    rule = {"id": "shut", "match": "is shut", "kind": "conflict", "repair": [first]}
    strategies = StrategyMap([rule], extends="default")
    out = play(plant.tools, CALL, strategies=strategies)
    assert plant.log == ["start Main-7"]
    assert "comes before it" in out["failure"]["for_model"]


@pytest.mark.parametrize(
    "answer",
    [
        First(("open_valve",)),  # type: ignore[arg-type]
        First((Call("open_valve", {"valve": {1}}),)),
        First((Call("open_valve", raw="{"),)),
        First((), ("no change",)),  # type: ignore[arg-type]
    ],
)
def test_an_unusable_answer_is_no_answer(answer):
    plant = Plant()
    rule = {"id": "shut", "match": "is shut", "kind": "conflict", "repair": [lambda *_: answer]}
    out = play(plant.tools, CALL, strategies=StrategyMap([rule], extends="default"))
    assert plant.log == ["start Main-7"]
    assert any("cannot be used" in why for why in tried(out, "gave_up"))


def test_a_handler_cannot_answer_so():
    plant = Plant()
    answer = First((Call("open_valve", {"valve": "x"}),))
    out = play(plant.tools, CALL, on_error=lambda error: answer)
    assert plant.log.count("open x") == 0
    assert "failure" in out


# --- nothing twice --------------------------------------------------------------------------------


class Killed(BaseException):
    """The process is gone."""


def test_a_run_that_is_gone_on_with_makes_no_step_again(tmp_path):
    """The process dies between the step and the call; the node runs again from its top."""
    from langgraph.checkpoint.memory import MemorySaver

    plant, ledger = Plant(), SqliteLedger(tmp_path / "ledger.db")
    die = [True]

    def second_step() -> str:
        plant.log.append("second")
        if die.pop() if die else False:
            raise Killed
        return "ok"

    entry = ENTRY | {"first": [*ENTRY["first"], {"tool": "second_step", "args": {}}]}
    tools = [*plant.tools, ToolSpec.from_function(second_step, effect="idempotent")]
    graph = build_graph(tools, strategies=learned(entry), ledger=ledger, checkpointer=MemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(Killed):
        graph.invoke(CALL | {"task_id": "t"}, config)
    assert graph.invoke(None, config)["result"] == "running"
    assert plant.log.count("open Main-7") == 1
    assert plant.log.count("second") == 2  # it was begun, and is idempotent
    ledger.close()


# --- counts ---------------------------------------------------------------------------------------


def never_opens(plant: Plant) -> list[ToolSpec]:
    def open_valve(valve: str) -> str:
        plant.log.append("tried")
        return "it sticks"

    return [ToolSpec.from_function(open_valve, effect="idempotent"), plant.tools[1]]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    if request.param == "memory":
        yield MemoryLedger()
        return
    is_file = request.param == "sqlite"
    dsn = "" if is_file else request.getfixturevalue("postgres")
    found = SqliteLedger(tmp_path / "l.db") if is_file else PostgresLedger(dsn)
    yield found
    found.close()


def test_what_fails_again_and_again_retires(ledger):
    plant = Plant()
    loop = assemble(never_opens(plant), Options(strategies=learned(), ledger=ledger))
    for _ in range(5):
        out = walk(loop, CALL)
    assert plant.log.count("tried") == 3
    assert any("it is retired" in why for why in tried(out, "gave_up"))
    (count,) = ledger.recall_counts()
    assert (count.seen, count.mended, count.failed, count.in_a_row) == (3, 0, 3, 3)


def test_without_a_ledger_the_loop_remembers():
    plant = Plant()
    loop = assemble(never_opens(plant), Options(strategies=learned()))
    for _ in range(5):
        walk(loop, CALL)
    assert plant.log.count("tried") == 3


def test_one_that_mends_stays(ledger):
    for works in (False, False, True, False, False):
        plant = Plant()
        tools = plant.tools if works else never_opens(plant)
        play(tools, CALL, strategies=learned(), ledger=ledger)
    (count,) = ledger.recall_counts()
    assert (count.seen, count.mended, count.failed, count.in_a_row) == (5, 1, 4, 2)


def test_a_tool_that_nothing_was_learnt_about_is_not_asked_about():
    plant = Plant()
    out = play(plant.tools, CALL, strategies=learned(ENTRY | {"tool": "stop_pump"}))
    assert "recall" not in {each["strategy"] for each in out["failure"]["tried"]}
