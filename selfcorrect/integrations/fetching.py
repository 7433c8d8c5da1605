"""What a provider answered, where a framework's own response leaves out how it ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any, Final

_FOUND: Final = ContextVar[list[Any]]("found")


def keep(wrapped: Any, name: str) -> None:
    """Keep what the method of this name answers for whoever asks in the same context."""
    fetch = getattr(wrapped, name, None)
    if fetch is None:
        return

    async def kept(*args: Any, **kwargs: Any) -> Any:
        response, found = await fetch(*args, **kwargs), _FOUND.get([])
        found[:] = [response]
        # A stream of chat completions tells at its end how it ended.
        return (response[0], _Watched(response[1], found)) if type(response) is tuple else response

    setattr(wrapped, name, kept)


def fetched() -> list[Any]:
    """A list that will have what is fetched next in this context: an answer, or its pieces."""
    found = list[Any]()
    _FOUND.set(found)
    return found


class _Watched:
    """A stream whose pieces are kept as they pass."""

    def __init__(self, stream: Any, found: list[Any]) -> None:
        self._stream, self._found = stream, found

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for each in self._stream:
            self._found.append(each)
            yield each

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
