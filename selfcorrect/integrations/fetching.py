"""What a provider answered last, where a framework's own response leaves out how it ended."""

from __future__ import annotations

from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any, Final

_LAST: Final = ContextVar[Any]("last", default=None)


def keep(wrapped: Any, name: str) -> None:
    """Keep what the method of this name answers for whoever asks in the same context."""
    fetch = getattr(wrapped, name, None)
    if fetch is None:
        return

    async def fetched(*args: Any, **kwargs: Any) -> Any:
        response = await fetch(*args, **kwargs)
        _LAST.set(response)
        return response

    setattr(wrapped, name, fetched)


async def with_last(answer: Awaitable[Any]) -> tuple[Any, Any]:
    """What is awaited, and what was kept meanwhile; None if nothing was."""
    _LAST.set(None)
    return await answer, _LAST.get()
