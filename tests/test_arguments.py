"""The pass over a whole call: keys, wrappers, unions, what is missing, and its bounds."""

import time

import pytest
from kit import DATE, INTEGER, TEXT, Tool, run, table, with_rules

from selfcorrect import Call, Changed, Diagnosis, ErrorRule, GiveUp, Safety
from selfcorrect.pointer import apply
from selfcorrect.protocols import RepairContext
from selfcorrect.repairs import arguments
from selfcorrect.repairs.arguments import repair_arguments
from selfcorrect.schema.place import Place
from selfcorrect.strategy_map.registry import Strategies
from selfcorrect.values.primitives import EVERY
from selfcorrect.values.readings import Permission

UNASKED = frozenset({Safety.EXACT, Safety.INFERRED})
SCHEMAS = dict(table("arguments.txt", "schemas"))
PAY, TRIP, BOTH = SCHEMAS["pay"], SCHEMAS["trip"], SCHEMAS["both"]["x"]


def repair(schema, args, *, acts=True, classes=UNASKED, words=None, **options):
    schema = SCHEMAS[schema] if isinstance(schema, str) else schema
    properties = schema.get("properties", schema)
    required = schema.get("required", []) if "properties" in schema else list(schema)
    place = Place.of({"properties": properties, "required": required})
    strategies = {**EVERY, "rename-argument": words or {}}
    found = repair_arguments(args, place, Permission(strategies, classes, acts, **options))
    # What is reported is what was done.
    assert apply(Call("t", args), found.changes).args == found.args
    return found


@pytest.mark.parametrize(("schema", "args", "want"), table("arguments.txt", "repaired"))
def test_arguments_are_repaired_without_loss(schema, args, want):
    found = repair(schema, args)
    assert (found.args, found.problems) == (want, ())


@pytest.mark.parametrize(("schema", "args", "kind"), table("arguments.txt", "refused"))
def test_what_would_lose_or_invent_something_is_left_over(schema, args, kind):
    found = repair(schema, args)
    assert kind in [each.kind for each in found.problems]


def test_an_empty_optional_argument_is_missing_on_a_tool_that_acts():
    schema = {"properties": {"to": TEXT, "amount": {**INTEGER, "default": 100}}, "required": ["to"]}
    args = {"to": "ann", "amount": ""}
    assert [each.kind for each in repair(schema, args).problems] == ["missing"]
    assert repair(schema, args, acts=False).problems
    plain = {"properties": {"to": TEXT, "amount": INTEGER}, "required": ["to"]}
    assert repair(plain, args).problems
    assert repair(plain, args, acts=False).args == {"to": "ann"}
    listed = {"properties": {"to": {"enum": ["none", "all", None]}}}
    assert repair(listed, {"to": "n/a"}, acts=False).args == {}
    assert repair(listed, {"to": "None"}, acts=False).problems


def test_a_default_fills_in_where_it_is_allowed_only():
    schema = {"properties": {"n": {**INTEGER, "default": 3}}, "required": ["n"]}
    assert repair(schema, {}).args == {}
    found = repair(schema, {}, classes=frozenset(Safety))
    assert found.args == {"n": 3}
    assert found.changes[0].safety == Safety.LOSSY


def test_a_synonym_comes_before_any_likeness():
    words = {"from": "origin", "date": "departure_date"}
    found = repair(TRIP, {"from": "LHR", "date": "2026-10-26", "seats": 1}, words=words)
    assert found.args == {"origin": "LHR", "departure_date": "2026-10-26", "seats": 1}


def test_what_fits_comes_back_as_the_same_object():
    inner = {"n": 5}
    schema = {"x": {"type": "object", "properties": {"n": INTEGER}}, "q": INTEGER}
    assert repair(schema, {"x": inner, "q": "1"}).args["x"] is inner


def test_one_field_is_repaired_where_another_one_cannot_be():
    found = repair(PAY, {"to": "ann", "amount": "5", "due_date": "03/04/2026"})
    assert found.args == {"to": "ann", "amount": 5, "due_date": "03/04/2026"}
    assert [each.kind for each in found.problems] == ["ambiguous"]


def nest(depth):
    value = 5
    for _ in range(depth):
        value = {"value": value}
    return value


BIG = {
    "unknown keys": {f"k{n}": n for n in range(20_000)},
    "unknown keys beside": {"to": "ann", "amount": "5", **{f"amoun{n}t": n for n in range(20_000)}},
    "wrong items": {"to": ["x"] * 100_000, "amount": 5},
    "items": {"to": "ann", "amount": list(range(100_000))},
    "nested": {"to": "ann", "amount": nest(90)},
    "nested text": {"to": "ann", "amount": "[" * 90 + "]" * 90},
    "long": {"to": "ann", "amount": "9" * 1_000_000},
    "commas": {"to": "ann", "amount": "1," * 500_000},
}


