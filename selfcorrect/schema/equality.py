"""The normal form of arguments: equal for calls that ask a tool for the same thing."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Call, JsonObject
from selfcorrect.plain import digest
from selfcorrect.protocols import Tool
from selfcorrect.schema.subschema import Alternatives, alternatives, declared, is_number, kinds_of

_NUMBERS: Final = frozenset({"integer", "number"})
_NOT_TEXT: Final = _NUMBERS | {"boolean"}
_DEEPEST: Final = 64
_BEGINS_NUMBER: Final = re.compile(r"[ \t\n\r]*-?[0-9]").match


def call_key(call: Call, tool: Tool | None = None) -> str:
    """Equal for calls that ask the same of the same tool; the id does not count.

    Args:
        call: The call.
        tool: Its tool: with it, naming a default or writing 5 as 5.0 makes no other call.
    """
    args = call.args if tool is None else normal_form(call.args, tool.schema)
    return digest(call.name, args, call.raw)


def normal_form(args: JsonObject, schema: JsonObject) -> JSON:
    """The arguments with defaults filled in, numbers in one form, and text in NFC.

    Made for comparing calls, never for making one.

    >>> schema = {"properties": {"n": {"type": "integer"}, "unit": {"default": "km"}}}
    >>> normal_form({"n": "5.0"}, schema) == normal_form({"unit": "km", "n": 5}, schema)
    True
    """
    return _normal(args, alternatives(schema, schema), schema, _DEEPEST)


def _normal(value: JSON, here: Alternatives, root: JsonObject, depth: int) -> JSON:
    if isinstance(value, str):
        return _text(value, here)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if depth == 0:
        return value
    if isinstance(value, Mapping):
        return _object(value, here, root, depth - 1)
    if isinstance(value, list | tuple):
        items = [one["items"] for one in here if isinstance(one.get("items"), Mapping)]
        below = tuple(flat for each in items for flat in alternatives(each, root))
        return [_normal(item, below, root, depth - 1) for item in value]
    return value


def _object(value: JsonObject, here: Alternatives, root: JsonObject, depth: int) -> JSON:
    known = declared(here)
    defaults = {
        name: schema["default"]
        for name, schema in known.items()
        if name not in value and isinstance(schema, Mapping) and "default" in schema
    }
    return {
        unicodedata.normalize("NFC", name): _normal(
            item, alternatives(known[name], root) if name in known else (), root, depth
        )
        for name, item in {**value, **defaults}.items()
    }


def _text(value: str, here: Alternatives) -> JSON:
    if (number := _number(value)) is not None and _asks_for_number(here):
        return number
    return unicodedata.normalize("NFC", value)


def _asks_for_number(here: Alternatives) -> bool:
    kinds = kinds_of(here)
    return bool(kinds & _NUMBERS) and kinds <= _NOT_TEXT


def _number(text: str) -> JSON:
    """The number that a text writes as JSON does, or None."""
    if not _BEGINS_NUMBER(text):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not is_number(found):
        return None
    return int(found) if isinstance(found, float) and found.is_integer() else found
