"""Reads the JSON that a model wrote, and records everything that strict JSON would not allow.

Python's notation, other quotes, commas, comments and missing closers are read. What may be cut
off is never completed, and nothing is computed.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from selfcorrect.model import JSON, JsonDict, frozen
from selfcorrect.pointer import MAX_DEPTH, oversize
from selfcorrect.reading.literals import JsonTextError, read_string, read_word, refuse
from selfcorrect.reading.strict_json import decode_strictly

NOTATION = frozenset(
    ("quote", "word", "number", "comma", "tuple", "escape", "key", "colon", "control")
)
"""The kinds that leave no doubt about the value."""
CLOSERS = frozenset(("closer", "inner closer"))
"""The kinds that stand for a closer that is missing at the end of the text."""
MAX_ENCODED = 4
"""How often a value may be encoded as text."""


def inside(skipped: Iterable[str]) -> tuple[str, ...]:
    """Return what was skipped in arguments: behind a missing closer an argument may be missing."""
    return tuple("inner closer" if kind == "closer" else kind for kind in skipped)


@frozen
class JsonText:
    """A value that was read.

    Attributes:
        value: The value.
        skipped: What strict JSON would not allow, by kind.
    """

    value: JSON
    skipped: tuple[str, ...] = ()


def read_json_text(text: str) -> JsonText:
    """Read a text that is one value and nothing else.

    >>> read_json_text("{'a': True,}")
    JsonText(value={'a': True}, skipped=('quote', 'word', 'comma'))

    Raises:
        JsonTextError: If the text is not one value.
    """
    try:
        value = decode_strictly(text)
    except (ValueError, RecursionError):
        scanner = Scanner(text)
        value = scanner.value()
        scanner.end()
        return JsonText(value, tuple(scanner.skipped))
    if (why := oversize(value)) is not None:
        raise JsonTextError(why)
    return JsonText(value)


def decode(value: JSON) -> JsonText:
    """Return the value that a text stands for, however often it is encoded as text.

    Raises:
        JsonTextError: If a text in it is not one value.
    """
    skipped: tuple[str, ...] = ()
    for _ in range(MAX_ENCODED):
        if not isinstance(value, str):
            break
        read = read_json_text(value)
        value, skipped = read.value, skipped + read.skipped
    return JsonText(value, skipped)


@dataclass(slots=True)
class Scanner:
    """Reads values one after another, and records what it skips.

    Attributes:
        text: The whole text.
        at: Where it reads next.
        skipped: What strict JSON would not allow, by kind, in order.
        depth: How many containers are open.
        commas: How many commas stood before the last closer or part.
    """

    text: str
    at: int = 0
    skipped: list[str] = field(default_factory=list)
    depth: int = 0
    commas: int = 0

    def value(self) -> JSON:
        """Read the value that begins here.

        Raises:
            JsonTextError: If no value begins here, or it is not certain.
        """
        try:
            self.space()
            opening = _OPENING.match(self.text, self.at)
            if opening is None:
                return self._scalar()
            mark = opening[0]
            if mark == "{":
                return self._object()
            if mark in "[(":
                return self._array(mark)
            return self._string(mark)
        except RecursionError:  # the caller's own stack is almost full
            raise JsonTextError("the value is nested too deeply") from None

    def end(self) -> None:
        """Skip closers that nothing opened, up to the end of the text."""
        self.space()
        rest = _EXTRA.match(self.text, self.at)
        self.at = rest.end() if rest else self.at
        if rest and rest[0]:
            self.skipped.append("extra closer")
        if self.peek():
            self.refuse("more text follows the value")

    def peek(self) -> str:
        """Return the next character, or nothing at the end."""
        return self.text[self.at : self.at + 1]

    def space(self) -> None:
        """Skip white space and comments."""
        while blank := _SPACE.match(self.text, self.at):
            self.at = blank.end()
            if not blank[1]:
                return
            self.skipped.append("comment")
            if blank[1] == "/*":
                end = self.text.find("*/", self.at)
                if end < 0:
                    refuse("a comment is cut off", len(self.text))
                self.at = end + 2

    def parts(self, close: str) -> Iterator[None]:
        """Yield once for each part of the container that opens here; skip commas and closer."""
        self.at += 1
        self.depth += 1
        self.commas = 0
        if self.depth > MAX_DEPTH:
            self.refuse(f"the value is nested more than {MAX_DEPTH} levels deep")
        self.space()
        if not self.peek():
            self.refuse("the text ends behind an opening bracket")
        if self.peek() == close:
            self.at += 1
        else:
            yield
            while self._goes_on(close):
                yield
        self.depth -= 1

    def put(self, values: JsonDict, key: str, value: JSON) -> None:
        """Add a value under its key; a second value has to be the same."""
        if key in values and not _same(values[key], value):
            self.refuse(f"the key {key[:40]!r} has two values")
        values[key] = value

    def refuse(self, why: str) -> NoReturn:
        """Raise the reason, with where it reads."""
        refuse(why, self.at)

    def _goes_on(self, close: str) -> bool:
        self.space()
        self.commas = 0
        while self.peek() == ",":
            self.at += 1
            self.commas += 1
            self.space()
        char = self.peek()
        if self.commas > 1 and close != "}":
            self.refuse("a value is missing between two commas")
        if char and char in "]})":
            # A closer of another kind closes a container further out.
            if self.commas:
                self.skipped.append("comma")
            if char == close:
                self.at += 1
            else:
                self.skipped.append("bracket")
            return False
        if not char:
            if self.commas:
                self.refuse("the text ends behind a comma")
            self.skipped.append("closer" if self.depth == 1 else "inner closer")
            return False
        if not self.commas:
            self.refuse("an expression, or a value without a comma before it")
        if self.commas > 1:
            self.skipped.append("comma")
        return True

    def _object(self) -> JsonDict:
        values: JsonDict = {}
        for _ in self.parts("}"):
            key = self._key()
            self.space()
            mark = self.peek()
            if mark not in (":", "="):
                end = "" if mark else ": it is cut off"
                self.refuse(f"the key {key[:40]!r} has no value{end}")
            if mark == "=":
                self.skipped.append("colon")
            self.at += 1
            self.put(values, key, self.value())
        return values

    def _array(self, mark: str) -> list[JSON]:
        if mark == "[":
            return [self.value() for _ in self.parts("]")]
        self.skipped.append("tuple")
        items = [self.value() for _ in self.parts(")")]
        if len(items) == 1 and not self.commas:
            self.refuse("parentheses around one value")
        return items

    def _key(self) -> str:
        opening = _OPENING.match(self.text, self.at)
        if opening and opening[0] not in "{[(":
            return self._string(opening[0])
        word = _KEY.match(self.text, self.at)
        if word is None or word[0] in ("True", "False", "None"):
            self.refuse("a key is not a text")
        self.skipped.append("key")
        self.at = word.end()
        return word[0]

    def _string(self, mark: str) -> str:
        value, self.at = read_string(self.text, self.at, mark, self.skipped)
        if not value and self.depth and self.at == len(self.text):
            self.refuse("a text may be cut off")
        return value

    def _scalar(self) -> JSON:
        value, self.at = read_word(self.text, self.at, self.skipped)
        if not self.depth and isinstance(value, str):
            self.refuse("a word is not a value")
        self.space()
        if self.depth and not self.peek():
            self.refuse("a number or a word may be cut off")
        return value


def _same(one: JSON, other: JSON) -> bool:
    return type(one) is type(other) and not isinstance(one, dict | list) and bool(one == other)


_SPACE = re.compile(r"\s*+(//[^\n]*|#[^\n]*|/\*|)")
_EXTRA = re.compile(r"[\]})\s;]*")
_OPENING = re.compile(r"""["']{3}(?<=""\"|''')|<\|"\|>|<escape>|["'“”‘{\[(]""")
_KEY = re.compile(r"[^\W\d][\w$.\-]*+(?=\s*[:=])")
