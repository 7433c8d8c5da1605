"""Recorded calls and errors by the million: `selfcorrect.batch`, packed files, `--resume`."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import zstandard
from typer.testing import CliRunner

from selfcorrect import batch
from selfcorrect.batch import files
from selfcorrect.cli import app
from selfcorrect.errors import MapError

ROOT = Path(__file__).parents[1]
TOOL = {
    "name": "order",
    "parameters": {
        "type": "object",
        "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["item", "count"],
    },
}


def call(number, count="2"):
    args = {"item": "tea", "count": count}
    return {"id": number, "tools": [TOOL], "call": {"name": "order", "arguments": args}}


def error(number):
    messages = ("slow down", "'count' is a required property", "boom", "no such file: a.txt")
    return {
        "id": number,
        "message": messages[number % 4],
        "status": (429, 400, 503, 404)[number % 4],
    }


def cli(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


def unpacked(path):
    content = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(content)
    if path.suffix == ".zst":
        unpacker = zstandard.ZstdDecompressor()
        with unpacker.stream_reader(content, read_across_frames=True) as stream:
            return stream.read()
    return content


def packed(path, content):
    if path.suffix == ".gz":
        content = gzip.compress(content)
    if path.suffix == ".zst":
        content = zstandard.compress(content)
    path.write_bytes(content)


def test_lines_are_objects_or_texts_and_each_has_an_answer_in_its_place():
    given = [call(1), json.dumps(call(2)), json.dumps(call(3)).encode(), "", "{oops", {"id": {1}}]
    found = list(batch.repair(given))
    assert [answer["outcome"] for answer in found] == ["repaired"] * 3 + ["failed"] * 3
    assert [answer["id"] for answer in found] == [1, 2, 3, None, None, None]
    assert [answer["detail"] for answer in found[3:]] == [
        "line:4: an empty line",
        "line:5: not JSON: Expecting property name enclosed in double quotes at column 2",
        "line:6: at /id: a value of type set, which is not JSON",
    ]
    assert found[0]["calls"] == [{"name": "order", "arguments": {"item": "tea", "count": 2}}]


def test_answers_come_as_lines_come():
    taken = []

    def lines():
        for number in range(1_000_000):
            taken.append(number)
            yield error(number)

    found = batch.diagnose(lines())
    assert not taken
    assert next(found)["kind"] == "rate_limit"
    assert len(taken) == 1


def test_a_map_is_refused_before_a_line_is_read():
    with pytest.raises(MapError, match="strickt"):
        batch.repair([call(1)], strategies="strickt")
    with pytest.raises(MapError, match="strickt"):
        batch.diagnose([error(1)], strategies="strickt")


@pytest.mark.parametrize(
    ("answer", "make"), [(batch.repair, call), (batch.diagnose, error)], ids=["repair", "diagnose"]
)
def test_processes_answer_like_one(answer, make):
    given = [make(number) for number in range(1_200)]
    alone = list(answer(given, strategies="strict"))
    assert list(answer(given, strategies="strict", processes=2)) == alone


def test_it_needs_neither_the_command_line_nor_langgraph():
    code = (
        "import sys\nfrom selfcorrect.batch import diagnose, repair\n"
        f"print([answer['outcome'] for answer in repair([{call(1)!r}])])\n"
        f"print([answer['kind'] for answer in diagnose([{error(1)!r}])])\n"
        "print({'typer', 'rich', 'langgraph', 'langchain_core'} & sys.modules.keys())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:3] == ["['repaired']", "['validation']", "set()"]


ENDINGS = pytest.mark.parametrize("ending", ["", ".gz", ".zst"])


@ENDINGS
@pytest.mark.parametrize("command", ["repair", "diagnose"])
def test_files_are_packed_and_unpacked_by_their_ending(tmp_path, command, ending):
    make = call if command == "repair" else error
    text = "".join(json.dumps(make(number)) + "\n" for number in range(600)).encode()
    source, out = tmp_path / f"in.jsonl{ending}", tmp_path / f"out.jsonl{ending}"
    packed(source, text)
    done = cli(command, "--jsonl", source, "--out", out, "--processes", 2)
    assert done.exit_code == 0, done.output
    assert re.fullmatch(r"600 lines: [^;]+; [\d.]+ s\n", done.stderr)
    answers = [json.loads(line) for line in unpacked(out).splitlines()]
    expected = {"repair": batch.repair, "diagnose": batch.diagnose}[command]
    assert answers == list(expected(text.decode().splitlines()))


def test_frames_and_members_that_follow_each_other_are_one_file(tmp_path):
    parts = [f"{json.dumps(error(number))}\n".encode() for number in range(3)]
    (tmp_path / "in.gz").write_bytes(b"".join(map(gzip.compress, parts)))
    (tmp_path / "in.zst").write_bytes(b"".join(map(zstandard.compress, parts)))
    for name in ("in.gz", "in.zst"):
        done = cli("diagnose", "--jsonl", tmp_path / name, "--out", tmp_path / "out")
        assert done.exit_code == 0, done.output
        assert len((tmp_path / "out").read_bytes().splitlines()) == 3


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_file_that_was_cut_off_is_told(tmp_path, ending):
    """Its lines have answers as far as it goes, and nobody takes them for all."""
    source, out = tmp_path / f"in{ending}", tmp_path / "out"
    lines = [json.dumps(error(number) | {"x": os.urandom(99).hex()}) for number in range(3_000)]
    packed(source, "\n".join(lines).encode())
    source.write_bytes(source.read_bytes()[:-9])
    done = cli("diagnose", "--jsonl", source, "--out", out)
    assert done.exit_code == 2
    assert f"{source}: cannot be read to its end" in done.stderr
    assert 0 < len(out.read_bytes().splitlines()) <= 3_000


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_what_is_not_packed_as_its_name_says_is_refused(tmp_path, ending):
    source = tmp_path / f"in{ending}"
    source.write_text('{"message": "x"}\n')
    done = cli("diagnose", "--jsonl", source, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert f"{source}: cannot be unpacked" in done.stderr


def test_a_packed_file_without_its_ending_says_how_it_is_read(tmp_path):
    (tmp_path / "in").write_bytes(gzip.compress(b'{"message": "x"}\n'))
    done = cli("diagnose", "--jsonl", tmp_path / "in", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "packed; is read if its name ends in .gz" in done.stderr


def test_without_zstandard_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "in.zst").write_bytes(b"")
    done = cli("diagnose", "--jsonl", tmp_path / "in.zst", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "pip install 'selfcorrect[zst]'" in done.stderr


def test_a_line_without_an_end_takes_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 1_000)
    source, out = tmp_path / "in.gz", tmp_path / "out"
    good = json.dumps({"id": 2, "message": "x"})
    packed(source, f'{{"message": "{"x" * 5_000}"}}\n{good}\n{"y" * 1_001}'.encode())
    done = cli("diagnose", "--jsonl", source, "--out", out)
    assert done.exit_code == 1, done.output
    first, second, third = (json.loads(line) for line in out.read_text().splitlines())
    assert first["error"] == f"{source}:1: longer than 1,000 bytes"
    assert second["id"] == 2
    assert third["error"] == f"{source}:3: longer than 1,000 bytes"


@pytest.fixture
def whole(tmp_path):
    """A file of calls with empty and broken lines, and the answers to it in one go."""
    lines = [json.dumps(call(number)) for number in range(40)]
    lines[7:7] = ["", "   ", "{oops", "[1]"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    done = cli("repair", "--jsonl", tmp_path / "in.jsonl", "--out", tmp_path / "whole.jsonl")
    assert done.exit_code == 1
    return tmp_path / "in.jsonl", (tmp_path / "whole.jsonl").read_bytes()


@ENDINGS
@pytest.mark.parametrize("kept", [0, 0.2, 0.5, 0.999, 1])
def test_a_run_is_resumed_where_its_answers_end(whole, tmp_path, ending, kept):
    source, expected = whole
    out = tmp_path / f"out.jsonl{ending}"
    packed(out, expected)
    content = out.read_bytes()
    out.write_bytes(content[: int(len(content) * kept)])
    done = cli("repair", "--jsonl", source, "--out", out, "--resume")
    assert done.exit_code == 1, done.output
    assert unpacked(out) == expected
    assert not list(tmp_path.glob("*resuming*"))


def test_at_every_byte_of_the_file_it_is_resumed(whole, tmp_path):
    source, expected = whole
    short = "\n".join(source.read_text().splitlines()[:4])
    source.write_text(short)
    expected = b"".join(expected.splitlines(keepends=True)[:4])
    out = tmp_path / "out.jsonl"
    for size in range(0, len(expected), 7):
        out.write_bytes(expected[:size])
        assert cli("repair", "--jsonl", source, "--out", out, "--resume").exit_code == 0
        assert out.read_bytes() == expected


def test_resuming_repairs_no_line_twice_and_counts_all(whole, tmp_path, monkeypatch):
    source, expected = whole
    out = tmp_path / "out.jsonl"
    out.write_bytes(expected)
    monkeypatch.setattr("selfcorrect.batch.recorded_calls.mend", None)
    done = cli("repair", "--jsonl", source, "--out", out, "--resume")
    assert done.exit_code == 1  # two lines of those before are to be looked at
    assert out.read_bytes() == expected


@ENDINGS
def test_answers_to_another_file_are_not_resumed(whole, tmp_path, ending):
    source, expected = whole
    for wrong, why in (
        (expected.replace(b'"id": 3,', b'"id": 4,'), "out.*:4: is no answer to .*in.jsonl:4"),
        (expected + expected.splitlines(keepends=True)[0], "answers more lines than there are"),
        (b'{"id": 0}\nhello\n' + expected, "out.*:2: is no answer; this file cannot be resumed"),
    ):
        out = tmp_path / f"out.jsonl{ending}"
        packed(out, wrong)
        before = out.read_bytes()
        done = cli("repair", "--jsonl", source, "--out", out, "--resume")
        assert done.exit_code == 2
        assert re.search(why, done.stderr)
        assert out.read_bytes() == before


def test_standard_output_cannot_be_resumed(whole):
    done = cli("repair", "--jsonl", whole[0], "--out", "-", "--resume")
    assert done.exit_code == 2
    assert "name a file" in done.stderr


def test_a_killed_command_is_resumed(tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(call(number)) + "\n" for number in range(4_000)))
    command = [sys.executable, "-m", "selfcorrect", "repair", "--jsonl", source, "--out", out]
    process = subprocess.Popen([*command, "--resume"], cwd=ROOT)
    while process.poll() is None and (not out.exists() or out.stat().st_size < 100_000):
        pass
    process.kill()
    process.wait()
    before = len(out.read_bytes().splitlines())
    assert 0 < before < 4_000
    done = subprocess.run([*command, "--resume"], cwd=ROOT, check=False)
    assert done.returncode == 0
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    assert [answer["id"] for answer in answers] == list(range(4_000))
    assert {answer["outcome"] for answer in answers} == {"repaired"}


@pytest.fixture
def at_work(tmp_path):
    """A command at work with two workers, and these."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(call(number)) + "\n" for number in range(4_000)))
    command = [sys.executable, "-m", "selfcorrect", "repair", "--jsonl", source, "--out", out]
    with (tmp_path / "told").open("w") as told:
        process = subprocess.Popen([*command, "--processes", "2"], cwd=ROOT, stderr=told)
    one = psutil.Process(process.pid)
    while not out.exists() or not out.stat().st_size:
        time.sleep(0.01)
    yield process, [each for each in one.children() if "spawn_main" in " ".join(each.cmdline())]
    process.kill()
    process.wait()


