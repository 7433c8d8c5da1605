"""JSON Pointers (RFC 6901) into calls: read a place, apply changes, leave the rest alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from selfcorrect.model import ABSENT, JSON, Call, Change

_LONGEST_KEPT: Final = 200


def join(*tokens: str | int) -> str:
    """The pointer of these reference tokens: `join("args", "a/b", 0)` is `/args/a~1b/0`."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def split(pointer: str) -> tuple[str, ...]:
    """The reference tokens of a pointer.

    Raises:
        ValueError: If it is neither empty nor starts with a slash.
    """
    return _kept(pointer) if len(pointer) <= _LONGEST_KEPT else _split(pointer)


def _split(pointer: str) -> tuple[str, ...]:
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"a JSON Pointer starts with a slash: {pointer!r}")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


_kept: Final = lru_cache(maxsize=2048)(_split)


def get(document: JSON, pointer: str) -> JSON:
    """The value at a pointer, or `ABSENT`."""
    for token in split(pointer):
        if type(document) is dict or isinstance(document, Mapping):
            document = document.get(token, ABSENT)
        elif isinstance(document, list | tuple) and _index(token) is not None:
            index = int(token)
            document = document[index] if index < len(document) else ABSENT
        else:
            return ABSENT
    return document


def put(document: JSON, pointer: str, value: JSON) -> JSON:
    """A copy of the document with the value at the pointer; `ABSENT` removes the place.

    Only the containers along the way are copied. The document itself may be replaced (pointer "").

    Raises:
        LookupError: If a container on the way does not exist.
    """
    return _put(document, split(pointer), value, pointer)


def _put(document: JSON, tokens: tuple[str, ...], value: JSON, pointer: str) -> JSON:
    if not tokens:
        return value
    token, rest = tokens[0], tokens[1:]
    if isinstance(document, Mapping):
        if rest and token not in document:
            raise LookupError(f"there is nothing at {token!r} on the way to {pointer!r}")
        copy = dict(document)
        new = _put(copy.get(token), rest, value, pointer)
        if new is ABSENT:
            copy.pop(token, None)
        else:
            copy[token] = new
        return copy
    if isinstance(document, list | tuple):
        index = _index(token)
        items = list(document)
        if index is None or index > len(items) or (index == len(items) and rest):
            raise LookupError(f"there is no item {token!r} on the way to {pointer!r}")
        new = _put(items[index] if index < len(items) else None, rest, value, pointer)
        items[index : index + 1] = [] if new is ABSENT else [new]
        return items
    raise LookupError(f"{pointer!r} leads through a value that is not an object or a list")


def _index(text: str) -> int | None:
    plain = text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
    return int(text) if plain and len(text) < 10 else None


def look(call: Call, pointer: str) -> JSON:
    """The value at a pointer into a call (`/name`, `/args/…`, `/id`, `/raw`), or `ABSENT`."""
    tokens = split(pointer)
    if not tokens:
        return ABSENT
    if tokens[0] == "args":
        return get(call.args, pointer.removeprefix("/args"))
    if len(tokens) == 1 and tokens[0] in ("name", "id", "raw"):
        value = getattr(call, tokens[0])
        return ABSENT if value in (None, "") else value
    return ABSENT


def apply(call: Call, changes: Sequence[Change]) -> Call:
    """The call after these changes, in order; untouched parts are shared with the old call.

    Raises:
        LookupError: If a change names a place that cannot exist.
    """
    for change in changes:
        tokens = split(change.path)
        sets_id = tokens == ("id",) and ABSENT in (change.before, change.after)
        if sets_id or tokens in (("name",), ("raw",)):
            after: Any = change.after
            if after is ABSENT:
                after = "" if tokens == ("name",) else None
            call = replace(call, **{tokens[0]: after})
        elif tokens[:1] == ("args",):
            args: Any = put(call.args, change.path.removeprefix("/args"), change.after)
            call = replace(call, args={} if args is ABSENT else args)
        else:
            raise LookupError(
                f"a change may touch /name, /raw or /args, and set an /id, not {change.path!r}"
            )
    return call
