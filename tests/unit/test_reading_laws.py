"""Laws of the readers: nothing is lost, completed, computed or read in more than linear time."""

import json
import re
import sys
import time
from collections import Counter

import pytest
from hypothesis import assume, given, settings, strategies as st
from kit import table

from selfcorrect.reading.choose import Chosen, read_text
from selfcorrect.reading.json_text import CLOSERS, NOTATION, Scanner, read_json_text
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.python_calls import read_python_calls

MANY = settings(max_examples=100, deadline=None)
ESCAPE = re.compile(r"\\[bfnrtu]")
"""What JSON reads as another character: its letter says nothing."""
KEYS = ("alpha", "bravo", "delta", "gamma")
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
)


def containers(leaves, keys):
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


values = containers(scalars, st.text(max_size=6))
# Texts whose spelling has no escapes, so that letters and digits can be counted.
plain = st.text("abkz 17", max_size=8)
simple = containers(st.none() | st.booleans() | st.integers(-99, 99) | plain, st.sampled_from(KEYS))


@MANY
@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_what_strict_json_reads_is_read_equal(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    scanner = Scanner(text)
    assert repr(scanner.value()) == repr(value) == repr(read_json_text(text).value)
    assert (scanner.skipped, scanner.at) == ([], len(text))


@MANY
@given(values.filter(lambda value: isinstance(value, dict | list) and value), st.data())
def test_a_cut_text_is_only_read_where_closers_alone_are_missing(value, data):
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text) - 1))
    try:
        read = read_json_text(text[:at])
    except JsonTextError:
        return
    assert CLOSERS & {*read.skipped}
    assert repr(json.loads(text[:at] + closers(text[:at]))) == repr(read.value)


def closers(text):
    """Return what closes a text that ends behind a closed value."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert bare.rstrip()[-1] in '"]}'
    still_open = []
    for char in bare:
        if char in "[{":
            still_open.append("]" if char == "[" else "}")
        elif char in "]}":
            assert still_open.pop() == char
    return "".join(reversed(still_open))


@st.composite
def spellings(draw, of=simple):
    """Return a value and one way in which a model may write it."""
    value = draw(of)

    def spell(item):
        if isinstance(item, dict):
            keys = [key if draw(st.booleans()) else spell(key) for key in item]
            parts = [f"{key}: {spell(each)}" for key, each in zip(keys, item.values(), strict=True)]
            return "{" + ", ".join(parts) + "," * (bool(parts) and draw(st.booleans())) + "}"
        if isinstance(item, list):
            opening, closing = draw(st.sampled_from(["[]", "()"]))
            parts = ", ".join(map(spell, item))
            comma = "," * bool(item and (len(item) == 1 or draw(st.booleans())))
            return opening + parts + comma + closing
        if isinstance(item, str):
            opening, closing = draw(st.sampled_from(['""', "''", "“”", "‘’"]))
            return opening + item + closing
        return draw(st.sampled_from([json.dumps, repr]))(item)

    return value, spell(value)


@MANY
@given(spellings())
def test_another_notation_is_read_equal_and_is_recorded(spelling):
    value, text = spelling
    read = read_json_text(text)
    assert repr(read.value) == repr(value)
    assert {*read.skipped} <= NOTATION
    assert read.skipped or json.loads(text) == value


@MANY
@given(
    st.dictionaries(st.sampled_from(KEYS), spellings(), max_size=3),
    st.lists(spellings(), max_size=2),
    st.booleans(),
)
def test_a_call_in_python_is_read_equal(named, positional, is_list):
    parts = [text for _, text in positional] + [f"{key}={text}" for key, (_, text) in named.items()]
    call = f"f({', '.join(parts)})"
    span = read_python_calls(f"[{call}, {call}]" if is_list else call, 0)
    assert len(span.calls) == 1 + is_list
    assert span.end == len(call) * len(span.calls) + 4 * is_list
    for each in span.calls:
        expected = {key: value for key, (value, _) in named.items()}
        assert repr(each.arguments) == repr(expected)
        assert repr(each.positional) == repr(tuple(value for value, _ in positional))


def marks(text):
    """Count letters and digits; zeros and the `n` of an escape may be a matter of spelling."""
    return Counter(re.findall(r"[a-mo-z1-9]", text.lower().replace("null", "none")))


def corrupt(draw, text):
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["insert", "delete", "replace", "swap", "cut"]))
        new = draw(st.sampled_from([*"\"'{}[](),:;=#/*+-.\\ \n_x1", "''", '"""', "//", "/*", "<"]))
        if kind == "insert":
            text = text[:at] + new + text[at:]
        elif kind == "cut":
            text = text[: max(at, len(text) - 3)]
        elif kind == "swap":
            text = text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
        else:
            text = text[:at] + (new if kind == "replace" else "") + text[at + 1 :]
    return text


