"""One run of a loop, without LangGraph, and with time that passes as a test wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selfcorrect.loop.context import Time
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import awalk, walk


def play(
    tools: Any,
    input: Mapping[str, Any],  # noqa: A002 -- as LangGraph calls it
    *,
    time: Time | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Run one input through the nodes of a loop and return what the graph would return.

    Not the right tool for what needs a checkpointer: a person's answer, time travel.

    Args:
        tools: As for `build_graph`.
        input: As for the graph: `call`, `raw` or `request`, and what goes with it.
        time: A clock, such as `VirtualTime()`, with which no wait takes time; None: the real one.
        options: As for `build_graph`, but for `checkpointer`.

    Raises:
        GraphSetupError: If an option is unusable, or something in the loop is async.
        MapError: If the error-strategy map is unusable.

    >>> from selfcorrect.testing import VirtualTime
    >>> def ping(times: int) -> str:
    ...     '''Ping.'''
    ...     return "pong " * times
    >>> call = {"name": "ping", "args": {"times": "2"}}
    >>> play([ping], {"call": call}, time=VirtualTime())["result"]
    'pong pong '
    """
    return walk(_loop(tools, time, options), input)


async def aplay(
    tools: Any,
    input: Mapping[str, Any],  # noqa: A002
    *,
    time: Time | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Like `play`, for tools, strategies, models and nodes that are async."""
    return await awalk(_loop(tools, time, options), input)


def _loop(tools: Any, time: Time | None, options: Mapping[str, Any]) -> Loop:
    return assemble(tools, Options.of({**options, "time": time}))
