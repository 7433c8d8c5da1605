"""Reads calls that are written as Python code: `[find(q="x", limit=3), count()]`.

The code is parsed with `ast`, never evaluated: what is not a literal is not read. Where small
slips keep it from being Python, its arguments are read one by one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn, cast

from selfcorrect.model import JSON, JsonObject, Safety
from selfcorrect.plain import DEPTH, canonical
from selfcorrect.protocols import Tool
from selfcorrect.reading import (
    ATTEMPT,
    MOST_CALLS,
    Candidate,
    Deviation,
    Ending,
    Fault,
    JsonRead,
    Offered,
    by_position,
    other_readings,
    parameters,
    read_json,
    surest,
)

_OPEN: Final = re.compile(r"(?<![\w.\\$@-])([^\W\d](?:\w|\\_|\.(?=[^\W\d]))*+)\(")
_BEFORE_DEFINITION: Final = re.compile(r"\b(?:def|class|async)\s+\Z")
_TOKEN: Final = re.compile(
    r"\"\"\"(?:[^\"\\]++|\\.|\"(?!\"\"))*+\"\"\"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    r"|\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'|[()\[\]{}]",
    re.DOTALL,
)
_QUOTE: Final = re.compile(r"[\"']")
_CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_ODD_ESCAPE: Final = re.compile(
    r"(?:[^\\]++|\\[\n\\'\"abfnrtvxuUN0-7])*+\\(?=[^\n\\'\"abfnrtvxuUN0-7])"
)
_PARAMETER: Final = re.compile(r"(?:\A|,)\s*+((?:\w|\\_)++)\s*+(=(?!=)|:)")
_JUNK: Final = re.compile(r"[ \t\r\n'\"\]};,`)]+")
_OVER: Final = re.compile(
    r"[\])};'\"` \t]*+(?:\Z|\n(?!\s*+(?:[\w\"']++\s*+[=:]|[,)\]}'\"\d{\[-])))"
)
"""What shows that no argument follows: only junk up to the end of a line, and none below it."""
_BLOCK_END: Final = re.compile(r"```|</?[A-Za-z_|]")
_BRACKET: Final = re.compile(r"[()\[\]{}]")
_ARGUMENT_BEHIND: Final = re.compile(r"\s*+(?:,\s*+(\w+)\s*+[=:]|(\w+)\s*+=)(?!=)")
"""What stands behind a call that was closed too early: one more of its arguments."""
_STRING_OVER: Final = {
    quote: re.compile(rf"{quote}(?:\s*+[,;]\s*+|\s++)(?:\w|\\_)++\s*+[:=]") for quote in "\"'"
}
"""The end of a string, and the next argument."""
_NEXT_CALL: Final = re.compile(r"\s*+[,;]\s*+[^\W\d][\w.]*+\(")
_BARE_WORDS: Final = re.compile(r"[^\"=;\n(){}\[\]<>`\\|]{1,500}\Z")
_BARE_LIST: Final = re.compile(r"\[([^\"'=;\n(){}\[\]<>`\\|]{1,500})\]\Z")
_QUANTITY: Final = re.compile(r"[$\u20ac\u00a3]?\d[\d.,]{0,20}\s?(?:%|[A-Za-z\u00b0]{1,6})?\Z")
_CODE_NAME: Final = re.compile(r"[A-Za-z]\w*[_\d]\w*\Z|[a-z]+[A-Z]\w*\Z|_\w*\Z")
_NOT_TEXT: Final = re.compile(
    r"\A[A-Za-z]{1,2}'|\*\*|[+*%^&]|\.\.\.|\blambda\b|\b(?:or|and|not|if|for|in)\b.*['\"]"
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BARE: Final = "text without quotes"
_TOO_MANY: Final = "a closing bracket too many"
_NAMES: Final[Mapping[str, JSON]] = {"true": True, "false": False, "null": None}
_TRANSPARENT: Final = ("print", "await")
_LONGEST: Final = 200_000
_MOST_MISSING: Final = 4
_WAITS: Final = frozenset(",=:([{")
"""Behind one of these more was to come."""
_FEW: Final = range(1, _MOST_MISSING + 1)
_WORK: Final = 4


class _NotLiteral(Exception):
    def __init__(self, node: ast.AST, what: str) -> None:
        self.offset = getattr(node, "col_offset", 0)
        self.what = what
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class PythonCalls:
    """Calls as Python code.

    Attributes:
        ending: What is known of the end of the text.
        request: What the user asked for; a name that stands there may be text without quotes.
    """

    ending: Ending
    request: str = ""

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]:
        found: list[Candidate] = []
        work = _WORK * len(text) + 10_000
        pos = 0
        while work > 0 and (opening := _OPEN.search(text, pos)) and len(found) <= MOST_CALLS:
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
            end, missing, reach = _extent(text, paren)
            work -= reach - paren + ATTEMPT
            call = self._call(text, start, paren, end, missing, name, tool)
            if call is None:
                continue
            if "\\_" in written:
                note = Deviation(start, "underscores with backslashes", Safety.EXACT)
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
        fault: Fault | None = None
        if end and end - paren < _LONGEST and not _ODD_ESCAPE.match(text, paren, end):
            tree = _parse(text[paren:end] + missing)
            if tree is not None:
                notes = [Deviation(start, "a call in code", Safety.EXACT)]
                if missing:
                    fault = self._cut(text, end, missing, tool)
                    notes.append(Deviation(end, f"missing {missing!r}", Safety.INFERRED))
                if _is_mention(tree, tool):
                    return None
                if (unclear := _goes_on(text, end, tree, tool)) is not None:
                    return Candidate(name, None, start, end, fault=unclear, code=True)
                call = _from_tree(tree, name, tool, start, end, notes, fault)
                if missing.strip(")") and call.args:
                    args = _settled(call.args, tool)
                    if isinstance(args, Fault):
                        return replace(call, args=None, fault=replace(args, offset=end))
                    call = replace(call, args=args)
                bare = tool is not None and call.fault is not None and not missing
                again = self._slipped(text, start, paren, end, name, tool) if bare else None
                return again if again is not None and _only_bare(again) else call
        return self._slipped(text, start, paren, 0 if missing else end, name, tool)

    def _cut(self, text: str, end: int, missing: str, tool: Tool | None) -> Fault | None:
        """Why brackets that are missing may not be added."""
        if not self.ending.closers:
            return Fault(end, f"{missing!r} is missing in a text that was cut off", cut=True)
        reads_only = tool is not None and tool.effect == "read_only"
        if text[end - 1 :].strip().isalnum() and not (self.ending.complete or reads_only):
            return Fault(end, "a word or number at the very end, which may be cut off", cut=True)
        return None

    def _slipped(
        self, text: str, start: int, paren: int, closed: int, name: str, tool: Tool | None
    ) -> Candidate | None:
        """A call that is not quite Python: its arguments are told apart by their names.

        Where it cannot be read, all that may be part of it (up to `closed`, if that is known) is
        taken for it, so that nothing in its arguments is ever taken for a call.
        """
        if tool is None:
            return None
        following = _OPEN.search(text, paren + 1)
        limit = following.start() if following else len(text)
        for end in _ends(text, paren + 1, limit):
            read = _by_name(text[paren + 1 : end], tool, paren + 1, self.request)
            if read is not None:
                args, notes = read
                note = Deviation(start, "a call in code", Safety.EXACT)
                return Candidate(name, args, start, end + 1, (note, *notes), code=True)
        fault = Fault(paren, "this call cannot be read")
        if following is None and not _ends(text, paren + 1, limit):
            fault = Fault(len(text), "cut off inside a call", cut=True)
        return Candidate(name, None, start, closed or len(text), fault=fault, code=True)


def _settled(args: JsonObject, tool: Tool | None) -> JsonObject | Fault:
    """The arguments, where a bracket that the last one lacks can stand in one place only."""
    last = next(reversed(list(args)))
    rivals = tuple({**args, last: other} for other in other_readings(args[last]))
    settled = surest(JsonRead(dict(args), 0, 0, (), rivals), tool)
    return cast("JsonObject | Fault", settled)


def _only_bare(call: Candidate) -> bool:
    """Whether code that is Python was read otherwise only in that words became text."""
    odd = [each for each in call.deviations if each.safety is not Safety.EXACT]
    return call.fault is None and all(each.what == _BARE for each in odd)


def _extent(text: str, paren: int) -> tuple[int, str, int]:
    """Where the bracket that opens here is closed, what is missing there, and how far was looked.

    Brackets may be missing at the end of the text, before the one that closes the call, or before
    one that closes what stands around it. The end is 0 where brackets do not match otherwise or a
    string is not closed.
    """
    open_: list[str] = []
    last = paren
    for token in _TOKEN.finditer(text, paren):
        char = token[0]
        last = token.end()
        if char in _CLOSER:
            open_.append(_CLOSER[char])
            if len(open_) > DEPTH:
                return 0, "", last
        elif char in ")]}":
            if open_[-1] != char:
                if text[paren : token.start()].rstrip()[-1:] in _WAITS:
                    return 0, "", last
                over = _OVER.match(text, token.start())
                if over and char not in open_ and open_[0] in over[0]:
                    return 0, "", last
                closes = (over and not _closed_below(text, last)) or (
                    char == open_[0] and _NEXT_CALL.match(text, last)
                )
                missing = "".join(reversed(open_)) if closes else ""
                return (token.start(), missing, last) if len(missing) in _FEW else (0, "", last)
            open_.pop()
            if not open_:
                return last, "", last
    size = len(text.rstrip())
    if len(open_) > _MOST_MISSING or text[size - 1] in _WAITS or _QUOTE.search(text, last):
        return 0, "", len(text)
    return size, "".join(reversed(open_)), len(text)


def _closed_below(text: str, pos: int) -> bool:
    """Whether what follows up to the next call closes a bracket that it did not open."""
    following = _OPEN.search(text, pos)
    block = _BLOCK_END.search(text, pos, following.start() if following else len(text))
    end = block.start() if block else following.start() if following else len(text)
    line = text.find("\n", pos, end)
    depth = 0
    for bracket in _BRACKET.finditer(text, line, end) if line >= 0 else ():
        depth += 1 if bracket[0] in _CLOSER else -1
        if depth < 0:
            return True
    return False


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
    fault: Fault | None,
) -> Candidate:
    value: Mapping[str, JSON] | None = None
    try:
        positional, named = _literals(tree, notes, start)
        bound = by_position(positional, named, tool)
        value, fault = bound.value, fault or bound.fault
        notes += bound.deviations
    except _NotLiteral as error:
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
    return all(isinstance(item, ast.Name) and item.id not in _NAMES for item in tree.args)


def _goes_on(text: str, end: int, tree: ast.Call, tool: Tool | None) -> Fault | None:
    """What is wrong where one more argument stands behind the bracket that closes a call."""
    behind = _ARGUMENT_BEHIND.match(text, end)
    if behind is None:
        return None
    name = behind[1] or behind[2]
    given = {keyword.arg for keyword in tree.keywords}
    more = name in parameters(tool) and name not in given
    return Fault(end, "brackets that do not match") if more else None


def _literals(
    tree: ast.Call, notes: list[Deviation], start: int
) -> tuple[list[JSON], dict[str, JSON]]:
    for item in tree.args:
        if isinstance(item, ast.Tuple) and not item.elts:
            raise _NotLiteral(item, "brackets with nothing in them")
    positional = [_literal(item, 0, notes, start) for item in tree.args]
    named: dict[str, JSON] = {}
    for keyword in tree.keywords:
        value = _literal(keyword.value, 0, notes, start)
        if keyword.arg is not None:
            given = {keyword.arg: value}
        elif isinstance(value, dict):
            given = value
        else:
            raise _NotLiteral(keyword, "an expression is never evaluated")
        for key, item in given.items():
            if key in named and canonical(named[key]) != canonical(item):
                raise _NotLiteral(keyword, f"the argument {key[:40]!r} has two different values")
            named[key] = item
    return positional, named


def _literal(node: ast.expr, depth: int, notes: list[Deviation], start: int) -> JSON:
    """The JSON value of a literal.

    Raises:
        _NotLiteral: If it is anything else.
    """
    if depth > DEPTH:
        raise _NotLiteral(node, f"nested deeper than {DEPTH} levels")
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
    if isinstance(node, ast.Name) and node.id in _NAMES:
        notes.append(Deviation(start, "a JSON literal in code", Safety.EXACT))
        return _NAMES[node.id]
    if isinstance(node, ast.Call) and _is_dict(node):
        return _literals(node, notes, start)[1]
    return _refuse(node)


def _is_dict(node: ast.Call) -> bool:
    """Whether it is `dict(a=1)`: a literal in another spelling."""
    return isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args


def _constant(node: ast.Constant) -> JSON:
    value = node.value
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and abs(value) != float("inf"):
        return value
    if isinstance(value, str) and _SURROGATE.search(value) is None:
        return value
    return _refuse(node)


def _mapping(node: ast.Dict, depth: int, notes: list[Deviation], start: int) -> JSON:
    found: dict[str, JSON] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        if key is None:
            _refuse(node)
        name = _literal(key, depth + 1, notes, start)
        if isinstance(name, int) and not isinstance(name, bool):
            notes.append(Deviation(start, "a key without quotes", Safety.INFERRED))
            name = str(name)
        if not isinstance(name, str):
            _refuse(key)
        value = _literal(item, depth + 1, notes, start)
        if name in found and canonical(found[name]) != canonical(value):
            raise _NotLiteral(key, f"the key {name[:40]!r} has two different values")
        found[name] = value
    return found


def _refuse(node: ast.AST) -> NoReturn:
    if isinstance(node, ast.Name):
        raise _NotLiteral(node, f"{node.id[:40]!r} is a name, not a value")
    raise _NotLiteral(node, "an expression is never evaluated")


def _ends(text: str, start: int, limit: int) -> list[int]:
    """Where the arguments that start here may end: brackets that only junk follows."""
    for run in _JUNK.finditer(text, start, limit):
        closing = [n for n in range(run.start(), run.end()) if text[n] == ")"]
        if not closing:
            continue
        first = text.find("\n", closing[0], run.end())
        if first < 0 and run.end() < limit:
            continue
        within = [n for n in closing if first < 0 or n < first]
        return within[: -_MOST_MISSING - 1 : -1]
    return []


def _by_name(
    text: str, tool: Tool, offset: int, request: str
) -> tuple[dict[str, JSON], list[Deviation]] | None:
    """The arguments of a text like `city=New York, days=3`, split at the tool's parameters."""
    known = parameters(tool)
    marks = [found for found in _PARAMETER.finditer(text) if found[1].replace("\\_", "_") in known]
    if not marks or text[: marks[0].start()].strip() or len({mark[2] for mark in marks}) > 1:
        return None
    slices: dict[str, tuple[int, str]] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        name = mark[1].replace("\\_", "_")
        raw = text[mark.end() : following.start() if following else len(text)].strip().rstrip(",")
        if name in slices:
            return None
        slices[name] = (offset + mark.end(), raw)
    colons = marks[0][2] == ":"
    quoted = any(raw[:1] in "\"'" for _, raw in slices.values())
    args: dict[str, JSON] = {}
    notes = [Deviation(offset, "colons before the values", Safety.INFERRED)] if colons else []
    last = next(reversed(slices))
    for name, (place, raw) in slices.items():
        said = None if quoted or colons else request
        read = _value(raw, known[name], place, said, last=name == last)
        if read is None:
            return None
        args[name], more = read
        if raw == name and any(each.what == _BARE for each in more):
            return None
        notes += more
    return args, notes


