"""How much there is to hold: bounds that nobody raises."""

import ast
import io
import subprocess
import sys
import tokenize
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from kit import output_of

import selfcorrect

PACKAGE = Path(selfcorrect.__file__).parent
TESTS = Path(__file__).parent
MOST = {"package": 150_000, "tests": 160_000}
IDLE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}
HEALTHY = """
import sys, threading
import selfcorrect
from selfcorrect import ToolSpec, build_graph

def tool(origin: str, seats: int = 1) -> str:
    "Book."
    if origin == "FAIL":
        raise ValueError("seats must be at most 5")
    return "ok"

args = {"well": {"origin": "LHR", "seats": 2}, "repair": {"origin": "LHR", "seats": "2"},
        "fails": {"origin": "FAIL", "seats": 2}}[sys.argv[1]]
graph = build_graph([ToolSpec.from_function(tool, effect="read_only")])
given = {"call": {"name": "tool", "args": args}}
graph.invoke(given)
home, seen = selfcorrect.__file__.rsplit("__init__", 1)[0], set()

def watch(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(home):
        seen.add(frame.f_code.co_filename)

threading.setprofile(watch)
sys.setprofile(watch)
graph.invoke(given)
sys.setprofile(None)
print(len(seen))
"""


def files(folder):
    return [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]


def tokens(path):
    """Return how many tokens of code a file has; a long string counts a token per four bytes."""
    text = path.read_text("utf-8")
    docs = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, str)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    start, end = getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "FSTRING_END", None)
    total = depth = size = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in IDLE:
            continue
        # Strings side by side are one, and so is an f-string, of which Python 3.12 makes several.
        depth += (token.type == start is not None) - (token.type == end is not None)
        if depth or token.type in (tokenize.STRING, end):
            size += 0 if token.start[0] in docs else len(token.string.encode())
            continue
        total += 1 + string(size)
        size = 0
    return total + string(size)


def string(size):
    """Count a string of so many bytes: a long one counts a token for each four of them."""
    return size // 4 if size > 200 else min(size, 1)


def test_the_code_and_the_tests_stay_within_their_tokens():
    assert sum(map(tokens, files(PACKAGE))) <= MOST["package"]
    assert sum(map(tokens, files(TESTS))) <= MOST["tests"]


