"""Reads the body in a text: the faults that JSON, a repr, or a validator's rows list."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, frozen

_DEPTH = 8
_MOST = 20
_LITERAL = 8_000
"""Characters of a Python literal that are read."""


@frozen
class Fault:
    """One entry of a body: what is wrong, its code, and the keys of its place."""

    sentence: str
    code: str | None = None
    place: tuple[str, ...] = ()


@frozen
class Body:
    """What the body of a text holds.

    Attributes:
        faults: What is wrong, in order.
        fields: Every field that repeats no part of the request, names in lower case.
    """

    faults: tuple[Fault, ...] = ()
    fields: tuple[tuple[str, JSON], ...] = ()

    @property
    def status(self) -> int | None:
        """The HTTP status of a failure that a field holds."""
        for name, value in self.fields:
            if plain_key(name) in _STATUSES and type(value) is int and 400 <= value < 600:
                return value
        return None


def body_of(text: str) -> Body:
    """Read the body in a text, whatever system wrote it."""
    data = _parse(text) or _pairs(text)
    faults = list(_walk(data, (), 0))
    rows = [row for fault in faults for row in _rows(fault.sentence, fault.place)]
    faults = rows or faults or list(_rows(text, ()))
    return Body(tuple(faults[:_MOST]), tuple(_members(data, 0)))


def keys_in(value: Any) -> tuple[str, ...]:
    """Split a place into its keys.

    >>> keys_in(["a", 0]) == keys_in("/a/0") == keys_in("$.a[0]") == keys_in("a.0")
    True
    """
    if isinstance(value, list):
        return tuple(map(str, value))
    if not isinstance(value, str) or len(value) > 200 or " " in value:
        return ()
    bare = re.sub(r"^(?:#/|\$\.?|data[./]|instance\.|/)", "", value)
    return tuple(filter(None, re.split(r"['\"]?[/.\[\]]+['\"]?", bare)))


def plain_key(key: object) -> str:
    """Return a key in small letters, without any sign or digit."""
    return re.sub(r"[^a-z]", "", str(key).lower())


# --- data in a text ---


def _parse(text: str) -> Any:
    """Return the first JSON value or Python literal with members in a text."""
    for opening in islice(_OPENING.finditer(text), 5):
        start = opening.start()
        try:
            data, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            data = _literal(text[start : start + _LITERAL])
        if data:
            return data
    return None


_OPENING = re.compile(r"\{\s*[\"'}]|\[\s*[{\"']")


def _literal(text: str) -> Any:
    end = max(text.rfind("}"), text.rfind("]")) + 1
    try:
        data = ast.literal_eval(text[:end])
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return data if isinstance(data, dict | list) else None


def _pairs(text: str) -> dict[str, str] | None:
    """Return the fields of an object's repr: `<Error status = Code.X details = "…">`."""
    fields = {name: text or word for name, _, text, word in _PAIR.findall(text[:4_000])}
    if len(fields) > 1 and any(plain_key(name) in _SENTENCES for name in fields):
        return fields
    return None


_PAIR = re.compile(
    r"\b([a-zA-Z_]{2,30})(?: = |=|: )"
    r"(?:([\"'])((?:(?!\2)[^\\\n]|\\.){1,1000})\2|[A-Z]\w*\.([A-Z_]{2,40})\b)"
)


def _rows(text: str, place: tuple[str, ...]) -> Iterator[Fault]:
    for mark, pattern in _ROWS:
        rows = list(islice(pattern.finditer(text[:64_000]), _MOST)) if mark in text else ()
        for row in rows:
            yield Fault(row["sentence"], row["code"], place + keys_in(row["place"]))
        if rows:
            return


_OF_SCHEMAS = (
    r"\A(?P<sentence>[^\n]+)\n\nFailed validating ['\"](?P<code>\w+)['\"][\s\S]+?"
    r"On instance(?P<place>(?:\[[^\]\n]+\])*)"
)
_ROWS = tuple(
    (mark, re.compile(row, re.MULTILINE))
    for mark, row in (
        # What pydantic prints, and every tool runner that prints its errors.
        ("[type=", r"^(?P<place>[\w.\[\]-]+)\n +(?P<sentence>.+?) \[type=(?P<code>\w+)"),
        ("[type=", r"^ *(?P<place>)(?P<sentence>.+?) \[type=(?P<code>\w+), input_value="),
        # What the libraries for JSON Schema print.
        ("Failed validating", _OF_SCHEMAS),
    )
)

# --- the walk ---


def _walk(node: Any, path: tuple[str, ...], depth: int) -> Iterator[Fault]:
    """Yield the faults of a JSON value."""
    if depth >= _DEPTH:
        return
    if isinstance(node, list | tuple):
        for item in node[:_MOST]:
            yield from _walk(item, path, depth + 1)
    elif isinstance(node, Mapping):
        yield from list(_inner(node, path, depth)) or _own(node, path)
    elif isinstance(node, str) and _is_data(node):
        yield from _walk(_parse(node), path, depth + 1)
    elif isinstance(node, str) and " " in node.strip():
        yield Fault(node, None, path)


def _inner(node: Mapping[Any, Any], path: tuple[str, ...], depth: int) -> Iterator[Fault]:
    """Yield the faults in the members of an object: wrapped, or under the name of a field."""
    names = {plain_key(key) for key in node}
    own = {*_PLACES, *_CODES} if names.intersection(_SENTENCES) else set()
    for key, value in list(node.items())[:_MOST]:
        name = plain_key(key)
        if name in _SENTENCES or name in _WRAPPERS:
            if name not in _SENTENCES or not isinstance(value, str) or _is_data(value):
                yield from _walk(value, path, depth + 1)
        elif name not in _ECHOES and name not in own:
            yield from _walk(value, (*path, str(key)), depth + 1)


def _own(node: Mapping[Any, Any], path: tuple[str, ...]) -> Iterator[Fault]:
    """Yield the fault that an object itself is: it has a sentence, or a code and a place."""
    fields = {plain_key(key): value for key, value in node.items()}
    texts = (fields.get(name) for name in _SENTENCES)
    sentence = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    codes = (str(fields[name]) for name in _CODES if isinstance(fields.get(name), str | int))
    code = next((code for code in codes if " " not in code and code != sentence), None)
    place = next((keys for name in _PLACES if (keys := keys_in(fields.get(name)))), ())
    if isinstance(more := fields.get("params"), Mapping):
        place += tuple(str(value) for key, value in more.items() if plain_key(key) in _KEYS)
    if sentence or (code and place):
        yield Fault(sentence or str(code), code, path + place)


def _members(data: Any, depth: int) -> Iterator[tuple[str, JSON]]:
    if isinstance(data, list):
        data = dict(enumerate(data[:_MOST]))
    if isinstance(data, Mapping) and depth < _DEPTH:
        for key, value in list(data.items())[:200]:
            if plain_key(key) not in _ECHOES or plain_key(key) == "headers":
                yield str(key).lower(), value
                yield from _members(value, depth + 1)


def _is_data(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") and bool(_parse(text))


_FIELDS = load_table("diagnosis/words.toml")["fields"]
# In the order of the file.
_STATUSES, _SENTENCES, _CODES, _PLACES, _KEYS, _WRAPPERS, _ECHOES = map(str.split, _FIELDS.values())
