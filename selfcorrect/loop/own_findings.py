"""What the loop itself finds wrong with a call, before its arguments are looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from selfcorrect.model import Finding

_MOST_NAMES: Final = 50
_LONGEST_NAME: Final = 200


def unknown_tool(tools: Iterable[str]) -> Finding:
    """The finding for a call of a tool that is not offered; it names those that are."""
    names = [name[:_LONGEST_NAME] for name in list(tools)[:_MOST_NAMES]]
    return Finding(
        text="there is no such tool",
        types=("UnknownTool",),
        code="unknown_tool",
        paths=("/name",),
        constraint={"enum": names},
    )


def still_raw() -> Finding:
    """The finding for a call whose arguments are a text that nobody could read."""
    return Finding(
        text="the arguments are text that is not one JSON object",
        types=("MalformedCall",),
        code="malformed_json",
        paths=("/raw",),
    )