def test_no_file_is_over_400_lines_and_no_function_over_60():
    long = [path.name for path in files(PACKAGE) if len(path.read_text("utf-8").splitlines()) > 400]
    functions = [
        f"{path.name}:{node.name}"
        for path in files(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno > 60
    ]
    assert (long, functions) == ([], [])


def test_no_public_class_name_is_used_twice():
    names = [
        node.name
        for path in files(PACKAGE)
        # Each framework's module has the name that its users expect.
        if path.parent.name != "integrations"
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert sorted({each for each in names if names.count(each) > 1}) == []


def test_no_line_of_a_map_is_over_160_characters():
    maps = [*PACKAGE.rglob("*.toml"), *(TESTS.parent / "strategies").glob("*.toml")]
    wide = [
        f"{path.name}:{number}"
        for path in maps
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 160
    ]
    assert wide == []


@pytest.mark.parametrize(("what", "most"), [("well", 16), ("repair", 34), ("fails", 44)])
def test_a_call_runs_through_few_files(what, most):
    done = subprocess.run(
        [sys.executable, "-c", HEALTHY, what], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) <= most


@pytest.mark.parametrize("loads", ["import selfcorrect", "from selfcorrect import repair_call"])
def test_what_needs_no_graph_loads_none(loads):
    code = f"import sys; {loads}; print([n for n in sys.modules if n.startswith('lang')])"
    assert output_of(code) == "[]"


HOSTS = set("langchain integrations proxy batch cli notebook drawing watching testing".split())  # noqa: SIM905
"""Rooms that use what stands below them, and that nothing below imports."""
SHOWS = {
    ("__main__", "cli"),
    ("graph", "notebook"),  # a graph draws itself as the last value of a cell
    ("mender", "langchain"),  # threads of LangChain, beside those of providers
    ("step", "watching"),  # the log, once somebody reads it
    ("nodes", "watching"),
    ("integrations", "langchain"),  # the documented homes of what these hold
    ("integrations", "watching"),
    ("cli", "drawing"),
    ("cli", "proxy"),
    ("proxy", "integrations"),  # tools of a server are the same in both
    ("notebook", "drawing"),
}
"""Where a room imports a host, and why."""
LATER = {
    ("strategy_map", "repairs"),  # a strategy is imported when a rule first needs it
    ("context", "repairs"),
    ("errors", "names"),  # a near name is looked for where one is unknown
    ("nodes", "people"),  # an answer becomes the repair of a round
}
"""Rooms that import one that stands above them, inside a function."""


def room(module):
    return module.split(".")[1] if "." in module else module


def imports():
    """Yield each import within the package: from, to, and whether it stands in a function."""
    modules = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files(PACKAGE)
    }
    for path in files(PACKAGE):
        here = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        tree = ast.parse(path.read_text("utf-8"))
        functions = [
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for inner in ast.walk(node)
        ]
        types = [
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for inner in ast.walk(node)
        ]
        for node in ast.walk(tree):
            if not isinstance(node, ast.Import | ast.ImportFrom) or node in types:
                continue
            base = "" if isinstance(node, ast.Import) else f"{node.module}."
            for name in node.names:
                whole = f"{base}{name.name}"
                target = whole if whole in modules else whole.rpartition(".")[0]
                yield here, target, node in functions


def test_only_hosts_and_graphs_import_langgraph():
    allowed = {"graph", "combinators", "langchain", "integrations", "notebook"}
    arrows = [(room(here), to) for here, to, is_late in imports() if not is_late]
    assert {here for here, to in arrows if to.split(".")[0] == "langgraph"} <= allowed


def arrows_between_rooms(*, with_late):
    arrows = {
        (room(here), room(to))
        for here, to, is_late in imports()
        if to.split(".")[0] == "selfcorrect" and "." in to and (with_late or not is_late)
    }
    return {(here, to) for here, to in arrows if here not in (to, "__init__")}


def test_nothing_below_imports_a_host():
    arrows = arrows_between_rooms(with_late=True)
    assert {each for each in arrows if each[1] in HOSTS} == SHOWS


@pytest.mark.parametrize("with_late", [False, True])
def test_rooms_stand_above_each_other(with_late):
    """Imports lead downwards: they make no circle of rooms, those inside functions included."""
    arrows = arrows_between_rooms(with_late=with_late) - SHOWS - LATER
    order = TopologicalSorter()
    for here, to in arrows:
        order.add(here, to)
    order.prepare()


def test_no_public_function_name_is_used_twice():
    homes = defaultdict(set)
    for path in files(PACKAGE):
        for node in ast.parse(path.read_text("utf-8")).body:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and not node.name.startswith("_"):
                homes[node.name].add(str(path.relative_to(PACKAGE)))
    # `escalate` is a strategy, and a tool that does the same.
    assert {name for name, where in homes.items() if len(where) > 1} == {"escalate"}


def test_most_tests_use_documented_names_alone():
    """Tests of pure functions stand apart, in `unit/`."""
    documented = (TESTS / "documented_names.txt").read_text("utf-8").split()
    parts = [name.split(".") for name in documented]
    names = {".".join(each[:size]) for each in parts for size in range(1, len(each) + 1)}
    lines = {True: 0, False: 0}
    for path in TESTS.glob("test_*.py"):
        text = path.read_text("utf-8")
        imported = [
            f"{node.module}.{name.name}"
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("selfcorrect")
            for name in node.names
        ]
        lines[names.issuperset(imported)] += text.count("\n")
    assert lines[True] >= 0.7 * sum(lines.values()), lines
