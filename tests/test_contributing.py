"""The recipes of CONTRIBUTING.md, followed in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("\n## Ten recipes\n")[2]
MOST = {
    "A new kind of date": 2,
    "A strategy": 3,
    "A provider's markup": 2,
    "A provider's thread": 2,
    'What an exception means for "was it done?"': 1,
    "A host": 2,
    "A rule": 1,
    "A command": 2,
    "A page": 1,
    "An option": 2,
}
"""The recipes, and how many files each may touch."""
EDIT = re.compile(
    r"^In (?:the new file )?`(?P<file>[^`]+)`"
    r"(?:, (?P<where>above|below|in place of) `(?P<line>[^\n]+)`)?:\n\n"
    r"(?P<fence>````?)\w+\n(?P<text>.*?)(?P=fence)\n",
    re.MULTILINE | re.DOTALL,
)
CHECK = re.compile(r"^```python\n(>>> .*?)^```", re.MULTILINE | re.DOTALL)


def recipes():
    parts = re.split(r"^### (.+)\n", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def edit(home, found):
    path = home / found["file"]
    if found["where"] is None:
        assert not path.exists()
        path.write_text(found["text"], "utf-8")
        return
    text, line = path.read_text("utf-8"), found["line"]
    assert f"\n{line}" in text, f"{path}: {line}"
    own = found["text"]
    new = {
        "above": f"\n{own}{line}",
        "below": f"\n{line}\n{own.rstrip()}",
        "in place of": f"\n{own.rstrip()}",
    }
    path.write_text(text.replace(f"\n{line}", new[found["where"]], 1), "utf-8")


def test_there_are_ten():
    assert list(recipes()) == list(MOST)


@pytest.mark.parametrize("title", MOST)
def test_a_recipe_does_what_it_says(title, tmp_path):
    recipe = recipes()[title]
    for name in ("selfcorrect", "docs"):
        ignored = shutil.ignore_patterns("__pycache__", "*.md")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    edits = list(EDIT.finditer(recipe))
    assert 0 < len({each["file"] for each in edits}) <= MOST[title]
    for each in edits:
        edit(tmp_path, each)
    (check,) = CHECK.findall(EDIT.sub("", recipe))
    (tmp_path / "check.md").write_text(check, "utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", "check.md"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "")