def test_no_worker_outlives_the_command(at_work):
    process, workers = at_work
    assert len(workers) == 2
    process.kill()
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]


def test_a_worker_that_is_killed_is_told_and_no_line_is_lost(at_work, tmp_path):
    process, workers = at_work
    workers[0].kill()
    assert process.wait(60) == 0
    *lost, summary = (tmp_path / "told").read_text().splitlines()
    assert lost
    for line in lost:
        assert re.fullmatch(
            r"warning: a worker was killed with \S+in\.jsonl:\d+ to \S+in\.jsonl:\d+ in hand; "
            "answered here instead",
            line,
        )
    assert summary.startswith("4,000 lines: 4,000 repaired; ")
    answers = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [answer["id"] for answer in answers] == list(range(4_000))


def test_a_killed_worker_of_a_program_is_told_in_its_log(caplog):
    """The lines that were in its hands, and their answers all the same."""
    given = [call(number) for number in range(3_500)]
    answers = batch.repair(given, processes=2)
    found = [next(answers)]
    for worker in psutil.Process().children():
        if "spawn_main" in " ".join(worker.cmdline()):
            worker.kill()
    found += answers
    assert [answer["id"] for answer in found] == list(range(3_500))
    told = [each.getMessage() for each in caplog.records if "worker_lost" in each.getMessage()]
    assert told
    assert re.fullmatch(r'selfcorrect.worker_lost lines="line:\d+ to line:\d+"', told[0])