def _value(
    raw: str, schema: object, place: int, request: str | None, *, last: bool
) -> tuple[JSON, list[Deviation]] | None:
    read = read_json(raw, closers=False, final_number=True, unwrap=False)
    if isinstance(read, JsonRead) and not raw[read.end :].strip("]} \t\r\n" if last else None):
        if _swallows(raw, read) or _lacks_opener(read, schema):
            return None
        value = surest(read, None)
        notes = [each._replace(offset=place + each.offset) for each in read.deviations]
        return None if isinstance(value, Fault) else (value, notes)
    note = [Deviation(place, _BARE, Safety.INFERRED)]
    kinds = _types(schema)
    items = schema.get("items") if isinstance(schema, Mapping) else None
    of_text = kinds == {"array"} and _types(items) == {"string"}
    if _BARE_WORDS.match(raw) and (kinds == {"string"} or of_text) and _is_text(raw, request):
        return raw, note
    if isinstance(schema, Mapping) and raw in (schema.get("enum") or ()):
        return raw, note
    if kinds == {None} and request and _stands_in(raw, request) and _is_text(raw, request):
        return raw, note
    if _QUANTITY.match(raw):
        return raw, note
    listed = _BARE_LIST.match(raw)
    if listed and of_text:
        texts = [item.strip() for item in listed[1].split(",")]
        return (texts, note) if all(_is_text(item, request) for item in texts) else None
    return None


