"""Who may import whom, read from the source with `ast`; and what an import of the package costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import importing
import pytest

from selfcorrect.handlers.by_tool import Handlers
from selfcorrect.mapping.registry import built_in_names
from selfcorrect.routing import ROUTES
from selfcorrect.state import STATE_KEYS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "selfcorrect"

LAYERS = (
    {"errors", "kinds"},
    {"model"},
    # what everything may use: plain values and small pure functions
    {"foreign", "hints", "json_forms", "lazily", "limits", "plain", "pointer", "protocols"}
    | {"report", "results", "sizes", "state", "weights"},
    {"echoes", "effects", "kernel", "text", "words"},
    {"log", "ports", "routing"},
    {"recalling", "values"},
    # tools, and models behind their port
    {"schema"},
    {"models", "tools"},
    # the error-strategy map
    {"mapping"},
    # the senses
    {"evidence", "forms", "ledger", "mending", "policies", "reading", "repairs"},
    {"handlers", "training"},
    {"drawing", "loop"},
    {"batch", "combinators", "learning"},
    # who uses it
    {"cli", "integrations", "notebook", "proxy", "testing"},
    {"__main__"},
)
"""From the ground up: a room imports its own layer's other rooms, or lower ones, never higher."""

FLAT = ("repairs", "loop/nodes")
"""Folders whose files do not import each other at all, but for those of a second layer."""

UPPER_FILES = {
    "evidence": {"deciding", "messages", "outcome", "reading", "testifying"},
    "evidence/trained": {"witness"},
    "training": {"figures", "fitting"},
    "evidence/faults": {"settling"},
    "evidence/kinds": {"facts"},
    "evidence/wrappers": {"unwrapping"},
    "evidence/waits": {"fields", "prose"},
    "kernel": {"calls", "changes", "keys", "origins", "verdicts", "wrappers"},
    "loop/nodes": {"table"},
    "reading": {"allowing", "answers", "known_tool", "making", "outcome", "quoting", "reader"}
    | {"texts"},
}
"""The second layer of a folder, which stands on its other files and is imported by none of them."""
HOSTS_OF_LANGGRAPH = ("loop/graph", "integrations/", "notebook/")
AT_THE_TOP = {"pydantic"}
"""What a file may import when it is imported; all else from outside only inside functions."""
AT_THE_TOP_OF = {
    "cli": {"rich", "typer"},
    "loop/graph": {"langchain_core", "langgraph"},
    "integrations": {"langchain", "langchain_core", "langgraph"},
    "testing": {"langchain_core"},
    "integrations/agent_framework": {"agent_framework"},
    "integrations/google_adk": {"google"},
    "integrations/litellm": {"litellm"},
    "integrations/openai_agents": {"agents", "openai"},
    "integrations/pydantic_ai": {"pydantic_ai"},
    "integrations/smolagents": {"smolagents"},
    "proxy/web": {"starlette"},
}


LONGEST = 450
"""Lines of a file."""

TOKENS = 413_749
"""Tokens of code of the whole package, at most; lowered when the package has become smaller."""

CLASSES = (".EXACT", ".INFERRED")
UNDER_THE_KERNEL = {
    "effects",
    "kernel",
    "kinds",
    "model",
    "plain",
    "pointer",
    "protocols",
    "text",
    "words",
}
"""What the kernel imports: data and small pure functions."""
MAY_NAME_A_CLASS = {
    "loop/consulting.py",  # whether a fixer is code or a model: an origin
    "loop/context.py",  # what a handler may do under the policy
    "loop/repair_context.py",  # what an option of a strategy adds: an origin
    "mapping/linting.py",  # what a map's policy allows
    "mending/choice.py",  # `candidate` claims nothing
    "model.py",  # `edit` claims nothing
    "policies/safety.py",  # which classes run unasked
}
CIRCLES_LEFT: tuple[str, ...] = ()
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


def test_the_loop_knows_no_strategy_by_name():
    words = STATE_KEYS | {outcome for routes in ROUTES.values() for outcome in routes}
    names = {*built_in_names(), Handlers.name} - words
    assert len(names) > 20
    loop = {FILES[file] for file in FILES if file.startswith("loop/")}
    assert not [
        (path.name, node.lineno, node.value)
        for path in loop
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if any(re.search(rf"(?<![\w-]){name}(?![\w-])", node.value) for name in names)
    ]


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


