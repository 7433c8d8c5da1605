"""Which host an error comes from, by what the exception carries; its text is not read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from selfcorrect.foreign import causes, told

_WHERE: Final = (
    ("request", "url"),  # httpx, requests
    ("request_info", "real_url"),  # aiohttp
    ("response", "url"),
    ("url",),  # urllib
    ("host",),  # aiohttp, where it could not connect
)
_DEEPEST: Final = 8
_LONGEST: Final = 253


def host_of(error: BaseException) -> str | None:
    """The host that an error of an HTTP client names, or None.

    >>> from urllib.error import HTTPError
    >>> host_of(HTTPError("https://API.example.com/v1", 503, "down", {}, None))
    'api.example.com'
    """
    hosts = (told(partial(_named, each), None) for each in _chain(error))
    return next(filter(None, hosts), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in seen and len(seen) < _DEEPEST:
        yield following
        seen.append(following)
        cause, context = causes(following)
        following = cause or context


def _named(error: BaseException) -> str | None:
    for path in _WHERE:
        value: Any = error
        for name in path:
            value = getattr(value, name, None) if value is not None else None
        if value is None or isinstance(value, bool | int | float):
            continue
        text = str(value)
        host = urlsplit(text).hostname if "://" in text else text if path == ("host",) else None
        if host and len(host) <= _LONGEST and host.isascii() and host.isprintable():
            return host.lower()
    return None
