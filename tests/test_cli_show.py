"""How a run is told: every kind of event and end, and nothing of it trusted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.cli.show import Tally, story, verdict

FINDING = {
    "text": "argument 'date': not a valid date",
    "kind": "validation",
    "category": "format_date",
    "rule": "default/format-date",
    "paths": ["/args/date"],
}
CHANGE = {
    "path": "/args/date",
    "before": "Oct 26, 2024",
    "after": "2024-10-26",
    "safety": "inferred",
    "strategy": "format-date",
}
MENDED = {
    "result": {"booking": 1},
    "trail": [
        {"node": "plan", "call": {"name": "book", "args": {"date": "Oct 26, 2024"}}},
        {"node": "execute", "ok": False, "error": [FINDING["text"]]},
        {"node": "diagnose", "findings": [FINDING]},
        {"node": "select_strategy", "selected": []},
        {
            "node": "repair",
            "next": "validate",
            "tried": [
                {"strategy": "parse-nested", "outcome": "gave_up", "reason": "nothing to parse"},
                {"strategy": "clamp", "outcome": "refused", "reason": "lossy"},
                {"strategy": "clamp", "outcome": "refused", "reason": "lossy"},
                {"strategy": "format-date", "outcome": "changed"},
            ],
            "changes": [CHANGE],
        },
        {"node": "validate", "ok": True},
        {"node": "retry", "attempt": 1, "wait": 1.5},
        {"node": "execute", "attempt": 1, "ok": True, "seconds": 0.01},
    ],
}
REPORTED = {
    "failure": {
        "reason": "needs_person",
        "detail": "a person has to decide",
        "question": {"question": "How many passengers?", "options": [1, 2]},
        "advice": ["say how many"],
    },
    "trail": [{"node": "validate", "refused": [{**CHANGE, "safety": "lossy", "why": "lossy"}]}],
}


def told(output, title="a title") -> str:
    return "\n".join(line.plain for line in story(title, output))


def test_a_mended_run_tells_what_was_wrong_who_mended_it_and_how():
    assert told(MENDED).splitlines() == [
        "■ a title  mended",
        '  call      book {"date": "Oct 26, 2024"}',
        (
            "  wrong     argument 'date': not a valid date  validation, format_date"
            "  rule default/format-date"
        ),
        "  tried     clamp  refused: lossy",
        '  mended    /args/date  "Oct 26, 2024" → "2024-10-26"  format-date, inferred',
        "  waited    1.5 s",
        "  attempt 1 ok",
        '  result    {"booking": 1}',
    ]


def test_a_value_that_only_moved_is_one_change_to_a_reader():
    common = {"safety": "inferred", "strategy": "rename-argument"}
    out = {"path": "/args/class", "before": "business", **common}
    into = {"path": "/args/cabin", "after": "business", **common}
    text = told({"result": 1, "trail": [{"node": "repair", "changes": [out, into, into]}]})
    assert '/args/class → /args/cabin  "business"  rename-argument, inferred' in text
    assert '/args/cabin  nothing → "business"  rename-argument, inferred' in text


def test_a_report_tells_the_question_and_the_advice():
    text = told(REPORTED)
    assert "■ a title  asked" in text
    assert "report    needs_person  a person has to decide" in text
    assert "question  How many passengers?  [1, 2]" in text
    assert "advice    say how many" in text
    assert 'refused   /args/date  "Oct 26, 2024" → "2024-10-26"' in text


@pytest.mark.parametrize(
    ("output", "word"),
    [
        (MENDED, "mended"),
        (REPORTED, "asked"),
        ({"failure": {"reason": "no_strategy"}, "trail": []}, "reported"),
        ({"__interrupt__": [{"question": "?"}], "trail": []}, "asked"),
        ({"error": "calls.jsonl:3: not JSON"}, "failed"),
        ({"result": None, "trail": [{"node": "execute", "ok": True}]}, "healthy"),
        ({"anything": "else"}, "healthy"),
    ],
)
def test_each_output_has_one_verdict(output, word):
    assert verdict(output) == word
    assert told(output).splitlines()[0].endswith(word)


def test_the_summary_counts_runs_executions_and_model_calls():
    tally = Tally()
    tally.add(MENDED)
    assert tally.all_done
    tally.add({"result": 1, "trail": [{"node": "repair", "model_calls": 2}]})
    tally.add(REPORTED)
    assert tally.line().plain == "3 calls: 2 mended, 1 asked · 1 execution, 2 model calls"
    assert not tally.all_done
    assert Tally().line().plain == "0 calls: nothing to do · 0 executions, 0 model calls"


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["call", "findings", "tried", "changes", "refused", "attempt", "wait", "error", "ok"]
NODES = ["plan", "execute", "diagnose", "repair", "validate", "retry", "report_failure"]
events = st.fixed_dictionaries({"node": st.sampled_from(NODES)}, optional=dict.fromkeys(KEYS, junk))


@given(st.dictionaries(st.sampled_from(["result", "failure", "error"]), junk), st.lists(events))
def test_no_output_of_a_foreign_graph_breaks_the_telling(output, trail):
    output["trail"] = trail
    tally = Tally()
    tally.add(output)
    for line in story("\x1b[2J", output):
        assert "\x1b" not in line.plain
        assert "\n" not in line.plain
