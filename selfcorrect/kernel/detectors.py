"""Where in a text secrets stand: those that mark themselves, and those that a name announces.

A name announces what stands behind it: `password=x`, `"password": "x"`, `--password x`,
`<password>x</password>`, `("password", "x")`, a column `password`. Texts travel quoted in other
texts, so escapes of JSON, URLs, XML and pointers, however often repeated, are read once, invisible
characters are passed over, and what is found is found in the text as it stands.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final, TypeAlias

from selfcorrect.plain import INVISIBLE

Span: TypeAlias = tuple[int, int]
Detector: TypeAlias = Callable[[str], Iterable[Span]]


def spans(text: str, more: Iterable[Detector] = ()) -> list[Span]:
    """The places of all secrets in a text, in order; none touches another.

    Takes time linear in the length of the text, as far as the other detectors do.

    Args:
        text: The text.
        more: Detectors beside those that are known here.
    """
    found = []
    for shown, places in _levels(text):
        for detect in (_marked, _announced, _columns, *more):
            found += [(places[start], places[end]) for start, end in detect(shown)]
    return _joined(found)


@cache
def _hints() -> re.Pattern[str]:
    return re.compile("|".join(forms()["names"]["hints"].split()), re.IGNORECASE)


@lru_cache(maxsize=4_096)
def hints(name: str) -> bool:
    """Whether a name may say at all that what stands behind it is a secret.

    >>> hints("db_password"), hints("seats")
    (True, False)
    """
    return _hints().search(name) is not None


def announces(name: str, value: str) -> bool:
    """Whether a name says that a value is a secret.

    >>> announces("db_password", "hunter"), announces("token", "invalid"), announces("PIN", "4711")
    (True, False, True)
    """
    if len(name) < _JUDGED and not hints(name):
        return False
    text = f"{json.dumps(name)}: {json.dumps(value[:_JUDGED])}"
    return any(end > len(name) + 4 for _, end in (*_announced(text), *_marked(text)))


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
_ODD: Final = re.compile(f"[\\\\%&~\xa0\u3000\uff01-\uff5e{INVISIBLE}]")
"""Without one of these a text has nothing to be read."""
_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\"'/=:&<>\\])|([nrt]))"
    r"|%([2-7][0-9a-fA-F]|0[aAdD])"
    r"|&(?:#0*([0-9]{2,3});|#[xX]0*([2-7][0-9a-fA-F]);|(quot|apos|lt|gt|amp|equals|colon);)"
    rf"|~([01])|([\xa0\u3000\uff01-\uff5e])|(?:\x1b\[[0-?]{{0,20}}[ -/]{{0,4}}[@-~]|[{INVISIBLE}])+"
)
_NAMED: Final = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&", "equals": "="} | {
    "colon": ":",
    "0": "~",
    "1": "/",
    "n": "\n",
    "r": "\n",
    "t": " ",
    "\xa0": " ",
    "\u3000": " ",
}
_WIDE: Final = 0xFEE0
"""How far the full-width form of a sign is from the sign."""


def _levels(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """The text as it stands, then as whoever unpacks it sees it, until nothing is left to read.

    With each text the places in the first one from which its characters come, and its end.
    """
    places: Sequence[int] = range(len(text) + 1)
    yield text, places
    for _ in range(_MOST_LEVELS):
        if _ODD.search(text) is None:
            return
        parts, kept, last = [""], [], 0
        for escape in _ESCAPE.finditer(text):
            start, end = escape.span()
            char = _char(escape)
            parts += [text[last:start], char]
            kept += [*places[last:start], *places[start : start + len(char)]]
            last = end
        if not last:
            return
        text, places = "".join([*parts, text[last:]]), [*kept, *places[last:]]
        yield text, places


def _char(escape: re.Match[str]) -> str:
    code, byte, plain, space, percent, decimal, entity, name, token, wide = escape.groups()
    if hexed := code or byte or percent or entity:
        return chr(int(hexed, 16))
    if decimal:
        return chr(int(decimal))
    known = space or name or token or wide or ""
    return plain or _NAMED.get(known) or (chr(ord(wide) - _WIDE) if wide else "")


# --- secrets that mark themselves -----------------------------------------------------------------


@cache
def forms() -> dict[str, Any]:
    """What is known of secrets, and of folders, as the file says it."""
    file = resources.files("selfcorrect.kernel").joinpath("detectors.toml")
    return tomllib.loads(file.read_text("utf-8"))


def spelled_out(pattern: str) -> str:
    """A pattern with each of its parts in the place of the part's name."""
    parts = forms()["names"] | forms()["parts"]

    def part(found: re.Match[str]) -> str:
        known = parts.get(found[1])
        return f"(?:{spelled_out(known)})" if known is not None else found[0]

    return re.sub(r"<(\w+)>", part, pattern)


