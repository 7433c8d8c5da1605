"""What stands at a place of a text: a scalar, or one token of structure. Nothing is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import unescape
from typing import Final

from selfcorrect.kernel.forms import WRAPPING
from selfcorrect.model import JSON
from selfcorrect.text import spelling

_LANGUAGES: Final = frozenset(
    {"", "json", "json5", "jsonc", "python", "py", "javascript", "js", "xml", "yaml", "text"}
    | {"tool_call", "tool_code", "plaintext"}
)
_STRUCTURE: Final = frozenset("{}[]():=,;\"'`\\\ufeff\u201c\u201d\u2018\u2019\uff1a\uff0c")
QUOTES: Final = frozenset("\"'`\\\u201d\u2019")
_FENCE: Final = re.compile(r"`{3,}(?P<language>[\w-]*)")
TAG: Final = re.compile(r"</?(?P<word>[\w-]{1,40})>")
_PREFIX: Final = re.compile(r"[rRuUbB]{1,2}(?=[\"'])")
_NUMBER: Final = re.compile(
    r"[+-]?(?:0[xob][0-9a-f_]+|\d[\d_]*\.?\d*(?:e[+-]?\d{1,4})?|\.\d+(?:e[+-]?\d{1,4})?)",
    re.ASCII | re.IGNORECASE,
)
_CONSTANTS: Final = {
    True: re.compile("true", re.IGNORECASE),
    False: re.compile("false", re.IGNORECASE),
    None: re.compile("null|none|undefined", re.IGNORECASE),
}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt|quot|apos|#39|#34);")


@dataclass(frozen=True, slots=True)
class Bracket:
    """Where an object or a list begins or ends."""

    sign: str


def atoms(value: JSON) -> Iterator[tuple[JSON | Bracket, bool]]:
    """The brackets, keys and scalars of a value in order, and which are keys."""
    stack: list[tuple[JSON | Bracket, bool]] = [(value, False)]
    while stack:
        item, is_key = stack.pop()
        if is_key or not isinstance(item, dict | list):
            yield item, is_key
        elif isinstance(item, dict):
            pairs = [pair for k, v in reversed(item.items()) for pair in ((v, False), (k, True))]
            stack += [(Bracket("}"), False), *pairs, (Bracket("{"), False)]
        else:
            inner = [(one, False) for one in reversed(item)]
            stack += [(Bracket("]"), False), *inner, (Bracket("["), False)]


def scalar_end(text: str, at: int, atom: JSON) -> int | None:
    """Where a key or a scalar ends that begins at a place; None where another stands there."""
    if isinstance(atom, str):
        return _string_end(text, at, atom)
    if atom is None or isinstance(atom, bool):
        found = _CONSTANTS[atom].match(text, at)
    else:
        found = _NUMBER.match(text, at)
        if found is not None and not _is_number(found[0], atom):
            return None
    return None if found is None or text[found.end() : found.end() + 1].isalnum() else found.end()


def structure_end(text: str, at: int) -> int | None:
    """Where one token ends that is no value: a bracket, a separator, a quote, a fence, a tag."""
    sign = text[at]
    if sign == "`" and (fence := _FENCE.match(text, at)) is not None:
        return fence.end() if fence["language"].lower() in _LANGUAGES else None
    if sign.isspace() or sign in _STRUCTURE:
        # An escaped line end between values is one: the text was escaped once too often.
        return at + 2 if sign == "\\" and text[at + 1 : at + 2] in ("n", "t", "r") else at + 1
    prefix = _PREFIX.match(text, at)
    if prefix is not None and (at == 0 or text[at - 1] not in QUOTES):
        return prefix.end()
    tag = TAG.match(text, at)
    is_known = tag is not None and (spelling(tag["word"]) in WRAPPING or tag["word"] in _LANGUAGES)
    return tag.end() if tag is not None and is_known else None


def _is_number(text: str, value: float) -> bool:
    bare = text.replace("_", "")
    try:
        if bare.lstrip("+-")[:2].lower() in ("0x", "0o", "0b"):
            return int(bare, 0) == value
        # Every reader of JSON rounds to the nearest float: that is no other value.
        return float(bare) == value if isinstance(value, float) else Decimal(bare) == value
    except (ValueError, InvalidOperation):
        return False


def _string_end(text: str, at: int, wanted: str) -> int | None:
    """Where a string ends that begins at a place, plain or with escapes; None if another stands."""
    if text.startswith(wanted, at):
        return at + len(wanted)
    place = 0
    while place < len(wanted):
        if at >= len(text):
            return None
        found, step = _sign_at(text, at)
        if not found:  # a line that goes on
            at += step
            continue
        if wanted[place : place + len(found)] != found:
            return None
        place, at = place + len(found), at + step
    return at


def _sign_at(text: str, at: int) -> tuple[str, int]:
    """The sign that stands at a place, with its escape, and how long that is."""
    sign = text[at]
    if sign == "&" and (entity := _ENTITY.match(text, at)) is not None:
        return unescape(entity[0]), len(entity[0])
    if sign != "\\" or at + 1 == len(text):
        return sign, 1
    code = text[at + 1]
    if code == "\n":
        return "", 2
    if code in "uxU":
        size = {"u": 4, "x": 2, "U": 8}[code]
        digits = text[at + 2 : at + 2 + size]
        try:
            number = int(digits, 16)
            if 0xD800 <= number < 0xDC00 and text[at + 6 : at + 8] == "\\u":
                low = int(text[at + 8 : at + 12], 16)
                return chr(0x10000 + ((number - 0xD800) << 10) + (low - 0xDC00)), 12
            return chr(number), 2 + size
        except (ValueError, OverflowError):
            return sign, 1
    return _ESCAPES.get(code, code), 2
