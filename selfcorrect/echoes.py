"""Values that may not be shown, as the texts by which they turn up again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from selfcorrect.model import JSON
from selfcorrect.pointer import join

_SHORTEST_ECHO: Final = 3
_MOST_LEAVES: Final = 20_000
_MOST_ECHOES: Final = 50
TOO_MANY: Final = object()
"""Stands for what is not looked at any more."""


def echoes_of(values: Iterable[JSON]) -> tuple[str, ...]:
    """The texts by which these values turn up again, longest first; bounded."""
    texts = {
        value if isinstance(value, str) else str(value)
        for value in values
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }
    kept = sorted((t for t in texts if len(t) >= _SHORTEST_ECHO), key=lambda t: (-len(t), t))
    return tuple(kept[:_MOST_ECHOES])


def parts(*values: Any, most: int = _MOST_LEAVES) -> Iterator[Any]:
    """Everything inside these values, they first; `TOO_MANY` in place of what is beyond `most`."""
    stack = [*values]
    for _ in range(most):
        if not stack:
            return
        item = stack.pop()
        yield item
        if isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
    if stack:
        yield TOO_MANY


def leaves(value: Any, path: str) -> Iterator[tuple[str, JSON]]:
    """The values inside a value that hold no others, each with its pointer; bounded."""
    stack, seen = [(path, value)], 0
    while stack and seen < _MOST_LEAVES:
        place, item = stack.pop()
        seen += 1
        if isinstance(item, Mapping):
            stack.extend((f"{place}{join(key)}", child) for key, child in item.items())
        elif isinstance(item, list | tuple):
            stack.extend((f"{place}/{index}", child) for index, child in enumerate(item))
        elif item is not None:
            yield place, item
