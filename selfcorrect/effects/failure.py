"""What an execution did that raised: the layers of its error, their statuses and codes."""

import builtins
import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from selfcorrect.effects import Outcome
from selfcorrect.errors import Escalation, HardFailure, NotDone, ToolReportedError
from selfcorrect.lazy import load_table
from selfcorrect.model import Escalate, Terminal

_TABLE = load_table("effects/failure.toml")


def outcome_of(
    error: BaseException, *, atomic: bool, declared: bool = False, home: str = ""
) -> Outcome:
    """Say what an execution did that raised.

    Args:
        error: What left the tool.
        atomic: Whether the tool takes one step, so that what it refused it did not do.
        declared: Whether the tool is declared to act; then what is not known to be a refusal is
            lost.
        home: The top-level package of the tool's own code.
    """
    root = root_of(error)
    if isinstance(root, NotDone):
        return Outcome.NOT_DONE
    layers = list(chain(error, hidden=True))
    if not isinstance(error, Exception) or len(layers) >= _MOST_LAYERS:
        return Outcome.LOST
    if any(map(_is_lost, layers)):
        return Outcome.LOST
    if declared and not all(_is_refusal(layer, home, root) for layer in layers):
        return Outcome.LOST
    unclear = any(not _UNCLEAR.isdisjoint(statuses_of(layer)) for layer in layers)
    return Outcome.NOT_DONE if atomic and not unclear else Outcome.REFUSED


def ending_of(error: BaseException) -> Escalate | Terminal | None:
    """Return how an exception of a tool or a fixer ends the run at once, or None."""
    root = root_of(error)
    if not isinstance(root, Escalation | HardFailure):
        return None
    reason = str(root).strip() or "no reason was given"
    return Escalate(reason, root.severity) if isinstance(root, Escalation) else Terminal(reason)


def root_of(error: BaseException) -> BaseException:
    """Return the error that another handler's message was made of."""
    return (error.__cause__ if isinstance(error, ToolReportedError) else None) or error


def outcome_of_exit(error: BaseException) -> Outcome:
    """Say what a call did that something else than an error ended."""
    if not is_interrupt(error):
        return Outcome.LOST
    # LangGraph runs what was interrupted again from its top, but a command is a tool's answer.
    return Outcome.DONE if "ParentCommand" in _class_names(error) else Outcome.NOT_DONE


def is_interrupt(error: BaseException) -> bool:
    """Say whether LangGraph's control flow passes through: the tool did not fail."""
    return "GraphBubbleUp" in _class_names(error)


def _class_names(error: BaseException) -> list[str]:
    return [base.__name__ for base in type(error).__mro__]


def chain(error: BaseException, *, hidden: bool = False) -> Iterator[BaseException]:
    """Yield an exception, what it is a group of, and what led to it; at most `_MOST_LAYERS`.

    With `hidden` also what `from None` hides: a plain sentence over a timeout is still a timeout.
    """
    layers = [error]
    # The list grows while it is read.
    for current in layers:
        yield current
        inner = current.exceptions if isinstance(current, BaseExceptionGroup) else ()
        cause = field_of(current, "__cause__")
        if cause is None and (hidden or not field_of(current, "__suppress_context__")):
            cause = field_of(current, "__context__")
        for origin in (*inner, cause):
            if len(layers) == _MOST_LAYERS:
                break
            if isinstance(origin, BaseException) and all(origin is not layer for layer in layers):
                layers.append(origin)


_MOST_LAYERS = 16


def status_of(error: object) -> int | None:
    """Return the first HTTP status that an exception carries, or None."""
    return next(statuses_of(error), None)


def statuses_of(error: object) -> Iterator[int]:
    """Yield the HTTP status of an exception and of each part of it that has one.

    A code of JSON-RPC, as clients of MCP raise it, counts as the status that says the same.
    """
    response = field_of(error, "response")
    parts = ((error, "error"), (error, "resp"), (response, "error"), (response, "ResponseMetadata"))
    holders = (error, response, *(field_of(holder, name) for holder, name in parts))
    yield from filter(None, map(_status_in, holders))


