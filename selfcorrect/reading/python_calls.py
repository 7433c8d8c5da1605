"""Reads calls that are written as Python code: `[find(q="x", limit=3), count()]`.

The code is parsed with `ast`, never evaluated: what is not a literal is not read. Where small
slips keep it from being Python, its arguments are read one by one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import DEPTH
from selfcorrect.protocols import Tool
from selfcorrect.reading.arguments import by_position, surest
from selfcorrect.reading.brackets import other_readings
from selfcorrect.reading.code_extents import CALL_OPENING, extent
from selfcorrect.reading.contract import (
    ATTEMPT,
    MOST_CALLS,
    Candidate,
    Deviation,
    Fault,
    JsonRead,
    Oddity,
    Offered,
    parameters,
)
from selfcorrect.reading.named_arguments import by_name, ends_in
from selfcorrect.reading.python_literals import JSON_NAMES, NotLiteral, literals
from selfcorrect.reading.variables import assigned_names

_BEFORE_DEFINITION: Final = re.compile(r"\b(?:def|class|async)\s+\Z")
_ODD_ESCAPE: Final = re.compile(
    r"(?:[^\\]++|\\[\n\\'\"abfnrtvxuUN0-7])*+\\(?=[^\n\\'\"abfnrtvxuUN0-7])"
)
_ARGUMENT_BEHIND: Final = re.compile(r"\s*+(?:,\s*+(\w+)\s*+[=:]|(\w+)\s*+=)(?!=)")
"""What stands behind a call that was closed too early: one more of its arguments."""
_TRANSPARENT: Final = ("print", "await")
_LONGEST: Final = 200_000
_WORK: Final = 4


@dataclass(frozen=True, slots=True)
class PythonCalls:
    """Calls as Python code.

    Attributes:
        request: What the user asked for; a name that stands there may be text without quotes.
    """

    request: str = ""

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]:
        reader = _Attempt(self.request, assigned_names(text))
        return reader.calls(text, tools)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What is known of one text while its calls are read."""

    request: str
    variables: frozenset[str]

    def calls(self, text: str, tools: Offered) -> tuple[Candidate, ...]:
        found: list[Candidate] = []
        work = _WORK * len(text) + 10_000
        pos = 0
        while work > 0 and (opening := CALL_OPENING.search(text, pos)) and len(found) <= MOST_CALLS:
            start, paren = opening.start(), opening.end() - 1
            pos = opening.end()
            if _BEFORE_DEFINITION.search(text[max(0, start - 12) : start]):
                continue
            written = opening[1]
            name = written.replace("\\_", "_")
            if tools.meant(name) is None and tools.get(name.removesuffix(".call")) is not None:
                name = name.removesuffix(".call")
            tool = tools.meant(name)
            if name in _TRANSPARENT:
                continue
            end, missing, reach = extent(text, paren)
            work -= reach - paren + ATTEMPT
            call = self._call(text, start, paren, end, missing, name, tool)
            if call is None:
                continue
            if "\\_" in written:
                note = Deviation(start, "underscores with backslashes")
                call = replace(call, deviations=(note, *call.deviations))
            found.append(call)
            pos = max(pos, call.end)
        if work <= 0:
            fault = Fault(pos, "too much code")
            return (Candidate("", None, 0, len(text), fault=fault, code=True),)
        return tuple(found)

    def _call(
        self,
        text: str,
        start: int,
        paren: int,
        end: int,
        missing: str,
        name: str,
        tool: Tool | None,
    ) -> Candidate | None:
        """The call that starts here, or None if it is a mere mention."""
        if end and end - paren < _LONGEST and not _ODD_ESCAPE.match(text, paren, end):
            tree = _parse(text[paren:end] + missing)
            if tree is not None:
                notes = [_in_code(start)]
                if missing:
                    what = f"missing {missing!r}"
                    notes.append(Deviation(end, what, Oddity.CLOSER_MISSING))
                if _is_mention(tree, tool):
                    return None
                if (unclear := _goes_on(text, end, tree, tool)) is not None:
                    return Candidate(name, None, start, end, fault=unclear, code=True)
                call = _from_tree(tree, name, tool, start, end, notes)
                if missing.strip(")") and call.args:
                    args = _settled(call.args, tool)
                    if isinstance(args, Fault):
                        return replace(call, args=None, fault=replace(args, offset=end))
                    call = replace(call, args=args)
                bare = tool is not None and call.fault is not None and not missing
                again = self._slipped(text, start, paren, end, name, tool) if bare else None
                return again if again is not None and _only_bare(again) else call
        return self._slipped(text, start, paren, 0 if missing else end, name, tool)

    def _slipped(
        self, text: str, start: int, paren: int, closed: int, name: str, tool: Tool | None
    ) -> Candidate | None:
        """A call that is not quite Python: its arguments are told apart by their names.

        Where it cannot be read, all that may be part of it (up to `closed`, if that is known) is
        taken for it, so that nothing in its arguments is ever taken for a call.
        """
        if tool is None:
            return None
        following = CALL_OPENING.search(text, paren + 1)
        limit = following.start() if following else len(text)
        for end in ends_in(text, paren + 1, limit):
            read = by_name(text[paren + 1 : end], tool, paren + 1, self.request, self.variables)
            if read is not None:
                args, notes = read
                note = _in_code(start)
                return Candidate(name, args, start, end + 1, (note, *notes), code=True)
        fault = Fault(paren, "this call cannot be read")
        if following is None and not ends_in(text, paren + 1, limit):
            fault = Fault(len(text), "cut off inside a call", cut=True)
        return Candidate(name, None, start, closed or len(text), fault=fault, code=True)


