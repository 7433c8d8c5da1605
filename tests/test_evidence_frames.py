"""What a sentence demands and proposes, by its frame."""

from __future__ import annotations

import pytest
from asked import decide, read_report

from selfcorrect import StrategyMap
from selfcorrect.evidence.frames import constraint_in, suggestions_in

RULES = StrategyMap.load("default")
DEMANDS = [
    ("expected int but received list", {"type": "integer"}),
    ("Expected: date, got: soon", {"format": "date"}),
    ("A valid integer is required.", {"type": "integer"}),
    ("please use --help for a list", {}),
    ("0 ≤ page ≤ 10", {"minimum": 0, "maximum": 10}),
    ("1 <= page <= 10", {"minimum": 1, "maximum": 10}),
    ("page must be between 1 and 10", {"minimum": 1, "maximum": 10}),
    ("out of range [1, 10]", {"minimum": 1, "maximum": 10}),
    ("must be greater than 5", {"exclusiveMinimum": 5}),
    ("7 is greater than 5", {"maximum": 5}),
    ("18 or more", {"minimum": 18}),
    ("at most 4 items", {"maxItems": 4}),
    ("more than 4 items", {"maxItems": 4}),
    ("must be longer than 4 characters", {"minLength": 5}),
    ("expected 8 digits", {"minLength": 8, "maxLength": 8}),
    ("must be a multiple of 5", {"multipleOf": 5}),
    ("value too long for type character varying(12)", {"maxLength": 12}),
    ("must be positive", {"exclusiveMinimum": 0}),
    ("cannot be negative", {"minimum": 0}),
    ("mode must be one of: x, y or z", {"enum": ["x", "y", "z"]}),
    ("mode must be one of 1, 2", {"enum": [1, 2]}),
    ("Allowed values are 'a' and 'b'; got c", {"enum": ["a", "b"]}),
    ("(expected: number or string, index: 1)", {"enum": ["number", "string"]}),
    ("does not match pattern '^[A-Z]{3}$'", {"pattern": "^[A-Z]{3}$"}),
    (r"must match the regex ^\d+$.", {"pattern": r"^\d+$"}),
    ("the file has 7 of 5 columns", {"maximum": 5}),
    ("got 7 of 5 items", {"maxItems": 5}),
    ("only 2 of the 3 items were given", {"minItems": 3}),
    ("step 2 of 5 failed", {}),
    ("it closes at ten", {}),
]


@pytest.mark.parametrize(("text", "demand"), DEMANDS)
def test_a_frame_says_what_is_demanded(text, demand):
    assert constraint_in(text) == demand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("did you mean 'name' or 'names'?", ("name", "names")),
        ("use `size` instead", ("size",)),
        ("there is no such field", ()),
    ],
)
def test_what_a_text_proposes_is_what_stands_behind_its_head(text, names):
    assert suggestions_in(text) == names


SHIRT = {"colour": "pinkish", "size": 4}
STAY = {"check_in": "2027-02-03", "check_out": "2027-02-01", "room": 4}


@pytest.mark.parametrize(
    ("text", "arguments", "category", "names"),
    [
        ("Unknown field: colour", SHIRT, "extra_param", ["colour"]),
        ("unrecognized argument `size`", SHIRT, "extra_param", ["size"]),
        ("Unknown colour", SHIRT, "extra_param", ["colour"]),
        ("Unknown pinkish", SHIRT, "unknown_resource", ["colour"]),
        ("Unknown pinkish, use one of: red, blue", SHIRT, "enum", ["colour"]),
        ("check_in must be before check_out", STAY, "business_rule", ["check_in", "check_out"]),
        ("check_out is earlier than check_in", STAY, "business_rule", ["check_out", "check_in"]),
    ],
)
def test_a_frame_says_of_which_arguments_it_speaks(text, arguments, category, names):
    found = decide(read_report(text, arguments=arguments)[0], RULES, None, arguments)
    assert found.category == category
    assert list(found.paths) == [f"/args/{name}" for name in names]


def test_what_the_schema_declares_is_no_unknown_argument():
    schema = {"properties": {"colour": {"type": "string"}}}
    finding = read_report("Unknown colour", arguments=SHIRT, schema=schema)[0]
    found = decide(finding, RULES, None, SHIRT, schema)
    assert (found.kind, found.category) == ("not_found", "unknown_resource")
    assert found.paths == ("/args/colour",)


@pytest.mark.parametrize("text", ["Error", "", "1", "failed.", "Invalid", "error: -"])
@pytest.mark.parametrize("acts", [False, True])
def test_what_says_nearly_nothing_is_about_nothing(text, acts):
    arguments = {"room": 4}
    found = decide(read_report(text, arguments=arguments)[0], RULES, None, arguments, acts=acts)
    assert found.category == "none"