SENSES = {"reading", "evidence", "mending", "repairs", "values"}
HOSTS = {"batch", "cli", "drawing", "integrations", "notebook", "proxy", "testing"}


@pytest.mark.parametrize("inner", ["loop", "mapping", "tools", "ledger", "policies"])
def test_the_ring_loads_no_sense_and_no_host(inner):
    """Senses come to the loop through `ports`, each when it is first needed."""
    assert not [
        (file, found.module)
        for file in IMPORTS
        if room(file) == inner
        for found in IMPORTS[file]
        if not found.lazy and found.room in SENSES | HOSTS
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
        "late/__init__.py": "if TYPE_CHECKING:\n    from box.late.part import name",
        "late/part.py": "def name():\n    from box import e",
        "e.py": "from box.late import name",
    }
    for name, text in files.items():
        path = tmp_path / "box" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    graph = importing.imports(importing.modules(tmp_path / "box"))
    assert graph["box.d"] == {"box.b"}
    assert importing.circles(graph) == [
        ["box.a", "box.c", "box.inner", "box.inner.part"],
        ["box.e", "box.late.part"],
    ]


def siblings(folder: str) -> Iterator[tuple[str, Import, str]]:
    """Each import of one file or folder of a folder by another, and what is imported of it."""
    start = len(folder.split("/")) + 1
    names = {
        file.removeprefix(f"{folder}/").partition("/")[0].removesuffix(".py")
        for file in IMPORTS
        if file.startswith(f"{folder}/")
    }
    for file, found in IMPORTS.items():
        own = file.removeprefix(f"{folder}/").partition("/")[0].removesuffix(".py")
        for each in found if file.startswith(f"{folder}/") and own != "__init__" else ():
            parts = each.module.split(".")
            if parts[:start] == ["selfcorrect", *folder.split("/")] and len(parts) > start:
                name = parts[start]
                if name in names and name != own:
                    yield file, each, name


@pytest.mark.parametrize("folder", FLAT)
def test_files_of_a_folder_do_not_import_each_other(folder):
    upper = UPPER_FILES.get(folder, set())
    assert not [
        (file, found) for file, found, _ in siblings(folder) if Path(file).stem not in upper
    ]


@pytest.mark.parametrize("folder", UPPER_FILES)
def test_a_folder_has_at_most_two_layers(folder):
    upper = UPPER_FILES[folder]
    assert upper <= {Path(file).stem for file in IMPORTS if file.startswith(f"{folder}/")}
    assert not [
        (file, found)
        for file, found, name in siblings(folder)
        if name in upper and Path(file).stem not in upper
    ]


@pytest.mark.parametrize("file", [file for file in IMPORTS if room(file) == "kernel"])
def test_the_kernel_imports_data_alone(file):
    ours = {found.room for found in IMPORTS[file] if found.root == "selfcorrect"}
    assert ours <= UNDER_THE_KERNEL
    others = {found.root for found in IMPORTS[file]} - {"selfcorrect"}
    assert others <= set(sys.stdlib_module_names)


def is_claim(node: ast.AST) -> bool:
    """Whether code says `exact` or `inferred`, or hands a class over as it is written there."""
    if isinstance(node, ast.Attribute) and node.attr in ("EXACT", "INFERRED"):
        return isinstance(node.value, ast.Name) and node.value.id == "Safety"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Safety":
        return any(isinstance(each, ast.Constant) for each in node.args)
    if not isinstance(node, ast.keyword) or node.arg != "safety":
        return False
    return any(isinstance(each, ast.Constant) for each in getattr(node.value, "elts", [node.value]))


def test_nobody_but_the_kernel_makes_a_class():
    found = {
        file
        for file in IMPORTS
        if room(file) != "kernel"
        if any(map(is_claim, ast.walk(ast.parse(FILES[file].read_text(encoding="utf-8")))))
        or any(
            each.module.startswith("selfcorrect.kernel") and each.module.endswith(CLASSES)
            for each in IMPORTS[file]
        )
    }
    assert found == MAY_NAME_A_CLASS


