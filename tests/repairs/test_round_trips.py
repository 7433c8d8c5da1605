"""A valid call stays as it is; a corrupted one comes back as it was, or is refused."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest
from corrupting import TOOLS, corrupted, schema_of, value_of, written_wrongly
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.batch.checking import repair_loop
from selfcorrect.batch.mended import Mended
from selfcorrect.batch.mending import mend
from selfcorrect.tools import ToolSpec


def example(seed: int) -> tuple[Random, ToolSpec, dict[str, Any]]:
    """A tool and a valid call of it."""
    rng = Random(seed)
    schema = schema_of(rng)
    name = rng.choice(TOOLS)
    return rng, ToolSpec.from_schema({"name": name, "parameters": schema}), value_of(rng, schema)


def repaired(tool: ToolSpec, args: Any, name: str | None = None) -> Mended:
    loop = repair_loop([tool])
    return mend(loop, {"name": name or tool.name, "args": args}, {})


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, where 5 is 5.0 and true is not 1."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def check_valid(seed: int) -> None:
    _, tool, args = example(seed)
    before = copy.deepcopy(args)
    out = repaired(tool, args)
    assert (out.outcome, out.changes) == ("valid", ())
    assert same(out.ready[0].args, before)
    assert same(args, before)
    written = json.dumps({"name": tool.name, "arguments": args})
    read = mend(repair_loop([tool]), written, {})
    assert (read.outcome, read.ready[0].args) == ("valid", before)


def check_corrupted(seed: int) -> bool | None:
    """Whether the original came back; None where the corruption is a valid call itself."""
    rng, tool, args = example(seed)
    broken = corrupted(rng, args, dict(tool.schema))
    if broken is None or tool.is_valid(broken):
        return None
    out = repaired(tool, broken)
    if out.outcome in ("ask", "failed"):
        assert not out.ready
        return False
    shown = f"seed {seed}: {args} -> {broken} -> {out.ready[0].args}: {out.changes}"
    assert out.outcome == "repaired", shown
    assert out.changes, shown
    assert all(change.rule and change.strategy and change.reason for change in out.changes), shown
    assert same(out.ready[0].args, args), shown
    return True


def check_text(seed: int, *, cut: bool = False) -> bool:
    """Whether the call came back that a text holds in which something is wrong.

    A text that is cut off anywhere comes with the reason for which the model ended.
    """
    rng, tool, args = example(seed)
    text = written_wrongly(rng, tool.name, args)
    text = text[: rng.randrange(1, len(text))] if cut and len(text) > 1 else text
    out = mend(repair_loop([tool]), text, {"finish_reason": "length"} if cut else {})
    if not out.ready:
        return False
    shown = f"seed {seed}: {text!r} -> {out.ready}: {out.changes}"
    assert all(call.name == tool.name and same(call.args, args) for call in out.ready), shown
    return True


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_a_valid_call_stays_as_it_is(seed):
    check_valid(seed)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_a_corrupted_call_comes_back_as_it_was_or_not_at_all(seed):
    check_corrupted(seed)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_a_text_with_a_slip_is_read_as_it_was_meant_or_not_at_all(seed):
    check_text(seed)
    check_text(seed, cut=True)


def test_most_corruptions_of_one_kind_are_mended():
    found = [check_corrupted(seed) for seed in range(150)]
    judged = [each for each in found if each is not None]
    assert len(judged) > 70
    assert sum(judged) / len(judged) > 0.5


@pytest.mark.nightly
def test_ten_thousand_corruptions():
    for seed in range(10_000):
        check_corrupted(seed)
        check_text(seed)
        check_text(seed, cut=True)
