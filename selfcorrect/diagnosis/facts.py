"""Reads what an exception carries as structure: its classes, status, code and wait."""

import builtins
import dis
import errno
import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from selfcorrect.diagnosis.parameters import Places, mask, places_of
from selfcorrect.effects.failure import (
    BUGS,
    JSON_RPC,
    TIMEOUT_FIELDS,
    chain,
    field_of,
    frame_home,
    origin_of,
    protocol_code,
    status_of,
    statuses_of,
)
from selfcorrect.errors import ToolReportedError
from selfcorrect.model import JSON, Finding, JsonObject
from selfcorrect.text import release, text_of

MAX_TEXT = 64_000
BUG = "ToolBug"
"""The code of an error that is the tool's own fault."""
_CODE_FIELDS = ("error_code", "code", "sqlite_errorname", "validator")


def finding_of(error: BaseException) -> Finding:
    """Return what an exception shows, its causes included; secrets are cut out of its text."""
    layers = list(chain(error))
    names = dict.fromkeys(name for layer in layers for name in _class_names(type(layer)))
    # A wrapper often carries less than its cause: the first layer that has something speaks.
    status = _first(layers, _status_of)
    finding: Finding = {
        "text": release(_text_of(error), MAX_TEXT),
        "types": list(names),
        "status": status,
        "code": _first(layers, _code_of),
        "paths": [],
        "constraint": {},
        "retry_after": _first(layers, _wait_of),
    }
    # A program's exit code has no such field: it comes from a log, where a number may be either.
    if isinstance(status, int) and status < 400:
        finding["is_success"] = True
    return finding


def _text_of(error: BaseException) -> str:
    """Return what an exception says, and behind it the body of the answer that it carries."""
    text = text_of(error) or type(error).__name__
    response = field_of(error, "response")
    # Reading a body that is not there yet would wait for the network.
    if response is None or field_of(response, "_content_consumed") is False:
        return text
    body = field_of(response, "text")
    if not isinstance(body, str) or not body.strip() or body in text:
        return text
    return f"{text}\n{body}"


def reported_error(value: JSON, text: str) -> ToolReportedError:
    """Return the exception that an error value stands for, so that one reader reads both."""
    if not isinstance(value, Mapping):
        return ToolReportedError(text)
    error = value.get("error")
    parts = [error, value] if isinstance(error, Mapping) else [value]
    details = [item for part in parts for item in part.values() if isinstance(item, list | dict)]
    if any(item is not error and item is not value.get("content") for item in details):
        # The details name the argument that is meant.
        text = f"{text}\n{json.dumps(dict(parts[0]), ensure_ascii=False, default=str)}"
    statuses = [status for part in parts for status in statuses_of(part) if status >= 400]
    return ToolReportedError(
        text,
        # Of two statuses the one that leaves more in doubt counts.
        status_code=max(statuses, default=None, key=lambda status: status >= 500),
        code=_first(_fields(parts, "code", "error_code", "errorCode", "type"), _code_in),
        retry_after=_first(
            _fields(parts, "retry_after", "retryAfter", "retry_after_seconds"), seconds_of
        ),
        timed_out=any(part.get(name) is True for part in parts for name in TIMEOUT_FIELDS),
        is_refusal=value.get("isError") is True,
    )


def _fields(parts: list[JsonObject], *names: str) -> list[JSON]:
    return [part.get(name) for part in parts for name in names]


def _code_in(value: JSON) -> str | None:
    if isinstance(value, str) and 0 < len(value) <= 200 and " " not in value:
        return value
    return None


def recorded_finding(
    text: str,
    exception: str | None = None,
    status: int | str | None = None,
    code: str | None = None,
) -> Finding:
    """Return what a log or another process shows of an error."""
    if not isinstance(status, int | str | None):  # a log may hold anything
        raise TypeError(f"a status is a number or a text, not {status!r:.80}")
    types = [exception] if exception else []
    builtin = getattr(builtins, (exception or "").rpartition(".")[2], None)
    if isinstance(builtin, type) and issubclass(builtin, BaseException):
        types += _class_names(builtin)
    if isinstance(status, str) and status.lstrip("-").isdecimal() and len(status) < 5:
        status = int(status)
    return {
        "text": text,
        "types": list(dict.fromkeys(types)),
        "status": status,
        "code": code,
    }


