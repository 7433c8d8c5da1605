"""How a tool is called: with arguments of its own, within its time, here or in a thread."""

from __future__ import annotations

import copy
import inspect
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeAlias

from selfcorrect.errors import GraphSetupError
from selfcorrect.model import JsonObject
from selfcorrect.tools.deadlines import in_time, late, outcome_of

Arguments: TypeAlias = dict[str, Any]
Run: TypeAlias = Callable[[Arguments, str | None], Any]
AsyncRun: TypeAlias = Callable[[Arguments, str | None], Awaitable[Any]]

_PLAIN_TYPES: Final = frozenset({str, int, float, bool, type(None), dict, list})


def own_arguments(args: JsonObject, takes_key: str | None, key: str | None) -> Arguments:
    """A copy, so that a tool which changes its arguments does not change the call; with its key."""
    own = dict(args)
    for name, value in own.items():
        if type(value) in (dict, list):
            own[name] = copy.deepcopy(value)
    if takes_key is not None:
        own[takes_key] = key or uuid.uuid4().hex
    return own


def called(work: Callable[[], Any], seconds: float | None, name: str) -> Any:
    """What a sync tool returns, in the thread of its caller where it has no timeout.

    Raises:
        GraphSetupError: If it has to be awaited.
        TimeoutError: If it took longer.
    """
    value = work() if seconds is None else in_time(work, seconds, name)
    if _is_awaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        raise GraphSetupError(
            f"tool {name!r} returned something to await: call ainvoke, not invoke"
        )
    return value


async def awaited(
    begin: Callable[[], Awaitable[Any]], seconds: float | None, name: str, *, goes_on: bool = False
) -> Any:
    """What an async tool returns.

    Raises:
        TimeoutError: If it took longer; it says whether the tool goes on.
    """
    import asyncio

    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await begin()
    except TimeoutError:
        if limit.expired():
            raise late(name, seconds, goes_on=goes_on) from None
        raise


async def in_thread(work: Callable[[], Any], seconds: float | None, name: str) -> Any:
    """What a sync tool returns, run in a thread, in the same context; awaited if it has to be.

    Raises:
        TimeoutError: If it took longer; the tool goes on.
    """

    async def begin() -> Any:
        value = await _outcome(work, seconds, name)
        return await value if _is_awaitable(value) else value

    return await awaited(begin, seconds, name, goes_on=True)


async def _outcome(work: Callable[[], Any], seconds: float | None, name: str) -> Any:
    import asyncio

    bounded = work if seconds is None else partial(in_time, work, seconds, name)
    # Not raised in there: a future refuses StopIteration and would never be done.
    value, error = await asyncio.to_thread(outcome_of, bounded)
    if error is not None:
        raise error
    return value


def _is_awaitable(value: Any) -> bool:
    kind = type(value)
    return kind not in _PLAIN_TYPES and hasattr(kind, "__await__")
