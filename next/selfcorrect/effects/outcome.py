"""What one execution did. Structure decides; no word of an error's text is evidence.

| outcome    | known by                                                                    |
|------------|-----------------------------------------------------------------------------|
| `done`     | a value that is no error, with its receipt where the tool declares one      |
| `not_done` | `NotDone`; a refusal of an atomic tool; the tool's `verify`; a person       |
| `refused`  | a status 4xx; an exception that is no fault of programming and no           |
|            | transport's; an error that came as a value                                  |
| `lost`     | everything else: a timeout, a connection, 408, 499, 5xx, a missing receipt, |
|            | a fault of programming, a cancellation                                      |
"""

from collections.abc import Iterator, Mapping
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
    if not isinstance(error, Exception) or any(map(_is_lost, layers)):
        return Outcome.LOST
    unclear = any(status_of(each) in _UNCLEAR for each in layers)
    return Outcome.NOT_DONE if atomic and not unclear else Outcome.REFUSED


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, what it is a group of, and what led to it; at most 16."""
    todo: list[BaseException | None] = [error]
    for _ in range(16):
        current = todo.pop(0) if todo else None
        if current is None:
            return
        yield current
        if isinstance(current, BaseExceptionGroup):
            todo += current.exceptions
        hidden = current.__suppress_context__
        todo.append(current.__cause__ or (None if hidden else current.__context__))
        todo = [each for each in todo if each is not None]


def status_of(error: object) -> int | None:
    """Return the HTTP status that an exception or its response carries as a field, or None.

    A code of JSON-RPC, as clients of MCP raise it, counts as the status that says the same.
    """
    for holder in (error, field_of(error, "response"), field_of(error, "error")):
        for name in ("status_code", "status", "code"):
            value = field_of(holder, name)
            if isinstance(value, str) and value.isdecimal() and len(value) == 3:
                value = int(value)
            # A status below 100 is an exit code or a count.
            if type(value) is int and 100 <= value < 600:
                return value
            if type(value) is int and value in _JSON_RPC:
                return _REFUSED_REQUESTS.get(value, 500)
    inner = part_of(field_of(error, "response"), "ResponseMetadata").get("HTTPStatusCode")
    return inner if type(inner) is int else None


def part_of(answer: Any, name: str) -> Mapping[str, Any]:
    """Return a part of an answer that is a dict, as the clients of AWS keep it."""
    inner = answer.get(name) if isinstance(answer, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def field_of(holder: object, name: str) -> Any:
    """Return a field of a foreign object, or None where there is none that can be read."""
    try:
        return getattr(holder, name, None)
    except BaseException:  # a property may raise anything
        return None


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
    if (status := status_of(error)) is not None:
        return status >= 500 or status in _NO_ANSWER
    if isinstance(error, OSError):
        return not isinstance(error, _FILES)
    if not isinstance(error, Exception) or isinstance(error, _PROGRAMMING):
        return True
    return any(base.__name__.endswith(_NO_ANSWER_NAMES) for base in type(error).__mro__)
