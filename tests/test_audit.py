"""`selfcorrect audit`: the logs of others, and what would have become of their calls."""

import json

import pytest
from kit import main

SCHEMA = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}
TOOL = {"name": "find", "description": "Find.", "parameters": SCHEMA}
BAD, GOOD = {"day": "Oct 26, 2026"}, {"day": "2026-10-26"}
OWN = {"tool": "find", "arguments": GOOD, "error": None, "schema": SCHEMA, "task_id": "7"}


def chat(args, text):
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": args}}
    answer = {"role": "tool", "tool_call_id": "1", "content": text}
    return [{"role": "assistant", "tool_calls": [call]}, answer]


def turn(args, **more):
    use = {"type": "tool_use", "id": "1", "name": "find", "input": args}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "no such day", **more}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


LOGS = {
    "ours": [{**OWN, "arguments": BAD, "error": "no such day"}, OWN],
    "OpenAI": [
        {"messages": chat(json.dumps(BAD), "Error: no such day") + chat(json.dumps(GOOD), "1")},
    ],
    "Anthropic": [{"messages": turn(BAD, is_error=True) + turn(GOOD)}],
}


@pytest.mark.parametrize("log", LOGS)
def test_a_log_is_read_as_it_is(log, tmp_path, capsys):
    (tmp_path / "log.jsonl").write_text(
        "\n".join(json.dumps(line) for line in [{"messages": [], "tools": [TOOL]}, *LOGS[log]])
    )
    code = main(["audit", str(tmp_path / "log.jsonl"), "--html", str(tmp_path / "a.html")])
    lines = [line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert (code, lines[:4]) == (
        0,
        [
            ["calls", "2"],
            ["failed", "1"],
            ["mended without a model", "1"],
            ["mended as the run itself did later", "1"],
        ],
    )
    assert "format-date" in (tmp_path / "a.html").read_text()


def test_an_odd_line_is_named_and_ends_nothing(tmp_path, capsys):
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"messages": 5}}\n{json.dumps(OWN)}\n')
    assert main(["audit", str(path)]) == 1
    out, err = capsys.readouterr()
    assert [line.split()[-1] for line in out.splitlines()[:2]] == ["1", "0"]
    assert "log.jsonl:1" in err