@cache
def _patterns() -> list[tuple[list[str], re.Pattern[str]]]:
    """The patterns of secrets that mark themselves, by a prefix of a vendor or where they stand."""
    known = forms()
    words = [(hints, rf"(?<![A-Za-z0-9])(?:{pattern})") for hints, pattern in known["words"]]
    places = [(hints, spelled_out(pattern)) for hints, pattern in known["places"]]
    return [(hints, re.compile(each)) for hints, each in (*known["anywhere"], *words, *places)]


@cache
def _marks() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(hint) for hints, _ in _patterns() for hint in hints))


def _marked(text: str) -> Iterator[Span]:
    lowered = text.lower()
    # Calls and reports are thousands of short texts: one look at each rules out every pattern.
    if len(text) <= _SHORT and _marks().search(lowered) is None:
        return
    for ones, pattern in _patterns():
        if any(hint in lowered for hint in ones):
            for found in pattern.finditer(text):
                yield found.span(found.lastindex or 0)


# --- secrets that a name announces ----------------------------------------------------------------


@cache
def _names() -> re.Pattern[str]:
    names = forms()["names"]
    kinds = "|".join(
        f"(?P<{kind}>{spelled_out(names[kind])})" for kind in ("chosen", "issued", "header", "weak")
    )
    return re.compile(rf"(?i)(?:{kinds})(?P<rest>[\w\-]{{0,24}})")


_EXACT: Final = re.compile(r"(?i)(?:[\w\-]{0,20}(?:key|token|secret|passw(?:or)?d|pwd))?")
"""How the rest of a name ends that says no more than its beginning."""
_SEPARATOR: Final = re.compile(
    r"[\"'`]?\]?[ \t+]{0,8}(=>|:=|==?|::?|(?:is|was|ist|est|es)(?=[ \t]+[\"'`]))[ \t+]{0,8}"
    r"(?:[\[({][ \t+]{0,8})?"
)
_VALUE_NEXT: Final = re.compile(
    r"(?i)[\"']?[\s,;&+]{1,16}[\"']?(?:value|val|data|content|text|default|current)[\"']?"
    r"[ \t+]{0,8}(?:=>|=|:)[ \t+]{0,8}"
)
_NEXT_ITEM: Final = re.compile(r"[\"'][ \t+]{0,8},[\s+]{0,8}(?=[\"'])")
_NEXT_WORD: Final = re.compile(r"[ \t+]{1,8}(?!-)")
_IN_OPTION: Final = re.compile(r"(?:\A|[\s\"'\[(,`+])--?[\w.\-]{0,40}\Z")
_IN_QUERY: Final = re.compile(r"[?&;][\w\-]{0,40}\Z")
_IN_QUOTES: Final = re.compile(r"(\(|[\[(,]\s{0,4}\[)?\s{0,4}[\"'][\w.\-]{0,64}\Z")
"""A name that is quoted; in a tuple, or in a list inside another one."""
_PAIR_END: Final = re.compile(r"[\"'][\s,]{0,4}[\])]")
_LOOKED_BACK: Final = 100
_SHORT: Final = 100

