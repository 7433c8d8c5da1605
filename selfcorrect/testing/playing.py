"""`play` and `aplay`: a run without LangGraph, in a time of its own if the test brings one."""

from collections.abc import Iterable
from typing import Any, Unpack

from selfcorrect.model import JsonDict, JsonObject
from selfcorrect.protocols import Clock
from selfcorrect.setup import Options, build_loop, show_options
from selfcorrect.step import awalk, walk


@show_options(Options)
def play(
    tools: Iterable[Any],
    given: JsonObject,
    *,
    time: Clock | None = None,
    **options: Unpack[Options],
) -> JsonDict:
    """Run one input through the nodes; return what the graph would.

    Args:
        tools: As for `build_graph`.
        given: The input of the run.
        time: A clock of the test's own, such as `VirtualTime()`.
        **options: See `Options`: `strategies`, `model`, `limits`, `policy`, `ledger`, `on_error`,
            `on_model_error`, `on_failure`, `hooks`, `tool_words`; `on_edge`, `before`, `nodes`,
            `routes`, `state`; `planner`, `executor`, `diagnoser`, `selector`, `repairer`,
            `validator`, `retrier`, `reporter`.
    """
    return walk(build_loop(tools, options, time), given)


@show_options(Options)
async def aplay(
    tools: Iterable[Any],
    given: JsonObject,
    *,
    time: Clock | None = None,
    **options: Unpack[Options],
) -> JsonDict:
    """Like `play`, for tools, strategies and models that are async."""
    return await awalk(build_loop(tools, options, time), given)
