"""Combine runs: the first that succeeds, several at once, again until it is good enough.

Each combinator takes graphs (or any Runnables from an input to `result` or `failure`) and gives a
Runnable, which is invoked, streamed, or put into a bigger graph as one node. A run fails if its
output has a `failure`, or if it raises. After a run that may or may not have acted (reason
`unknown_outcome`), nothing further is tried.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from selfcorrect.errors import GraphSetupError, is_control_flow
from selfcorrect.json_forms import to_json
from selfcorrect.loop.context import run_sync
from selfcorrect.report import FailureReport

Output: TypeAlias = Any
Run: TypeAlias = Callable[[Any], Awaitable[Output]]
Feedback: TypeAlias = Callable[[Any, Output], Any]

_MOST: Final = 100
_OPEN: Final = "unknown_outcome"


def first_of(*graphs: Any) -> Any:
    """One after the other until one succeeds; if none does, the failure of the last.

    Args:
        graphs: What to try, in order.

    Raises:
        GraphSetupError: If there is nothing to try.

    >>> from langchain_core.runnables import RunnableLambda
    >>> down = RunnableLambda(lambda _: {"failure": {"reason": "attempts_exhausted"}})
    >>> up = RunnableLambda(lambda given: {"result": given["x"] + 1})
    >>> first_of(down, up).invoke({"x": 1})
    {'result': 2}
    """

    async def run(given: Any, runs: list[Run]) -> Output:
        ended = _Ended()
        for each in runs:
            ended = await _ended(each, given)
            if ended.is_good or ended.is_open:
                break
        return ended.output()

    return _runnable("first_of", graphs, run)


def speculative(*graphs: Any, n: int = 1, may_repeat: bool = False) -> Any:
    """All at once; the first success wins and the others are cancelled.

    Cancelling does not undo, and a sync tool that runs already goes on: every branch may act. If
    none succeeds, the failure of the last to end is the output.

    Args:
        graphs: What to run.
        n: How many copies of each.
        may_repeat: The caller's word that doing the work several times does no harm.

    Raises:
        GraphSetupError: If there is nothing to run, or nobody said that it may be repeated.
    """
    if not 1 <= n <= _MOST:
        raise GraphSetupError(f"n is from 1 to {_MOST}, not {n!r}")
    if not may_repeat:
        raise GraphSetupError(
            "speculative does the same work several times: say may_repeat=True where that does "
            "no harm, or use first_of"
        )

    async def run(given: Any, runs: list[Run]) -> Output:
        tasks = [asyncio.ensure_future(_ended(each, given)) for each in runs * n]
        ended = _Ended()
        try:
            for done in asyncio.as_completed(tasks):
                ended = await done
                if ended.is_good:
                    break
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return ended.output()

    return _runnable("speculative", graphs, run, needs_loop=True)


def loop_until(
    graph: Any,
    check: Callable[[Output], Any],
    *,
    max_iterations: int = 3,
    feedback: Feedback | None = None,
) -> Any:
    """Again and again until the check holds; a report where it never does.

    Every iteration runs the graph anew, with all its effects.

    Args:
        graph: What to run.
        check: Says of an output whether it will do; sync or async.
        max_iterations: How often to run at most.
        feedback: Makes the next input out of the last one and its output; None: the same again.

    Raises:
        GraphSetupError: If the bound is no whole number from 1 up.

    >>> from langchain_core.runnables import RunnableLambda
    >>> add = RunnableLambda(lambda given: {"result": given["x"] + 1})
    >>> until = loop_until(
    ...     add, lambda out: out["result"] > 2, feedback=lambda _, out: {"x": out["result"]}
    ... )
    >>> until.invoke({"x": 1})
    {'result': 3}
    >>> until.invoke({"x": -9})["failure"]["detail"]
    'the check did not hold after 3 of at most 3 iterations'
    """
    if type(max_iterations) is not int or not 1 <= max_iterations <= _MOST:
        raise GraphSetupError(f"max_iterations is from 1 to {_MOST}, not {max_iterations!r}")

    async def run(given: Any, runs: list[Run]) -> Output:
        output: Output = None
        for number in range(max_iterations):
            ended = await _ended(runs[0], given)
            if ended.error is not None or ended.is_open:
                return ended.output()
            output = ended.value
            if await _value(check(output)):
                return output
            if feedback is not None and number + 1 < max_iterations:
                given = await _value(feedback(given, output))
        return _unsatisfied(output, max_iterations)

    return _runnable("loop_until", (graph,), run)


@dataclass(frozen=True, slots=True)
class _Ended:
    """How one run ended."""

    value: Output = None
    error: Exception | None = None

    @property
    def failure(self) -> Any:
        return self.value.get("failure") if isinstance(self.value, Mapping) else None

    @property
    def is_good(self) -> bool:
        return self.error is None and not self.failure

    @property
    def is_open(self) -> bool:
        reason = self.failure.get("reason") if isinstance(self.failure, Mapping) else None
        report = getattr(self.error, "report", None)
        return _OPEN in (reason, getattr(report, "reason", None))

    def output(self) -> Output:
        if self.error is not None:
            raise self.error
        return self.value


async def _ended(run: Run, given: Any) -> _Ended:
    try:
        return _Ended(await run(given))
    except Exception as error:
        if is_control_flow(error):
            raise
        return _Ended(error=error)


async def _value(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _unsatisfied(output: Output, iterations: int) -> dict[str, Any]:
    detail = f"the check did not hold after {iterations} of at most {iterations} iterations"
    report = to_json(FailureReport("limit_reached", detail, for_model=f"Not done: {detail}."))
    kept = dict(output) if isinstance(output, Mapping) else {}
    kept.pop("result", None)
    return {**kept, "failure": report}


def _runnable(
    name: str,
    graphs: Sequence[Any],
    run: Callable[[Any, list[Run]], Coroutine[Any, Any, Output]],
    *,
    needs_loop: bool = False,
) -> Any:
    """The combinator as a Runnable; the caller's config, and so its checkpointer, goes down."""
    from langchain_core.runnables import RunnableConfig, RunnableLambda

    if not graphs:
        raise GraphSetupError("there is nothing to run: give at least one graph")
    for graph in graphs:
        if not callable(getattr(graph, "invoke", None)):
            raise GraphSetupError(f"{graph!r:.80} cannot be run: it has no invoke")

    def runs(method: str, config: Any) -> list[Run]:
        return [partial(_called, getattr(graph, method), config) for graph in graphs]

    async def in_loop(given: Any, config: RunnableConfig) -> Output:
        return await run(given, runs("ainvoke", config))

    def in_sync(given: Any, config: RunnableConfig) -> Output:
        if needs_loop:
            return _in_new_loop(partial(in_loop, given, config))
        return run_sync(run(given, runs("invoke", config)))

    in_sync.__annotations__["config"] = RunnableConfig
    in_loop.__annotations__["config"] = RunnableConfig
    return RunnableLambda(in_sync, in_loop, name=name)


async def _called(method: Callable[..., Any], config: Any, given: Any) -> Output:
    return await _value(method(given, config))


def _in_new_loop(work: Callable[[], Coroutine[Any, Any, Output]]) -> Output:
    """Run in an event loop of its own, in a thread where one runs here already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, lambda: asyncio.run(work())).result()
