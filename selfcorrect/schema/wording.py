"""What a word more or less in the name of an argument says: nothing, or that another is meant."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.schema.descriptions import terms_of
from selfcorrect.schema.subschema import Alternatives
from selfcorrect.text import LONGEST, spelling, tokens
from selfcorrect.values.measures import currencies_in, unit_agrees, units_in
from selfcorrect.words import singular

IDENTIFIES: Final = frozenset(
    {"code", "id", "identifier", "iso", "key", "number", "uuid", "abbreviation", "address"}
    | {"base64", "content", "email", "hash", "hex", "iata", "icao", "link", "mail", "phone"}
    | {"symbol", "ticker", "token", "uri", "url"}
)
"""Words that tell what no name is."""
_OTHER_END: Final = frozenset(
    {"former", "maximum", "minimum", "old", "parent", "previous", "prior", "secondary"}
)
_IDS: Final = frozenset({"id", "identifier", "key", "uuid"})
_CODES: Final = frozenset({"abbreviation", "code", "iata", "icao", "iso", "symbol", "ticker"})
_LONGEST_CODE: Final = 3


def said_of(schemas: Alternatives) -> str:
    """What the schema tells people of an argument."""
    return " ".join(t for one in schemas if isinstance(t := one.get("description"), str))


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
    if "/" in description or "per" in terms_of(description):
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
    told = {end for word in terms_of(description) for end in (word, word.removesuffix("s"))}
    return said in _ITEM_KEYS or (said in _NAME_KEYS and told.isdisjoint(IDENTIFIES))
