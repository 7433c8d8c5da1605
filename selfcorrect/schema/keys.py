"""Which declared argument an unknown key stands for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from selfcorrect.model import JSON, JsonObject
from selfcorrect.protocols import Tool
from selfcorrect.schema.descriptions import is_turned, speaks_of, subject_of, terms_of
from selfcorrect.schema.subschema import Alternatives, has_type, types_of
from selfcorrect.schema.wording import (
    IDENTIFIES,
    could_identify,
    is_measured,
    is_other_end,
    said_of,
    unit_agrees_with,
)
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
from selfcorrect.values.measures import tells_same_measure
from selfcorrect.words import (
    NEGATIONS,
    SHORT_WORDS,
    WORDS,
    is_english,
    number_word,
    singular,
)

_PREFIX: Final = re.compile(
    r"(?:args?|arguments?|params?|parameters?)(?:[_\-.]+|(?=[A-Z]))(.+)|p[_\-.]+(.+)", re.DOTALL
)
_STOP: Final = frozenset({"a", "an", "of", "the"})
_FILLERS: Final = frozenset(
    {"arg", "argument", "field", "input", "param", "parameter", "str", "string", "value"}
)
_SAYS_NOTHING: Final = _FILLERS | {"data", "item", "key", "object", "x", "y"}
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
        present: Its declared arguments that are there, and what the schema says of each.
    """

    tool: Tool
    names: Mapping[str, Alternatives]
    required: Collection[str]
    synonyms: Mapping[str, str]
    is_open: bool = False
    present: Mapping[str, Alternatives] = field(default_factory=dict)


def spelled_alike(keys: Iterable[str], names: Iterable[str]) -> dict[str, list[str]]:
    """By key, the names that differ in case, separators and a known prefix only."""
    by_spelling: dict[str, list[str]] = {}
    by_bare: dict[str, list[str]] = {}
    for name in names:
        by_spelling.setdefault(spelling(name), []).append(name)
        if bare := _bare(name):
            by_bare.setdefault(bare, []).append(name)
    found: dict[str, list[str]] = {}
    for key in keys:
        if ours := spelling(key):
            near = [*by_spelling.get(ours, ()), *by_bare.get(ours, ())]
            near += by_spelling.get(_bare(key) or "", ())
            found[key] = list(dict.fromkeys(near))
    return found


def suitors(key: str, value: JSON, around: Surroundings) -> list[str]:
    """The absent arguments that a key can stand for with this value, for it is like their name.

    One name is an answer; several are a tie, unless others leave only one of them.
    """
    told = {spelling(k): name for k, name in around.synonyms.items()}.get(spelling(key))
    if told is not None:
        return [told] if told in around.names else []
    names = list(around.names)[:_MOST_KEYS]
    found = [
        name
        for name in names
        if _is_alike(key, name, around)
        and loosely_fits(value, around.names[name])
        and _may_mean(key, value, name, around)
    ]
    near = [other for name in found for other in rivals(key, name, names)]
    return list(dict.fromkeys(found + near))


def is_described(key: str, value: JSON, name: str, around: Surroundings) -> bool:
    """Whether what the schema tells of an absent argument speaks of a key, and of no other's.

    The description has to begin with the key's words. Where the argument is of a type of its own
    (an object, a list, a number) and the only one that is missing, it need only mention them.
    """
    words = set(_words(key)) - _SAYS_NOTHING
    schemas = around.names[name]
    here = said_of(schemas)
    if not here or not words or words & NEGATIONS or not loosely_fits(value, schemas):
        return False
    if not _may_mean(key, value, name, around):
        return False
    kinds = _kinds(schemas)
    if kinds == {"boolean"} and is_turned(here):
        return False
    others = {**around.names, **around.present}.items()
    if speaks_of(here, words):
        return not any(speaks_of(said_of(told), words) for n, told in others if n != name)
    if list(around.required) != [name] or not kinds or "string" in kinds:
        return False
    if not has_type(value, kinds) or words - terms_of(here):
        return False
    return not any(
        words <= terms_of(said_of(told)) | {*_words(n)} for n, told in others if n != name
    )


def _may_mean(key: str, value: JSON, name: str, around: Surroundings) -> bool:
    """Whether no word of either name says that something else is meant: an id, another unit."""
    ours, theirs = _words(key), _words(name)
    if not could_identify(value, ours, theirs) or is_measured(set(theirs) - set(ours)):
        return False
    said = said_of(around.names[name])
    if not tells_same_measure(key[:LONGEST], name[:LONGEST], said):
        return False
    return unit_agrees_with(key, name, said) is not False


def is_spelled(key: str, name: str) -> bool:
    """Whether two keys differ in case, separators and a known prefix only.

    >>> is_spelled("departureDate", "departure_date"), is_spelled("params_location", "location")
    (True, True)
    """
    ours, theirs = _form(key), _form(name)
    if not ours.spelled or not theirs.spelled:
        return False
    return ours.spelled in (theirs.spelled, theirs.bare) or ours.bare == theirs.spelled


