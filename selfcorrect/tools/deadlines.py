"""Runs something that blocks with a bound on how long one waits for it."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any


def in_time(work: Callable[[], Any], seconds: float, tool: str) -> Any:
    """Run something in a thread of its own, in the same context, and return its value.

    A thread cannot be stopped: one that is late goes on, and is left behind.

    Args:
        work: What to run.
        seconds: How long to wait.
        tool: Whose work it is, for the error and the thread's name.

    Raises:
        TimeoutError: If it is not done in time.
    """
    context = contextvars.copy_context()
    done: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        done.append(context.run(outcome_of, work))

    thread = threading.Thread(target=run, name=f"tool {tool}", daemon=True)
    thread.start()
    thread.join(seconds)
    if not done:
        raise late(tool, seconds, goes_on=True)
    value, error = done.pop()
    if error is not None:
        raise error
    return value


def outcome_of(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What something returns, or raises."""
    try:
        return work(), None
    except BaseException as error:
        return None, error


class StillRunning(TimeoutError):
    """A tool did not answer in time, and goes on: what it has not done yet, it may do."""


def late(tool: str, seconds: float | None, *, goes_on: bool = False) -> TimeoutError:
    """The error for a tool that did not answer in time."""
    kind = StillRunning if goes_on else TimeoutError
    return kind(f"tool {tool!r} did not answer within {seconds:g} s")
