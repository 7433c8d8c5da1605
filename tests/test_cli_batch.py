"""`repair` and `diagnose` over files, `explain`, `check` and `init`."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from selfcorrect.batch import processes as batch
from selfcorrect.batch.lines import Raw
from selfcorrect.batch.processes import Job
from selfcorrect.cli import app
from selfcorrect.mapping.files import map_names, starter_dir

ROOT = Path(__file__).parents[1]

TOOL = {
    "name": "order",
    "description": "Order something.",
    "parameters": {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "count": {"type": "integer", "minimum": 1},
            "size": {"type": "string", "enum": ["small", "large"]},
        },
        "required": ["item", "count"],
    },
}


def cli(*args, stdin=None):
    return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)


def answers(command, *given, exit_code=None):
    stdin = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in given)
    done = cli(command, "--jsonl", "-", "--out", "-", stdin=stdin)
    assert exit_code is None or done.exit_code == exit_code, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def mended(exit_code, **given):
    (answer,) = answers("repair", {"id": 7, "tools": [TOOL], **given}, exit_code=exit_code)
    assert answer["id"] == 7
    assert answer["model_calls"] == 0
    return answer


@pytest.mark.parametrize(
    "call",
    [
        {"name": "order", "arguments": {"item": "tea", "count": "2"}},
        {"name": "order", "arguments": '{"item": "tea", "count": "2"}'},
        {"tool": "order", "parameters": {"item": "tea", "count": "2"}},
    ],
)
def test_a_call_is_mended_and_every_change_is_told(call):
    answer = mended(0, call=call)
    assert answer["outcome"] == "repaired"
    assert answer["calls"] == [{"name": "order", "arguments": {"item": "tea", "count": 2}}]
    change = answer["changes"][-1]
    assert change["path"] == "/args/count"
    assert (change["before"], change["after"]) == ("2", 2)
    assert change["strategy"] == "convert-type"
    assert change["safety"] == "exact"
    assert change["rule"]


def test_a_valid_call_stays_as_it_is():
    call = {"name": "order", "arguments": {"item": "tea", "count": 2}}
    answer = mended(0, call=call)
    assert answer["outcome"] == "valid"
    assert answer["calls"] == [call]
    assert answer["changes"] == []


def test_a_text_without_a_call_holds_no_call():
    answer = mended(1, raw="I cannot do that.")
    assert answer["outcome"] == "failed"
    assert answer["reason"] == "no_call"
    assert answer["calls"] == []


def test_what_cannot_be_mended_is_reported_and_not_called_valid():
    answer = mended(1, call={"name": "fly", "arguments": {}})
    assert answer["outcome"] in ("failed", "ask")
    assert answer["calls"] == []


def test_a_call_that_its_tool_rejected_is_not_called_valid():
    call = {"name": "order", "arguments": {"item": "tea", "count": 2}}
    answer = mended(1, call=call, error="the shop is out of tea, for ever and ever")
    assert answer["outcome"] in ("failed", "ask")


def test_an_error_that_asks_to_wait_neither_waits_nor_goes_on_for_ever():
    call = {"name": "order", "arguments": {"item": "tea", "count": 2}}
    answer = mended(1, call=call, error="429 Too Many Requests, retry after 20 seconds")
    assert answer["outcome"] in ("failed", "ask")


BAD_LINES = {
    "no JSON": "{oops\n",
    "no object": "[1]\n",
    "no tools": {"id": 1, "call": {"name": "order", "arguments": {}}},
    "tools are no list": {"id": 1, "tools": {}, "call": {"name": "order"}},
    "a tool that is no object": {"id": 1, "tools": ["order"], "call": {"name": "order"}},
    "a tool without a name": {"id": 1, "tools": [{}], "call": {"name": "order"}},
    "an effect that is none": {"id": 1, "tools": [{**TOOL, "effect": "?"}], "raw": "x"},
    "two tools of one name": {"id": 1, "tools": [TOOL, TOOL], "raw": "x"},
    "neither raw nor call": {"id": 1, "tools": [TOOL], "raw": None, "call": None},
    "raw and call": {"id": 1, "tools": [TOOL], "raw": "x", "call": {"name": "order"}},
    "raw is no text": {"id": 1, "tools": [TOOL], "raw": 5},
    "call is no object": {"id": 1, "tools": [TOOL], "call": "order"},
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES)
def test_each_line_has_one_answer_in_order_and_a_bad_one_stops_no_other(bad):
    good = {"id": "good", "tools": [TOOL], "call": {"name": "order", "args": {"item": "tea"}}}
    good["call"]["args"]["count"] = 1
    first, second = answers("repair", bad, good, exit_code=1)
    assert first["outcome"] == "failed"
    assert first["reason"] == "invalid_input"
    assert first["detail"]
    assert second["id"] == "good"
    assert second["outcome"] == "valid"


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "order", "parameters": {"type": "objec"}},
        {"name": "order", "parameter_definitions": {"item": {"type": "str"}}},
        {"name": "order", "effect": "?"},
        {"description": "no name"},
        "order",
    ],
)
def test_a_tool_that_cannot_be_used_is_told_with_its_line(tool):
    good = {"tools": [TOOL], "raw": "x"}
    answer = answers("repair", good, {"tools": [tool], "raw": "x"}, exit_code=1)[1]
    assert answer["detail"].startswith("<stdin>:2: tools: ")


@pytest.mark.parametrize("command", ["repair", "diagnose"])
@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(b'{"id": 1}\n', mtime=0),
        bz2.compress(b'{"id": 1}\n'),
        lzma.compress(b'{"id": 1}\n'),
        '{"id": 1}\n'.encode("utf-16"),
        '{"id": 1}\n'.encode("utf-16-le"),
        b"\x7fELF\x02\x01\x01\0\0\0",
        b"\x89PNG\r\n\x1a\n",
        b"SQLite format 3\0",
    ],
)
def test_a_file_that_is_no_text_is_unreadable_input(command, content, tmp_path):
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_bytes(content)
    out.write_text("kept", encoding="utf-8")
    done = cli(command, "--jsonl", path, "--out", out)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"{path}: ")
    assert out.read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize(
    "head", [b"", b"\n\n", b"\xef\xbb\xbf", b'{"a": "\xff\x00"}\n', b"\t \r\n"]
)
def test_a_file_that_begins_badly_is_text_all_the_same(head, tmp_path):
    path, out = tmp_path / "in", tmp_path / "out"
    good = {"id": "good", "tools": [TOOL], "call": {"name": "order", "args": {}}}
    path.write_bytes(head + json.dumps(good).encode())
    assert cli("repair", "--jsonl", path, "--out", out).exit_code == 1
    assert json.loads(out.read_text(encoding="utf-8").splitlines()[-1])["id"] == "good"


def test_a_list_over_many_lines_is_told_what_is_wanted(tmp_path):
    path = tmp_path / "calls.json"
    path.write_text(json.dumps([{"id": 1, "message": "slow down"}], indent=1), encoding="utf-8")
    done = cli("diagnose", "--jsonl", path, "--out", "-")
    assert done.exit_code == 1
    first, *others = [json.loads(line)["error"] for line in done.stdout.splitlines()]
    assert first.endswith("; one object in each line is wanted, as `jq -c '.[]'` writes a list")
    assert not any("jq" in other for other in others)


def test_whoever_stops_it_is_told_how_it_goes_on(tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("selfcorrect.cli.batch.answers", stopped)
    (tmp_path / "in.jsonl").write_text("{}\n")
    given = ("--jsonl", tmp_path / "in.jsonl", "--out")
    done = cli("repair", *given, tmp_path / "out.jsonl")
    assert done.exit_code == 130
    told = "".join(done.stderr.split())
    assert told == "".join(f"stopped; --resume goes on where {tmp_path / 'out.jsonl'} ends".split())
    assert cli("repair", *given, "-").stderr == ""


def test_a_line_holds_a_message_or_a_list_of_calls_too():
    call = {"name": "order", "arguments": {"item": "tea", "count": 2}}
    assert mended(0, call=[call, call])["calls"] == [call, call]
    message = {"role": "assistant", "content": None, "tool_calls": [{"function": call}]}
    assert mended(0, call=message)["calls"] == [call]


def test_a_cut_is_told_with_its_place():
    answer = mended(1, raw='{"name": "order", "arguments": {"item": "te')
    assert "cut off inside a string (line 1, column 41)" in answer["detail"]


def test_null_means_absent():
    call = {"name": "order", "arguments": {"item": "tea", "count": 1}}
    absent = dict.fromkeys(("request", "finish_reason", "raw", "error"))
    assert mended(0, call=call, **absent)["outcome"] == "valid"


def test_repair_writes_a_file_and_takes_a_map(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    call = {"name": "order", "arguments": {"item": "tea", "count": "five"}}
    source.write_text(json.dumps({"id": 1, "tools": [TOOL], "call": call}))
    done = cli("repair", "--jsonl", source, "--out", target, "--no-model")
    assert done.exit_code == 0, done.output
    assert json.loads(target.read_text())["outcome"] == "repaired"
    done = cli("repair", "--jsonl", source, "--out", target, "--strategies", "strict")
    assert done.exit_code == 1
    assert json.loads(target.read_text())["outcome"] != "repaired"
    done = cli("repair", "--jsonl", source, "--out", target, "--strategies", "strickt")
    assert done.exit_code == 2
    assert "strict" in done.stderr


@pytest.mark.parametrize("command", ["repair", "diagnose"])
def test_the_input_is_never_overwritten(tmp_path, command):
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1}\n')
    done = cli(command, "--jsonl", source, "--out", tmp_path / "." / "in.jsonl")
    assert done.exit_code == 2
    assert "cannot be read and written at the same time" in done.stderr
    assert source.read_text() == '{"id": 1}\n'
    done = cli(command, "--jsonl", tmp_path / "missing.jsonl", "--out", source)
    assert done.exit_code == 2
    assert source.read_text() == '{"id": 1}\n'


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"message": "boom", "status": 503}, {"kind": "transient", "retryable": True}),
        ({"message": "slow down", "status": 429}, {"kind": "rate_limit", "retryable": True}),
        ({"message": "no", "status": "401", "exception": None}, {"kind": "auth"}),
        (
            {"message": "'count' is a required property", "schema": TOOL["parameters"]},
            {"kind": "validation", "category": "missing_param", "retryable": False},
        ),
    ],
)
def test_an_error_is_diagnosed(given, expected):
    (answer,) = answers("diagnose", {"id": "e1", **given}, exit_code=0)
    assert answer["id"] == "e1"
    assert answer.items() >= expected.items()
    keys = {"id", "kind", "category", "params", "constraint", "retryable", "retry_after_s"}
    assert answer.keys() == keys | {"rule", "ladder", "confidence", "witness"}


@pytest.mark.parametrize(
    "bad",
    ["{oops\n", "3\n", {"id": 1}, {"message": "x", "status": True}, {"message": "x", "schema": 3}],
)
def test_a_bad_line_of_errors_is_answered_and_stops_no_other(bad):
    first, second = answers("diagnose", bad, {"id": 2, "message": "x"}, exit_code=1)
    assert "<stdin>:1" in first["error"]
    assert second["kind"]


def test_explain_shows_evidence_decision_and_the_rules_before_it(tmp_path):
    rule = 'match = "(?i)out of (?P<got>tea)"\nkind = "conflict"\nrepair = "give-up"\n'
    (tmp_path / "m.toml").write_text(
        'format = 1\nextends = ["default"]\n'
        f'[[rule]]\nid = "other"\ntool = "fly"\n{rule}[[rule]]\nid = "tea"\n{rule}'
    )
    given = ("explain", tmp_path / "m.toml", "we are Out of tea\x1b[2J", "--tool", "order")
    done = cli(*given, "--all")
    assert done.exit_code == 0, done.output
    assert "rule      m/tea" in done.stdout
    assert "kind      conflict" in done.stdout
    assert 'captures  {"got": "tea"}' in done.stdout
    assert "not       m/other  tool" in done.stdout
    assert "\x1b" not in done.stdout
    brief = cli(*given).stdout
    assert len(brief.splitlines()) <= 15
    assert "m.toml:10" in brief
    assert "we are ⟦Out of tea⟧" in brief
    assert 'pattern   "(?i)out of (?P<got>tea)"' in brief
    assert "not  " not in brief
    assert "before it do not: --all" in brief


@pytest.mark.parametrize(
    ("given", "told"),
    [(("", "--status", "429"), "TEXT is empty"), (("no", "--status", "banana"), "--status banana")],
)
def test_explain_refuses_what_is_no_error(given, told):
    done = cli("explain", "default", *given)
    assert done.exit_code == 2
    assert told in done.stderr


def test_explain_is_one_screen_with_the_wait():
    done = cli(
        "explain", "default", "429 Too Many Requests, retry in 30 seconds", "--status", "429"
    )
    assert len(done.stdout.splitlines()) <= 15
    assert "wait      30 s" in done.stdout


def test_explain_refuses_a_map_that_is_none():
    done = cli("explain", "nowhere", "text")
    assert done.exit_code == 2
    assert "nowhere" in done.stderr


@pytest.mark.parametrize("name", map_names())
def test_check_finds_nothing_wrong_with_the_maps_that_are_shipped(name):
    done = cli("check", name)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[-1] == f"ok: {name}"
    assert [line for line in lines[:-1] if not line.startswith("unchecked: ")] == []


def test_check_shows_with_all_what_a_map_overrules_as_it_is_meant():
    quiet, whole = cli("check", "rest_api").stdout, cli("check", "rest_api", "--all").stdout
    assert "told/conflict-exists" not in quiet
    assert "it decides examples of told/conflict-exists" in whole
    assert whole.splitlines()[-1] == "ok: rest_api"


def test_check_tells_every_fault_of_every_map(tmp_path):
    (tmp_path / "bad.toml").write_text(
        'format = 1\n[[rule]]\nid = "a"\nreapir = "clamp"\n'
        '[[rule]]\nid = "b"\nkind = "auth"\nmatch = "("\n'
    )
    done = cli("check", tmp_path / "bad.toml", "default", "nowhere")
    assert done.exit_code == 2
    text = done.stdout
    assert "rule 'a': key 'reapir'" in text
    assert "rule 'b': key 'match'" in text
    assert "ok: default" in text or "warning: " in text
    assert "there is no map named 'nowhere'" in text


@pytest.mark.parametrize("given", [(), ("--examples",)])
def test_init_lays_out_a_deployment_whose_test_passes(tmp_path, given):
    done = cli("init", tmp_path / "mine", *given)
    assert done.exit_code == 0, done.output
    files = {
        path.relative_to(tmp_path / "mine").as_posix()
        for path in (tmp_path / "mine").rglob("*")
        if path.is_file()
    }
    assert files >= {"langgraph.json", "requirements.txt", "tests/test_graphs.py"}
    assert len(files) == 5 or given
    for name in (
        ()
        if not given
        else ("langgraph.json", "graphs/flight_booking.py", "strategies/travel.toml")
    ):
        ours = (starter_dir() / name).read_bytes()
        assert (tmp_path / "mine" / name).read_bytes() == ours
    assert not list((tmp_path / "mine").rglob("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path / "mine",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_init_overwrites_nothing(tmp_path):
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "flight_booking.py").write_text("mine")
    done = cli("init", tmp_path, "--examples")
    assert done.exit_code == 2
    assert "flight_booking.py; nothing was written" in done.stderr
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["flight_booking.py"]
    assert (tmp_path / "graphs" / "flight_booking.py").read_text() == "mine"


def test_init_says_why_it_cannot_write(tmp_path):
    (tmp_path / "file").write_text("")
    done = cli("init", tmp_path / "file" / "below")
    assert done.exit_code == 2
    assert done.stderr.strip()


def many(count):
    """Lines of every kind: healthy, broken, unreadable."""
    healthy = {"name": "order", "arguments": {"item": "tea", "count": 1}}
    kinds = [
        lambda n: {"id": n, "tools": [TOOL], "call": healthy},
        lambda n: {"id": n, "tools": [TOOL], "raw": f"<tool_call>{healthy}</tool_call>"},
        lambda n: {"id": n, "tools": [TOOL], "raw": "I cannot"},
        lambda n: "{oops",
    ]
    lines = (kinds[n % 4](n) for n in range(count))
    return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)


def test_several_processes_answer_like_one_and_in_order(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text(many(1_300))
    outs = []
    for count in (1, 2):
        target = tmp_path / f"out{count}.jsonl"
        done = cli("repair", "--jsonl", source, "--out", target, "--processes", count)
        assert done.exit_code == 1, done.output
        outs.append(target.read_bytes())
    assert outs[0] == outs[1]
    answered = [json.loads(line) for line in outs[0].splitlines()]
    assert [answer["id"] for answer in answered[:3]] == [0, 1, 2]
    assert [answer["outcome"] for answer in answered[-4:]] == [
        "valid", "repaired", "failed", "failed",
    ]  # fmt: skip
    assert answered[-1]["detail"].startswith(f"{source}:1300: not JSON")


def test_only_a_big_file_is_worth_several_processes(tmp_path):
    small = tmp_path / "small.jsonl"
    small.write_text("{}\n")
    assert batch.processes(str(small), None) == batch.processes("-", None) == 1
    assert batch.processes(str(tmp_path), None) == 1
    assert batch.processes(str(small), 3) == 3
    with small.open("wb") as stream:
        stream.truncate(batch.BIG)
    assert batch.processes(str(small), None) >= 1


def test_chunks_are_bounded_by_lines_and_by_bytes():
    raw = [Raw("f", n, b"x" * 100) for n in range(1, 1_202)]
    sizes = [len(chunk) for chunk in batch.chunks(raw)]
    assert sizes == [500, 500, 201]
    big = [Raw("f", n, b"x" * 400_000) for n in range(1, 6)]
    assert [len(chunk) for chunk in batch.chunks(big)] == [2, 2, 1]
    assert list(batch.chunks([])) == []


def dies_in_a_worker(line, parent):
    """Answers in the process that started it, and takes every other one down."""
    if os.getpid() != parent:
        os._exit(1)
    return {"id": line.where, "outcome": "valid"}


def test_lines_of_a_worker_that_died_still_get_their_answers():
    raw = [Raw("f", n, b"{}") for n in range(1, 5_002)]
    job = Job(dies_in_a_worker, str)
    answered = list(batch.answers(raw, job, os.getpid(), 2))
    ids = [answer["id"] for part in answered for answer in part.items]
    assert ids == [f"f:{n}" for n in range(1, 5_002)]
    assert sum(part.outcomes.total() for part in answered) == 5_001


def test_the_help_of_diagnose_names_every_key_that_is_written():
    from selfcorrect.cli import diagnose

    fine, bad = answers("diagnose", '{"id": 1, "message": "x"}\n', {"id": 2}, exit_code=1)
    assert {*fine, *bad} == set(diagnose.ANSWERED)
