"""`remember` repeats what a model or a person moved; it keeps names, and never a value."""

import itertools
import json
import sqlite3
import subprocess
import sys
from datetime import date
from shutil import copy

import pytest
from hypothesis import given, settings, strategies as st
from kit import DATA, DATE, INTEGER, TEXT, Tool, table
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import ErrorRule, MapError, SelfCorrection, StrategyMap, build_graph
from selfcorrect.testing import ScriptedModel, tool_call

BOOK = {"departure_date": DATE, "note": TEXT, "seats": INTEGER}
RULES = {
    "stranger": ("InvalidArgs", "additionalProperties", "extra_param", ["rename-argument"]),
    "hole": ("InvalidArgs", "required", "missing_param", ["rename-argument"]),
    "tool": ("UnknownTool", None, "unknown_tool", ["rename-tool"]),
}
STRATEGIES = DATA.parents[1] / "strategies"
THREADS = itertools.count()


def remembering(file=None, **more):
    """Return a map in which `remember` stands on the ladders of names."""
    options = {"remember": {"file": str(file)}} if file else {}
    rules = [
        ErrorRule(
            id=name,
            error=error,
            code=code or (),
            kind="validation",
            category=category,
            repair=[*rungs, "drop-null", "remember", "ask-model", "ask-human"],
            options=options,
        )
        for name, (error, code, category, rungs) in RULES.items()
    ]
    use = {"remember": f"{STRATEGIES / 'remember.py'}:Remember"}
    return StrategyMap(rules, extends=["default"], use=use, **more)


def book(effect="mutating", schema=None, name="t", required=("departure_date",)):
    return Tool(schema=schema or BOOK, required=required, effect=effect, name=name)


def start(tools, args, name="t", **options):
    """Run a call; return the graph, where its thread is kept, and the output."""
    graph = build_graph([each.spec for each in tools], checkpointer=InMemorySaver(), **options)
    config = {"configurable": {"thread_id": str(next(THREADS))}}
    return graph, config, graph.invoke({"call": {"name": name, "args": args}}, config)


def edit(tool, args, fixed, strategies, name="t", others=(), **options):
    """Run a call that a person edits; return the output."""
    graph, config, out = start([tool, *others], args, name, strategies=strategies, **options)
    assert "__interrupt__" in out, out
    call = {"name": tool.spec.name, "args": fixed}
    return graph.invoke(Command(resume={"action": "edit", "call": call}), config)


def safeties(out):
    return [each["safety"] for event in out["trail"] for each in event.get("changes", ())]


def is_reused(tool, args, strategies, name="t", **options):
    """Say whether a call runs, with nobody asked."""
    _, _, out = start([tool], args, name, strategies=strategies, **options)
    assert ("result" in out) is ("memory" in safeties(out))
    return "result" in out


NEXT = table("remember.txt", "next")


@pytest.mark.parametrize("effect", ["read_only", "idempotent", "mutating"])
@pytest.mark.parametrize("before", ["2026-10-26", "Oct 26, 2026"])
@pytest.mark.parametrize(("args", "made"), NEXT)
def test_what_a_person_moved_is_moved_again(effect, before, args, made):
    strategies, tool = remembering(), book(effect)
    edit(tool, {"whenever": before}, {"departure_date": "2026-10-26"}, strategies)
    assert is_reused(tool, args, strategies)
    assert tool.ran[1:] == [made]


def test_what_a_model_moved_needs_no_model_call_but_a_model():
    strategies, tool = remembering(), book("read_only")
    model = ScriptedModel([{"whenever": None}, {"departure_date": "2026-10-26"}])
    _, _, out = start([tool], {"whenever": "26 Oct 2026"}, strategies=strategies, model=model)
    assert out["result"] == "ok"
    assert is_reused(tool, {"whenever": "2027-01-31"}, strategies, model=model)
    assert tool.ran[1:] == [{"departure_date": "2027-01-31"}]
    assert len(model.prompts) == 2
    assert not is_reused(tool, {"whenever": "2027-02-01"}, strategies)


def test_a_person_is_asked_what_a_memory_cannot_read():
    strategies, tool = remembering(), book()
    edit(tool, {"whenever": "2026-10-26"}, {"departure_date": "2026-10-26"}, strategies)
    _, _, out = start([tool], {"whenever": "03/04/2027"}, strategies=strategies)
    assert out["__interrupt__"][0].value["path"] == "/args/departure_date"


