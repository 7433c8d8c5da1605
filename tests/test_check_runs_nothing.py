"""`check` and `explain` run no Python of a map, unless they are told to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from selfcorrect.cli import app
from selfcorrect.errors import MapError
from selfcorrect.mapping.linting import check_map
from selfcorrect.mapping.strategy_map import StrategyMap

HEAD = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"
FORMS = {
    "a function": "def Mend(call, diagnosis, context, *, days: int = 3, unit: str = 'd'): ...",
    "an async function": "async def Mend(call, diagnosis, context, *, days: int = 3, unit=''): ...",
    "a decorated function": "@strategy('mend')\n"
    "def Mend(call, diagnosis, context, *, days: int = 3, unit: str = 'd'): ...",
    "a factory": "def Mend(days: int = 3, unit: str = 'd'):\n"
    "    return lambda call, diagnosis, context: None",
    "a dataclass": "@dataclass(frozen=True)\nclass Mend:\n"
    "    name: ClassVar[str] = 'mend'\n    days: int = 3\n    unit: str = 'd'\n"
    "    def __call__(self, call, diagnosis, context): ...",
    "a class": "class Mend:\n    def __init__(self, days: int = 3, unit: str | None = None): ...\n"
    "    def __call__(self, call, diagnosis, context): ...",
    "in an if": "if True:\n    def Mend(call, diagnosis, context, *, days: int = 3, unit=''): ...",
}
UNREADABLE = {
    "imported": "from .elsewhere import Mend",
    "assigned": "Mend = make()",
    "annotated": "Mend: object = make()",
    "unpacked": "Other, Mend = make()",
    "wrapped": "@something\ndef Mend(): ...",
    "inherited": "class Mend(Base): ...",
    "with a metaclass": "class Mend(metaclass=Meta): ...",
    "star": "from elsewhere import *",
    "in a try": "try:\n    from a import Mend\nexcept ImportError:\n    Mend = None",
}
HOSTILE_BEGINNINGS = (
    *("raise SystemExit(3)", "raise RuntimeError", "import no_such_module", "1/0"),
    *("while True: pass", "import os; os._exit(3)"),
)


def a_map(folder: Path, source: str, options: str = "") -> str:
    (folder / "mend.py").write_text(f"{HEAD}{source}\n")
    extra = f"options.mend = {{ {options} }}\n" if options else ""
    path = folder / "own.toml"
    path.write_text(
        'format = 1\n[use]\nmend = "./mend.py:Mend"\n'
        '[[rule]]\nid = "r"\nmatch = "no flight"\nkind = "not_found"\nrepair = ["mend"]\n' + extra
    )
    return str(path)


def outcome(folder: Path, source: str, options: str = "") -> list[Any]:
    found = check_map(a_map(folder, source, options), allow_code=False)
    assert not (folder / "ran").exists()
    return [(fault.key, getattr(fault, "level", "error")) for fault in found]


UNCHECKED = ("use.mend", "unchecked")


@pytest.mark.parametrize("form", [*FORMS, *UNREADABLE])
@pytest.mark.parametrize("beginning", ["", *HOSTILE_BEGINNINGS])
def test_nothing_runs(tmp_path, form: str, beginning: str) -> None:
    source = f"{beginning}\n{ {**FORMS, **UNREADABLE}[form] }"
    before = set(sys.modules)
    assert outcome(tmp_path, source) == [UNCHECKED]
    assert outcome(tmp_path, source, "days = 3") == [UNCHECKED]
    assert not {name for name in set(sys.modules) - before if "mend" in name or "_use_" in name}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ("days = 3", None),
        ('days = 3, unit = "h"', None),
        ("dais = 3", "options.mend.dais"),
        ('days = "three"', "options.mend.days"),
        ("days = 3, more = 1", "options.mend.more"),
    ],
)
def test_options_are_checked_against_the_source(tmp_path, form, options, wrong) -> None:
    found = outcome(tmp_path, FORMS[form], options)
    assert found == ([(wrong, "error")] if wrong else [UNCHECKED])


@pytest.mark.parametrize("form", UNREADABLE)
def test_what_the_source_does_not_show_is_left_unchecked(tmp_path, form) -> None:
    assert outcome(tmp_path, UNREADABLE[form], "anything = 1") == [UNCHECKED]


@pytest.mark.parametrize(
    "source",
    ["", "def Mendd(): ...", "def f():\n    Mend = 1", "class A:\n    Mend = 1", "def (", "\0"],
)
def test_what_is_not_there_is_an_error(tmp_path, source) -> None:
    assert ("use.mend", "error") in outcome(tmp_path, source)


@pytest.mark.parametrize("command", ["check", "explain"])
@pytest.mark.parametrize("allow", [False, True])
def test_the_command_line(tmp_path, command: str, allow: bool) -> None:
    path = a_map(tmp_path, FORMS["a function"])
    words = [command, path, *(["no flight today"] if command == "explain" else [])]
    result = CliRunner().invoke(app, [*words, *(["--allow-code"] if allow else [])])
    assert result.exit_code == 0
    assert (tmp_path / "ran").exists() is allow
    assert ("unchecked" in result.output) is not allow
    if command == "explain":
        assert "mend" in result.output


def test_maps_and_strategies_of_installed_packages_are_not_loaded(tmp_path, monkeypatch) -> None:
    class Entry:
        name, value = "theirs", "theirs:find"

        def load(self) -> Any:
            raise AssertionError("loaded")

    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [Entry()])
    with pytest.raises(MapError, match="would have to be run"):
        StrategyMap.read("theirs")
    path = tmp_path / "own.toml"
    path.write_text('format = 1\n[[rule]]\nid = "r"\nmatch = "a"\nrepair = ["theirs"]\n')
    assert StrategyMap.read(path).ladder("own/r") == ("theirs",)
    path.write_text('format = 1\nextends = ["theirs"]\n')
    with pytest.raises(MapError, match="would have to be run"):
        StrategyMap.read(path)


def test_a_map_that_was_only_read_repairs_nothing(tmp_path) -> None:
    strategies = StrategyMap.read(a_map(tmp_path, FORMS["a function"], "days = 4"))
    assert set(strategies.unchecked) == {"mend"}
    with pytest.raises(RuntimeError, match="was not loaded"):
        strategies.strategy("own/r", "mend")(None, None, None)
