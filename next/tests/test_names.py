"""The public names: what is said to type checkers is what is loaded."""

import ast
from pathlib import Path

import pytest

import selfcorrect

STUB = Path(selfcorrect.__file__).with_suffix(".pyi")
FIRST = set(
    [
        "build_graph",
        "ToolSpec",
        "StrategyMap",
        "ErrorRule",
        "strategy",
        "Repair",
        "Change",
        "Changed",
        "Wait",
        "Result",
        "Ask",
        "GiveUp",
        "Escalate",
        "Terminal",
        "Retry",
        "Fix",
        "Safety",
        "Severity",
        "Diagnosis",
        "Limits",
        "FailureReport",
        "ErrorKind",
        "ToolErrorPolicy",
        "classify",
        "repair_call",
        "Mender",
        "CorrectionState",
        "NotDone",
        "on_error",
        "AskModel",
        "Prompts",
        "SelfCorrectError",
        "MapError",
        "GraphSetupError",
        "Call",
        "Escalation",
        "HardFailure",
        "OnError",
        "RepairContext",
        "default_on_error",
        "ABSENT",
        "InvalidArgs",
        "DeserializationError",
        "ExecutionError",
        "EscalationError",
    ]
)


def test_the_stub_has_every_name_from_the_module_that_holds_it():
    found = {
        name.asname or name.name: node.module
        for node in ast.walk(ast.parse(STUB.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert {name: f"selfcorrect.{home}" for name, home in selfcorrect._MODULES.items()} == found


def test_documented_names_are_there():
    assert set(selfcorrect.__all__) >= FIRST
    assert all(getattr(selfcorrect, name) is not None for name in FIRST)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'buildgraph'"):
        selfcorrect.buildgraph  # noqa: B018
