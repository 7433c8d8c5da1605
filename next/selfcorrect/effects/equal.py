"""Which calls are equal, and the keys under which a call is remembered."""

import json
import unicodedata
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from selfcorrect.model import ABSENT, JSON, Call, JsonDict, JsonObject
from selfcorrect.schema.slot import Slot


def call_key(call: Call, place: Slot | None) -> str:
    """Return a text that is equal for calls which ask the same.

    A default left out or named, `5`, `5.0` and `"5"` where a number is wanted, the order of keys
    and the Unicode form of a text make no difference.

    >>> number = Slot.of({"properties": {"n": {"type": "integer", "default": 5}}})
    >>> call_key(Call("f", {}), number) == call_key(Call("f", {"n": "5"}), number)
    True
    """
    return f"{call.name} {_text(_normal(call.args, place))}"


def identity_key(scope: str, message: str, call: Call, key: str) -> str:
    """Return the key of one call that is meant: scope, message, id and equal arguments."""
    return _digest("identity", scope, message, call.id or "", key)


def doubt_key(scope: str, key: str) -> str:
    """Return the key of every call that asks the same in one scope, whatever its id."""
    return _digest("doubt", scope, key)


def theme_key(scope: str, call: Call, place: Slot | None) -> str:
    """Return the key of every call that asks the same in other words; empty without such words.

    An e-mail to the same person with another text has it: what is short is equal.
    """
    normal = _normal(call.args, place)
    blurred = _blur(normal)
    is_short = isinstance(blurred, Mapping) and any(each != _WORDS for each in blurred.values())
    if blurred == normal or not is_short:
        return ""
    return _digest("theme", scope, call.name, _text(blurred))


_WORDS: Final = ("words",)
_FEW: Final = 3
"""Words from which on a text is free to say the same otherwise."""


def _blur(value: JSON) -> JSON:
    """Return a value with a mark in place of each text of several words."""
    if isinstance(value, Mapping):
        return {key: _blur(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_blur(item) for item in value]
    return _WORDS if isinstance(value, str) and len(value.split()) >= _FEW else value


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _normal(value: JSON, place: Slot | None) -> JSON:
    if isinstance(value, Mapping):
        return _normal_object(value, place and _branch(value, place))
    if isinstance(value, list):
        return [_normal(item, _item(place, n)) for n, item in enumerate(value)]
    if isinstance(value, str):
        is_number = place is not None and place.view.get("type") in ("integer", "number")
        number = _number(value) if is_number else None
        return unicodedata.normalize("NFC", value) if number is None else number
    # 5.0 and 5 are one number in JSON, but two texts.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _normal_object(value: JsonObject, place: Slot | None) -> JSON:
    """Return an object without what is its default: a schema may hold defaults without an end."""
    made: JsonDict = {}
    for key, item in value.items():
        inner = place and place.at([str(key)])
        normal = _normal(item, inner)
        if inner is None or inner.default is ABSENT or _text(normal) != _default(inner):
            made[_normal(key, None)] = normal
    return made


def _default(place: Slot) -> str:
    return _text(_normal(place.default, place))


def _text(value: JSON) -> str:
    # For Python, 1 and True are equal.
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)


def _item(place: Slot | None, number: int) -> Slot | None:
    if place is None or "prefixItems" not in place.view:
        return place and place.item
    return place.at([str(number)])


def _branch(value: JsonObject, place: Slot) -> Slot:
    """Return the alternative of a union that a value belongs to, or the place itself."""
    return next((each for each in place.branches if each.accepts(value)), place)


def _number(text: str) -> JSON:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number
