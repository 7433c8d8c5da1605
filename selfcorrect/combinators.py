"""Graphs made of graphs: the first that succeeds, the fastest, or one run until a check holds.

Each is a Runnable with the output of one of its graphs, and can be a node of another graph. To
answer the questions of its graphs, make it a node of a graph with a checkpointer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START

from selfcorrect.context import run_sync
from selfcorrect.effects import Outcome
from selfcorrect.effects.again import may_start_over
from selfcorrect.errors import GraphSetupError
from selfcorrect.graph import CHECKPOINTER, SCOPE, GraphNode
from selfcorrect.model import UNDECLARED, JsonDict, JsonObject
from selfcorrect.models.port import value_of
from selfcorrect.report import ADVICE, FailureReport
from selfcorrect.text import bound, quote
from selfcorrect.tools.run import start_thread

Graph = Runnable[Any, Any]
Check = Callable[[Any], Any]
NextInput = Callable[[Any, Any], Any]
End = Any
"""How a run ended: its output, or the exception that it raised."""


def first_of(*graphs: Graph, may_repeat: bool = False) -> Graph:
    """Try graphs in order; the first that gives a `result` wins. If all fail, so does the last.

    The next graph runs only if the failure before it shows that no tool has acted.

    Args:
        *graphs: Compiled graphs, or what these functions return.
        may_repeat: Asserts that acting twice is harmless; every failure then leads to the next.
    """

    async def run(way: str, value: Any, config: RunnableConfig, **options: Any) -> Any:
        end: End = None
        for graph in graphs:
            end = await _end_of(graph, way, value, config, **options)
            if not _may_go_on(graph, end, may_repeat=may_repeat):
                break
        return _unwrap(end)

    return _Combination("first_of", graphs, run)


def speculative(*graphs: Graph, may_repeat: bool = False) -> Graph:
    """Run graphs side by side; the first that gives a `result` wins, and the others are cancelled.

    A sync tool cannot be cancelled: its graph ends, and the tool goes on, unheard. Nobody is asked:
    a graph that has a question fails. If all fail, the failure that came last is returned.

    Args:
        *graphs: Compiled graphs, or what these functions return.
        may_repeat: Asserts that acting twice is harmless; not needed if every tool only reads.

    Raises:
        GraphSetupError: If a tool may act twice.
    """

    async def run(way: str, value: Any, config: RunnableConfig, **options: Any) -> Any:
        if way == "invoke":
            coroutine = run("ainvoke", value, config, **options)
            return start_thread("speculative", asyncio.run, coroutine).result()
        # Graphs that run side by side would share the checkpoints of one thread.
        own = {**config, "configurable": {**config["configurable"], CHECKPOINTER: None}}
        ends = [_end_of(graph, way, value, own, **options) for graph in graphs]
        tasks = list(map(asyncio.ensure_future, ends))
        end: End = None
        try:
            for task in asyncio.as_completed(tasks):
                end = await task
                if _has(end, "result"):
                    break
            return _unwrap(end)
        finally:
            for loser in tasks:
                loser.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    race = _Combination("speculative", graphs, run)
    if not may_repeat and not _only_reads(race):
        raise GraphSetupError(
            "speculative runs every graph, so a tool with side effects may act twice: declare "
            'effect="read_only" on every tool, or pass may_repeat=True if that does no harm'
        )
    return race


def loop_until(
    graph: Graph, check: Check, max_iterations: int, feedback: NextInput | None = None
) -> Graph:
    """Run a graph until `check(output)` is true; after so many runs the loop ends in a failure.

    A failed run is not checked; the next run follows. Its failure ends the loop if a tool may have
    acted, if the error is terminal, or if the run escalated.

    Args:
        graph: A compiled graph, or what these functions return.
        check: Says of an output whether it is good enough.
        max_iterations: How many runs there are at most.
        feedback: Makes the next input of the last input and its output, which holds `result` or
            `failure`; without it every run gets the same input.
    """

    async def run(way: str, value: Any, config: RunnableConfig, **options: Any) -> Any:
        out: Any = None
        attempts: list[JsonDict] = []
        for number in range(max_iterations):
            if number and feedback is not None:
                value = await value_of(feedback(value, out))
            out = _unwrap(await _end_of(graph, way, value, config, **options))
            if failure := _failure_of(out):
                if failure.get("reason") in _FINAL or not _may_go_on(graph, out):
                    return out
            elif _has(out, "__interrupt__") or await value_of(check(out)):
                return out
            attempts += _list_executions(out)
        return _end_loop(out, attempts, max_iterations)

    return _Combination("loop_until", [graph], run)


class _Combination(Runnable[Any, Any]):
    """Runs graphs with its own config, in sync code and in async code.

    Args:
        name: What it is called.
        graphs: The graphs.
        run: Runs them by `way`, the name of their method: `invoke` or `ainvoke`.
    """

    def __init__(self, name: str, graphs: Sequence[Graph], run: Callable[..., Any]) -> None:
        self.name = name
        self.graphs = graphs
        self._run = run

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:  # noqa: A002
        def call(value: Any, config: Any, **options: Any) -> Any:
            return run_sync(self._run("invoke", value, config, **options))

        return self._call_with_config(call, input, _in_scope(config), **options)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **options: Any,
    ) -> Any:
        call = partial(self._run, "ainvoke")
        return await self._acall_with_config(call, input, _in_scope(config), **options)


def _in_scope(config: RunnableConfig | None) -> RunnableConfig:
    """Return the config with a scope: what one graph lost, no other graph of the run does again."""
    outer = config or {}
    return {**outer, "configurable": {SCOPE: uuid4().hex, **outer.get("configurable", {})}}


_FINAL = ("terminal_kind", "escalated")


def _list_executions(out: JsonObject) -> list[JsonDict]:
    """Return the executions of a run, replayed ones of tools that act among them."""
    return [
        {
            "number": event.get("attempt", 0),
            "effect": event.get("effect", UNDECLARED),
            "outcome": event.get("did", Outcome.DONE.value),
        }
        for event in out.get("trail", ())
        if "did" in event or "replayed" in event
    ]


def _end_loop(out: JsonObject, attempts: Sequence[JsonObject], most: int) -> JsonDict:
    """Return the output of a loop that ended at its bound."""
    detail = f"The check did not hold within `max_iterations` = {most} runs."
    data = f"The last result, as data: {quote(out.get('result'), 600)}"
    words = bound(f"{detail} {_failure_of(out).get('for_model') or data}", 1_200)
    advice = ADVICE["limit_reached"]
    report = FailureReport("limit_reached", detail, words, advice, attempts=attempts)
    return {key: item for key, item in out.items() if key != "result"} | {
        "failure": report.to_json()
    }


async def _end_of(graph: Graph, way: str, *args: Any, **options: Any) -> End:
    try:
        return await value_of(getattr(graph, way)(*args, **options))
    except Exception as error:
        return error


def _unwrap(end: End) -> Any:
    if isinstance(end, Exception):
        raise end
    return end


def _may_go_on(graph: Graph, end: End, *, may_repeat: bool = False) -> bool:
    """Say whether a run failed such that another one does no harm."""
    if isinstance(end, GraphBubbleUp | GraphSetupError):
        return False
    failure = _failure_of(end)
    if not failure and not isinstance(end, Exception):
        return False
    if may_repeat or _only_reads(graph):
        return True
    if "attempts" not in failure:
        return False
    return may_start_over(failure["reason"], failure["attempts"])


def _only_reads(graph: Graph) -> bool:
    """Say whether nothing in a graph acts, as far as that can be known."""
    if isinstance(graph, _Combination):
        return all(map(_only_reads, graph.graphs))
    nodes = [node.bound for name, node in getattr(graph, "nodes", {}).items() if name != START]
    return bool(nodes) and all(
        isinstance(node, GraphNode)
        and all(tool.effect == "read_only" for tool in node.loop.context.tools.values())
        for node in nodes
    )


def _failure_of(end: End) -> JsonObject:
    """Return the report of a run that failed; empty where there is none."""
    if isinstance(report := getattr(end, "report", None), FailureReport):
        return report.to_json()
    return end["failure"] if _has(end, "failure") else {}


def _has(end: End, key: str) -> bool:
    return isinstance(end, Mapping) and key in end
