"""Reads a call that is an object or the strict JSON text of one; everything else is a finding."""

import json
from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.model import Call, Finding, own_finding
from selfcorrect.pointer import ARGS
from selfcorrect.text import quote

NAME_KEYS: Final = ("name", "tool", "tool_name")
ARGUMENT_KEYS: Final = ("args", "arguments", "parameters", "params", "tool_args")
ID_KEYS: Final = ("id", "tool_call_id")
MAX_BYTES: Final = 1 << 20


def read_call(given: Any) -> tuple[Call, Finding | None]:
    """Return the call as far as it can be read, and what is wrong with it.

    What is unreadable stays a text in `args`, so that it can never run as empty arguments.
    """
    if isinstance(given, str):
        parsed = _json(given)
        if not isinstance(parsed, Mapping):
            return _unreadable("", given, "the text is not a call as JSON", "")
        given = parsed
    if not isinstance(given, Mapping):
        return _unreadable("", _text(given), "the call is not an object", "")
    if isinstance(function := given.get("function"), Mapping):
        given = {**function, "id": given.get("id")}
    name, args = _first(given, NAME_KEYS), _first(given, ARGUMENT_KEYS)
    if not isinstance(name, str) or not name:
        return _unreadable("", _text(given), "the call has no name", "")
    found = _first(given, ID_KEYS)
    call_id = None if found is None else str(found)
    # Some providers send the arguments as the text that the model wrote.
    parsed = _json(args) if isinstance(args, str) else args
    if parsed is None and args is None:
        return Call(name, {}, call_id), None
    if not isinstance(parsed, Mapping):
        return _unreadable(name, _text(args), f"the arguments of {name!r} are no object", call_id)
    return Call(name, parsed, call_id), None


def _unreadable(name: str, text: str, why: str, call_id: str | None) -> tuple[Call, Finding]:
    code = "malformed_json" if "{" in text or name else "no_call"
    path = ARGS if name else ""
    finding = own_finding("MalformedCall", code, f"{why}: {quote(text, 200)}", path)
    return Call(name, text, call_id or None), finding  # type: ignore[arg-type]


def _json(text: str) -> Any:
    if len(text) > MAX_BYTES:
        return text
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; two values for one key are not one reading."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _text(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, default=repr)[:MAX_BYTES]


def _first(given: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((given[key] for key in keys if given.get(key) is not None), None)
