"""What the conventional named groups of a rule's pattern say, in the words of a finding.

`param` a place, `hint` a suggestion, `seconds` a wait, `expected` a type, `minimum`, `maximum`,
`limit` and `allowed` a constraint. What cannot be read with certainty is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from selfcorrect.model import JSON, Category
from selfcorrect.pointer import join

_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
_PLACE: Final = re.compile(r"(?:^|\.)([^.\[\]]+)|\[([0-9]{1,6})\]|\[(['\"])([^'\"\[\]]+)\3\]")
_QUOTED: Final = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`|([\w.+-]+))\s*"""
)
_BETWEEN: Final = re.compile(r",\s*(?:or|and)\b|,|\||(?:or|and)\b")
_LAST: Final = re.compile(r"(?:,\s*(?:or|and)|\sor)\s+(?=[^\s,|]+$)")
_UNCLEAR: Final = re.compile(r"['\"`\[\]{}()]|\b(?:or|and)\b")
_LITERALS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("null", "None"), None),
    **dict.fromkeys(("true", "True"), True),
    **dict.fromkeys(("false", "False"), False),
}
_QUOTES: Final = "'\"`" + "".join(map(chr, (0x2018, 0x2019, 0x201C, 0x201D, 0xAB, 0xBB)))
_LONGEST_PLACE: Final = 300
_LONGEST_LIST: Final = 4_000
_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("integer", "int"), "integer"),
    **dict.fromkeys(("number", "float", "decimal", "double"), "number"),
    **dict.fromkeys(("string", "str", "text"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list"), "array"),
    **dict.fromkeys(("object", "dict", "dictionary"), "object"),
    "null": "null",
}


def pointer_of(place: str) -> str | None:
    """The JSON Pointer into the call of a parameter as messages write it, or None.

    >>> pointer_of("passengers[0].age"), pointer_of("/seats/1"), pointer_of("'cabin'")
    ('/args/passengers/0/age', '/args/seats/1', '/args/cabin')
    """
    place = place.strip().strip(_QUOTES).strip()
    if not place or len(place) > _LONGEST_PLACE:
        return None
    if place.startswith("/"):
        known = place in ("/name", "/raw") or (place + "/").startswith("/args/")
        return place if known else f"/args{place}"
    place = place.removeprefix("$.")
    tokens, end = [], 0
    while end < len(place):
        found = _PLACE.match(place, end)
        if found is None or found.end() == end:
            return None
        tokens.append(next(group for group in found.group(1, 2, 4) if group is not None))
        end = found.end()
    return join("args", *tokens)


def pointers_of(places: Iterable[str]) -> tuple[str, ...]:
    """The JSON Pointers of several parameters; unreadable ones are left out."""
    return tuple(pointer for place in places if (pointer := pointer_of(place)) is not None)


def number_of(text: str | None) -> float | int | None:
    """A plain decimal number, or None; grouped digits are not guessed at.

    >>> number_of("18.5"), number_of("3"), number_of("1,000"), number_of(None)
    (18.5, 3, None, None)
    """
    text = text.strip() if text is not None else ""
    if not _NUMBER.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


def seconds_of(text: str | None) -> float | None:
    """A wait in seconds, or None.

    >>> seconds_of("2"), seconds_of("-1"), seconds_of("soon")
    (2.0, None, None)
    """
    number = number_of(text)
    return float(number) if number is not None and number >= 0 else None


def allowed_of(text: str) -> list[JSON] | None:
    """The values of a list as messages write it, or None where it cannot be read with certainty.

    >>> allowed_of("['economy', 'first']"), allowed_of("1, 2 or 3"), allowed_of("a | b")
    (['economy', 'first'], [1, 2, 3], ['a', 'b'])
    >>> allowed_of("'a', 'b"), allowed_of("Trinidad and Tobago, Spain"), allowed_of("a, b, ...")
    (None, None, None)
    """
    text = text.strip()
    for opening, closing in ("[]", "()", "{}"):
        if text.startswith(opening) and text.endswith(closing):
            text = text[1:-1].strip()
    if "..." in text or "\N{HORIZONTAL ELLIPSIS}" in text or len(text) > _LONGEST_LIST:
        return None
    return _quoted(text) if any(quote in text for quote in "'\"`") else _bare(text.rstrip("."))


def _quoted(text: str) -> list[JSON] | None:
    """Texts in quotes, and numbers and literals between them."""
    values: list[JSON] = []
    end = 0
    while (found := _QUOTED.match(text, end)) is not None:
        *quoted, bare = found.groups()
        if bare is None:
            inside = next(item for item in quoted if item is not None)
            values.append(re.sub(r"\\(.)", r"\1", inside))
        elif bare in _LITERALS:
            values.append(_LITERALS[bare])
        elif (number := number_of(bare)) is not None:
            values.append(number)
        else:
            return None
        end = found.end()
        if end == len(text):
            return values
        between = _BETWEEN.match(text, end)
        if between is None:
            return None
        end = between.end()
    return None


def _bare(text: str) -> list[JSON] | None:
    """Words between commas or bars; "or" only before the last."""
    items = [item.strip() for item in re.split(r"[,|]", _LAST.sub(",", text))]
    if any(not item or item in _LITERALS or _UNCLEAR.search(item) for item in items):
        return None
    numbers = [number_of(item) for item in items]
    return [item if number is None else number for item, number in zip(items, numbers, strict=True)]


def constraint_of(captures: Mapping[str, str], category: Category) -> dict[str, JSON]:
    """The constraint in JSON Schema words, as far as the captures say it.

    >>> constraint_of({"minimum": "1", "limit": "9"}, Category.RANGE)
    {'minimum': 1, 'maximum': 9}
    >>> constraint_of({"limit": "9"}, Category.NONE)
    {}
    """
    found: dict[str, JSON] = {}
    for group, word in _BOUNDS.get(category, _PLAIN_BOUNDS):
        number = number_of(captures.get(group))
        if number is not None:
            found[word] = number
    if (values := allowed_of(captures.get("allowed", ""))) is not None:
        found["enum"] = values
    expected = captures.get("expected", "").strip().strip(_QUOTES).lower()
    if expected in _TYPES:
        found["type"] = _TYPES[expected]
    return found


_PLAIN_BOUNDS: Final = (("minimum", "minimum"), ("maximum", "maximum"))
_BOUNDS: Final[Mapping[Category, tuple[tuple[str, str], ...]]] = {
    Category.RANGE: (*_PLAIN_BOUNDS, ("limit", "maximum")),
    Category.LENGTH: (
        ("minimum", "minLength"),
        ("maximum", "maxLength"),
        ("limit", "maxLength"),
    ),
}
