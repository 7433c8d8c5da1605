"""Read what an exception carries: class names, text, status, code, headers, body, causes.

A tool's exception is hostile input: properties may raise, `__str__` may return 10 MB or nothing,
causes may form a ring. Nothing here raises, and every list is bounded. What is read in bounded time
is read through `foreign.told`.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from selfcorrect.foreign import is_plain, told, unreadable

DEPTH: Final = 6
"""How deep causes and groups are followed."""

SPREAD: Final = 20
"""How many exceptions are read in all."""

WINDOW: Final = 32 * 1024

_OWN_NUMBERS: Final = frozenset({"ssl.SSLError", "socket.gaierror", "socket.herror"})
_WRAPPERS: Final = ("ToolException", "ToolInvocationError", "ToolError", "ToolExecutionError")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one exception says of itself."""

    error: BaseException
    types: tuple[str, ...]
    text: str
    status: int | str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    parsed: str | None = None
    """The text that a parser refused, where the exception carries it."""


def facts(error: BaseException) -> Facts:
    """What an exception says of itself, without its causes. Never raises."""
    response = get(error, "response")
    return Facts(
        error=error,
        types=type_names(error),
        text=text_of(error),
        status=_status(error, response),
        code=_exact(_code(error, response)),
        headers=_headers(error, response),
        body=_exact(_body(error, response)),
        parsed=_exact(doc) if isinstance(doc := get(error, "doc"), str) else None,
    )


def heard(error: BaseException) -> Facts:
    """The same, in bounded time; its class alone where it cannot be read."""
    unread = Facts(error, type_names(error), unreadable(error))
    return facts(error) if is_plain(error) else told(lambda: facts(error), unread)


def _exact(text: str | None) -> str | None:
    """The text as a plain `str`: a subclass may do anything wherever it is used."""
    return None if text is None else str.__str__(text)


def chain(error: BaseException) -> tuple[BaseException, ...]:
    """The exception, then what it wraps: group members, explicit causes, contexts of wrappers.

    At most `SPREAD` exceptions, each once, at most `DEPTH` deep.
    """
    found: list[BaseException] = []
    seen: set[int] = set()
    queue: list[tuple[BaseException, int]] = [(error, 0)]
    while queue and len(found) < SPREAD:
        item, depth = queue.pop(0)
        if id(item) in seen:
            continue
        seen.add(id(item))
        found.append(item)
        if depth < DEPTH:
            queue.extend((inner, depth + 1) for inner in _wrapped(item))
    return tuple(found)


def type_names(error: BaseException) -> tuple[str, ...]:
    """Dotted class names over the MRO, most specific first; builtins without their module."""
    names = []
    for cls in type(error).__mro__:
        if cls in (object, BaseException):
            continue
        module = cls.__module__ if isinstance(cls.__module__, str) else ""
        name = cls.__qualname__.replace("<locals>.", "")
        names.append(name if module in ("builtins", "") else f"{module}.{name}")
    return tuple(names[:20]) or (type(error).__name__,)


def text_of(error: BaseException) -> str:
    """The exception's own words, at most the first and last 32 kB; else its class name."""
    text: Any = None
    with contextlib.suppress(BaseException):
        text = str.__str__(str(error))
    if text is None:
        return unreadable(error)
    if not text.strip():
        text = ""
        with contextlib.suppress(BaseException):
            text = ", ".join(str.__str__(arg) for arg in error.args[:5] if isinstance(arg, str))
    text = text if text.strip() else type(error).__name__
    return text if len(text) <= 2 * WINDOW else f"{text[:WINDOW]}\n…\n{text[-WINDOW:]}"


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        with contextlib.suppress(BaseException):
            yield from error.exceptions[:SPREAD]
    cause = get(error, "__cause__")
    if isinstance(cause, BaseException):
        yield cause
    elif type(error).__name__.endswith(_WRAPPERS):
        context = get(error, "__context__")
        if isinstance(context, BaseException):
            yield context
    for name in ("source", "original_exception", "orig", "reason", "last_attempt"):
        inner = get(error, name)
        if isinstance(inner, BaseException):
            yield inner
    for arg in _args(error)[:3]:
        if isinstance(arg, BaseException):
            yield arg


