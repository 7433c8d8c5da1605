"""How else a text with a missing closing bracket could have been meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from selfcorrect.model import JSON

RIVAL_LEVELS: Final = 8
"""Beyond so many other readings, or levels of last members, nobody can tell which was meant."""


def other_readings(container: Any) -> Iterator[JSON]:
    """What a container that was not closed could be instead.

    An opening bracket may be one too many. Or a closing bracket was lost further inside, so that
    the last member of a last child belongs one level up.

    >>> list(other_readings({"a": {"b": 1, "c": 2}}))
    [{'a': {'b': 1}, 'c': 2}]
    >>> list(other_readings([["a"]]))
    [['a']]
    """
    if not isinstance(container, dict | list):
        return
    chain = _last_children(container)
    for level, node in enumerate(chain):
        if isinstance(node, list) and len(node) == 1 and isinstance(node[0], dict | list):
            yield _rebuilt(chain[:level], node[0])
        if level + 1 < len(chain) and (moved := _moved_up(node, chain[level + 1])) is not None:
            yield _rebuilt(chain[:level], moved)


def _last_children(container: Any) -> list[Any]:
    """The container, its last member, the last member of that, as long as they are containers."""
    chain = [container]
    while chain[-1] and len(chain) <= RIVAL_LEVELS:
        node = chain[-1]
        last = node[next(reversed(node))] if isinstance(node, dict) else node[-1]
        if not isinstance(last, dict | list):
            break
        chain.append(last)
    return chain


def _moved_up(outer: Any, inner: Any) -> JSON | None:
    """The outer container with the last member of its last child as a member of its own."""
    if type(outer) is not type(inner) or len(inner) < 2:
        return None
    if isinstance(inner, list):
        return [*outer[:-1], inner[:-1], inner[-1]]
    key = next(reversed(inner))
    if key in outer:
        return None
    less = {k: v for k, v in inner.items() if k != key}
    return {**outer, next(reversed(outer)): less, key: inner[key]}


def _rebuilt(above: Sequence[Any], changed: JSON) -> JSON:
    """The outermost of some containers, with the last child of the innermost one changed."""
    for node in reversed(above):
        if isinstance(node, dict):
            changed = {**node, next(reversed(node)): changed}
        else:
            changed = [*node[:-1], changed]
    return changed
