"""Every form in which models and providers write calls, there and back, whole and damaged."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import Safety
from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

sys.path.insert(0, str(Path(__file__).parent))
from forms import MODELS, PROVIDERS, Written
from judging import classes

TEXT = {"type": "string"}


def spec(name, **properties):
    schema = {"type": "object", "properties": properties}
    return ToolSpec.from_schema({"name": name, "description": "", "parameters": schema})


TOOLS = tool_specs(
    [
        spec("get_weather", city=TEXT, days={"type": "integer"}),
        spec(
            "send_mail",
            to=TEXT,
            body=TEXT,
            cc={"type": "array", "items": TEXT},
            urgent={"type": "boolean"},
            rate={"type": "number"},
            meta={"type": "object"},
        ),
        spec("ping"),
    ]
)
FORMS = {**MODELS, **PROVIDERS}
LOOSE = {"functionary v2", "nexus raven", "phi 4 functools"}
AWKWARD = [
    "it's", 'say "hi" now', "a, b", "http://a.b/c#d", "// x", "{q}", '":', "null", "[1]", "5", "true",
    "get_weather(city='x')", "</tool_call>", "<tool_call>", "a\nb", "\\", "C:\\new", "é\u2028😀", "```",
    '{"name": "ping", "arguments": {}}', "<think>", "</think>", "User: x", "x\nUser: y", "not now",
    "I could call it", "e.g. this", "", " x ", "<city>", "a=b, c='d'", ");", "]}", "<|im_end|>", "<|call|>",
]  # fmt: skip
TAGS = re.compile(r"</?(?:parameter|arg_value|city|to|body|invoke)\b|\A\n|\n\Z")
"""What stands for something else in a value that is written between tags."""


def read(text, **more):
    found = read_calls(text, TOOLS, **more).calls
    return [(call.name.removeprefix("functions."), dict(call.args)) for call in found]


def same(one, other):
    """Equal as JSON: True is not 1, 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


ONE = [Written("get_weather", {"city": "Oslo", "days": 3})]
TWO = [
    *ONE,
    Written("send_mail", {"to": "a@b.c", "body": 'It\'s "fine"\n[1] {x}', "urgent": True, "cc": ["x"]}),
]  # fmt: skip
NONE = [Written("ping", {}), *ONE]


@pytest.mark.parametrize("calls", [ONE, TWO, NONE, NONE[:1]], ids=["one", "two", "none", "ping"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form, calls):
    if form == "openai legacy":
        calls = calls[:1]
    text = FORMS[form](calls)
    reading = read_calls(text, TOOLS)
    assert same(read(text), [list(call) for call in calls]), reading
    assert classes(text, TOOLS) <= {Safety.EXACT} or form in LOOSE


@pytest.mark.parametrize("form", PROVIDERS)
def test_ids_of_providers_are_kept(form):
    expected = {"gemini": None, "cohere v1": None, "openai legacy": None, "ollama": None}
    (call,) = read_calls(PROVIDERS[form](ONE), TOOLS).calls
    assert call.id == expected.get(form, "c1")


texts = st.sampled_from(AWKWARD) | st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12
)
scalars = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
calls_of = st.one_of(
    st.just(Written("ping", {})),
    st.builds(
        Written,
        st.just("get_weather"),
        st.fixed_dictionaries({"city": texts}, optional={"days": st.integers(-99, 99)}),
    ),
    st.builds(
        Written,
        st.just("send_mail"),
        st.fixed_dictionaries(
            {"to": texts},
            optional={
                "body": texts,
                "cc": st.lists(texts, max_size=2),
                "urgent": st.booleans(),
                "meta": st.dictionaries(texts, values, max_size=2),
            },
        ),
    ),
)


def round_trip(form, call):
    text = FORMS[form]([call])
    found = read(text)
    in_tags = any(TAGS.search(value) for value in call.args.values() if isinstance(value, str))
    assert same(found, [list(call)]) or (in_tags and "<" in text), (text, found)


@given(st.sampled_from(sorted(FORMS)), calls_of)
@settings(max_examples=300)
def test_a_call_survives_every_form(form, call):
    round_trip(form, call)


@pytest.mark.nightly
@given(st.sampled_from(sorted(FORMS)), calls_of)
@settings(max_examples=10_000)
def test_ten_thousand_calls_survive_every_form(form, call):
    round_trip(form, call)


