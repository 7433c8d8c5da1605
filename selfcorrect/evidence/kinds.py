"""Which kind of failure it is, from structured facts alone: codes, status, exception types.

Everything is data: `STATUS`, `CODES`, `SQLSTATES`, `TYPES`, `WORDS`. The order of trust is code, then
status, then type, then the words that codes and type names are made of. Nothing known is `internal`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from selfcorrect.model import Category, ErrorKind, Finding

_K = ErrorKind
_C = Category

STATUS: Final = MappingProxyType(
    {
        400: _K.VALIDATION,
        401: _K.AUTH,
        402: _K.QUOTA,
        403: _K.AUTH,
        404: _K.NOT_FOUND,
        405: _K.PERMANENT,
        406: _K.PERMANENT,
        407: _K.AUTH,
        408: _K.TIMEOUT,
        409: _K.CONFLICT,
        410: _K.NOT_FOUND,
        411: _K.VALIDATION,
        412: _K.CONFLICT,
        413: _K.VALIDATION,
        414: _K.VALIDATION,
        415: _K.VALIDATION,
        416: _K.VALIDATION,
        422: _K.VALIDATION,
        423: _K.CONFLICT,
        425: _K.TRANSIENT,
        428: _K.VALIDATION,
        429: _K.RATE_LIMIT,
        431: _K.VALIDATION,
        451: _K.PERMANENT,
        499: _K.CANCELLED,
        501: _K.PERMANENT,
        504: _K.TIMEOUT,
        505: _K.PERMANENT,
        507: _K.QUOTA,
        511: _K.AUTH,
        524: _K.TIMEOUT,
    }
)
"""HTTP status to kind (RFC 9110, RFC 6585); other 4xx are permanent, other 5xx transient."""

CODES: Final = MappingProxyType(
    {
        # gRPC, https://grpc.io/docs/guides/status-codes/, and AIP-193, which reuses the names
        "CANCELLED": _K.CANCELLED,
        "UNKNOWN": _K.INTERNAL,
        "INVALID_ARGUMENT": _K.VALIDATION,
        "DEADLINE_EXCEEDED": _K.TIMEOUT,
        "NOT_FOUND": _K.NOT_FOUND,
        "ALREADY_EXISTS": _K.CONFLICT,
        "PERMISSION_DENIED": _K.AUTH,
        "RESOURCE_EXHAUSTED": _K.RATE_LIMIT,
        "FAILED_PRECONDITION": _K.CONFLICT,
        "ABORTED": _K.CONFLICT,
        "OUT_OF_RANGE": _K.VALIDATION,
        "UNIMPLEMENTED": _K.PERMANENT,
        "INTERNAL": _K.INTERNAL,
        "UNAVAILABLE": _K.TRANSIENT,
        "DATA_LOSS": _K.PERMANENT,
        "UNAUTHENTICATED": _K.AUTH,
        # errno, POSIX.1-2024
        "EPERM": _K.AUTH,
        "EACCES": _K.AUTH,
        "EROFS": _K.PERMANENT,
        "ENOENT": _K.NOT_FOUND,
        "ESRCH": _K.NOT_FOUND,
        "ENXIO": _K.NOT_FOUND,
        "ENODEV": _K.NOT_FOUND,
        "ENOTDIR": _K.VALIDATION,
        "EISDIR": _K.VALIDATION,
        "EINVAL": _K.VALIDATION,
        "ENAMETOOLONG": _K.VALIDATION,
        "ELOOP": _K.VALIDATION,
        "ERANGE": _K.VALIDATION,
        "EDOM": _K.VALIDATION,
        "E2BIG": _K.VALIDATION,
        "EXDEV": _K.PERMANENT,
        "EFBIG": _K.VALIDATION,
        "EMSGSIZE": _K.VALIDATION,
        "EEXIST": _K.CONFLICT,
        "ENOTEMPTY": _K.CONFLICT,
        "EBUSY": _K.CONFLICT,
        "ETXTBSY": _K.CONFLICT,
        "EADDRINUSE": _K.CONFLICT,
        "EDEADLK": _K.TRANSIENT,
        "EAGAIN": _K.TRANSIENT,
        "EWOULDBLOCK": _K.TRANSIENT,
        "EINTR": _K.TRANSIENT,
        "EMFILE": _K.QUOTA,
        "ENFILE": _K.QUOTA,
        "ENOMEM": _K.TRANSIENT,
        "ENOBUFS": _K.TRANSIENT,
        "ECONNREFUSED": _K.TRANSIENT,
        "ECONNRESET": _K.TRANSIENT,
        "ECONNABORTED": _K.TRANSIENT,
        "ENOTCONN": _K.TRANSIENT,
        "EPIPE": _K.TRANSIENT,
        "ENETDOWN": _K.TRANSIENT,
        "ENETUNREACH": _K.TRANSIENT,
        "ENETRESET": _K.TRANSIENT,
        "EHOSTDOWN": _K.TRANSIENT,
        "EHOSTUNREACH": _K.TRANSIENT,
        "EAI_AGAIN": _K.TRANSIENT,
        "EAI_NONAME": _K.TRANSIENT,
        "EAI_NODATA": _K.TRANSIENT,
        "EADDRNOTAVAIL": _K.VALIDATION,
        "ENOEXEC": _K.VALIDATION,
        "ECHILD": _K.INTERNAL,
        "EFAULT": _K.INTERNAL,
        "EBADF": _K.INTERNAL,
        "ESPIPE": _K.VALIDATION,
        "EMLINK": _K.VALIDATION,
        "ENOTSOCK": _K.INTERNAL,
        "EAFNOSUPPORT": _K.VALIDATION,
        "EPROTONOSUPPORT": _K.VALIDATION,
        "EISCONN": _K.CONFLICT,
        "EALREADY": _K.CONFLICT,
        "EINPROGRESS": _K.TRANSIENT,
        "ESTALE": _K.TRANSIENT,
        "ENOLCK": _K.TRANSIENT,
        "EOVERFLOW": _K.VALIDATION,
        "EILSEQ": _K.VALIDATION,
        "EDESTADDRREQ": _K.VALIDATION,
        "EKEYEXPIRED": _K.AUTH,
        "ENOTFOUND": _K.TRANSIENT,
        "ETIMEDOUT": _K.TIMEOUT,
        "ESOCKETTIMEDOUT": _K.TIMEOUT,
        "ETIME": _K.TIMEOUT,
        "ENOSPC": _K.QUOTA,
        "EDQUOT": _K.QUOTA,
        "ENOSYS": _K.PERMANENT,
        "ENOTSUP": _K.PERMANENT,
        "EOPNOTSUPP": _K.PERMANENT,
        "ECANCELED": _K.CANCELLED,
        "EIO": _K.INTERNAL,
        # SQLite result codes, https://www.sqlite.org/rescode.html
        "SQLITE_BUSY": _K.TRANSIENT,
        "SQLITE_LOCKED": _K.TRANSIENT,
        "SQLITE_INTERRUPT": _K.CANCELLED,
        "SQLITE_READONLY": _K.PERMANENT,
        "SQLITE_PERM": _K.AUTH,
        "SQLITE_AUTH": _K.AUTH,
        "SQLITE_FULL": _K.QUOTA,
        "SQLITE_CORRUPT": _K.PERMANENT,
        "SQLITE_NOTADB": _K.PERMANENT,
        "SQLITE_CANTOPEN": _K.NOT_FOUND,
        "SQLITE_TOOBIG": _K.VALIDATION,
        "SQLITE_MISMATCH": _K.VALIDATION,
        "SQLITE_RANGE": _K.VALIDATION,
        "SQLITE_ERROR": _K.VALIDATION,
        "SQLITE_CONSTRAINT_UNIQUE": _K.CONFLICT,
        "SQLITE_CONSTRAINT_PRIMARYKEY": _K.CONFLICT,
        "SQLITE_CONSTRAINT_ROWID": _K.CONFLICT,
        "SQLITE_CONSTRAINT_FOREIGNKEY": _K.NOT_FOUND,
        "SQLITE_CONSTRAINT": _K.VALIDATION,
        "SQLITE_IOERR": _K.INTERNAL,
        # Budgets and throttles of web services
        "INSUFFICIENT_QUOTA": _K.QUOTA,
        "QUOTA_EXCEEDED": _K.QUOTA,
        "BILLING_HARD_LIMIT_REACHED": _K.QUOTA,
        "SLOW_DOWN": _K.RATE_LIMIT,
        "PROVISIONED_THROUGHPUT_EXCEEDED": _K.RATE_LIMIT,
        "REQUEST_LIMIT_EXCEEDED": _K.RATE_LIMIT,
        "OVERLOADED": _K.TRANSIENT,
    }
)
"""Codes with one meaning everywhere, in upper snake case."""

SQLSTATES: Final = MappingProxyType(
    {
        "01": _K.VALIDATION,
        "02": _K.NOT_FOUND,
        "03": _K.INTERNAL,
        "07": _K.VALIDATION,
        "08": _K.TRANSIENT,
        "0A": _K.PERMANENT,
        "21": _K.VALIDATION,
        "22": _K.VALIDATION,
        "23": _K.VALIDATION,
        "23503": _K.NOT_FOUND,
        "23505": _K.CONFLICT,
        "23P01": _K.CONFLICT,
        "25": _K.CONFLICT,
        "25006": _K.PERMANENT,
        "26": _K.NOT_FOUND,
        "28": _K.AUTH,
        "2B": _K.CONFLICT,
        "34": _K.NOT_FOUND,
        "3D": _K.NOT_FOUND,
        "3F": _K.NOT_FOUND,
        "40": _K.TRANSIENT,
        "42": _K.VALIDATION,
        "42501": _K.AUTH,
        "42704": _K.NOT_FOUND,
        "42883": _K.NOT_FOUND,
        "42P01": _K.NOT_FOUND,
        "42703": _K.NOT_FOUND,
        "42P07": _K.CONFLICT,
        "42701": _K.CONFLICT,
        "42710": _K.CONFLICT,
        "42723": _K.CONFLICT,
        "42P04": _K.CONFLICT,
        "42P06": _K.CONFLICT,
        "44": _K.VALIDATION,
        "53": _K.TRANSIENT,
        "53100": _K.QUOTA,
        "53400": _K.QUOTA,
        "54": _K.VALIDATION,
        "55": _K.CONFLICT,
        "55P03": _K.TRANSIENT,
        "57": _K.TRANSIENT,
        "57014": _K.CANCELLED,
        "58": _K.INTERNAL,
        "58P01": _K.NOT_FOUND,
        "HY": _K.INTERNAL,
        "HYT00": _K.TIMEOUT,
        "HYT01": _K.TIMEOUT,
        "P0": _K.VALIDATION,
        "P0002": _K.NOT_FOUND,
        "XX": _K.INTERNAL,
    }
)
"""SQLSTATE, or its class (SQL:2023, and PostgreSQL's appendix A); the longer key wins."""

TYPES: Final = MappingProxyType(
    {
        "asyncio.exceptions.CancelledError": _K.CANCELLED,
        "concurrent.futures._base.CancelledError": _K.CANCELLED,
        "KeyboardInterrupt": _K.CANCELLED,
        "TimeoutError": _K.TIMEOUT,
        "subprocess.TimeoutExpired": _K.TIMEOUT,
        "ssl.SSLCertVerificationError": _K.PERMANENT,
        "ConnectionError": _K.TRANSIENT,
        "socket.gaierror": _K.TRANSIENT,
        "socket.herror": _K.TRANSIENT,
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
        # A bare LookupError is raised on purpose; its builtin children are as often a tool's own bug.
        "KeyError": _K.INTERNAL,
        "IndexError": _K.INTERNAL,
        "LookupError": _K.NOT_FOUND,
        # TypeError, AttributeError, ZeroDivisionError, AssertionError … are bugs until a text says more.
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
        "requests.exceptions.SSLError": _K.PERMANENT,
        "requests.exceptions.Timeout": _K.TIMEOUT,
        "requests.exceptions.ConnectionError": _K.TRANSIENT,
        "requests.exceptions.ChunkedEncodingError": _K.TRANSIENT,
        "aiohttp.client_exceptions.ClientConnectorCertificateError": _K.PERMANENT,
        "aiohttp.client_exceptions.ClientConnectionError": _K.TRANSIENT,
        "aiohttp.client_exceptions.ClientPayloadError": _K.TRANSIENT,
    }
)
"""Exception classes by dotted name, looked up over the MRO, most specific first; never imported."""

WORDS: Final[tuple[tuple[ErrorKind, tuple[str, ...]], ...]] = (
    (_K.PERMANENT, ("certificate", "cert", "not implemented", "unimplemented", "unsupported")),
    (_K.PERMANENT, ("not supported", "deprecated", "decommissioned", "method not allowed")),
    (_K.QUOTA, ("quota", "billing", "out of memory", "memory", "insufficient funds", "payment required", "credit", "credits")),
    (_K.RATE_LIMIT, ("rate limit", "ratelimit", "rate limited", "too many requests", "throttle")),
    (_K.RATE_LIMIT, ("throttled", "throttling", "slow down", "throughput exceeded")),
    (_K.TIMEOUT, ("timeout", "timed out", "deadline exceeded", "time out")),
    (_K.CANCELLED, ("cancelled", "canceled", "interrupted")),
    (_K.CONFLICT, ("already exists", "already", "exists", "conflict", "duplicate", "in use")),
    (_K.CONFLICT, ("precondition", "locked", "lock", "stale", "mismatched version")),
    (_K.NOT_FOUND, ("not found", "notfound", "no such", "does not exist", "nonexistent")),
    (_K.NOT_FOUND, ("unknown", "not exist", "undefined", "missing resource")),
    (_K.AUTH, ("unauthorized", "unauthorised", "unauthenticated", "authentication", "forbidden")),
    (_K.AUTH, ("authorization", "permission", "permissions", "access denied", "credential")),
    (_K.AUTH, ("credentials", "token expired", "expired token", "api key", "signature")),
    (_K.AUTH, ("login", "auth", "not allowed", "denied", "privilege")),
    (_K.VALIDATION, ("validation", "validator", "invalid", "bad request", "malformed", "parse")),
    (_K.VALIDATION, ("parser", "parsing", "decode", "syntax", "schema", "bad", "unprocessable")),
    (_K.VALIDATION, ("required", "missing", "too long", "too short", "too large", "out of range")),
    (
        _K.VALIDATION,
        ("illegal", "unexpected", "format", "usage", "overflow", "type mismatch", "argument"),
    ),
    (
        _K.VALIDATION,
        ("parameter", "programming", "not fitted", "conversion", "binder", "data error", "command error"),
    ),
    (_K.TRANSIENT, ("unavailable", "overloaded", "connection", "connect", "network", "dns")),
    (_K.TRANSIENT, ("unreachable", "temporarily", "try again", "disconnected", "broken pipe")),
    (_K.INTERNAL, ("internal", "server error", "unexpected error")),
)
"""Words in codes and class names, in order of trust; a phrase is a run of whole words."""

CATEGORY_WORDS: Final[tuple[tuple[Category, tuple[str, ...]], ...]] = (
    (_C.UNKNOWN_TOOL, ("unknown tool", "tool not found", "method not found", "unknown command")),
    (_C.MALFORMED_JSON, ("json decode", "invalid json", "malformed json", "json parse", "json error")),
    (_C.EXTRA_PARAM, ("unexpected argument", "unknown argument", "unknown parameter", "extra field")),
    (_C.EXTRA_PARAM, ("unexpected keyword", "unknown field", "unrecognized", "no such option")),
    (_C.MISSING_PARAM, ("missing", "required", "not null", "null violation")),
    (_C.DUPLICATE, ("already exists", "already exist", "duplicate", "exists", "unique violation")),
    (_C.DUPLICATE, ("unique",)),
    (_C.FORMAT_DATE, ("date", "datetime", "timestamp", "timezone", "time zone", "date time")),
    (_C.FORMAT_OTHER, ("url", "uri", "email", "uuid", "scheme", "encoding", "unicode", "utf", "media type")),
    (_C.FORMAT_OTHER, ("arn", "cidr", "hostname", "base64", "decode", "format", "binascii")),
    (_C.UNKNOWN_RESOURCE, ("not found", "no such", "does not exist", "nonexistent", "non existent")),
    (_C.UNKNOWN_RESOURCE, ("undefined", "unknown", "lookup", "gone", "foreign key")),
    (_C.LENGTH, ("too long", "too short", "too large", "too many", "too few", "length", "truncation")),
    (_C.RANGE, ("out of range", "range", "overflow", "underflow", "division", "out of bounds")),
    (_C.WRONG_TYPE, ("type mismatch", "wrong type", "invalid type", "datatype mismatch", "conversion")),
    (_C.WRONG_TYPE, ("cast", "type error", "dimensionality")),
    (_C.ENUM, ("enum", "choice", "not supported value")),
    (_C.SYNTAX, ("syntax", "grammar", "expression", "lexer", "xpath", "binder", "template")),
    (_C.SYNTAX, ("grouping", "ambiguous", "query", "compile")),
    (_C.WRONG_TYPE, ("type",)),
    (_C.FORMAT_OTHER, ("parsing",)),
)
"""What codes and class names say of the input, in order of trust."""

_TOKENS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SQLSTATE: Final = re.compile(r"[0-9A-Z]{5}\Z")
_BUILTIN_BUGS: Final = frozenset({"TypeError", "AttributeError", "AssertionError", "RuntimeError"})


def kind_of(finding: Finding) -> ErrorKind:
    """The kind that a finding's code, status and types speak for; `internal` where none does.

    >>> kind_of(Finding("gone", status=410))
    <ErrorKind.NOT_FOUND: 'not_found'>
    """
    from_code = kind_of_code(finding.code)
    if from_code is not None and from_code is not ErrorKind.INTERNAL:
        return from_code
    from_status = kind_of_status(finding.status)
    if from_status is not None:
        return from_status
    return kind_of_types(finding.types) or from_code or ErrorKind.INTERNAL


CODE_CATEGORIES: Final = MappingProxyType(
    {
        "ENOENT": _C.UNKNOWN_RESOURCE,
        "ESRCH": _C.UNKNOWN_RESOURCE,
        "ENXIO": _C.UNKNOWN_RESOURCE,
        "ENODEV": _C.UNKNOWN_RESOURCE,
        "EADDRNOTAVAIL": _C.UNKNOWN_RESOURCE,
        "ENOTDIR": _C.WRONG_TYPE,
        "EISDIR": _C.WRONG_TYPE,
        "EEXIST": _C.DUPLICATE,
        "EADDRINUSE": _C.DUPLICATE,
        "ENOTEMPTY": _C.BUSINESS_RULE,
        "EXDEV": _C.BUSINESS_RULE,
        "ENAMETOOLONG": _C.LENGTH,
        "E2BIG": _C.LENGTH,
        "EFBIG": _C.LENGTH,
        "EMSGSIZE": _C.LENGTH,
        "ERANGE": _C.RANGE,
        "EDOM": _C.RANGE,
        "EOVERFLOW": _C.RANGE,
        "EILSEQ": _C.FORMAT_OTHER,
        "ENOEXEC": _C.FORMAT_OTHER,
    }
)
"""What an errno says is wrong with the input."""


def category_of(finding: Finding) -> Category:
    """What the words of a finding's code and most specific class say is wrong; else `none`.

    >>> category_of(Finding("…", code="InvalidURL"))
    <Category.FORMAT_OTHER: 'format_other'>
    """
    if finding.code in CODE_CATEGORIES:
        return CODE_CATEGORIES[finding.code]
    names = [finding.code or "", *(name.rpartition(".")[2] for name in finding.types[:2])]
    for name in names:
        text = f" {' '.join(_words(name)[:12])} "
        for category, phrases in CATEGORY_WORDS:
            if any(f" {phrase} " in text for phrase in phrases):
                return category
    return Category.NONE


def kind_of_status(status: int | str | None) -> ErrorKind | None:
    """The kind of an HTTP status, an SQLSTATE or a gRPC code name; None where it says nothing."""
    if isinstance(status, bool) or status is None:
        return None
    if isinstance(status, str):
        text = status.strip()
        if text.isascii() and text.isdigit() and len(text) == 3:
            return kind_of_status(int(text))
        if _SQLSTATE.match(text) and not text.isalpha():
            return SQLSTATES.get(text) or SQLSTATES.get(text[:2])
        return kind_of_code(text)
    if status in STATUS:
        return STATUS[status]
    if 400 <= status < 500:
        return ErrorKind.PERMANENT
    return ErrorKind.TRANSIENT if 500 <= status < 600 else None


def kind_of_code(code: str | None) -> ErrorKind | None:
    """The kind of an emitter's error code, by table and then by its words."""
    if not code or len(code) > 120:
        return None
    words = _words(code)
    exact = CODES.get("_".join(words).upper())
    if exact is not None:
        return exact
    if code.startswith("SQLITE_"):
        return CODES.get("_".join(code.split("_")[:2]))
    if _SQLSTATE.match(code) and not code.isalpha():
        return SQLSTATES.get(code) or SQLSTATES.get(code[:2])
    return _by_words(words)


def kind_of_types(types: Iterable[str]) -> ErrorKind | None:
    """The kind of an exception by its MRO: each class by its name, then by the words of its name."""
    for name in types:
        if name in _BUILTIN_BUGS:
            return ErrorKind.INTERNAL
        known = TYPES.get(name) or _BY_LAST_NAME.get(name)
        if known is not None:
            return known
        if "." in name:
            from_words = _by_words(_words(name.rsplit(".", 1)[1])[:12])
            if from_words is not None:
                return from_words
    return None


_BY_LAST_NAME: Final = {"JSONDecodeError": _K.VALIDATION, "CancelledError": _K.CANCELLED}


def _words(name: str) -> list[str]:
    return [token.lower() for token in _TOKENS.findall(name[:200])]


def _by_words(words: list[str]) -> ErrorKind | None:
    text = f" {' '.join(words)} "
    for kind, phrases in WORDS:
        if any(f" {phrase} " in text for phrase in phrases):
            return kind
    return None