_QUOTE: Final = re.compile(r"(?i)[bruf]{0,2}([\"'`])")
_QUOTED: Final = {sign: re.compile(rf"(?s)(?:[^\\{sign}]|\\.)*") for sign in "\"'`"}
_BARE: Final = re.compile(r"(?:[^\s\"'&,;<>{}\[\]\\`]|\\(?![\\\"'/nrtu]))+")
_SCHEME: Final = re.compile(r"(?:[A-Za-z][\w\-]{1,20} (?![\w\-]{1,64}[=:]))?[^\s,;&\"'`]+")
_TO_LINE_END: Final = re.compile(r"(?:(?!\\+[nrt]|\\*[\"'](?:[\s,}\])]|\Z))[^\n\r])+")


def _announced(text: str) -> Iterator[Span]:
    if _hints().search(text) is None:
        return
    done = 0
    for name in _names().finditer(text):
        if name.start() < done:
            continue
        span = _behind(text, name)
        if span is not None:
            yield span
            done = span[1]


def _behind(text: str, name: re.Match[str]) -> Span | None:
    """The secret that a name announces, if it does."""
    end = name.end()
    before = text[max(0, name.start() - _LOOKED_BACK) : name.start()]
    exact = _EXACT.fullmatch(name["rest"]) is not None
    option = exact and _IN_OPTION.search(before) is not None
    if (found := _SEPARATOR.match(text, end)) is not None:
        tight = "=" in found[1] or found.end() == found.end(1) or found[0][:1] in "\"'`"
        tight = exact and (tight or option or "-" in name[0])
        about = _About(name, exact, tight, before, assigned="=" in found[1])
        return _value(text, found.end(), about)
    if name["weak"]:
        return None
    about = _About(name, exact, tight=exact)
    if (found := _VALUE_NEXT.match(text, end)) is not None:
        return _value(text, found.end(), about)
    next_item = _NEXT_ITEM.match(text, end)
    if option and (found := next_item or _NEXT_WORD.match(text, end)) is not None:
        return _value(text, found.end(), about)
    quoted = _IN_QUOTES.search(before)
    if next_item is None or quoted is None:
        return None
    span = _value(text, next_item.end(), about)
    if span is None:
        return None
    # What stands beside it may be one more name: ["password", "email"].
    value = text[slice(*span)]
    pair = quoted[1] and _PAIR_END.match(text, span[1])
    is_name = value.isidentifier() and not (len(value) > 7 and _DIGIT.search(value))
    return span if pair or not is_name else None


@dataclass(frozen=True, slots=True)
class _About:
    """How a name announces what stands behind it.

    Attributes:
        name: The name, as it was found.
        exact: Whether it says no more than that: `password`, not `password_policy`.
        tight: Whether its value stands as values do, and not as a sentence goes on.
        before: What stands before it.
        assigned: Whether an equals sign stands between, behind which others may follow.
    """

    name: re.Match[str]
    exact: bool
    tight: bool
    before: str = ""
    assigned: bool = False


def _value(text: str, start: int, about: _About) -> Span | None:
    """Where the value at a place stands, if it is a secret."""
    name, tight, end = about.name, about.tight, None
    if text.startswith(_HIDDEN, start - 1):
        return None
    if (opened := _QUOTE.match(text, start)) is not None:
        start = opened.end()
        end = _closed(text, start, opened[1])
        if name["chosen"] or name["header"]:
            return (start, end) if start < end and not text.startswith(_HIDDEN, start) else None
    found = _BARE.match(text, start, start + _JUDGED)
    if found is None:
        return None
    first = found[0]
    if end is None and len(first) < _JUDGED:  # what ends the sentence around it is no part of it
        first = first.rstrip(".:" if "(" in first else ".:)") or first
    if name["header"]:
        rest = _SCHEME if about.assigned else _TO_LINE_END
        line = None if _is_plain(first) else rest.match(text, start)
        return line.span() if line is not None else None
    if name["chosen"]:
        is_secret = not first.startswith("//") and (about.exact or not first.isalpha())
        is_secret = is_secret and not _is_plain(first)
    else:
        judged = found.end()
        tight = tight if end is None else about.exact and judged >= min(end, start + _JUDGED)
        is_secret = _is_issued(first, about, tight=tight)
    if not is_secret:
        return None
    more = _BARE.match(text, found.end()) if len(first) == _JUDGED else None
    return start, start + len(first) if more is None else more.end()


