"""The house in figures, beside those of its neighbours, and what a healthy call costs.

    python tests/benchmarks/house.py

Tokens of code, lines, files, regular expressions, tables and complexity are read from source; what
an import loads and what a call costs is measured, in processor time, so that other work disturbs it
least. Nothing is asserted.
"""

from __future__ import annotations

import ast
import atexit
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from importing import circles, imports, modules, tokens_of

ROOT = Path(__file__).parents[2]
NEIGHBOURS = ("tenacity", "stamina", "inspect_ai.solver", "pydantic_ai")
ROUNDS = 9
BRANCHES = (
    *(ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert),
    *(ast.comprehension, ast.match_case),
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RE = ("compile", "search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class Figures(NamedTuple):
    """What is counted of one or several files; figures add up."""

    files: int = 0
    tokens: int = 0
    lines: int = 0
    regexes: int = 0
    tables: int = 0
    constants: int = 0
    complexities: tuple[int, ...] = ()

    def plus(self, other: Figures) -> Figures:
        return Figures(*(one + more for one, more in zip(self, other, strict=True)))


def counted(path: Path) -> Figures:
    """The figures of one file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return Figures(
        1,
        tokens_of(text),
        len(text.splitlines()),
        sum(map(_is_regex, ast.walk(tree))),
        sum(_words(node.value) >= 4 for node in assigned if node.value is not None),
        sum(map(_is_constant, assigned)),
        tuple(complexity(node) for node in ast.walk(tree) if isinstance(node, FUNCTIONS)),
    )


def complexity(function: ast.AST) -> int:
    """McCabe's figure: one, and one more for each way to go on; inner functions count alone."""
    found, todo = 1, list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        found += isinstance(node, BRANCHES)
        if isinstance(node, ast.comprehension):
            found += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        todo += ast.iter_child_nodes(node)
    return found


def _is_regex(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = node.func.value
    return isinstance(owner, ast.Name) and owner.id in ("re", "re2") and node.func.attr in RE


def _words(value: ast.AST) -> int:
    """The words of a collection that is written down."""
    inside = ast.walk(value) if isinstance(value, ast.Call) else [value]
    tables = [n for n in inside if isinstance(n, ast.Dict | ast.List | ast.Set | ast.Tuple)]
    texts = [n for table in tables[:1] for n in ast.walk(table) if isinstance(n, ast.Constant)]
    return sum(isinstance(n.value, str) and n.value.isidentifier() for n in texts)


def _is_constant(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(name, ast.Name) and name.id.isupper() for name in targets)


def rooms(folder: Path) -> dict[str, Figures]:
    """The figures of each folder of a package, and of the files beside them as one."""
    found: dict[str, Figures] = {}
    for path in sorted(folder.rglob("*.py")):
        way = path.relative_to(folder).parts
        room = way[0] if len(way) > 1 else "(beside them)"
        found[room] = found.get(room, Figures()).plus(counted(path))
    return found


def total(figures: Iterable[Figures]) -> Figures:
    """The sum of figures."""
    found = Figures()
    for each in figures:
        found = found.plus(each)
    return found


def table(title: str, rows: Mapping[str, Figures]) -> None:
    """Print figures, one row each."""
    print(f"\n{title:<24}{'files':>7}{'tokens':>10}{'lines':>9}{'regexes':>9}", end="")
    print(f"{'tables':>8}{'constants':>11}", end="")
    print(f"{'complexity':>12}{'of ≥ 11':>9}{'most':>6}")
    for name, each in rows.items():
        mean = statistics.mean(each.complexities or (0,))
        steep = sum(value >= 11 for value in each.complexities)
        print(f"{name:<24}{each.files:>7,}{each.tokens:>10,}{each.lines:>9,}", end="")
        print(f"{each.regexes:>9}{each.tables:>8}", end="")
        print(f"{each.constants:>11,}{mean:>12.1f}{steep:>9}{max(each.complexities, default=0):>6}")


def folder_of(package: str) -> Path | None:
    """Where an installed package lies; nothing of it is imported."""
    top, _, rest = package.partition(".")
    found = find_spec(top)
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent.joinpath(*rest.split(".") if rest else ())


def shape(name: str, folder: Path) -> None:
    """Print the circles of a package and who imports most."""
    graph = imports(modules(folder))
    found = circles(graph)
    sizes = ", ".join(str(len(circle)) for circle in found)
    print(f"\n{name}: {len(found)} circles of modules{f', of {sizes}' if found else ''}")
    for circle in found[:12]:
        shown = ", ".join(each.partition(".")[2] or each for each in circle[:9])
        print(f"  {shown}{' …' if len(circle) > 9 else ''}")
    busiest = sorted(graph.items(), key=lambda pair: -len(pair[1]))[:10]
    print("  import most: " + ", ".join(f"{each} {len(below)}" for each, below in busiest))


def maps(folder: Path) -> None:
    """Print what the maps hold."""
    files = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}
    rules = [rule for text in files.values() for rule in tomllib.loads(text).get("rule", ())]
    lines = sum(len(text.splitlines()) for text in files.values())
    patterns = sum("match" in rule for rule in rules)
    print(f"maps: {len(files)} files, {lines:,} lines, {len(rules)} rules, {patterns} patterns")


LOADED = """
import sys
import tempfile
{code}
ours = {{name: module.__file__ for name, module in sys.modules.items()
        if name.partition(".")[0] == "selfcorrect" and getattr(module, "__file__", None)}}
lines = sum(len(open(file, encoding="utf-8").readlines()) for file in ours.values())
print(len(ours), lines)
"""
MENDED = """
from selfcorrect import repair_call
def double(number: int) -> int:
    "Double a number."
    return number * 2
assert repair_call({"name": "double", "args": {"number": "21"}}, [double]).outcome == "repaired"
"""
COLD = f"import time{MENDED}print(time.process_time())"
LOADS = {
    "import selfcorrect": "import selfcorrect",
    "from selfcorrect import build_graph": "from selfcorrect import build_graph",
    "from selfcorrect import repair_call": "from selfcorrect import repair_call",
    "… and one call mended": MENDED,
}


def fresh(code: str) -> list[str]:
    """The words that a fresh interpreter prints, its modules compiled before, as pip does it."""
    kept = {**os.environ, "PYTHONPYCACHEPREFIX": _bytecode()}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=kept
    )
    return done.stdout.split()


@cache
def _bytecode() -> str:
    """A folder for compiled modules, gone with this process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def loads() -> None:
    """Print what imports load."""
    print(f"\n{'loads of our own':<40}{'modules':>9}{'lines':>9}")
    for name, code in LOADS.items():
        count, lines = map(int, fresh(LOADED.format(code=code)))
        print(f"{name:<40}{count:>9}{lines:>9,}")
    bare = min(float(fresh("import time; print(time.process_time())")[0]) for _ in range(5))
    cold = min(float(fresh(COLD)[0]) for _ in range(5))
    print(f"\ncold repair_call (import, build, one mend) {(cold - bare) * 1e3:>8.0f} ms (≤ 300)")


def micros(work: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Microseconds of the processor for each piece of work: the least of several rounds."""
    times: dict[str, list[float]] = {name: [] for name in work}
    counts = {name: _often(each) for name, each in work.items()}
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        for name, each in work.items():
            started = time.process_time()
            for _ in range(counts[name]):
                each()
            times[name].append((time.process_time() - started) / counts[name] * 1e6)
    gc.enable()
    return {name: min(values) for name, values in times.items()}


def _often(work: Callable[[], Any]) -> int:
    """How often to repeat it within about 30 ms."""
    work()
    started = time.perf_counter()
    work()
    return max(3, int(0.03 / max(time.perf_counter() - started, 1e-7)))


def healthy() -> None:
    """Print what a healthy call costs."""
    from selfcorrect import ToolSpec, build_graph
    from selfcorrect.loop.setup import assemble
    from selfcorrect.loop.walk import walk

    def add(a: int, b: int = 0) -> int:
        """Add two numbers."""
        return a + b

    call = {"call": {"name": "add", "args": {"a": 1}}}
    spec = ToolSpec.from_function(add, effect="read_only")
    loop, graph = assemble([spec]), build_graph([spec])
    bare = bare_graph(graph, call)
    found = micros(
        {
            "function": lambda: add(1),
            "walker": lambda: walk(loop, call),
            "graph": lambda: graph.invoke(call),
            "bare": lambda: bare.invoke(call),
        }
    )
    over = found["walker"] - found["function"]
    print(f"\nhealthy call: walker over the function {over:>12.1f} µs (≤ 25)")
    print(f"healthy call: compiled graph {found['graph']:>22.0f} µs")
    print(f"a bare graph of two nodes, same state {found['bare']:>13.0f} µs")
    print(f"compiled graph ÷ bare graph {found['graph'] / found['bare']:>23.2f} x (≤ 1.15)")


def bare_graph(graph: Any, given: Mapping[str, Any]) -> Any:
    """Two nodes that only hand on what plan and execute found, in the same state."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command

    steps = list(graph.stream(given, stream_mode="updates"))
    plan, execute = (update for step in steps for update in step.values())
    builder: Any = StateGraph(graph.builder.state_schema, output_schema=graph.builder.output_schema)
    ways = {"plan": (plan, "execute"), "execute": (execute, END)}
    for name, (update, target) in ways.items():
        builder.add_node(
            name,
            lambda _, update=update, target=target: Command(update=update, goto=target),
            destinations=(target,),
        )
    builder.add_edge(START, "plan")
    return builder.compile()


def texts() -> None:
    """Print what calls cost whose arguments, or that themselves, are text; with 1 and 500 tools."""
    from selfcorrect.batch.checking import repair_loop
    from selfcorrect.loop.walk import walk

    args = json.dumps({"to": "CDG", "day": "2026-10-26", "seats": 2, "cabin": "economy"})
    whole = json.dumps({"name": "tool_0", "arguments": json.loads(args)})
    forms: dict[str, dict[str, Any]] = {
        "arguments as JSON text": {"call": {"name": "tool_0", "args": args}},
        "arguments, cut JSON text": {"call": {"name": "tool_0", "args": args[:-1]}},
        "a whole call as JSON text": {"raw": whole},
        "a whole call in a fence": {"raw": f"```json\n{whole}\n```"},
    }
    loops = {count: repair_loop([*_tools(count)]) for count in (1, 500)}
    found = micros(
        {
            f"{form} {count}": lambda loop=loop, given=given: walk(loop, given)
            for form, given in forms.items()
            for count, loop in loops.items()
        }
    )
    for form in forms:
        one, many = found[f"{form} 1"], found[f"{form} 500"]
        print(f"{form:<30} 1 tool {one:>6.0f} µs, 500 {many:>6.0f} µs {many / one:>6.2f} x (1)")


def _tools(count: int) -> Iterator[dict[str, Any]]:
    properties = {"to": {"type": "string"}, "day": {"type": "string", "format": "date"}}
    properties |= {"seats": {"type": "integer"}, "cabin": {"enum": ["economy", "business"]}}
    schema = {"type": "object", "properties": properties, "required": ["to", "day"]}
    for number in range(count):
        yield {"name": f"tool_{number}", "description": "", "parameters": schema}


def main() -> None:
    package = ROOT / "selfcorrect"
    own = rooms(package)
    sizes = dict(sorted(own.items(), key=lambda pair: -pair[1].tokens))
    table("room", {**sizes, "all of it": total(own.values())})
    near = {name: folder_of(name) for name in NEIGHBOURS}
    there = {name: folder for name, folder in near.items() if folder is not None}
    table(
        "house",
        {
            "selfcorrect": total(own.values()),
            **{name: total(rooms(folder).values()) for name, folder in there.items()},
        },
    )
    absent = [name for name in near if name not in there]
    print(f"not installed: {', '.join(absent) or 'none'}")
    maps(package / "maps")
    for name, folder in {"selfcorrect": package, **there}.items():
        shape(name, folder)
    loads()
    healthy()
    texts()


if __name__ == "__main__":
    main()
