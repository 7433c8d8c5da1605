"""`explain --change`: the verdict of the kernel for two calls."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from selfcorrect.cli import app

PAY = {
    "name": "pay",
    "description": "Pay.",
    "parameters": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["to", "amount"],
    },
}
RUNS = {"name": "pay", "args": {"to": "ann", "amount": 5}}
REFUND = {"name": "pay", "args": {"to": "ann", "refund": {"amount": 5}}}


@pytest.fixture
def explain(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps([PAY]), encoding="utf-8")

    def run(written, runs, *more):
        calls = [each if isinstance(each, str) else json.dumps(each) for each in (written, runs)]
        tools = ["--tools", str(tmp_path / "tools.json")]
        return CliRunner().invoke(app, ["explain", "--change", *calls, *tools, *more])

    return run


@pytest.mark.parametrize(
    ("written", "code", "lines"),
    [
        (RUNS, 0, ["class     exact  runs unasked by default", "effect    mutating"]),
        (
            REFUND,
            1,
            [
                "class     lossy  does not run unasked by default",
                "law 2     lossy  /args/refund/amount  `refund.amount` says something that `pay`",
            ],
        ),
        (
            {"name": "Pay", "arguments": '{"to": "ann", "amount": "5"}'},
            0,
            ["class     exact", "law 5     exact  /name", "law 1     exact  /args/amount"],
        ),
        (
            {"name": "pay", "args": '{"to": "ann", "amount": 5} but only if bob agrees'},
            1,
            ['law 4     lossy  /raw  the text says more than the call: "but only if bob agrees"'],
        ),
    ],
)
def test_shows_the_class_and_every_reason(explain, written, code, lines):
    done = explain(written, RUNS)
    assert done.exit_code == code, done.output
    for line in lines:
        assert f"  {line}" in done.stdout


def test_the_effect_is_an_input(explain):
    assert "effect    read_only" in explain(RUNS, RUNS, "--effect", "read_only").stdout


def test_says_what_of_the_call_that_would_run_is_invalid(explain):
    short = {"name": "pay", "args": {"to": "ann"}}
    assert "invalid   missing required argument 'amount'" in explain(short, short).stdout


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("{", RUNS), "WRITTEN: not JSON"),
        (({"name": "pay"}, RUNS), "WRITTEN: a call is"),
        ((RUNS, {"name": "pay", "args": "{}"}), "RUNS: args must be an object"),
        ((RUNS, {"name": "fly", "args": {}}), "RUNS: there is no tool 'fly'"),
        ((RUNS, RUNS, "--effect", "readonly"), "did you mean 'read_only'?"),
        ((RUNS, RUNS, "default", "some error"), "--change takes two calls and no MAP"),
    ],
)
def test_refuses_what_is_no_question(explain, given, told):
    done = explain(*given)
    assert done.exit_code == 2
    assert told in done.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--change", json.dumps(RUNS), json.dumps(RUNS)], "--change needs --tools FILE"),
        (["default"], "give MAP and TEXT, or --change"),
        (["--change", json.dumps(RUNS), json.dumps(RUNS), "--tools", "no.json"], "no.json: No "),
    ],
)
def test_says_what_is_missing(args, told):
    done = CliRunner().invoke(app, ["explain", *args])
    assert done.exit_code == 2
    assert told in done.stderr
