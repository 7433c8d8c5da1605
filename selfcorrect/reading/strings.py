"""Reads strings in broken JSON: where one really ends, and what it says."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final, NoReturn

from selfcorrect.reading.contract import Deviation, Fault, Oddity

SURROGATE = re.compile("[\ud800-\udfff]")
_SPECIAL = re.compile(r"[\\\x00-\x1f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_BOUNDARY: Final = re.compile(r"""["']\s*+[,:]\s*+["'{\[]|["']\s*+[{}\[\]]""")
"""What stands between two strings; inside one, a key or a value may have been swallowed."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPES: Final = MappingProxyType(
    {**{c: c for c in "\"\\/'`"}, "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
)

_KEPT: Final = frozenset("dDwWsSBAZ0123456789.^$*+?()[]{}|-")
"""What stands behind a backslash in patterns; such a backslash means itself."""
_DRIVE: Final = re.compile(r"\s*[A-Za-z]:\\")
"""What a path of Windows begins with; a backslash in it means itself, too."""
_SINGLE: Final = "\u2018\u2019\u201a\u201b"
QUOTES: Final = MappingProxyType(
    {
        **{opener: opener for opener in "\"'`"},
        **dict.fromkeys("“”„‟", '“”„‟"'),
        **dict.fromkeys(_SINGLE, _SINGLE + "'"),
    }
)
_BODY: Final = MappingProxyType(
    {opener: re.compile(rf"(?:[^{ends}\\]++|\\.)*+", re.DOTALL) for opener, ends in QUOTES.items()}
)
_STRICT_STRING = r"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_KEY_NEXT = rf"(?:{_STRICT_STRING}|[“”][^“”\n]*+[“”]|[A-Za-z_$][\w$-]*+)\s*+:"
_ITEM_NEXT = (
    rf"(?:(?:{_STRICT_STRING}|[“”][^“”\n]*+[“”])\s*+[,\])]"
    r"|[-+.0-9\[{(]|(?:true|false|null|True|False|None)\b)"
)
_CLOSED = r"[}\])][\s}\])]*+(?![ \t]*[\"'\w])"
_END = r"\Z|//|/\*|#"
_FOLLOWS: Final = re.compile(rf"\s*+(?:[,}}\])]|{_END})")
_AFTER_ITEM: Final = re.compile(
    rf"\s*+(?:,\s*+(?:{_ITEM_NEXT}|[}}\])]|\Z)|{_CLOSED}|{_END})", re.DOTALL
)
_SURELY_FOLLOWS: Final = MappingProxyType(
    {
        "}": re.compile(rf"\s*+(?:,\s*+(?:{_KEY_NEXT}|[}}\]]|\Z)|{_CLOSED}|{_END})", re.DOTALL),
        "]": _AFTER_ITEM,
        ")": _AFTER_ITEM,
        "": re.compile(r"\s*+\Z"),
    }
)
COMMA_MISSING: Final = MappingProxyType(
    {
        "}": re.compile(rf"\s*+{_KEY_NEXT}", re.DOTALL),
        "]": re.compile(
            rf"\s++(?:{_STRICT_STRING})\s*+[,\]\"']|(?:\s|(?<=[}}\]]))\s*+[{{\[]"
            r"|(?<=[\"'])\s++(?:-?[0-9][0-9.eE+-]*+|true|false|null|True|False|None)\s*+[,\]]",
            re.DOTALL,
        ),
    }
)


class Unreadable(Exception):
    """Carries a fault up the stack of one read."""

    def __init__(self, offset: int, what: str, *, cut: bool, deep: bool) -> None:
        self.fault = Fault(offset, what, cut, deep=deep)
        super().__init__(what)


