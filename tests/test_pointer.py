"""JSON Pointers into calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.model import ABSENT, Call, Change, Safety
from selfcorrect.pointer import apply, get, join, look, put, split

CALL = Call("book", {"a": {"b": [1, {"c": 2}]}, "x/y": 1, "m~n": 2})


def change(path: str, before: object, after: object) -> Change:
    return Change(path, before, after, Safety.EXACT, "test")


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/name", "book"),
        ("/args/a/b/1/c", 2),
        ("/args/x~1y", 1),
        ("/args/m~0n", 2),
        ("/args/a/b/9", ABSENT),
        ("/args/a/b/01", ABSENT),
        ("/args/a/b/-1", ABSENT),
        ("/args/nope/deeper", ABSENT),
        ("/raw", ABSENT),
        ("/id", ABSENT),
        ("", ABSENT),
    ],
)
def test_look(pointer: str, value: object) -> None:
    assert look(CALL, pointer) == value


def test_apply_touches_only_the_way_to_the_place() -> None:
    mended = apply(CALL, [change("/args/a/b/0", 1, "one"), change("/name", "book", "buy")])
    assert mended == Call("buy", {"a": {"b": ["one", {"c": 2}]}, "x/y": 1, "m~n": 2})
    assert mended.args["a"]["b"][1] is CALL.args["a"]["b"][1]
    assert CALL.args["a"]["b"][0] == 1


def test_absent_adds_and_removes() -> None:
    added = apply(CALL, [change("/args/new", ABSENT, None)])
    assert added.args["new"] is None
    assert apply(added, [change("/args/new", None, ABSENT)]) == CALL
    assert apply(CALL, [change("/args", CALL.args, ABSENT)]).args == {}


@pytest.mark.parametrize("path", ["", "/args/q/r", "/args/a/b/7", "/args/x~1y/z", "args"])
def test_a_change_of_a_place_that_cannot_be_is_refused(path: str) -> None:
    with pytest.raises((LookupError, ValueError)):
        apply(CALL, [change(path, ABSENT, 1)])


def test_an_id_is_set_once_and_never_changed() -> None:
    named = apply(CALL, [change("/id", ABSENT, "c1")])
    assert (named.id, look(named, "/id")) == ("c1", "c1")
    assert apply(named, [change("/id", "c1", ABSENT)]) == CALL
    with pytest.raises(LookupError):
        apply(named, [change("/id", "c1", "c2")])


@given(st.lists(st.text(max_size=5), max_size=4))
def test_split_undoes_join(tokens: list[str]) -> None:
    assert split(join(*tokens)) == tuple(tokens)


@given(st.recursive(st.integers(), lambda c: st.dictionaries(st.text(max_size=3), c), max_leaves=9))
def test_put_then_get(document: object) -> None:
    if isinstance(document, dict):
        assert get(put(document, "/k", 1), "/k") == 1
        assert get(put(document, "/k", ABSENT), "/k") is ABSENT
