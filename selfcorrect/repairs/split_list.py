"""split-list: a text that lists several things becomes a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from selfcorrect.model import JSON, Call, Diagnosis, GiveUp, JsonObject, Repair, Safety
from selfcorrect.pointer import split
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import present, without
from selfcorrect.schema.subschema import at, members, strings, types_of
from selfcorrect.text import Unclear, is_spelling_of, spelling, tokens
from selfcorrect.values.excluded import excludes, is_item
from selfcorrect.values.quantities import read_quantity
from selfcorrect.words import singular

_LONGEST: Final = 20_000
_MOST: Final = 1_000
_BRACKETS: Final = {"[": "]", "(": ")", "{": "}"}
_AND: Final = re.compile(r"\s*(?:,\s*)?\b(?:and|&)\b\s*", re.IGNORECASE)
_GROUPED: Final = re.compile(
    r"\d,\d{3}(?!\d)|^[+-]?\d[\d.]*,\d+$|^[+-]?\d{1,3}(?: \d{3})+$", re.ASCII
)
_DECIMAL_COMMAS: Final = re.compile(r"\d,\d+\s*,\s+-?\d|\d,\s+-?\d+,\d", re.ASCII)
_PLACES_AND_PEOPLE: Final = frozenset(
    {"address", "attendee", "author", "city", "country", "destination", "location", "origin"}
    | {"people", "person", "place", "region", "state", "contact", "guest", "passenger"}
    | {"comment", "line", "message", "note", "paragraph", "question", "sentence", "step", "text"}
)
"""What is often written with a comma of its own."""
_AND_SO_ON: Final = frozenset({"", "and so on", "et al", "etc", "etcetera"})
_EXCLUDES: Final = frozenset({"except", "excluding", "neither", "never", "nor", "not", "without"})
_BULLET: Final = re.compile(
    r"(?:([-*+\u2022\u2013\u2014])|(\d{1,4})[.)])(?:\s+|\Z)(?=(\d)?)", re.ASCII
)
_FIRST: Final = ("1. ", "1) ")
_NAME: Final = re.compile(r"[a-z0-9][\w.@:/\-]*(?: [a-z0-9][\w.\-]*){0,2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SplitList:
    """Splits a text into the list that the schema asks for: `"a, b"` as `["a", "b"]`.

    Always inferred. Numbers and listed values are split wherever each part is one. Free text is
    split at `;`, `|` and line ends, and at commas only where the parts are plain lower-case words
    or codes: `"Smith, John"` and `"Paris, France"` may be one thing, and are refused.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> change = try_strategy(SplitList(), schema, {"tags": "red, green"}).changes[0]
    >>> change.after, change.safety.value
    (['red', 'green'], 'inferred')
    >>> try_strategy(SplitList(), schema, {"tags": "Smith, John"})
    GiveUp(reason='its commas may belong to one item')
    """

    name: ClassVar[str] = "split-list"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Split the text at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if (nothing := without(place)) is not None:
            return nothing
        if not isinstance(place.value, str) or place.kinds != {"array"}:
            return GiveUp("there is no text where only a list is asked for")
        items = at(place.tool.schema, [*split(place.path)[1:], "0"]) or ()
        try:
            found = _split(place.value, items, place.name)
        except Unclear as why:
            return GiveUp(str(why))
        return place.mend(found, Safety.INFERRED, "a text that lists several things")


def _split(text: str, items: Sequence[JsonObject], name: str) -> list[JSON]:
    if len(text) > _LONGEST:
        raise Unclear("it is too long for a list in a text")
    _check_levels(text)
    text = text.strip()
    bracketed = len(text) > 1 and _BRACKETS.get(text[0]) == text[-1]
    body = text[1:-1].strip() if bracketed else text
    if any(mark in body for mark in "\"'[]{}()"):
        raise Unclear("it holds quotes or brackets")
    sure = bracketed and text[0] == "["
    if _GROUPED.search(body) or _DECIMAL_COMMAS.search(body):
        raise Unclear("its commas or spaces could group digits")
    listed = {spelling(one): one for one in strings(members(items))}
    kinds = frozenset().union(*map(types_of, items)) - {"null"} if items else frozenset()
    for parts in _readings(body):
        if (1 if sure else 2) <= len(parts) <= _MOST and all(parts):
            if listed:
                found: list[JSON] | None = _listed(parts, listed)
            elif kinds and kinds <= {"integer", "number"}:
                found = _numbers(parts, whole="number" not in kinds)
            else:
                found = _free_text(body, parts, name, sure=sure) if kinds == {"string"} else None
            if found is not None:
                return found
    raise Unclear("it is not a list of what is asked for")


def _listed(parts: Sequence[str], listed: Mapping[str, str]) -> list[JSON] | None:
    found: list[JSON] = []
    for part in parts:
        meant = listed.get(spelling(part))
        if meant is None or not is_spelling_of(part, meant):
            return None
        found.append(meant)
    return found


def _readings(body: str) -> Iterator[list[str]]:
    """The text split at each separator that it holds, the surest one first."""
    for mark in ("\n", ";", "|"):
        if mark in body:
            parts = [part.strip(" ,\t\r") for part in body.split(mark)]
            yield _without_bullets(parts, signs=mark != "\n")
            return
    parts = [part.strip() for part in body.split(",")]
    parts = _without_bullets(parts) if body.startswith(_FIRST) else parts
    yield parts
    last = [part.strip() for part in _AND.split(parts[-1]) if part.strip()]
    yield [*parts[:-1], *last]
    if "," not in body:
        yield body.split()


def _check_levels(text: str) -> None:
    """Refuse a list with a list in it: nobody can tell what its items would be."""
    lines = text.split("\n")
    margins = {len(n) - len(n.lstrip()) for n in lines if _BULLET.match(n.lstrip())}
    if len(margins) > 1:
        raise Unclear("some of its items stand under others")


def _without_bullets(parts: list[str], *, signs: bool = False) -> list[str]:
    """The parts without `-`, `*` or running numbers before all of them.

    Within a line (`signs`) a `-` or `+` before a number belongs to the number.
    """
    found = [_BULLET.match(part) for part in parts]
    bullets = [bullet for bullet in found if bullet is not None]
    if not bullets:
        return parts
    if signs and any(bullet[1] and bullet[3] for bullet in bullets):
        raise Unclear("its numbers may have signs")
    marks = [bullet[1] or bullet[2] for bullet in bullets]
    running = marks == [str(n) for n in range(1, len(marks) + 1)]
    if len(bullets) < len(parts) or not (running or len(set(marks)) == 1):
        raise Unclear("some of its items begin like those of a list, and some do not")
    return [part[bullet.end() :] for part, bullet in zip(parts, bullets, strict=True)]


def _numbers(parts: Sequence[str], *, whole: bool) -> list[JSON] | None:
    try:
        found = [read_quantity(part, whole=whole) for part in parts]
    except Unclear:
        return None
    if any(one.currency or one.unit or one.percent or one.may_mean_more for one in found):
        return None
    return [one.value for one in found]


def _free_text(body: str, parts: list[str], name: str, *, sure: bool) -> list[JSON]:
    if parts[-1].lower().rstrip(".") in _AND_SO_ON:
        raise Unclear("it does not say all of its items")
    if any(map(excludes, parts)):
        raise Unclear("it says what is not meant")
    if not all(map(is_item, parts)):
        raise Unclear("some of it stands for an item, and is none")
    if any(mark in body for mark in "\n;|"):
        return list(parts)
    if "," not in body and not sure:
        raise Unclear("it could be one item or several")
    if re.search(r"\b(?:and|or)\b|&", body, re.IGNORECASE):
        raise Unclear("its last items could be one")
    codes = all(part.isascii() and part.isupper() and len(part) <= 4 for part in parts)
    plain = all(_NAME.fullmatch(part) for part in parts)
    words = [singular(word) for word in tokens(name)]
    told = words != ["name"] and _PLACES_AND_PEOPLE.isdisjoint(words)
    plain = plain and (told or all("@" in part for part in parts))
    if not _EXCLUDES.isdisjoint(tokens(body)):
        raise Unclear("it says what is not meant")
    if not (sure or codes or plain):
        raise Unclear("its commas may belong to one item")
    return list(parts)
