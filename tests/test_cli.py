import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kit import main, table

from selfcorrect.testing import play

SEARCH = {
    "name": "search_flights",
    "args": {"origin": "NYC", "destination": "LAX", "departure_date": "Mar 1, 2024"},
}
HOTEL = {"name": "find_hotel", "args": {"city": "New York"}}
LONDON = {
    "name": "search_flights",
    "args": {"origin": "London", "destination": "CDG", "departure_date": "2024-03-04"},
}
NO_ROOM = "\x1b[2Jno room\x07"
OWN_GRAPH = """
from selfcorrect import ToolSpec, build_graph

def find_hotel(city: str) -> str:
    "Find a hotel."
    raise LookupError({text!r})

def make_graph(**options):
    return build_graph([ToolSpec.from_function(find_hotel, effect="read_only")], **options)
"""


def test_the_demonstration_ends_as_it_says(capsys):
    assert main(["run"]) == 0
    out = capsys.readouterr().out
    assert '  departure_date  "Oct 26, 2024" → "2024-10-26"  format-date, inferred\n' in out
    assert "class → cabin" in out
    assert "expected" not in out


@pytest.mark.parametrize(
    ("call", "code", "end"),
    [(SEARCH, 0, "result"), ({"call": SEARCH}, 0, "result"), (HOTEL, 1, "failure")],
)
def test_one_call(call, code, end, capsys):
    assert main(["run", "--call", json.dumps(call)]) == code
    assert f"\n  {end} " in capsys.readouterr().out


def test_a_question_without_anyone_is_reported(capsys):
    assert main(["run", "--json", "--call", json.dumps(LONDON)]) == 1
    assert json.loads(capsys.readouterr().out)["failure"]["reason"] == "needs_person"


def test_a_person_answers_on_stdin(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
    assert main(["run", "--interactive", "--call", json.dumps(LONDON)]) == 0
    assert '"London" → "LHR"' in capsys.readouterr().out


def test_a_call_that_escalates_on_the_way_of_an_agent_is_shown(capsys):
    assert main(["run", "json_analyst"]) == 0
    out = capsys.readouterr().out
    assert "  escalated: The keys are not quoted." in out
    assert '  result  "3"' in out


def test_nobody_answers_at_the_end_of_stdin(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["run", "--interactive", "--call", json.dumps(LONDON)]) == 1
    assert "  question  Which airport" in capsys.readouterr().out


def test_json_lines_from_a_file_and_from_stdin(tmp_path, capsys, monkeypatch):
    lines = "\n".join(json.dumps(call) for call in (SEARCH, HOTEL)) + "\n\n"
    (tmp_path / "calls.jsonl").write_text(lines, "utf-8")
    assert main(["run", "--json", "--jsonl", str(tmp_path / "calls.jsonl")]) == 1
    from_file = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    assert main(["run", "flight_booking", "--json", "--jsonl", "-"]) == 1
    from_stdin = capsys.readouterr().out
    for out in (from_file, from_stdin):
        first, second = map(json.loads, out.splitlines())
        assert "result" in first
        assert "failure" in second


@pytest.mark.parametrize("line", ["{", "[1]", "3", "\ud800", "[" * 100_000])
def test_an_unreadable_line_is_named_and_ends_nothing(line, tmp_path, capsys):
    path = tmp_path / "calls.jsonl"
    lines = (json.dumps(HOTEL), line, json.dumps(SEARCH))
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    assert main(["run", "--json", "--jsonl", str(path)]) == 2
    out, error = capsys.readouterr()
    assert [*map(bool, map(json.loads(out.splitlines()[-1]).get, ("result", "failure")))] == [
        True,
        False,
    ]
    assert error.startswith(f"{path}:2: ")
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    table("usage.txt", "wrong"),
)
def test_bad_usage_is_explained(arguments, text, capsys):
    assert main(arguments) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "text"),
    [("1 / 0", "cannot be imported: ZeroDivisionError"), ("x = 1", "must define make_graph")],
)
def test_an_unusable_graph_file_is_explained(source, text, tmp_path, capsys):
    path = tmp_path / "own.py"
    path.write_text(source, "utf-8")
    assert main(["run", str(path), "--call", json.dumps(HOTEL)]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert str(path) in error


def test_text_of_a_tool_cannot_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "own.py"
    path.write_text(OWN_GRAPH.format(text=NO_ROOM), "utf-8")
    assert main(["run", str(path), "--call", json.dumps(HOTEL)]) == 1
    assert main(["run", str(path), "--json", "--call", json.dumps(HOTEL)]) == 1
    out = capsys.readouterr().out
    assert "no room" in out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_explain_names_the_rule(capsys):
    arguments = ["--exception", "LookupError", "--tool", "book_flight"]
    assert main(["explain", "travel", "route unavailable", *arguments]) == 0
    assert "travel/route-not-flown" in capsys.readouterr().out


def test_check_finds_mistakes(tmp_path, capsys):
    assert main(["check", "default", "travel"]) == 0
    assert capsys.readouterr().out == "ok\n"
    path = tmp_path / "own.toml"
    path.write_text('format = 1\n[[rule]]\nid = "a"\nrepare = ["wait"]\n', "utf-8")
    assert main(["check", "default", str(path)]) == 1
    assert "repare" in capsys.readouterr().out


def test_graph_is_drawn(capsys):
    assert main(["graph"]) == 0
    assert "select_strategy" in capsys.readouterr().out
    assert main(["graph", "flight_booking", "--format", "ascii"]) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert table[0] == ["node", "outcome", "target"]
    assert ["execute", "failed", "diagnose"] in table


def test_maps_and_strategies_are_listed(capsys):
    assert main(["maps"]) == 0
    maps = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"default", "strict", "travel"} <= set(maps)
    assert main(["strategies"]) == 0
    needs = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert (needs["format-date"], needs["ask-model"], needs["ask-human"]) == (
        "nothing",
        "model",
        "person",
    )


