"""Readings of single values: what each means in a place, and what is refused."""

from dataclasses import replace

import pytest
from kit import DATE, INTEGER, TEXT

from selfcorrect.model import Safety
from selfcorrect.repairs.arguments import repair_arguments
from selfcorrect.schema.slot import Slot
from selfcorrect.values.primitives import EVERY, PRIMITIVES
from selfcorrect.values.readings import Allow

UNASKED = frozenset({Safety.EXACT, Safety.INFERRED})
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
CABIN = {"enum": ["economy", "business", "first"]}
USD = {"type": "number", "description": "The amount in USD"}
SECONDS = {"type": "integer", "description": "Seconds to wait"}
TIME = {"type": "string", "format": "time"}
MOMENT = {"type": "string", "format": "date-time"}
CODE = {"type": "string", "pattern": "^[A-Z]{3}$"}


EMAIL = {**TEXT, "format": "email"}


def listed(*values):
    return {"enum": list(values)}


def many(items):
    return {"type": "array", "items": items}


def repair(schema, written, *, acts=True, name="q", classes=UNASKED):
    """Repair one value under a required argument."""
    slot = Slot.of({"properties": {name: schema}, "required": [name]})
    return repair_arguments({name: written}, slot, Allow(EVERY, classes, acts))


PAIR = {**many(NUMBER), "description": "The latitude and the longitude of a place"}
READ = [
    (INTEGER, "5", 5, "exact convert-type"),
    (PAIR, {"latitude": 5, "longitude": 7}, [5, 7], "inferred unwrap-value"),
    (many(TEXT), {"item": ["a", "b"]}, ["a", "b"], "exact unwrap-value"),
    (many(TEXT), {"type": "list", "items": ["a"]}, ["a"], "exact unwrap-value"),
    (INTEGER, " -5 ", -5, "exact convert-type"),
    (INTEGER, "\N{MINUS SIGN}5", -5, "exact convert-type"),
    (INTEGER, "5.00", 5, "exact convert-type"),
    (INTEGER, "1e3", 1000, "exact convert-type"),
    (INTEGER, "3,500", 3500, "inferred convert-type"),
    (INTEGER, "1,234,567", 1234567, "inferred convert-type"),
    (INTEGER, "five", 5, "inferred convert-type"),
    (INTEGER, "Twenty-one", 21, "inferred convert-type"),
    (INTEGER, "9007199254740993", 9007199254740993, "exact convert-type"),
    (NUMBER, "2.5", 2.5, "exact convert-type"),
    (NUMBER, "1,234.5", 1234.5, "inferred convert-type"),
    (NUMBER, "9007199254740993", 9007199254740993, "exact convert-type"),
    (USD, "$5", 5, "exact convert-type"),
    (USD, "5.50 USD", 5.5, "exact convert-type"),
    (SECONDS, "5 s", 5, "exact convert-type"),
    (BOOLEAN, "True", True, "exact convert-type"),
    (BOOLEAN, "no", False, "inferred convert-type"),
    (BOOLEAN, 1, True, "inferred convert-type"),
    (CABIN, " Business", "business", "exact correct-enum"),
    (CABIN, "Business class", "business", "inferred correct-enum"),
    (listed("us-east-1", "us-west-2"), "US East 1", "us-east-1", "exact correct-enum"),
    (listed(1, 2, 3), "2", 2, "exact correct-enum"),
    (listed("5", "50"), 5, "5", "exact correct-enum"),
    (DATE, "2026/10/26", "2026-10-26", "exact format-date"),
    (DATE, "Oct 26, 2026", "2026-10-26", "inferred format-date"),
    (DATE, "26th of October 2026", "2026-10-26", "inferred format-date"),
    (DATE, "Monday, 26 October 2026", "2026-10-26", "inferred format-date"),
    (DATE, "25.12.2026", "2026-12-25", "inferred format-date"),
    (DATE, "Tue 03/03/2026", "2026-03-03", "inferred format-date"),
    (DATE, "2026-10-26T00:00:00Z", "2026-10-26", "inferred format-date"),
    (TIME, "9:30 pm UTC", "21:30:00Z", "exact format-time"),
    (MOMENT, "2026-10-26 09:30+0200", "2026-10-26T09:30:00+02:00", "exact format-date"),
    (TEXT, 5, "5", "exact convert-type"),
    (TEXT, True, "true", "exact convert-type"),
    (CODE, " LHR\n", "LHR", "exact correct-format"),
    (CODE, "lhr", "LHR", "inferred correct-format"),
    ({**TEXT, "format": "email"}, "<mailto:ann@x.com>", "ann@x.com", "exact correct-format"),
    (
        {**TEXT, "format": "uuid"},
        "{123E4567E89B12D3A456426614174000}",
        "123e4567-e89b-12d3-a456-426614174000",
        "exact correct-format",
    ),
    (many(TEXT), "a", ["a"], "exact wrap-list"),
    (many(INTEGER), 5, [5], "exact wrap-list"),
    (
        many(CABIN),
        "economy, Business",
        ["economy", "business"],
        "inferred split-list, exact correct-enum",
    ),
    (many(INTEGER), "1, 2\t", [1, 2], f"inferred split-list{2 * ', exact convert-type'}"),
    (many(EMAIL), "a@x.org; b@x.org", ["a@x.org", "b@x.org"], "inferred split-list"),
    (
        many(listed("Washington, D.C.")),
        "Washington, D.C.",
        ["Washington, D.C."],
        "inferred wrap-list",
    ),
    (many(TEXT), '["a", "b"]', ["a", "b"], "exact parse-nested"),
    (many(TEXT), "['a', 'b']", ["a", "b"], "exact parse-nested"),
    (many(TEXT), r'["dir C:\Dev"]', [r"dir C:\Dev"], "exact parse-nested"),
    (many(INTEGER), "[1, 2]", [1, 2], "exact parse-nested"),
    (INTEGER, [5], 5, "inferred unwrap-list"),
    (INTEGER, {"value": 5}, 5, "exact unwrap-value"),
    (INTEGER, {"type": "number", "value": 5}, 5, "exact unwrap-value"),
    ({"type": "object"}, '{"a": 1}', {"a": 1}, "exact parse-nested"),
    ({"type": ["integer", "null"]}, "null", None, "exact convert-type"),
    ({"anyOf": [INTEGER, {"type": "null"}]}, "7", 7, "exact convert-type"),
    ({"anyOf": [INTEGER, many(INTEGER)]}, "7", 7, "exact convert-type"),
]