@settings(max_examples=400, deadline=None)
@given(spellings(), st.data())
def test_every_letter_of_a_broken_text_is_in_its_value(spelling, data):
    text = corrupt(data.draw, spelling[1])
    assume(not ESCAPE.search(text))
    try:
        read = read_json_text(text)
    except JsonTextError:
        return
    assume("comment" not in read.skipped)
    assert marks(json.dumps(read.value, ensure_ascii=False)) == marks(text)
    if {*read.skipped} <= {"quote", "word", "comma", "key", "control"}:
        assert_same_order(text, read.value)


def assert_same_order(text, value):
    """Assert that texts and numbers stand in the value as in the text, one by one."""
    leaves = []

    def walk(item):
        if isinstance(item, dict):
            for key, each in item.items():
                leaves.append(key)
                walk(each)
        elif isinstance(item, list):
            for each in item:
                walk(each)
        else:
            leaves.append(item if isinstance(item, str) else str(item).lower())

    walk(value)
    said = "".join(re.findall(r"[a-z1-9]", "".join(leaves).lower().replace("none", "null")))
    assert said == "".join(re.findall(r"[a-z1-9]", text.lower().replace("none", "null")))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), spellings(), max_size=3), st.data())
def test_every_letter_of_a_broken_call_is_in_it_or_around_it(named, data):
    call = f"f({', '.join(f'{key}={text}' for key, (_, text) in named.items())})"
    text = corrupt(data.draw, call)
    assume(not ESCAPE.search(text))
    chosen = read_text(text, lambda name: name == "f")
    assume(isinstance(chosen, Chosen))
    assume(not any("comment" in each.skipped for each in chosen.calls))
    said = [chosen.around]
    for each in chosen.calls:
        said += [each.name, json.dumps([each.arguments, each.positional], ensure_ascii=False)]
    assert marks("".join(said)) == marks(text)


WRITTEN = table("reading_laws.txt", "calls")


@MANY
@given(st.tuples(*[st.text("akz 17.!?:*#", max_size=6)] * 3), st.sampled_from(WRITTEN))
def test_every_word_around_calls_is_told(words, call):
    before, between, behind = words
    chosen = read_text(f"{before}\n{call} {between} {call}\n{behind}", lambda name: name == "f")
    assert len(chosen.calls) == 2
    told, said = (re.sub(r"\s", "", part) for part in (chosen.around, "".join(words)))
    assert told == said


@MANY
@given(
    st.sampled_from(["1{}2", "a{}b", "'a'{}'b'", "[1]{}[2]", "f(){}1", "(1){}(2)"]),
    st.sampled_from([*"+-*/%@&|^.<>", "**", " if 1 else ", " and ", " or ", " in ", "==", ":="]),
)
def test_nothing_is_computed(frame, operator):
    text = frame.format(operator)
    assume(text not in {"1.2", "a-b"})
    for whole in (f"[{text}]", f'{{"a": {text}}}'):
        with pytest.raises(JsonTextError):
            read_json_text(whole)
    for inside in (text, f"a={text}", f"a=[{text}]"):
        with pytest.raises(JsonTextError):
            read_python_calls(f"f({inside})", 0)


FRAMES = table("reading_laws.txt", "frames")


