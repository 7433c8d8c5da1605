"""Who may import whom, read from the source with `ast`; and what an import of the package costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import importing
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "selfcorrect"

LAYERS = (
    {"errors"},
    {"model"},
    # what everything may use: plain values and small pure functions
    {"foreign", "hints", "json_forms", "limits", "log", "plain", "pointer", "protocols"}
    | {"results", "sizes", "state"},
    {"effects", "redaction", "secret_forms", "text", "words"},
    {"values"},
    # tools, and models behind their port
    {"schema"},
    {"models", "tools"},
    # the error-strategy map
    {"rules"},
    {"registry"},
    {"mapping"},
    {"strategy_map"},
    {"linting", "loading"},
    # what the nodes use
    {"evidence", "ledger", "policies", "reading", "repairs"},
    # the loop
    {"handlers"},
    {"answers", "asking", "context", "failures", "intents", "masking", "outcomes", "progress"}
    | {"quoting", "repair_context", "routing", "written"},
    {"nodes"},
    {"wiring"},
    {"watching"},
    {"step"},
    {"drawing"},
    {"_walk", "graph"},
    {"calls", "combinators", "repairing", "resuming"},
    # who uses it
    {"cli", "integrations", "notebook", "testing"},
    {"__main__"},
)
"""From the ground up: a room imports its own layer's other rooms, or lower ones, never higher."""

NO_SIBLINGS = ("repairs", "nodes", "reading", "evidence")
HOSTS_OF_LANGGRAPH = {"graph", "integrations", "notebook"}
AT_THE_TOP = {"pydantic"}
"""What a file may import when it is imported; all else from outside only inside functions."""
AT_THE_TOP_OF = {
    "cli": {"rich", "typer"},
    "graph": {"langchain_core", "langgraph"},
    "integrations": {"langchain", "langchain_core", "langgraph"},
    "testing": {"langchain_core"},
}


CIRCLES_LEFT = ("selfcorrect.reading",)
"""Packages with a circle of modules in them, until it is cut."""


class Import(NamedTuple):
    """One imported module, and whether that happens inside a function or for type checkers."""

    module: str
    lazy: bool
    line: int

    @property
    def root(self) -> str:
        return self.module.partition(".")[0]

    @property
    def room(self) -> str | None:
        """The room of this package that is imported, if it is one."""
        parts = self.module.split(".")
        return parts[1] if parts[0] == "selfcorrect" and len(parts) > 1 else None


def imports(tree: ast.Module) -> Iterator[Import]:
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, lazy = todo.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, lazy, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield Import(module, lazy, node.lineno)
            if module.startswith("selfcorrect"):
                for alias in node.names:
                    yield Import(f"{module}.{alias.name}", lazy, node.lineno)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += [(child, True) for child in node.body]
            todo += [(child, lazy) for child in node.orelse]
        else:
            inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            todo += [(child, inside) for child in ast.iter_child_nodes(node)]


def room(file: str) -> str:
    return file.partition("/")[0].removesuffix(".py")


def height(name: str | None) -> int | None:
    return next((n for n, rooms in enumerate(LAYERS) if name in rooms), None)


FILES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
IMPORTS = {
    file: tuple(imports(ast.parse(path.read_text(encoding="utf-8"), str(path))))
    for file, path in FILES.items()
    if not file.startswith("_starter/")
}
EACH = pytest.mark.parametrize("file", IMPORTS)


def test_every_room_has_a_layer():
    assert {room(file) for file in IMPORTS} <= set().union({"__init__", "maps"}, *LAYERS)


@EACH
def test_imports_are_absolute(file):
    assert not [found for found in IMPORTS[file] if found.module.startswith(".")]


@pytest.mark.parametrize("file", sorted(set(IMPORTS) - {"__init__.py"}))
def test_imports_go_down(file):
    here = height(room(file))
    assert not [
        found
        for found in IMPORTS[file]
        if (there := height(found.room)) is not None and (here is None or there > here)
    ]


def test_no_rooms_import_each_other_in_a_circle():
    below: dict[str, set[str]] = {}
    for file, found in IMPORTS.items():
        if file != "__init__.py":
            below.setdefault(room(file), set()).update(
                each.room for each in found if each.room and not each.lazy
            )
    done: list[str] = []
    while rest := {name: rooms & below.keys() for name, rooms in below.items() if name not in done}:
        free = [name for name, rooms in rest.items() if rooms - {name} <= set(done)]
        assert free, f"a circle among {sorted(rest)}"
        done += free


