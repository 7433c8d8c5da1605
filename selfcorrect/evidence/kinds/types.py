"""Exception classes to kind, by dotted name; never imported."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from selfcorrect.model import ErrorKind

_K = ErrorKind

TYPES: Final = MappingProxyType(
    {
        "asyncio.exceptions.CancelledError": _K.CANCELLED,
        "concurrent.futures._base.CancelledError": _K.CANCELLED,
        "KeyboardInterrupt": _K.CANCELLED,
        "TimeoutError": _K.TIMEOUT,
        "subprocess.TimeoutExpired": _K.TIMEOUT,
        "ssl.SSLCertVerificationError": _K.PERMANENT,
        "ssl.SSLError": _K.TRANSIENT,
        "ConnectionError": _K.TRANSIENT,
        "socket.gaierror": _K.TRANSIENT,
        "socket.herror": _K.TRANSIENT,
        "java.net.UnknownHostException": _K.TRANSIENT,
        "BlockingIOError": _K.TRANSIENT,
        "InterruptedError": _K.TRANSIENT,
        "PermissionError": _K.AUTH,
        "FileNotFoundError": _K.NOT_FOUND,
        "ProcessLookupError": _K.NOT_FOUND,
        "FileExistsError": _K.CONFLICT,
        "IsADirectoryError": _K.VALIDATION,
        "NotADirectoryError": _K.VALIDATION,
        "MemoryError": _K.QUOTA,
        "redis.exceptions.ResponseError": _K.VALIDATION,
        "redis.exceptions.DataError": _K.VALIDATION,
        "NotImplementedError": _K.PERMANENT,
        "ImportError": _K.PERMANENT,
        "SyntaxError": _K.VALIDATION,
        "OverflowError": _K.VALIDATION,
        "ValueError": _K.VALIDATION,
        # A bare LookupError is raised on purpose; its children are as often a tool's own bug.
        "KeyError": _K.INTERNAL,
        "IndexError": _K.INTERNAL,
        "LookupError": _K.NOT_FOUND,
        # TypeError, AttributeError, ZeroDivisionError … are bugs until a text says more.
        "InvalidArgs": _K.VALIDATION,
        "MalformedCall": _K.VALIDATION,
        "UnknownTool": _K.NOT_FOUND,
        "pydantic_core._pydantic_core.ValidationError": _K.VALIDATION,
        "sqlite3.IntegrityError": _K.VALIDATION,
        "sqlite3.OperationalError": _K.VALIDATION,
        "httpx.ConnectError": _K.TRANSIENT,
        "httpx.NetworkError": _K.TRANSIENT,
        "httpx.RemoteProtocolError": _K.TRANSIENT,
        "httpx.TimeoutException": _K.TIMEOUT,
        "httpx.UnsupportedProtocol": _K.VALIDATION,
        "httpx.InvalidURL": _K.VALIDATION,
        "requests.exceptions.Timeout": _K.TIMEOUT,
        "requests.exceptions.ConnectionError": _K.TRANSIENT,
        "requests.exceptions.ChunkedEncodingError": _K.TRANSIENT,
        "aiohttp.client_exceptions.ClientConnectorCertificateError": _K.PERMANENT,
        "aiohttp.client_exceptions.ClientConnectionError": _K.TRANSIENT,
        "aiohttp.client_exceptions.ClientPayloadError": _K.TRANSIENT,
    }
)
"""Exception classes by dotted name, looked up over the MRO, most specific first; never imported."""
