"""Every run that fails leaves one record for the operator."""

from __future__ import annotations

import logging

import pytest

from selfcorrect import ToolSpec, build_graph


def run(function, effect="read_only", **args):
    graph = build_graph([ToolSpec.from_function(function, effect=effect, name="look")])
    return graph.invoke({"call": {"name": "look", "args": args}})


def failed(caplog):
    return [each for each in caplog.records if "selfcorrect.failed" in each.getMessage()]


def broken(item: str) -> str:
    """Look something up, wrongly."""
    return {"known": item}["unknown"]


def refusing(item: str) -> str:
    """Refuse."""
    raise PermissionError(f"password=hunter2secret is not welcome at {item}")


def test_a_fault_of_the_tool_is_logged_with_its_traceback_and_its_place(caplog):
    with caplog.at_level(logging.WARNING, "selfcorrect"):
        out = run(broken, item="a")
    (record,) = failed(caplog)
    assert record.levelno == logging.WARNING
    text = record.getMessage()
    assert "exception=KeyError" in text
    assert "Traceback (most recent call last)" in text
    assert "kind=internal" in text
    line = broken.__code__.co_firstlineno + 2
    assert out["failure"]["where"].endswith(f"test_failed_log.py:{line}")
    assert out["failure"]["findings"][0]["kind"] == "internal"
    assert out["failure"]["findings"][0]["paths"] == []


def test_a_refusal_is_logged_without_secrets_and_without_a_traceback(caplog):
    with caplog.at_level(logging.WARNING, "selfcorrect"):
        run(refusing, item="a")
    (record,) = failed(caplog)
    text = record.getMessage()
    assert "exception=PermissionError" in text
    assert "tool=look" in text
    assert "hunter2secret" not in text
    assert "Traceback" not in text


def test_what_succeeds_is_not_logged_as_failed(caplog):
    with caplog.at_level(logging.DEBUG, "selfcorrect"):
        out = run(lambda item: item, item="a")
    assert out["result"] == "a"
    assert not failed(caplog)


@pytest.mark.parametrize("effect", ["mutating", "read_only"])
def test_a_fault_is_never_mended_into_another_question(effect):
    asked = []

    def report(year: int) -> str:
        """Report on a year."""
        asked.append(year)
        return {2023: "fine"}[year]

    out = run(report, effect, year=2024)
    assert asked == [2024]
    assert "result" not in out
