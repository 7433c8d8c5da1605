"""Reads JSON the way models write it: linear time, no recursion, every deviation on record.

What has one reading is read; what has several, or is cut off where a value may have gone on, is a
`Fault` with its place. Keys and shape survive: nothing is dropped, moved or made up.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.pointer import join, put
from selfcorrect.reading.contract import GUESSES, Fault, JsonRead, Oddity
from selfcorrect.reading.nesting import CLOSER, CLOSERS, Frame, Nesting, Twice
from selfcorrect.reading.scalars import LITERALS, STRICT_WORDS, WORD
from selfcorrect.reading.strict import strict_json
from selfcorrect.reading.strings import QUOTES, SURROGATE, Unreadable

MOST_LEVELS: Final = 8
"""More strings in one another than anybody means."""
_MOST_TWICE: Final = 50
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
_BARE_KEY = re.compile(r"([^\W\d][\w$-]*+|[0-9]{1,18})\s*+:")
_KEY_SPELLING: Final = {2: "single quotes", 3: "a key without quotes"}


def read_json(
    text: str,
    start: int = 0,
    *,
    whole: bool = True,
    unwrap: bool = True,
    levels: int = MOST_LEVELS,
) -> JsonRead | Fault:
    """Read the JSON value that starts at an offset, tolerating what models get wrong.

    Args:
        text: What was written.
        start: Where to begin; white space there is skipped.
        whole: The value has to be all that the text holds; what else is there gets reported.
            Otherwise reading stops behind the value.
        unwrap: A text that is a JSON string stands for the JSON in it.
        levels: How many strings may stand in one another for that.

    >>> read = read_json("{'city': 'Oslo', 'days': [1, 2,],}")
    >>> read.value
    {'city': 'Oslo', 'days': [1, 2]}
    >>> sorted({d.what for d in read.deviations})
    ['single quotes', 'trailing comma']
    >>> read_json('{"city": "Os')
    Fault(offset=9, what='cut off inside a string', cut=True)
    """
    scan = _Scan(text, whole=whole)
    try:
        read: JsonRead | Fault = scan.read(start, unwrap=unwrap, levels=levels)
    except Unreadable as error:
        reach = max(error.fault.offset, scan.pos, scan.reach)
        read = (_unescaped(scan, start) if whole else None) or replace(error.fault, reach=reach)
    end = len(text) if whole else read.reach if isinstance(read, Fault) else read.end
    surrogate = None if text.isascii() else SURROGATE.search(text, start, end)
    if surrogate is not None:
        return Fault(surrogate.start(), "half a character (a lone surrogate)", reach=end)
    return read


def _unescaped(scan: _Scan, start: int) -> JsonRead | None:
    """Reads JSON that was escaped once too often: its quotes have backslashes."""
    body = scan.text[start:].strip()
    if not body.startswith(("{\\", "[\\", "{ \\", "[{\\")):
        return None
    inner = strict_json(f'"{body}"')
    if inner is None:
        return None
    again = _Scan(inner.value, whole=True)
    again.note(start, "escaped once too often")
    try:
        return again.read(0, unwrap=True, levels=MOST_LEVELS)
    except Unreadable:
        return None


class _Scan(Nesting):
    """One pass over one text."""

    __slots__ = ()

    def read(self, start: int, *, unwrap: bool, levels: int) -> JsonRead:
        if self.text.startswith("\ufeff", start):
            self.note(start, "byte order mark")
            start += 1
        begin = self.space(start)
        if begin >= self.size:
            self.fail(begin, "there is nothing to read")
        self.pos = begin
        if self.text[begin] in CLOSER:
            value = self.push(begin).items
            self.containers()
        else:
            value, self.pos = self.scalar(begin, "")
        end = self.pos
        if self.implied and _CLOSED_TOO_OFTEN.match(self.text, end):
            self.fail(end, "brackets that do not match")
        if len({note.code for note in self.notes if note.code in GUESSES}) > 1:
            self.fail(begin, "JSON that is broken in more than one way")
        if self.whole:
            self.rest(end, scalar=not isinstance(value, dict | list))
            if isinstance(value, str) and unwrap:
                return self.inside(value, begin, levels)
        rivals = tuple(put(value, join(*path), other) for path, other in self.rivals)
        return JsonRead(value, begin, end, tuple(self.notes), rivals, self.unclosed)

    def inside(self, value: str, begin: int, levels: int) -> JsonRead:
        """The value that a string stands for which holds JSON."""
        if not value.lstrip().startswith(("{", "[", '"')):
            return JsonRead(value, begin, self.pos, tuple(self.notes))
        self.note(begin, "JSON inside a JSON string")
        if not levels:
            self.fail(begin, f"JSON in JSON, deeper than {MOST_LEVELS} levels")
        inner = read_json(value, levels=levels - 1)
        if isinstance(inner, Fault):
            self.fail(begin, f"a string that holds broken JSON: {inner.what}", cut=inner.cut)
        self.notes += [each._replace(offset=begin) for each in inner.deviations]
        return replace(inner, start=begin, end=self.pos, deviations=tuple(self.notes))

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
                        self.note(found.start(spelling or 0), _KEY_SPELLING[spelling or 0])
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
                if text[self.pos : self.pos + 1] in CLOSERS:
                    self.trailing(frame, self.pos)
            else:
                self.pos = found.end() - len(follow or "")
                self.settle()

    def plain(self, found: re.Match[str], frame: Frame) -> JSON:
        """The value of a match of `_SCALAR` that is no string in double quotes."""
        _, single, _, number, fraction, exponent, word, _ = found.groups()
        if single is not None:
            frame.last = found.start(2) - 1
            self.note(frame.last, "single quotes")
            return single
        frame.last = -1
        if number is not None:
            if fraction is None and exponent is None:
                return int(number)
            return self.finite(float(number), found.start(4))
        if word not in STRICT_WORDS:
            self.note(found.start(7), "Python literal")
        return LITERALS[word]

    def key(self, frame: Frame) -> int:
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
            self.note(pos, "a comma too many")
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
            twice = Twice(name, pos)
            frame.twice.append(twice)
            frame.key = twice
        else:
            frame.key = name
        return end

    def name(self, frame: Frame, pos: int, char: str) -> tuple[str, int]:
        """A key, and the offset behind its colon; -1 if a string before it went on to here."""
        if char in QUOTES:
            end = self.body(pos)
            colon = self.space(end + 1) if end < self.size else self.size
            if colon >= self.size:
                self.fail(pos, "cut off inside a key", cut=True)
            if self.text.startswith(":", colon):
                return self.decode(pos, end), colon + 1
        elif found := _BARE_KEY.match(self.text, pos):
            self.note(pos, "a key without quotes")
            return found[1], found.end()
        if self.extend(frame):
            return "", -1
        return self.fail(pos, "a key was expected here")

    def item(self, frame: Frame, pos: int) -> None:
        """Read a value that the fast path could not."""
        pos = self.space(pos)
        if pos >= self.size:
            self.fail(pos, "cut off before a value", cut=True)
        char = self.text[pos]
        if char in CLOSER:
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

    def extends(self, frame: Frame, pos: int) -> bool:
        """Whether the string before this item went on to here: `["a", b", "c"]`."""
        if frame.closer == "}" or frame.last < 0:
            return False
        word = WORD.match(self.text, pos)
        return word is not None and word[0] not in LITERALS and self.extend(frame)

    def extend(self, frame: Frame) -> bool:
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
            self.note(end, "a closing bracket too many", Oddity.CLOSER_TOO_MANY)
        elif not rest.strip(";,` \t\r\n"):
            self.note(end, "punctuation behind the value")
        elif scalar or _GOES_ON.match(rest) or re.search(r"[{\[]", rest):
            self.fail(end, "there is more than one value")
        else:
            self.note(end, "text behind the value")
