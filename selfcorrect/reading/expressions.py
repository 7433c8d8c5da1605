"""Calls in code that may not run them: conditions, comprehensions, bodies, chains of methods.

No code around a call is ever run, so a call that depends on it is not made.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import Final

from selfcorrect.reading.contract import Candidate, Fault

_EXPRESSION: Final = "an expression is never evaluated"
_BODY: Final = "code that may not run"
_QUOTED: Final = "a call inside a text"
_LONGEST_BLOCK: Final = 20_000
_LONGEST_LINE: Final = 2_000
_FENCE: Final = re.compile(r"```[\w-]*+")
_WARNS: Final = re.compile(r"\d(?:and|else|for|i[fns]|not|or)|0[xob]", re.IGNORECASE)
"""Where the parser would warn."""
_ESCAPE: Final = re.compile(r"\\[^\n]")
_NUMBER: Final = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]+", re.MULTILINE)
_MARK: Final = re.compile(r"_call_(\d+)_")
_ONLY_CALLS: Final = re.compile(r"(?:_call_\d+_|[\s\[\](),;])*+\Z")
_OPENER: Final = re.compile(
    r"(?:async\s+)?(?:def|class|if|elif|else|for|while|except|case)\b.*:\s*(?:#.*)?\Z"
    r"|(?:(?:async|export|public|static|\})\s*)*(?:function|if|for|while|else|switch)\b.*\{\s*\Z"
    r"|.*=>\s*\{\s*\Z"
)
"""A line below which, further in, stands what may not run."""


def unevaluated(text: str, calls: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The calls in code, those with a fault that other code around them makes uncertain."""
    if not calls:
        return ()
    faults: dict[int, str] = {}
    filled = _filled(text, calls)
    for start, end, within in _blocks(filled, calls):
        found = _by_tree(_code(text, calls, within, start, end))
        faults |= _in_bodies(filled, calls, within, start, end) if found is None else found
    return tuple(
        replace(call, args=None, fault=Fault(call.start, faults[index]))
        if index in faults and call.fault is None
        else call
        for index, call in enumerate(calls)
    )


def _filled(text: str, calls: Sequence[Candidate]) -> str:
    """The text with a name of the same length in the place of each call."""
    parts: list[str] = []
    pos = 0
    for call in calls:
        parts += [text[pos : call.start], "_" * (call.end - call.start)]
        pos = call.end
    return "".join([*parts, text[pos:]])


def _blocks(filled: str, calls: Sequence[Candidate]) -> Iterator[tuple[int, int, range]]:
    """The parts of a text between its fences, and which calls each of them holds."""
    first = pos = 0
    for start, end in [*((f.start(), f.end()) for f in _FENCE.finditer(filled)), (len(filled), 0)]:
        last = first
        while last < len(calls) and calls[last].start < start:
            last += 1
        if last > first:
            yield pos, start, range(first, last)
        first, pos = last, end


def _code(text: str, calls: Sequence[Candidate], within: range, start: int, end: int) -> str:
    """A part of the text with a name for each call, by which it is found again."""
    parts: list[str] = []
    for index in within:
        parts += [text[start : calls[index].start], f"_call_{index}_"]
        start = calls[index].end
    return "".join([*parts, text[start:end]])


def _by_tree(code: str) -> dict[int, str] | None:
    """What is wrong with which call; None where the code is not Python."""
    if len(code) > _LONGEST_BLOCK or _WARNS.search(code):
        return None
    try:
        tree = ast.parse(dedent(_NUMBER.sub("", _ESCAPE.sub("xx", code))).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    quoted = len(tree.body) == 1 and _is_text(tree.body[0])
    faults: dict[int, str] = {}
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, why = todo.pop()
        if isinstance(node, ast.Name) and (mark := _MARK.fullmatch(node.id)) and why:
            faults[int(mark[1])] = why
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not quoted:
            marks = [] if _ONLY_CALLS.match(node.value) else _MARK.findall(node.value)
            faults |= {int(mark): why or _QUOTED for mark in marks}
        plain = _unconditional(node)
        todo += [
            (child, why or ("" if child in plain else _reason(node)))
            for child in ast.iter_child_nodes(node)
        ]
    return faults


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _reason(node: ast.AST) -> str:
    return _BODY if isinstance(node, ast.stmt | ast.ExceptHandler | ast.Lambda) else _EXPRESSION


_TRANSPARENT: Final = (
    ast.Module,
    ast.Expr,
    ast.Assign,
    ast.AnnAssign,
    ast.NamedExpr,
    ast.Return,
    ast.Await,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.keyword,
    ast.With,
    ast.AsyncWith,
    ast.withitem,
    ast.Starred,
    ast.UnaryOp,
    ast.BinOp,
    ast.Subscript,
    ast.Attribute,
)
"""What changes nothing about a call in it: it is made, once, whatever becomes of the result."""


def _unconditional(node: ast.AST) -> Sequence[ast.AST]:
    """The children of a node that run if it does."""
    match node:
        case ast.Try():
            return [*node.body, *node.orelse, *node.finalbody]
        case ast.For() | ast.AsyncFor():
            return [node.iter]
        case ast.Call(func=ast.Name(id="print")):
            return [*node.args, *node.keywords]
        case ast.Compare():
            return [node.left, node.comparators[0]]
        case _ if isinstance(node, _TRANSPARENT):
            return list(ast.iter_child_nodes(node))
        case _:
            return ()


def _in_bodies(
    filled: str, calls: Sequence[Candidate], within: range, start: int, end: int
) -> Mapping[int, str]:
    """The calls of a part that is not Python as a whole which stand in the body of something."""
    bodies = _bodies(filled[start:end], start)
    lines = [low for low, _ in bodies]
    found = ((index, bisect_right(lines, calls[index].start) - 1) for index in within)
    return {i: _BODY for i, at in found if at >= 0 and calls[i].start < bodies[at][1]}


def _bodies(part: str, offset: int) -> list[tuple[int, int]]:
    """Where lines are indented below a line that defines something or sets a condition."""
    found: list[tuple[int, int]] = []
    pos = offset
    openers: list[int] = []
    for line in part.splitlines(keepends=True):
        if words := line.strip():
            indent = len(line) - len(line.lstrip())
            while openers and openers[-1] >= indent:
                openers.pop()
            if openers:
                found.append((pos, pos + len(line)))
            if len(words) <= _LONGEST_LINE and _OPENER.match(words):
                openers.append(indent)
        pos += len(line)
    return found