def test_init_copies_the_starter_once(tmp_path, capsys):
    folder = tmp_path / "agency"
    assert main(["init", str(folder)]) == 0
    assert main(["run", str(folder / "graphs" / "flight_booking.py")]) == 0
    assert json.loads((folder / "langgraph.json").read_text())["dependencies"] == ["selfcorrect"]
    assert main(["init", str(folder)]) == 2
    assert "exists; choose another folder" in capsys.readouterr().err


def test_the_map_of_the_readme_works(tmp_path, capsys):
    def book_amount(cost_centre: str) -> str:
        """Book an amount."""
        if not cost_centre.startswith("CC-"):
            raise ValueError(f"unknown cost centre {cost_centre!r}")
        return cost_centre

    text = (Path(__file__).parent.parent / "strategies" / "README.md").read_text("utf-8")
    blocks = dict(re.findall(r"```(python|toml)\n(.*?)```", text, re.DOTALL))
    (tmp_path / "ledger_repairs.py").write_text(blocks["python"], "utf-8")
    path = tmp_path / "ledger.toml"
    path.write_text(blocks["toml"], "utf-8")
    assert main(["check", str(path)]) == 0, capsys.readouterr().out
    call = {"name": "book_amount", "args": {"cost_centre": "cc 42"}}
    assert play([book_amount], {"call": call}, strategies=path)["result"] == "CC-0042"


def command(*arguments, **options):
    paths = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [sys.executable, "-m", "selfcorrect", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        check=False,
        **options,
    )


def test_python_dash_m(tmp_path):
    done = command("run", "--jsonl", "-", input=json.dumps(SEARCH), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "format-date" in done.stdout
    assert command("--version").stdout.startswith("selfcorrect ")


def test_logs_go_to_stderr_and_errors_have_no_traceback(tmp_path):
    done = command("run", "--strategies", "./nothing.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "nothing.toml" in done.stderr
