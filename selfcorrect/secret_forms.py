"""Where in a text secrets stand: those that mark themselves, and those that a name announces.

A name announces what stands behind it: `password=x`, `"password": "x"`, `--password x`,
`<password>x</password>`, `{"name": "password", "value": "x"}`. Texts travel quoted in other texts,
so escapes of JSON, URLs and XML, however often repeated, are read once, and what is found is found
in the text as it stands.
"""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

Span = tuple[int, int]


def spans(text: str) -> list[Span]:
    """The places of all secrets in a text, in order; none touches another.

    Takes time linear in the length of the text.
    """
    found = []
    for level in _levels(text):
        found += [level.origin(*span) for span in (*_marked(level.text), *_announced(level.text))]
    return _joined(found)


def hints(name: str) -> bool:
    """Whether a name may say at all that what stands behind it is a secret.

    >>> hints("db_password"), hints("seats")
    (True, False)
    """
    return _NAME_HINT.search(name) is not None


def announces(name: str, value: str) -> bool:
    """Whether a name says that a value is a secret.

    >>> announces("db_password", "hunter"), announces("token", "invalid")
    (True, False)
    """
    if not hints(name):
        return False
    return any(True for _ in _announced(f"{json.dumps(name)}: {json.dumps(value[:_JUDGED])}"))


def _joined(found: list[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in sorted(found):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        elif end > start:
            out.append((start, end))
    return out


# --- escapes --------------------------------------------------------------------------------------

_MOST_LEVELS: Final = 8
_ESCAPE: Final = re.compile(
    r"\\(?:u00([2-7][0-9a-fA-F])|x([2-7][0-9a-fA-F])|([\"'/=:&<>\\])|([nrt]))"
    r"|%([2-7][0-9a-fA-F]|0[aAdD])"
    r"|&(?:#0*([0-9]{2,3});|#[xX]0*([2-7][0-9a-fA-F]);|(quot|apos|lt|gt|amp|equals|colon);)"
)
_ENTITIES: Final = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&"} | {
    "equals": "=",
    "colon": ":",
}


@dataclass(frozen=True, slots=True)
class _Level:
    """A text with some of its escapes read, and where each of its characters comes from.

    Attributes:
        text: The text.
        escaped: The same with one escape more, or None for the text as it stands.
        ends: Where in `text` each escape ends.
        moved: How far `escaped` is ahead of `text` from there on.
    """

    text: str
    escaped: _Level | None = None
    ends: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()

    def origin(self, start: int, end: int) -> Span:
        """The same piece of the text as it stands."""
        level: _Level | None = self
        while level is not None:
            start, end = level.before(start), level.before(end)
            level = level.escaped
        return start, end

    def before(self, place: int) -> int:
        """Where in `escaped` what stands at this place begins."""
        known = bisect_right(self.ends, place)
        return place + (self.moved[known - 1] if known else 0)


def _levels(text: str) -> Iterator[_Level]:
    """The text as it stands, then as whoever unpacks it sees it, until nothing is left to read."""
    level = _Level(text)
    yield level
    for _ in range(_MOST_LEVELS):
        if "\\" not in level.text and "%" not in level.text and "&" not in level.text:
            return
        level = _unescaped(level)
        if not level.ends:
            return
        yield level


def _unescaped(level: _Level) -> _Level:
    raw = level.text
    parts, ends, moved, last, size = [], [], [], 0, 0
    for escape in _ESCAPE.finditer(raw):
        parts += [raw[last : escape.start()], _char(escape)]
        size += escape.start() - last + 1
        last = escape.end()
        ends.append(size)
        moved.append(last - size)
    return _Level("".join([*parts, raw[last:]]), level, tuple(ends), tuple(moved))


def _char(escape: re.Match[str]) -> str:
    *hexes, plain, space, percent, decimal, entity_hex, name = escape.groups()
    code = next((item for item in (*hexes, percent, entity_hex) if item), None)
    if code:
        return chr(int(code, 16))
    if decimal:
        return chr(int(decimal))
    return plain or _ENTITIES.get(name or "", "\n" if space in ("n", "r") else " ")


# --- secrets that mark themselves -----------------------------------------------------------------


@cache
def _forms() -> dict[str, Any]:
    return tomllib.loads(
        resources.files("selfcorrect").joinpath("secret_forms.toml").read_text("utf-8")
    )


@cache
def _patterns() -> list[tuple[list[str], re.Pattern[str]]]:
    """The patterns of secrets that mark themselves, by a prefix of a vendor or where they stand."""
    vendors = [
        (hints, rf"(?<![A-Za-z0-9_])(?:{prefix}){rest}")
        for hints, prefix, rest in _forms()["vendors"]
    ]
    return [(hints, re.compile(pattern)) for hints, pattern in (*vendors, *_forms()["places"])]


@cache
def _hints() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(hint) for hints, _ in _patterns() for hint in hints))


