"""`may_run` is one table: what is remembered, and what this run came to, decide what runs again."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from selfcorrect.effects.again import (
    BEGUN,
    HELD,
    Hold,
    InProgress,
    Record,
    Refuse,
    Replay,
    Request,
    Reworded,
    Run,
    gravest,
    may_run,
)
from selfcorrect.effects.effect import EFFECTS, acts
from selfcorrect.effects.outcome import Outcome

TABLE = Path(__file__).parent / "data" / "may_run.txt"
SAME, OTHER = "same", "other"


def record(key, status, *, alive=False):
    return Record(key, "doubt", "pay", status, value="receipt", alive=alive)


def reworded(status, *, alive=False):
    return Record("fourth", "other doubt", "pay", status, alive=alive, theme="theme")


REMEMBERED = {
    "nothing": [],
    "this call, not done": [record(SAME, Outcome.NOT_DONE)],
    "this call, done": [record(SAME, Outcome.DONE)],
    "this call, refused": [record(SAME, Outcome.REFUSED)],
    "this call, lost": [record(SAME, Outcome.LOST)],
    "this call, begun, its holder lives": [record(SAME, BEGUN, alive=True)],
    "this call, begun, its holder is gone": [record(SAME, BEGUN)],
    "an equal call, done": [record(OTHER, Outcome.DONE)],
    "two equal calls, done": [record(OTHER, Outcome.DONE), record("third", Outcome.DONE)],
    "an equal call, refused": [record(OTHER, Outcome.REFUSED)],
    "an equal call, lost": [record(OTHER, Outcome.LOST)],
    "an equal call, begun, its holder lives": [record(OTHER, BEGUN, alive=True)],
    "an equal call, begun, its holder is gone": [record(OTHER, BEGUN)],
    "a call in other words, done": [reworded(Outcome.DONE)],
    "a call in other words, lost": [reworded(Outcome.LOST)],
    "a call in other words, lost; this one, held": [reworded(Outcome.LOST), record(OTHER, HELD)],
    "a call in other words, begun, its holder lives": [reworded(BEGUN, alive=True)],
    "a call in other words, begun, its holder is gone": [reworded(BEGUN)],
}
VOUCHES = (None, "refused", "lost")
OUTCOMES = (None, *Outcome)


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


def table():
    head = f"{'what is remembered, or what this run came to':50}" + "".join(
        f"{f'vouched: {vouch}' if vouch else 'a tool that acts':22}" for vouch in VOUCHES
    )
    lines = [head.rstrip()]
    for name, history in REMEMBERED.items():
        row = [
            shown(may_run(history, "mutating", None, Request(SAME, "doubt", v))) for v in VOUCHES
        ]
        lines.append((f"{name:50}" + "".join(f"{each:22}" for each in row)).rstrip())
    for outcome in Outcome:
        row = [shown(may_run([], "mutating", outcome, Request(SAME, "doubt", v))) for v in VOUCHES]
        name = f"this run: {outcome.value}"
        lines.append((f"{name:50}" + "".join(f"{each:22}" for each in row)).rstrip())
    return "\n".join([*lines, "a tool that only reads, or is idempotent, always runs", ""])


def test_the_table_is_the_one_that_is_written_down():
    print(table())  # noqa: T201
    assert table() == TABLE.read_text("utf-8")


@pytest.mark.parametrize("effect", [each for each in EFFECTS if not acts(each)])
@pytest.mark.parametrize("history", REMEMBERED.values(), ids=REMEMBERED)
def test_what_reads_always_runs(effect, history):
    for outcome, vouch in product(OUTCOMES, VOUCHES):
        assert may_run(history, effect, outcome, Request(SAME, "doubt", vouch)) == Run()


@pytest.mark.parametrize("history", REMEMBERED.values(), ids=REMEMBERED)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_destructive_is_as_careful_as_mutating(history, outcome):
    for vouch in VOUCHES:
        asked = Request(SAME, "doubt", vouch)
        mutating, destructive = (
            may_run(history, effect, outcome, asked) for effect in ("mutating", "destructive")
        )
        assert mutating == destructive


records = st.builds(
    Record,
    key=st.sampled_from([SAME, OTHER, "third"]),
    doubt=st.just("doubt"),
    tool=st.just("pay"),
    status=st.sampled_from([BEGUN, *Outcome]),
    alive=st.booleans(),
)


@given(st.lists(records, max_size=6), st.sampled_from(OUTCOMES), records)
def test_doubt_only_grows(history, outcome, more):
    """One lost record more never lets a call run that did not run without it."""
    before = may_run(history, "mutating", outcome, Request(SAME, "doubt"))
    lost = Record(OTHER, "doubt", "pay", Outcome.LOST)
    after = may_run([*history, lost], "mutating", outcome, Request(SAME, "doubt"))
    assert not isinstance(after, Run)
    assert isinstance(before, Run) or not isinstance(
        may_run([*history, more, lost], "mutating", outcome, Request(SAME, "doubt")), Run
    )


@given(st.lists(st.sampled_from(list(Outcome))))
def test_the_gravest_outcome_leaves_most_in_doubt(outcomes):
    found = gravest(outcomes)
    if Outcome.LOST in outcomes:
        assert found == Outcome.LOST
    elif Outcome.REFUSED in outcomes:
        assert found == Outcome.REFUSED
    else:
        assert found in (None, Outcome.DONE, Outcome.NOT_DONE)
