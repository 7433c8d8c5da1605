"""Reads the JSON values that hold no others: numbers, literals, and strings."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.reading.strings import QUOTES, Strings

LITERALS: Final[Mapping[str, JSON]] = MappingProxyType(
    {
        spelling: value
        for word, value in (("true", True), ("false", False), ("null", None), ("none", None))
        for spelling in (word, word.title(), word.upper())
    }
)
STRICT_WORDS: Final = ("true", "false", "null")
WORD: Final = re.compile(r"[^\W\d][\w$]*+")
_SPACE = re.compile(
    r"([ \t\r\n]++)|(\s++|[\ufeff\u200b\u2060]++)|(//[^\n]*+|/\*.*?\*/|#[^\n]*+)", re.DOTALL
)
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][-+]?[0-9]+)?")
_NUMBER_GOES_ON = re.compile(r"[ \t]*(?:[-+*%^&|=<>]|/(?![/*])|//[ \t]*[\d(])|[\w.$'\"“”(\[{]")


class Scalars(Strings):
    """One pass over one text, as far as values that hold no others are concerned."""

    __slots__ = ()

    def space(self, pos: int) -> int:
        """The offset of what comes next, behind white space and comments."""
        while (found := _SPACE.match(self.text, pos)) is not None:
            if found.lastindex == 2:
                self.note(pos, "unusual white space")
            elif found.lastindex == 3:
                self.note(pos, "a comment")
            pos = found.end()
        if self.text.startswith("/*", pos):
            self.reach = self.size  # it is not closed: all of the text was looked at
        return pos

    def scalar(self, pos: int, where: str) -> tuple[JSON, int]:
        char = self.text[pos]
        if char in QUOTES:
            return self.string(pos, where)
        if char in "+-.0123456789":
            return self.number(pos)
        word = WORD.match(self.text, pos)
        if word is None:
            return self.fail(pos, "a value was expected here")
        if word[0] not in LITERALS:
            cut = word.end() >= self.size
            return self.fail(pos, f"{word[0][:40]!r} is not a JSON value", cut=cut)
        if self.text.startswith(("(", ".", "[", "{", '"', "'"), word.end()):
            self.fail(pos, "an expression is never evaluated")
        if word[0] not in STRICT_WORDS:
            self.note(pos, "Python literal")
        return LITERALS[word[0]], word.end()

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
        try:
            if digits.isdigit() or digits.replace("_", "").isdigit():
                value: JSON = int(raw)
            else:
                value = self.finite(float(raw), pos)
        except ValueError:
            return self.fail(pos, "this is not a JSON number")
        if raw[0] == "+" or "_" in raw or digits[0] == "." or digits.endswith("."):
            self.note(pos, "a number in another spelling")
        return value, end

    def finite(self, number: float, offset: int) -> float:
        if not math.isfinite(number):
            self.fail(offset, "a number beyond the range of a float")
        return number
