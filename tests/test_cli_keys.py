"""Keys of lines that nobody reads: told on stderr, never a failure, and never a flood."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from selfcorrect.batch import recorded_calls, recorded_errors
from selfcorrect.cli import app, diagnose, repair

TOOL = {"name": "double", "parameters": {"properties": {"number": {"type": "integer"}}}}
CALL = {"name": "double", "arguments": {"number": "21"}}
GRAPH = """
from selfcorrect import build_graph

def double(number: int) -> int:
    return 2 * number

graph = build_graph([double])
"""


def played(tmp_path, command, *lines, more=()):
    given = tmp_path / "given.jsonl"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    args = {
        "repair": ["--jsonl", given, "--out", tmp_path / "out.jsonl"],
        "diagnose": ["--jsonl", given, "--out", tmp_path / "out.jsonl"],
        "run": [tmp_path / "graph.py", "--jsonl", given, "--json"],
        "learn": [given, "-o", tmp_path / "learned.toml"],
        "train": [given, "-o", tmp_path / "witness.bin"],
    }[command]
    (tmp_path / "graph.py").write_text(GRAPH)
    return CliRunner().invoke(app, [command, *map(str, [*args, *more])])


def warnings(told):
    return [line for line in told.stderr.splitlines() if line.startswith("warning")]


LINES = {
    "repair": ({"id": 1, "tools": [TOOL], "call": CALL}, "mesages", "messages"),
    "diagnose": ({"id": 1, "message": "too many requests"}, "arguements", "arguments"),
    "run": ({"call": CALL}, "task-id", "task_id"),
    "learn": ({"task_id": "t", "tool": "f", "arguments": {}, "error": None}, "efect", "effect"),
}


@pytest.mark.parametrize("command", LINES)
def test_a_slip_is_told_at_its_first_line_with_what_was_meant(tmp_path, command):
    good, slip, meant = LINES[command]
    told = played(tmp_path, command, good, {**good, slip: None}, {**good, slip: None})
    assert told.exit_code == 0, told.output
    assert warnings(told) == [
        f'warning: {tmp_path / "given.jsonl"}:2: unknown key "{slip}": did you mean "{meant}"?'
    ]
    assert "warning" not in told.stdout


def test_a_labelled_error_is_looked_at_too(tmp_path):
    line = {"message": "x", "lables": {}, "labels": {"kind": "auth", "category": "none"}}
    told = played(tmp_path, "train", {**line, "sistem": "a"})
    assert [line.partition(".jsonl:")[2] for line in warnings(told)][:1] == [
        '1: unknown key "sistem": did you mean "system"?'
    ]


@pytest.mark.parametrize("command", LINES)
def test_columns_of_ones_own_are_told_in_one_line(tmp_path, command):
    good = LINES[command][0]
    columns = {f"column_{number}": number for number in range(40)}
    told = played(tmp_path, command, *[{**good, **columns, "zebra": n} for n in range(5)])
    assert told.exit_code == 0, told.output
    (line,) = warnings(told)
    assert line.startswith('warning: keys that are not read: "column_0", "column_1"')
    assert line.endswith("and 21 more")


def test_keys_that_are_read_are_no_news(tmp_path):
    everything = {"request": "double 21", "messages": [], "finish_reason": "stop", "error": None}
    told = played(tmp_path, "repair", {**LINES["repair"][0], **everything})
    assert warnings(told) == []
    inputs = {"request": "double 21", "messages": [], "finish_reason": "stop", "task_id": "t"}
    assert warnings(played(tmp_path, "run", {"call": CALL, **inputs})) == []
    assert warnings(played(tmp_path, "run", CALL)) == []


def test_a_graph_of_another_kind_says_nothing_of_its_keys(tmp_path):
    foreign = """
class Graph:
    async def ainvoke(self, value, config=None):
        return {"result": value["colour"]}
    def get_graph(self, config=None):
        return None

graph = Graph()
"""
    given = tmp_path / "given.jsonl"
    given.write_text(json.dumps({"call": CALL, "colour": "red"}) + "\n")
    (tmp_path / "foreign.py").write_text(foreign)
    args = ["run", str(tmp_path / "foreign.py"), "--jsonl", str(given), "--json"]
    told = CliRunner().invoke(app, args)
    assert json.loads(told.stdout)["result"] == "red"
    assert warnings(told) == []


def test_a_graph_with_keys_of_its_own_reads_them(tmp_path):
    own = GRAPH.replace(
        "graph = build_graph([double])",
        "from selfcorrect import CorrectionState\n"
        "class Own(CorrectionState, total=False):\n    colour: str\n"
        "graph = build_graph([double], state=Own)",
    )
    given = tmp_path / "given.jsonl"
    given.write_text(json.dumps({"call": CALL, "colour": "red", "shade": 1}) + "\n")
    (tmp_path / "own.py").write_text(own)
    told = CliRunner().invoke(app, ["run", str(tmp_path / "own.py"), "--jsonl", str(given)])
    assert warnings(told) == ['warning: keys that are not read: "shade"']


def test_a_near_key_is_not_proposed_where_it_stands_already(tmp_path):
    told = played(tmp_path, "diagnose", {"message": "timed out", "messages": []})
    assert warnings(told) == ['warning: keys that are not read: "messages"']


def test_no_key_reaches_a_terminal_as_it_is(tmp_path):
    told = played(tmp_path, "diagnose", {"message": "timed out", "\x1b[2Jx" * 50: 1})
    (line,) = warnings(told)
    assert "\x1b" not in line
    assert len(line) < 200


def test_several_processes_tell_each_key_once(tmp_path):
    lines = [{"message": "timed out", "statsu": 429, "column": 1}] * 1_200
    told = played(tmp_path, "diagnose", *lines, more=("--processes", "2"))
    assert [line.partition("unknown")[2] for line in warnings(told)] == [
        ' key "statsu": did you mean "status"?',
        "",
    ]


def test_the_help_names_every_key_that_is_read():
    assert set(repair.GIVEN) == recorded_calls.KEYS
    assert set(diagnose.GIVEN) == recorded_errors.KEYS
