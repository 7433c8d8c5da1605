"""Another library as an oracle: where we accept broken JSON, we read the original, or agree."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.kernel.covering import covers
from selfcorrect.reading.contract import JsonRead
from selfcorrect.reading.tolerant_json import read_json

json_repair = pytest.importorskip("json_repair")

WORDS = st.sampled_from(
    ["a", "it's", 'say "hi"', "x, y", "http://a/b", "", "5", "null", "two\nlines"]
)
SCALARS = st.none() | st.booleans() | st.integers(-99, 9_999) | WORDS | st.sampled_from([0.5, -1e3])
KEYS = st.sampled_from(["a", "b", "key", "my_key", "it's"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)

KNOWN = {
    "the opening bracket of a list is missing": "a lost bracket: where it stood is not always seen",
    "missing": "a lost bracket: what else the text could mean is in `rivals`, for a schema to judge",
    "a key without quotes": "a lost quote can turn text into a key of another name",
    "a closing bracket too many": "members may have moved out; callers check them with the schema",
    "quotes inside a string are not escaped": "a lost or added quote inside a text",
    "text behind the value": "reported, and refused wherever a call must be the whole text",
    "single quotes": "another pair of quotes around the same text",
    "a comma too many": "a lost value is refused; a doubled comma is not",
    "a key written twice": "the same value twice",
    "three quotes": "a doubled quote",
}
"""Why a value may differ from the original after damage that nobody can see to be damage."""


def damaged(text, rng):
    """JSON text after one of the mistakes that models make, or a lost or doubled character."""
    way = rng.randrange(12)
    changes = [
        lambda: re.sub(r'([\d"el])([}\]])', r"\1,\2", text, count=1),
        lambda: text.replace("true", "True").replace("false", "False").replace("null", "None"),
        lambda: re.sub(r'"(\w+)":', r"\1:", text),
        lambda: text.replace('\\"', '"'),
        lambda: text.replace("\\n", "\n"),
        lambda: text[:-1],
        lambda: f"{text} // done",
        lambda: f"```json\n{text}\n```"[8:-4],
        lambda: re.sub(r'"(\w*)"', r"'\1'", text),
    ]
    if way < len(changes):
        return changes[way]()
    places = [found.start() for found in re.finditer(r'[{}\[\],:"]', text)]
    at = rng.choice(places)
    return text[:at] + text[at + 1 :] if way % 2 else text[:at] + text[at] + text[at:]


def same(one, other):
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def check(value, seed):
    broken = damaged(json.dumps(value), random.Random(seed))
    try:
        json.loads(broken)
    except ValueError:
        pass
    else:
        return
    read = read_json(broken)
    if not isinstance(read, JsonRead) or same(read.value, value):
        return
    if any(same(other, value) for other in read.rivals):
        return
    if same(read.value, json_repair.loads(broken)):
        return
    whats = [each.what for each in read.deviations]
    assert any(what.startswith(known) for what in whats for known in KNOWN), (broken, read)


@given(OBJECTS, st.integers(0, 2**32))
@settings(max_examples=400)
def test_what_we_accept_is_the_original_or_what_the_other_library_reads(value, seed):
    check(value, seed)


@pytest.mark.nightly
@given(OBJECTS, st.integers(0, 2**32))
@settings(max_examples=10_000)
def test_ten_thousand_times(value, seed):
    check(value, seed)


REFUSED_HERE = [
    ('{"a": "cut off in', "completed there"),
    ('{"a": 12', "completed there"),
    ('{"a": 1} {"b": 2}', "one of two values there"),
    ('{"a": 007}', "another number there"),
    ('{"a": "x" "y"}', "one text there"),
    ('{"a": 6*30}', "something else there"),
    ('{"a": Paris}', "text there"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED_HERE)
def test_what_has_no_one_reading_is_refused_here_only(text, why):
    assert why
    read = read_json(text)
    if isinstance(read, JsonRead):
        assert covers(text, read.value, acts=True).goes_on("mutating", ended=None)
    json_repair.loads(text)


DEFINED = [
    ('{"a": 1, "a": 1}', {"a": 1}),
    ('{"a": 1, "a": 2}', None),
    ('{"a": NaN}', None),
    ('{"a": Infinity}', None),
    ('{"a": 1e400}', None),
    ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ('{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    ('{"a": "\\ud83d"}', None),
    ('{"a": 1} // a comment', {"a": 1}),
    ('/* before */ {"a": 1}', {"a": 1}),
    ('{"a": "// no comment"}', {"a": "// no comment"}),
    ('{"a": 1} trailing words', {"a": 1}),
    ('{"a": 1}{"a": 1}', None),
    ('{"a": 1}]', {"a": 1}),
]


@pytest.mark.parametrize(("text", "value"), DEFINED)
def test_the_corners_of_json_are_defined(text, value):
    read = read_json(text)
    assert (read.value if isinstance(read, JsonRead) else None) == value
