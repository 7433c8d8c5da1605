"""Equal calls have equal keys: defaults, number forms, Unicode forms and order do not matter."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from selfcorrect import Call
from selfcorrect.effects.equal import call_key, doubt_key, identity_key, theme_key
from selfcorrect.schema.slot import Slot

SCHEMA = {
    "properties": {
        "n": {"type": "integer", "default": 5},
        "note": {"type": "string"},
        "people": {"type": "array", "items": {"properties": {"age": {"type": "number"}}}},
        "pay": {"anyOf": [{"$ref": "#/$defs/Pay"}, {"type": "null"}], "default": {}},
        "by": {"additionalProperties": {"$ref": "#/$defs/Pay"}},
        "pair": {"prefixItems": [{"type": "string"}, {"$ref": "#/$defs/Pay"}]},
        "either": {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/Pay"}, {"type": "string"}]},
        "self": {"$ref": "#/$defs/Self", "default": None},
    },
    "$defs": {
        "Pay": {"type": "object", "properties": {"currency": {"default": "EUR"}}},
        "Self": {"properties": {"a": {"$ref": "#/$defs/Self", "default": {}}}},
    },
}
PLACE = Slot.of(SCHEMA)
EUR = {"currency": "EUR"}
EQUAL = [
    ({}, {"n": 5}),
    ({"n": 5}, {"n": 5.0}),
    ({"n": 5}, {"n": "5"}),
    ({"n": 5}, {"n": "5.0"}),
    ({"note": "é"}, {"note": "é"}),
    ({"note": "a", "n": 1}, {"n": 1, "note": "a"}),
    ({"people": [{"age": 7}]}, {"people": [{"age": "7"}]}),
    ({}, {"pay": {}}),
    ({"pay": {}}, {"pay": EUR}),
    ({"by": {"a": {}}}, {"by": {"a": EUR}}),
    ({"pair": ["a", {}]}, {"pair": ["a", EUR]}),
    ({"either": {}}, {"either": EUR}),
    ({"self": {}}, {"self": {"a": {}}}),
]
DIFFERENT = [
    ({"n": 5}, {"n": 6}),
    ({"note": "5"}, {"note": "5.0"}),
    ({"note": "a"}, {"note": "A"}),
    ({"people": [1, 2]}, {"people": [2, 1]}),
    ({"note": None}, {}),
    ({"n": True}, {"n": 1}),
    ({"pay": {}}, {"pay": {"currency": "USD"}}),
    ({"pay": {}}, {"pay": None}),
    ({"pair": [{}, "a"]}, {"pair": [EUR, "a"]}),
]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def key(args):
    return call_key(Call("f", args), PLACE)


def test_equal():
    assert [(a, b) for a, b in EQUAL if key(a) != key(b)] == []


def test_different():
    assert [(a, b) for a, b in DIFFERENT if key(a) == key(b)] == []


@given(st.dictionaries(st.text(), values))
def test_order_and_unicode_form_do_not_matter(args):
    def decomposed(value):
        if isinstance(value, str):
            return unicodedata.normalize("NFD", value)
        if isinstance(value, dict):
            pairs = [(decomposed(k), decomposed(v)) for k, v in value.items()]
            return dict(reversed(pairs)) if len(dict(pairs)) == len(pairs) else value
        return [decomposed(item) for item in value] if isinstance(value, list) else value

    def composed(value):
        if isinstance(value, str):
            return unicodedata.normalize("NFC", value)
        if isinstance(value, dict):
            return {composed(k): composed(v) for k, v in value.items()}
        return [composed(item) for item in value] if isinstance(value, list) else value

    if len(composed(args)) == len(args):
        assert key(decomposed(composed(args))) == key(composed(args))


STANDS = [
    [["t"], "m", None, "1"],
    [["u"], "m", None, "1"],
    [["t", "k"], "m", None, "1"],
    ["t", "m", None, "1"],
    [["t"], "n", None, "1"],
    [["t"], None, None, "1"],
    [["t"], 0, None, "1"],
    [["t"], "m\x00", None, "1"],
    [["t"], "m", 0, "1"],
    [["t"], "m", False, "1"],
    [["t"], "m", "0", "1"],
    [["t"], "m", None, 1],
    [["t"], "m", None, 1.5],
    [["t"], "m", None, None],
    [["t"], "m", None, ""],
    [["t"], "m", None, "\x001"],
]


def test_each_part_of_an_identity_counts_whatever_its_type():
    same = call_key(Call("f", {}), PLACE)
    keys = [identity_key(stands, same) for stands in STANDS]
    assert len(set(keys)) == len(keys)
    assert identity_key(STANDS[0], same) == keys[0] != identity_key(STANDS[0], "other")


def test_a_doubt_has_a_scope_and_no_id():
    same, other = (call_key(Call("f", {}, each), PLACE) for each in ("1", "2"))
    assert doubt_key("t", same) == doubt_key("t", other)
    assert len({doubt_key(scope, same) for scope in ("t", "u", 7, "7", 0)}) == 5


LONG, OTHER = "Dear Ann, here is the invoice", "Hello Ann! The invoice is attached"
THEMES = [
    ({"to": "ann", "text": LONG}, {"text": OTHER, "to": "ann"}, True),
    ({"to": "ann", "parts": [{"text": LONG}]}, {"to": "ann", "parts": [{"text": OTHER}]}, True),
    ({"to": "ann", "text": LONG}, {"to": "bob", "text": LONG}, False),
    ({"to": "ann", "text": LONG}, {"to": "ann", "text": "ok"}, False),
]


@pytest.mark.parametrize(("one", "other", "same"), THEMES)
def test_calls_in_other_words_have_one_theme(one, other, same):
    first, second = (theme_key("thread", Call("send", args), None) for args in (one, other))
    assert first
    assert (first == second) is same
    assert first != theme_key("other thread", Call("send", one), None)


@pytest.mark.parametrize("args", [{"to": "ann", "n": 5}, {"text": LONG}, {}])
def test_a_call_without_short_arguments_or_without_words_has_no_theme(args):
    assert theme_key("thread", Call("send", args), None) == ""
