"""`selfcorrect run --record`, `selfcorrect replay` and `selfcorrect graph --format svg`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from selfcorrect.cli import app

CALLS = [
    {"call": {"name": "search_flights", "args": {"origin": "NYC", "destination": "LAX"}}},
    {
        "call": {
            "name": "book_flight",
            "args": {
                "origin": "LHR",
                "destination": "CDG",
                "departure_date": "Oct 26, 2024",
                "passengers": "2",
            },
        }
    },
]


def cli(*args: Any, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)


@pytest.fixture(scope="module")
def trails(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trails")
    inputs, out = folder / "in.jsonl", folder / "trails.jsonl"
    inputs.write_text("".join(json.dumps(call) + "\n" for call in CALLS), encoding="utf-8")
    done = cli("run", "--jsonl", inputs, "--record", out)
    assert done.exit_code == 1
    return out


def test_what_was_recorded_becomes_a_page(trails: Path, tmp_path: Path) -> None:
    page = tmp_path / "replay.html"
    done = cli("replay", trails, "--html", page)
    assert done.exit_code == 0
    assert "2 runs in" in done.stderr
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "default-src 'none';" in text
    assert "finished: ok" in text
    assert "needs_person" in text
    assert cli("replay", trails, "--html", "-").stdout == text


def test_a_line_that_is_no_run_does_not_stop_the_others(trails: Path) -> None:
    lines = trails.read_text(encoding="utf-8") + "{not json\n[1]\n\n"
    done = cli("replay", "-", "--html", "-", stdin=lines)
    assert done.exit_code == 1  # somebody has to look at them, as with `repair`
    assert "not JSON" in done.stdout
    assert "no recorded run" in done.stdout


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("nowhere.jsonl", "--html", "x.html"), "nowhere.jsonl: No such file"),
        (("-", "--html", "x.html"), "there is no run in it"),
        (("{trails}", "--html", "{trails}"), "cannot be read and written"),
        (("{trails}", "--html", "/nowhere/x.html"), "No such file"),
        (("{trails}", "--html", "-", "--strategies", "no-such-map"), "no-such-map"),
    ],
)
def test_wrong_use_exits_with_2(trails: Path, args: tuple[str, ...], why: str) -> None:
    done = cli("replay", *(arg.format(trails=trails) for arg in args), stdin="")
    assert done.exit_code == 2
    assert why in done.stderr


def test_a_graph_is_drawn_as_svg() -> None:
    done = cli("graph", "--format", "svg")
    assert done.exit_code == 0
    assert done.stdout.startswith("<svg ")
    assert done.stdout.endswith("</svg>\n")
    assert 'data-node="report_failure"' in done.stdout
