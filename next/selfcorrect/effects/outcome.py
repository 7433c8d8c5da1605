"""What one execution did. Structure decides; no word of an error's text is evidence.

| outcome    | known by                                                                    |
|------------|-----------------------------------------------------------------------------|
| `done`     | a value that is no error, with its receipt where the tool declares one      |
| `not_done` | `NotDone`; a refusal of an atomic tool; the tool's `verify`; a person       |
| `refused`  | a status 4xx; an exception that is no fault of programming and no           |
|            | transport's; an error that came as a value                                  |
| `lost`     | everything else: a timeout, a connection, 408, 499, any status but 4xx, a   |
|            | missing receipt, a fault of programming, a cancellation, more causes than   |
|            | are looked at                                                               |
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from selfcorrect.errors import NotDone


class Outcome(StrEnum):
    """What is known of what an execution did."""

    DONE = "done"
    NOT_DONE = "not_done"
    REFUSED = "refused"
    LOST = "lost"


def outcome_of(error: BaseException, *, atomic: bool) -> Outcome:
    """Say what an execution did that raised.

    Args:
        error: What left the tool.
        atomic: Whether the tool takes one step, so that what it refused it did not do.
    """
    if isinstance(error, NotDone):
        return Outcome.NOT_DONE
    layers = list(chain(error))
    if not isinstance(error, Exception) or len(layers) >= _MOST_LAYERS:
        return Outcome.LOST
    if any(map(_is_lost, layers)):
        return Outcome.LOST
    unclear = any(not _UNCLEAR.isdisjoint(statuses_of(each)) for each in layers)
    return Outcome.NOT_DONE if atomic and not unclear else Outcome.REFUSED


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, what it is a group of, and what led to it; at most `_MOST_LAYERS`."""
    found, seen = [error], {id(error)}
    for at in range(_MOST_LAYERS):
        if at == len(found):
            return
        current = found[at]
        yield current
        inner = current.exceptions if isinstance(current, BaseExceptionGroup) else ()
        cause = field_of(current, "__cause__")
        if cause is None and not field_of(current, "__suppress_context__"):
            cause = field_of(current, "__context__")
        for each in (*inner, cause):
            if isinstance(each, BaseException) and id(each) not in seen:
                seen.add(id(each))
                found.append(each)


_MOST_LAYERS: Final = 16


def status_of(error: object) -> int | None:
    """Return the first HTTP status that an exception carries, or None."""
    return next(statuses_of(error), None)


def statuses_of(error: object) -> Iterator[int]:
    """Yield the HTTP status of an exception and of each part of it that has one.

    A code of JSON-RPC, as clients of MCP raise it, counts as the status that says the same.
    """
    response = field_of(error, "response")
    yield from filter(None, map(_status_in, (error, response, field_of(error, "error"))))
    for holder, name in ((error, "resp"), (response, "error"), (response, "ResponseMetadata")):
        if (status := _status_in(field_of(holder, name))) is not None:
            yield status


def _status_in(holder: object) -> int | None:
    for name in _STATUS_FIELDS:
        value = _whole_number(field_of(holder, name))
        # A status below 100 is an exit code or a count; so may be a mere code that is no error's.
        if value is not None and (400 if name == "code" else 100) <= value < 600:
            return value
        if value is not None and value in _JSON_RPC:
            return _REFUSED_REQUESTS.get(value, 500)
    return None


def _whole_number(value: Any) -> int | None:
    """Read a number as clients give it: an `HTTPStatus`, 502.0, "502", "502 Bad Gateway"."""
    try:
        if isinstance(value, str):
            return int(value.split()[0]) if _STATUS_TEXT.match(value) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return int(value) if is_number else None
    except Exception:  # a class of numbers may raise anything
        return None


def field_of(holder: object, name: str) -> Any:
    """Return a field or a key of a foreign object, or None where none can be read."""
    try:
        found = getattr(holder, name, None)
        if found is None and hasattr(type(holder), "get"):
            found = holder.get(name)  # type: ignore[attr-defined]
    except BaseException:  # a property may raise anything
        return None
    return found


_STATUS_FIELDS: Final = (
    "status_code",
    "status",
    "http_status",
    "statusCode",
    "HTTPStatusCode",
    "code",
)
_STATUS_TEXT: Final = re.compile(r"\s*\d{3}(?:\s|$)", re.ASCII)

_JSON_RPC: Final = range(-32768, -31999)
"""The reserved codes; most of them leave open whether the request was carried out."""
_REFUSED_REQUESTS: Final = {-32700: 400, -32600: 400, -32601: 404, -32602: 422, -32002: 404}
_NO_ANSWER: Final = frozenset({408, 499})
_UNCLEAR: Final = frozenset({409, 412, 424})
"""Statuses that may speak of an equal request before, or of a part of this one."""

_PROGRAMMING: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    MemoryError,
    NameError,
    NotImplementedError,
    RecursionError,
    ReferenceError,
    SyntaxError,
    SystemError,
    TypeError,
    UnicodeError,
)
_FILES: Final = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)
"""Errors of the operating system that answer; any other may be a connection that broke."""
_NO_ANSWER_NAMES: Final = (
    "Timeout",
    "TimeoutError",
    "TimeoutException",
    "TimeoutExpired",
    "BrokenExecutor",
    "ConnectError",
    "ConnectionError",
    "ConnectionClosed",
    "JSONDecodeError",
    "PayloadError",
    "RpcError",
    "NetworkError",
    "TransportError",
    "ProtocolError",
    "IncompleteRead",
    "Unavailable",
    "OperationalError",
    "InterfaceError",
    "BrokenResourceError",
    "ClosedResourceError",
)
"""How the classes end that clients raise where no answer came."""


def _is_lost(error: BaseException) -> bool:
    # A status is an answer, so it says more than the class that carries it.
    # One below 400 comes from a request that was taken, and of what followed nothing is known.
    if statuses := list(statuses_of(error)):
        return any(not 400 <= each < 500 or each in _NO_ANSWER for each in statuses)
    if isinstance(error, OSError):
        return not isinstance(error, _FILES)
    if not isinstance(error, Exception) or isinstance(error, _PROGRAMMING):
        return True
    return any(base.__name__.endswith(_NO_ANSWER_NAMES) for base in type(error).__mro__)
