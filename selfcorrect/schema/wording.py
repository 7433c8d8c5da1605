"""What a word more or less in the name of an argument says: nothing, or that another is meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from selfcorrect.model import JSON, JsonObject
from selfcorrect.schema.descriptions import speaks_of, words_of
from selfcorrect.schema.subschema import Alternatives, members, strings
from selfcorrect.text import LONGEST, is_spelling_of, spelling, tokens
from selfcorrect.values.measures import currencies_in, unit_agrees, units_in
from selfcorrect.words import NEGATIONS, singular

IDENTIFIES: Final = frozenset(
    {"code", "id", "identifier", "iso", "key", "number", "uuid", "abbreviation", "address"}
    | {"base64", "content", "email", "hash", "hex", "iata", "icao", "link", "mail", "phone"}
    | {"symbol", "ticker", "token", "uri", "url"}
)
"""Words that tell what no name is."""
ONE_OF_SEVERAL: Final = NEGATIONS | {
    *("after", "backup", "before", "default", "end", "fallback", "former", "from", "initial"),
    *("current", "last", "max", "maximum", "min", "minimum", "new", "next", "old", "original"),
    *("parent", "previous", "prior", "return", "second", "secondary", "source", "start", "target"),
    *("alternate", "alternative", "to"),
}
"""Words that tell an argument from another one of the same noun."""
_OTHER_END: Final = frozenset(
    {"former", "maximum", "minimum", "old", "parent", "previous", "prior", "secondary"}
)
_ADDED: Final = {
    "address": frozenset({"email", "ip", "mac", "mail"}),
    "code": frozenset({"postal", "zip"}),
    "number": frozenset({"fax", "phone", "telephone"}),
    "path": frozenset(
        {"destination", "directory", "file", "folder", "input", "output", "source", "target"}
    ),
    "query": frozenset({"search"}),
    "text": frozenset({"body", "comment", "message", "note", "prompt", "query", "reply"}),
}
"""By word, the nouns behind which it says nothing more."""
_OF_ANOTHER: Final = {
    "path": frozenset({"text"}),
    "query": frozenset({"mode", "type"}),
    "text": frozenset({"name", "title", "which"}),
}
"""Words of a description by which something else of the noun is asked for."""
_NONE: Final = frozenset[str]()
_FILES: Final = frozenset({"directory", "file", "filename", "folder", "path"})
_IDS: Final = frozenset({"id", "identifier", "key", "uuid"})
_CODES: Final = frozenset({"abbreviation", "code", "iata", "icao", "iso", "symbol", "ticker"})
_LONGEST_CODE: Final = 3


def said_of(schemas: Alternatives) -> str:
    """What the schema tells people of an argument."""
    return " ".join(t for one in schemas if isinstance(t := one.get("description"), str))


def adds_nothing(
    ours: Sequence[str],
    theirs: Sequence[str],
    schemas: Alternatives,
    topic: Collection[str],
    others: Iterable[Collection[str]],
) -> bool:
    """Whether one name is the other and a word that says nothing there: `email_address`.

    Args:
        ours: The words of a key.
        theirs: The words of an argument's name.
        schemas: What the schema says of the argument.
        topic: Words that tell what the tool is about.
        others: The words of each other argument's name.

    >>> adds_nothing(["email", "address"], ["email"], (), [], [["name"]])
    True
    >>> adds_nothing(["email", "address"], ["email"], (), [], [["address"]])
    False
    """
    short, long = sorted((tuple(ours), tuple(theirs)), key=len)
    if not short or long[:-1] != short or short[-1] not in _ADDED.get(long[-1], ()):
        return False
    is_shorter, noun, added = short == tuple(ours), short[-1], long[-1]
    if (is_shorter and added == "path") or any(map(_is_coded, schemas)):
        return False
    rivals = {word for words in others for word in words}
    if not rivals.isdisjoint(short if is_shorter else {added}):
        return False
    description = said_of(schemas)
    words = words_of(description)
    if not words.isdisjoint((IDENTIFIES | _OF_ANOTHER.get(added, _NONE)) - {*long, "mail"}):
        return False
    if added == "path":
        return not _FILES.isdisjoint({noun, *words, *map(singular, topic)})
    return noun not in words or added in words or speaks_of(description, {noun})


def _is_coded(schema: JsonObject) -> bool:
    """Whether only listed values, or the content itself, may stand there."""
    return not schema.keys().isdisjoint(
        ("enum", "const", "contentEncoding", "contentMediaType")
    ) or (schema.get("format") in ("binary", "byte"))


def unit_agrees_with(key: str, name: str, description: str) -> bool | None:
    """Whether the unit that a key ends in is the only one that is told of an argument.

    Returns:
        None if the key adds no unit to the words of the name.

    >>> unit_agrees_with("duration_seconds", "duration", "Duration in seconds")
    True
    >>> unit_agrees_with("duration_seconds", "duration", "Duration in minutes, not seconds")
    False
    """
    ours, theirs = tokens(key[:LONGEST]), tokens(name[:LONGEST])
    if not set(ours[:-1]) & set(theirs) or ours[-1] in theirs or not units_in(ours[-1]):
        return None
    if "/" in description or "per" in words_of(description):
        return False
    return unit_agrees(ours[-1], name, description)


def could_identify(value: JSON, ours: Collection[str], theirs: Collection[str]) -> bool:
    """Whether a value can be meant where a name asks for an id or a code, and the key does not.

    >>> could_identify("Paris", ["city"], ["city", "id"]), could_identify("C-7", ["city"], ["id"])
    (False, True)
    """
    asked = set(theirs) - set(ours)
    if not asked & (_IDS | _CODES) or not isinstance(value, str):
        return True
    if any(char.isdigit() for char in value[:LONGEST]):
        return True
    return not asked & _IDS and (value.isupper() or len(value.strip()) <= _LONGEST_CODE)


def is_other_end(ours: Collection[str], theirs: Collection[str]) -> bool:
    """Whether a longer name is about one end or kind, of which a key says nothing.

    >>> is_other_end(["price"], ["minimum", "price"]), is_other_end(["date"], ["start", "date"])
    (True, False)
    """
    return not _OTHER_END.isdisjoint(set(theirs) - set(ours))


_MEASURES: Final = frozenset(
    {
        "bp",
        "bps",
        "cent",
        "cents",
        "fraction",
        "minor",
        "pence",
        "percent",
        "percentage",
        "permille",
    }
    | {"annual", "annually", "daily", "gross", "hourly", "monthly", "net", "per", "quarterly"}
    | {"ratio", "weekly", "yearly", "c", "f", "g", "h", "k", "l", "m", "s", "mo", "min"}
    | {"second"}
)


def is_measured(more: Collection[str]) -> bool:
    """Whether words that a key leaves out say what its number would be counted in.

    >>> is_measured({"cent"}), is_measured({"kg"}), is_measured({"flight"})
    (True, True, False)
    """
    return any(word in _MEASURES or units_in(word) or currencies_in(word.upper()) for word in more)


def is_choice(
    value: JSON,
    ours: Sequence[str],
    theirs: Sequence[str],
    schemas: Alternatives,
    others: Iterable[Collection[str]],
) -> bool:
    """Whether a key is the end of a name whose listed values hold the value: `class="first"`.

    >>> listed = ({"enum": ["first", "second"]},)
    >>> is_choice("First", ["class"], ["travel", "class"], listed, [["name"]])
    True
    """
    more = len(theirs) - len(ours)
    if not ours or more <= 0 or list(theirs[more:]) != list(ours):
        return False
    if not ONE_OF_SEVERAL.isdisjoint(theirs[:more]) or not isinstance(value, str):
        return False
    if any(not set(ours).isdisjoint(words) for words in others):
        return False
    said = value[:LONGEST]
    return any(is_spelling_of(said, member) for member in strings(members(schemas)))


_ITEM_KEYS: Final = frozenset({"item", "value"})
_NAME_KEYS: Final = frozenset({"label", "name", "text"})


def is_item_key(key: str, name: str, description: str = "") -> bool:
    """Whether a key says no more of an item than the name of its list does.

    A name does not stand for what is told from others by something else.

    >>> is_item_key("tag", "exclude_tags"), is_item_key("name", "tags"), is_item_key("id", "tags")
    (True, True, False)
    >>> is_item_key("name", "user_ids")
    False
    """
    words = tokens(name[:LONGEST])
    if not words or len(key) > LONGEST:
        return False
    said = spelling(key)
    for one in {singular(words[-1]), words[-1].removesuffix("s")}:
        if said in (one, "".join(words[:-1]) + one):
            return True
        if one in IDENTIFIES:
            return said in _ITEM_KEYS
    told = {end for word in words_of(description) for end in (word, word.removesuffix("s"))}
    return said in _ITEM_KEYS or (said in _NAME_KEYS and told.isdisjoint(IDENTIFIES))
