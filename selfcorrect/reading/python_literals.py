"""The literals of Python as JSON; nothing is ever evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final, NoReturn

from selfcorrect.model import JSON
from selfcorrect.plain import DEPTH, two_values
from selfcorrect.reading.contract import Deviation
from selfcorrect.reading.strings import SURROGATE

JSON_NAMES: Final[Mapping[str, JSON]] = {"true": True, "false": False, "null": None}
"""Literals of JSON, which are names in Python."""


class NotLiteral(Exception):
    """A part of the code is more than a literal."""

    def __init__(self, node: ast.AST, what: str) -> None:
        self.offset = getattr(node, "col_offset", 0)
        self.what = what
        super().__init__(what)


def literals(
    tree: ast.Call, notes: list[Deviation], start: int
) -> tuple[list[JSON], dict[str, JSON]]:
    """The arguments of a call, those without a name first.

    Raises:
        NotLiteral: If one of them is more than a literal.
    """
    for item in tree.args:
        if isinstance(item, ast.Tuple) and not item.elts:
            raise NotLiteral(item, "brackets with nothing in them")
    positional = [_literal(item, 0, notes, start) for item in tree.args]
    named: dict[str, JSON] = {}
    for keyword in tree.keywords:
        value = _literal(keyword.value, 0, notes, start)
        if keyword.arg is not None:
            given = {keyword.arg: value}
        elif isinstance(value, dict):
            given = value
        else:
            raise NotLiteral(keyword, "an expression is never evaluated")
        for key, item in given.items():
            if key in named and (why := two_values("argument", key, named[key], item)) is not None:
                raise NotLiteral(keyword, why)
            named[key] = item
    return positional, named


def _literal(node: ast.expr, depth: int, notes: list[Deviation], start: int) -> JSON:
    """The JSON value of a literal.

    Raises:
        NotLiteral: If it is anything else.
    """
    if depth > DEPTH:
        raise NotLiteral(node, f"nested deeper than {DEPTH} levels")
    if isinstance(node, ast.Constant):
        return _constant(node)
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item, depth + 1, notes, start) for item in node.elts]
    if isinstance(node, ast.Dict):
        return _mapping(node, depth, notes, start)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _literal(node.operand, depth + 1, notes, start)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Name) and node.id in JSON_NAMES:
        notes.append(Deviation(start, "a JSON literal in code"))
        return JSON_NAMES[node.id]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        # `dict(a=1)` is a literal in another spelling; `dict([…])` computes one.
        return _refuse(node) if node.args else literals(node, notes, start)[1]
    return _refuse(node)


def _constant(node: ast.Constant) -> JSON:
    value = node.value
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and abs(value) != float("inf"):
        return value
    if isinstance(value, str) and SURROGATE.search(value) is None:
        return value
    return _refuse(node)


def _mapping(node: ast.Dict, depth: int, notes: list[Deviation], start: int) -> JSON:
    found: dict[str, JSON] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        if key is None:
            _refuse(node)
        name = _literal(key, depth + 1, notes, start)
        if isinstance(name, int) and not isinstance(name, bool):
            notes.append(Deviation(start, "a key without quotes"))
            name = str(name)
        if not isinstance(name, str):
            _refuse(key)
        value = _literal(item, depth + 1, notes, start)
        if name in found and (why := two_values("key", name, found[name], value)) is not None:
            raise NotLiteral(key, why)
        found[name] = value
    return found


def _refuse(node: ast.AST) -> NoReturn:
    if isinstance(node, ast.Name):
        raise NotLiteral(node, f"{node.id[:40]!r} is a name, not a value")
    raise NotLiteral(node, "an expression is never evaluated")
