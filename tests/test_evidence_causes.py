"""Causes that stand inside something else: pages, gateways, paths of variables; and their lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asked import decide, read_report
from typer.testing import CliRunner

from selfcorrect import StrategyMap
from selfcorrect.cli.commands import app
from selfcorrect.model import Category, ErrorKind, Finding

DEFAULT = StrategyMap.load("default")
COUNT = {"properties": {"count": {"type": "number"}}, "required": ["count"]}
TRACE = """<html><body><h1>500 Internal Server Error</h1><pre>Traceback (most recent call last):
  File "/srv/app.py", line 3, in book
    seats = int(form["seats"])
ValueError: invalid literal for int() with base 10: 'two'
</pre></body></html>"""


def read(text: str, arguments: object = None, **given: object) -> Finding:
    item = read_report(text, arguments=arguments, **given)[0]
    return decide(item, DEFAULT, None, arguments, given.get("schema"))


@pytest.mark.parametrize(
    "text",
    [
        "Invalid input: expected number, received undefined",
        "Expected number, but was undefined",
        "Expected number but received `undefined`",
    ],
)
def test_a_value_that_is_undefined_is_missing(text):
    found = read(text, {"other": 1}, schema=COUNT)
    assert (found.category, found.params) == (Category.MISSING_PARAM, ("count",))


def test_the_error_of_a_traceback_on_a_page_is_read():
    found = read(TRACE, {"seats": "two"}, status=500)
    assert (found.category, found.params) == (Category.WRONG_TYPE, ("seats",))
    assert found.text == "invalid literal for int() with base 10: 'two'"


@pytest.mark.parametrize(
    ("text", "kind", "params"),
    [
        ("Bad Gateway: upstream responded with 404: user 'u-9' not found", "not_found", ("user",)),
        ('{"statusCode": 502, "message": "returned 422: n is at most 5"}', "validation", ("n",)),
        ("502 Bad Gateway", "transient", ()),
        ("Bad Gateway: upstream responded with 503", "transient", ()),
    ],
)
def test_a_gateway_names_the_cause_behind_it(text, kind, params):
    found = read(text, {"user": "u-9", "n": 7}, status=502)
    assert (found.kind, found.params) == (ErrorKind(kind), params)
    if params:
        assert found.confidence < 1.0  # a status in a text is prose


@pytest.mark.parametrize(
    "text",
    [
        'Variable "$input" got invalid value "two" at "input.seats"; Int cannot represent "two"',
        "Variable $input got invalid value at path 'input.seats': not a number",
    ],
)
def test_the_path_inside_a_variable_is_the_place(text):
    assert read(text, {"input": {"seats": "two"}}).params == ("input.seats",)
    body = json.dumps({"errors": [{"message": text}]})
    assert read(body, {"input": {"seats": "two"}}).params == ("input.seats",)


def answers(command: str, folder: Path, *given: str) -> list[dict]:
    source, out = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text("\n".join(given), encoding="utf-8")
    CliRunner().invoke(app, [command, "--jsonl", str(source), "--out", str(out)])
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"id": "a", "message": "x must be finite", "arguments": {"x": NaN}}', "kind"),
        ('{"id": "a", "message": "x must be finite", "arguments": {"x": -Infinity}}', "kind"),
        ('{"id": "a", "message": "x must be finite", "arguments": {"x": 1e999}}', "kind"),
        ('{"id": "a", "message": "one", "message": "two"}', "error"),
        ('{"id": "a", "message": ', "error"),
        ('{"message": "x", "id": "a", "status": [1]}', "error"),
    ],
)
def test_every_line_is_answered_under_its_id(tmp_path, line, what):
    (answer,) = answers("diagnose", tmp_path, line)
    assert answer["id"] == "a"
    assert what in answer


def test_a_call_with_a_number_that_is_none_is_refused_by_name(tmp_path):
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"x": {}}}}
    form = '{"id": %d, "tools": [%s], "call": {"name": "f", "arguments": %s}}'
    args = ('{"x": NaN}', '{"x": [1, Infinity]}', '{"x": 1}', "{")
    lines = [form % (number, json.dumps(tool), each) for number, each in enumerate(args)]
    found = answers("repair", tmp_path, *lines)
    assert [item["id"] for item in found] == [0, 1, 2, 3]
    assert [item["outcome"] for item in found] == ["failed", "failed", "valid", "failed"]
    assert "'NaN' is not a JSON value" in found[0]["detail"]
    assert "'Infinity' is not a JSON value" in found[1]["detail"]