SAFE = {"departure_date": "2026-10-26"}


@pytest.mark.parametrize(("name", "args", "fixed"), table("remember.txt", "nothing"))
def test_nothing_is_learnt_where(name, args, fixed, tmp_path):
    schema = {**BOOK, "sure": {"type": "boolean"}, "more": {"type": "object"}}
    tool = book(schema=schema, required=())
    assert edit(tool, args, fixed, remembering(tmp_path / "m.db"))["result"] == "ok"
    assert kept(tmp_path / "m.db") == []


def kept(file):
    with sqlite3.connect(file) as database:
        rows = database.execute("select tool, origin, target, maker from moves").fetchall()
    database.close()
    return rows


def test_nothing_is_learnt_of_a_destructive_tool_nor_used_on_one(tmp_path):
    file = tmp_path / "m.db"
    edit(book("destructive"), {"whenever": "2026-10-26"}, SAFE, remembering(file))
    assert kept(file) == []


def test_nothing_is_learnt_of_a_call_that_fails(tmp_path):
    file = tmp_path / "m.db"
    tool = Tool(ValueError("full"), schema=BOOK, required=["departure_date"], effect="mutating")
    edit(tool, {"whenever": "2026-10-26"}, SAFE, remembering(file))
    assert (tool.ran, kept(file)) == ([SAFE], [])


def test_nothing_is_learnt_of_a_tool_that_is_offered_and_not_meant(tmp_path):
    file = tmp_path / "m.db"
    tool, other = book(), book(name="u")
    args = {"whenever": "2026-10-26"}
    edit(tool, args, SAFE, remembering(file), name="u", others=[other])
    assert (tool.ran, kept(file)) == ([SAFE], [])


def test_beside_what_a_rule_renames_nothing_is_kept(tmp_path):
    args = {"whenever": "2026-10-26", "Note": "aisle", "seats": "2"}
    file = tmp_path / "m.db"
    edit(book(), args, {**SAFE, "note": "aisle", "seats": 2}, remembering(file))
    assert kept(file) == []


def test_a_changed_schema_or_effect_forgets():
    strategies = remembering()
    edit(book(), {"whenever": "2026-10-26"}, SAFE, strategies)
    later = {"whenever": "2027-01-31"}
    assert is_reused(book(), later, strategies)
    assert not is_reused(book(schema={**BOOK, "more": TEXT}), later, strategies)
    assert not is_reused(book("destructive"), later, strategies)


def test_a_place_that_went_to_two_others_is_asked_about_for_ever():
    schema = {"departure_date": DATE, "return_date": DATE}
    strategies, tool = remembering(), book(schema=schema, required=())
    later = {"whenever": "2027-01-31"}
    edit(tool, {"whenever": "2026-10-26"}, SAFE, strategies)
    assert is_reused(tool, later, strategies)
    # A person who sees more corrects it: the other date is there already.
    first = {"whenever": "2026-10-27", "departure_date": "2026-10-26"}
    edit(tool, first, {**SAFE, "return_date": "2026-10-27"}, strategies)
    assert not is_reused(tool, later, strategies)
    edit(tool, {"whenever": "2026-10-28"}, {"departure_date": "2026-10-28"}, strategies)
    assert not is_reused(tool, later, strategies)


def test_two_values_for_one_place_are_asked_about():
    strategies, tool = remembering(), book()
    for key in ("whenever", "sometime"):
        edit(tool, {key: "2026-10-26"}, SAFE, strategies)
    assert not is_reused(tool, {"whenever": "2027-01-31", "sometime": "2027-02-01"}, strategies)


@pytest.mark.parametrize("allow", [["exact"], ["exact", "inferred"]])
def test_a_policy_that_does_not_name_memory_refuses_it(allow):
    strategies = remembering(policy={"allow": allow})
    edit(book(), {"whenever": "2026-10-26"}, SAFE, strategies)
    assert not is_reused(book(), {"whenever": "2027-01-31"}, strategies)


def test_a_sensitive_value_is_not_moved():
    strategies = remembering(policy={"sensitive": ["departure_date"]})
    edit(book(), {"whenever": "2026-10-26"}, SAFE, strategies)
    assert not is_reused(book(), {"whenever": "2027-01-31"}, strategies)


def test_no_shipped_map_lists_it():
    names = ("default", "strict", "local_model", "operator_safe", "travel")
    for each in map(StrategyMap.load, names):
        ladders = [*each.ladders.values(), *(rule.rule.repair or () for rule in each.rules)]
        assert "remember" not in itertools.chain.from_iterable(ladders)


