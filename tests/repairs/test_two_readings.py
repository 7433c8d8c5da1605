"""Values with two readings are refused; the same with one reading is mended."""

from __future__ import annotations

import pytest

from selfcorrect.kernel.number_words import spoken
from selfcorrect.repairs.convert_type import ConvertType
from selfcorrect.repairs.format_date import FormatDate
from selfcorrect.repairs.format_time import FormatTime
from selfcorrect.repairs.split_list import SplitList

INT, NUM, BOOL, STR = ({"type": t} for t in ("integer", "number", "boolean", "string"))
TEXTS = {"type": "array", "items": STR}
INSTANT = {"type": "string", "format": "date-time"}
CLOCK = {"type": "string", "format": "time"}
DAY = {"type": "string", "format": "date"}
PHONE = {"type": "string", "pattern": r"^\+[1-9]\d{6,14}$"}
EXACT, INFERRED = "exact", "inferred"


def told(schema, text):
    return {**schema, "description": text}


def any_of(*schemas):
    return {"anyOf": list(schemas)}


@pytest.mark.parametrize(
    "value",
    [
        *("2026-03-03 09:00-10:00", "2026-03-03 09:00-17:00", "2026-03-03T09:00-10:00"),
        *("2026-03-03 9:00-10:30", "2026-03-03 09:00-1000", "20260303T0900-1000"),
        *("2026-03-03 10:00\u201311:00", "2026-03-03 22:00\u201306:00", "2026-03-03 9am-10:00"),
        *("2026-03-03 09:00:00-17:00", "2026-03-03 09:00:00-12:30", "2026-03-03 09:00+14:30"),
    ],
)
def test_a_range_is_no_offset(mend, value):
    assert mend(FormatDate(), INSTANT, value) is None


@pytest.mark.parametrize("value", ["09:00-10:00", "9:00-10:30", "9h-10:00", "00:00-12:30"])
def test_a_range_of_times_is_no_offset(mend, value):
    assert mend(FormatTime(), CLOCK, value) is None


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("2026-03-03 09:00:00-10:00", "2026-03-03T09:00:00-10:00"),
        ("2026-03-03 09:00-05:00", "2026-03-03T09:00:00-05:00"),
        ("2026-03-03 09:00+10:00", "2026-03-03T09:00:00+10:00"),
        ("2026-03-03 09:00:00+14:00", "2026-03-03T09:00:00+14:00"),
    ],
)
def test_an_offset_stays(mend, value, after):
    assert mend(FormatDate(), INSTANT, value) == (after, EXACT)


def test_an_offset_of_the_map_may_be_west():
    assert FormatTime(timezone="-05:00").timezone == "-05:00"


@pytest.mark.parametrize(
    "value",
    ["the 26th of October 2026", "October the 26th, 2026", "Monday, the 26th of October, 2026"],
)
def test_the_day(mend, value):
    assert mend(FormatDate(), DAY, value) == ("2026-10-26", INFERRED)


@pytest.mark.parametrize("value", ["the 26th", "the 26th of October", "26/10/0026", "the 2026"])
def test_half_a_day(mend, value):
    assert mend(FormatDate(), DAY, value) is None


@pytest.mark.parametrize(
    ("name", "schema", "value", "expected"),
    [
        ("change", NUM, "+5", (5, EXACT)),
        ("x", told(NUM, "Change in price"), "+5%", None),
        ("latitude", NUM, "+52.5", (52.5, EXACT)),
        ("brightness", NUM, "+10", None),
        ("x", NUM, "3.142", (3.142, EXACT)),
        ("x", NUM, "0.500", (0.5, EXACT)),
        ("x", NUM, "1234.500", (1234.5, EXACT)),
        ("x", NUM, "1.2e0", (1.2, EXACT)),
        ("latitude", NUM | {"minimum": -90, "maximum": 90}, "52.520", (52.52, EXACT)),
        ("longitude", NUM | {"minimum": -90_000, "maximum": 90}, "-52.520", None),
        ("dose_mg", NUM, "1.000 mg", None),
        ("dose_mg", NUM, "1.255 mg", (1.255, INFERRED)),
        ("amount", NUM, "1.234", None),
        ("yearlySalary", NUM, "50.001", None),
        ("x", told(NUM, "How much, in EUR"), "1.234", None),
        ("amount_ml", NUM, "1.234", (1.234, EXACT)),
        ("amount_cents", INT, "12.00", None),
        ("amount", told(INT, "In the smallest currency unit"), "12.00", None),
        ("x", told(INT, "p" * 300 + " in cents"), "12.00", None),
        ("amount_cents", INT, "$12.00", None),
        ("x", told(INT, "p" * 300 + " in cents"), "$12", None),
        ("amount_cents", INT, "1200", (1200, EXACT)),
        ("amount_cents", INT, "500.0", (500, EXACT)),
        ("size", told(NUM, "The smallest size in cm"), "12.50", (12.5, EXACT)),
        ("revenue_millions", NUM, "1.2 million", None),
        ("revenue", NUM, "1.2 million", (1_200_000, INFERRED)),
        ("discount_percent", NUM, "50 percent", (50, INFERRED)),
        ("discount", told(NUM, "In %"), "fifty percent", (50, INFERRED)),
        ("discount", NUM | {"maximum": 1}, "50 percent", None),
        ("discount", told(NUM, "Percent as a fraction, 0 to 1"), "50 percent", None),
        ("discount", NUM, "50 percent", None),
    ],
)
def test_numbers(mend, name, schema, value, expected):
    assert mend(ConvertType(), schema, value, name=name) == expected


