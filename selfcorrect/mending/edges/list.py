"""One value for a list, a list of one for a value, and a text that lists several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from selfcorrect.kernel.inside import separated
from selfcorrect.kernel.spellings import Slot
from selfcorrect.kernel.wrappers import ordered
from selfcorrect.mending.choice import Edge, Fit, candidate
from selfcorrect.mending.edges.boolean import boolean
from selfcorrect.mending.edges.number import Number, numbers
from selfcorrect.mending.edges.text import text
from selfcorrect.model import JSON, JsonObject
from selfcorrect.pointer import look, split
from selfcorrect.schema.places import Place, parent
from selfcorrect.schema.subschema import at, has_type, members, strings, types_of
from selfcorrect.text import Unclear, is_spelling_of, tokens
from selfcorrect.words import singular

_SCALARS: Final[tuple[Edge, ...]] = (Number(), boolean, text)
_ONE: Final = "a list of one where one value is asked for"
_NUMBERED: Final = re.compile(r"1[.)] .*\s2[.)] ", re.DOTALL)
_SEVERAL: Final = (",", ";", "|", "\n", " and ", " & ", " or ")
_MOST_NAMED: Final = 6


def only_item(value: JSON, want: Place) -> Iterator[Fit]:
    """The one item of a list, where a single value is asked for; an object opens."""
    if not isinstance(value, list | tuple) or len(value) != 1 or isinstance(value[0], list | tuple):
        return
    (item,) = value
    if isinstance(item, Mapping):
        if "object" in want.kinds:
            yield candidate(item, "only-item", _ONE, opens=True)
        return
    scalars = want.kinds - {"array", "object"}
    if has_type(item, scalars):
        yield candidate(item, "only-item", _ONE)
        return
    for inner in _forms(item, replace(want, kinds=scalars)):
        yield replace(inner, cost="only-item")


def _forms(value: JSON, want: Place) -> Iterator[Fit]:
    """A value in the types that a place may have."""
    for edge in _SCALARS:
        try:
            yield from edge(value, want)
        except Unclear:
            continue


def _items(want: Place) -> Sequence[JsonObject]:
    """What the schema says of the items of a list."""
    return at(want.tool.schema, [*split(want.path)[1:], "0"]) or ()


def one_item(value: JSON, want: Place) -> Iterator[Fit]:
    """The value as the one item of a list, where only a list fits."""
    if want.kinds != {"array"} or isinstance(value, list | tuple):
        return
    items = _items(want)
    if isinstance(value, str):
        _check_one_item(value)
    reason = "one value where only a list fits"
    if want.fits([value]):
        in_order = [*value.values()] if isinstance(value, Mapping) and _is_numbered(value) else None
        if _is_in_row(want) or (in_order is not None and want.fits(in_order)):
            raise Unclear("it could be one item or several")
        yield candidate([value], "one-item", reason)
        return
    kinds = frozenset().union(*map(types_of, items)) - {"array", "null"}
    for item in _forms(value, replace(want, schemas=tuple(items), kinds=kinds)):
        if want.fits([item.value]):
            yield replace(item, value=[item.value])
            return
    if (
        isinstance(value, Mapping)
        and 1 < len(value) <= _MOST_NAMED
        and not any(isinstance(v, Mapping | list) for v in value.values())
        and (listed := ordered(value, want.description))
    ):
        yield candidate(listed, "named-order", "in the order that the description gives")
    elif any(has_type(value, types_of(item)) for item in items):
        yield candidate([value], "one-item", reason, opens=True)


def _check_one_item(value: str) -> None:
    lowered = value.strip().lower()
    opens = lowered.startswith(("[", "{", "(", "- ", "* ", "\u2022"))
    if len(value) > 10_000 or not lowered or opens or _NUMBERED.match(lowered):
        raise Unclear("it could be one item or several")
    if any(mark in lowered for mark in _SEVERAL):
        raise Unclear("it could be one item or several")


def _is_numbered(value: JSON) -> bool:
    """Whether an object has the places in a list for keys."""
    return isinstance(value, Mapping) and len(value) > 1 and all(map(str.isdigit, value))


def _is_in_row(want: Place) -> bool:
    """Whether several values stand side by side where lists are asked for: `[1, 2]` for points."""
    above = look(want.call, parent(want.path))
    return isinstance(above, list) and sum(not isinstance(item, list) for item in above) > 1


# --- a text that lists several --------------------------------------------------------------------

_LONGEST: Final = 20_000
_MOST: Final = 1_000
_BRACKETS: Final = {"[": "]", "(": ")", "{": "}"}
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
_NAME: Final = re.compile(r"[a-z0-9][\w.@:/\-]*(?: [a-z0-9][\w.\-]*){0,2}", re.ASCII)


def several(value: JSON, want: Place) -> Iterator[Fit]:
    """Split a text where its separators cannot belong to one item."""
    if not isinstance(value, str) or want.kinds != {"array"}:
        return
    listed = _split(value, _items(want), want.name)
    yield candidate(listed, "split", "a text that lists several things")


def _split(written: str, items: Sequence[JsonObject], name: str) -> list[JSON]:
    if len(written) > _LONGEST:
        raise Unclear("it is too long for a list in a text")
    whole = written.strip()
    bracketed = len(whole) > 1 and _BRACKETS.get(whole[0]) == whole[-1]
    body = whole[1:-1].strip() if bracketed else whole
    sure = bracketed and whole[0] == "["
    if _GROUPED.search(body) or _DECIMAL_COMMAS.search(body):
        raise Unclear("its commas or spaces could group digits")
    listed = list(dict.fromkeys(strings(members(items))))
    kinds = frozenset().union(*map(types_of, items)) - {"null"} if items else frozenset()
    slot = Slot(kinds=kinds, listed=listed)
    for parts in separated(body, slot):
        if (1 if sure else 2) <= len(parts) <= _MOST and all(parts):
            if listed:
                found: list[JSON] | None = _listed(parts, listed)
            elif kinds and kinds <= {"integer", "number"}:
                found = numbers(parts, kinds)
            else:
                found = _free_text(body, parts, name, sure=sure) if kinds == {"string"} else None
            if found is not None:
                return found
    raise Unclear("it is not a list of what is asked for")


def _listed(parts: Sequence[str], listed: Sequence[str]) -> list[JSON] | None:
    found = [[one for one in listed if is_spelling_of(part, one)] for part in parts]
    return [ones[0] for ones in found] if all(len(ones) == 1 for ones in found) else None


def _free_text(body: str, parts: list[str], name: str, *, sure: bool) -> list[JSON]:
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
    if not (sure or codes or plain):
        raise Unclear("its commas may belong to one item")
    return list(parts)
