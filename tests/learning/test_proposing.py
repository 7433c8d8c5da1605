"""A model proposes; the check, all recorded runs, and a person decide."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from test_learner import opened, run, shut
from typer.testing import CliRunner

from selfcorrect import StrategyMap
from selfcorrect.cli import app
from selfcorrect.learning.history import History
from selfcorrect.learning.learner import errors_in
from selfcorrect.learning.proposing import Proposed, prompt, propose
from selfcorrect.learning.writing import as_toml
from selfcorrect.mapping.loading import load_map
from selfcorrect.model import Finding
from selfcorrect.testing import ScriptedModel

OPEN = {"recall": {"first": [{"tool": "open", "args": {"valve": "{args.valve}"}}]}}
CALLS = [*opened("a", "Main-1"), *opened("b", "Side-2"), *opened("c", "Back-3")]


def proposed(*answers: Any, calls: Any = CALLS, **more: Any) -> Proposed:
    return propose(calls, ScriptedModel(list(answers)), load_map("default"), **more)


def test_what_passes_every_gate_is_written_down_in_quarantine():
    found = proposed(OPEN)
    (entry,) = found.entries
    assert entry.suggest
    counts = found.proposals[0].verdict.counts
    assert (counts.matches, counts.mended, counts.tasks, counts.foreign, counts.healthy) == (
        *(3, 3, 3, 0, 0),
    )
    assert entry.proposed is not None
    assert "on 3 runs: 3 matches, 3 mended as recorded in 3 tasks, 0 foreign" in entry.proposed


def test_what_is_written_down_can_be_loaded_and_checked(tmp_path: Path):
    path = tmp_path / "proposed.toml"
    path.write_text(as_toml(proposed(OPEN).entries))
    assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 0
    assert StrategyMap.load(path).recalls[0].suggest
    for word in ("Main-1", "Side-2", "Back-3"):
        assert word not in path.read_text()


def test_so_many_tasks_let_it_out_of_quarantine():
    assert not proposed(OPEN, trust=3).entries[0].suggest
    assert proposed(OPEN, trust=4).entries[0].suggest


@pytest.mark.parametrize(
    ("answer", "gate", "why"),
    [
        ({}, "model", "nothing"),
        ({"recall": {"first": [{"tool": "open", "args": {"valve": "Main-1"}}]}}, "check", "names"),
        ({"recall": {"first": [{"tool": "gone", "args": {}}]}}, "check", "no run has a call"),
        ({"recall": {"first": [{"tool": "open", "args": {"v": "{args.valve}"}}]}}, "check", "'v'"),
        ({"recall": {"first": [{"tool": "open", "args": {"valve": "{x}"}}]}}, "check", "source"),
        ({"recall": {"first": [{"tool": "start", "args": {}}]}}, "check", "itself"),
        ({"recall": {"first": "open"}}, "check", ""),
        ({"rule": {"kind": "conflict"}}, "check", "pattern"),
        ({"rule": {"match": "(?=x)", "kind": "conflict"}}, "check", ""),
        ({"rule": {"match": "no such thing", "kind": "conflict"}}, "check", "example"),
        ({"rule": {"match": "shut", "kind": "sad"}}, "check", ""),
        ({"rule": {"match": "shut", "kind": "conflict", "repair": ["pray"]}}, "check", "pray"),
        ({"recall": {"first": [{"tool": "look", "args": {}}]}}, "replay", "nobody did"),
        (ConnectionError("down"), "model", ""),
        ("no JSON at all", "model", ""),
    ],
)
def test_what_a_gate_refuses_is_named_and_not_written(answer, gate, why):
    looked = [
        call
        for task in "def"
        for call in run(task, shut("Up-7"), ("look", {}), ("open", {"valve": "Up-7"}),
                        ("start", {"valve": "Up-7"}))
    ]  # fmt: skip
    calls = looked if gate == "replay" else CALLS
    if gate == "replay":
        calls = [c for c in calls if c.tool != "look" or c.seq != 1]
        calls += list(run("g", ("look", {})))
    found = proposed(answer, calls=calls)
    assert found.entries == []
    verdict = found.proposals[0].verdict
    assert verdict.gate == gate, verdict
    assert why in verdict.why


def test_a_rule_says_what_an_error_means_and_mends_nothing_in_quarantine():
    rule = {"match": r"valve .* is shut", "kind": "conflict", "repair": ["wait"]}
    found = proposed({"rule": rule})
    (entry,) = found.entries
    text = as_toml(found.entries)
    loaded = StrategyMap([entry], extends="default", name="mine")
    finding = loaded.decide(Finding("The valve X-9 is shut."), "start")
    assert (finding.rule, finding.kind, finding.ladder) == (f"mine/{entry.id}", "conflict", ())
    assert tomllib.loads(text)["rule"][0]["suggest"] is True


def test_a_rule_that_decides_other_errors_is_refused():
    other = run("x", ("open", {"valve": "M-1"}, "No such valve: please wait and try again."))
    rule = {"match": r"(?i)valve", "kind": "conflict", "repair": ["wait"]}
    found = proposed({"rule": rule}, {}, calls=[*CALLS, *other])
    assert all(each.verdict.counts.changed == 0 for each in found.proposals if each.verdict.passed)


def test_the_model_reads_no_value_of_any_run():
    history = History.of(CALLS)
    (error,) = errors_in(history)
    said = prompt(error, history)
    assert "{args.valve}" in said
    for word in ("Main-1", "Side-2", "Back-3", "Please start"):
        assert word not in said


def test_the_model_is_asked_no_more_often_than_it_may():
    found = proposed(OPEN, most=1)
    assert found.counts["model_calls"] == 1


def test_the_command(tmp_path: Path):
    log, out = tmp_path / "calls.jsonl", tmp_path / "proposed.toml"
    log.write_text("".join(json.dumps(call.as_line()) + "\n" for call in CALLS))
    model = tmp_path / "model.py"
    model.write_text(
        f"from selfcorrect.testing import ScriptedModel\nmodel = ScriptedModel([{OPEN!r}])\n"
    )
    args = ["propose", str(log), "--model", f"{model}:model", "-o", str(out)]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    assert "3 mended as recorded" in result.output
    assert "suggest = true" in out.read_text()
    result = CliRunner().invoke(app, [*args[:3], "nobody.py:model", *args[4:]])
    assert result.exit_code == 2