@pytest.mark.parametrize("count", [1, 2])
def test_piped_commands_end_with_one_line_and_the_first_that_is_wrong(tmp_path, count):
    """Blank lines are counted, and the place of a wrong line is that in the file."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(f"{json.dumps(error(1))}\n\n{{oops\n  \n{json.dumps(error(5))}\n[]\n")
    options = ("--jsonl", source, "--out", out, "--processes", count)
    done = cli("diagnose", *options)
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    kind = json.loads(out.read_text().splitlines()[0])["kind"]
    for part in (f"2 {kind}", "2 unusable", "2 blank"):
        assert part in done.stderr
    assert done.stderr.startswith("6 lines: ")
    assert f"; look at {source}:3: not JSON" in done.stderr


def on_a_terminal(*args):
    """What a command writes to a terminal of its own as stderr, and to a pipe as stdout."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "selfcorrect", *map(str, args)]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=theirs, env=env)
    os.close(theirs)
    shown = []
    try:
        while part := os.read(ours, 4096):
            shown.append(part.decode())
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    return process.communicate()[0].decode(), "".join(shown).replace("\r", "")


def test_a_person_sees_a_bar_and_what_the_lines_came_to(whole, tmp_path):
    out, shown = on_a_terminal("repair", "--jsonl", whole[0], "--out", tmp_path / "out.jsonl")
    assert out == ""
    assert "%" in shown
    assert "44 lines: 40 repaired, 2 failed, 2 blank; " in shown
    assert "exit code 1: somebody has to look at 2 lines: failed" in shown
    _, shown = on_a_terminal(
        "repair", "--jsonl", whole[0], "--out", tmp_path / "out.jsonl", "--resume"
    )
    assert "44 lines, 42 of them before: 40 repaired, 2 failed, 2 blank; " in shown