def _bare(key: str) -> str | None:
    match = _PREFIX.fullmatch(key[: LONGEST + 1])
    return spelling(match[1] or match[2]) or None if match else None


def _is_alike(key: str, name: str, around: Surroundings) -> bool:
    if len(key) > LONGEST or len(name) > LONGEST:
        return False
    if _same_letters(key, name) or _form(key).plain == _form(name).plain != "":
        return True
    ours, theirs = _form(key).words, _form(name).words
    if not ours or not theirs:
        return False
    if sorted(ours) == sorted(theirs) or _one_word_off(ours, theirs, name, around):
        return True
    if around.is_open:
        return False
    schemas = around.names[name]
    if ours[:-1] == theirs and unit_agrees_with(key, name, said_of(schemas)):
        return True
    return _is_part(frozenset(ours), frozenset(theirs), name, around)


def is_placeholder(key: str) -> bool:
    """Whether a key only says that it is one, and does not wrap others.

    >>> is_placeholder("params_name"), is_placeholder("arg1"), is_placeholder("params")
    (True, True, False)
    """
    words = [singular(word) for word in tokens(key)]
    bare = {word for word in words if not word.isdigit()}
    known = bare <= _KEY_WORDS | {"key", "name", "value"}
    return len(words) > 1 and known and bool(bare & _KEY_WORDS)


_KEY_WORDS: Final = frozenset({"arg", "argument", "param", "parameter"})


class _Form(NamedTuple):
    """What keys are compared by."""

    letters: str
    digits: tuple[str, ...]
    plain: str
    words: tuple[str, ...]
    spelled: str
    bare: str | None


def _form(key: str) -> _Form:
    if len(key) <= LONGEST:
        return _formed(key)
    return _Form(normal(key), (), "", (), spelling(key), _bare(key))


@lru_cache(maxsize=4_096)
def _formed(key: str) -> _Form:
    words = (singular(SHORT_WORDS.get(word, word)) for word in tokens(key))
    kept = tuple(word for word in words if word not in _STOP)
    digits = tuple(re.findall(r"\d+", key))
    return _Form(normal(key), digits, plain_letters(key), kept, spelling(key), _bare(key))


def _same_letters(key: str, name: str) -> bool:
    ours, theirs = _form(key), _form(name)
    return ours.digits == theirs.digits and ours.letters == theirs.letters != ""


def _words(key: str) -> tuple[str, ...]:
    return _form(key).words


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
    if _is_slip_of_name(word, meant, alone=len(ours) == 1):
        return True
    short, long = sorted((word, meant), key=len)
    begun = short.isalpha() and long.startswith(short) and len(long) - len(short) > 1
    if len(short) >= 3 and begun:
        return {word, meant}.isdisjoint(WORDS) and not is_english(short)
    if misspells(word, meant) is None:
        return False
    other = {w for one in around.names if one != name for w in tokens(one)}
    own = frozenset(tokens(around.tool.description[:LONGEST]))
    return misspells(word, meant, known=WORDS | other | own) is not None


def _is_slip_of_name(word: str, meant: str, *, alone: bool) -> bool:
    """Whether the last letter was written twice or left out, or two letters of a word swapped.

    What is shorter than misspellings are looked for needs another word beside it that is right.
    """
    if word in WORDS or is_english(word) or not word.isalpha():
        return False
    if word == meant + meant[-1]:
        return True
    if len(meant) < 5 and (alone or not is_english(meant)):
        return False
    swapped = len(word) == len(meant) == 3 and word[0] == meant[0] and word[1:] == meant[:0:-1]
    return swapped or (len(meant) >= 4 and word == meant[:-1])


def _is_part(ours: frozenset[str], theirs: frozenset[str], name: str, around: Surroundings) -> bool:
    """Whether one name says less than the other, and nothing else."""
    if (ours & theirs) <= _SAYS_NOTHING:
        return False
    if ours < theirs:
        more = theirs - ours
        if is_other_end(ours, theirs):
            return False
        return not more & NEGATIONS and (name in around.required or more <= _FILLERS)
    if theirs < ours:
        more = ours - theirs
        topic = {singular(word) for word in tokens(around.tool.name)}
        return not more & NEGATIONS and (
            more <= topic | _FILLERS or _says_more(more, said_of(around.names[name]))
        )
    return False


def _says_more(more: frozenset[str], description: str) -> bool:
    """Whether a longer key only says what the description says: `city_name` for a city."""
    if more == {"name"}:
        return terms_of(description).isdisjoint(IDENTIFIES)
    return more <= subject_of(description)


def _kinds(schemas: Alternatives) -> frozenset[str]:
    return frozenset().union(*map(types_of, schemas)) - {"null"}


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
        if ours and _is_near(_form(key[:LONGEST]).letters, _form(name[:LONGEST]).letters):
            return name
        theirs = set(_words(name)) - _SAYS_NOTHING
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