_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")
_JUDGED: Final = 256
"""Characters of a word that say what it is."""
_HIDDEN: Final = ("[secret]", "[sensitive]")


def _is_plain(word: str) -> bool:
    return word.rstrip(".:!?)").lower() in _plain_words() or not word.strip("*.:!?()$")


@cache
def _plain_words() -> frozenset[str]:
    return frozenset(forms()["plain_words"].split())


def _is_issued(value: str, about: _About, *, tight: bool) -> bool:
    """Whether a value looks as those that machines issue: letters and digits, or letters alone."""
    if len(value) < 8 or value.isdigit():
        return False
    if _DIGIT.search(value):
        return _LETTER.search(value) is not None
    name = about.name
    if name["weak"]:
        return name[0].lower() != "key" and _IN_QUERY.search(about.before) is not None
    return tight and not _is_plain(value)


def _closed(text: str, start: int, quote: str) -> int:
    """Where a text ends that was opened with this quote: before the same one, or with its line."""
    found = _QUOTED[quote].match(text, start)
    if found is not None and found.end() < len(text):
        return found.end()
    return _line_end(text, start)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


# --- columns --------------------------------------------------------------------------------------

_QUOTED_CELL: Final = re.compile(r"(?:^|(?<=[,;\t|]))\"[^\"]*\"(?=[,;\t|]|$)")
_LAST_NAME: Final = re.compile(r"([\w.\-][\w.\- ]{0,40})[\"']?\Z")
_PLAIN_CELL: Final = re.compile(r"[\s\"']*([\w.\- ]{0,40}?)[\s\"'\])}]*")
_CELL_VALUE: Final = re.compile(r"[\s\"']*([^\"'\r]*)")
_MOST_COLUMNS: Final = 100
_ISSUED: Final = ("aB3dE5gH7jK9", "482913")
"""What might stand in a column, to ask of its header."""


def _columns(text: str) -> Iterator[Span]:
    """The cells below a header that announces them, in lines of as many cells."""
    names: list[str] = []
    sign, at = ",", 0
    for line in text.split("\n") if "\n" in text and _hints().search(text) else ():
        cells = _QUOTED_CELL.sub(lambda found: "x" * len(found[0]), line).split(sign)
        last = "".join(cells[len(names) - 1 : len(names)])
        is_row = len(cells) == len(names) or '"' in last  # the end of a table inside a text
        start = at
        for name, cell in zip(names, cells, strict=False) if is_row else ():
            value = _CELL_VALUE.match(text, start, start + len(cell))
            if name and value is not None and announces(name, value[1]):
                yield value.span(1)
            start += len(cell) + 1
        found = next((one for one in ",;\t|" if one in line), sign)
        header = _header(line.split(found)) if _hints().search(line) else []
        if header or not is_row:
            names, sign = header, found
        at += len(line) + 1


def _header(cells: list[str]) -> list[str]:
    """The names that announce secrets, in their columns; none where there is no such name.

    Something else may stand before the first one, but for it all that is a name is looked at.
    """
    names: list[str] = []
    for cell in reversed(cells[-_MOST_COLUMNS:]):
        plain = _PLAIN_CELL.fullmatch(cell)
        name = plain or _LAST_NAME.search(cell)
        names.insert(0, name[1] if name is not None else "")
        if plain is None:
            break
    told = [name if _is_told_by(name) else "" for name in names]
    return told if any(told) and len(told) > 1 else []


@lru_cache(maxsize=1_024)
def _is_told_by(name: str) -> bool:
    return any(announces(name, one) for one in _ISSUED)