TRAIL = {
    "title": "tea",
    "input": {"call": {"name": "order", "args": {"item": "tea"}}},
    "trail": [],
    "result": 1,
}
LEARNED = {"task_id": "t", "tool": "order", "arguments": {}, "error": None}
LOOKED_ON = {
    "replay": (TRAIL, "51 runs in", "exit code 1: 1 line held no run, as the page says"),
    "learn": (
        LEARNED,
        "50 calls, 0 failed, 0 overcome; 0 entries in",
        "exit code 1: 1 line was left out; the map is of all others",
    ),
}


@pytest.mark.parametrize("command", LOOKED_ON)
def test_who_replays_or_learns_sees_the_same(command, tmp_path):
    line, summary, why = LOOKED_ON[command]
    source, out = tmp_path / "runs.jsonl", tmp_path / "out"
    source.write_text(f"{json.dumps(line)}\n" * 50 + "{oops\n")
    to = ["--html", out] if command == "replay" else ["-o", out]
    written, shown = on_a_terminal(command, source, *to)
    assert written == ""
    assert "%" in shown
    assert summary in shown
    assert why in shown
    quiet = cli(command, source, *to)
    assert quiet.exit_code == 1
    assert quiet.stdout == ""
    assert "%" not in quiet.stderr
    assert "exit code" not in quiet.stderr


@pytest.mark.parametrize(
    ("name", "outcome"), [("seasons", "valid"), ("drivers", "failed"), ("drvers", "failed")]
)
def test_two_tools_of_one_name_refuse_only_calls_that_may_mean_one_of_them(name, outcome):
    tools = [{"name": one, "parameters": {}} for one in ("drivers", "seasons", "drivers")]
    (answer,) = batch.repair([{"id": 1, "tools": tools, "call": {"name": name, "arguments": {}}}])
    assert answer["outcome"] == outcome
    assert outcome == "valid" or "two tools named 'drivers'" in answer["detail"]
