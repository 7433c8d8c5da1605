"""Whatever a state holds is shown as text: bounded, masked, quick."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from worlds import BROKEN, World

from selfcorrect.kernel.texts import safe
from selfcorrect.notebook import Stepper, trail
from selfcorrect.notebook.form import unmasked
from selfcorrect.notebook.marked import marked
from selfcorrect.notebook.shown import differences, rows, value_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)
HIDDEN = ("\u202e", "\x1b", "\x00", "\u2066", "\ud800")


class Nasty:
    """Raises whatever it is asked."""

    def __eq__(self, _: object) -> bool:
        raise ValueError("no")

    __hash__ = None

    def __repr__(self) -> str:
        raise ValueError("no")


@given(JSON)
@settings(max_examples=150)
def test_any_value_is_one_bounded_line(value: Any) -> None:
    text = value_text(value, 100)
    assert len(text) < 1_400
    assert "\n" not in text
    assert not any(char in text for char in HIDDEN)


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000_000,
        ["y"] * 1_000_000,
        {str(n): n for n in range(300_000)},
        10**100_000,
        Nasty(),
        {"a": Nasty()},
        b"bytes" * 100_000,
    ],
    ids=["text", "list", "object", "number", "nasty", "nasty inside", "bytes"],
)
def test_large_and_hostile_values_are_quick(value: Any) -> None:
    started = time.perf_counter()
    assert len(value_text(value)) < 3_000
    rows({"a": value})
    differences({"a": 1}, {"a": value})
    assert time.perf_counter() - started < 1.5


def test_what_lies_deep_is_not_followed() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "…" in value_text(deep)


@pytest.mark.parametrize(
    ("state", "secret"),
    [
        ({"password": "hunter2!"}, "hunter2"),
        ({"nested": {"api_key": "a1b2c3d4e5f6g7h8"}}, "a1b2c3d4e5f6g7h8"),
        ({"url": "https://ann:pa55word@example.org"}, "pa55word"),
        ({"text": "x" * 395 + " ghp_" + "A1" * 18}, "ghp_A1A1A1"),
    ],
)
def test_secrets_are_masked(state: Any, secret: str) -> None:
    assert secret not in json.dumps(rows(state))
    assert secret not in json.dumps(differences({}, state))
    assert secret not in json.dumps(safe(state))
    assert unmasked(safe(state), state) == state


@given(JSON)
@example({"pin": 4711})
@settings(max_examples=100)
def test_masking_can_be_undone(value: Any) -> None:
    assert unmasked(safe(value), value) == value


@given(
    st.text(max_size=200), st.dictionaries(st.text(max_size=5), st.text(max_size=10), max_size=3)
)
@settings(max_examples=100)
def test_marking_keeps_the_text(text: str, captures: dict[str, str]) -> None:
    plain = marked(text, r"(?P<word>\w+)", captures)
    assert all(isinstance(piece, str) for pair in plain["pieces"] for piece in pair)


@given(st.lists(st.dictionaries(st.text(max_size=8), JSON, max_size=4), max_size=5), JSON)
@settings(max_examples=80)
def test_any_trail_is_told(events: Any, failure: Any) -> None:
    told = trail({"trail": events, "failure": failure})
    assert told.text()
    assert told.to_html()


KEYS = st.sampled_from(
    ["node", "next", "changes", "findings", "tried", "error", "call", "attempt", "seconds", "ok"]
)
NODES = st.sampled_from(["plan", "execute", "diagnose", "repair", "validate", "retry", "edit"])


@given(st.lists(st.tuples(NODES, st.dictionaries(KEYS, JSON, max_size=5)), max_size=5))
@settings(max_examples=80)
def test_any_event_of_a_known_node_is_told(events: Any) -> None:
    assert trail([{**data, "node": node} for node, data in events]).text()


def test_names_in_a_trail_are_no_more_than_text() -> None:
    name = "\u202e</script><img src=x>" + "n" * 10_000
    told = trail([{"step": 0, "node": name, "next": name}, {"step": 1, "node": "__proto__"}])
    page = told.to_html() + told.text() + told.to_mermaid() + told.to_svg()
    assert "\u202e" not in page
    assert "<img src=x>" not in told.to_html()
    assert len(told.text()) < 2_000


def test_a_page_cannot_be_ended_by_its_data() -> None:
    call = {"name": "book", "args": {**BROKEN["args"], "to": "</script><script>alert(1)</script>"}}
    page = Stepper(World().graph(), {"call": call}, title="</title><b>").run().to_html()
    assert page.count("<script") == 2
    assert "<script>alert" not in page
    assert "</title><b>" not in page


def test_a_step_costs_little_over_its_node(capsys: pytest.CaptureFixture[str]) -> None:
    from selfcorrect.notebook.view_model import view_of

    stepper = Stepper(World().graph(), {"call": BROKEN}).run()
    over = []
    for _ in range(4):
        stepper.restart()
        while stepper.here.next:
            started = time.perf_counter()
            stepper.step()
            view_of(stepper.standing)
            over.append(time.perf_counter() - started - (stepper.here.frame.seconds or 0.0))
    over.sort()
    middle = over[len(over) // 2]
    with capsys.disabled():
        print(f"\na step costs {middle * 1000:.1f} ms over its node (median of {len(over)})")  # noqa: T201
    assert middle < 0.015
