"""Learning: plans on which independent runs agree, without a value of any run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.learning.calls import RecordedCall
from selfcorrect.learning.learner import learn
from selfcorrect.learning.writing import as_toml
from selfcorrect.mapping.files import read_document

VALVE = {"type": "object", "properties": {"valve": {"type": "string"}}}
LEVEL = {
    "type": "object",
    "properties": {"level": {"type": "number", "description": "From 0 (low) to 1 (high)."}},
}
EFFECTS = {"start": "idempotent", "open": "idempotent", "look": "read_only", "fill": "mutating"}


def run(task: str, *calls: tuple[Any, ...], request: str | None = None) -> Iterator[RecordedCall]:
    """A run: each call as (tool, arguments, error)."""
    said = request or f"Please start the pump of {task} as soon as you can."
    for seq, (tool, arguments, *error) in enumerate(calls):
        schema = LEVEL if "level" in arguments else VALVE
        yield RecordedCall(task, seq, tool, arguments, *(error or [None]), EFFECTS.get(tool),
                           schema, said)  # type: ignore[arg-type]  # fmt: skip


def shut(valve: str) -> tuple[Any, ...]:
    return ("start", {"valve": valve}, f"The valve {valve} is shut.")


def opened(task: str, valve: str, **more: Any) -> list[RecordedCall]:
    return list(run(task, shut(valve), ("look", {}), ("open", {"valve": valve}),
                    ("start", {"valve": valve}), **more))  # fmt: skip


def test_a_step_that_came_before_in_two_tasks_is_learnt():
    found = learn([*opened("a", "Main-1"), *opened("b", "Side-2")])
    (entry,) = found.entries
    assert (entry.tool, entry.error) == ("start", "The valve {args.valve} is shut.")
    assert entry.told == "open(valve={args.valve})"
    assert (entry.support, entry.runs, entry.seen, entry.agreement) == (2, 2, 2, 1.0)
    assert entry.schemas is not None
    assert not entry.suggest


def test_runs_that_share_their_request_are_one_witness():
    same = "Please start the pump of the mill as soon as you can."
    calls = [*opened("a", "Main-1", request=same), *opened("b", "Main-1", request=same)]
    assert learn(calls).entries == ()
    (entry,) = learn(calls, support=1).entries
    assert (entry.support, entry.runs) == (1, 2)


def test_what_less_than_half_did_is_only_told():
    other = [
        list(run(task, shut("X-1"), ("fill", {"valve": "Y-2"}), ("start", {"valve": "X-1"})))
        for task in "cde"
    ]
    calls = [*opened("a", "Main-1"), *opened("b", "Side-2"), *[c for each in other for c in each]]
    entries = {entry.told: entry for entry in learn(calls).entries}
    assert entries["open(valve={args.valve})"].suggest
    assert learn(calls, agreement=0.5).entries == ()


def test_no_value_that_nothing_names_is_learnt():
    calls = [
        call
        for task in "ab"
        for call in run(task, shut("M-1"), ("open", {"valve": "Gate"}), ("start", {"valve": "M-1"}))
    ]
    assert learn(calls).entries == ()


def test_a_constant_is_learnt_where_the_schema_names_it():
    calls = [
        call
        for task in "ab"
        for call in run(
            task, ("start", {}, "The pressure is low."), ("open", {"level": 1.0}), ("start", {})
        )
    ]
    (entry,) = learn(calls).entries
    assert entry.first[0].args == {"level": 1}


def test_a_secret_is_bound_to_nothing():
    calls = [
        call
        for task in "ab"
        for call in run(task, ("start", {"password": "hunter22"}, "Log in first."),
                        ("open", {"password": "hunter22"}), ("start", {"password": "hunter22"}))
    ]  # fmt: skip
    assert learn(calls).entries == ()


def test_what_was_left_out_is_no_repair():
    calls = [
        call
        for task in "ab"
        for call in run(task, ("start", {"valve": "M-1"}, "Too much."), ("start", {}))
    ]
    assert learn(calls).entries == ()


def test_an_error_with_a_word_that_may_be_somebodys_is_left_out():
    calls = [
        call
        for task in "ab"
        for call in run(
            task,
            ("start", {"valve": "M-1"}, "Ask Miriam first."),
            ("look", {"valve": "Miriam"}),
            ("open", {"valve": "M-1"}),
            ("start", {"valve": "M-1"}),
        )
    ]
    found = learn(calls)
    assert (found.entries, found.unvouched) == ((), 1)


def test_a_call_that_gets_further_was_helped():
    calls = [
        call
        for task in "ab"
        for call in run(
            task,
            shut("M-1"),
            ("open", {"valve": "M-1"}),
            ("start", {"valve": "M-1"}, "The pressure is low."),
            ("open", {"level": 1}),
            ("start", {"valve": "M-1"}),
        )
    ]
    assert {entry.error for entry in learn(calls).entries} == {
        "The valve {args.valve} is shut.",
        "The pressure is low.",
    }


def test_tools_that_say_the_same_teach_each_other():
    def moved(task: str, tool: str) -> list[RecordedCall]:
        error = f"{tool}: no path allowed in the valve."
        return list(run(task, (tool, {"valve": "a/b"}, error), (tool, {"valve": "a"})))

    failed = run("c", ("push", {"valve": "x/y"}, "push: no path allowed in the valve."))
    calls = [*moved("a", "pull"), *moved("b", "pull"), *failed]
    assert {(entry.tool, entry.told) for entry in learn(calls).entries} == {
        ("pull", "valve = {args.valve|folder}"),
        ("push", "valve = {args.valve|folder}"),
    }


def test_the_map_is_toml_that_says_the_same():
    entries = learn([*opened("a", "Main-1"), *opened("b", "Side-2")]).entries
    text = as_toml(entries)
    content, faults = read_document(tomllib.loads(text))
    assert not faults
    assert content.recall == entries
    assert "Main-1" not in text
    assert "Side-2" not in text


WORD = st.text(st.sampled_from("abcdeXYZ0123456789_-./@"), min_size=4, max_size=12)


@given(st.lists(st.tuples(WORD, WORD, WORD), min_size=2, max_size=5), st.booleans())
def test_no_word_of_a_run_is_ever_learnt(runs, quoted):
    """Whatever the values look like: no argument, no part of one, stands in the file."""
    calls = []
    for number, (valve, other, secret) in enumerate(runs):
        shown = f"'{valve}'" if quoted else valve
        calls += run(
            f"task {number}",
            ("start", {"valve": valve, "note": secret}, f"The valve {shown} is shut, see {other}."),
            ("open", {"valve": valve, "note": secret}),
            ("start", {"valve": valve, "note": secret}),
            request=f"Start {valve} for {secret}, number {number} of them all.",
        )
    text = as_toml(learn(calls, agreement=0.0).entries).partition("\n[[")[2]
    lines = [line for line in text.splitlines() if not line.startswith("schemas")]
    for word in {word for each in runs for word in each if any(c.isdigit() for c in word)}:
        assert word not in "\n".join(lines)