def _marked(text: str) -> Iterator[Span]:
    lowered = text.lower()
    # Calls and reports are thousands of short texts: one look at each rules out every pattern.
    if len(text) <= _SHORT and _hints().search(lowered) is None:
        return
    for ones, pattern in _patterns():
        if any(hint in lowered for hint in ones):
            for found in pattern.finditer(text):
                yield found.span(found.lastindex or 0)


# --- secrets that a name announces ----------------------------------------------------------------

_CHOSEN: Final = (
    r"passw(?:or)?d|passphrase|passcode|pwd|secret|(?<![a-z])pass(?=[\"']?[ \t]{0,8}=|[\"'])"
)
_ISSUED: Final = (
    r"token|credentials?|(?:api|access|private|account|auth|signing|encryption)[_\- ]?key"
    r"|session[_\-]?(?:id|key)|sessid|connect\.sid|auth(?:orization)?[_\-]code"
)
_HEADER: Final = r"(?<![a-z])(?:authorization|(?:set-)?cookies?)(?![a-z\-])"
_WEAK: Final = r"(?<![a-z])(?:sig|key)|signature"
_NAME: Final = re.compile(
    rf"(?i)(?:(?P<chosen>{_CHOSEN})|(?P<issued>{_ISSUED})|(?P<header>{_HEADER})|(?P<weak>{_WEAK}))"
    r"(?P<rest>[\w\-]{0,24})"
)
_NAME_HINT: Final = re.compile(
    r"(?i)pass|pwd|secret|token|credential|key|sess|connect\.sid|auth|cookie|sig"
)
_EXACT: Final = re.compile(r"(?i)(?:[\w\-]{0,20}(?:key|token|secret|passw(?:or)?d|pwd))?")
"""How the rest of a name ends that says no more than its beginning."""
_SEPARATOR: Final = re.compile(
    r"[\"'`]?\]?[ \t+]{0,8}(=>|:=|==?|::?)[ \t+]{0,8}(?:[\[({][ \t+]{0,8})?"
)
_VALUE_NEXT: Final = re.compile(
    r"(?i)[\"']?[\s,;&+]{1,16}[\"']?(?:value|val|data|content|text|default|current)[\"']?"
    r"[ \t+]{0,8}(?:=>|=|:)[ \t+]{0,8}"
)
_VALUE_BEFORE: Final = re.compile(
    r"(?i)(?<![a-z])(?:value|val)[\"']?[ \t+]{0,8}(?:=>|=|:)[ \t+]{0,8}[\"']([^\"'\n]{1,1024})[\"']"
    r"[\s,;+]{1,16}[\"']?(?:name|key|field|param|header|id)[\"']?[ \t+]{0,8}(?:=>|=|:)[ \t+]{0,8}"
    rf"[\"']?[\w.\-]{{0,24}}?(?:{_CHOSEN}|{_ISSUED}|{_HEADER})"
)
_NEXT_ITEM: Final = re.compile(r"[\"'][ \t+]{0,8},[\s+]{0,8}(?=[\"'])")
_TAG_END: Final = re.compile(r"[^<>]{0,300}>(?:<!\[CDATA\[)?")
_NEXT_WORD: Final = re.compile(r"[ \t+]{1,8}(?!-)")
_IN_TAG: Final = re.compile(r"<[\w.:\-]{0,64}\Z|<[^<>]{1,64}=[\"'][\w.:\-]{0,64}\Z")
_IN_OPTION: Final = re.compile(r"(?:\A|[\s\"'\[(,`+])--?[\w.\-]{0,40}\Z")
_IN_QUERY: Final = re.compile(r"[?&;][\w\-]{0,40}\Z")
_IN_QUOTES: Final = re.compile(r"([\[(]\s{0,4})?[\"'][\w.\-]{0,64}\Z")
_PAIR_END: Final = re.compile(r"[\"'][\s,]{0,4}[\])]")
_LOOKED_BACK: Final = 100
_SHORT: Final = 100

_QUOTE: Final = re.compile(r"(?i)[bruf]{0,2}([\"'`])")
_QUOTED: Final = {sign: re.compile(rf"(?s)(?:[^\\{sign}]|\\.)*") for sign in "\"'`"}
_BARE: Final = re.compile(r"(?:[^\s\"'&,;<>{}\[\]\\`]|\\(?![\\\"'/nrtu]))+")
_TO_TAG: Final = re.compile(r"[^<\]]{1,4096}(?=(?:\]\]>)?</)|[^<\s]+")
_TO_LINE_END: Final = re.compile(r"(?:(?!\\+[nrt]|\\*[\"'](?:[\s,}\])]|\Z))[^\n\r])+")