def _in_code(start: int) -> Deviation:
    return Deviation(start, "a call in code", Oddity.WRAPPING)


def _settled(args: JsonObject, tool: Tool | None) -> JsonObject | Fault:
    """The arguments, where a bracket that the last one lacks can stand in one place only."""
    last = next(reversed(list(args)))
    rivals = tuple({**args, last: other} for other in other_readings(args[last]))
    settled = surest(JsonRead(dict(args), 0, 0, (), rivals, unclosed=True), tool)
    return cast("JsonObject | Fault", settled)


def _only_bare(call: Candidate) -> bool:
    """Whether code that is Python was read otherwise only in that words became text."""
    plain = (None, Oddity.BARE, Oddity.WRAPPING)
    return call.fault is None and all(each.code in plain for each in call.deviations)


def _parse(code: str) -> ast.Call | None:
    try:
        tree = ast.parse("f" + code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def _from_tree(
    tree: ast.Call,
    name: str,
    tool: Tool | None,
    start: int,
    end: int,
    notes: list[Deviation],
) -> Candidate:
    value: Mapping[str, JSON] | None = None
    fault: Fault | None = None
    try:
        positional, named = literals(tree, notes, start)
        bound = by_position(positional, named, tool)
        value, fault = bound.value, bound.fault
        notes += bound.deviations
    except NotLiteral as error:
        fault = Fault(start, error.what)
    except RecursionError:
        fault = Fault(start, f"nested deeper than {DEPTH} levels")
    args = None if fault else value
    return Candidate(name, args, start, end, tuple(notes), fault=fault, code=True)


def _is_mention(tree: ast.Call, tool: Tool | None) -> bool:
    """`find(query, limit)` describes a tool; `find()` calls it only if it needs no arguments."""
    if tree.keywords:
        return False
    if not tree.args:
        return tool is not None and not tool.is_valid({})
    return all(isinstance(item, ast.Name) and item.id not in JSON_NAMES for item in tree.args)


def _goes_on(text: str, end: int, tree: ast.Call, tool: Tool | None) -> Fault | None:
    """What is wrong where one more argument stands behind the bracket that closes a call."""
    behind = _ARGUMENT_BEHIND.match(text, end)
    if behind is None:
        return None
    name = behind[1] or behind[2]
    given = {keyword.arg for keyword in tree.keywords}
    more = name in parameters(tool) and name not in given
    return Fault(end, "brackets that do not match") if more else None
