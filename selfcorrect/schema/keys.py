"""Which declared argument an unknown key stands for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.model import JSON, JsonObject, Safety
from selfcorrect.protocols import Tool
from selfcorrect.schema.subschema import Alternatives, has_type, types_of
from selfcorrect.text import (
    LONGEST,
    distance,
    misspells,
    normal,
    plain_letters,
    rivals,
    spelling,
    tokens,
)
from selfcorrect.words import NEGATIONS, WORDS, number_word, singular

_PREFIX: Final = re.compile(
    r"(?:args?|arguments?|params?|parameters?)(?:[_\-.]+|(?=[A-Z]))(.+)|p[_\-.]+(.+)", re.DOTALL
)
_STOP: Final = frozenset({"a", "an", "of", "the"})
_FILLERS: Final = frozenset(
    {"arg", "argument", "field", "input", "param", "parameter", "str", "string", "value"}
)
_SAYS_NOTHING: Final = _FILLERS | {"data", "item", "key", "object", "x", "y"}
_SHORT: Final = {
    "amt": "amount",
    "dst": "destination",
    "lng": "longitude",
    "msg": "message",
    "no": "number",
    "nr": "number",
    "num": "number",
    "qty": "quantity",
    "src": "source",
}
_MOST_KEYS: Final = 200


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


def meant_by(key: str, value: JSON, around: Surroundings) -> tuple[list[str], Safety]:
    """The absent arguments that a key can stand for with this value, and how surely.

    One name is an answer; several are a tie, which nobody may break.
    """
    names = list(around.names)[:_MOST_KEYS]
    if exact := [name for name in names if is_spelled(key, name)]:
        return exact, Safety.EXACT
    told = {spelling(k): name for k, name in around.synonyms.items()}.get(spelling(key))
    if told is not None:
        return ([told] if told in around.names else []), Safety.INFERRED
    found = [
        name
        for name in names
        if _is_alike(key, name, around) and loosely_fits(value, around.names[name])
    ]
    near = [other for name in found for other in rivals(key, name, names)]
    return list(dict.fromkeys(found + near)), Safety.INFERRED


def is_spelled(key: str, name: str) -> bool:
    """Whether two keys differ in case, separators and a known prefix only.

    >>> is_spelled("departureDate", "departure_date"), is_spelled("params_location", "location")
    (True, True)
    """
    ours, theirs = spelling(key), spelling(name)
    if not ours or not theirs:
        return False
    return ours in (theirs, _bare(name)) or _bare(key) == theirs


def _bare(key: str) -> str | None:
    match = _PREFIX.fullmatch(key[: LONGEST + 1])
    return spelling(match[1] or match[2]) or None if match else None


def _is_alike(key: str, name: str, around: Surroundings) -> bool:
    if len(key) > LONGEST or len(name) > LONGEST:
        return False
    if _same_letters(key, name) or plain_letters(key) == plain_letters(name) != "":
        return True
    ours, theirs = _words(key), _words(name)
    if not ours or not theirs:
        return False
    if sorted(ours) == sorted(theirs) or _one_word_off(ours, theirs, name, around):
        return True
    return not around.is_open and _is_part(frozenset(ours), frozenset(theirs), name, around)


def _same_letters(key: str, name: str) -> bool:
    digits = re.findall(r"\d+", key) == re.findall(r"\d+", name)
    return digits and normal(key) == normal(name) != ""


def _words(key: str) -> tuple[str, ...]:
    words = (singular(_SHORT.get(word, word)) for word in tokens(key))
    return tuple(word for word in words if word not in _STOP)


def _one_word_off(
    ours: Sequence[str], theirs: Sequence[str], name: str, around: Surroundings
) -> bool:
    """Whether the words differ by a slip or an abbreviation of one of them."""
    if len(ours) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(differing) != 1:
        return False
    word, meant = differing[0]
    if min(len(word), len(meant)) >= 3 and (meant.startswith(word) or word.startswith(meant)):
        return {word, meant}.isdisjoint(WORDS)
    other = {w for one in around.names if one != name for w in tokens(one)}
    own = frozenset(tokens(around.tool.description[:LONGEST]))
    return misspells(word, meant, known=WORDS | other | own) is not None


def _is_part(ours: frozenset[str], theirs: frozenset[str], name: str, around: Surroundings) -> bool:
    """Whether one name says less than the other, and nothing else."""
    if (ours & theirs) <= _SAYS_NOTHING:
        return False
    if ours < theirs:
        more = theirs - ours
        return not more & NEGATIONS and (name in around.required or more <= _FILLERS)
    if theirs < ours:
        topic = {singular(word) for word in tokens(around.tool.name)}
        return ours - theirs <= (topic | _FILLERS) - NEGATIONS
    return False


def resembles(key: str, names: Iterable[str]) -> str | None:
    """The first name that a key may have something to do with, judged generously.

    For deciding what may be dropped: better to see a likeness where there is none.

    >>> resembles("retrun_date", ["origin", "return_date"]), resembles("colour", ["size"])
    ('return_date', None)
    """
    ours = set(_words(key)) - _SAYS_NOTHING
    for name in list(names)[:_MOST_KEYS]:
        if is_spelled(key, name) or _same_letters(key, name):
            return name
        theirs = set(_words(name)) - _SAYS_NOTHING
        if ours & theirs or any(_is_near(a, b) for a in ours for b in theirs):
            return name
    return None


def _is_near(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) >= 3 and long.startswith(short):
        return True
    limit = 1 if len(long) < 5 else 2
    return len(long) >= 4 and distance(one, other, limit) is not None


_TRUTH: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "0", "1"})


def loosely_fits(value: JSON, schemas: Sequence[JsonObject]) -> bool:
    """Whether a value is of the right shape, or one that could be converted."""
    return not schemas or any(_could_be(value, schema) for schema in schemas)


def _could_be(value: Any, schema: JsonObject) -> bool:
    kinds = types_of(schema)
    if value is None or not kinds or has_type(value, kinds):
        return not (isinstance(value, str) and _lacks_digits(value, schema))
    match value:
        case str():
            text = value[:LONGEST].strip().lower()
            if kinds & {"integer", "number"}:
                return any(c.isdigit() for c in text) or number_word(text) is not None
            if "boolean" in kinds:
                return text in _TRUTH
            return "array" in kinds or ("object" in kinds and text.startswith("{"))
        case bool():
            return "array" in kinds
        case int() | float():
            return bool(kinds & {"string", "array"}) or ("boolean" in kinds and value in (0, 1))
        case Mapping():
            return "array" in kinds
    return False


def _lacks_digits(value: str, schema: JsonObject) -> bool:
    is_date = schema.get("format") in ("date", "time", "date-time")
    return is_date and not any(char.isdigit() for char in value[:LONGEST])


def is_open(schemas: Sequence[JsonObject]) -> bool:
    """Whether an object may have keys that are not declared, because the schema says so."""
    words = ("additionalProperties", "unevaluatedProperties", "patternProperties")
    return any(schema.get(word) not in (None, False) for schema in schemas for word in words)
