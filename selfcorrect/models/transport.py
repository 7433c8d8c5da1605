"""Retries of the transport: a dropped connection or a busy server, below every other recovery."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from selfcorrect.models.held import held_call

STATUSES: Final = frozenset({408, 429, 500, 502, 503, 504})
ATTEMPTS: Final = 3
BACKOFF: Final = 0.25
LONGEST_WAIT: Final = 30.0
_CONNECTION: Final = frozenset(
    {"APIConnectionError", "ConnectError", "ReadError", "WriteError", "RemoteProtocolError"}
    | {"ConnectionError", "ClientConnectionError", "ClientPayloadError", "ChunkedEncodingError"}
    | {"gaierror", "herror", "SSLError", "EOFError", "IncompleteRead", "ProtocolError"}
)
_TIMEOUT: Final = frozenset({"APITimeoutError", "TimeoutException", "Timeout", "TimeoutError"})
_UNTRUSTED: Final = frozenset({"SSLCertVerificationError", "ClientConnectorCertificateError"})
_UNREACHABLE: Final = frozenset(
    {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.ENETRESET}
)
_WRAPPERS: Final = 8


def client_retries(model: Any) -> bool:
    """Whether the model's own client retries already; then nobody else should.

    >>> class Client:
    ...     max_retries = 2
    >>> client_retries(Client()), client_retries(object())
    (True, False)
    """
    for _ in range(_WRAPPERS):
        if hasattr(model, "max_retries"):
            return bool(model.max_retries != 0)
        model = getattr(model, "bound", None)
        if model is None:
            return False
    return False


def wait_before(error: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next attempt, or None where repeating does not help.

    Timeouts are not repeated: the timeout is the caller's whole budget.

    Args:
        error: What the call raised.
        attempt: The number of the attempt that failed, from 1.

    >>> wait_before(ConnectionResetError(), 1), wait_before(ConnectionResetError(), 2)
    (0.25, 0.5)
    >>> wait_before(TimeoutError(), 1), wait_before(ConnectionResetError(), 3)
    (None, None)
    """
    if attempt >= ATTEMPTS or not _is_transport(error) or held_call(error) is not None:
        return None
    wait = max(BACKOFF * 2.0 ** (attempt - 1), _retry_after(error))
    return wait if wait <= LONGEST_WAIT else None


def _is_transport(error: Exception) -> bool:
    """Whether a status says that it may pass, or the connection failed before there was one."""
    status = getattr(error, "status_code", None)
    if status is None:
        status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return status in STATUSES
    layers = _layers(error)
    names = {cls.__name__ for layer in layers for cls in type(layer).__mro__}
    if names & (_TIMEOUT | _UNTRUSTED):
        return False
    unreachable = any(getattr(layer, "errno", None) in _UNREACHABLE for layer in layers)
    return unreachable or bool(names & _CONNECTION)


def _layers(error: BaseException) -> list[BaseException]:
    """The exception and what it says that it wraps."""
    found = [error]
    for layer in found:
        for inner in (layer.__cause__, getattr(layer, "reason", None), *layer.args[:2]):
            known = any(inner is each for each in found)
            if isinstance(inner, BaseException) and not known and len(found) < _WRAPPERS:
                found.append(inner)
    return found


def _retry_after(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if isinstance(headers, Mapping) else None
    if not isinstance(value, str):
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return 0.0
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
