"""JSON Pointers (RFC 6901) into a call: find, read and change a place."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from selfcorrect.model import ABSENT, JSON, Call, Change, JsonDict

ARGS: Final = "/args"


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
