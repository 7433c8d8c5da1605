"""A value in a wrapper of its own, and items in one each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import ABSENT, JSON
from selfcorrect.pointer import split
from selfcorrect.schema.keys import is_spelled, loosely_fits
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import at, meets, same
from selfcorrect.schema.wording import is_item_key

_DEEPEST: Final = 4
_KEYS: Final = frozenset({"value", "item", "items"})
_TYPES: Final = frozenset(
    {"array", "bool", "boolean", "dict", "double", "float", "int", "integer", "list", "number"}
    | {"object", "str", "string"}
)


def value_wrapper(value: JSON, want: Place) -> Iterator[Fit]:
    """The value without the wrapper around it alone: `{"type": "string", "value": "Oslo"}`."""
    inner: Any = value
    for _ in range(_DEEPEST):
        if not isinstance(inner, Mapping):
            return
        keys = [key for key in inner if not _is_of_schema(key, inner[key], want)]
        if len(keys) != 1 or not (keys[0] in _KEYS or is_spelled(keys[0], want.name)):
            return
        inner = inner[keys[0]]
        if want.fits(inner) or isinstance(inner, str):
            reason = "a value inside a wrapper"
            yield candidate(inner, "value-wrapper", reason, opens=True)
            return


def _is_of_schema(key: str, value: JSON, want: Place) -> bool:
    """Whether a key beside a value only repeats what the schema says of it, or names its type."""
    if key == "type" and isinstance(value, str):
        return value.lower() in _TYPES
    return any(same(value, schema.get(key, ABSENT)) for schema in want.schemas)


def bare_items(value: JSON, want: Place) -> Iterator[Fit]:
    """The items of a list without the object around each: `[{"tag": "new"}, {"tag": "old"}]`."""
    if not isinstance(value, list) or not all(map(_is_lone, value)):
        return
    keys = {key for item in value for key in item}
    items = at(want.tool.schema, [*split(want.path)[1:], "0"]) or ()
    texts = [text for one in items if isinstance(text := one.get("description"), str)]
    if len(keys) != 1 or not is_item_key(
        keys.pop(), want.name, " ".join([want.description, *texts])
    ):
        return
    bare = [inner for item in value for inner in item.values()]
    reason = "items inside an object of one key each"
    if want.fits(bare) or (items and all(_could_be(inner, items) for inner in bare)):
        yield candidate(bare, "value-wrapper", reason, opens=True)


def _could_be(value: JSON, items: Any) -> bool:
    """Whether a value is an item, or a text that could be made one."""
    return any(meets(value, one) for one in items) or (
        isinstance(value, str) and loosely_fits(value, items)
    )


def _is_lone(item: JSON) -> bool:
    """Whether this is an object that holds one value, and no other structure."""
    if not isinstance(item, Mapping) or len(item) != 1:
        return False
    return not any(value is None or isinstance(value, Mapping | list) for value in item.values())
