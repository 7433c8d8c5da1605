"""`may_run` is one table: what is remembered, and what this run came to, decide what runs again."""

from itertools import product

import pytest
from hypothesis import given, strategies as st
from kit import DATA, table

from selfcorrect.effects import Outcome
from selfcorrect.effects.again import (
    BEGUN,
    Hold,
    InProgress,
    Record,
    Refuse,
    Replay,
    Request,
    Reworded,
    Run,
    Vouch,
    gravest,
    may_pass,
    may_run,
    may_start_over,
)
from selfcorrect.model import EFFECTS, acts

SAME, OTHER = "same", "other"


def record(key, status, *, doubt="doubt", **more):
    return Record(key, doubt, "pay", status, value="receipt", **more)


REMEMBERED = {
    name: [record(key, status, **more) for key, status, more in history]
    for name, history in table("ledger.txt", "remembered")
}
COLUMNS = {
    "a tool that acts": (),
    "vouched: done": ("done",),
    "vouched: refused": ("refused",),
    "vouched: lost": ("lost",),
}
"""Somebody vouches for every record that is there, up to an outcome."""
OWN = {
    **{f"this run: {each.value}": [each] for each in Outcome},
    "this run: lost, then refused": [Outcome.LOST, Outcome.REFUSED],
}


def asked(records, outcomes, **more):
    vouches = [Vouch(each.key, outcome) for each in records for outcome in outcomes]
    return Request(SAME, "doubt", vouches, **more)


def own(outcomes):
    return [record(f"own {number}", each) for number, each in enumerate(outcomes)]


def shown(verdict):
    match verdict:
        case Run():
            return "run"
        case Replay():
            return "replay"
        case Hold():
            return "ask"
        case Reworded():
            return "hold once"
        case InProgress():
            return "in progress"
        case Refuse(reason):
            return f"no: {reason}"


def row(name, history, own_):
    cells = [
        shown(may_run(history, "mutating", own_, asked([*history, *own_], outcomes)))
        for outcomes in COLUMNS.values()
    ]
    return (f"{name:50}" + "".join(f"{each:22}" for each in cells)).rstrip()


def written():
    head = f"{'what is remembered, or what this run came to':50}"
    lines = [(head + "".join(f"{each:22}" for each in COLUMNS)).rstrip()]
    lines += [row(name, history, []) for name, history in REMEMBERED.items()]
    lines += [row(name, [], own(outcomes)) for name, outcomes in OWN.items()]
    more = "a destructive tool runs once where another one runs twice"
    return "\n".join([*lines, "a tool that only reads, or is idempotent, always runs", more, ""])


def test_the_table_is_the_one_that_is_written_down():
    print(written())  # noqa: T201
    assert written() == (DATA / "may_run.txt").read_text("utf-8")


@pytest.mark.parametrize("effect", [each for each in EFFECTS if not acts(each)])
@pytest.mark.parametrize("history", REMEMBERED.values(), ids=REMEMBERED)
def test_what_reads_always_runs(effect, history):
    for outcomes, own_ in product(COLUMNS.values(), OWN.values()):
        assert may_run(history, effect, own(own_), asked(history, outcomes)) == Run()


@pytest.mark.parametrize("history", REMEMBERED.values(), ids=REMEMBERED)
@pytest.mark.parametrize("own_", OWN.values(), ids=OWN)
def test_destructive_is_more_careful_than_mutating(history, own_):
    mutating, destructive = (
        may_run(history, effect, own(own_), asked(history, ())) for effect in EFFECTS[2:]
    )
    assert mutating == destructive or (mutating, type(destructive)) == (Run(), Hold)


def test_an_unchanged_call_is_made_again_only_if_it_is_meant():
    before = [record("own", Outcome.NOT_DONE)]
    for effect in EFFECTS:
        assert may_run((), effect, before, asked((), (), is_meant=False)) == Refuse(
            "repeated_failure"
        )
        assert may_run((), effect, before, asked((), ())) == Run()


@pytest.mark.parametrize("outcome", [Outcome.REFUSED, Outcome.LOST])
def test_who_vouches_for_one_doubt_vouches_for_no_other(outcome):
    history = [record(SAME, outcome), record(OTHER, Outcome.LOST)]
    for vouched in history:
        verdict = may_run(history, "mutating", [], asked([vouched], ["lost"]))
        assert isinstance(verdict, Refuse)
        assert verdict.key != vouched.key
    assert may_run(history, "mutating", [], asked(history, ["lost"])) == Run()


@given(st.integers(1, 4), st.lists(st.sampled_from(["done", "alive"]), max_size=8), st.booleans())
def test_what_is_being_made_counts_like_what_was_made(most, before, destroys):
    history = [
        record(f"k{number}", BEGUN if each == "alive" else Outcome.DONE, alive=each == "alive")
        for number, each in enumerate(before)
    ]
    effect = "destructive" if destroys else "mutating"
    verdict = may_run(history, effect, [], asked((), (), equal=most))
    assert isinstance(verdict, Run if len(before) < (1 if destroys else most) else Hold)


def test_words_alone_make_no_tool_act():
    answers = {each: may_pass(acts=each[0], by_words=each[1]) for each in product([0, 1], [0, 1])}
    assert answers == {(0, 0): True, (0, 1): True, (1, 0): True, (1, 1): False}


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("outcome", Outcome)
def test_another_run_follows_only_where_nothing_was_done(effect, outcome):
    attempts = [{"effect": effect, "outcome": outcome.value}]
    may = may_start_over("no_strategy", attempts)
    assert may == (not acts(effect) or outcome is Outcome.NOT_DONE)
    assert not may_start_over("unknown_outcome", ())


records = st.builds(
    Record,
    key=st.sampled_from([SAME, OTHER, "third"]),
    doubt=st.just("doubt"),
    tool=st.just("pay"),
    status=st.sampled_from([BEGUN, *Outcome]),
    alive=st.booleans(),
)


@given(st.lists(records, max_size=6), st.sampled_from(list(OWN.values())), records)
def test_doubt_only_grows(history, outcomes, more):
    """One lost record more never lets a call run that did not run without it."""
    lost = Record("new", "doubt", "pay", Outcome.LOST)
    request = asked(history, ["lost"])
    assert not isinstance(may_run([*history, lost], "mutating", own(outcomes), request), Run)
    assert not isinstance(may_run([*history, more, lost], "mutating", [], request), Run)


@given(st.lists(st.sampled_from(list(Outcome))))
def test_the_gravest_outcome_leaves_most_in_doubt(outcomes):
    found = gravest(own(outcomes))
    status = found and found.status
    if Outcome.LOST in outcomes:
        assert status == Outcome.LOST
    elif Outcome.REFUSED in outcomes:
        assert status == Outcome.REFUSED
    else:
        assert status is None
