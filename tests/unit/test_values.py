"""Readings of single values: what each means in a place, and what is refused."""

import pytest
from kit import INTEGER, TEXT, sections, table

from selfcorrect.model import Safety
from selfcorrect.repairs.arguments import repair_arguments
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import EVERY
from selfcorrect.values.readings import Permission

UNASKED = frozenset({Safety.EXACT, Safety.INFERRED})
SCHEMAS = dict(table("values.txt", "schemas"))
CABIN = SCHEMAS["cabin"]


def listed(*values):
    return {"enum": list(values)}


def many(items):
    return {"type": "array", "items": items}


def repair(schema, written, *, acts=True, name="q", classes=UNASKED):
    """Repair one value under a required argument; a schema may be named by the data file."""
    schema = SCHEMAS[schema] if isinstance(schema, str) else schema
    place = Place.of({"properties": {name: schema}, "required": [name]})
    return repair_arguments({name: written}, place, Permission(EVERY, classes, acts))


@pytest.mark.parametrize(("schema", "written", "value", "how"), table("values.txt", "read"))
def test_a_value_is_read_as_what_it_means(schema, written, value, how):
    found = repair(schema, written)
    assert found.problems == ()
    assert (found.args["q"], type(found.args["q"])) == (value, type(value))
    assert ", ".join(f"{each.safety} {each.strategy}" for each in found.changes) == how


@pytest.mark.parametrize(("schema", "written", "value", "how"), table("values.txt", "guesses"))
def test_a_guess_is_read_for_no_tool_that_acts(schema, written, value, how):
    found = repair(schema, written, acts=False)
    assert (found.problems, found.args["q"]) == ((), value)
    assert [f"{each.safety} {each.strategy}" for each in found.changes] == [how]
    found = repair(schema, written)
    assert found.problems
    assert found.args["q"] == written


@pytest.mark.parametrize(("schema", "written"), table("values.txt", "refused"))
def test_what_has_no_one_reading_stays_as_it_is(schema, written):
    found = repair(schema, written)
    assert found.problems
    assert found.args["q"] == written
    assert found.changes == ()


@pytest.mark.parametrize(("form", "written", "value"), table("values.txt", "clocks"))
@pytest.mark.parametrize("acts", [True, False])
def test_a_time_is_read_only_where_it_is_one(form, written, value, acts):
    kind = "pattern" if form[0] == "^" else "format"
    found = repair({**TEXT, kind: form}, written, acts=acts)
    assert found.args["q"] == (written if value is None else value)
    assert bool(found.problems) is (value is None)


@pytest.mark.parametrize("row", sections("values.txt")["asked"])
def test_a_phrase_that_is_a_unit_asks_for_it(row):
    description, written = row.split("|")
    found = repair({**INTEGER, "description": description}, written)
    assert found.args == {"q": 5}


def test_the_middle_of_a_long_description_is_no_phrase():
    long = {**INTEGER, "description": f"Price in USD. {'More. ' * 400}It counts in thousands."}
    assert repair(long, "5 USD").problems


def test_a_long_list_is_looked_up_and_not_compared(monkeypatch):
    def refuse(*_):
        raise AssertionError

    for name in ("near_letters", "_says_more"):
        monkeypatch.setattr(f"selfcorrect.values.choices.{name}", refuse)
    codes = [f"code-{at}" for at in range(20_000)]
    place = many(listed(*codes))
    assert repair(place, ["CODE 7"] * 900).args["q"] == ["code-7"] * 900
    assert repair(place, ["coed-7"] * 900, acts=False).changes == ()


@pytest.mark.parametrize("written", ["on", "off"])
def test_on_and_off_are_no_truth_values(written):
    assert repair({"type": "boolean"}, written).problems


@pytest.mark.parametrize(
    ("written", "description"),
    table("values.txt", "other units"),
)
def test_a_unit_that_a_word_makes_another_one_is_refused(written, description):
    assert repair({"type": "number", "description": description}, written).problems


@pytest.mark.parametrize(("schema", "written", "text"), table("values.txt", "ambiguous"))
def test_two_readings_are_a_refusal_that_names_both(schema, written, text):
    (problem,) = repair(schema, written).problems
    assert (problem.kind, problem.text) == ("ambiguous", text)


@pytest.mark.parametrize(("schema", "value"), table("values.txt", "fits"))
def test_what_fits_is_left_alone(schema, value):
    args = {"q": value}
    place = Place.of({"properties": {"q": schema}})
    assert repair_arguments(args, place, Permission(EVERY)).args is args


def test_a_name_asks_for_a_unit():
    assert repair(INTEGER, "3 nights", name="num_nights").args == {"num_nights": 3}
    assert repair(INTEGER, "5 km", name="distance_km").args == {"distance_km": 5}
    assert repair(INTEGER, "5 miles", name="distance_km").problems
    assert repair(INTEGER, "5 min", name="duration_min").args == {"duration_min": 5}


@pytest.mark.parametrize(
    ("written", "name"),
    table("values.txt", "no units"),
)
def test_a_word_of_a_name_that_is_no_unit_asks_for_none(written, name):
    assert repair(INTEGER, written, name=name).problems


def test_a_negation_in_a_name_is_not_idle():
    assert repair(listed("smoking", "any"), "no smoking", name="no_smoking").problems


def test_only_what_is_allowed_is_read():
    assert repair(INTEGER, "five", classes={Safety.EXACT}).problems
    place = Place.of({"properties": {"q": INTEGER}})
    others = {name: {} for name in EVERY if name != "convert-type"}
    assert repair_arguments({"q": "5"}, place, Permission(others)).problems


def test_a_synonym_of_a_listed_value_is_read():
    place = Place.of({"properties": {"q": CABIN}})
    allow = Permission({"correct-enum": {"coach": "economy"}})
    assert repair_arguments({"q": "Coach"}, place, allow).args == {"q": "economy"}