def protocol_code(error: object) -> str | None:
    """Return the SQLSTATE of an exception, or the name of its gRPC code."""
    for name in ("sqlstate", "pgcode"):
        if isinstance(value := field_of(error, name), str) and len(value) == 5:
            return value
    code = field_of(error, "code")
    try:
        word = field_of(code(), "name") if callable(code) else None
    except Exception:
        return None
    return word if isinstance(word, str) else None


def _status_in(holder: object) -> int | None:
    for name in _TABLE["status_fields"]:
        value = _whole_number(field_of(holder, name))
        # A number below 100 is an exit code or a count, and so may be a `code` below 400.
        if value is not None and (400 if name == "code" else 100) <= value < 600:
            return value
        # One client writes the code of a session that has ended without its sign.
        if value is not None and -abs(value) in JSON_RPC:
            return _REFUSED_REQUESTS.get(-abs(value), 500)
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
        value = getattr(holder, name, None)
        if value is None and hasattr(type(holder), "get"):
            value = holder.get(name)  # type: ignore[attr-defined]
    except BaseException:  # a property may raise anything
        return None
    return value


_STATUS_TEXT = re.compile(r"\s*\d{3}(?:\s|$)", re.ASCII)

JSON_RPC = range(-32768, -31999)
"""The reserved codes; most of them leave open whether the request was carried out."""
_REFUSED_REQUESTS: dict[int, int] = dict(_TABLE["refused_requests"])
_NO_ANSWER = frozenset({408, 499})
_UNCLEAR = frozenset({409, 412, 424})
"""Statuses that may speak of an equal request before, or of a part of this one."""


_PROGRAMMING, _FILES = (
    tuple(getattr(builtins, name) for name in _TABLE[key]) for key in ("programming", "files")
)
"""Builtin classes; any other error of the system than `_FILES` may be a lost connection."""
BUGS: list[str] = _TABLE["bugs"]
TIMEOUT_FIELDS: list[str] = _TABLE["timeout_fields"]
CONNECTIONS = tuple(_TABLE["connections"])
"""How the classes end that clients raise where a connection failed."""
_NO_ANSWER_NAMES = (*CONNECTIONS, *_TABLE["no_answer"])


def _is_lost(error: BaseException) -> bool:
    # A status is an answer, so it says more than the class that carries it.
    # One below 400 comes from a request that was taken, and of what followed nothing is known.
    if statuses := list(statuses_of(error)):
        return any(not 400 <= status < 500 or status in _NO_ANSWER for status in statuses)
    if any(field_of(error, name) is True for name in TIMEOUT_FIELDS):
        return True
    if _refuses_by_code(error):
        return False
    if isinstance(error, OSError):
        return not isinstance(error, _FILES)
    if not isinstance(error, Exception) or isinstance(error, _PROGRAMMING):
        return True
    return any(base.__name__.endswith(_NO_ANSWER_NAMES) for base in type(error).__mro__)


def _refuses_by_code(error: BaseException) -> bool:
    code = protocol_code(error) or ""
    return code in _TABLE["refused_grpc"] or (len(code) == 5 and code[:2] in _TABLE["refused_sql"])


def _is_refusal(layer: BaseException, home: str, error: BaseException) -> bool:
    """Say whether a layer of an error, none of which is lost, shows that the tool refused."""
    if next(statuses_of(layer), None) is not None or _refuses_by_code(layer):
        return True
    if isinstance(layer, ToolReportedError) and layer.__cause__ is not None:
        return True
    kind = type(layer)
    if field_of(layer, "is_refusal") is True or any(
        base.__name__ in _TABLE["refused_names"] for base in kind.__mro__
    ):
        return True
    if kind.__module__ != builtins.__name__:
        # What comes out of another package may have come from its connection.
        return kind.__module__.partition(".")[0] == home
    if layer is not error:
        return True
    is_slip = isinstance(layer, KeyError | IndexError | OSError)
    trace = origin_of(layer)
    return not is_slip and trace is not None and frame_home(trace) == home


def origin_of(error: BaseException) -> TracebackType | None:
    """Return where an error was raised: the innermost entry of its traceback."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return trace


def frame_home(trace: TracebackType) -> str:
    """Return the top-level package of the code of an entry of a traceback."""
    return str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