class Strings:
    """One pass over one text, as far as strings are concerned.

    Attributes:
        text: What is read.
        size: Its length.
        whole: The value has to be all that the text holds.
        reach: How far was looked for the end of a string.
        notes: Every deviation so far.
    """

    __slots__ = ("notes", "reach", "size", "text", "whole")

    def __init__(self, text: str, *, whole: bool) -> None:
        self.text = text
        self.size = len(text)
        self.whole = whole
        self.reach = 0
        self.notes: list[Deviation] = []

    def note(self, offset: int, what: str, code: Oddity | None = None) -> None:
        self.notes.append(Deviation(offset, what, code))

    def fail(self, offset: int, what: str, *, cut: bool = False, deep: bool = False) -> NoReturn:
        raise Unreadable(offset, what, cut=cut, deep=deep)

    def body(self, pos: int) -> int:
        """The offset of the next quote that could close the string that opens at `pos`."""
        return self.quote(self.text[pos], pos + 1)

    def quote(self, opener: str, pos: int) -> int:
        """The offset of the next quote from `pos` that could close a string, or the end."""
        found = _BODY[opener].match(self.text, pos)
        end = found.end() if found else self.size
        self.reach = self.size if self.text[end : end + 1] == "\\" else end
        return self.reach

    def string(self, pos: int, where: str) -> tuple[str, int]:
        end = self.body(pos)
        if end >= self.size:
            self.fail(pos, "cut off inside a string", cut=True)
        follows = _FOLLOWS if where else _SURELY_FOLLOWS[""]
        comma = COMMA_MISSING.get(where)
        if where or self.whole:
            if triple := self.triple(pos, where):
                return triple
            over = follows.match(self.text, end + 1) or (comma and comma.match(self.text, end + 1))
            if not over:
                end = self.longer(pos, end, where, inches=True)
        return self.decode(pos, end), end + 1

    def triple(self, pos: int, where: str) -> tuple[str, int] | None:
        """A string in three quotes, as Python writes long ones."""
        quotes = self.text[pos : pos + 3]
        if quotes not in ('"""', "'''"):
            return None
        end = self.text.find(quotes, pos + 3)
        if end < 0 or not _SURELY_FOLLOWS[where].match(self.text, end + 3):
            return None
        content = self.text[pos + 3 : end]
        if not _one_reading(content, quotes[0], listed=where != "}", inches=False):
            return None
        self.note(pos, "three quotes")
        return self.unescape(pos, content), end + 3

    def longer(self, pos: int, end: int, where: str, *, inches: bool) -> int:
        """Where a string really ends whose quotes inside were not escaped."""
        follows = _SURELY_FOLLOWS[where]
        opener = self.text[pos]
        while True:
            end = self.quote(opener, end + 1)
            if end >= self.size:
                self.fail(pos, "a string whose end is not clear")
            if follows.match(self.text, end + 1):
                break
        if not _one_reading(self.text[pos + 1 : end], opener, listed=where != "}", inches=inches):
            self.fail(pos, "a string with quotes inside that can be read in several ways")
        self.note(pos, "quotes inside a string are not escaped", Oddity.QUOTES_INSIDE)
        return end

    def decode(self, pos: int, end: int) -> str:
        """The text of the string between two quotes."""
        quote = self.text[pos]
        if quote != '"':
            self.note(pos, "single quotes" if quote == "'" else "unusual quotes")
        return self.unescape(pos, self.text[pos + 1 : end])

    def unescape(self, pos: int, raw: str) -> str:
        if _SPECIAL.search(raw) is None:
            return raw
        if control := _CONTROL.search(raw):
            self.fail(pos + 1 + control.start(), "a control character inside a string")
        if "\n" in raw or "\t" in raw or "\r" in raw:
            self.note(pos, "a raw line break or tab in a string")
        if "\\" not in raw:
            return raw
        kept: set[str] = set()
        text = _ESCAPE.sub(lambda found: _character(found, kept), raw)
        if kept:
            self.odd_escapes(pos, raw, kept)
        if SURROGATE.search(text):
            try:
                text = text.encode("utf-16", "surrogatepass").decode("utf-16")
            except UnicodeDecodeError:
                self.fail(pos, "half a character (a lone surrogate)")
        return text

    def odd_escapes(self, pos: int, raw: str, kept: set[str]) -> None:
        """Escapes that JSON does not know, as in a pattern or a path."""
        path = _DRIVE.match(raw) is not None
        if kept == {"_"} and not path:
            self.note(pos, "underscores with backslashes")
            return
        escaped = {found[4] for found in _ESCAPE.finditer(raw)}
        meant = all(char.isalnum() for char in kept) if path else kept <= _KEPT
        if escaped != kept or not meant:
            self.fail(pos, "escapes that can be read in several ways")
        self.note(pos, "a backslash that is not escaped")


def _character(found: re.Match[str], kept: set[str]) -> str:
    short, byte, long, char = found.groups()
    if code := short or byte or long:
        number = int(code, 16)
        return chr(number) if number <= 0x10FFFF else "\ud800"
    if char in _ESCAPES:
        return _ESCAPES[char]
    kept.add(char)
    return char if char == "_" else found[0]


def _one_reading(content: str, quote: str, *, listed: bool, inches: bool) -> bool:
    """Whether quotes inside a string are surely part of it, and no lost quote is behind them."""
    if _BOUNDARY.search(content):
        return False
    ends = QUOTES[quote]
    plain = re.sub(r"\\.", "..", content, flags=re.DOTALL)
    if re.fullmatch(
        rf"[^{ends}]*[{ends}]\s*+(?:\+|\|+|&+|/|\?\?|or|and|if\b[^{ends}]*\belse)\s*+[{ends}][^{ends}]*",
        plain,
    ):
        return False
    if re.search(rf"[{ends}][\"']?\s*+(?::|[{ends}])", plain):
        return False
    if listed and re.search(rf"[{ends}]\s*+,\s*+[{ends}]", plain):
        return False
    if "'" in ends:
        plain = re.sub(rf"(?<=\w)[{ends}](?=\w)|(?<=s)[{ends}](?=\s)", ".", plain)
    elif inches:
        plain = re.sub(rf"(?<=\d)[{ends}](?=\s+[A-Za-z])", ".", plain)
    return len(re.findall(rf"[{ends}]", plain)) % 2 == 0
