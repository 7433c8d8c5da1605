"""Which thread or task of this process is at an intent, and whether it still is."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Owner: TypeAlias = Callable[[], "asyncio.Task[object] | threading.Thread | None"]
"""A weak reference: what is gone is not at anything."""

_SPEAKING_FOR: ContextVar[Owner | None] = ContextVar("selfcorrect_ledger_owner", default=None)


def owner() -> Owner:
    """Whoever is asking: the task, or the thread if there is none."""
    given = _SPEAKING_FOR.get()
    task = _task()
    if task is not None:
        return weakref.ref(task)
    return given or weakref.ref(threading.current_thread())


def is_at_it(held: Owner, asking: Owner) -> bool:
    """Whether the owner may still be at what it began; whoever asks again has dropped it."""
    item = held()
    if item is None or item is asking():
        return False
    return not item.done() if isinstance(item, asyncio.Task) else item.is_alive()


@contextmanager
def speaking_for_task() -> Iterator[None]:
    """What is asked in another thread meanwhile is asked by this task."""
    task = _task()
    token = _SPEAKING_FOR.set(weakref.ref(task) if task is not None else None)
    try:
        yield
    finally:
        _SPEAKING_FOR.reset(token)


def _task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
