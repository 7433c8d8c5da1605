"""The laws of outcomes, one table for each of their sentences."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfcorrect
from selfcorrect.effects import Outcome
from selfcorrect.kernel.outcomes import (
    Ended,
    Layer,
    after_rules,
    is_firm,
    settled,
    verified,
    what_was_done,
)
from selfcorrect.kinds import PASSING, ErrorKind

PACKAGE = Path(selfcorrect.__file__).parent
DOUBT = [Outcome.NOT_DONE, Outcome.REFUSED, Outcome.LOST]
"""From no doubt to all of it."""
STATUSES = [None, 400, 404, 408, 409, 412, 422, 424, 429, 499, 500, 502, 503]
LAYERS = st.builds(
    Layer,
    status=st.sampled_from(STATUSES),
    inside=st.lists(st.sampled_from(STATUSES[1:]), max_size=2).map(tuple),
    kind=st.none() | st.sampled_from(ErrorKind),
    breaks=st.booleans(),
    passes=st.booleans(),
)
ENDED = st.builds(
    Ended,
    st.lists(LAYERS, min_size=1, max_size=3).map(tuple),
    reported=st.booleans(),
    on_purpose=st.booleans(),
)


def done(*layers: Layer, **facts: bool) -> Outcome:
    return what_was_done(Ended(layers or (Layer(),), **facts))[1]


@pytest.mark.parametrize("fact", ["promised", "unreached", "rejected"])
def test_who_says_that_nothing_was_done_is_believed_whatever_broke(fact):
    assert done(Layer(status=503), Layer(breaks=True), **{fact: True}) is Outcome.NOT_DONE


@pytest.mark.parametrize(
    "layer",
    [
        Layer(status=500),
        Layer(status=408),
        Layer(status=499),
        Layer(inside=(502,)),
        Layer(kind=ErrorKind.TIMEOUT),
        Layer(kind=ErrorKind.INTERNAL),
        Layer(breaks=True),
    ],
)
def test_a_break_anywhere_in_the_chain_is_lost(layer):
    for facts in ({}, {"reported": True}, {"on_purpose": True}):
        assert done(layer, **facts) is Outcome.LOST
        assert done(Layer(status=404), layer, **facts) is Outcome.LOST


@pytest.mark.parametrize(
    ("layer", "facts"),
    [
        (Layer(status=404), {}),
        (Layer(status=404, breaks=True), {}),  # a transport's class that carries an answer
        (Layer(kind=ErrorKind.CONFLICT, breaks=True), {}),
        (Layer(), {"reported": True}),
        (Layer(), {"on_purpose": True}),
    ],
)
def test_what_answered_in_order_to_refuse(layer, facts):
    assert done(layer, **facts) is Outcome.REFUSED


def test_where_nothing_is_known_it_broke_off():
    assert done() is Outcome.LOST
    assert what_was_done(None)[1] is Outcome.LOST


@given(ENDED)
def test_no_word_counts_between_refused_and_lost(ended):
    silent = tuple(
        Layer(each.status, each.inside, each.kind, each.breaks, not each.passes)
        for each in ended.layers
    )
    other = Ended(silent, reported=ended.reported, on_purpose=ended.on_purpose)
    assert what_was_done(ended) == what_was_done(other)


@given(ENDED, LAYERS)
def test_doubt_only_grows_with_what_an_exception_led_to(ended, more):
    longer = Ended((*ended.layers, more), reported=ended.reported, on_purpose=ended.on_purpose)
    before, after = what_was_done(ended)[1], what_was_done(longer)[1]
    assert DOUBT.index(after) >= DOUBT.index(before)
    assert is_firm(longer) <= is_firm(ended)


@given(ENDED, st.booleans())
def test_an_atomic_tool_s_refusal_is_not_done_only_where_nothing_speaks_of_a_passing_fault(
    ended, atomic
):
    outcome = what_was_done(ended)[1]
    left = settled(outcome, atomic=atomic, firm=is_firm(ended))
    if left is not outcome:
        assert (atomic, outcome) == (True, Outcome.REFUSED)
        assert not any(each.passes or each.breaks for each in ended.layers if not each.status)
        assert not any(each.status in (409, 412, 424) for each in ended.layers)


@pytest.mark.parametrize("status", [409, 412, 424])
def test_a_status_that_may_be_about_a_part_is_no_proof(status):
    assert not is_firm(Ended((Layer(status=status),), on_purpose=True))
    assert is_firm(Ended((Layer(status=422),)))


def test_a_code_that_refuses_is_an_answer_and_what_a_library_raised_is_none():
    code = Layer(kind=ErrorKind.CONFLICT)
    assert done(code) is Outcome.REFUSED
    assert is_firm(Ended((code,)))
    assert not is_firm(Ended((Layer(),), by_library=True))


@pytest.mark.parametrize(
    ("found", "said", "kinds", "atomic"),
    [
        *product(
            DOUBT,
            [{None}, {"lost"}, {"not_done"}, {"not_done", None}, {"not_done", "lost"}],
            [set(), {ErrorKind.TIMEOUT}, {ErrorKind.VALIDATION}],
            [True, False],
        )
    ],
)
def test_a_rule_knows_a_refusal_and_never_what_broke_off(found, said, kinds, atomic):
    after = after_rules(found, said, kinds, atomic=atomic)
    if found is Outcome.LOST or "lost" in said:
        assert after is Outcome.LOST
    elif said == {"not_done"}:
        assert after is Outcome.NOT_DONE
    elif atomic and kinds & PASSING:
        assert after is Outcome.REFUSED
    else:
        assert after is found


def test_what_may_still_run_is_not_known_to_be_undone():
    assert verified(Outcome.NOT_DONE, over=True) is Outcome.NOT_DONE
    for said, over in ((Outcome.NOT_DONE, False), (None, True), ("not_done", True)):
        assert verified(said, over=over) is Outcome.LOST


def test_nobody_but_the_kernel_says_what_was_done():
    """Others hand outcomes on and compare them; none of their functions returns or keeps one."""
    found = []
    for file in PACKAGE.rglob("*.py"):
        if file.parent.name == "kernel":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            said = getattr(node, "value", None) if isinstance(node, _SAYS) else None
            parts = [said.body, said.orelse] if isinstance(said, ast.IfExp) else [said]
            found += [f"{file.name}:{node.lineno}" for each in parts if _is_outcome(each)]
    assert not found


_SAYS = (ast.Return, ast.Assign, ast.AnnAssign, ast.keyword)


def _is_outcome(node: ast.AST | None) -> bool:
    named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return named and node.value.id == "Outcome" and node.attr in Outcome.__members__
