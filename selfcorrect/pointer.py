"""JSON Pointers (RFC 6901) into a call: find, read and change a place; and bound all places."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from selfcorrect.model import ABSENT, JSON, Call, Change, JsonDict, JsonObject

ARGS = "/args"
MAX_BYTES = 1 << 20
MAX_CHARACTERS = 1 << 23
MAX_VALUES = 100_000
MAX_DEPTH = 64
MAX_BITS = 13_000
"""Of an integer: Python writes no more than 4,300 digits as a text."""


def pointer(*keys: object) -> str:
    """Return the pointer of keys into the arguments.

    >>> pointer("people", 0, "a/b")
    '/args/people/0/a~1b'
    """
    escaped = [str(key).replace("~", "~0").replace("/", "~1") for key in keys]
    return "/".join([ARGS, *escaped])


def keys_of(path: str, root: str = ARGS) -> list[str]:
    """Return the keys of a pointer into the arguments, or another root; none for any other place.

    >>> keys_of("/args/people/0/a~1b"), keys_of("/name")
    (['people', '0', 'a/b'], [])
    """
    inner = path.removeprefix(f"{root}/")
    keys = inner.split("/") if inner != path else []
    return [key.replace("~1", "/").replace("~0", "~") for key in keys]


def look(call: Call, path: str) -> JSON:
    """Return the value at a place of the call, or `ABSENT`.

    >>> look(Call("book", {"people": [{"age": 7}]}), "/args/people/0/age")
    7
    """
    keys = keys_of(path)
    return find(call.args, keys) if keys or path == ARGS else ABSENT


def find(value: Any, keys: Iterable[str]) -> Any:
    """Return what stands in a value under keys, or `ABSENT`."""
    try:
        for key in keys:
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (LookupError, TypeError, ValueError):
        return ABSENT
    return value


def parts_of(value: Any) -> Iterator[JsonObject]:
    """Yield every object in a value of JSON, at whatever depth."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            yield part
            todo += part.values()
        elif isinstance(part, list):
            todo += part


def apply(call: Call, changes: Iterable[Change]) -> Call:
    """Return the call with the changes made, in order; the original stays as it is.

    Raises:
        LookupError: If a change names a place that does not exist.
    """
    name, args = call.name, _copy(call.args)
    for change in changes:
        if change.path == "/name" and isinstance(change.after, str):
            name = change.after
        elif change.path == ARGS and isinstance(change.after, Mapping):
            args = _copy(change.after)
        elif keys := keys_of(change.path):
            if change.moved_from is not None:
                _edit(args, keys_of(change.moved_from), ABSENT)
            _edit(args, keys, change.after)
        else:
            raise LookupError(f"no such place in a call: {change.path!r}")
    return Call(name, args, call.id)


def _edit(args: JsonDict, keys: Sequence[str], value: JSON) -> None:
    *parents, last = keys or [""]
    try:
        place = find(args, parents)
        key: Any = int(last) if isinstance(place, list) else last
        if value is ABSENT:
            del place[key]
        else:
            # A later change of the same place must not reach into this one.
            place[key] = _copy(value)
    except (TypeError, ValueError, LookupError) as error:
        raise LookupError(f"no such place in the arguments: {'.'.join(keys)!r}") from error


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def oversize(call: Any) -> str | None:
    """Say which bound a call breaks, as a text or an object, or return None.

    What breaks one is never taken: it could neither be copied nor written into a report.
    """
    if isinstance(call, str):
        is_long = len(call) > MAX_BYTES
        return f"The text is longer than {MAX_BYTES} characters." if is_long else None
    level, values, characters = [call], 0, 0
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, int) and value.bit_length() > MAX_BITS:
                return f"A number of the call has more than {MAX_BITS} bits."
            elif isinstance(value, Mapping):
                inner += value.values()
                characters += sum(len(key) for key in value if isinstance(key, str))
            elif isinstance(value, list | tuple):
                inner += value
            if values + len(inner) > MAX_VALUES or characters > MAX_CHARACTERS:
                return f"The call has more than {MAX_VALUES} values or {MAX_CHARACTERS} characters."
        if not inner:
            return None
        level, values = inner, values + len(inner)
    return f"The call is nested more than {MAX_DEPTH} levels deep."
