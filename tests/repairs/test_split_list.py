"""split-list: only where the separators cannot belong to one item."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.repairs.split_list import SplitList

TEXTS, INTS, NUMS = (
    {"type": "array", "items": {"type": kind}} for kind in ("string", "integer", "number")
)
LISTED = {"type": "array", "items": {"enum": ["Cafe Inside", "Disabled Access", "Pet-friendly"]}}


@pytest.mark.parametrize(
    ("schema", "value", "after"),
    [
        (TEXTS, "a, b", ["a", "b"]),
        (TEXTS, "red,green, blue", ["red", "green", "blue"]),
        (TEXTS, "config.py, main.py", ["config.py", "main.py"]),
        (TEXTS, "[a, b]", ["a", "b"]),
        (TEXTS, "[New York, Paris]", ["New York", "Paris"]),
        (TEXTS, "LHR, CDG", ["LHR", "CDG"]),
        (TEXTS, "Smith, John; Doe, Jane", ["Smith, John", "Doe, Jane"]),
        (TEXTS, "Oslo\nBergen", ["Oslo", "Bergen"]),
        (TEXTS, "x | y", ["x", "y"]),
        (TEXTS, "- red wine\n- bread", ["red wine", "bread"]),
        (TEXTS, "1. Oslo\n2. Bergen", ["Oslo", "Bergen"]),
        (TEXTS, "1. red, 2. blue", ["red", "blue"]),
        (TEXTS, "\u2014 red\n\u2014 blue", ["red", "blue"]),
        (INTS, "- 1\n- 2", [1, 2]),
        (LISTED, "* Cafe inside\n* Pet friendly", ["Cafe Inside", "Pet-friendly"]),
        (INTS, "1, 2, 3", [1, 2, 3]),
        (INTS, "1 2 3", [1, 2, 3]),
        (INTS, "1, 2 and 3", [1, 2, 3]),
        (NUMS, "1.5, 2", [1.5, 2]),
        (LISTED, "cafe inside, disabled access", ["Cafe Inside", "Disabled Access"]),
        (LISTED, "Cafe Inside and Pet friendly", ["Cafe Inside", "Pet-friendly"]),
    ],
)
def test_splits(mend, schema, value, after):
    assert mend(SplitList(), schema, value) == (after, "inferred")


def test_a_list_in_brackets_is_one(mend):
    assert mend(SplitList(), INTS, "[1, 2]") == ([1, 2], "exact")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        *((TEXTS, v) for v in ("Smith, John", "Paris, France", "Dallas, TX", "PARIS, FRANCE")),
        *((TEXTS, v) for v in ("Hello, how are you?", "bread, salt and pepper", "a", ",", "a,,b")),
        *(
            (TEXTS, v)
            for v in ("red and green", "1,234", "a, 'b, c'", "f(a, b)", "New York, Paris")
        ),
        *((TEXTS, v) for v in ("x, " * 50_000, '["a", "b"]')),
        *(
            (INTS, v)
            for v in (
                "1.000,50",
                "1 000",
                "1,5",
                "10 000 000",
                "1,234",
                "10,200,300",
                "1, two-ish",
                "1.5, 2",
                "1-3",
                "$1, $2",
                "1;x",
            )
        ),
        *((NUMS, v) for v in ("1,5", "1, 2%", "5 km, 6 km")),
        *((TEXTS, v) for v in ("- red\nblue", "1. Oslo\n3. Bergen", "- red", "- a\n* b")),
        *((TEXTS, v) for v in ("- a\n  - b\n- c", "* \n* ", "1. a 2. b")),
        (INTS, "- 1; - 2"),
        (LISTED, "cafe inside, parking"),
        ({"type": "string"}, 5),
        ({"type": "array", "items": {"type": "object"}}, "a, b"),
        ({"type": "array"}, "a, b"),
    ],
)
def test_refuses(mend, schema, value):
    assert mend(SplitList(), schema, value) is None


def test_places_and_people_keep_their_commas(mend):
    assert mend(SplitList(), TEXTS, "paris, france", name="locations") is None
    assert mend(SplitList(), TEXTS, "smith, john", name="authors") is None


@settings(max_examples=40)
@given(st.lists(st.integers(-99, 99), min_size=2, max_size=6), st.sampled_from([", ", "; ", " "]))
def test_numbers_come_back(mend, numbers, separator):
    text = separator.join(map(str, numbers))
    assert mend(SplitList(), INTS, text) == (numbers, "inferred")
