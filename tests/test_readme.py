"""README.md and the docstrings are run; what else a reader relies on is checked here."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTEST = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]
DOCUMENTS = sorted(
    path for pattern in ("*.md", "graphs/*.md", "strategies/*.md") for path in ROOT.glob(pattern)
)


def test_the_readme_and_the_docstrings_are_part_of_the_tests():
    options = PYTEST["ini_options"]
    assert {"tests", "selfcorrect", "README.md"} <= set(options["testpaths"])
    assert {"--doctest-modules", "--doctest-glob=README.md"} <= set(options["addopts"])


def test_all_python_in_the_readme_is_run():
    blocks = [body for language, body in FENCES if language == "python"]
    assert blocks
    for body in blocks:
        assert doctest.DocTestParser().get_examples(body), body


@pytest.mark.parametrize(("language", "body"), FENCES)
def test_the_data_in_the_readme_can_be_read(language, body):
    if language == "toml":
        tomllib.loads(body)
    elif language == "json":
        json.loads(body)


def test_the_readme_gives_two_commands_and_ci_runs_these():
    commands = [
        line
        for language, body in FENCES
        if language == "sh"
        for line in body.splitlines()
        if line.startswith("pip install")
    ]
    assert len(commands) == 2
    assert "selfcorrect run" in commands[0]
    assert "pytest" in commands[1]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert '"${commands[0]}"' in script
    assert '"${commands[1]}"' in script
    assert "README.md" in script


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files(path):
    for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_every_public_name_says_what_it_is():
    package = importlib.import_module("selfcorrect")
    for name in package.__all__:
        value = getattr(package, name)
        if callable(value):
            assert value.__doc__, name


def test_the_output_in_the_readme_is_what_the_command_prints():
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from selfcorrect.cli import app

    shown = next(body for language, body in FENCES if language == "text")
    printed = CliRunner().invoke(app, ["run"], env={"COLUMNS": "400"}).output.splitlines()
    for line in shown.splitlines():
        assert line == "…" or line in printed


def test_the_readme_is_read_in_a_minute():
    assert len(README.splitlines()) <= 120


def test_the_tests_that_the_guarantees_name_exist():
    page = (ROOT / "docs" / "pages" / "guarantees.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?", page)
    assert len(named) > 10
    for file, name in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        assert f"def {name}" in source, f"{file}::{name}"
