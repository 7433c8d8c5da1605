"""A list of one, and a list that was written as one text."""

import re
from collections.abc import Iterator

from selfcorrect.model import ABSENT, JSON, Safety
from selfcorrect.schema.place import Place
from selfcorrect.values.dates import DATES
from selfcorrect.values.nothing import says_nothing
from selfcorrect.values.primitives import Reading
from selfcorrect.values.structures import nested, read_wrapped
from selfcorrect.values.texts import unquote

_LONGEST = 20_000
_OPENERS = frozenset("[{(")
_SEPARATORS = "\n\t;；|｜,，、،"
_PLACEHOLDER = re.compile(r"[\W_]*|\$\{?\w+\}?|<[^<>]*>")
_GROUP = re.compile(r"\d,\d{3}(?!\d)")
_LAKHS = re.compile(r"\d{1,2}(?:,\d\d)+,\d{3}")
_ELEMENT = re.compile(r"<(\w+)>.*</\1>", re.DOTALL)
_DECIMAL = re.compile(r"\A[+-]?\d+,\d+\Z|\d,\d.*,\s|,\s.*\d,\d", re.DOTALL)
_CLOSED = DATES | {"email", "uuid", "uri", "ipv4", "ipv6"}
"""Formats that no plain word has."""


def read_list(value: JSON, place: Place) -> Iterator[Reading]:
    """Read a text as a list of its parts, any other value as a list of one, or the reverse."""
    if isinstance(value, list):
        wants_one = "array" not in place.types or isinstance(value[0] if value else None, list)
        if len(value) == 1 and place.types and wants_one:
            yield Reading(value[0], Safety.INFERRED, "unwrap-list")
    # A text in the place of an item is an item: it is not a list in a list.
    elif not place.is_item:
        item = place.item or Place({})
        # `none` is an item only where it is listed.
        if not says_nothing(value) or value in item.choices:
            yield from _into_list(value, item)


def _into_list(value: JSON, item: Place) -> Iterator[Reading]:
    if not isinstance(value, str):
        # What `{"value": "a]"}` holds is not an item that a list would take by itself.
        if not any(read_wrapped(value, item)):
            yield Reading([value], Safety.EXACT, "wrap-list")
        return
    text = value.strip()
    inside = nested(text) if text[:1] in _OPENERS else ABSENT
    # What is a list already only has to be parsed, and elements of markup are not text.
    if len(text) > _LONGEST or isinstance(inside, list) or _ELEMENT.search(text):
        return
    # 1,5 may be one number, and so may the beginnings of 1,5, 2,5 and of 1,000, 2.
    is_fraction = "number" in item.types and _DECIMAL.search(text)
    is_group = _GROUP.search(text) and (", " in text or ",0" in text)
    if is_fraction or is_group or _LAKHS.fullmatch(text):
        return
    is_plain = text[:1] not in _OPENERS and not any(each in text for each in _SEPARATORS)
    is_object = isinstance(inside, dict) and not item.accepts(value)
    # `Doe, Jane` is one name, and `etc` is none: in free texts nobody sees what an item is.
    is_free = not item.choices and item.takes("string") and item.format not in _CLOSED
    if (is_plain and _is_item(text)) or is_object:
        # Nor whether quotes around all of it belong to it.
        yield Reading([value], Safety.EXACT, "wrap-list", is_free and unquote(text) != text)
        return
    parts = _parts(text)
    if not parts:
        return
    yield Reading(parts, Safety.INFERRED, "split-list", is_free)
    # `New York, NY` may be two items or one, and so may 1,250, or a listed value with a comma.
    is_one = not is_free or any(" " in str(part) for part in parts) or _GROUP.search(text)
    if text[:1] != "[" and is_one:
        yield Reading([value], Safety.INFERRED, "wrap-list", is_free)


def _is_item(text: str) -> bool:
    """Say whether a text may be an item: no placeholder, and no piece of a list or an object."""
    halves = any(text.count(one) != text.count(other) for one, other in ("[]", "{}", "()"))
    return not halves and text.count('"') % 2 == 0 and not _PLACEHOLDER.fullmatch(text)


def _parts(text: str) -> list[JSON]:
    """Split a text at the one separator that it uses; nothing where its parts are not clear."""
    bare = text[1:-1].strip() if text[:1] == "[" and text[-1:] == "]" else text
    used = [each for each in _SEPARATORS if each in bare]
    if len(used) != 1 or re.search(r"[\"'`\[\]{}()]", bare):
        return []
    parts = [each.strip() for each in bare.split(used[0])]
    # An ellipsis stands for more, and of an address with a comma only one part has a scheme.
    is_torn = len({"://" in part for part in parts}) > 1
    return [] if is_torn or not all(map(_is_item, parts)) else [*parts]
