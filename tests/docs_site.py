"""The documentation as it is built, for every test that looks at it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as they are built, from a copy: what is built lies beside them."""
    pytest.importorskip("zensical", reason="needs the extra dev: zensical, mkdocstrings")
    root = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "docs", root / "docs", ignore=shutil.ignore_patterns("site", ".cache"))
    for name in ("selfcorrect", "CHANGELOG.md", "SECURITY.md"):
        (root / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    command += ["--config-file", "docs/mkdocs.yml"]
    done = subprocess.run(command, check=False, cwd=root, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout + done.stderr
    return root / "docs" / "site"
