import json

import pytest
from kit import main, table

TOOL = {"name": "add", "parameters": {"properties": {"n": {"type": "integer"}}}}
ADD_TEXT = {"name": "Add", "arguments": '{"n": "2"}'}
LINES = [
    {"id": "a", "tools": [TOOL], "call": {"name": "add", "arguments": {"n": 1}}},
    {"id": "b", "tools": [TOOL], "call": ADD_TEXT},
    {"id": "c", "tools": [TOOL], "call": {"name": "add", "arguments": {"n": "many"}}},
    {"id": "d", "tools": [TOOL], "raw": "I cannot do that."},
    {"id": "e", "tools": "none"},
]
OUTCOMES = ["valid", "repaired", "ask", "failed", "failed", "failed"]


def write_lines(folder, items, more=""):
    path = folder / "in.jsonl"
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items) + more)
    return path


def repair(source, out, *more):
    return main(["repair", "--jsonl", str(source), "--out", str(out), *more])


def test_repair_writes_a_line_for_each_line_in_order(tmp_path, capsys):
    source, out = write_lines(tmp_path, LINES, "no JSON\n"), tmp_path / "out.jsonl"
    assert repair(source, out, "--no-model") == 1
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [each["id"] for each in found] == ["a", "b", "c", "d", "e", None]
    assert [each["outcome"] for each in found] == OUTCOMES
    assert found[1]["calls"] == [{"name": "add", "arguments": {"n": 2}}]
    names = {"path", "before", "after", "strategy", "rule", "safety"}
    assert all(set(each) == names for each in found[1]["changes"])
    assert found[3]["reason"] == "no_call"
    assert found[5]["reason"] == "invalid_input"
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in told] == [f"{source}:5", f"{source}:6"]
    assert '"tools" is missing' in told[0]


@pytest.mark.parametrize(("line", "text"), table("usage.txt", "odd errors"))
def test_an_odd_line_of_diagnose_is_told_and_ends_nothing(line, text, tmp_path, capsys):
    source = write_lines(tmp_path, [], f'{line}\n{{"id": 2, "message": "timed out"}}\n')
    out = tmp_path / "out.jsonl"
    assert main(["diagnose", "--jsonl", str(source), "--out", str(out)]) == 2
    odd, good = map(json.loads, out.read_text().splitlines())
    assert (odd["reason"], odd["detail"], good["kind"]) == ("invalid_input", text, "timeout")
    assert capsys.readouterr().err == f"{source}:1: {text}\n"
