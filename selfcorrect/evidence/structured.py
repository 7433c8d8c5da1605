"""Exceptions that carry their violations as data: pydantic, jsonschema, marshmallow, Django REST.

Nothing is imported: a class is known by its dotted name. What it carries is copied into plain JSON,
bounded, before anybody reads it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from selfcorrect.evidence.exceptions import get
from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_LONGEST: Final = 4000
_FRAMES: Final = ("anyOf", "oneOf", "allOf", "not", "if", "contains", "properties", "items")
_DEEPEST: Final = 12


def carried(error: BaseException) -> JSON:
    """What an exception carries: a list of pydantic errors, a map of fields, or None."""
    for cls in type(error).__mro__:
        root = cls.__module__.partition(".")[0] if isinstance(cls.__module__, str) else ""
        if root in ("pydantic", "pydantic_core") and cls.__name__ == "ValidationError":
            return _pydantic(error)
        if root == "marshmallow" and cls.__name__ == "ValidationError":
            return _plain(get(error, "messages"), 0)
        if root == "rest_framework" and cls.__name__ in ("ValidationError", "APIException"):
            return _plain(get(error, "detail"), 0)
    return None


def violations(error: BaseException) -> tuple[Finding, ...]:
    """A finding for a `jsonschema` or `jsonschema_rs` error, or for each that it sums up."""
    roots = {
        cls.__module__.partition(".")[0]
        for cls in type(error).__mro__
        if isinstance(cls.__module__, str) and cls.__name__.endswith("ValidationError")
    }
    if not roots & {"jsonschema", "jsonschema_rs", "fastjsonschema"}:
        return ()
    return tuple(_violations(error))[:_MOST]


def _violations(error: BaseException) -> Iterator[Finding]:
    keyword = get(error, "validator") or get(error, "kind") or get(error, "rule")
    keyword = keyword if isinstance(keyword, str) else None
    place = get(error, "absolute_path") or get(error, "instance_path") or ()
    message = get(error, "message")
    if not isinstance(message, str):
        return
    tokens = [token for token in list(place)[:20] if isinstance(token, str | int)]
    value = _plain(get(error, "validator_value"), 0)
    names = _extra(error, value) if keyword in ("additionalProperties", "required") else []
    paths = [join(*tokens, name) for name in names] or ([join(*tokens)] if tokens else [])
    yield Finding(
        message[:_LONGEST],
        code=keyword,
        paths=tuple(paths),
        constraint={} if keyword in (None, "", *_FRAMES) or value is None else {keyword: value},
    )


def _extra(error: BaseException, value: JSON) -> list[str]:
    """The keys that are missing or too many, from instance and schema instead of the text."""
    instance, schema = get(error, "instance"), get(error, "schema")
    if not isinstance(instance, Mapping):
        return []
    if isinstance(value, list):
        message = str(get(error, "message"))
        return [n for n in value if isinstance(n, str) and n not in instance and repr(n) in message]
    known = schema.get("properties") if isinstance(schema, Mapping) else None
    return [str(key) for key in instance if isinstance(known, Mapping) and key not in known][:_MOST]


def _pydantic(error: BaseException) -> JSON:
    items: Any = None
    with contextlib.suppress(BaseException):
        items = error.errors()  # type: ignore[attr-defined]
    if not isinstance(items, list):
        return None
    found = []
    for item in items[:_MOST]:
        if isinstance(item, Mapping):
            kept = {key: item[key] for key in ("type", "loc", "msg", "ctx") if key in item}
            found.append(_plain(kept, 0))
    return found


def _plain(value: Any, depth: int) -> JSON:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {_text(k): _plain(v, depth + 1) for k, v in list(value.items())[:200]}
    if isinstance(value, list | tuple | set | frozenset) and depth < _DEEPEST:
        return [_plain(item, depth + 1) for item in list(value)[:200]]
    return _text(value)


def _text(value: Any) -> str:
    with contextlib.suppress(BaseException):
        return str(value)[:_LONGEST]
    return ""
