"""The tolerant JSON reader: what it reads, what it refuses, and that it never makes anything up."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import random
import re
import time
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.kernel.covering import covers
from selfcorrect.model import Safety
from selfcorrect.reading.contract import Fault, JsonRead
from selfcorrect.reading.strict import strict_json
from selfcorrect.reading.tolerant_json import read_json

READ = [
    ('{"a": 1}', {"a": 1}, set()),
    ("{'a': 'b'}", {"a": "b"}, {"single quotes"}),
    ('{"a": [1, 2,], }', {"a": [1, 2]}, {"trailing comma"}),
    ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}, {"Python literal"}),
    ('{a: 1, b_c: "x"}', {"a": 1, "b_c": "x"}, {"a key without quotes"}),
    ('{"a": 1, // --\n /* + */ "b": 2 #\n}', {"a": 1, "b": 2}, {"a comment"}),
    ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}, {"a raw line break or tab in a string"}),
    ("{“a”: “b”, ‘c’: “It’s”}", {"a": "b", "c": "It’s"}, {"unusual quotes"}),
    ("{`a`: `b`}", {"a": "b"}, {"unusual quotes"}),
    ('{"a": (1, 2)}', {"a": [1, 2]}, {"a tuple"}),
    ('{"a": +5, "b": .5, "c": 1_000}', {"a": 5, "b": 0.5, "c": 1000}, {"a number in another spelling"}),
    ('"{\\"a\\": 1}"', {"a": 1}, {"JSON inside a JSON string"}),
    ('{\\"a\\": \\"b\\"}', {"a": "b"}, {"escaped once too often"}),
    ('\ufeff{"a": 1}', {"a": 1}, {"byte order mark"}),
    ('{"a":\u00a01}', {"a": 1}, {"unusual white space"}),
    ('{"a": 1, "a": 1}', {"a": 1}, {"a key written twice with the same value"}),
    ('{"a": {"b": [1]}, "a": {"b": [1]}}', {"a": {"b": [1]}}, {"a key written twice with the same value"}),
    ('{"a": "It\\\'s"}', {"a": "It's"}, set()),
    ('{"a": """x "y" z"""}', {"a": 'x "y" z'}, {"three quotes"}),
    ('{"a": 1};', {"a": 1}, {"punctuation behind the value"}),
    ('{"a":1,,"b":2}', {"a": 1, "b": 2}, {"a comma too many"}),
    ("1" * 400, int("1" * 400), set()),
]  # fmt: skip
INFERRED = [
    ('{"a": "x" "b": 2}', {"a": "x", "b": 2}, {"missing comma"}),
    ('["a" "b" "c"]', ["a", "b", "c"], {"missing comma"}),
    ('[{"a": 1} {"b": 2}]', [{"a": 1}, {"b": 2}], {"missing comma"}),
    ("[1\n2]", [1, 2], {"missing comma"}),
    ('{"a": [1, 2]', {"a": [1, 2]}, {"missing '}' at the end"}),
    ('{"a": [1, 2}', {"a": [1, 2]}, {"missing ']'"}),
    ('[{"a": 1]', [{"a": 1}], {"missing '}'"}),
    ('{"a": 1}}', {"a": 1}, {"a closing bracket too many"}),
    ('{"a": "He said "hi" to me", "b": 1}', {"a": 'He said "hi" to me', "b": 1}, {"quotes inside a string are not escaped"}),
    ('{"a": "a 5" pipe", "b": 1}', {"a": 'a 5" pipe', "b": 1}, {"quotes inside a string are not escaped"}),
    ("{'a': 'It's hers'}", {"a": "It's hers"}, {"single quotes", "quotes inside a string are not escaped"}),
    ('{"a": "^\\d+\\.\\d$"}', {"a": r"^\d+\.\d$"}, {"a backslash that is not escaped"}),
    (r'{"a": "C:\Users\mia"}', {"a": r"C:\Users\mia"}, {"a backslash that is not escaped"}),
    ('{"a": "my\\_file\\n"}', {"a": "my_file\n"}, {"underscores with backslashes"}),
    ('{1: "a"}', {"1": "a"}, {"a key without quotes"}),
    ('{"a": 1} and so on', {"a": 1}, {"text behind the value"}),
]  # fmt: skip
REFUSED = [
    ('{"a": "print("x", "y")"}', "a string with quotes inside that can be read in several ways", False),
    ('{"a": "cut of', "cut off inside a string", True),
    ('{"a": "cut of\\', "cut off inside a string", True),
    ('{"a": 1, "b', "cut off inside a key", True),
    ('{"a": 1,', "cut off inside an object", True),
    ('{"a":', "cut off before a value", True),
    ('{"a": [', "cut off before a value", True),
    ('{"a": tru', "'tru' is not a JSON value", True),
    ('{"a": 1, "a": 2}', "two different values", False),
    ('{"a": 1, "a": true}', "two different values", False),
    ('{"a": NaN}', "'NaN' is not a JSON value", False),
    ('{"a": -Infinity}', "this is not a JSON number", False),
    (r'{"a": "C:\Users\new"}', "several ways", False),
    (r'{"a": "C:\_tmp"}', "several ways", False),
    ('{"a": 1e999}', "beyond the range of a float", False),
    ('{"a": 007}', "leading zeros", False),
    ('{"a": 0x1F}', "never evaluated", False),
    ('{"a": 6*30.48}', "never evaluated", False),
    ('{"a": 10 // 3\n}', "never evaluated", False),
    ('{"a": 5 km}', "a comma or a closing bracket", False),
    ('{"a": ["x"]*3}', "a comma or a closing bracket", False),
    ('{"a": (1)}', "an expression in parentheses", False),
    ('{"a": Paris}', "'Paris' is not a JSON value", False),
    ('{"a": now()}', "'now' is not a JSON value", False),
    ('{"a": None.x}', "never evaluated", False),
    ('{"a": "\\ud800"}', "half a character", False),
    ('{"a": "\ud800"}', "half a character", False),
    ('{"a": "x\x00y"}', "a control character", False),
    ('{"a": "C:\\Users\\new"}', "escapes that can be read in several ways", False),
    ('{"a": }', "a value is missing", False),
    ("[1,,2]", "a value is missing", False),
    ("[1 2]", "a comma or a closing bracket", False),
    ('{"a": [1]]}', "closes nothing", False),
    ('{"a": [1, 2], [3, 4]}', "more than one way", False),
    ('{"a": {"b": 1}, {"b": 2}', "more than one way", False),
    ('{"a": [1], [2]], "b": [1], [2]]}', "a key was expected", False),
    ('{"a": [1], "a": [1], [2]]}', "a key was expected", False),
    ('{"a": 1} {"b": 2}', "more than one value", False),
    ('["x""y"]', "read in several ways", False),
    ('{"a": "x, "b": "y"}', "read in several ways", False),
    ('["x, "y", "z"]', "read in several ways", False),
    ('["x", y", "z"]', "read in several ways", False),
    ('["a "b", "c" d"]', "read in several ways", False),
    ("", "nothing to read", False),
    ("[" * 100_000, "nested deeper", False),
    ('{"a":' * 100_000, "nested deeper", False),
    ('{"a": 1 /* never closed', "a comma or a closing bracket", False),
    ("{" + '"a":1,' * 100 + "}", "too many keys are written twice", False),
    ("9" * 5_000 + " ", "not a JSON number", False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "whats"), READ)
def test_other_spellings_are_exact(text, value, whats):
    read = read_json(text)
    assert isinstance(read, JsonRead), read
    assert same(read.value, value)
    assert {each.what for each in read.deviations} >= whats
    assert bool(read.deviations) == bool(whats)
    # A comment may say something, or not.
    safety = Safety.INFERRED if "a comment" in whats else Safety.EXACT
    assert covers(text, value, acts=False).safety is safety


@pytest.mark.parametrize(("text", "value", "whats"), INFERRED)
def test_one_best_reading_is_inferred(text, value, whats):
    read = read_json(text)
    assert isinstance(read, JsonRead), read
    assert same(read.value, value)
    assert {each.what for each in read.deviations} == whats
    assert covers(text, value, acts=False).safety is not Safety.EXACT


@pytest.mark.parametrize(("text", "what", "cut"), REFUSED)
def test_the_rest_is_refused_with_its_place(text, what, cut):
    fault = read_json(text)
    assert isinstance(fault, Fault), fault
    assert what in fault.what
    assert fault.cut is cut
    assert 0 <= fault.offset <= len(text)


def test_offsets_point_at_the_place():
    text = '{"a": 1, \'b\': [True, None,],\n "c": "x'
    fault = read_json(text)
    assert isinstance(fault, Fault)
    assert text[fault.offset :] == '"x'
    read = read_json(text + '"}')
    assert isinstance(read, JsonRead)
    places = [(text[each.offset :][:4], each.what) for each in read.deviations]
    assert places == [
        ("b': ", "single quotes"),
        ("True", "Python literal"),
        ("None", "Python literal"),
        ("],\n ", "trailing comma"),
    ]


@pytest.mark.parametrize("text", ['{"a": [1, 2', '{"a": [1, 2]', '{"a": "b"', '[{"a": true}'])
def test_nothing_cut_is_completed_where_the_end_is_known_to_be_missing(text):
    read = read_json(text)
    assert isinstance(read, JsonRead)
    assert covers(text, read.value, acts=False).goes_on("read_only", ended=False)


@pytest.mark.parametrize("text", ['{"a": [1, 25', '{"a": [1, 25\n'])
def test_a_number_at_the_very_end_is_read_and_said_to_be_unclosed(text):
    read = read_json(text)
    assert isinstance(read, JsonRead)
    assert (read.value, read.unclosed) == ({"a": [1, 25]}, True)
    assert covers(text, read.value, acts=True).missing == 2


@pytest.mark.parametrize(
    ("text", "rivals"),
    [
        ('{"a": {"b": 1, "c": 2}', [{"a": {"b": 1}, "c": 2}]),
        ('{"a": {"b": {"x": 1, "y": 2}}', [{"a": {"b": {"x": 1}, "y": 2}}]),
        ("[[1, 2], [3, 4]", [[[1, 2], [3], 4]]),
        ('{"a": [[1]}', [{"a": [1]}]),
        ('{"a": [1, 2]', []),
        ('{"a": [1, 2], [3, 4]], "b": 5}', [{"a": [1, 2, [3, 4]], "b": 5}]),
        ('{"a": {"b": 1}, {"b": 2}]}', []),
        ('{"a": {"b": 1}', []),
    ],
)
def test_a_missing_bracket_that_could_stand_elsewhere_has_rivals(text, rivals):
    read = read_json(text)
    assert isinstance(read, JsonRead), read
    assert list(read.rivals) == rivals


def test_a_value_inside_a_text_ends_where_it_ends():
    text = 'see {"a": [1]} and [2]'
    read = read_json(text, 4, whole=False)
    assert isinstance(read, JsonRead)
    assert (read.value, text[read.start : read.end]) == ({"a": [1]}, '{"a": [1]}')


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 1}', '{"a": NaN}', "[1e999]", r'["\ud800"]', "[" * 102 + "]" * 102, "{'a': 1}", "1" * 5000, ""],
)  # fmt: skip
def test_strict_is_stricter_than_the_standard_library(text):
    assert strict_json(text) is None


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
AWKWARD = st.sampled_from(
    ["it's", 'say "hi" now', "a, b", "http://a.b/c#d", "// x", "{q}", '":', "'", "null", "[1]"]
)


def values(texts):
    """Any JSON value, with strings of this kind."""
    scalars = st.none() | st.booleans() | st.integers() | texts | AWKWARD
    return st.recursive(
        scalars | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(texts | AWKWARD, inner, max_size=4)
        ),
        max_leaves=15,
    )


def objects(texts=TEXTS):
    keys = st.text("abc_", min_size=1, max_size=5)
    return st.dictionaries(keys, values(texts), min_size=1, max_size=4)


@given(values(TEXTS), st.booleans(), st.sampled_from([None, 2]))
def test_valid_json_is_read_as_what_it_is(value, ascii_, indent):
    text = json.dumps(value, ensure_ascii=ascii_, indent=indent)
    for read in (strict_json(text), read_json(text)):
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
            continue  # JSON inside a string is read as what it stands for
        assert isinstance(read, JsonRead)
        assert same(read.value, value)
        assert read.deviations == ()


@given(objects(st.text(st.characters(min_codepoint=32, max_codepoint=90), max_size=20)))
def test_python_literals_are_read_as_what_they_are(value):
    read = read_json(repr(value))
    assert isinstance(read, JsonRead), (repr(value), read)
    assert same(read.value, value)


@given(objects(), st.integers(0, 2**32))
def test_a_corrupted_object_is_read_as_the_original_or_refused(value, seed):
    text = json.dumps(value)
    broken = corrupted(text, random.Random(seed))
    read = read_json(broken)
    try:
        if isinstance(json.loads(broken), dict):
            return  # still valid: nobody can see that it was changed
    except ValueError:
        pass
    assert isinstance(read, Fault) or same(read.value, value) or read.rivals, (broken, read)


def corrupted(text: str, rng: random.Random) -> str:
    """The text with one of the mistakes that models make."""
    way = rng.randrange(7)
    if way == 0:
        return re.sub(r"([}\]])$", r",\1", text)
    if way == 1:
        return text.replace('\\"', '"')
    if way == 2:
        return text.replace("\\n", "\n").replace("\\t", "\t")
    if way == 3:
        return text[:-1]
    if way == 4:
        return json.dumps(text)
    if way == 5:
        return re.sub(r'"(\w+)": ', r"\1: ", text, count=1)
    places = [found.start() for found in re.finditer(r'[{}\[\],:"]', text)]
    at = rng.choice(places)
    return text[:at] + text[at + 1 :] if text[at] != "\\" else text


@given(st.text("{}[]()\"'\\,:/*# \n0123abTrue“”‘’", max_size=60))
def test_any_text_is_read_or_refused(text):
    for whole in (True, False):
        read = read_json(text, whole=whole)
        if isinstance(read, JsonRead):
            json.dumps(read.value).encode()
            assert 0 <= read.start <= read.end <= len(text)
        else:
            assert 0 <= read.offset <= len(text)


HOSTILE = [
    "[", "{", '{"a":', "[{", '"', "'", "\\", '{"a": "', '["a" ', '["a", b', "{'a': 'it's ", '{"a":1,',
    '{"a":1} ', "/*", "// \n", "# \n", '"""', '{"""', "[1,", "1", "-", "(", "(1,", "\x00", "\u200b", "“", "‘",
    '{"a": "x" ', '\\"', "{a:", "True,", "1 ", "}", '{"a": "b"c', "['x''", "[[1],",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("start", ["", "{", '["s", '])
def test_hostile_text_takes_linear_time(start, part):
    small, large = (start + part * (size // len(part)) for size in (5_000, 50_000))
    short = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(2)) < 0.5 + 40 * short


def seconds(text: str) -> float:
    started = time.perf_counter()
    read_json(text)
    return time.perf_counter() - started


def same(one, other) -> bool:
    """Equal as JSON: True is not 1, 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


if find_spec("json_repair"):
    AGREED = [
        "{'a': 'b', 'c': [1, 2,],}",
        '{"a": True, "b": None}',
        '{"a": [1, 2]',
        '{a: 1, "b": "x"}',
        '{"a": 1, // note\n "b": 2}',
        '{"a": "x" "b": 2}',
        '{"a": "x\ny"}',
        '{"a": {"b": {"c": [1, {"d": 2}]}}',
    ]

    @pytest.mark.parametrize("text", AGREED)
    def test_another_library_agrees(text):
        import json_repair

        read = read_json(text)
        assert isinstance(read, JsonRead)
        assert same(read.value, json_repair.loads(text))


def test_what_a_comment_says_may_have_a_meaning():
    read = read_json('{"a": 1, // one\n /* two */ "b": 2 # three\n}')
    assert isinstance(read, JsonRead)
    assert read.value == {"a": 1, "b": 2}
    text = '{"a": 1, // one\n /* two */ "b": 2 # three\n}'
    assert covers(text, read.value, acts=False).safety is Safety.INFERRED
    assert covers(text, read.value, acts=True).safety is None