@pytest.mark.parametrize(("schema", "written", "value", "how"), READ)
def test_a_value_is_read_as_what_it_means(schema, written, value, how):
    found = repair(schema, written)
    assert found.problems == ()
    assert (found.args["q"], type(found.args["q"])) == (value, type(value))
    assert ", ".join(f"{each.safety} {each.strategy}" for each in found.changes) == how


GUESSES = [
    # What is read for tools that only read: letters decide, or a free text is taken apart.
    (listed("scenic view", "camping"), "Scenic views", "scenic view", "inferred correct-enum"),
    (CABIN, "buisness", "business", "inferred correct-enum"),
    (listed("3.1", "3.10"), 3.1, "3.1", "exact correct-enum"),
    (TEXT, 2.5, "2.5", "inferred convert-type"),
    (INTEGER, "+5", 5, "exact convert-type"),
    (INTEGER, "0755", 755, "exact convert-type"),
    (TEXT, 1.1, "1.1", "inferred convert-type"),
    (TEXT, -0.5, "-0.5", "inferred convert-type"),
    (INTEGER, "+1,250", 1250, "inferred convert-type"),
    (INTEGER, "-007", -7, "exact convert-type"),
    (NUMBER, "+2.5", 2.5, "exact convert-type"),
    (listed("include", "exclude"), "inclide", "include", "inferred correct-enum"),
    (listed("economy", "business"), "econmoy", "economy", "inferred correct-enum"),
    (listed("user account", "group"), "user accounts", "user account", "inferred correct-enum"),
    (many(TEXT), "a, b", ["a", "b"], "inferred split-list"),
    (many(TEXT), "Doe, Jane", ["Doe", "Jane"], "inferred split-list"),
    (many(TEXT), "ann, bob, etc.", ["ann", "bob", "etc."], "inferred split-list"),
    (many(TEXT), "Paris; France", ["Paris", "France"], "inferred split-list"),
    (many(TEXT), "[Doe, Jane]", ["Doe", "Jane"], "inferred split-list"),
    (many({**TEXT, "format": "hostname"}), "a, b", ["a", "b"], "inferred split-list"),
    (many({"type": ["string", "integer"]}), "a, 5", ["a", "5"], "inferred split-list"),
    (many(TEXT), "a\nb", ["a", "b"], "inferred split-list"),
    (many(TEXT), "a\N{FULLWIDTH COMMA}b", ["a", "b"], "inferred split-list"),
    (many(TEXT), "a\N{IDEOGRAPHIC COMMA}b", ["a", "b"], "inferred split-list"),
    (many(TEXT), '"a"', ['"a"'], "exact wrap-list"),
    (many(CODE), "LHR, JFK", ["LHR", "JFK"], "inferred split-list"),
]


