"""A list or object that was written as text, and a value in an object of its own."""

import ast
import json
import re
import tokenize
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from typing import Any, Final

from selfcorrect.model import ABSENT, JSON, JsonDict, Safety
from selfcorrect.names import same_words, words
from selfcorrect.schema.slot import Slot
from selfcorrect.values.numbers import real
from selfcorrect.values.reading import Reading

_LONGEST: Final = 1_000_000
_LONGEST_PYTHON: Final = 20_000


def read_nested(value: JSON, slot: Slot) -> Iterator[Reading]:
    """Read a text as the list or object that it writes, in JSON or in Python's notation."""
    found = nested(value) if isinstance(value, str) else ABSENT
    kind = "array" if isinstance(found, list) else "object" if isinstance(found, dict) else ""
    if kind and slot.kinds and slot.takes(kind):
        yield Reading(found, Safety.EXACT, "parse-nested")


def read_wrapped(value: JSON, slot: Slot) -> Iterator[Reading]:
    """Read the value that an object holds under a word of JSON Schema or the place's own name.

    `{"value": 5}`, `{"type": "number", "value": 5}` and `{"type": "list", "items": [5]}` hold one;
    `{"lat": 1, "lon": 2}` is a pair where the description says in which order they stand.
    """
    # What stands around all arguments is content, unless it is one of a few wrappers.
    if not isinstance(value, dict) or not slot.kinds or not (slot.name or slot.is_item):
        return
    if "array" in slot.kinds and _follows(list(value), slot.description):
        yield Reading(list(value.values()), Safety.INFERRED, "unwrap-value")
    held = [key for key in value if not (key == "type" and _is_type(value[key]))]
    if len(held) != 1 or held[0] in slot.properties:
        return
    key, inner = held[0], value[held[0]]
    is_object = isinstance(inner, dict)
    # An object that wants an object may be whole as it stands.
    if "object" in slot.kinds and not is_object:
        return
    is_place = key == "value" or (slot.name and same_words(key, slot.name))
    # Beside a type, these are the words of a schema that was filled in.
    is_schema = len(value) == 2 and key in ("properties", "items")
    # A list that was XML keeps the name of its elements.
    is_list = key == "item" and "array" in slot.kinds
    if is_place or is_schema or is_list or (key == "items" and isinstance(inner, list)):
        yield Reading(inner, Safety.EXACT, "unwrap-value")


def _follows(keys: list[str], description: str) -> bool:
    """Say whether a description names these keys once each and in this order."""
    said = words(description)
    named = [word for word in said if word in keys]
    return len(keys) > 1 and named == keys


def nested(text: str) -> JSON:
    """Return the value that a text writes, or `ABSENT` where it is not the whole of one.

    >>> nested('[1, {"a": null}]'), nested("{'a': (True, None)}"), nested("[1] or [2]")
    ([1, {'a': None}], {'a': [True, None]}, ABSENT)
    >>> nested('{"a": 1, "a": 2}')
    ABSENT
    """
    if len(text) > _LONGEST:
        return ABSENT
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse, parse_float=real)
    except (ValueError, RecursionError):
        pass
    if len(text) > _LONGEST_PYTHON:
        return ABSENT
    try:
        return ABSENT if _is_unclear(text) else _literal(ast.parse(text.strip(), mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
        return ABSENT


def _is_type(value: JSON) -> bool:
    return isinstance(value, str) and value.lower() in _TYPES


_TYPES: Final = frozenset(
    {
        *("array", "list", "tuple", "boolean", "bool", "number", "integer", "int", "float"),
        *("double", "string", "str", "object", "dict"),
    }
)


def _object(pairs: list[tuple[str, Any]]) -> JsonDict:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("two values for one key")
    return made


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _is_unclear(text: str) -> bool:
    """Say whether Python would skip a comment, join two texts, or make two numbers of 1,000."""
    skip = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines = StringIO(text.strip()).readline
    tokens = [each for each in tokenize.generate_tokens(lines) if each.type not in skip]
    kinds = [each.type for each in tokens]
    is_joined = any(one == other == tokenize.STRING for one, other in pairwise(kinds))
    has_zeros = any(re.match("0[0_]", each.string) for each in tokens)
    return is_joined or has_zeros or tokenize.COMMENT in kinds


def _literal(node: ast.expr) -> JSON:
    """Return the value of a literal in Python's notation.

    Raises:
        ValueError: If it is none, or no JSON.
    """
    match node:
        case ast.Dict(keys, values):
            # A key of None is `**other`.
            names: list[Any] = [None if key is None else _literal(key) for key in keys]
            if not all(isinstance(name, str) for name in names):
                raise ValueError("a key must be a text")
            return _object(list(zip(names, [_literal(each) for each in values], strict=True)))
        case ast.List(items) | ast.Tuple(items):
            return [_literal(each) for each in items]
        case ast.Constant(str() | bool() | None | int() as value):
            return value
        case ast.Constant(float() as value):
            return real(repr(value))
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            if not isinstance(value, bool):
                return -value
        case ast.Name(name) if name in _WORDS:
            return _WORDS[name]
    raise ValueError("not a literal")


_WORDS: Final = {"true": True, "false": False, "null": None}
