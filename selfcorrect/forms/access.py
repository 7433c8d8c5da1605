"""Reads and replaces parts of a value, whether it is plain JSON or an object of some SDK.

Nothing is changed in place: what is replaced is a copy, along the way to it alone.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The keys, attributes and indices that lead to a part of a value."""

_MISSING: Final = object()


def is_record(value: Any) -> bool:
    """Whether a value has named parts: a mapping, a pydantic model or a dataclass.

    >>> is_record({}), is_record([]), is_record("text")
    (True, False, False)
    """
    if isinstance(value, Mapping):
        return True
    return not isinstance(value, type) and (is_dataclass(value) or _is_model(value))


def get(value: Any, key: str) -> Any:
    """A named part of a record; None where there is none."""
    if isinstance(value, Mapping):
        return value.get(key)
    return getattr(value, key, None) if is_record(value) else None


def has(value: Any, key: str) -> bool:
    """Whether a record has this part at all, even an empty one."""
    if isinstance(value, Mapping):
        return key in value
    return is_record(value) and getattr(value, key, _MISSING) is not _MISSING


def dumped(value: Any) -> Any:
    """A pydantic object as JSON, by the names of its protocol; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", by_alias=True, exclude_none=True)


def part(value: Any, path: Path) -> Any:
    """What stands at the end of a path, all of which is there."""
    for key in path:
        value = value[key] if isinstance(key, int) else get(value, key)
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """A copy of the value with something else at the end of a path.

    >>> given = {"a": [{"b": 1, "c": 2}]}
    >>> put(given, ("a", 0, "b"), 3), given
    ({'a': [{'b': 3, 'c': 2}]}, {'a': [{'b': 1, 'c': 2}]})
    """
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items: Sequence[Any] = value
        changed = [*items[:key], put(items[key], rest, new), *items[key + 1 :]]
        return tuple(changed) if isinstance(items, tuple) else changed
    inner = put(get(value, key), rest, new) if rest else new
    if isinstance(value, Mapping):
        return {**value, key: inner}
    if _is_model(value):
        return value.model_copy(update={key: inner})
    changed_copy = copy.copy(value)
    object.__setattr__(changed_copy, key, inner)
    return changed_copy


def _is_model(value: Any) -> bool:
    """Whether this is a pydantic model, without importing pydantic for it."""
    return hasattr(type(value), "model_copy") and hasattr(type(value), "model_fields")
