"""What a reader of texts answers: a call as it stands in a text, and what was skipped in it."""

from collections.abc import Callable
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
        skipped: What strict JSON would not allow, by kind: `quote`, `comma`, `comment`, …
        id: The id of the call, where one was written.
    """

    name: str
    arguments: JSON
    positional: tuple[JSON, ...] = ()
    skipped: tuple[str, ...] = ()
    id: str | None = None