@settings(max_examples=10, deadline=None)
@given(st.text("abcdefghij0123456789@ -é", min_size=6, max_size=30))
def test_no_value_stands_in_the_file(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("m") / "m.db"
    tool = book(required=())
    value = f"v{text}v"
    made = {"note": value, "seats": 77_001}
    edit(tool, {"remark": value, "seats": 77_001}, made, remembering(file))
    assert kept(file) == [("t", "remark", "note", "human")]
    held = file.read_bytes()
    assert value.encode() not in held
    assert b"77001" not in held


@pytest.mark.parametrize("content", [b"no database at all, but long enough", b"SQLite format 3\0x"])
def test_a_damaged_file_is_an_error_when_the_map_is_loaded(content, tmp_path):
    file = tmp_path / "m.db"
    file.write_bytes(content * 10)
    with pytest.raises(MapError, match="not a database"):
        remembering(file)
    assert file.read_bytes() == content * 10


def test_a_file_that_breaks_costs_the_rung_and_no_run(tmp_path):
    file = tmp_path / "m.db"
    strategies, tool = remembering(file), book()
    with sqlite3.connect(file) as database:
        database.execute("drop table moves")
    database.close()
    assert edit(tool, {"whenever": "2026-10-26"}, SAFE, strategies)["result"] == "ok"


PROCESS = """
import json, sys
from selfcorrect import ToolSpec
from selfcorrect.testing import play

class Model:
    def invoke(self, messages):
        return answers.pop(0)

key, answers = sys.argv[1], [json.dumps(each) for each in json.loads(sys.argv[2])]
parameters = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
schema = {"name": "t", "parameters": {**parameters, "required": ["day"]}}
tool = ToolSpec.from_schema(schema, call=lambda day: day, effect="read_only")
given = {"call": {"name": "t", "args": {key: "2026-10-26"}}}
print(play([tool], given, strategies="./own.toml", model=Model()).get("result"))
"""


def test_two_processes_share_a_file(tmp_path):
    copy(DATA / "maps" / "remember.toml", tmp_path / "own.toml")
    copy(STRATEGIES / "remember.py", tmp_path)

    def begin(key, *answers):
        command = [sys.executable, "-c", PROCESS, key, json.dumps(answers)]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)

    def results(*running):
        return [each.communicate()[0].strip() for each in running]

    keys, day = ("whenever", "sometime"), {"day": "2026-10-26"}
    # Both make the file, and both learn.
    assert results(*(begin(key, {key: None}, day) for key in keys)) == ["2026-10-26"] * 2
    assert sorted(origin for _, origin, *_ in kept(tmp_path / "m.db")) == [
        "sometime",
        "whenever",
    ]
    assert results(*map(begin, keys)) == ["2026-10-26"] * 2


def test_a_strategy_of_ones_own_learns_and_may_fail():
    told = []

    class Diary:
        def __call__(self, call, diagnosis, context):
            raise ValueError("nothing to say")

        def learn(self, original, made, changes, tools):
            told.append((original["args"], made.args, [each.safety for each in changes]))
            raise ValueError("no room left")

    rule = ErrorRule(id="own", code="type", repair=[Diary(), "convert-type"])
    tool = Tool(schema={"q": INTEGER})
    strategies = StrategyMap([rule], extends=["default"])
    _, _, out = start([tool], {"q": "5"}, strategies=strategies)
    assert (out["result"], told) == ("ok", [({"q": "5"}, {"q": 5}, ["exact"])])


def test_an_agent_learns_of_what_was_repaired_in_the_models_turn():
    ran = []

    def reserve(departure_date: date) -> str:
        """Reserve."""
        ran.append(str(departure_date))
        return "ok"

    fixer = ScriptedModel([{"whenever": None}, {"departure_date": "2026-10-26"}])
    middleware = SelfCorrection(
        strategies=remembering(), model=fixer, effects={"reserve": "read_only"}
    )
    for day in ("2026-10-26", "31 January 2027"):
        calls = ScriptedModel([tool_call("reserve", whenever=day), "Done."])
        agent = create_agent(calls, [reserve], middleware=[middleware])
        assert agent.invoke({"messages": "Go"})["messages"][-1].text == "Done."
    assert (ran, len(fixer.prompts)) == (["2026-10-26", "2027-01-31"], 2)