@MANY
@given(st.sampled_from(FRAMES), st.text("ab\"'{}[](),:= \\|/&;<>-_\n", max_size=20), st.data())
def test_marked_texts_are_read_as_they_are_and_never_cut(frame, value, data):
    assume(not re.search(r"<[|/\w]", value + "<|") or "<" not in value)
    assume(not (value.startswith("\n") and value.endswith("\n")) or "string=" in frame)
    assume(not value.endswith("<"))
    text = frame.format(value)
    calls = read_text(text, lambda name: name == "f").calls
    assert [call.arguments for call in calls] == [{"a": value}]
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    found = read_text(cut, lambda name: name == "f")
    if isinstance(found, Chosen) and not found.around:
        assert [call.arguments for call in found.calls] == [{"a": value}]


FORMS = {
    "<function=f>": ("<parameter={}>{}{}{}</parameter>", "</function>"),
    '<invoke name="f">': ('<parameter name="{}">{}{}{}</parameter>', "</invoke>"),
    "<x:invoke name=f>": ("<x:parameter name={}>{}{}{}</x:parameter>", "</x:invoke>"),
    "<tool_call>f": ("<arg_key>{}</arg_key>\n<arg_value>{}{}{}</arg_value>", "</tool_call>"),
    "<f>": ("<{0}>{1}{2}{3}</{0}>", "</f>"),
    "<function=f> ": ("<{0}>{1}{2}{3}</{0}>", "</function>"),
}
PIECES = table("reading_laws.txt", "pieces")


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([*FORMS]),
    st.sampled_from(["\n", "\r\n"]),
    st.dictionaries(
        st.sampled_from("ab"), st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
    ),
)
def test_what_was_written_on_lines_is_read_back_or_refused(opening, end, values):
    assume(values)
    element, closing = FORMS[opening]
    lines = [element.format(key, end, value, end) for key, value in values.items()]
    found = read_text(end.join([opening, *lines, closing]), lambda name: name == "f")
    if isinstance(found, Chosen):
        # Elements that stand in a value like those of the call itself are other arguments.
        assume(not any(f"{end}</{tag}>" in value for value in values.values() for tag in TAGS))
        assert [call.arguments for call in found.calls] == [values]


TAGS = ("parameter", "x:parameter", "arg_value", "a", "b")


JUNK = table("reading_laws.txt", "junk")
MARKUP = (*JUNK, "<f>", "f(", "a{", "<parameter=k>", "<invoke name=x><parameter=k>", "Thought:")


@pytest.mark.parametrize("unit", JUNK)
def test_ten_megabytes_of_junk_are_refused_soon(unit):
    text = (unit * 10_000_000)[:10_000_000]
    start = time.process_time()
    with pytest.raises(JsonTextError):
        read_json_text("[" + text)
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "unit", [*MARKUP, "<think>", "```", "<|channel|>analysis<|message|>", "<tool_call>z<arg_key>k"]
)
def test_a_megabyte_of_junk_is_chosen_from_soon(unit):
    text = (unit * (1 << 20))[: 1 << 20]
    start = time.process_time()
    assert not isinstance(read_text(text, lambda name: name == "f"), Chosen)
    assert time.process_time() - start < 20


def test_a_comma_too_many_costs_no_more_than_in_linear_time():
    rows = [{"id": n, "text": "some words here " * 3, "ok": True} for n in range(200)]
    text = json.dumps({"name": "f", "arguments": {"rows": rows}})[:-1] + ",}"

    def seconds(times):
        long = "[" + ",".join([text] * times) + "]"
        start = time.process_time()
        read_json_text(long)
        return time.process_time() - start

    assert seconds(40) < 10 * 4 * min(seconds(4) for _ in range(3))


@pytest.mark.parametrize("text", ["[" * 50, "{'a':" * 50, "[{'a': 1,}]", "(1, [2,],)"])
def test_a_text_is_read_or_refused_however_full_the_stack_is(text):
    def fill(frames):
        if frames:
            return fill(frames - 1)
        try:
            return read_json_text(text)
        except JsonTextError as error:
            return error

    used, frame = 0, sys._getframe()
    while frame:
        used, frame = used + 1, frame.f_back
    free = sys.getrecursionlimit() - used
    for left in range(12, 300, 7):
        assert fill(free - left) is not None
