"""What a node that wraps another one declares of it."""

from __future__ import annotations

from typing import Any, Final

_MOST: Final = 32


def innermost(node: Any) -> Any:
    """The node at the bottom of wrappers that declare what they wrap; else the node itself.

    A wrapper declares it by an attribute `inner`, or as `functools.wraps` does.

    >>> import functools
    >>> def node(state, context): ...
    >>> @functools.wraps(node)
    ... def wrapper(state, context): ...
    >>> innermost(wrapper) is node
    True
    """
    for _ in range(_MOST):
        below = getattr(node, "inner", None) or getattr(node, "__wrapped__", None)
        if not callable(below):
            return node
        node = below
    return node
