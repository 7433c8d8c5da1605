"""The commands over recorded runs: learn, its counts, and an audit with its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_first import CALL, Plant, learned, never_opens
from test_learner import LEVEL, VALVE, opened, run, shut
from typer.testing import CliRunner

from selfcorrect import StrategyMap
from selfcorrect.cli import app
from selfcorrect.learning.auditing import audit
from selfcorrect.learning.writing import as_toml
from selfcorrect.ledger import SqliteLedger
from selfcorrect.notebook.audited import audit_page
from selfcorrect.testing import play

CALLS = [*opened("a", "Main-1"), *opened("b", "Side-2"), *opened("c", "Back-3")]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(json.dumps(call.as_line()) + "\n" for call in CALLS))
    return path


def call(*args: Any) -> Any:
    return CliRunner().invoke(app, [str(each) for each in args])


def test_learn_writes_a_map_that_check_passes(log: Path, tmp_path: Path):
    out = tmp_path / "learned.toml"
    result = call("learn", log, "-o", out)
    assert result.exit_code == 0, result.output
    assert "12 calls, 3 failed, 3 overcome; 1 entry" in result.output
    assert call("check", out).exit_code == 0
    (entry,) = StrategyMap.load(out).recalls
    assert entry.support == 3
    assert call("learn", log, "-o", out, "--support", "4").exit_code == 0
    assert StrategyMap.load(out).recalls == ()


def test_bad_lines_are_told_and_left_out(log: Path, tmp_path: Path):
    log.write_text(log.read_text() + "{not json\n" + '{"a": 1}\n')
    result = call("learn", log, "-o", tmp_path / "learned.toml")
    assert result.exit_code == 1  # somebody has to look at them, as with `repair`
    assert "1 line left out: neither a recorded call" in result.output
    assert len(StrategyMap.load(tmp_path / "learned.toml").recalls) == 1
    audited = call("audit", log)
    assert audited.exit_code == 1
    assert "1 line left out: neither a recorded call" in audited.output
    assert "3 runs, 12 calls, 3 failed" in audited.output


@pytest.mark.parametrize("args", [[], ["gone.jsonl", "-o", "x.toml"], ["x.jsonl"]])
def test_wrong_usage_is_refused(args):
    assert call("learn", *args).exit_code == 2


def test_a_log_without_calls_is_refused(tmp_path: Path):
    (tmp_path / "log").write_text('{"a": 1}\n')
    assert call("learn", tmp_path / "log", "-o", tmp_path / "x.toml").exit_code == 2
    assert not (tmp_path / "x.toml").exists()
    assert call("audit", tmp_path / "log").exit_code == 2


def test_a_log_is_not_overwritten(log: Path):
    before = log.read_text()
    assert call("learn", log, "-o", log).exit_code == 2
    assert log.read_text() == before


def test_stats_tell_how_entries_fare(tmp_path: Path):
    path = tmp_path / "ledger.db"
    ledger = SqliteLedger(path)
    for _ in range(4):
        play(never_opens(Plant()), CALL, strategies=learned(), ledger=ledger)
    ledger.close()
    result = call("learn", "--stats", path)
    assert result.exit_code == 0, result.output
    assert learned().recalls[0].id in result.output
    assert "retired" in result.output
    assert call("learn", "--stats", tmp_path / "gone.db").exit_code == 2


# --- audit ----------------------------------------------------------------------------------------


def test_an_audit_counts_what_would_have_become_of_failures():
    strategies = StrategyMap(
        extends="default",
        recall=[{"tool": "start", "error": "The valve {args.valve} is shut.",
                 "first": [{"tool": "open", "args": {"valve": "{args.valve}"}}]}],
    )  # fmt: skip
    found = audit(CALLS, strategies)
    assert (found.runs, found.calls, found.failures) == (3, 12, 3)
    assert found.strategies == {"recall": 3}
    assert found.confirmed == {"recall": 3}
    assert found.turns == 9
    bare = audit(CALLS)
    assert bare.strategies.total() == 0
    assert bare.failures == 3


def test_a_mend_that_the_run_did_not_make_is_not_confirmed():
    calls = list(run("a", ("open", {"level": "0.5"}, "level must be a number")))
    found = audit(calls)
    assert found.outcomes["mended"] == 1
    assert found.confirmed.total() == 0


def test_a_tool_that_acts_is_only_proposed():
    calls = list(run("a", ("fill", {"level": 1}, "The tank 7 is full.")))
    found = audit(calls)
    assert found.outcomes["mended"] == 0


def test_the_command_and_its_page(log: Path, tmp_path: Path):
    page = tmp_path / "audit.html"
    result = call("audit", log, "--html", page)
    assert result.exit_code == 0, result.output
    assert "3 runs, 12 calls, 3 failed" in result.output
    text = page.read_text()
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text


def test_hostile_words_of_a_log_are_shown_as_words():
    bad = "<script>alert(1)</script>\u202e"
    calls = list(run("a", ("open", {"valve": bad}, f"{bad} is wrong"), (bad, {}, bad)))
    text = audit_page(audit(calls), bad)
    assert "<script" not in text
    assert "\u202e" not in text


def test_a_log_of_nothing_is_an_audit_of_nothing():
    found = audit([])
    assert (found.calls, found.failures) == (0, 0)
    assert "0" in audit_page(found)


def test_schemas_beside_the_log_complete_it(tmp_path: Path):
    log, tools = tmp_path / "calls.jsonl", tmp_path / "tools.json"
    calls = [
        each
        for task in "ab"
        for each in run(task, ("start", {}, "Too low."), ("open", {"level": 1}), ("start", {}))
    ]
    lines = [each.as_line() for each in calls]
    for line in lines:
        del line["schema"], line["effect"]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    known = [{"name": "open", "parameters": LEVEL, "effect": "idempotent"},
             {"name": "start", "parameters": VALVE, "effect": "idempotent"}]  # fmt: skip
    tools.write_text(json.dumps(known))
    out = tmp_path / "learned.toml"
    assert call("learn", log, "-o", out).exit_code == 0
    assert StrategyMap.load(out).recalls == ()
    assert call("learn", log, "-o", out, "--tools", tools).exit_code == 0
    assert StrategyMap.load(out).recalls[0].told == "open(level=1)"
    assert call("learn", log, "-o", out, "--tools", tmp_path / "gone").exit_code == 2


def test_shut_says_what_the_tests_rely_on():
    assert shut("X-1")[2] == "The valve X-1 is shut."


def test_a_repair_that_executes_nothing_makes_no_call_first(tmp_path: Path):
    """It would be told as repaired, though nothing was prepared."""
    given, out, made = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "learned.toml"
    made.write_text(as_toml(learned().recalls))
    pump, valve = (
        {"name": name, "parameters": VALVE, "effect": "idempotent"}
        for name in ("start_pump", "open_valve")
    )
    line = {"tools": [pump, valve], "call": {"name": "start_pump", "arguments": {"valve": "M-7"}},
            "error": "The valve M-7 is shut."}  # fmt: skip
    given.write_text(json.dumps(line) + "\n")
    call("repair", "--jsonl", given, "--out", out, "--strategies", made)
    answer = json.loads(out.read_text())
    assert answer["outcome"] in ("ask", "failed"), answer
