"""Reads JSON the way models write it: linear time, no recursion, every deviation on record.

What has one reading is read; what has several, or is cut off where a value may have gone on, is a
`Fault` with its place. Keys and shape survive: nothing is dropped, moved or made up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.model import JSON, Safety
from selfcorrect.plain import DEPTH, canonical
from selfcorrect.pointer import join, put
from selfcorrect.reading import (
    COMMA_MISSING,
    QUOTES,
    RIVAL_LEVELS,
    SURROGATE,
    Fault,
    JsonRead,
    Strings,
    Unreadable,
    other_readings,
    strict_json,
)

EXACT, INFERRED = Safety.EXACT, Safety.INFERRED
_CLOSER: Final = MappingProxyType({"{": "}", "[": "]", "(": ")"})
_LITERALS: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        spelling: value
        for word, value in (("true", True), ("false", False), ("null", None), ("none", None))
        for spelling in (word, word.title(), word.upper())
    }
)
_CLOSERS: Final = frozenset("}])")
_CONTAINERS: Final[Mapping[str, type]] = MappingProxyType({"{": dict, "[": list})
_FOLLOW: Final = frozenset(",}])")
_STRICT_WORDS: Final = ("true", "false", "null")
_MOST_TWICE: Final = 50
_REOPENED: Final = "the opening bracket of a list is missing"
_GUESSES: Final = ("quotes inside", "missing comma", "missing '", _REOPENED)
_CLOSED_TOO_OFTEN: Final = re.compile(r"\s*+(?:[}\])]|[,:\"'])")
_GOES_ON: Final = re.compile(r"[\s}\])]*+[,:\"']")
"""What shows behind a value that JSON goes on there."""

_WS = r"[ \t\r\n]*+"
_STRING = r"\"([^\"\\\x00-\x1f]*+)\"|'([^'\\\x00-\x1f]*+)'"
_KEY = re.compile(rf"{_WS}(?:{_STRING}|([A-Za-z_$][\w$-]*+)){_WS}:{_WS}")
_SCALAR = re.compile(
    rf"{_WS}(?:(?:{_STRING}){_WS}([,}}\])])"
    r"|(?:(-?(?:0|[1-9][0-9]{0,300})(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?)"
    rf"|(true|false|null|True|False|None)){_WS}(?:([,}}\])])|(?<=\s)(?=[\"'])))"
)
_AFTER = re.compile(rf"{_WS}([,}}\])])")
_SPACE = re.compile(
    r"([ \t\r\n]++)|(\s++|[\ufeff\u200b\u2060]++)|(//[^\n]*+|/\*.*?\*/|#[^\n]*+)", re.DOTALL
)
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][-+]?[0-9]+)?")
_NUMBER_GOES_ON = re.compile(r"[ \t]*(?:[-+*%^&|=<>]|/(?![/*])|//[ \t]*[\d(])|[\w.$'\"“”(\[{]")
_WORD = re.compile(r"[^\W\d][\w$]*+")
_BARE_KEY = re.compile(r"([^\W\d][\w$-]*+|[0-9]{1,18})\s*+:")
_KEY_SPELLING: Final[Mapping[int | None, tuple[str, Safety]]] = {
    2: ("single quotes", EXACT),
    3: ("a key without quotes", EXACT),
}


def read_json(
    text: str,
    start: int = 0,
    *,
    whole: bool = True,
    closers: bool = True,
    final_number: bool = False,
    unwrap: bool = True,
) -> JsonRead | Fault:
    """Read the JSON value that starts at an offset, tolerating what models get wrong.

    Args:
        text: What was written.
        start: Where to begin; white space there is skipped.
        whole: The value has to be all that the text holds; what else is there gets reported.
            Otherwise reading stops behind the value.
        closers: Closing brackets that are missing at the very end may be added. Pass False where
            it is known that the text was cut off.
        final_number: A number at the very end counts as complete.
        unwrap: A text that is a JSON string stands for the JSON in it.

    >>> read = read_json("{'city': 'Oslo', 'days': [1, 2,],}")
    >>> read.value
    {'city': 'Oslo', 'days': [1, 2]}
    >>> sorted({d.what for d in read.deviations})
    ['single quotes', 'trailing comma']
    >>> read_json('{"city": "Os')
    Fault(offset=9, what='cut off inside a string', cut=True)
    """
    surrogate = None if text.isascii() else SURROGATE.search(text)
    if surrogate:
        return Fault(surrogate.start(), "half a character (a lone surrogate)")
    scan = _Scan(text, closers=closers, final_number=final_number, whole=whole)
    try:
        return scan.read(start, unwrap=unwrap)
    except Unreadable as error:
        reach = max(error.fault.offset, scan.pos, scan.reach)
        return (_unescaped(scan, start) if whole else None) or replace(error.fault, reach=reach)


def _unescaped(scan: _Scan, start: int) -> JsonRead | None:
    """Reads JSON that was escaped once too often: its quotes have backslashes."""
    body = scan.text[start:].strip()
    if not body.startswith(("{\\", "[\\", "{ \\", "[{\\")):
        return None
    inner = strict_json(f'"{body}"')
    if inner is None:
        return None
    again = _Scan(inner.value, closers=scan.closers, final_number=scan.final_number, whole=True)
    again.note(start, "escaped once too often", EXACT)
    try:
        return again.read(0, unwrap=True)
    except Unreadable:
        return None


class _Frame:
    """An object, list or tuple that is still open."""

    __slots__ = ("closer", "items", "key", "last", "reopened", "start", "twice")

    def __init__(self, opener: str, start: int) -> None:
        self.closer = _CLOSER[opener]
        self.items: Any = {} if opener == "{" else []
        self.reopened = False
        self.key: Any = ""
        self.start = start
        self.last = -1
        self.twice: list[_Twice] = []

    def put(self, value: JSON) -> None:
        if self.closer == "}":
            self.items[self.key] = value
        else:
            self.items.append(value)


class _Twice:
    """Stands for a key that the object has already, until both values can be compared."""

    __slots__ = ("key", "offset")

    def __init__(self, key: str, offset: int) -> None:
        self.key = key
        self.offset = offset


class _Scan(Strings):
    """One pass over one text."""

    __slots__ = (
        *("closers", "compared", "final_number", "implied", "pos", "reopened", "rivals", "stack"),
    )

    def __init__(self, text: str, *, closers: bool, final_number: bool, whole: bool) -> None:
        super().__init__(text, whole=whole)
        self.closers = closers
        self.final_number = final_number
        self.pos = 0
        self.compared = 0
        self.implied = False
        self.reopened = False
        self.stack: list[_Frame] = []
        self.rivals: list[tuple[tuple[str | int, ...], JSON]] = []

    def read(self, start: int, *, unwrap: bool) -> JsonRead:
        if self.text.startswith("\ufeff", start):
            self.note(start, "byte order mark", EXACT)
            start += 1
        begin = self.space(start)
        if begin >= self.size:
            self.fail(begin, "there is nothing to read")
        self.pos = begin
        if self.text[begin] in _CLOSER:
            value = self.push(begin).items
            self.containers()
        else:
            value, self.pos = self.scalar(begin, "")
        end = self.pos
        if self.implied and _CLOSED_TOO_OFTEN.match(self.text, end):
            self.fail(end, "brackets that do not match")
        if len({kind for note in self.notes if (kind := _guess(note.what))}) > 1:
            self.fail(begin, "JSON that is broken in more than one way")
        if self.whole:
            self.rest(end, scalar=not isinstance(value, dict | list))
            if isinstance(value, str) and unwrap:
                return self.inside(value, begin)
        rivals = tuple(put(value, join(*path), other) for path, other in self.rivals)
        return JsonRead(value, begin, end, tuple(self.notes), rivals)

    def inside(self, value: str, begin: int) -> JsonRead:
        """The value that a string stands for which holds JSON."""
        if not value.lstrip().startswith(("{", "[", '"')):
            return JsonRead(value, begin, self.pos, tuple(self.notes))
        self.note(begin, "JSON inside a JSON string", EXACT)
        inner = read_json(value, closers=self.closers, final_number=self.final_number)
        if isinstance(inner, Fault):
            self.fail(begin, f"a string that holds broken JSON: {inner.what}", cut=inner.cut)
        self.notes += [each._replace(offset=begin) for each in inner.deviations]
        return JsonRead(inner.value, begin, self.pos, tuple(self.notes), inner.rivals)

    def containers(self) -> None:  # noqa: C901, PLR0912 -- inlined: it sees every value
        """Read on until the outermost container is closed. The hot loop."""
        text, stack = self.text, self.stack
        while stack:
            frame = stack[-1]
            pos = self.pos
            if frame.closer == "}":
                found = _KEY.match(text, pos)
                if found is not None and (key := found[found.lastindex or 1]) not in frame.items:
                    frame.key = key
                    pos = found.end()
                    if (spelling := found.lastindex) != 1:
                        self.note(found.start(spelling or 0), *_KEY_SPELLING[spelling])
                else:
                    pos = self.key(frame)
                    if pos < 0:
                        continue
            found = _SCALAR.match(text, pos)
            if found is None:
                self.item(frame, pos)
                continue
            value = found[1]
            if value is None:
                value = self.plain(found, frame)
            else:
                frame.last = found.start(1) - 1
            if frame.closer == "}":
                frame.items[frame.key] = value
            else:
                frame.items.append(value)
            follow = found[3] or found[8]
            if follow == ",":
                self.pos = found.end()
                if text[self.pos : self.pos + 1] in _CLOSERS:
                    self.trailing(frame, self.pos)
            else:
                self.pos = found.end() - len(follow or "")
                self.settle()

    def plain(self, found: re.Match[str], frame: _Frame) -> JSON:
        """The value of a match of `_SCALAR` that is no string in double quotes."""
        _, single, _, number, fraction, exponent, word, _ = found.groups()
        if single is not None:
            frame.last = found.start(2) - 1
            self.note(frame.last, "single quotes", EXACT)
            return single
        frame.last = -1
        if number is not None:
            if fraction is None and exponent is None:
                return int(number)
            return self.finite(float(number), found.start(4))
        if word not in _STRICT_WORDS:
            self.note(found.start(7), "Python literal", EXACT)
        return _LITERALS[word]

    def finite(self, number: float, offset: int) -> float:
        if not math.isfinite(number):
            self.fail(offset, "a number beyond the range of a float")
        return number

    def deeper(self, pos: int) -> None:
        if len(self.stack) >= DEPTH:
            self.fail(pos, f"nested deeper than {DEPTH} levels")

    def push(self, pos: int) -> _Frame:
        self.deeper(pos)
        frame = _Frame(self.text[pos], pos)
        if self.stack:
            self.stack[-1].last = -1
            self.stack[-1].put(frame.items)
        if frame.closer == ")":
            self.note(pos, "a tuple", EXACT)
        self.stack.append(frame)
        self.pos = pos + 1
        return frame

    def space(self, pos: int) -> int:
        """The offset of what comes next, behind white space and comments."""
        while (found := _SPACE.match(self.text, pos)) is not None:
            if found.lastindex == 2:
                self.note(pos, "unusual white space", EXACT)
            elif found.lastindex == 3:
                if self.text[pos - 1 : pos] in QUOTES:
                    self.fail(pos, "a comment right behind a string")
                self.note(pos, "a comment", EXACT)
            pos = found.end()
        return pos

    def key(self, frame: _Frame) -> int:
        """Read a key and its colon; -1 where there was something else, already dealt with."""
        pos = self.space(self.pos)
        if pos >= self.size:
            self.fail(pos, "cut off inside an object", cut=True)
        found = _KEY.match(self.text, pos) if pos > self.pos else None
        if found is not None and found[1] and found[1] not in frame.items:
            frame.key = found[1]
            return found.end()
        char = self.text[pos]
        if char in "}])":
            return self.trailing(frame, pos)
        if char == "," and frame.items:
            self.note(pos, "a comma too many", EXACT)
            self.pos = pos + 1
            return -1
        if self.reopen(frame, pos, char):
            return -1
        name, end = self.name(frame, pos, char)
        if end < 0:
            return -1
        if name in frame.items:
            if len(frame.twice) >= _MOST_TWICE:
                self.fail(pos, "too many keys are written twice")
            twice = _Twice(name, pos)
            frame.twice.append(twice)
            frame.key = twice
        else:
            frame.key = name
        return end

    def reopen(self, frame: _Frame, pos: int, char: str) -> bool:
        """Take the last value of an object as the first of a list that nothing opened."""
        kind = _CONTAINERS.get(char)
        if kind is None or self.reopened or isinstance(frame.key, _Twice):
            return False
        if not isinstance(first := frame.items.get(frame.key), kind):
            return False
        self.deeper(pos)
        self.reopened = True
        self.note(pos, _REOPENED, INFERRED)
        outer = _Frame("[", pos)
        outer.items.append(first)
        outer.reopened = True
        frame.put(outer.items)
        self.stack.append(outer)
        self.pos = pos
        return True

    def name(self, frame: _Frame, pos: int, char: str) -> tuple[str, int]:
        """A key, and the offset behind its colon; -1 if a string before it went on to here."""
        if char in QUOTES:
            end = self.body(pos)
            colon = self.space(end + 1) if end < self.size else self.size
            if colon >= self.size:
                self.fail(pos, "cut off inside a key", cut=True)
            if self.text.startswith(":", colon):
                return self.decode(pos, end), colon + 1
        elif found := _BARE_KEY.match(self.text, pos):
            number = found[1][0].isdigit()
            self.note(pos, "a key without quotes", INFERRED if number else EXACT)
            return found[1], found.end()
        if self.extend(frame):
            return "", -1
        return self.fail(pos, "a key was expected here")

    def trailing(self, frame: _Frame, pos: int) -> int:
        """A closer where an item could stand."""
        if frame.items:
            self.note(pos, "trailing comma", EXACT)
        self.pos = pos
        self.settle()
        return -1

    def item(self, frame: _Frame, pos: int) -> None:
        """Read a value that the fast path could not."""
        pos = self.space(pos)
        if pos >= self.size:
            self.fail(pos, "cut off before a value", cut=True)
        char = self.text[pos]
        if char in _CLOSER:
            self.push(pos)
        elif char in "}])" and frame.closer != "}":
            self.trailing(frame, pos)
        elif char in "}]),:":
            self.fail(pos, "a value is missing here")
        elif char in QUOTES or not self.extends(frame, pos):
            value, end = self.scalar(pos, frame.closer)
            frame.put(value)
            frame.last = pos if char in QUOTES else -1
            self.pos = end
            self.settle()

    def extends(self, frame: _Frame, pos: int) -> bool:
        """Whether the string before this item went on to here: `["a", b", "c"]`."""
        if frame.closer == "}" or frame.last < 0:
            return False
        word = _WORD.match(self.text, pos)
        return word is not None and word[0] not in _LITERALS and self.extend(frame)

    def settle(self) -> None:
        """Behind a value: take the comma, or close what is closed here."""
        text, stack = self.text, self.stack
        while stack:
            pos = self.pos
            if text[pos : pos + 1] not in _FOLLOW:
                found = _AFTER.match(text, pos)
                pos = found.start(1) if found else self.space(pos)
            frame = stack[-1]
            if pos >= self.size:
                self.finish()
                return
            char = text[pos]
            if char == ",":
                self.pos = pos + 1
                if text[self.pos : self.pos + 1] not in _CLOSERS:
                    return
                self.note(self.pos, "trailing comma", EXACT)
                continue
            if char == frame.closer:
                self.pos = pos + 1
                self.close(frame)
            elif char in "}])":
                self.imply(char, pos)
            elif frame.closer != ")" and self.comma(frame, pos):
                return
            else:
                self.fail(pos, "a comma or a closing bracket was expected here")

    def comma(self, frame: _Frame, pos: int) -> bool:
        """Whether a comma is missing here."""
        if COMMA_MISSING[frame.closer].match(self.text, self.pos) is None and not (
            "\n" in self.text[self.pos : pos]
            and self.text[pos] in "-0123456789tfnTFN"
            and frame.closer == "]"
        ):
            return False
        self.note(pos, "missing comma", INFERRED)
        self.pos = pos
        return True

    def close(self, frame: _Frame) -> None:
        self.stack.pop()
        if frame.twice:
            self.compare(frame)
        if frame.reopened and isinstance(frame.items[0], list):
            self.rivals.append((self.path(self.stack), [*frame.items[0], *frame.items[1:]]))
        if frame.closer == ")" and len(frame.items) == 1:
            inner = self.text[frame.start : self.pos - 1].rstrip()
            if not inner.endswith(","):
                self.fail(frame.start, "an expression in parentheses")

    def compare(self, frame: _Frame) -> None:
        """Drop keys that were written twice with the same value; different values are a fault."""
        self.compared += self.pos - frame.start
        if self.compared > 4 * self.size:
            self.fail(frame.start, "too many keys are written twice")
        for twice in frame.twice:
            first, second = frame.items[twice.key], frame.items.pop(twice)
            if canonical(first) != canonical(second):
                self.fail(twice.offset, f"the key {twice.key[:40]!r} has two different values")
            self.note(twice.offset, "a key written twice with the same value", EXACT)

    def imply(self, char: str, pos: int) -> None:
        """A closer that fits an outer container: the inner ones were left open."""
        levels = [frame.closer for frame in self.stack]
        if char not in levels:
            self.fail(pos, f"{char!r} closes nothing")
        self.implied = True
        while self.stack[-1].closer != char:
            self.rival()
            frame = self.stack[-1]
            self.note(pos, f"missing {frame.closer!r}", INFERRED)
            self.pos = pos
            self.close(frame)

    def finish(self) -> None:
        """The text ends inside containers, behind a complete value."""
        missing = "".join(frame.closer for frame in reversed(self.stack))
        commented = bool(self.notes) and self.notes[-1].what == "a comment"
        if not self.closers or self.implied or commented:
            self.fail(self.size, f"the text ends where {missing!r} is missing", cut=True)
        self.note(self.size, f"missing {missing!r} at the end", INFERRED)
        self.pos = self.size
        while self.stack:
            self.rival()
            self.close(self.stack[-1])

    def rival(self) -> None:
        """Put on record how else the innermost open container could have been meant."""
        path = self.path(self.stack[:-1])
        for other in other_readings(self.stack[-1].items):
            if len(self.rivals) >= RIVAL_LEVELS:
                self.fail(self.pos, "a bracket is missing that could stand in many places")
            self.rivals.append((path, other))

    def path(self, frames: list[_Frame]) -> tuple[str | int, ...]:
        """Where the last child of the innermost of some open containers stands."""
        path = tuple(frame.key if frame.closer == "}" else len(frame.items) - 1 for frame in frames)
        if any(isinstance(token, _Twice) for token in path):
            self.fail(self.pos, "a bracket is missing around a key that is written twice")
        return path

    def scalar(self, pos: int, where: str) -> tuple[JSON, int]:
        char = self.text[pos]
        if char in QUOTES:
            return self.string(pos, where)
        if char in "+-.0123456789":
            return self.number(pos)
        word = _WORD.match(self.text, pos)
        if word is None:
            return self.fail(pos, "a value was expected here")
        if word[0] not in _LITERALS:
            cut = word.end() >= self.size
            return self.fail(pos, f"{word[0][:40]!r} is not a JSON value", cut=cut)
        if self.text.startswith(("(", ".", "[", "{", '"', "'"), word.end()):
            self.fail(pos, "an expression is never evaluated")
        if word[0] not in _STRICT_WORDS:
            self.note(pos, "Python literal", EXACT)
        return _LITERALS[word[0]], word.end()

    def number(self, pos: int) -> tuple[JSON, int]:
        found = _NUMBER.match(self.text, pos)
        if found is None:
            return self.fail(pos, "this is not a JSON number")
        raw, end = found[0], found.end()
        digits = raw.lstrip("+-")
        if len(digits) > 1 and digits[0] == "0" and digits[1] not in ".eE":
            self.fail(pos, "a number with leading zeros, or not a decimal one")
        if _NUMBER_GOES_ON.match(self.text, end):
            self.fail(pos, "an expression or a unit: it is never evaluated")
        if end >= self.size and not self.final_number:
            self.fail(pos, "a number at the very end, which may be cut off", cut=True)
        try:
            if digits.isdigit() or digits.replace("_", "").isdigit():
                value: JSON = int(raw)
            else:
                value = self.finite(float(raw), pos)
        except ValueError:
            return self.fail(pos, "this is not a JSON number")
        if raw[0] == "+" or "_" in raw or digits[0] == "." or digits.endswith("."):
            self.note(pos, "a number in another spelling", EXACT)
        return value, end

    def extend(self, frame: _Frame) -> bool:
        """Take the last string further, where what follows its comma cannot be an item."""
        if frame.last < 0 or self.text[self.space(self.pos)] in QUOTES:
            return False
        pos = frame.last
        end = self.longer(pos, self.body(pos), frame.closer, inches=False)
        if frame.closer == "}":
            frame.items[frame.key] = self.decode(pos, end)
        else:
            frame.items[-1] = self.decode(pos, end)
        frame.last = -1
        self.pos = end + 1
        self.settle()
        return True

    def rest(self, end: int, *, scalar: bool) -> None:
        """What stands behind the value."""
        rest = self.text[self.space(end) :].rstrip()
        if not rest:
            return
        if self.implied:
            self.fail(end, "brackets that do not match")
        if not rest.strip("}]) \t\r\n"):
            self.note(end, "a closing bracket too many", INFERRED)
        elif not rest.strip(";,` \t\r\n"):
            self.note(end, "punctuation behind the value", EXACT)
        elif scalar or _GOES_ON.match(rest) or re.search(r"[{\[]", rest):
            self.fail(end, "there is more than one value")
        else:
            self.note(end, "text behind the value", INFERRED)


def _guess(what: str) -> str | None:
    """The kind of a deviation after which nobody can be sure of a second one."""
    return next((kind for kind in _GUESSES if what.startswith(kind)), None)
