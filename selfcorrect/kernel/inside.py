"""What a text holds: JSON that was written into it, or a list between separators."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from selfcorrect.kernel.covering import covers
from selfcorrect.kernel.spellings import INFERRED, Slot, Words, spelled
from selfcorrect.model import JSON, Safety
from selfcorrect.plain import loaded
from selfcorrect.words import EXCEPTIONS, is_no_value

LEVELS: Final = 8
"""How often JSON is taken out of a text inside a text (K7)."""
_LONGEST: Final = 1_000_000
_QUOTES: Final = ('""', "''", "\u201c\u201d", "\u2018\u2019")
_MOST_ITEMS: Final = 1_000
_PLACEHOLDER: Final = re.compile(r"[\[({<][A-Z_\s]{1,80}[\])}>]|[{<][\w\s]{1,80}[}>]")


def unpacked(
    written: str, runs: dict[str, JSON] | list[JSON], item: Slot, *, acts: bool
) -> Safety | None:
    """How certain a text is the object or list that would run; see `covers`.

    What a comment says on a tool that acts is content.
    """
    if not runs or _PLACEHOLDER.fullmatch(written.strip()):
        return None  # `[TAGS]` stands for something, and is no item itself
    text = written
    for _ in range(LEVELS):
        bare = text.strip()
        inner = loaded(bare) if bare[:1] == '"' and len(bare) <= _LONGEST else bare
        if inner is bare or not isinstance(inner, str):
            break
        text = inner
    else:
        return None
    if len(text) > _LONGEST or text.strip()[:1] not in ("{", "[", "("):
        return None
    for one in runs if isinstance(runs, list) else ():
        is_quoted = any(f"{a}{one}{b}" in text for a, b in _QUOTES)
        if isinstance(one, str) and not is_quoted and not is_item(one, one, item):
            return None
    return covers(text, runs, acts=acts).safety


_BULLET: Final = re.compile(
    r"(?:([-*+\u2022\u2013\u2014])|(\d{1,4})[.)])(?:\s+|\Z)(?=(\d)?)", re.ASCII
)
_THOUSANDS: Final = re.compile(r"(?<![\d.])\d{1,3}\s\d{3}(?!\d)", re.ASCII)
_HOLDS: Final = re.compile(r"[\"'\[\]{}()]")
_AND: Final = re.compile(r"\s*,?\s*(?:\band\b|&)\s*", re.IGNORECASE)


def lists(written: str, runs: JSON, item: Slot, words: Words) -> Safety | None:
    """Whether a text lists exactly the items that run, in order, between separators of one kind."""
    if not isinstance(runs, list) or len(runs) > _MOST_ITEMS:
        return None
    body = written.strip()
    is_framed = body[:1] + body[-1:] in ("[]", "()", "{}")
    # What has no separator is one item; `[TAGS]` stands for something.
    if not runs or (len(runs) == 1 and not is_framed) or _PLACEHOLDER.fullmatch(body):
        return None
    body = body[1:-1].strip() if is_framed else body
    if _HOLDS.search(body):
        return None  # a separator inside quotes or brackets separates nothing
    for parts in separated(body, item):
        bare = parts if parts[-1:] != [""] else parts[:-1]
        if len(bare) == len(runs) and all(
            spelled(part, value, item, words) is not None and is_item(part, value, item)
            for part, value in zip(bare, runs, strict=True)
        ):
            return INFERRED
    return None


_MAY_BEGIN: Final = frozenset("@#/~.+*_-\"'(&\u00bf\u00a1")
_MAY_END: Final = frozenset("_.!?)+*%\"'#/-@\u00b0")


def is_item(text: str, value: JSON, item: Slot) -> bool:
    """Whether a text can be an item: it begins and ends as words, paths and names do.

    What is left out (`all but Bob`), cut off or holds the place of another is none.

    >>> [is_item(one, one, Slot()) for one in ("red", "*.py", "C++", "$5", "Notting Hill")]
    [True, True, True, True, True]
    >>> [is_item(one, one, Slot()) for one in ("]", "red...", "<tags>", "$TAGS", "not Paris", "-")]
    [False, False, False, False, False, False]
    """
    bare = text.strip()
    if not isinstance(value, str) or value in item.listed:
        return bool(bare)
    if is_no_value(bare) or bare.endswith("..") or EXCEPTIONS & {*bare.lower().split()}:
        return False
    first = bare[1:2] if bare[0] == "$" else bare[0]
    begins = first.isdigit() if bare[0] == "$" else _is_letter(first) or first in _MAY_BEGIN
    return begins and (_is_letter(bare[-1]) or bare[-1] in _MAY_END)


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"


def separated(text: str, item: Slot) -> Iterator[list[str]]:
    r"""The parts of a text between its separators, the strongest kind that it holds.

    >>> next(separated("1. Oslo\n2. Bergen", Slot()))
    ['Oslo', 'Bergen']
    """
    mark = next((one for one in "\n;|" if one in text), None)
    if mark is not None:
        lines = text.split(mark)
        margins = {len(n) - len(n.lstrip()) for n in lines if _BULLET.match(n.lstrip())}
        if mark == "\n" and len(margins) > 1:
            return  # some of its items stand under others
        parts = [part.strip(" ,\t\r") for part in lines]
        yield _without_bullets(parts, signs=mark != "\n")
        return
    parts = [part.strip() for part in text.split(",")]
    parts = _without_bullets(parts) if text.startswith(("1. ", "1) ")) else parts
    yield parts
    first, *others = _AND.split(parts[-1])
    if others[-1:] != [""]:  # behind a last `and` something was cut off
        yield [*parts[:-1], *([first] if first else []), *others]
    # Words of a text stand apart anyway: that separates nothing but numbers and listed values,
    # and of numbers not the thousands: `1 000`.
    is_apart = item.listed or ("string" not in item.kinds and not _THOUSANDS.search(text))
    if len(parts) == 1 and is_apart:
        yield text.split()


def _without_bullets(parts: list[str], *, signs: bool = False) -> list[str]:
    """The parts without `-`, `*` or running numbers before all of them; none where some have any.

    Within a line (`signs`) a `-` or `+` before a number belongs to the number.
    """
    found = [_BULLET.match(part) for part in parts]
    bullets = [bullet for bullet in found if bullet is not None]
    if not bullets:
        return parts
    marks = [bullet[1] or bullet[2] for bullet in bullets]
    running = marks == [str(n) for n in range(1, len(marks) + 1)]
    is_sign = signs and any(bullet[1] and bullet[3] for bullet in bullets)
    if is_sign or len(bullets) < len(parts) or not (running or len(set(marks)) == 1):
        return []
    return [part[bullet.end() :] for part, bullet in zip(parts, bullets, strict=True)]


def size(value: JSON) -> int:
    """How many scalars a value holds."""
    if isinstance(value, dict):
        return sum(map(size, value.values()))
    return sum(map(size, value)) if isinstance(value, list) else 1