@pytest.mark.parametrize(
    ("unit", "value", "expected"),
    [
        *((unit, "20 C", None) for unit in ("fahrenheit", "F", "\u00b0F", "kelvin", "imperial")),
        *((unit, "20 C", (20, INFERRED)) for unit in ("celsius", "C", "", None, 5)),
        ("fahrenheit", "20", (20, EXACT)),
        ("celsius", "20 F", None),
    ],
)
def test_the_unit_beside_agrees(unit, value, expected):
    from selfcorrect.model import GiveUp
    from selfcorrect.testing.conformance import try_strategy

    schema = {"properties": {"temperature": told(INT, "In Celsius"), "unit": {}}}
    got = try_strategy(ConvertType(), schema, {"temperature": value, "unit": unit})
    if isinstance(got, GiveUp):
        assert expected is None
    else:
        assert (got.changes[0].after, got.changes[0].safety.value) == expected


SWITCH = {"enum": ["auto", "off"]}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (any_of(PHONE, INT), " +491701234567", ("+491701234567", EXACT)),
        (any_of(PHONE, INT), "+49 170 1234567", ("+491701234567", EXACT)),
        (any_of(PHONE, INT), "491701234567", None),
        (any_of(PHONE, INT), "0049170123456", None),
        (any_of(PHONE, INT), "007", None),
        (any_of(PHONE, INT), "+1 555", None),
        (any_of(PHONE, INT), "42", (42, EXACT)),
        (any_of(SWITCH, INT), "AUTO", ("auto", EXACT)),
        (any_of(SWITCH, INT), "5", (5, EXACT)),
        (any_of(SWITCH, INT), "00", None),
        (any_of(SWITCH, BOOL), "Off", ("off", EXACT)),
        (any_of(SWITCH, BOOL), "on", None),
        (any_of(SWITCH, BOOL), "no", None),
        (any_of(SWITCH, BOOL), "TRUE", (True, EXACT)),
        (any_of({"enum": ["a b", "a-b"]}, INT), "A_B", None),
        (any_of({"type": "string", "pattern": "^[A-Z]{2,3}$"}, BOOL), "no", None),
        (any_of({"type": "string", "pattern": "^[A-Z]{2,3}$"}, BOOL), "yes", None),
        (any_of(DAY, INT), "20260303", None),
        (any_of(DAY, INT), "5", (5, EXACT)),
        (any_of(DAY, INT), "1" * 100_000, None),
    ],
)
def test_a_text_beside_something_else(mend, schema, value, expected):
    assert mend(ConvertType(), schema, value, required=True) == expected


LEFT_OUT = (
    *("not Paris", "no", "No nuts", "except Rome", "without sugar", "all but Bob", "any but Bob"),
    *("anything but tea", "everyone except Bob", "other than Bob", " excluding tax"),
)
KEPT = ("Paris", "Notting Hill", "no-code", "northern", "all about eve", "anybody")


@pytest.mark.parametrize("value", KEPT)
def test_what_is_not_left_out_is_an_item(mend, value):
    assert mend(ConvertType(), TEXTS, value) == ([value], EXACT)


@pytest.mark.parametrize("value", LEFT_OUT)
def test_what_is_left_out_is_no_list(mend, value):
    assert mend(ConvertType(), TEXTS, value) is None
    assert mend(SplitList(), TEXTS, f"{value}; Oslo") is None


@pytest.mark.parametrize("text", ["a, b, etc.", "a; b; and so on", "[a, b, ...]"])
def test_a_list_that_goes_on_is_not_whole(mend, text):
    assert mend(SplitList(), TEXTS, text) is None


@pytest.mark.parametrize("text", ["-", "nobody", "No one", "none"])
def test_a_word_for_nothing_is_no_item(mend, text):
    assert mend(ConvertType(), TEXTS, text, required=True) is None


def test_a_listed_no_is_an_item(mend):
    listed = {"type": "array", "items": {"enum": ["no", "yes"]}}
    assert mend(ConvertType(), listed, "no") == (["no"], EXACT)


@pytest.mark.parametrize("text", ["+1, +2", "1.000, 2.5", "1; +2"])
def test_numbers_of_two_readings_are_no_list(mend, text):
    assert mend(SplitList(), {"type": "array", "items": NUM}, text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("minus twenty-one", -21),
        ("negative 2.5", -2.5),
        ("twenty one and a quarter", 21.25),
        ("3 thousand", 3_000),
        ("0.5 billion", 500_000_000),
        ("12", None),
        ("1.234 million", None),
        ("one million million and a half", None),
        ("half a dozen", None),
        ("and a half", None),
        ("minus", None),
        ("", None),
        ("one and " * 10_000, None),
    ],
)
def test_number_words(text, value):
    found = spoken(text)
    assert (found and float(found.value)) == value
