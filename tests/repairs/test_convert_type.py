"""convert-type: another spelling is exact, one best reading is inferred, a loss is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import is_refused

from selfcorrect.model import ABSENT, Changed, Finding
from selfcorrect.repairs.convert_type import ConvertType

INT, NUM, BOOL, STR = ({"type": t} for t in ("integer", "number", "boolean", "string"))
INTS = {"type": "array", "items": INT}
STRS = {"type": "array", "items": STR}
DOLLARS = NUM | {"description": "Amount in USD"}
EURO = NUM | {"description": "Amount in euros"}
OBJECTS = {"type": "array", "items": {"type": "object"}}
EXACT, INFERRED = "exact", "inferred"


@pytest.mark.parametrize(
    ("schema", "value", "after", "safety"),
    [
        (INT, "5", 5, EXACT),
        (INT, " 5 ", 5, EXACT),
        (INT, "-5", -5, EXACT),
        (INT, "\u22125", -5, EXACT),
        (INT, "-0", 0, EXACT),
        (INT, "2.0", 2, EXACT),
        (INT, "1e3", 1000, EXACT),
        (INT, "1,234", 1234, EXACT),
        (INT, "-1,234,567", -1234567, EXACT),
        (INT, "1,234.00", 1234, EXACT),
        (INT, "1.234,00", 1234, EXACT),
        (INT, "9" * 40, int("9" * 40), EXACT),
        (INT, "007", 7, INFERRED),
        (INT, "five", 5, INFERRED),
        (INT, "minus five", -5, INFERRED),
        (INT, "1.2 million", 1_200_000, INFERRED),
        (INT, "two billion", 2_000_000_000, INFERRED),
        (INT, "a dozen", 12, INFERRED),
        (INT, "Twenty-One", 21, INFERRED),
        (NUM, "5", 5, EXACT),
        (NUM, "0.5", 0.5, EXACT),
        (NUM, ".5", 0.5, EXACT),
        (NUM, "1e-3", 0.001, EXACT),
        (NUM, "1,234.5", 1234.5, EXACT),
        (NUM, "1,234,567", 1234567, EXACT),
        (NUM, "1.234,50", 1234.5, EXACT),
        (NUM, "-1.234.567,5", -1234567.5, EXACT),
        (EURO, "1.234,50 Euro", 1234.5, INFERRED),
        (NUM, "one and a half", 1.5, INFERRED),
        (NUM, "two and three quarters", 2.75, INFERRED),
        (NUM, "1.25 million", 1_250_000, INFERRED),
        (DOLLARS, "$1,250.00", 1250.0, EXACT),
        (DOLLARS, "1250 USD", 1250, EXACT),
        (DOLLARS, "$1,250", 1250, EXACT),
        (DOLLARS, "-$5.25", -5.25, EXACT),
        (DOLLARS, "20 dollars", 20, INFERRED),
        (BOOL, "true", True, EXACT),
        (BOOL, "TRUE ", True, EXACT),
        (BOOL, "False", False, EXACT),
        (BOOL, "yes", True, INFERRED),
        (BOOL, "1", True, INFERRED),
        (BOOL, 1, True, INFERRED),
        (BOOL, 0, False, INFERRED),
        *((INT, [5], 5, INFERRED), (INT, ["5"], 5, INFERRED)),
        *((BOOL, [True], True, INFERRED), (STR, ["Oslo"], "Oslo", INFERRED)),
        (STR, 12345, "12345", EXACT),
        (STR, 2.5, "2.5", EXACT),
        (STR, True, "true", EXACT),
        (STRS, "War", ["War"], EXACT),
        (STRS, 5, ["5"], EXACT),
        (INTS, 5, [5], EXACT),
        (INTS, "5", [5], EXACT),
        (INTS, "five", [5], INFERRED),
        ({"type": "array", "items": {"type": "object"}}, {"a": 1}, [{"a": 1}], EXACT),
        (OBJECTS, {"0": 1, "1": 2}, [{"0": 1, "1": 2}], EXACT),
        ({"anyOf": [INT, {"type": "null"}]}, "5", 5, EXACT),
        ({"anyOf": [INT, BOOL]}, "true", True, EXACT),
        ({"anyOf": [INT, BOOL]}, "1", 1, EXACT),
        ({"type": ["number", "boolean"]}, "1.5", 1.5, EXACT),
        ({"enum": [1, 2, 3]}, "2", 2, EXACT),
        ({"type": "string", "enum": ["1", "2"]}, 2, "2", EXACT),
        ({"$ref": "#/$defs/n"}, "5", 5, EXACT),
        ({"allOf": [INT, {"maximum": 9}]}, "5", 5, EXACT),
    ],
)
def test_converts(mend, schema, value, after, safety):
    beside = {"$defs": {"n": INT}}
    found = mend(ConvertType(), schema, value, beside=beside)
    assert found == (after, safety)
    assert type(found[0]) is type(after)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        *((INT, v) for v in ("2.5", 2.5, "1.234,56", "1.234.567", "5,5", "1/2", "0x10", "1_000")),
        *((INT, v) for v in ("", " ", "abc", "nan", "inf", "1e400", "1e31", "\u0663", "\uff15")),
        *(
            (INT, v)
            for v in ("1,23", "1,00,000", "01,234", "1 234", "1'234", "5-6", "~5", "5+", "--5")
        ),
        *((INT, v) for v in ("five or six", "a few", "half", "hundred", "5k", "5M")),
        *((INT, v) for v in ("one and a half", "1.2345 million", "5 dozen", "minus", "dozens")),
        *((INT, v) for v in ("minus minus five", "minus -5", "+5", "+ 5", "+five", "-+5")),
        *((NUM, v) for v in ("50.000", "1.000", "-12.500", "1.000 million", "+10", "+0.5", "+$5")),
        *((INT, v) for v in (True, [1, 2], [], [[5]], {"a": 1}, "x" * 10_000, "9" * 5_000)),
        *(
            (NUM, v)
            for v in ("1,234", "NaN", "Infinity", "1e400", "1e-400", "1.234,567", "5%", "5 km")
        ),
        *((NUM, v) for v in ("12345678901234567.89", "0." + "1" * 40, "1e", "e5", ".", "$", "$-")),
        *((EURO, v) for v in ("\u20ac1,250", "1,250 EUR", "5 XYZ", "$5 USD", "$1.5k", True)),
        *((NUM, v) for v in ("$5", "5 USD", "\u20ac5", "5 euros", "20 dollars", "$1,250.00")),
        *((BOOL, v) for v in (2, 1.0, 0.5, "maybe", "", "not true", "yes please", -1, "truee")),
        *((STR, v) for v in ({"a": 1}, [1, 2], [], [["a"]], 1e22, 10**1000, None)),
        *((STRS, v) for v in ("a, b", "Smith, John", "", "[a", "Alice and Bob", "a;b", "a\nb")),
        (INTS, "5.5"),
        (INTS, {"a": 1}),
        (OBJECTS, {"0": {"a": 1}, "1": {"a": 2}}),
        (STRS, {"0": "War", "1": "Peace"}),
        ({"type": "integer", "maximum": 4}, "5"),
        ({"type": "string", "format": "date"}, 20261026),
        ({"type": "string", "pattern": "^[A-Z]+$"}, 5),
    ],
)
def test_refuses(mend, schema, value):
    assert mend(ConvertType(), schema, value, required=True) is None


@pytest.mark.parametrize("value", [None, "None", "null", " null "])
@pytest.mark.parametrize("schema", [INT, BOOL, INTS, {"type": "string", "format": "date"}])
def test_null_is_left_out_where_nothing_is_asked_for(mend, schema, value):
    assert mend(ConvertType(), schema, value) == (ABSENT, EXACT)
    assert mend(ConvertType(), schema, value, required=True) is None


@pytest.mark.parametrize("value", ["none", "NULL", "nil", "undefined", "N/A"])
def test_other_words_for_nothing_are_left_alone(mend, value):
    assert mend(ConvertType(), INT, value) is None


@pytest.mark.parametrize(
    ("schema", "value", "required", "expected"),
    [
        (INT, "", False, (ABSENT, "inferred")),
        (INT, " ", False, (ABSENT, "inferred")),
        (INT, "", True, None),
        (INT | {"default": "dontcare"}, "dontcare", False, (ABSENT, "inferred")),
        (INT | {"default": "dontcare"}, "dontcare", True, None),
        (INT | {"default": 3}, "dontcare", False, None),
        ({"enum": ["news", "sport"], "default": "general"}, "general", False, None),
    ],
)
def test_an_optional_argument_that_says_nothing_is_left_out(
    mend, schema, value, required, expected
):
    assert mend(ConvertType(), schema, value, required=required) == expected


def test_the_word_null_where_null_is_allowed(mend):
    schema = {"type": ["integer", "null"]}
    assert mend(ConvertType(), schema, "null", required=True) == (None, EXACT)


def test_null_inside_a_list_stays(mend):
    finding = Finding("no", ("InvalidArgs",), paths=("/args/x/1",))
    assert mend(ConvertType(), INTS, [1, None], finding) is None


NEGATING = """
disable_cache no_cache mute muted skip_tests without_tax is_disabled hide_names do_not_disturb off
power_off turn_off disable_mode enable_no_cache unset ignore_case suppress_output opt_out wifi x
block_ads exclude_active stop_when_on
"""
SWITCHED = "enabled is_enabled on is_on dark_mode active power enable_cache use_gpu turn_on"


@pytest.mark.parametrize("name", NEGATING.split())
@pytest.mark.parametrize("word", ["on", "off", "On", " OFF "])
def test_on_and_off_need_a_name_that_says_what_is_on(mend, name, word):
    assert mend(ConvertType(), BOOL, word, name=name) is None
    assert mend(ConvertType(), BOOL, "yes", name=name) == (True, INFERRED)
    assert mend(ConvertType(), BOOL, "true", name=name) == (True, EXACT)


@pytest.mark.parametrize("name", SWITCHED.split())
def test_on_and_off_where_the_name_says_it(mend, name):
    assert mend(ConvertType(), BOOL, "on", name=name) == (True, INFERRED)
    assert mend(ConvertType(), BOOL, "off", name=name) == (False, INFERRED)


PRICED = {"properties": {"x": NUM, "currency": {"type": "string"}}}


@pytest.mark.parametrize(
    ("value", "currency"),
    [
        ("$1,250.00", "USD"),
        ("$1,250.00", "usd"),
        ("$1,250.00", "EUR"),
        ("$1,250.00", None),
        ("\u20ac5.50", "EUR"),
        ("1250.50 GBP", "GBP"),
        ("1250.50 GBP", "USD"),
    ],
)
def test_a_currency_that_only_another_argument_tells_is_refused(value, currency):
    from selfcorrect.testing.conformance import try_strategy

    args = {"x": value} | ({"currency": currency} if currency else {})
    changes = getattr(try_strategy(ConvertType(), PRICED, args), "changes", ())
    assert all(is_refused(ConvertType, change) for change in changes)


@pytest.mark.parametrize(
    ("name", "description", "value", "after"),
    [
        ("distance", "Distance in kilometers", "5 km", 5),
        ("distance_km", "", "5 km", 5),
        ("distance", "Distance in kilometres.", "5km", 5),
        ("weight_g", "", "5 g", 5),
        ("nights", "", "3 nights", 3),
        ("duration", "Duration in minutes", "30 min", 30),
        ("rate", "Rate in percent", "5%", 5),
        ("temperature", "in Celsius", "20 \u00b0C", 20),
        ("distance", "Distance in miles", "5 km", None),
        ("distance", "Distance in km or miles", "5 km", None),
        ("distance", "", "5 km", None),
        ("budget", "Budget in dollars", "5M", None),
        ("distance_m", "", "5M", None),
        ("rate", "Rate as a fraction, not percent", "5%", None),
        ("nights", "", "3 days", None),
        ("amount", "Amount in cents", "$5", None),
        ("amount_eur", "", "$5.00", None),
        ("amount", "Amount in EUR", "$5.00", None),
        ("amount_usd", "", "$5.00", 5.0),
        ("distance", "Distance in km", "$5", None),
        ("discount", "Discount in percent", "$5", None),
        ("price", "Price per kg in USD", "$5", None),
    ],
)
def test_a_unit_has_to_be_the_one_that_is_asked_for(mend, name, description, value, after):
    schema = {"type": "number", "description": description}
    found = mend(ConvertType(), schema, value, name=name)
    assert (found and found[0]) == after


@pytest.mark.parametrize(
    ("args", "description", "after"),
    [
        ({"heat": "21\u00b0C", "unit": "celsius"}, "in celsius", 21),
        ({"heat": "21 C", "heat_unit": "celsius", "rain_unit": "mm"}, "in celsius", 21),
        ({"heat": "21\u00b0F", "unit": "celsius"}, "", None),
        ({"heat": "21\u00b0C"}, "", None),
        ({"heat": "21\u00b0C", "unit": "celsius"}, "", None),
        ({"heat": "21\u00b0C", "unit": "celsius"}, "in fahrenheit", None),
        ({"heat": "21 C", "rain_unit": "mm", "wind_unit": "celsius"}, "", None),
        ({"heat": "5M", "unit": "M"}, "", None),
    ],
)
def test_a_unit_that_is_said_beside_the_number_agrees_with_the_schema(args, description, after):
    from selfcorrect.testing.conformance import try_strategy

    heat = {"type": "number", "description": description}
    names = ("unit", "heat_unit", "rain_unit", "wind_unit")
    schema = {"properties": {"heat": heat, **{name: {} for name in names if name in args}}}
    answer = try_strategy(ConvertType(), schema, args)
    assert (answer.changes[0].after if isinstance(answer, Changed) else None) == after


def test_a_finding_deep_inside():
    from selfcorrect.testing.conformance import try_strategy

    person = {"type": "object", "properties": {"age/years": INT}}
    schema = {"properties": {"people": {"type": "array", "items": {"$ref": "#/$defs/p"}}}}
    answer = try_strategy(
        ConvertType(),
        schema | {"$defs": {"p": person}},
        {"people": [{"age/years": 1}, {"age/years": "2"}, {"age/years": "no"}]},
    )
    (change,) = answer.changes
    assert (change.path, change.before, change.after) == ("/args/people/1/age~1years", "2", 2)


@settings(max_examples=40)
@given(st.integers(-(10**30), 10**30), st.sampled_from(["{}", " {}", "{:,}", "{}.0", "{}.00"]))
def test_an_integer_in_any_clean_spelling_keeps_its_value(mend, number, form):
    found = mend(ConvertType(), INT, form.format(number))
    assert found == (number, EXACT)


@settings(max_examples=40)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_keeps_its_value(mend, number):
    assert mend(ConvertType(), NUM, repr(number))[0] == number
    text = mend(ConvertType(), STR, number)
    assert text is None or float(text[0]) == number


@settings(max_examples=40)
@given(st.text(alphabet="0123456789.,-+eE_ $%\u0663xk/", min_size=1, max_size=12))
def test_what_it_reads_is_what_python_reads_or_plain_thousands(mend, text):
    found = mend(ConvertType(), NUM, text, required=True)
    if found is None:
        return
    bare = text.replace("$", "").strip()
    grouped = bare.replace(",", "")
    assert float(grouped.replace(" ", "")) == found[0]
    assert "," not in bare or all(len(part) >= 3 for part in bare.split(".")[0].split(",")[1:])
