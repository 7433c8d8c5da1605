"""What is built: a wheel with one top-level name, the starter in it, and a complete sdist."""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHIPPED = ("graphs", "strategies")
LEFT_OUT = {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".git"}


def files(folder: Path) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not LEFT_OUT & set(path.parts)
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and sdist, built without isolation, hence without a network."""
    out = tmp_path_factory.mktemp("dist")
    stale = ROOT / "graphs" / "__pycache__" / "stale.cpython-311.pyc"
    stale.parent.mkdir(exist_ok=True)
    stale.write_bytes(b"")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    try:
        done = subprocess.run(
            [*command, "--wheel", "--sdist"], capture_output=True, text=True, check=False
        )
    finally:
        stale.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def sdist(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        yield {name.partition("/")[2] for name in archive.getnames()}


def test_the_wheel_has_one_top_level_name(wheel):
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"selfcorrect"}


def test_the_wheel_holds_the_whole_package(wheel):
    assert files(ROOT / "selfcorrect") <= set(wheel.namelist())
    assert "selfcorrect/py.typed" in wheel.namelist()


def test_the_starter_is_complete(wheel):
    expected = {"langgraph.json"}.union(*(files(ROOT / folder) for folder in SHIPPED))
    prefix = "selfcorrect/_starter/"
    found = {n.removeprefix(prefix) for n in wheel.namelist() if n.startswith(prefix)}
    assert found == expected


def test_nothing_stale_is_shipped(wheel, sdist):
    for name in (*wheel.namelist(), *sdist):
        assert "__pycache__" not in name
        assert not name.endswith((".pyc", ".sqlite"))
        assert not name.endswith(".db") or name.startswith("tests/data/")


def test_the_sdist_is_complete(sdist):
    for folder in ("selfcorrect", "tests", *SHIPPED):
        assert files(ROOT / folder) <= sdist
    assert sdist >= {
        *("pyproject.toml", "README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "CONTRIBUTING.md"),
        *("langgraph.json", ".ci/run", ".gitignore"),
    }


def test_the_metadata_says_what_pip_needs(wheel):
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = message_from_string(wheel.read(name).decode())
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "selfcorrect = selfcorrect.__main__:main" in wheel.read(entry).decode()


def test_all_is_every_extra_a_user_may_need():
    extras = set(PROJECT["optional-dependencies"])
    (everything,) = PROJECT["optional-dependencies"]["all"]
    brought = set(everything.removeprefix("selfcorrect[").removesuffix("]").split(","))
    assert extras - {"all", "dev", "local-model", "mcp-adapters", "train"} - FRAMEWORKS == brought


FRAMEWORKS = {
    *("agent-framework", "google-adk", "litellm", "openai-agents", "pydantic-ai", "smolagents"),
}
"""What cannot live in one environment with the others."""


MODULES = {
    "google-re2": "re2",
    "langchain-core": "langchain_core",
    "jsonschema-rs": "jsonschema_rs",
}
"""What a distribution is imported as, where that is not its own name."""


def test_every_dependency_is_imported():
    trees = [ast.parse(p.read_text(encoding="utf-8")) for p in (ROOT / "selfcorrect").rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    imported = {name.partition(".")[0] for name in found}
    declared = {MODULES.get(each.name, each.name) for each in required(PROJECT["dependencies"])}
    assert declared <= imported


def test_what_is_below_one_is_bounded_above():
    extras = PROJECT["optional-dependencies"].values()
    young = [
        each
        for each in required([*PROJECT["dependencies"], *(item for one in extras for item in one)])
        if any(part.operator == ">=" and part.version.startswith("0.") for part in each.specifier)
    ]
    assert {"jsonschema-rs", "typer"} <= {each.name for each in young}
    assert [each for each in young if not any(p.operator == "<" for p in each.specifier)] == []


def required(lines: list[str]) -> list[Requirement]:
    return [Requirement(line) for line in lines]


def test_the_version_is_that_of_the_changelog():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {PROJECT['version']}" in changelog
