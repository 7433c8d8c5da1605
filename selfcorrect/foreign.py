"""Reads what other people's objects say of themselves: their text, properties, bodies.

Code of theirs runs while it is read. It may block, raise anything, `SystemExit` too, or return what
it should not. So it runs in a helper thread, for a bounded time. What cannot be read is said to be.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

SECONDS: Final = 1.0
"""How long one waits for what an object says."""

_MOST_LATE: Final = 64
_FREE: Final = threading.BoundedSemaphore(_MOST_LATE)
_PLAIN: Final = frozenset({str, int, float, bool, bytes, type(None)})


def told(read: Callable[[], T], otherwise: T, seconds: float = SECONDS) -> T:
    """What `read` returns, or `otherwise` if it raises anything or does not end in time.

    A thread cannot be stopped: one that is late is left behind. Where too many are, nothing is read
    until some of them end.
    """
    if not _FREE.acquire(blocking=False):
        return otherwise
    found: list[T] = []

    def run() -> None:
        try:
            found.append(read())
        except BaseException:  # noqa: S110 -- whatever it is, it says nothing
            pass
        finally:
            _FREE.release()

    thread = threading.Thread(target=run, name="selfcorrect reading", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # there can be no more threads
        _FREE.release()
        return otherwise
    thread.join(seconds)
    return found[0] if found else otherwise


def is_plain(error: BaseException) -> bool:
    """Whether an exception runs nobody's code while it is read: built in, with plain arguments."""
    kind = type(error)
    return (
        getattr(builtins, kind.__name__, None) is kind
        and not isinstance(error, BaseExceptionGroup)
        and not error.__dict__
        and error.__cause__ is None
        and all(type(item) in _PLAIN for item in error.args)
    )


def causes(error: BaseException) -> tuple[BaseException | None, BaseException | None]:
    """What an exception was raised from, and during; a property of its class is not asked."""
    return _CAUSE.__get__(error), _CONTEXT.__get__(error)


_CAUSE: Final[Any] = BaseException.__dict__["__cause__"]
_CONTEXT: Final[Any] = BaseException.__dict__["__context__"]


def text_of(value: Any) -> str | None:
    """The text of a value, or None if it cannot be read.

    >>> text_of(ValueError("no seat")), text_of(12)
    ('no seat', '12')
    """
    kind: Any = type(value)
    if kind in _PLAIN or (isinstance(value, BaseException) and is_plain(value)):
        return str(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        plain: str = object.__repr__(value)
        return plain
    return told(lambda: str.__str__(str(value)), None)


def unreadable(value: Any) -> str:
    """What stands for a text that cannot be read.

    >>> unreadable(ValueError())
    '<ValueError: its text cannot be read>'
    """
    return f"<{type(value).__name__}: its text cannot be read>"