@pytest.mark.parametrize(("schema", "written", "value", "how"), GUESSES)
def test_a_guess_is_read_for_no_tool_that_acts(schema, written, value, how):
    found = repair(schema, written, acts=False)
    assert (found.problems, found.args["q"]) == ((), value)
    assert [f"{each.safety} {each.strategy}" for each in found.changes] == [how]
    found = repair(schema, written)
    assert found.problems
    assert found.args["q"] == written


REFUSED = [
    # Numbers that would be rounded, or have two meanings.
    (INTEGER, "2.5"),
    (INTEGER, 2.5),
    (INTEGER, "12,5"),
    (NUMBER, "12,5"),
    (NUMBER, "3,5"),
    (NUMBER, "3,500"),
    (INTEGER, "1.000"),
    (NUMBER, "1.000"),
    (NUMBER, "1e400"),
    (INTEGER, "1e400"),
    (NUMBER, "0.12345678901234567890"),
    (INTEGER, "10²"),
    (INTEGER, "5 or 6"),
    (INTEGER, "~5"),
    (INTEGER, "5+1"),
    (INTEGER, "1 000"),
    (INTEGER, "ten five"),
    (INTEGER, "twenty zero"),
    (INTEGER, "twenty fifteen"),
    (INTEGER, "NaN"),
    (INTEGER, "٥"),
    (INTEGER, True),
    (INTEGER, "not 5"),
    # Units and currencies that the schema does not name.
    (SECONDS, "5 min"),
    (USD, "5 EUR"),
    (USD, "€5"),
    (NUMBER, "$5"),
    ({**NUMBER, "description": "US dollars, or CAD"}, "5 USD"),
    ({**INTEGER, "description": "Price in cents, in USD"}, "$5"),
    ({**NUMBER, "description": "size in MB"}, "5 Mb"),
    # Words.
    (BOOLEAN, "maybe"),
    (BOOLEAN, "not true"),
    (BOOLEAN, 2),
    (CABIN, "not business"),
    (CABIN, "economy or business"),
    (CABIN, "anything but business"),
    (CABIN, "businesswoman"),
    (listed("north", "south"), "southw"),
    (listed("us-east-1", "us-east-2"), "us-east-1x"),
    (listed("us-east-1", "us-east-2"), "us-east"),
    (listed("read", "real"), "rea"),
    (listed("strasse", "weg"), "straße"),
    (listed("delete", "archive"), "soft delete"),
    (listed("delete"), "undelete"),
    (listed("attach"), "detach"),
    (listed("maximize"), "minimize"),
    (listed("complete", "incomplete"), "in complete"),
    (listed("week", "month"), "weeks"),
    (listed("A", "B"), "A-"),
    (listed("C", "D"), "C#"),
    (listed("15", "20"), "1.5"),
    (listed(5, 6), "-5"),
    (listed(5, 6), "5.5"),
    (listed("none", "all", None), "None"),
    (listed("A", "A, B", "B"), "a, b; c"),
    (many(listed("a", "b", "a,b")), "a,b"),
    # Dates and times.
    (DATE, "03/04/2026"),
    (DATE, "2036-11-2"),
    (DATE, "12/25"),
    (DATE, "2026-02-31"),
    (DATE, "26 Oct 26"),
    (DATE, "Tuesday, 26 October 2026"),
    (DATE, "2026-10-26T10:00:00Z"),
    (DATE, "tomorrow"),
    (TIME, "9:30"),
    (MOMENT, "2026-10-26"),
    (MOMENT, "2026-10-26 09:30"),
    # Texts.
    (TEXT, 5.0),
    (TEXT, 1e300),
    (TEXT, ["a", "b"]),
    ({**TEXT, "format": "email"}, "ann at x.com"),
    ({**TEXT, "format": "email"}, "rose@garden."),
    ({**TEXT, "format": "uri"}, "example.com/page"),
    ({**TEXT, "pattern": "^([a-z]+|[A-Z]+)$"}, "Abc"),
    ({**TEXT, "pattern": "^[0-9]+$"}, "-5"),
    # Lists, and what stands in texts.
    (many(TEXT), "}"),
    (many(TEXT), "--"),
    (many(TEXT), "$NAMES"),
    (many(TEXT), "<names>"),
    (many(TEXT), 'rose"]'),
    (many(TEXT), "New York, NY"),
    (many(TEXT), "a, b and c"),
    (many(TEXT), "a, b; c"),
    (many(TEXT), "a, b, ..."),
    (many(TEXT), "a, <names>"),
    (many(TEXT), "https://example.com/a,b"),
    (many(TEXT), "a,b;c"),
    (many(TEXT), "{};lumen;alpha"),
    (many(TEXT), "[TAGS]"),
    (many(TEXT), "['a' 'b']"),
    (many(TEXT), '["a"] or ["b"]'),
    (many(TEXT), '["a", "b"'),
    (many(INTEGER), "1,234"),
    (many(TEXT), ""),
    (INTEGER, [5, 6]),
    (INTEGER, []),
    (INTEGER, {"refund": 5}),
    (INTEGER, {"value": 5, "unless": "bob agrees"}),
    (INTEGER, {"type": "refund", "value": 5}),
    (PAIR, {"longitude": 7, "latitude": 5}),
    (PAIR, {"latitude": 5, "longitude": 7, "height": 9}),
    (many(NUMBER), {"latitude": 5, "longitude": 7}),
    (many(TEXT), "<item>a</item><item>b</item>"),
    (listed("week", "month"), "weeks"),
    ({"type": "object"}, '{"a": 1, "a": 2}'),
    ({"type": "object"}, '{"a": 1} but only if bob agrees'),
    ({"type": "object"}, "{'a': __import__('os')}"),
    # Nothing.
    (INTEGER, ""),
    (INTEGER, "none"),
    (INTEGER, None),
    ({"type": ["integer", "null"]}, ""),
]


