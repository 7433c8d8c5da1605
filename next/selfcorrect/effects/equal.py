"""Which calls are equal, and the keys under which a call is remembered."""

import json
import unicodedata
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from selfcorrect.model import JSON, Call, JsonObject


def call_key(call: Call, schema: JsonObject) -> str:
    """Return a text that is equal for calls which ask the same.

    A default left out or named, `5`, `5.0` and `"5"` where a number is wanted, the order of keys
    and the Unicode form of a text make no difference.

    >>> number = {"properties": {"n": {"type": "integer", "default": 5}}}
    >>> call_key(Call("f", {}), number) == call_key(Call("f", {"n": "5"}), number)
    True
    """
    args = json.dumps(_normal(call.args, schema), sort_keys=True, ensure_ascii=False, default=repr)
    return f"{call.name} {args}"


def identity_key(scope: str, message: str, call: Call, key: str) -> str:
    """Return the key of one call that is meant: scope, message, id and equal arguments."""
    return _digest("identity", scope, message, call.id or "", key)


def doubt_key(scope: str, key: str) -> str:
    """Return the key of every call that asks the same in one scope, whatever its id."""
    return _digest("doubt", scope, key)


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _normal(value: JSON, schema: Any) -> JSON:
    if isinstance(value, Mapping):
        return _normal_object(value, schema if isinstance(schema, Mapping) else {})
    if isinstance(value, list):
        items = schema.get("items") if isinstance(schema, Mapping) else None
        return [_normal(item, items) for item in value]
    if isinstance(value, str):
        number = _number(value) if _wants_number(schema) else None
        return unicodedata.normalize("NFC", value) if number is None else number
    # 5.0 and 5 are one number in JSON, but two texts.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _normal_object(value: JsonObject, schema: JsonObject) -> JSON:
    properties = schema.get("properties") or {}
    defaults = {
        key: item["default"]
        for key, item in properties.items()
        if isinstance(item, Mapping) and "default" in item
    }
    return {
        _normal(key, None): _normal(item, properties.get(key))
        for key, item in (defaults | dict(value)).items()
    }


def _wants_number(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") in ("integer", "number")


def _number(text: str) -> JSON:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number