def damaged(text, rng):
    """The text with one of the mistakes that models make, and what the provider says of its end.

    A cut right behind a whole value looks like a closing bracket that was forgotten, so that only
    the provider can tell; that is why a text is cut in earnest only where it says so.
    """
    way = rng.randrange(9)
    return _damaged(text, way, rng), "length" if way == 6 else None


def _damaged(text, way, rng):
    if way == 0:
        return text[:-1]
    if way == 1:
        return re.sub(r'([}\]"])(\s*[}\]])', r"\1,\2", text, count=1)
    if way == 2:
        return text.replace('"', "'")
    if way == 3:
        return text.replace("true", "True").replace("null", "None")
    if way == 4:
        return re.sub(r'"(\w+)":', r"\1:", text)
    if way == 5:
        return f"Sure, here it is.\n{text}\nDone."
    if way == 6:
        return text[: rng.randrange(len(text) + 1)]
    places = [found.start() for found in re.finditer(r"[{}\[\](),:\"'<>]", text)] or [0]
    at = rng.choice(places)
    return text[:at] + text[at + 1 :] if way == 7 else text[:at] + text[at] + text[at:]


plain = st.builds(
    Written,
    st.just("send_mail"),
    st.fixed_dictionaries(
        {"to": st.sampled_from(["ann@b.c", "Bob", "it's me"])},
        optional={
            "body": st.sampled_from(["See you.", 'say "hi"', "a, b: c", "[x]"]),
            "cc": st.lists(st.sampled_from(["ann", "bob", "eve"]), min_size=1, max_size=3, unique=True),
            "urgent": st.booleans(),
            "meta": st.dictionaries(st.sampled_from("ab"), st.integers(0, 99), max_size=2),
        },
    ),
)  # fmt: skip


def still_valid(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def corruption(form, call, seed):
    rng = random.Random(seed)
    text, reason = damaged(FORMS[form]([call]), rng)
    found = read(text, finish_reason=reason)
    if found and not still_valid(text):
        assert len(found) == 1, (text, found)
        assert found[0][0] == "send_mail" or found[0][0] not in TOOLS, (text, found)
        assert is_part(found[0][1], call.args), (text, found)


def is_part(found, original):
    """Nothing is made up, and nothing but a quote or a tag's own text is different."""
    if set(found) - set(original):
        return False
    return all(
        same(found[key], original[key]) or unclear(found[key], original[key]) for key in found
    ) and (len(found) == len(original) or not original.keys() - found.keys())


def unclear(value, original):
    """A damage inside a string makes another string, which nobody can tell from a right one."""
    letters = re.compile(r"\W")
    return letters.sub("", str(value)).lower() == letters.sub("", str(original)).lower()


@given(st.sampled_from(sorted(FORMS)), plain, st.integers(0, 2**32))
@settings(max_examples=400)
def test_a_damaged_call_comes_back_or_is_refused(form, call, seed):
    corruption(form, call, seed)


@pytest.mark.nightly
@given(st.sampled_from(sorted(FORMS)), plain, st.integers(0, 2**32))
@settings(max_examples=10_000)
def test_ten_thousand_damaged_calls_come_back_or_are_refused(form, call, seed):
    corruption(form, call, seed)


CITY = {"type": "object", "properties": {"city": TEXT}, "required": ["city"]}
ONE_TEXT = ToolSpec.from_schema({"name": "weather", "description": "", "parameters": CITY})
LIKE_TAGS = [
    '<function=weather,{"city": "Oslo"}</function>', '<function=weather[]{"city": "Oslo"}</function>', 'weather ({"city": "Oslo"})',
    'Action: weather\nAction Input: "Oslo"', 'Thought: I look.\nAction: `weather`\nAction Input: "Oslo"',
]  # fmt: skip
NO_TEXT = [
    'Action: get_weather\nAction Input: "Oslo"', 'Action: ping\nAction Input: "Oslo"', 'Action: weather\nAction Input: "Os', 'Action: weather\nAction Input: "{x}"',
    'Action: other\nAction Input: "Oslo"',
]  # fmt: skip


@pytest.mark.parametrize("text", LIKE_TAGS)
def test_slips_of_tags_are_read(text):
    found = read_calls(text, tool_specs([*TOOLS.values(), ONE_TEXT])).calls
    assert [(call.name, call.args) for call in found] == [("weather", {"city": "Oslo"})]


@pytest.mark.parametrize("text", NO_TEXT)
def test_a_text_is_no_argument_of_a_tool_that_takes_others(text):
    assert read_calls(text, tool_specs([*TOOLS.values(), ONE_TEXT])).calls == ()