@pytest.mark.parametrize("args", BIG.values(), ids=BIG)
@pytest.mark.parametrize("kind", [INTEGER, {"type": "array", "items": INTEGER}, BOTH, {**DATE}])
def test_a_pass_over_much_ends_soon(args, kind):
    started = time.process_time()
    repair({"to": TEXT, "amount": kind}, args)
    assert time.process_time() - started < 10


def test_items_beyond_a_bound_are_not_repaired():
    schema = {"q": {"type": "array", "items": INTEGER}}
    started = time.process_time()
    found = repair(schema, {"q": ["1"] * 100_000})
    assert time.process_time() - started < 10
    assert found.problems
    assert found.changes == ()


def test_the_listed_values_are_compared_once_however_many_entries_are_empty(monkeypatch):
    seen = []
    original = arguments.letters
    monkeypatch.setattr(arguments, "letters", lambda name: seen.append(name) or original(name))
    listed = {"enum": [f"value {at}" for at in range(20_000)]}
    schema = {"q": {"type": "array", "items": {"properties": {"p": listed}}}}
    found = repair(schema, {"q": [{"p": "n/a"}] * 900}, acts=False)
    assert found.args == {"q": [{}] * 900}
    assert len(seen) < 22_000


def left(value):
    """Return a value without the keys that nobody knows."""
    if isinstance(value, list):
        return [left(each) for each in value]
    known = value.items() if isinstance(value, dict) else ()
    return {key: left(each) for key, each in known if key not in ("b", "bark")} or (
        {} if isinstance(value, dict) else value
    )


@pytest.mark.parametrize(("place", "written", "want", "fault"), table("arguments.txt", "in part"))
def test_what_can_be_renamed_is_renamed_beside_another_fault(place, written, want, fault):
    found = repair({"x": place}, {"x": written})
    assert want is None or left(found.args["x"]) == want
    assert [each.path for each in found.problems if each.kind == "extra"] == (
        [fault] if fault else []
    )


@pytest.mark.parametrize(
    ("name", "schema", "args", "path", "want"), table("arguments.txt", "alone")
)
def test_a_strategy_alone_does_what_it_does_in_the_pass(name, schema, args, path, want):
    call, diagnosis = Call("t", args), Diagnosis(paths=(path,))
    context = RepairContext({"properties": schema}, effect="read_only")
    answer = Strategies().bind(None, name, {}).repair(call, diagnosis, context)
    assert isinstance(answer, Changed)
    assert {each.strategy for each in answer.changes} == {name}
    assert apply(call, answer.changes).args == want


def test_a_strategy_that_cannot_help_says_why():
    context = RepairContext({"properties": {"q": DATE}})
    call, diagnosis = Call("t", {"q": "03/04/2026"}), Diagnosis(paths=("/args/q",))
    answer = Strategies().bind(None, "format-date", {}).repair(call, diagnosis, context)
    assert answer == GiveUp('"03/04/2026" is 3 April 2026 or 4 March 2026')


def test_the_trail_names_the_strategy_of_each_change():
    tool = Tool(schema=TRIP)
    out = run(tool, {"origin": "LHR", "departureDate": "Oct 26, 2026", "seats": "2"})
    changes = [each for event in out["trail"] for each in event.get("changes", ())]
    assert [(each["path"], each["strategy"]) for each in changes] == [
        ("/args/departure_date", "rename-argument"),
        ("/args/departure_date", "format-date"),
        ("/args/seats", "convert-type"),
    ]
    assert tool.ran == [{"origin": "LHR", "departure_date": "2026-10-26", "seats": 2}]


def test_what_stands_before_the_pass_on_a_ladder_comes_first():
    rule = ErrorRule(
        id="own", error="InvalidArgs", code="type", kind="validation",
        repair=[lambda *_: GiveUp("not me"), "convert-type"],
    )  # fmt: skip
    tool = Tool()
    out = run(tool, {"q": "5"}, strategies=with_rules(rule))
    tried = [each for event in out["trail"] for each in event.get("tried", ())]
    assert [each["outcome"] for each in tried] == ["gave_up", "changed"]
    assert tool.ran == [{"q": 5}]


def test_a_ladder_without_the_strategy_repairs_nothing():
    rule = ErrorRule(id="own", error="InvalidArgs", kind="validation", repair=["wrap-list"])
    tool = Tool()
    assert run(tool, {"q": "5"}, strategies=with_rules(rule))["failure"]["reason"] == "no_strategy"
    assert tool.ran == []