def _first(sources: Iterable[Any], read: Callable[[Any], Any]) -> Any:
    return next((fact for fact in map(read, sources) if fact is not None), None)


def _class_names(kind: type) -> list[str]:
    skipped = (object, BaseException, Exception)
    return [
        f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__ if base not in skipped
    ]


def _status_of(error: BaseException) -> int | str | None:
    """Return the HTTP status, the SQLSTATE, or the name of a gRPC code."""
    return status_of(error) or protocol_code(error)


def _code_of(error: BaseException) -> str | None:
    values = [field_of(error, name) for name in _CODE_FIELDS]
    values.append(field_of(field_of(field_of(error, "response"), "Error"), "Code"))
    number = field_of(field_of(error, "error"), "code")
    if isinstance(number, int) and -abs(number) in JSON_RPC:
        values.append(str(number))
    if isinstance(error, OSError) and type(error).__module__ == "builtins":
        # Elsewhere a number of the same name counts something else.
        values.append(errno.errorcode.get(error.errno or 0))
    return next((code for code in values if isinstance(code, str) and 0 < len(code) <= 200), None)


def _wait_of(error: BaseException) -> float | None:
    value = field_of(error, "retry_after")
    if value is None:
        headers = field_of(field_of(error, "response"), "headers")
        value = field_of(headers, "retry-after") or field_of(headers, "Retry-After")
        if (milliseconds := seconds_of(field_of(headers, "retry-after-ms"))) is not None:
            return milliseconds / 1000
    return None if value is None else seconds_of(value)


def seconds_of(value: Any) -> float | None:
    """Read `Retry-After` (RFC 9110 §10.2.3): seconds, or an HTTP date.

    >>> seconds_of("120"), seconds_of("soon")
    (120.0, None)
    """
    try:
        seconds = _seconds_in(value)
    except Exception:  # a foreign object may raise anything, and a date may be too far off
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _seconds_in(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        at = parsedate_to_datetime(str(value))
        left = at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)
        return max(0.0, left.total_seconds())


# --- whose fault ---


def is_bug(error: Exception, home: str, args: JSON, schema: JsonObject) -> bool:
    """Say whether an error is a fault of the tool's code, and not of the call's arguments.

    An author refuses by a `raise` in the tool's own code. What the interpreter or a library raises
    beneath it is a bug, unless it speaks of the call: `KeyError('ann')` for `{"customer": "ann"}`.

    Args:
        error: What left the tool.
        home: The top-level package of the tool's own code.
        args: The arguments of the call.
        schema: Their schema.
    """
    trace = origin_of(error)
    kind = type(error)
    if kind.__name__ not in BUGS or kind.__module__ not in _STANDARD:
        return False
    if trace is None or frame_home(trace) == _HOME:
        return False
    code = trace.tb_frame.f_code.co_code
    is_statement = code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]
    is_assert = isinstance(error, AssertionError)
    if is_statement and not is_assert and frame_home(trace) == home:
        return False
    is_sentence = is_statement and not isinstance(error, KeyError)
    return not _speaks_of(error, places_of(args, schema), is_sentence=is_sentence)


_HOME = __name__.partition(".")[0]
_STANDARD = ("builtins", "json.decoder")


def _speaks_of(error: Exception, places: Places, *, is_sentence: bool) -> bool:
    """Say whether an error repeats a value of the call or names an argument.

    Args:
        error: The error.
        places: The arguments of the call and of its schema.
        is_sentence: Whether somebody wrote its text; the interpreter names what the code is
            about, and so only an argument that the call lacks counts.
    """
    objects = (field_of(error, name) for name in ("doc", "filename", "object"))
    text = str(next((value for value in objects if value is not None), error))
    masked = mask(text, places)
    if text in map(str, places.values.values()) or masked.quoted or masked.bare:
        return True
    paths = (path for word in _WORDS.findall(masked.text) for path in places.named(word))
    return any(is_sentence or path not in places.values for path in paths)


_WORDS = re.compile(r"[\w.-]+")
