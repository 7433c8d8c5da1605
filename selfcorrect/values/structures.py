"""A list or object that was written as text, and a value in an object of its own."""

from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache

from selfcorrect.model import ABSENT, JSON, Safety
from selfcorrect.names.letters import same_words, words
from selfcorrect.reading.json_text import NOTATION, read_json_text
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading


def read_nested(value: JSON, place: Place) -> Iterator[Reading]:
    """Read a text as the list or object that it writes, in JSON or in Python's notation."""
    text = str(value)
    if place.types and place.takes(OPENED[text.lstrip()[:1]]):
        inner = nested(text)
        if inner is not ABSENT:
            yield Reading(inner, Safety.EXACT, "parse-nested")


OPENED = {"[": "array", "(": "array", "{": "object"}
"""The JSON type of the value that a text writes, by its first character."""


def read_wrapped(value: JSON, place: Place) -> Iterator[Reading]:
    """Read the value that an object holds under a word of JSON Schema or the place's own name.

    `{"value": 5}`, `{"type": "number", "value": 5}` and `{"type": "list", "items": [5]}` hold one;
    `{"lat": 1, "lon": 2}` is a pair where the description says in which order they stand.
    """
    # What stands around all arguments is content, unless it is one of a few wrappers.
    if not isinstance(value, dict) or not place.types or not (place.name or place.is_item):
        return
    if "array" in place.types and _follows(list(value), place.description):
        yield Reading(list(value.values()), Safety.INFERRED, "unwrap-value")
    held = [key for key in value if not (key == "type" and _is_type(value[key]))]
    if len(held) != 1 or held[0] in place.properties:
        return
    key, inner = held[0], value[held[0]]
    is_object = isinstance(inner, dict)
    # An object that wants an object may be whole as it stands.
    if "object" in place.types and not is_object:
        return
    is_place = key == "value" or (place.name and same_words(key, place.name))
    # Beside a type, these are the words of a schema that was filled in.
    is_schema = len(value) == 2 and key in ("properties", "items")
    # A list that was XML keeps the name of its elements.
    is_list = key == "item" and "array" in place.types
    if is_place or is_schema or is_list or (key == "items" and isinstance(inner, list)):
        yield Reading(inner, Safety.EXACT, "unwrap-value")


def _follows(keys: list[str], description: str) -> bool:
    """Say whether a description names these keys once each and in this order."""
    named = [word for word in words(description) if word in keys]
    return len(keys) > 1 and named == keys


def nested(text: str) -> JSON:
    """Return the value that a text writes, or `ABSENT` where it is not the whole of one.

    >>> nested('[1, {"a": null}]'), nested("{'a': (True, None)}"), nested("[1] or [2]")
    ([1, {'a': None}], {'a': [True, None]}, ABSENT)
    >>> nested('{"a": 1, "a": 2}')
    ABSENT
    """
    return deepcopy(_read(text))


@lru_cache(maxsize=1)  # several primitives and strategies read the same text
def _read(text: str) -> JSON:
    try:
        read = read_json_text(text)
    except JsonTextError:
        return ABSENT
    return read.value if _CERTAIN.issuperset(read.skipped) else ABSENT


_CERTAIN = NOTATION | {"backslash"}
"""A backslash before no letter of JSON stands for itself: `["dir C:\\Dev"]`."""


def _is_type(value: JSON) -> bool:
    return isinstance(value, str) and value.lower() in _TYPES


_WORDS = "array list tuple boolean bool number integer int float double string str object dict"
_TYPES = frozenset(_WORDS.split())