@pytest.mark.parametrize(("schema", "written"), REFUSED)
def test_what_has_no_one_reading_stays_as_it_is(schema, written):
    found = repair(schema, written)
    assert found.problems
    assert found.args["q"] == written
    assert found.changes == ()


CLOCKS = [
    # The format or pattern, what is written, and what it means; nothing where nobody knows.
    *[
        ("date-time", f"2026-10-26 {span}", None)
        for span in ("09:00-17:00", "9:00-11:00", "9am-1700", "09:00-0930", "09:00 -10:00")
    ],
    *[
        ("time", span, None)
        for span in ("09:00-17:00", "9am-1000", "10:00-12:00", "9:00:00-17:00", "9:00:00-14:30")
    ],
    *[("time", f"9:00:00{offset}", None) for offset in ("+15:00", "-05:60", "+9999", "-1401")],
    ("date-time", "Oct 26, 2026 at 09:00-17:00", None),
    ("date-time", "2026-10-26 24:00 UTC", None),
    ("date-time", "2026-10-26 09:60 UTC", None),
    ("date-time", "2026-10-26 9am +0530", "2026-10-26T09:00:00+05:30"),
    ("date-time", "2026-10-26 09:00:00 -0500", "2026-10-26T09:00:00-05:00"),
    ("date-time", "2026-10-26 9:00 UTC", "2026-10-26T09:00:00Z"),
    ("time", "9:00:00-05:00", "09:00:00-05:00"),
    ("time", "09:00+14:00", "09:00:00+14:00"),
    (r"^\d{2}:\d{2}:\d{2}$", "9:30", None),
    (r"^\d{2}:\d{2}:\d{2}$", "1:05", None),
    (r"^\d{2}:\d{2}:\d{2}$", "9:58.21", None),
    (r"^\d{2}:\d{2}:\d{2}$", "9:30 pm", "21:30:00"),
    (r"^\d{2}:\d{2}$", "9:05", "09:05"),
    (r"^\d{2}:\d{2}$", "9 pm", "21:00"),
    (r"^\d{2}:\d{2}$", "9:75 pm", None),
    (r"^\d{2}:\d{2}(:\d{2})?$", "9:30", "09:30"),
    (r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$", "2026-10-26 9:30", "2026-10-26T09:30:00"),
    (r"^\d{4}-\d\d-\d\d$", "25.12.2026", "2026-12-25"),
    # The digits of an account stand in an order of their own.
    (r"^[\d-]+$", "25 12 2026", None),
    (r"^[\w-]+$", "Oct 26, 2026", None),
]


@pytest.mark.parametrize(("form", "written", "value"), CLOCKS)
@pytest.mark.parametrize("acts", [True, False])
def test_a_time_is_read_only_where_it_is_one(form, written, value, acts):
    kind = "pattern" if form[0] == "^" else "format"
    found = repair({**TEXT, kind: form}, written, acts=acts)
    assert found.args["q"] == (written if value is None else value)
    assert bool(found.problems) is (value is None)


ASKED = """
Price in USD|5 USD
(USD)|$5
Price (USD)|5 USD
The price, in US dollars|$5
Price: USD|US$5
How many dollars to send|$5
Discount (%)|5%
Share in percent|5 pct
Distance in kilometers|5 km
kilometers|5km
Unit: km|5 kilometres
weight, in kg|5 kg
Weight in whole kilograms|5 kilos
Seconds to wait|5 s
Seconds between two attempts|5 sec
Number of minutes|5 minutes
How many hours to keep it|5 h
Timeout in milliseconds, as a whole|5 ms
Temperature in degrees Celsius|5 C
Temperature (°C)|5 °C
Speed in km/h|5 km/h
"""


@pytest.mark.parametrize("row", ASKED.split("\n")[1:-1])
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


@pytest.mark.parametrize("name", ["no_log", "disable_cache", "exclude_old", "dont_send", "mute"])
def test_on_and_off_say_nothing_under_a_name_that_turns_something_off(name):
    assert repair({"type": "boolean"}, "off", name=name).problems
    assert repair({"type": "boolean"}, "true", name=name).args[name] is True


@pytest.mark.parametrize(
    ("written", "description"),
    [
        *[
            ("5 miles", "nautical miles"),
            ("5 USD", "in Australian dollars"),
            ("5 tons", "in tonnes"),
        ],
        *[("2 hours", "hour of the trip"), ("5 weeks", "ISO week")],
    ],
)
def test_a_unit_that_a_word_makes_another_one_is_refused(written, description):
    assert repair({"type": "number", "description": description}, written).problems


AMBIGUOUS = [
    (DATE, "03/04/2026", '"03/04/2026" is 3 April 2026 or 4 March 2026'),
    (many(INTEGER), "1,234", '"1,234" is [1, 234] or [1234]'),
    (listed("none", "all", None), "None", "\"None\" is 'none' or None"),
    (listed("read-x", "read_x"), "Read X", "\"Read X\" is 'read-x' or 'read_x'"),
]


@pytest.mark.parametrize(("schema", "written", "text"), AMBIGUOUS)
def test_two_readings_are_a_refusal_that_names_both(schema, written, text):
    (problem,) = repair(schema, written).problems
    assert (problem.kind, problem.text) == ("ambiguous", text)


@pytest.mark.parametrize(
    ("schema", "value"), [(INTEGER, 5), (TEXT, "5"), (many(TEXT), ["a, b"]), (CABIN, "first")]
)
def test_what_fits_is_left_alone(schema, value):
    args = {"q": value}
    slot = Slot.of({"properties": {"q": schema}})
    assert repair_arguments(args, slot, Allow(EVERY)).args is args


def test_a_name_asks_for_a_unit():
    assert repair(INTEGER, "3 nights", name="num_nights").args == {"num_nights": 3}
    assert repair(INTEGER, "5 km", name="distance_km").args == {"distance_km": 5}
    assert repair(INTEGER, "5 miles", name="distance_km").problems
    assert repair(INTEGER, "5 min", name="duration_min").args == {"duration_min": 5}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *[("5 minutes", "min_amount"), ("5 inches", "in_stock"), ("5 A", "a_id")],
        *[
            ("5 lb", "price_in_pounds"),
            ("5 days", "day"),
            ("2 years", "birth_year"),
            ("2 hours", "start_hour"),
        ],
    ],
)
def test_a_word_of_a_name_that_is_no_unit_asks_for_none(written, name):
    assert repair(INTEGER, written, name=name).problems


def test_a_negation_in_a_name_is_not_idle():
    assert repair(listed("smoking", "any"), "no smoking", name="no_smoking").problems


def test_only_what_is_allowed_is_read():
    assert repair(INTEGER, "five", classes={Safety.EXACT}).problems
    slot = Slot.of({"properties": {"q": INTEGER}})
    others = tuple(each for each in EVERY if each.name != "convert-type")
    assert repair_arguments({"q": "5"}, slot, Allow(others)).problems


def test_a_synonym_of_a_listed_value_is_read():
    slot = Slot.of({"properties": {"q": CABIN}})
    allow = Allow((replace(PRIMITIVES["correct-enum"], words={"coach": "economy"}),))
    assert repair_arguments({"q": "Coach"}, slot, allow).args == {"q": "economy"}
