"""What a map file says, seen from outside: one run per sentence of the map language."""

from __future__ import annotations

from typing import Any

import pytest

from selfcorrect import FailureReport, ToolSpec, build_graph
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.mapping.loading import load_map
from selfcorrect.model import Category, ErrorKind, Finding
from selfcorrect.testing import VirtualTime

FAILING = {
    "auth": lambda: PermissionError("401 Unauthorized"),
    "transient": lambda: ConnectionRefusedError("connection refused"),
    "business": lambda: LookupError("no seat left, try row 7"),
}


ZERO = "[limits]\nper_kind = { transient = 0 }\n"


class Counted:
    """A tool that fails as told and counts how often it ran."""

    def __init__(self, error: str | None = None, times: int = 99) -> None:
        self.runs: list[dict[str, Any]] = []
        self.error, self.times = error, times

    def spec(self, name: str = "pay", **options: Any) -> ToolSpec:
        schema = {
            "type": "object",
            "properties": {"amount": {"type": "integer"}, "row": {"type": "integer"}},
            "required": ["amount"],
        }
        return ToolSpec.from_schema({"name": name, "parameters": schema}, call=self, **options)

    def __call__(self, **args: Any) -> str:
        self.runs.append(args)
        if self.error and len(self.runs) <= self.times:
            error = FAILING[self.error]()
            raise error
        return "done"


def run(tmp_path: Any, text: str, tool: ToolSpec, args: dict[str, Any]) -> dict[str, Any]:
    file = tmp_path / "own.toml"
    file.write_text(f'format = 1\nextends = ["default"]\n{text}', encoding="utf-8")
    loop = assemble([tool], Options(strategies=file, time=VirtualTime()))
    return dict(walk(loop, {"call": {"name": tool.name, "args": args}}))


def test_a_kind_whose_limit_is_zero_is_reported_at_once(tmp_path):
    tool = Counted("transient", times=1)
    out = run(
        tmp_path,
        "[limits]\nper_kind = { transient = 0 }\n",
        tool.spec(effect="read_only"),
        {"amount": 1},
    )
    assert len(tool.runs) == 1
    assert out["failure"]["reason"] in {"limit_reached", "no_strategy"}
    again = Counted("transient", times=1)
    assert "result" in run(tmp_path, "", again.spec(effect="read_only"), {"amount": 1})


def test_attempts_of_a_map_bound_the_executions(tmp_path):
    tool = Counted("transient")
    run(tmp_path, "[limits]\nattempts = 5\n", tool.spec(effect="read_only"), {"amount": 1})
    assert len(tool.runs) == 5


def test_effects_of_a_map_decide_whether_a_tool_is_called_again(tmp_path):
    schema_only = Counted("transient", times=1)
    glob = '[effects]\n"pa*" = "read_only"\n'
    assert "result" in run(tmp_path, glob, schema_only.spec(), {"amount": 1})
    assert len(schema_only.runs) == 2


def test_the_code_of_a_tool_wins_over_the_map_about_its_effect(tmp_path):
    out = run(
        tmp_path,
        '[effects]\npay = "read_only"\n[[rule]]\nid = "t"\nerror = "LookupError"\n'
        'kind = "timeout"\nretryable = true\nrepair = "wait"\n',
        Counted("business").spec(effect="destructive"),
        {"amount": 1},
    )
    assert len(out["trail"]) < 10
    assert out["failure"]["counts"]["attempts"] == 1


def test_a_sensitive_field_never_changes_its_value_without_a_person(tmp_path):
    tool = Counted()
    out = run(tmp_path, '[policy]\nsensitive = ["amount"]\n', tool.spec(), {"amount": "five"})
    assert not tool.runs
    assert out["failure"]["reason"] in {"needs_person", "no_strategy"}
    assert "result" in run(tmp_path, "", Counted().spec(), {"amount": "five"})


def test_an_exact_respelling_of_a_sensitive_field_is_allowed(tmp_path):
    tool = Counted()
    run(tmp_path, '[policy]\nsensitive = ["amount"]\n', tool.spec(), {"amount": "5"})
    assert tool.runs == [{"amount": 5}]


def test_only_the_classes_that_the_policy_allows_run_unasked(tmp_path):
    tool = Counted()
    out = run(tmp_path, '[policy]\nallow = ["exact"]\n', tool.spec(), {"amount": "five"})
    assert not tool.runs
    assert out["failure"]["reason"] in {"needs_person", "no_strategy"}


def test_a_violation_of_the_schema_is_an_error_like_any_other(tmp_path):
    rule = (
        '[[rule]]\nid = "own"\nerror = "InvalidArgs"\ncode = "type"\npriority = "critical"\n'
        'repair = "give-up"\n'
    )
    tool = Counted()
    report = FailureReport.from_state(run(tmp_path, rule, tool.spec(), {"amount": "5"}))
    assert report is not None
    assert report.findings[0]["rule"] == "own/own"
    assert not tool.runs


def test_classes_of_characters_are_ascii(tmp_path):
    (tmp_path / "own.toml").write_text(
        "format = 1\n[[rule]]\nid = 'n'\nmatch = '^row (?P<got>\\d+)$'\nkind = 'conflict'\n",
        encoding="utf-8",
    )
    strategies = load_map(tmp_path / "own.toml")
    assert strategies.decide(Finding("row 7")).kind is ErrorKind.CONFLICT
    assert strategies.decide(Finding("row ٧")).kind is ErrorKind.INTERNAL


def test_params_name_what_is_at_fault_and_options_reach_the_strategy(tmp_path):
    rule = (
        '[[rule]]\nid = "seat"\nerror = "LookupError"\nmatch = "try row (?P<hint>\\\\d+)"\n'
        'kind = "validation"\ncategory = "enum"\nparams = ["row"]\nrepair = ["default-value"]\n'
        "options.default-value = { values = { row = 7 } }\nallow = ['lossy']\n"
    )
    tool = Counted("business", times=1)
    out = run(tmp_path, rule, tool.spec(effect="read_only"), {"amount": 1, "row": 3})
    findings = [event["findings"] for event in out["trail"] if event.get("findings")]
    assert findings[0][0]["paths"] == ["/args/row"]
    assert findings[0][0]["category"] == Category.ENUM
    assert findings[0][0]["captures"] == {"hint": "7"}


@pytest.mark.parametrize("where", ["argument", "environment"])
def test_a_path_is_explicit_and_the_environment_serves_where_none_is_named(
    tmp_path, monkeypatch, where
):
    (tmp_path / "own.toml").write_text(
        'format = 1\n[[rule]]\nid = "any"\nerror = "Exception"\nrepair = "give-up"\n',
        encoding="utf-8",
    )
    path = str(tmp_path / "own.toml")
    monkeypatch.setenv("SELFCORRECT_STRATEGIES", path if where == "environment" else "strict")
    named = {"strategies": path} if where == "argument" else {}
    out = build_graph([Counted("business").spec()], **named).invoke(
        {"call": {"name": "pay", "args": {"amount": 1}}}
    )
    assert out["failure"]["findings"][0]["rule"] == "own/any"
