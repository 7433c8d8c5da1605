"""clamp: the nearest value within the bounds, always lossy."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import Finding, GiveUp
from selfcorrect.repairs.clamp import Clamp
from selfcorrect.testing.conformance import try_strategy

INT, NUM = {"type": "integer"}, {"type": "number"}


@pytest.mark.parametrize(
    ("schema", "value", "after"),
    [
        (INT | {"maximum": 100}, 500, 100),
        (INT | {"minimum": 1, "maximum": 9}, 0, 1),
        (INT | {"minimum": 1.5}, 1, 2),
        (INT | {"maximum": 9.5}, 10, 9),
        (INT | {"exclusiveMinimum": 0}, 0, 1),
        (INT | {"exclusiveMinimum": 0}, -5, 1),
        (INT | {"exclusiveMaximum": 10}, 10, 9),
        (INT | {"multipleOf": 5}, 13, 10),
        (INT | {"multipleOf": 5}, -13, -15),
        (INT | {"multipleOf": 5, "maximum": 12}, 99, 10),
        (NUM | {"minimum": 0.5}, 0.25, 0.5),
        (NUM | {"maximum": 1}, 7, 1),
        (NUM | {"multipleOf": 0.1}, 0.35, 0.3),
        (INT | {"maximum": 9}, 10**3000, 9),
        ({"anyOf": [INT | {"maximum": 9}, {"type": "null"}]}, 12, 9),
        ({"type": "string", "maxLength": 3}, "abcdef", "abc"),
        ({"type": "string", "maxLength": 3}, "abe\u0301", "ab"),
        ({"type": "array", "maxItems": 2}, [1, 2, 3], [1, 2]),
    ],
)
def test_clamps(mend, schema, value, after):
    assert mend(Clamp(), schema, value) == (after, "lossy")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (NUM | {"exclusiveMinimum": 0}, 0),
        (NUM | {"exclusiveMaximum": 1}, 1.5),
        (INT | {"minimum": 7, "multipleOf": 5, "maximum": 9}, 100),
        (INT | {"multipleOf": 5, "minimum": 3}, 4),
        ({"type": "string", "minLength": 3}, "a"),
        ({"type": "array", "minItems": 2}, [1]),
        ({"type": "string", "maxLength": 3, "format": "date"}, "2026-10-26"),
        ({"type": "string", "maxLength": 3, "pattern": "^a.*z$"}, "abcz"),
        (INT | {"maximum": 9}, "500"),
        (INT | {"maximum": 9}, None),
        (INT | {"maximum": 9}, True),
        ({"anyOf": [INT | {"maximum": 9}, NUM | {"minimum": 100.5}]}, 50),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}),
    ],
)
def test_refuses(mend, schema, value):
    assert mend(Clamp(), schema, value) is None


ONE_TO_NINE = INT | {"minimum": 1, "maximum": 9}
WHICH_ONE = """
month birth_month startHour day_of_week week_number fiscal_quarter minute second year maxYear
start_date timestamp order_id account_number zip_code port latitude row_index start_time
"""
HOW_MUCH = """
limit page_size pageSize per_page page page_number radius_km days forecast_days months max_minutes
requests_per_minute day_limit num_results number_of_results duration_second time_limit top_k offset
quantity ids
"""


@pytest.mark.parametrize("name", WHICH_ONE.split())
@pytest.mark.parametrize("value", [0, 14, 202603])
def test_what_says_which_one_is_no_size(mend, name, value):
    assert mend(Clamp(), ONE_TO_NINE, value, name=name) is None


@pytest.mark.parametrize("name", HOW_MUCH.split())
def test_sizes_are_clamped(mend, name):
    assert mend(Clamp(), ONE_TO_NINE, 14, name=name) == (9, "lossy")


def test_parts_of_a_clock_are_known_by_their_bounds(mend):
    assert mend(Clamp(), INT | {"maximum": 23}, 25, name="hours") is None
    assert mend(Clamp(), INT | {"maximum": 59}, 70, name="minutes") is None
    assert mend(Clamp(), INT | {"maximum": 24}, 25, name="hours") == (24, "lossy")
    assert mend(Clamp(), INT | {"maximum": 59}, 70, name="results") == (59, "lossy")


def test_what_stands_in_a_list_is_judged_by_one_of_it():
    schema = {"properties": {"months": {"type": "array", "items": ONE_TO_NINE}}}
    assert isinstance(try_strategy(Clamp(), schema, {"months": [3, 14]}), GiveUp)


def test_an_identifier_is_never_cut(mend):
    assert mend(Clamp(), {"type": "string", "maxLength": 3}, "A-1234", name="order_id") is None
    three = {"type": "array", "maxItems": 3}
    assert mend(Clamp(), three, [1, 2, 3, 4], name="order_id") == ([1, 2, 3], "lossy")


@pytest.mark.parametrize("schema", [INT, INT | {"maximum": 100}])
@pytest.mark.parametrize("bound", [{"maximum": 4}, {"minimum": 20}, {"maximum": "4"}])
def test_a_bound_that_only_the_error_tells_moves_nothing(mend, schema, bound):
    told = Finding("too many", ("E",), paths=("/args/x",), constraint=bound)
    assert mend(Clamp(), schema, 9, told) is None


@settings(max_examples=80)
@given(st.integers(), st.integers(-50, 50), st.integers(0, 100), st.integers(1, 7))
def test_the_nearest_integer_or_none(mend, value, low, size, step):
    schema = INT | {"minimum": low, "maximum": low + size, "multipleOf": step}
    allowed = [n for n in range(low, low + size + 1) if n % step == 0]
    if value in allowed:
        return
    found = mend(Clamp(), schema, value)
    if found is None:
        assert not allowed or value < allowed[0] or Fraction(value, step) != value // step
    else:
        assert found[0] in allowed
