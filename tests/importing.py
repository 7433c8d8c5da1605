"""Who imports whom, read from source with `ast`: modules, and the circles among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

Graph = dict[str, set[str]]


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
