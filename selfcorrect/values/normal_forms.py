"""Other spellings of an address, an identifier or a code: the same in the form that is asked for.

Only what is certain; nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from selfcorrect.kernel.spellings import bare_text

_LONGEST: Final = 2_000
_LONGEST_PATTERN: Final = 200


def normal_forms(text: str, formats: Collection[str], patterns: Collection[str]) -> list[str]:
    """Other spellings of a text, each once; nothing for a long text.

    Args:
        text: The text.
        formats: The formats that are asked for, by their names in JSON Schema.
        patterns: The regular expressions that are asked for, if no format is known here.

    >>> sorted(normal_forms("<ann@example.org>", ["email"], []))
    ['ann@example.org']
    """
    return [*dict.fromkeys(_forms(text, formats, patterns))] if len(text) <= _LONGEST else []


def _forms(text: str, formats: Collection[str], patterns: Collection[str]) -> Iterator[str]:
    known = sorted(_NORMAL.keys() & set(formats))
    for name in known:
        yield from _NORMAL[name](text)
    for pattern in () if known else patterns:
        yield from _of_pattern(text, pattern)


_DISPLAY_NAME: Final = re.compile(r"[^<>@]{1,100}<([^<>\s]{3,254})>")


def _email(text: str) -> Iterator[str]:
    bare = bare_text(text).removeprefix("mailto:")
    yield bare
    yield bare.rstrip(".,;:!")
    if match := _DISPLAY_NAME.fullmatch(bare):
        yield match[1]


def _uuid(text: str) -> Iterator[str]:
    digits = re.sub(r"\W", "", bare_text(text).lower().removeprefix("urn:uuid:"))
    yield "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _uri(text: str) -> Iterator[str]:
    yield bare_text(text)


def _ipv6(text: str) -> Iterator[str]:
    yield bare_text(text).removeprefix("[").removesuffix("]")


def _phone(text: str) -> Iterator[str]:
    """E.164, of a number that names its country."""
    if "+" in text:
        yield "+" + re.sub(r"\D", "", text)


_NORMAL: Final[Mapping[str, Callable[[str], Iterator[str]]]] = {
    "email": _email,
    "idn-email": _email,
    "uuid": _uuid,
    "uri": _uri,
    "ipv4": _uri,
    "ipv6": _ipv6,
    "phone": _phone,
}


def _of_pattern(text: str, pattern: str) -> Iterator[str]:
    """Spellings with the same letters and digits in the same order."""
    bare = bare_text(text)
    if _DATE.fullmatch(bare):
        yield bare
        return
    for form in (bare, re.sub(r"[\s\-]", "", bare)):
        yield from (form, form.upper(), form.lower())
    yield from _phone(text)
    grouped = _grouped(re.sub(r"[\W_]", "", bare), pattern)
    if grouped is not None:
        yield grouped


_DATE: Final = re.compile(
    r"(?:\d{4}([-/. ])\d{1,2}\1\d{1,2}|\d{1,2}([-/. ])\d{1,2}\2\d{4})", re.ASCII
)
"""A date: which of its numbers is the month no pattern can tell."""
_PART: Final = re.compile(
    r"(?P<digits>(?:\\d|\[0-9\])\{(?P<size>\d{1,2})\})|(?P<one>\\d|\[0-9\])|(?P<mark>\\[-./()]|[-\s/])"
)


def _grouped(digits: str, pattern: str) -> str | None:
    r"""The digits with the separators of a pattern such as `^\\d{3}-\\d{4}$`, if they fill it."""
    body = pattern.removeprefix("^").removesuffix("$")
    parts = [*_PART.finditer(body)] if len(pattern) <= _LONGEST_PATTERN else []
    if "".join(part[0] for part in parts) != body:
        return None
    out, used = "", 0
    for part in parts:
        if part["mark"]:
            out += part["mark"][-1]
        else:
            size = int(part["size"] or 1)
            out += digits[used : used + size]
            used += size
    return out if used == len(digits) else None
