"""The tutorial in strategies/README.md is followed to the letter: files, commands, and output."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "strategies" / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRAMS = {"python": [sys.executable], "selfcorrect": [sys.executable, "-m", "selfcorrect"]}


def written(folder: Path, body: str) -> Path:
    """The file of a block, whose first line is a comment with the file's name."""
    name = re.match(r"# ([\w.]+)\n", body)
    assert name, f"a block does not say which file it is: {body[:60]!r}"
    path = folder / name[1]
    path.write_text(body, encoding="utf-8")
    return path


def printed(folder: Path, command: str) -> str:
    """What one command prints, run as a reader would run it."""
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [*PROGRAMS[program], *arguments],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "200",
        },
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_tutorial_works_as_it_is_written(tmp_path):
    shown = None
    languages = []
    for language, body in FENCES:
        languages.append(language)
        if language in ("python", "toml"):
            assert shown is None, "the output of a command is not shown"
            written(tmp_path, body)
        elif language == "sh":
            assert shown is None, "the output of a command is not shown"
            (command,) = body.splitlines()
            shown = printed(tmp_path, command)
        else:
            assert language == "text"
            assert shown is not None, "an output is shown that no command made"
            assert doctest.OutputChecker().check_output(body, shown, LENIENT), (
                f"shown:\n{body}\nprinted:\n{shown}"
            )
            shown = None
    assert shown is None, "the output of a command is not shown"
    assert {"python", "toml", "sh", "text"} == set(languages)


def test_the_tutorial_uses_what_it_teaches():
    commands = [body for language, body in FENCES if language == "sh"]
    assert any("selfcorrect check ./my.toml" in command for command in commands)
    assert any("selfcorrect explain ./my.toml" in command for command in commands)
    assert "check_strategy(cost_centre)" in README
    assert 'build_graph([book], strategies="./my.toml")' in README


@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "strategies").glob("*.toml")))
def test_every_map_in_the_folder_is_in_the_table(name):
    assert f"| `{name}` |" in README


def test_the_slip_that_the_tutorial_speaks_of_is_named(tmp_path):
    """`digts` for `digits`: the file, the rule, the key, and what was probably meant."""
    for language, body in FENCES:
        if language in ("python", "toml"):
            path = written(tmp_path, body)
            path.write_text(body.replace("{ digits", "{ digts"), encoding="utf-8")
    with pytest.raises(AssertionError) as failed:
        printed(tmp_path, "selfcorrect check ./my.toml")
    message = str(failed.value)
    for words in ("my.toml", "'cost-centre'", "options.cost-centre.digts", "'digits'"):
        assert words in message
