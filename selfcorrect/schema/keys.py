"""Which declared argument an unknown key stands for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from selfcorrect.kernel.joint import could_be, has_digit
from selfcorrect.kernel.likeness import (
    SAYS_NOTHING,
    Naming,
    form_of,
    has_same_letters,
    is_near,
    is_spelled,
)
from selfcorrect.model import JSON, JsonObject
from selfcorrect.protocols import Tool
from selfcorrect.schema.closing import WORDS
from selfcorrect.schema.subschema import Alternatives, formats_of, types_of
from selfcorrect.text import LONGEST, distance, rivals, spelling, tokens

_MOST_KEYS: Final = 200
_IDS: Final = frozenset({"id", "identifier", "key", "uuid"})
_CODES: Final = frozenset({"abbreviation", "code", "iata", "icao", "iso", "symbol", "ticker"})
_IDENTIFIES: Final = (
    _IDS
    | _CODES
    | {"address", "base64", "content", "email", "hash", "hex", "link", "mail", "number", "phone"}
    | {"ticker", "token", "uri", "url"}
)
"""Words that tell what no name is."""
_LONGEST_CODE: Final = 3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the object that a key stands in.

    Attributes:
        tool: The tool.
        names: Its declared arguments that are absent, and what the schema says of each.
        required: Those of them that are missing.
        synonyms: What else arguments are called here.
        is_open: Whether the object takes keys that are not declared.
    """

    tool: Tool
    names: Mapping[str, Alternatives]
    required: Collection[str]
    synonyms: Mapping[str, str]
    is_open: bool = False


def spelled_alike(keys: Iterable[str], names: Iterable[str]) -> dict[str, list[str]]:
    """By key, the names that differ in case, separators and a known prefix only."""
    found: dict[str, list[str]] = {}
    by_spelling: dict[str | None, list[str]] = {}
    for name in names:
        ours = form_of(name)
        for one in {ours.spelled, ours.bare}:
            by_spelling.setdefault(one, []).append(name)
    for key in keys:
        ours = form_of(key)
        near = [*by_spelling.get(ours.spelled, ()), *by_spelling.get(ours.bare or "", ())]
        if ours.spelled:
            found[key] = [name for name in dict.fromkeys(near) if is_spelled(key, name)]
    return found


def suitors(key: str, value: JSON, around: Surroundings) -> list[str]:
    """The absent arguments that a key can stand for with this value, for it is like their name.

    One name is an answer; several are a tie, unless others leave only one of them.
    """
    told = {spelling(k): name for k, name in around.synonyms.items()}.get(spelling(key))
    if told is not None:
        return [told] if told in around.names else []
    names = list(around.names)[:_MOST_KEYS]
    topic = tokens(f"{around.tool.name}_{around.tool.description}"[:LONGEST])
    acts = around.tool.effect != "read_only"
    found = [
        name
        for name in names
        if max(len(key), len(name)) <= LONGEST
        and is_near(key, name, Naming(names, frozenset(topic), name in around.required, acts))
        and loosely_fits(value, around.names[name])
        and _could_identify(value, form_of(key).words, form_of(name).words)
        and not _names_another(key, name, around.names[name])
    ]
    near = [other for name in found for other in rivals(key, name, names)]
    return list(dict.fromkeys(found + near))


def _names_another(key: str, name: str, schemas: Alternatives) -> bool:
    """Whether a key adds `name` to what is told to be an id, an address or a code of something."""
    if "name" not in set(form_of(key).words) - set(form_of(name).words):
        return False
    said = " ".join(str(one.get("description"))[:LONGEST] for one in schemas)
    return not _IDENTIFIES.isdisjoint(word for piece in said.split() for word in tokens(piece))


def _could_identify(value: JSON, ours: Collection[str], theirs: Collection[str]) -> bool:
    """Whether a value can be meant where a name asks for an id or a code, and the key does not."""
    asked = set(theirs) - set(ours)
    if not asked & (_IDS | _CODES) or not isinstance(value, str):
        return True
    if has_digit(value):
        return True
    return not asked & _IDS and (value.isupper() or len(value.strip()) <= _LONGEST_CODE)


def resembles(key: str, names: Iterable[str]) -> str | None:
    """The first name that a key may have something to do with, judged generously.

    For deciding what may be dropped: better to see a likeness where there is none.

    >>> resembles("retrun_date", ["origin", "return_date"]), resembles("colour", ["size"])
    ('return_date', None)
    """
    ours = set(form_of(key).words) - SAYS_NOTHING
    for name in list(names)[:_MOST_KEYS]:
        if is_spelled(key, name) or has_same_letters(key, name):
            return name
        if ours and _is_near(form_of(key[:LONGEST]).letters, form_of(name[:LONGEST]).letters):
            return name
        theirs = set(form_of(name).words) - SAYS_NOTHING
        if ours & theirs or any(_is_near(a, b) for a in ours for b in theirs):
            return name
    return None


def _is_near(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(long) <= 3:
        return sorted(short) == sorted(long) or (long.startswith(short) and len(long) > 1)
    if len(short) >= 3 and long.startswith(short):
        return True
    limit = 1 if len(long) < 5 else 2
    return len(long) >= 4 and distance(one, other, limit) is not None


def loosely_fits(value: JSON, schemas: Sequence[JsonObject]) -> bool:
    """Whether a value is of the right shape, or one that could be converted."""
    return not schemas or any(could_be(value, types_of(one), formats_of((one,))) for one in schemas)


def is_open(schemas: Sequence[JsonObject]) -> bool:
    """Whether an object may have keys that are not declared, because the schema says so."""
    return any(schema.get(word) not in (None, False) for schema in schemas for word in WORDS)
