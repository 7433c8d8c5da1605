"""Maps of field to messages: Django REST, Rails, Laravel, ASP.NET, marshmallow, mongoose.

`{"age": ["must be positive"], "address": {"zip": ["…"]}, "items": {"0": {"qty": ["…"]}}}`, alone or
under `errors`, `message`, `detail`, `fields`, `json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join
from selfcorrect.words import word_list

_WHOLE: Final = frozenset(
    {"non_field_errors", "_schema", "__all__", "base", "_form", "_errors", ""}
)
_ENVELOPES: Final = word_list("""
        errors fields messages validation_errors validationErrors fieldErrors field_errors
        details json nested""")
_SAYS: Final = frozenset({"error", "message", "status", "code", "statusCode"})
_LEAF: Final = frozenset(
    word_list("""
        message code type kind path value reason name properties rule msg""")
)
_NO_FIELDS: Final = frozenset({"error", "errors", "detail", "details", "data", "response", "body"})
_LISTS: Final = _NO_FIELDS | {"message", "messages", "errormessages", "error_messages", "reasons"}
"""Names of a list of sentences rather than of a field."""
_TEXTS: Final = ("message", "description", "defaultMessage", "msg", "detail", "reason")
_OTHER: Final = _LISTS | frozenset(
    word_list("""
        code description err error_description errormessage exception hint info msg name reason
        result status statustext stderr stdout text title type url""")
)
"""Names that tell of the error rather than of a field."""
_SENTENCE: Final = re.compile(
    r"(?i)\b(?:required|missing|invalid|valid|must|should|cannot|not|too|expected|unknown|than|"
    r"unexpected|already|allowed|choice|format|range|least|most)\b"
)
"""What a text says that finds fault with its field."""
_MOST: Final = 50
_DEEPEST: Final = 8


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per message; nothing if the body is not such a map."""
    if not isinstance(body, Mapping) or not body:
        return ()
    for key in _ENVELOPES:
        inner = body.get(key)
        if isinstance(inner, Mapping) and inner and (found := _all(inner) or _plain(inner)):
            return found
    return () if body.keys() & _SAYS else _all(body) or _plain(body)


def _plain(fields: Mapping[str, JSON]) -> tuple[Finding, ...]:
    """A sentence per field: `{"age": "must be positive"}`; no names that say other things."""
    if len(fields) > _MOST or any(key.lower() in _OTHER for key in fields):
        return ()
    if not all(isinstance(text, str) and _SENTENCE.search(text[:300]) for text in fields.values()):
        return ()
    return tuple(_finding(str(text), (key,), None) for key, text in fields.items())


def _all(fields: Mapping[str, JSON]) -> tuple[Finding, ...]:
    found: list[Finding] = []
    for finding in _walk(fields, (), 0):
        if finding is None:
            return ()
        found.append(finding)
        if len(found) >= _MOST:
            break
    return tuple(found)


def _walk(value: JSON, path: tuple[str, ...], depth: int) -> Iterator[Finding | None]:
    """The findings below a place; None where the shape is something else."""
    if depth > _DEEPEST:
        yield None
    elif isinstance(value, Mapping) and _is_leaf(value, path):
        code = value.get("kind") or value.get("code") or value.get("type")
        yield _finding(value["message"], path, code if isinstance(code, str) else None)
    elif isinstance(value, Mapping):
        for key, child in value.items():
            step = () if key in _WHOLE else (str(key),)
            yield from _walk(child, (*path, *step), depth + 1)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        named = len(path) != 1 or path[0].lower() not in _LISTS
        for item in value:
            yield _finding(item, path if named else (), None)
    elif isinstance(value, list) and value and all(isinstance(i, Mapping) for i in value) and path:
        named = len(path) != 1 or path[0].lower() not in _LISTS
        yield from _items(value, path, depth) if named else (None,)
    else:
        yield None


def _items(
    items: list[Mapping[str, JSON]], path: tuple[str, ...], depth: int
) -> Iterator[Finding | None]:
    for index, item in enumerate(items):
        text = next((item[key] for key in _TEXTS if isinstance(item.get(key), str)), None)
        if text is not None:
            code = item.get("code") or item.get("error")
            yield _finding(text, path, code if isinstance(code, str) else None)
        elif item:
            yield from _walk(item, (*path, str(index)), depth + 1)


def _is_leaf(value: Mapping[str, JSON], path: tuple[str, ...]) -> bool:
    """Whether an object says what is wrong with one field, as mongoose writes it."""
    named = bool(path) and path[-1].lower() not in _NO_FIELDS
    return named and isinstance(value.get("message"), str) and value.keys() <= _LEAF


def _finding(text: str, path: tuple[str, ...], code: str | None) -> Finding:
    return Finding(text, code=code, paths=(join(*path),) if path else ())
