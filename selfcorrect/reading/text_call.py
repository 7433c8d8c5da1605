"""What a reader of texts returns: calls as they stand in a text, and what was skipped in them."""

from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias

from selfcorrect.model import JSON, frozen

IsTool: TypeAlias = Callable[[str], bool]
"""Says whether a name is the name of a tool."""


@frozen
class TextCall:
    """A call as it stands in a text.

    Attributes:
        name: The name as it is written; empty where none was.
        arguments: The arguments: an object, or what stands in its place.
        positional: Values without a name, in order.
        skipped: What strict JSON would not allow, by name: `quote`, `comma`, `comment`, …
        id: The id of the call, where one was written.

    Two are equal if they mean the same, however they are written.
    """

    name: str
    arguments: JSON
    positional: tuple[JSON, ...] = ()
    skipped: tuple[str, ...] = field(default=(), compare=False)
    id: str | None = field(default=None, compare=False)


@frozen
class Span:
    """A stretch of a text that reads as calls, or as a thought.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        calls: Its calls; none in a thought.
    """

    start: int
    end: int
    calls: tuple[TextCall, ...] = ()