def _announced(text: str) -> Iterator[Span]:
    if _NAME_HINT.search(text) is None:
        return
    for before in _VALUE_BEFORE.finditer(text):
        yield before.span(1)
    done = 0
    words = _Words(text)
    for name in _NAME.finditer(text):
        if name.start() < done:
            continue
        span = _behind(text, name, words)
        if span is not None:
            yield span
            done = span[1]


class _Words:
    """The bare words of a text. Each is gone through once, however many names it holds."""

    def __init__(self, text: str) -> None:
        self._text, self._known = text, (0, 0)

    def at(self, start: int) -> Span | None:
        """The rest of the word at a place."""
        if not self._known[0] <= start < self._known[1]:
            found = _BARE.match(self._text, start)
            if found is None:
                return None
            self._known = found.span()
        return start, self._known[1]


def _behind(text: str, name: re.Match[str], words: _Words) -> Span | None:
    """The secret that a name announces, if it does."""
    end = name.end()
    before = text[max(0, name.start() - _LOOKED_BACK) : name.start()]
    exact = _EXACT.fullmatch(name["rest"]) is not None
    option = exact and _IN_OPTION.search(before) is not None
    if (found := _SEPARATOR.match(text, end)) is not None:
        tight = "=" in found[1] or found.end() == found.end(1) or found[0][:1] in "\"'`"
        tight = exact and (tight or option or "-" in name[0])
        in_query = _IN_QUERY.search(before) is not None
        about = _About(name, exact=exact, tight=tight, in_query=in_query)
        return _value(text, found.end(), about, words)
    if name["weak"]:
        return None
    about = _About(name, exact=exact, tight=exact)
    if (found := _VALUE_NEXT.match(text, end)) is not None:
        return _value(text, found.end(), about, words)
    if (found := _TAG_END.match(text, end)) is not None and _IN_TAG.search(before):
        inner = _TO_TAG.match(text, found.end())
        return inner.span() if inner is not None and inner[0].strip() else None
    next_item = _NEXT_ITEM.match(text, end)
    if option and (found := next_item or _NEXT_WORD.match(text, end)) is not None:
        return _value(text, found.end(), about, words)
    quoted = _IN_QUOTES.search(before)
    if next_item is None or quoted is None:
        return None
    span = _value(text, next_item.end(), about, words)
    if span is None:
        return None
    # What stands beside it may be one more name: ["password", "email"].
    pair = name["header"] and quoted[1] and _PAIR_END.match(text, span[1])
    return span if pair or not text[slice(*span)].isidentifier() else None


@dataclass(frozen=True, slots=True)
class _About:
    """How a name announces what stands behind it.

    Attributes:
        name: The name, as it was found.
        exact: Whether it says no more than that: `password`, not `password_policy`.
        tight: Whether its value stands as values do, and not as a sentence goes on.
        in_query: Whether it is a parameter of a URL.
    """

    name: re.Match[str]
    exact: bool
    tight: bool
    in_query: bool = False


def _value(text: str, start: int, about: _About, words: _Words) -> Span | None:
    """Where the value at a place stands, if it is a secret."""
    name, tight, end = about.name, about.tight, None
    if (opened := _QUOTE.match(text, start)) is not None:
        start = opened.end()
        end = _closed(text, start, opened[1])
        if name["chosen"] or name["header"]:
            return (start, end) if start < end and text[start:end] not in _HIDDEN else None
    word = words.at(start)
    if word is None:
        return None
    first = text[start : min(word[1], start + _JUDGED)]
    if name["header"]:
        line = None if _is_plain(first) else _TO_LINE_END.match(text, start)
        return line.span() if line is not None else None
    if not name["chosen"]:
        tight = tight if end is None else about.exact and word[1] >= end
        return word if _is_issued(first, about, tight=tight) else None
    if _is_plain(first) or first.startswith("//"):
        return None
    return word if about.exact or not first.isalpha() else None


_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")
_JUDGED: Final = 256
"""Characters of a word that say what it is."""
_HIDDEN: Final = ("[secret]", "[sensitive]")


def _is_plain(word: str) -> bool:
    return word.rstrip(".:!?)").lower() in _plain_words() or not word.strip("*.:!?()$")


@cache
def _plain_words() -> frozenset[str]:
    return frozenset(_forms()["plain_words"].split())


def _is_issued(value: str, about: _About, *, tight: bool) -> bool:
    """Whether a value looks as those that machines issue: letters and digits, or letters alone."""
    if len(value) < 8 or value.isdigit():
        return False
    if _DIGIT.search(value):
        return _LETTER.search(value) is not None
    name = about.name
    if name["weak"]:
        return about.in_query and name[0].lower() != "key"
    return tight and not _is_plain(value)


def _closed(text: str, start: int, quote: str) -> int:
    """Where a text ends that was opened with this quote: before the same one, or with its line."""
    found = _QUOTED[quote].match(text, start)
    if found is not None and found.end() < len(text):
        return found.end()
    line = text.find("\n", start)
    return len(text) if line < 0 else line
