"""Which calls are equal, and the keys under which a call is remembered."""

import json
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import is_dataclass
from datetime import UTC, date, datetime, time
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from enum import Enum
from hashlib import sha256
from typing import Any
from uuid import UUID

from pydantic_core import to_jsonable_python

from selfcorrect.model import ABSENT, JSON, Call, JsonDict, JsonObject
from selfcorrect.schema.place import Place


def call_key(call: Call, place: Place | None, bind: Callable[[JsonDict], Any] | None = None) -> str:
    """Return a text that is equal for calls which ask the same.

    A default left out or named, `5`, `5.0` and `"5"` where a number is wanted, two ways to write
    an instant, the order of keys and the Unicode form of a text make no difference.

    Args:
        call: The call.
        place: What the schema says of its arguments.
        bind: Turns arguments into the values that the tool's function gets, or raises.

    >>> number = Place.of({"properties": {"n": {"type": "integer", "default": 5}}})
    >>> call_key(Call("f", {}), number) == call_key(Call("f", {"n": "5"}), number)
    True
    """
    try:
        form = _typed(call.args, bind) if bind else _normal(call.args, place)
    except Exception:
        # The types refuse the call, or give it no single form, so the schema decides.
        form = _normal(call.args, place)
    return canonical([call.name, form])


def theme_key(scope: JSON, call: Call, place: Place | None) -> str:
    """Return the key of every call that asks the same in other words; empty without such words.

    Two e-mails to one person share it: short arguments are equal, and free text may differ.
    """
    normal = _normal(call.args, place)
    blurred = _blur(normal)
    is_short = isinstance(blurred, Mapping) and any(item != _WORDS for item in blurred.values())
    if blurred == normal or not is_short:
        return ""
    return digest("theme", scope, call.name, blurred)


_WORDS = ("words",)
_FEW = 3
"""A text with so many words is free text, which can be reworded."""
_LETTERS = re.compile(
    r"[a-z]+://\S+|[\u30a0-\u30ff]+"
    r"|[\u3005\u3041-\u309f\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
    r"|[\u0e00-\u109f\u1780-\u17ff]{3}"
)
"""Pieces of the scripts that put no space between words; an address is one piece."""
_MANY = 7
"""A text with so many pieces is not a name."""


def _blur(value: JSON) -> JSON:
    """Return a value with a mark in place of each free text."""
    if isinstance(value, Mapping):
        return {key: _blur(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_blur(item) for item in value]
    return _WORDS if isinstance(value, str) and _is_free(value) else value


def _is_free(text: str) -> bool:
    is_long = len(text.split()) >= _FEW
    return is_long or (not text.isascii() and len(_LETTERS.findall(text)) >= _MANY)


def digest(*parts: JSON) -> str:
    """Return a short name of values; equal values have the same, in whatever process."""
    return sha256(canonical(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _typed(args: JsonObject, bind: Callable[[JsonDict], Any]) -> JSON:
    """Return the values of a function in one form."""
    # The author's validators may change what they are given.
    one, other = (bind(deepcopy(dict(args))) for _ in range(2))
    if one != other:
        raise ValueError("the types make an id or a time anew")
    return _form(one)


def _normal(value: JSON, place: Place | None) -> JSON:
    """Return a value of JSON in one form, by what its schema says."""
    if place is not None:
        # Of a union, the alternative that the value belongs to.
        place = next((branch for branch in place.branches if branch.accepts(value)), place)
    if isinstance(value, Mapping):
        return _normal_object(value, place)
    if isinstance(value, list):
        # A place for each item takes time, so it is made only where the schema describes items.
        inner = place if place and place.view.keys() & {"items", "prefixItems"} else None
        return [_normal(item, inner and inner.at([str(n)])) for n, item in enumerate(value)]
    try:
        return _form(_read(value, place) if place and isinstance(value, str) else value)
    except ValueError:
        # The value is not JSON, so no call with it runs.
        return repr(value)


def _normal_object(value: JsonObject, place: Place | None) -> JSON:
    """Return an object without what is its default: a schema may hold defaults without an end."""
    form: JsonDict = {}
    for key, item in value.items():
        inner = place and place.at([str(key)])
        normal = _normal(item, inner)
        default = ABSENT if inner is None else inner.default
        if default is ABSENT or canonical(normal) != canonical(_normal(default, inner)):
            form[_key(key)] = normal
    return form


def canonical(value: JSON) -> str:
    """Return the text that equal values of JSON share, and no others."""
    # For Python, 1 and True are equal.
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)


def _read(text: str, place: Place) -> Any:
    """Return the number, instant or id that a text writes; the text itself where it is a text."""
    is_number = place.types and place.types <= _NUMBERS
    read: Any = Decimal if is_number else _FORMATS.get(place.format.removeprefix("naive-"))
    # Python cuts off what is finer than a microsecond.
    if read is None or _FINE.search(text):
        return text
    try:
        return read(text.upper())
    except (ValueError, ArithmeticError):
        return text


_NUMBERS = frozenset({"integer", "number"})
_FORMATS = {
    "date-time": datetime.fromisoformat,
    "time": time.fromisoformat,
    "uuid": UUID,
}
_FINE = re.compile(r":\d\d\.\d{6}\d*[1-9]")


def _form(value: Any) -> JSON:
    """Return a value as JSON in one form.

    Raises:
        ValueError: If it is an object with a state of its own.
    """
    if isinstance(value, Enum):
        return _form(value.value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, int | float | Decimal):
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        return {"number": str(_EXACT.normalize(exact) or 0)}
    if isinstance(value, list | tuple | deque):
        return [_form(item) for item in value]
    if isinstance(value, Mapping):
        return {_key(key): _form(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return {"set": sorted(canonical(_form(item)) for item in value)}
    return {str(type(value)): _parts(value)}


def _key(key: Any) -> str:
    # No object that is written looks like the form of a number or a set.
    return f":{_form(key)}"


_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


def _parts(value: Any) -> JSON:
    """Return what a value of a class is made of."""
    if isinstance(value, time) and value.tzinfo:
        value = datetime.combine(date(2000, 1, 1), value)
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(UTC)
    if is_dataclass(value) or hasattr(type(value), "model_fields"):
        return _form({**vars(value), **(getattr(value, "model_extra", None) or {})})
    # Written out, a secret is stars.
    secret: Any = getattr(value, "get_secret_value", None)
    return to_jsonable_python(value if secret is None else secret())
