"""Checks a value at one place of the arguments alone, where no other place has a say in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import ABSENT, JSON, JsonObject
from selfcorrect.schema.checker import Checker
from selfcorrect.schema.subschema import Root, strings

_DEEPEST: Final = 32
_MOST: Final = 2_000
_PLAIN: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "title", "description"}
    | {"default", "examples", "$schema", "$id", "$defs", "definitions", "x-sensitive"}
)
"""What an object or a list around a place may say without binding two places to each other."""


def local_check(schema: JsonObject, tokens: Sequence[str]) -> Callable[[JSON], bool] | None:
    """Whether a value fits the place that these tokens lead to; `ABSENT` asks if it may be empty.

    Returns:
        None where that depends on more than the place itself: only the whole schema can say.

    >>> fits = local_check({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, ["a"])
    >>> fits(1), fits("1"), fits(ABSENT)
    (True, False, False)
    >>> local_check({"properties": {}}, ["b"])(ABSENT)
    True
    """
    if len(tokens) > _DEEPEST:
        return None
    way = tuple("0" if token.isdigit() else token for token in tokens)
    return _check(Root(schema), way)


@lru_cache(maxsize=1_024)
def _check(root: Root, way: tuple[str, ...]) -> Callable[[JSON], bool] | None:
    here: Any = root.schema
    optional = False
    for depth, name in enumerate(way, 1):
        if not isinstance(here, Mapping) or not here.keys() <= _PLAIN:
            return None
        properties = here.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            optional = name not in strings(here.get("required"))
            here = properties[name]
        elif depth == len(way) and isinstance(properties, Mapping):
            if here.get("additionalProperties") not in (None, False):
                return None
            # Nothing may stand under a key that a closed object does not declare.
            return lambda value: value is ABSENT
        elif name == "0" and properties is None and isinstance(here.get("items"), Mapping):
            optional, here = False, here["items"]
        else:
            return None
    if not way or not isinstance(here, Mapping) or not _is_bounded(here):
        return None
    kept = {key: root.schema[key] for key in ("$defs", "definitions") if key in root.schema}
    try:
        whole = Checker({"type": "object", "properties": {"x": here}, **kept}, "tool")
        whole.compile()
    except SelfCorrectError:
        return None

    def fits(value: JSON) -> bool:
        return optional if value is ABSENT else whole.is_valid({"x": value})

    return fits


def _is_bounded(schema: JsonObject) -> bool:
    """Whether a schema is small, and asks for nothing that tools understand differently."""
    stack: list[Any] = [schema]
    for _ in range(_MOST):
        if not stack:
            return True
        item = stack.pop()
        if isinstance(item, Mapping):
            if "$ref" in item or item.get("format") in ("date-time", "time"):
                return False
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False
