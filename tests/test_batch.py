import json
import os
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
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


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """The file of a batch, and what one process makes of it at once."""
    folder = tmp_path_factory.mktemp("batch")
    items = [{**item, "id": n} for n in range(60) for item in LINES]
    source, out = write_lines(folder, items), folder / "whole.jsonl"
    assert repair(source, out) == 1
    return source, out


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


def test_several_processes_write_what_one_writes(batch, tmp_path):
    source, whole = batch
    out = tmp_path / "out.jsonl"
    assert repair(source, out, "--processes", "2") == 1
    assert out.read_bytes() == whole.read_bytes()


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(share=st.floats(0, 1))
def test_a_batch_that_was_cut_at_any_byte_goes_on_from_there(batch, tmp_path, share):
    source, whole = batch
    out = tmp_path / "out.jsonl"
    bytes_ = whole.read_bytes()
    out.write_bytes(bytes_[: round(share * len(bytes_))])
    assert repair(source, out, "--resume") == 1
    assert out.read_bytes() == whole.read_bytes()


def test_a_batch_that_is_killed_leaves_no_process_and_goes_on(batch, tmp_path):
    source, whole = batch
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "selfcorrect", "repair", "--processes", "2", "--jsonl", "-"]
    with subprocess.Popen(
        [*command, "--out", str(out)], stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        process.stdin.write(source.read_bytes())
        process.stdin.flush()
        while not (out.exists() and out.stat().st_size):
            time.sleep(0.01)
        process.kill()
    for _ in range(500):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.01)
    else:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail("a process goes on without its parent")
    assert repair(source, out, "--resume") == 1
    assert out.read_bytes() == whole.read_bytes()


def test_a_longer_output_is_not_of_this_input(tmp_path, capsys):
    source, out = write_lines(tmp_path, LINES[:1]), tmp_path / "out.jsonl"
    out.write_text("{}\n{}\n{")
    assert repair(source, out, "--resume") == 2
    assert "has more lines" in capsys.readouterr().err
    assert out.read_text() == "{}\n{}\n{"
