"""What codes, statuses and exception classes mean everywhere, each by its own standard."""

from __future__ import annotations

from typing import Final

from selfcorrect.model import ErrorKind
from selfcorrect.words import by_word

_K = ErrorKind

# gRPC (https://grpc.io/docs/guides/status-codes/) and AIP-193, which reuses the names; errno of
# POSIX.1-2024; SQLite (https://www.sqlite.org/rescode.html); budgets and throttles of web services.
CODES: Final = by_word(
    {
        _K.VALIDATION: """
            INVALID_ARGUMENT OUT_OF_RANGE
            ENOTDIR EISDIR EINVAL ENAMETOOLONG ELOOP ERANGE EDOM E2BIG EFBIG EMSGSIZE EAI_SERVICE
            EADDRNOTAVAIL ENOEXEC ESPIPE EMLINK EAFNOSUPPORT EPROTONOSUPPORT EOVERFLOW EILSEQ
            EDESTADDRREQ
            SQLITE_TOOBIG SQLITE_MISMATCH SQLITE_RANGE SQLITE_ERROR SQLITE_CONSTRAINT""",
        _K.NOT_FOUND: """
            NOT_FOUND ENOENT ESRCH ENXIO ENODEV
            SQLITE_CANTOPEN SQLITE_CONSTRAINT_FOREIGNKEY""",
        _K.CONFLICT: """
            ALREADY_EXISTS FAILED_PRECONDITION ABORTED
            EEXIST ENOTEMPTY EBUSY ETXTBSY EADDRINUSE EISCONN EALREADY
            SQLITE_CONSTRAINT_UNIQUE SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_ROWID""",
        _K.AUTH: """
            PERMISSION_DENIED UNAUTHENTICATED EPERM EACCES EKEYEXPIRED SQLITE_PERM SQLITE_AUTH""",
        _K.QUOTA: """
            EMFILE ENFILE ENOSPC EDQUOT SQLITE_FULL
            INSUFFICIENT_QUOTA QUOTA_EXCEEDED BILLING_HARD_LIMIT_REACHED""",
        _K.RATE_LIMIT: """
            RESOURCE_EXHAUSTED SLOW_DOWN PROVISIONED_THROUGHPUT_EXCEEDED REQUEST_LIMIT_EXCEEDED""",
        _K.TRANSIENT: """
            UNAVAILABLE OVERLOADED
            EDEADLK EAGAIN EWOULDBLOCK EINTR ENOMEM ENOBUFS ECONNREFUSED ECONNRESET ECONNABORTED
            ENOTCONN EPIPE ENETDOWN ENETUNREACH ENETRESET EHOSTDOWN EHOSTUNREACH EAI_AGAIN
            EAI_NONAME EAI_NODATA EINPROGRESS ESTALE ENOLCK ENOTFOUND
            SQLITE_BUSY SQLITE_LOCKED""",
        _K.TIMEOUT: "DEADLINE_EXCEEDED ETIMEDOUT ESOCKETTIMEDOUT ETIME",
        _K.CANCELLED: "CANCELLED ECANCELED SQLITE_INTERRUPT",
        _K.PERMANENT: """
            UNIMPLEMENTED DATA_LOSS EROFS EXDEV ENOSYS ENOTSUP EOPNOTSUPP
            SQLITE_READONLY SQLITE_CORRUPT SQLITE_NOTADB""",
        _K.INTERNAL: "UNKNOWN INTERNAL ECHILD EFAULT EBADF ENOTSOCK EIO SQLITE_IOERR",
    }
)
"""Codes with one meaning everywhere, in upper snake case."""

STATUS: Final = by_word(
    {
        _K.VALIDATION: "400 413 414 415 416 422 428",
        _K.NOT_FOUND: "404 410",
        _K.CONFLICT: "409 412 423",
        _K.AUTH: "401 403 407 511",
        _K.QUOTA: "402 507",
        _K.RATE_LIMIT: "429",
        _K.TRANSIENT: "425",
        _K.TIMEOUT: "408 504 524",
        _K.CANCELLED: "499",
        _K.PERMANENT: "405 406 451 501 505",
    }
)
"""HTTP status to kind (RFC 9110, RFC 6585); other 4xx are permanent, other 5xx transient."""