def test_no_modules_import_each_other_in_a_circle():
    found = importing.circles(importing.imports(importing.modules(PACKAGE)))
    homes = {
        home
        for circle in found
        for home in (*CIRCLES_LEFT, circle[0])
        if all(f"{module}.".startswith(f"{home}.") for module in circle)
    }
    assert homes == {*CIRCLES_LEFT}, found
    assert len(found) == len(CIRCLES_LEFT), found


def test_nothing_in_the_notebook_leads_back_to_the_stepper_not_even_as_a_type():
    files = importing.modules(PACKAGE)
    own = {name: path for name, path in files.items() if name.startswith("selfcorrect.notebook")}
    assert importing.circles(importing.imports(own, for_types=True)) == []


def test_a_circle_is_seen_through_a_package_and_inside_a_function(tmp_path):
    files = {
        "__init__.py": "",
        "a.py": "from box.inner import name",
        "b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from box import d",
        "c.py": "import box.a\nimport box.d",
        "d.py": "from . import b",
        "inner/__init__.py": "from .part import name",
        "inner/part.py": "def name():\n    from box import c",
    }
    for name, text in files.items():
        path = tmp_path / "box" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    graph = importing.imports(importing.modules(tmp_path / "box"))
    assert graph["box.d"] == {"box.b"}
    assert importing.circles(graph) == [["box.a", "box.c", "box.inner", "box.inner.part"]]


@pytest.mark.parametrize("folder", NO_SIBLINGS)
def test_files_of_a_folder_do_not_import_each_other(folder):
    siblings = {Path(file).stem for file in IMPORTS if file.startswith(f"{folder}/")} - {"__init__"}
    assert not [
        (file, found)
        for file in IMPORTS
        if file.startswith(f"{folder}/") and not file.endswith("__init__.py")
        for found in IMPORTS[file]
        if found.module.startswith(f"selfcorrect.{folder}.")
        and found.module.split(".")[2] in siblings
    ]


@EACH
def test_only_hosts_import_langgraph(file):
    assert room(file) in HOSTS_OF_LANGGRAPH or not [
        found for found in IMPORTS[file] if found.root == "langgraph"
    ]


@EACH
def test_optional_and_slow_libraries_are_imported_inside_functions(file):
    allowed = {"selfcorrect", *sys.stdlib_module_names, *AT_THE_TOP}
    allowed |= AT_THE_TOP_OF.get(room(file), set())
    assert not [found for found in IMPORTS[file] if not found.lazy and found.root not in allowed]


@EACH
def test_the_package_never_imports_what_one_deploys(file):
    assert not {found.root for found in IMPORTS[file]} & {"graphs", "strategies", "tests"}


@pytest.mark.parametrize("folder", ["graphs", "strategies"])
def test_what_one_deploys_is_no_package_and_stands_alone(folder):
    assert not (ROOT / folder / "__init__.py").exists()
    for path in (ROOT / folder).rglob("*.py"):
        found = {each.root for each in imports(ast.parse(path.read_text(encoding="utf-8")))}
        assert not found & {"", "graphs", "strategies", "tests"}, path


HEAVY = [
    *("langgraph", "langchain_core", "langchain", "typer", "rich", "anywidget", "airportsdata"),
    *("jsonschema", "jsonschema_rs", "re2", "rapidfuzz", "dateutil"),
]


def loaded(code: str) -> set[str]:
    """The heavy modules that a fresh interpreter has loaded after running the code."""
    code += f"\nimport sys; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_package_is_cheap():
    assert loaded("import selfcorrect") == set()
    assert loaded("import selfcorrect; selfcorrect.__all__; dir(selfcorrect)") == set()


def test_mending_a_call_needs_neither_langgraph_nor_langchain():
    code = """
        from selfcorrect import repair_call
        def double(number: int) -> int: return number * 2
        mended = repair_call({"name": "double", "args": {"number": "21"}}, [double])
        assert mended.outcome == "repaired", mended
    """
    hosts = {"langgraph", "langchain_core", "langchain", "typer", "rich"}
    assert not loaded(dedent(code)) & hosts