def logic(tree: ast.Module) -> list[str]:
    """What an `__init__` holds besides its docstring, imports, `__all__` and lazy names."""
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    return [
        ast.unparse(node)
        for node in body
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        and not (isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__"))
        and not (isinstance(node, ast.Assign | ast.AnnAssign) and names(node))
    ]


def names(node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether it says only which names a package has, or where each is found."""
    value = node.value
    lazy = isinstance(value, ast.Call) and ast.unparse(value.func) == "lazily"
    return lazy or all(
        isinstance(part, ast.Dict | ast.List | ast.Tuple | ast.Constant | ast.Load)
        or ast.unparse(getattr(part, "func", part)) in ("dict.fromkeys", "dict")
        for part in (ast.walk(value) if value is not None else ())
    )


def test_logic_in_an_init_is_seen():
    quiet = '''
        """Says what it is."""
        from typing import TYPE_CHECKING
        from box.lazily import lazily
        if TYPE_CHECKING:
            from box.a import name
        __all__ = ["name"]
        __getattr__ = lazily(__name__, {"name": "box.a"})
    '''
    assert not logic(ast.parse(dedent(quiet)))
    for loud in ("def f(): ...", "class A: ...", "A = B()", "a.b()", "A = [x for x in ()]", "1"):
        assert logic(ast.parse(f'"""Says."""\n{loud}'))


@pytest.mark.parametrize("file", [file for file in IMPORTS if file.endswith("__init__.py")])
def test_an_init_holds_no_logic(file):
    left = logic(ast.parse(FILES[file].read_text(encoding="utf-8")))
    assert not left


@EACH
def test_no_file_is_longer_than_one_reads_at_once(file):
    assert len(FILES[file].read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_the_package_has_no_more_code_than_its_budget():
    assert sum(importing.tokens_of(path.read_text("utf-8")) for path in FILES.values()) <= TOKENS


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""Doc."""\n\nx = 1  # why\n', 3),
        ('def f():\n    """Doc,\n    in two lines."""\n    return "text"\n', 7),
        ('x = f"{a} and {b!r}"\n', 3),
        (f"x = {'é' * 300!r}\n", 2 + 602 // 4),
    ],
)
def test_tokens_are_counted_without_what_is_said_beside_the_code(source, count):
    assert importing.tokens_of(source) == count


@EACH
def test_no_file_imports_the_init_above_it(file):
    """It would be in a circle with whatever else that one is asked for."""
    above = "selfcorrect." + file.rpartition("/")[0].replace("/", ".")
    own = {path.stem for path in FILES[file].parent.iterdir()}
    text = FILES[file].read_text(encoding="utf-8")
    found = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == above
        for alias in node.names
        if alias.name not in own
    ]
    assert not found


@EACH
def test_only_hosts_import_langgraph(file):
    assert file.startswith(HOSTS_OF_LANGGRAPH) or not [
        found for found in IMPORTS[file] if found.root == "langgraph"
    ]


@EACH
def test_optional_and_slow_libraries_are_imported_inside_functions(file):
    allowed = {"selfcorrect", *sys.stdlib_module_names, *AT_THE_TOP}
    for place, more in AT_THE_TOP_OF.items():
        allowed |= more if file.startswith(place) else set()
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


def test_building_a_graph_loads_the_core_alone():
    code = """
        import sys
        from selfcorrect import build_graph
        ours = [m.__file__ for n, m in sys.modules.items() if n.partition(".")[0] == "selfcorrect"]
        print(len(ours), sum(len(open(file).readlines()) for file in ours))
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules, lines = map(int, done.stdout.split())
    assert modules <= 45
    assert lines <= 6_000


def test_mending_a_call_needs_neither_langgraph_nor_langchain():
    code = """
        from selfcorrect import repair_call
        def double(number: int) -> int: return number * 2
        mended = repair_call({"name": "double", "args": {"number": "21"}}, [double])
        assert mended.outcome == "repaired", mended
    """
    hosts = {"langgraph", "langchain_core", "langchain", "typer", "rich"}
    assert not loaded(dedent(code)) & hosts