def _swallows(raw: str, read: JsonRead) -> bool:
    """Whether a text with quotes inside is rather two arguments, of which one is not known."""
    inside = any(each.what.startswith("quotes inside") for each in read.deviations)
    over = _STRING_OVER.get(raw[:1])
    return inside and over is not None and over.search(raw, 1) is not None


def _lacks_opener(read: JsonRead, schema: object) -> bool:
    """Whether a list with a closing bracket too many may lack an opening one: `[[1, 2], 3, 4]]`."""
    if not isinstance(read.value, list) or all(isinstance(item, list) for item in read.value):
        return False
    items = schema.get("items") if isinstance(schema, Mapping) else None
    too_many = any(each.what == _TOO_MANY for each in read.deviations)
    return too_many and not _types(items).isdisjoint({"array", None})


def _is_text(raw: str, request: str | None) -> bool:
    """Whether bare words are surely text, and no variable.

    In a call with quotes elsewhere (no `request`) a bare name is a variable. A name that only code
    has, like `my_data`, is text if the user wrote it so.
    """
    if request is None or not raw or raw[0] in "'," or _NOT_TEXT.search(raw):
        return False
    return not _CODE_NAME.match(raw) or (len(raw) > 2 and _stands_in(raw, request))


def _stands_in(raw: str, request: str) -> bool:
    """Whether the user wrote these words, and not only longer ones."""
    return re.search(rf"(?<!\w){re.escape(raw)}(?!\w)", request) is not None


def _types(schema: object) -> set[Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    kinds = set(kind) if isinstance(kind, list) else {kind}
    return kinds - {"null"}