SQLSTATES: Final = by_word(
    {
        _K.VALIDATION: "01 07 21 22 23 40002 42 44 54 P0",
        _K.NOT_FOUND: """
            02 23503 26 34 3D 3F 42S02 42S12 42S22 42703 42704 42883 42P01 58P01 P0002""",
        _K.CONFLICT: """
            23505 23P01 25 2B 42S01 42S21 42701 42710 42723 42P04 42P06 42P07 55""",
        _K.AUTH: "28 42501",
        _K.QUOTA: "53100 53400",
        _K.TRANSIENT: "08 40 53 55P03 57",
        _K.TIMEOUT: "HYT00 HYT01",
        _K.CANCELLED: "57014",
        _K.PERMANENT: "0A 25006",
        _K.INTERNAL: "03 58 HY XX",
    }
)
"""SQLSTATE or its class (SQL:2023, appendices A of PostgreSQL and ODBC); the longer key wins."""

# A bare LookupError is raised on purpose; its children are as often a tool's own bug. TypeError,
# AttributeError, ZeroDivisionError … are bugs until a text says more.
TYPES: Final = by_word(
    {
        _K.VALIDATION: """
            IsADirectoryError NotADirectoryError SyntaxError OverflowError ValueError
            InvalidArgs MalformedCall pydantic_core._pydantic_core.ValidationError
            sqlite3.IntegrityError sqlite3.OperationalError
            redis.exceptions.ResponseError redis.exceptions.DataError
            httpx.UnsupportedProtocol httpx.InvalidURL""",
        _K.NOT_FOUND: "FileNotFoundError ProcessLookupError LookupError UnknownTool",
        _K.CONFLICT: "FileExistsError",
        _K.AUTH: "PermissionError",
        _K.QUOTA: "MemoryError pydantic_ai.exceptions.UsageLimitExceeded",
        _K.TRANSIENT: """
            ConnectionError BlockingIOError InterruptedError
            ssl.SSLError socket.gaierror socket.herror java.net.UnknownHostException
            httpx.ConnectError httpx.NetworkError httpx.RemoteProtocolError
            requests.exceptions.ConnectionError requests.exceptions.ChunkedEncodingError
            aiohttp.client_exceptions.ClientConnectionError
            aiohttp.client_exceptions.ClientPayloadError""",
        _K.TIMEOUT: """
            TimeoutError subprocess.TimeoutExpired httpx.TimeoutException
            requests.exceptions.Timeout""",
        _K.CANCELLED: """
            KeyboardInterrupt asyncio.exceptions.CancelledError
            concurrent.futures._base.CancelledError""",
        _K.PERMANENT: """
            NotImplementedError ImportError ssl.SSLCertVerificationError
            aiohttp.client_exceptions.ClientConnectorCertificateError""",
        _K.INTERNAL: "KeyError IndexError AnswerNotJson",
    }
)
"""Exception classes by dotted name, looked up over the MRO, most specific first; never imported."""

WORDS: Final = by_word(
    {
        _K.PERMANENT: """
        certificate, cert, not implemented, unimplemented, unsupported, not supported,
        deprecated, decommissioned, method not allowed""",
        _K.QUOTA: """
        quota, billing, memory, insufficient funds, payment required, credit, credits,
        insufficient space, insufficient storage, no space, disk full""",
        _K.RATE_LIMIT: """
        rate limit, ratelimit, rate limited, too many requests, throttle, throttled, throttling,
        slow down, throughput exceeded""",
        _K.TIMEOUT: "timeout, timed out, deadline exceeded, time out",
        _K.CANCELLED: "cancelled, canceled, interrupted",
        _K.CONFLICT: """
        already, exists, conflict, duplicate, in use, duplicates, conditional check failed,
        in progress, not empty, precondition, locked, lock, stale, mismatched version""",
        _K.NOT_FOUND: """
        not found, notfound, no such, does not exist, nonexistent, unknown, not exist, undefined,
        missing resource""",
        _K.AUTH: """
        unauthorized, unauthorised, unauthenticated, authentication, forbidden, authorization,
        permission, permissions, credential, credentials, token expired, expired token, api key,
        signature, login, auth, not allowed, denied, privilege""",
        _K.VALIDATION: """
        validation, validator, invalid, bad, malformed, parse, parser, parsing, decode, syntax,
        schema, unprocessable, required, missing, too long, too short, too large, out of range,
        illegal, unexpected, format, usage, overflow, type mismatch, argument, parameter,
        programming, not fitted, conversion, binder, data error, command error, integrity""",
        _K.TRANSIENT: """
        unavailable, overloaded, connection, connect, network error, dns, unknown host,
        brokers available, servers available, nodes available, host available, deadlock,
        unreachable, serialization failure, temporarily, try again, disconnected, broken pipe""",
        _K.INTERNAL: "internal, server error",
    },
    between=",",
)
"""Words in codes and class names, in order of trust; a phrase is a run of whole words."""
