"""Runs a tool within its timeout, and returns its value as plain JSON."""

import asyncio
import contextvars
import inspect
import math
from base64 import b64encode
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from itertools import islice
from threading import Thread
from typing import Any

from selfcorrect.errors import (
    Escalation,
    GraphSetupError,
    HardFailure,
    NotDone,
    ResultError,
)
from selfcorrect.model import JSON, JsonObject, T
from selfcorrect.text import text_of
from selfcorrect.tools.spec import ToolSpec


def run_tool(tool: ToolSpec, args: JsonObject) -> Any:
    """Call a tool from sync code.

    Raises:
        TimeoutError: If it gave no value in time; it may still act.
        GraphSetupError: If the tool is async.
    """
    if tool.timeout is None:
        # The tool runs in the caller's own thread, as it would without us.
        value = _value_of(tool.call, args)
    else:
        future = start_thread(f"tool {tool.name}", _value_of, tool.call, args)
        try:
            value = future.result(tool.timeout)
        except TimeoutError:
            if future.done():
                raise
            raise _late(tool, tool.timeout) from None
    if inspect.iscoroutine(value):
        value.close()
        raise _needs_async(tool)
    return value


def check_sync(tool: ToolSpec) -> None:
    """Refuse an async tool in sync code, before anything is noted or done.

    Raises:
        GraphSetupError: If the tool is async.
    """
    of_class = getattr(type(tool.call), "__call__", None)  # noqa: B004 -- an object may be async
    if inspect.iscoroutinefunction(tool.call) or inspect.iscoroutinefunction(of_class):
        raise _needs_async(tool)


async def arun_tool(tool: ToolSpec, args: JsonObject, left: float | None = None) -> Any:
    """Call a tool from async code; a sync tool runs in a thread.

    Args:
        tool: The tool.
        args: Its arguments.
        left: Seconds that the run has left.

    Raises:
        TimeoutError: If it gave no value in time; it may still act.
    """
    seconds = min((bound for bound in (tool.timeout, left) if bound is not None), default=None)
    if seconds is None:
        return await _answer(tool, args)
    task = asyncio.ensure_future(_answer(tool, args))
    try:
        # `wait_for` would wait for a tool that ignores its cancellation.
        done, _ = await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    if not done:
        raise _late(tool, seconds)
    return task.result()


async def _answer(tool: ToolSpec, args: JsonObject) -> Any:
    if inspect.iscoroutinefunction(tool.call):
        return await _await(tool.call(**deepcopy(args)))
    future = start_thread(f"tool {tool.name}", _value_of, tool.call, args)
    return await _await(await asyncio.wrap_future(future))


def _value_of(call: Any, args: JsonObject) -> Any:
    """Call a tool with copies of its arguments; what it makes later is waited for here."""
    # What the tool does to them must not reach the state, the report or the next attempt.
    value = call(**deepcopy(args))
    if isinstance(value, Future):
        value = value.result()
    return _take_all(value) if isinstance(value, Iterator) else value


def _take_all(parts: Iterator[Any]) -> list[Any]:
    with _as_result():
        if len(taken := list(islice(parts, _MOST_PARTS))) < _MOST_PARTS:
            return taken
        raise ValueError(f"it has {_MOST_PARTS} parts or more")


@contextmanager
def _as_result() -> Iterator[None]:
    """Let errors of a value that is made late refuse nothing: the tool has returned."""
    try:
        yield
    except (NotDone, Escalation, HardFailure):
        raise
    except Exception as error:
        raise ResultError(f"the result cannot be read: {text_of(error)}") from error


async def _await(value: Any) -> Any:
    """Wait for a value that is still being made."""
    while inspect.isawaitable(value):
        value = await value
    if isinstance(value, AsyncIterable):
        with _as_result():
            return [part async for part in value]
    return value


def start_thread(name: str, run: Callable[..., T], /, *args: Any, **options: Any) -> "Future[T]":
    """Call a function in a thread that nobody waits for when the program ends."""
    # A pool would wait for what hangs; a daemon does not.
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(run, *args, **options))
        except StopIteration as error:
            # An asyncio future never ends with this one.
            future.set_exception(RuntimeError(f"{name} raised {error!r}"))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=work, name=name, daemon=True).start()
    return future


def _needs_async(tool: ToolSpec) -> GraphSetupError:
    return GraphSetupError(f"tool {tool.name!r} is async: use ainvoke, or aplay")


def _late(tool: ToolSpec, seconds: float) -> TimeoutError:
    return TimeoutError(f"{tool.name} gave no answer within {seconds:.3g} seconds")


_MOST_PARTS = 1_000_000
"""Of a generator or a value: one without an end must not fill the memory."""
_DEPTH = 64
_CUT = "…"
"""Stands for a value inside itself, for what is nested too deep, and for what has no end."""


def plain(value: Any) -> JSON:
    """Return a tool's value as plain JSON.

    >>> plain({"when": date(2026, 10, 26), "seats": (1, 2)})
    {'when': '2026-10-26', 'seats': [1, 2]}
    """
    return _plain(value, (), iter(range(_MOST_PARTS)))


def _plain(value: Any, parents: tuple[int, ...], left: Iterator[int]) -> JSON:
    if isinstance(value, Enum):
        return _plain(value.value, parents, left)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return _text(value)
    # Lists of lists double: what stands in a value twice is copied twice.
    if id(value) in parents or len(parents) >= _DEPTH or next(left, None) is None:
        return _CUT
    parents = (*parents, id(value))
    if _is_message(value):
        return _plain(value.content, parents, left)
    if hasattr(type(value), "model_dump"):
        return _plain(value.model_dump(), parents, left)
    inner = _parts(value)
    if isinstance(inner, Mapping):
        return {
            text_of(_plain(key, parents, left)): _plain(item, parents, left)
            for key, item in inner.items()
        }
    return inner if isinstance(inner, str) else [_plain(item, parents, left) for item in inner]


def _parts(value: Any) -> Any:
    """Return a value as a mapping, a list, or a text."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if inspect.isawaitable(value) or isinstance(value, AsyncIterable | Future):
        raise ResultError(f"a {type(value).__name__} in it is still being made")
    if isinstance(value, Iterator):
        return _take_all(value)
    return list(value) if isinstance(value, Iterable) else text_of(value)


def _is_message(value: Any) -> bool:
    # LangChain's messages, told by name, so that nobody imports LangChain for this.
    return any(base.__name__ == "BaseMessage" for base in type(value).__mro__)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return b64encode(value).decode()
