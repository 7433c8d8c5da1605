"""Open objects and lists, and how they are closed: also where a bracket is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.plain import DEPTH, two_values
from selfcorrect.reading.brackets import RIVAL_LEVELS, other_readings
from selfcorrect.reading.contract import Oddity, has
from selfcorrect.reading.scalars import Scalars
from selfcorrect.reading.strings import COMMA_MISSING

CLOSER: Final = MappingProxyType({"{": "}", "[": "]", "(": ")"})
CLOSERS: Final = frozenset("}])")
REOPENED: Final = "the opening bracket of a list is missing"
_CONTAINERS: Final[Mapping[str, type]] = MappingProxyType({"{": dict, "[": list})
_FOLLOW: Final = frozenset(",}])")
_AFTER = re.compile(r"[ \t\r\n]*+([,}\])])")


class Frame:
    """An object, list or tuple that is still open."""

    __slots__ = ("closer", "items", "key", "last", "reopened", "start", "twice")

    def __init__(self, opener: str, start: int) -> None:
        self.closer = CLOSER[opener]
        self.items: Any = {} if opener == "{" else []
        self.reopened = False
        self.key: Any = ""
        self.start = start
        self.last = -1
        self.twice: list[Twice] = []

    def put(self, value: JSON) -> None:
        if self.closer == "}":
            self.items[self.key] = value
        else:
            self.items.append(value)


class Twice:
    """Stands for a key that the object has already, until both values can be compared."""

    __slots__ = ("key", "offset")

    def __init__(self, key: str, offset: int) -> None:
        self.key = key
        self.offset = offset


class Nesting(Scalars):
    """One pass over one text, as far as what is open there is concerned.

    Attributes:
        pos: Where the pass is.
        compared: Characters of objects that were compared for keys written twice.
        implied: A closing bracket was missing before another one.
        reopened: The opening bracket of a list was missing.
        stack: What is open, the innermost last.
        rivals: What else could stand where, because a bracket is missing.
        unclosed: Whether the text ends inside containers.
    """

    __slots__ = ("compared", "implied", "pos", "reopened", "rivals", "stack", "unclosed")

    def __init__(self, text: str, *, whole: bool) -> None:
        super().__init__(text, whole=whole)
        self.pos = 0
        self.compared = 0
        self.implied = False
        self.reopened = False
        self.stack: list[Frame] = []
        self.rivals: list[tuple[tuple[str | int, ...], JSON]] = []
        self.unclosed = False

    def push(self, pos: int) -> Frame:
        self.deeper(pos)
        frame = Frame(self.text[pos], pos)
        if self.stack:
            self.stack[-1].last = -1
            self.stack[-1].put(frame.items)
        if frame.closer == ")":
            self.note(pos, "a tuple")
        self.stack.append(frame)
        self.pos = pos + 1
        return frame

    def deeper(self, pos: int) -> None:
        if len(self.stack) >= DEPTH:
            self.fail(pos, f"nested deeper than {DEPTH} levels", deep=True)

    def reopen(self, frame: Frame, pos: int, char: str) -> bool:
        """Take the last value of an object as the first of a list that nothing opened."""
        kind = _CONTAINERS.get(char)
        if kind is None or self.reopened or isinstance(frame.key, Twice):
            return False
        if not isinstance(first := frame.items.get(frame.key), kind):
            return False
        if has(self.notes, Oddity.TRAILING_COMMA):
            return False  # the bracket may be missing behind that comma
        self.deeper(pos)
        self.reopened = True
        self.note(pos, REOPENED, Oddity.REOPENED)
        outer = Frame("[", pos)
        outer.items.append(first)
        outer.reopened = True
        frame.put(outer.items)
        self.stack.append(outer)
        self.pos = pos
        return True

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
                if text[self.pos : self.pos + 1] not in CLOSERS:
                    return
                self.note(self.pos, "trailing comma", Oddity.TRAILING_COMMA)
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

    def trailing(self, frame: Frame, pos: int) -> int:
        """A closer where an item could stand."""
        if frame.items:
            self.note(pos, "trailing comma", Oddity.TRAILING_COMMA)
        self.pos = pos
        self.settle()
        return -1

    def comma(self, frame: Frame, pos: int) -> bool:
        """Whether a comma is missing here."""
        if COMMA_MISSING[frame.closer].match(self.text, self.pos) is None and not (
            "\n" in self.text[self.pos : pos]
            and self.text[pos] in "-0123456789tfnTFN"
            and frame.closer == "]"
        ):
            return False
        self.note(pos, "missing comma", Oddity.COMMA_MISSING)
        self.pos = pos
        return True

    def close(self, frame: Frame) -> None:
        self.stack.pop()
        if frame.twice:
            self.compare(frame)
        if frame.reopened and isinstance(frame.items[0], list):
            self.rivals.append((self.path(self.stack), [*frame.items[0], *frame.items[1:]]))
        if frame.closer == ")" and len(frame.items) == 1:
            inner = self.text[frame.start : self.pos - 1].rstrip()
            if not inner.endswith(","):
                self.fail(frame.start, "an expression in parentheses")

    def compare(self, frame: Frame) -> None:
        """Drop keys that were written twice with the same value; different values are a fault."""
        self.compared += self.pos - frame.start
        if self.compared > 4 * self.size:
            self.fail(frame.start, "too many keys are written twice")
        for twice in frame.twice:
            first, second = frame.items[twice.key], frame.items.pop(twice)
            if (why := two_values("key", twice.key, first, second)) is not None:
                self.fail(twice.offset, why)
            self.note(twice.offset, "a key written twice with the same value")

    def imply(self, char: str, pos: int) -> None:
        """A closer that fits an outer container: the inner ones were left open."""
        levels = [frame.closer for frame in self.stack]
        if char not in levels:
            self.fail(pos, f"{char!r} closes nothing")
        self.implied = True
        while self.stack[-1].closer != char:
            self.rival()
            frame = self.stack[-1]
            self.note(pos, f"missing {frame.closer!r}", Oddity.CLOSER_MISSING)
            self.pos = pos
            self.close(frame)

    def finish(self) -> None:
        """The text ends inside containers, behind a complete value."""
        missing = "".join(frame.closer for frame in reversed(self.stack))
        if self.implied:
            self.fail(self.size, f"the text ends where {missing!r} is missing", cut=True)
        self.note(self.size, f"missing {missing!r} at the end", Oddity.CLOSER_MISSING)
        self.pos = self.size
        self.unclosed = True
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

    def path(self, frames: list[Frame]) -> tuple[str | int, ...]:
        """Where the last child of the innermost of some open containers stands."""
        path = tuple(frame.key if frame.closer == "}" else len(frame.items) - 1 for frame in frames)
        if any(isinstance(token, Twice) for token in path):
            self.fail(self.pos, "a bracket is missing around a key that is written twice")
        return path
