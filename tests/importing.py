"""A package read from source: its modules, who imports whom, circles among them, its tokens."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

Graph = dict[str, set[str]]
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT} | {
    tokenize.ENDMARKER
}
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LONG = 200
"""Characters of a text that is counted by its bytes: a table in one text is not one token."""
PER_TOKEN = 4


def modules(folder: Path) -> dict[str, Path]:
    """The modules of a package by their dotted names; a package's own is its `__init__`."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(files: Mapping[str, Path], *, for_types: bool = False) -> Graph:
    """What each module imports of the others, anywhere in it; for type checkers, too, if asked."""
    lazy = {name: _lazy(path) for name, path in files.items() if path.name == "__init__.py"}
    graph = {}
    for name, path in files.items():
        found = set(_imported(name, path, files, lazy, for_types=for_types))
        above = {package for each in found for package in _packages(each)} - {*_packages(name)}
        graph[name] = (found | above & files.keys()) - {name}
    return graph


def circles(graph: Graph) -> list[list[str]]:
    """The sets of modules that lead back to one another, largest first (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found = []
    for start in graph:
        if start in index:
            continue
        todo = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        path.append(start)
        while todo:
            here, rest = todo[-1]
            below = next(rest, None)
            if below is None:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[here])
                if low[here] == index[here]:
                    at = path.index(here)
                    circle, path = path[at:], path[:at]
                    found += [sorted(circle)] if len(circle) > 1 else []
            elif below not in index:
                index[below] = low[below] = len(index)
                path.append(below)
                todo.append((below, iter(sorted(graph[below]))))
            elif below in path:
                low[here] = min(low[here], index[below])
    return sorted(found, key=lambda circle: (-len(circle), circle))


def _packages(module: str) -> Iterator[str]:
    """The packages around a module, which an import of it runs."""
    while module := module.rpartition(".")[0]:
        yield module


def _lazy(path: Path) -> dict[str, str]:
    """The home of each name that a package loads when it is asked for, as type checkers see it."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return {
        alias.asname or alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _imported(
    name: str,
    path: Path,
    files: Mapping[str, Path],
    lazy: Mapping[str, Mapping[str, str]],
    *,
    for_types: bool,
) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"), str(path))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (each for alias in node.names if (each := _known(alias.name, files)))
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                if each := _known(f"{source}.{alias.name}", files) or _known(source, files):
                    yield each
                if home := _known(lazy.get(source, {}).get(alias.name, ""), files):
                    yield home
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += [*node.orelse, *(node.body if for_types else ())]
        else:
            todo += ast.iter_child_nodes(node)


def _known(module: str, files: Mapping[str, Path]) -> str | None:
    return module if module in files else None


def tokens_of(source: str) -> int:
    """The tokens of code: no comments, no docstrings and texts that stand alone, no layout."""
    alone = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, WITH_DOCSTRINGS)
        for each in node.body
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        if isinstance(each.value.value, str)
        for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)
    }
    return sum(
        _weight(each.string) if each.type == tokenize.STRING else 1
        for each in _with_whole_strings(source)
        if each.type not in LAYOUT
        if not (each.type == tokenize.STRING and each.start[0] in alone)
    )


def _weight(text: str) -> int:
    return 1 if len(text) <= LONG else max(1, len(text.encode()) // PER_TOKEN)


def _with_whole_strings(source: str) -> Iterator[tokenize.TokenInfo]:
    """Tokens as Python 3.11 has them, where an f-string is one and not all that stands in it."""
    start, end = (getattr(tokenize, f"FSTRING_{each}", None) for each in ("START", "END"))
    depth = 0
    for each in tokenize.generate_tokens(StringIO(source).readline):
        depth -= each.type == end
        if depth == 0 and each.type != end:
            yield each
        depth += each.type == start