def get(value: Any, name: str) -> Any:
    """An attribute of somebody else's object; None where there is none or it raises."""
    try:
        return getattr(value, name, None)
    except BaseException:
        return None


def _args(error: BaseException) -> tuple[Any, ...]:
    args = get(error, "args")
    return args if isinstance(args, tuple) else ()


def _http(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
        return int(value)
    return None


def _status(error: BaseException, response: Any) -> int | str | None:
    for name in ("sqlstate", "pgcode"):
        value = get(error, name)
        if isinstance(value, str) and 0 < len(value) <= 10:
            return str.__str__(value)
    if any(cls.__name__ == "RpcError" for cls in type(error).__mro__):
        return _grpc(error)
    candidates = [
        get(error, "status_code"),
        get(error, "status"),
        get(error, "http_status"),
        get(response, "status_code"),
        get(response, "status"),
        get(error, "code"),
    ]
    meta = response.get("ResponseMetadata") if isinstance(response, dict) else None
    if isinstance(meta, dict):
        candidates.append(meta.get("HTTPStatusCode"))
    found = next((status for status in map(_http, candidates) if status is not None), None)
    if found is not None:
        return found
    returncode = get(error, "returncode")
    if isinstance(returncode, int) and not isinstance(returncode, bool):
        return returncode
    return None


def _grpc(error: BaseException) -> str | None:
    code = get(error, "code")
    with contextlib.suppress(BaseException):
        code = code() if callable(code) else code
    name = get(code, "name")
    return str.__str__(name) if isinstance(name, str) and len(name) <= 40 else None


def _code(error: BaseException, response: Any) -> str | None:
    for name in ("sqlite_errorname", "error_code", "code", "type_code"):
        value = get(error, name)
        if isinstance(value, str) and 0 < len(value) <= 120:
            return value
    inner = get(get(error, "error"), "code")
    if isinstance(inner, int) and not isinstance(inner, bool) and -32_999 <= inner <= -32_000:
        return str(inner)  # JSON-RPC 2.0, section 5.1: as an MCP client raises it
    if isinstance(response, dict) and isinstance(response.get("Error"), dict):
        value = response["Error"].get("Code")
        if isinstance(value, str):
            return value[:120]
    number = get(error, "errno")
    if isinstance(error, OSError) and isinstance(number, int) and not _has_own_numbers(error):
        return errno.errorcode.get(number)
    return None


def _has_own_numbers(error: OSError) -> bool:
    """Whether its `errno` is none: OpenSSL's and the resolver's numbers mean something else."""
    return any(f"{cls.__module__}.{cls.__name__}" in _OWN_NUMBERS for cls in type(error).__mro__)


def _headers(error: BaseException, response: Any) -> dict[str, str]:
    raw = get(response, "headers") or get(error, "headers")
    if isinstance(response, dict):
        meta = response.get("ResponseMetadata")
        raw = meta.get("HTTPHeaders") if isinstance(meta, dict) else None
    found: dict[str, str] = {}
    with contextlib.suppress(BaseException):
        for name, value in list(raw.items())[:100] if raw is not None else ():
            if isinstance(name, str) and isinstance(value, str | int | float):
                found[name.lower()] = str(value)[:200]
    return found


def _body(error: BaseException, response: Any) -> str | None:
    for found in (get(response, "text"), get(error, "body"), get(response, "content")):
        value = found[:WINDOW].decode("utf-8", "replace") if isinstance(found, bytes) else found
        if isinstance(value, str) and value.strip():
            return value if len(value) <= 2 * WINDOW else f"{value[:WINDOW]}\n{value[-WINDOW:]}"
        if isinstance(value, dict | list):
            import json

            with contextlib.suppress(BaseException):
                return json.dumps(value, default=str)[: 2 * WINDOW]
    return None
