"""How much there is to hold: bounds that nobody raises."""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("what", "most"), [("well", 16), ("repair", 36), ("fails", 46)])
def test_a_call_runs_through_few_files(what, most):
    done = subprocess.run(
        [sys.executable, "-c", HEALTHY, what], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) <= most


@pytest.mark.parametrize("loads", ["import selfcorrect", "from selfcorrect import repair_call"])
def test_what_needs_no_graph_loads_none(loads):
    code = f"import sys; {loads}; print([n for n in sys.modules if n.startswith('lang')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_imports_lead_downwards():
    """Only these import langgraph; hosts are imported by no room below them."""
    allowed = {"graph.py", "combinators.py", "langchain", "integrations", "notebook"}
    hosts = {
        *["langchain", "integrations", "proxy", "batch", "cli", "notebook", "drawing", "watching"]
    }
    wrong = []
    for path in files(PACKAGE):
        home = path.relative_to(PACKAGE).parts[0]
        # `integrations` is the documented home of what these two hold.
        others = hosts - {home} - ({"langchain", "watching"} if home == "integrations" else set())
        # Both show what `drawing` draws.
        others -= {"drawing"} if home in ("cli", "notebook") else set()
        for node in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for name in names or [node.module or ""]:
                parts = name.split(".")
                if parts[0] == "langgraph" and home not in allowed:
                    wrong.append(f"{path.name}: {name}")
                if parts[0] == "selfcorrect" and len(parts) > 1 and parts[1] in others:
                    wrong.append(f"{path.name}: {name}")
    assert [each for each in wrong if not each.startswith("__main__")] == []
