"""Whether a failed execution may already have acted, from what its error says.

`not_done` needs evidence that the tool surely did not act. Everything else is `maybe`, which is the
safe answer: a tool that changes things is then not called again.

| evidence | outcome |
|---|---|
| our own check: arguments that do not fit, unknown tool, no call | not_done: never called |
| connection refused, name not resolved, no route, with nothing but the transport in the chain | not_done: never sent |
| the same as the cause of an error of the tool's own | maybe: who knows what came before |
| status 4xx but 408 and 499; 501, 505; a code or gRPC status that refuses | not_done: refused |
| an error of a database: the statement was refused, or rolled back, or its lock not obtained | not_done |
| validation, not_found, conflict … that names a parameter of the call or repeats its value | not_done: refused |
| the same from a class that is raised on purpose, about a thing, a rule, a right | not_done: refused |
| the same because a rule of the deployment's own map says so | not_done: its author knows the tool |
| 503 with a time to come back | not_done: turned away at the door |
| a bare IndexError, KeyError, TypeError, AttributeError, RuntimeError … | maybe: a bug, anywhere |
| a ValueError that speaks of no parameter of the call | maybe: it may be about the answer |
| an errno of the operating system that is about no parameter | maybe |
| timeout, reset, broken pipe, 5xx otherwise, cancelled, internal, unknown | maybe |
"""  # noqa: E501 -- a table

from __future__ import annotations

import re
from typing import Final

from selfcorrect.effects import Outcome
from selfcorrect.evidence.faults import Place
from selfcorrect.evidence.kinds import kind_of_code
from selfcorrect.model import ABSENT, JSON, Category, ErrorKind, Finding, JsonObject
from selfcorrect.pointer import split

_REFUSED: Final = frozenset(
    {
        ErrorKind.VALIDATION,
        ErrorKind.NOT_FOUND,
        ErrorKind.AUTH,
        ErrorKind.QUOTA,
        ErrorKind.CONFLICT,
        ErrorKind.PERMANENT,
    }
)
_OWN_CHECKS: Final = frozenset({"UnknownTool", "InvalidArgs", "MalformedCall"})
_NEVER_SENT: Final = frozenset(
    {
        "ConnectionRefusedError",
        "socket.gaierror",
        "socket.herror",
        "ssl.SSLCertVerificationError",
        "httpx.ConnectError",
        "httpx.ConnectTimeout",
        "httpx.PoolTimeout",
        "requests.exceptions.ConnectTimeout",
        "aiohttp.client_exceptions.ClientConnectorError",
        "urllib3.exceptions.NewConnectionError",
        "urllib3.exceptions.ConnectTimeoutError",
        "urllib3.exceptions.NameResolutionError",
    }
)
_TRANSPORT: Final = frozenset(
    {"httpx", "httpcore", "requests", "urllib3", "urllib", "aiohttp", "socket", "ssl", "http"}
    | {"anyio", "websockets", "grpc", "asyncio"}
)
_OF_THE_SYSTEM: Final = frozenset(
    {"OSError", "ConnectionError", "ConnectionRefusedError", "Exception"}
)
_DATABASES: Final = frozenset(
    {"sqlite3", "psycopg", "psycopg2", "asyncpg", "sqlalchemy", "pymysql", "MySQLdb", "mysql"}
    | {"oracledb", "pyodbc", "duckdb", "_duckdb", "aiosqlite", "redis", "pymongo", "neo4j"}
    | {"clickhouse_connect", "snowflake", "cassandra"}
)
_ROLLED_BACK: Final = frozenset(
    {"SQLITE_BUSY", "SQLITE_LOCKED", "40001", "40P01", "55P03", "08001", "08004", "53300", "57P03"}
)
_UNSENT_CODES: Final = frozenset(
    {"ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EAI_NONAME", "ENETUNREACH", "EHOSTUNREACH"}
    | {"EHOSTDOWN", "ENETDOWN"}
)
_LEFT_OPEN: Final = frozenset({408, 499})
_BUGS: Final = frozenset(
    {"IndexError", "KeyError", "TypeError", "AttributeError", "RuntimeError", "AssertionError"}
    | {"ZeroDivisionError", "ArithmeticError", "NameError", "UnboundLocalError", "RecursionError"}
    | {"MemoryError", "BufferError", "EOFError", "StopIteration", "UnicodeError", "ValueError"}
    | {"UnicodeDecodeError", "UnicodeEncodeError", "OverflowError", "SystemError", "ImportError"}
    | {"ModuleNotFoundError", "ReferenceError", "SyntaxError"}
)
"""Classes that the language raises by itself, wherever a tool happens to be."""
_PARSED: Final = ("ValidationError", "JSONDecodeError", "DecodeError", "ParserError", "ParseError")
"""Classes of libraries that read data: the call's, or an answer's."""
_ABOUT_A_THING: Final = frozenset(
    {Category.UNKNOWN_RESOURCE, Category.UNKNOWN_TOOL, Category.DUPLICATE, Category.BUSINESS_RULE}
)
_ERRNO: Final = re.compile(r"E[A-Z0-9]{2,14}\Z")
_WORD: Final = re.compile(r"[A-Za-z]+|\d+")


def outcome_of(
    finding: Finding,
    arguments: JSON = None,
    schema: JsonObject | None = None,
    *,
    told: bool = False,
) -> Outcome:
    """Whether the execution that ended in this finding may have acted; `maybe` when in doubt.

    >>> outcome_of(Finding("read timed out", kind=ErrorKind.TIMEOUT))
    <Outcome.MAYBE: 'maybe'>
    >>> bare = Finding("list index out of range", ("IndexError",), kind=ErrorKind.VALIDATION)
    >>> outcome_of(bare, {"seats": 2})
    <Outcome.MAYBE: 'maybe'>

    Args:
        finding: With its kind and category as the map decided them.
        arguments: The arguments of the call.
        schema: Their schema, if known.
        told: Whether the kind is what the deployment's own map says.
    """
    certain = (
        not _OWN_CHECKS.isdisjoint(finding.types)
        or _never_sent(finding)
        or _refused_by_status(finding)
        or _refused_by_database(finding)
        or _refused_by_tool(finding, arguments, schema or {}, told=told)
    )
    return Outcome.NOT_DONE if certain else Outcome.MAYBE


def _never_sent(finding: Finding) -> bool:
    """Whether the connection failed at once, and no error of the tool's own is about it."""
    if _NEVER_SENT.isdisjoint(finding.types) and finding.code not in _UNSENT_CODES:
        return False
    return all(
        name.partition(".")[0] in _TRANSPORT or name in _OF_THE_SYSTEM for name in finding.types
    )


def _refused_by_status(finding: Finding) -> bool:
    status = finding.status
    if isinstance(status, int) and 400 <= status < 600:
        away = status == 503 and finding.retry_after is not None
        return away or status in (501, 505) or (status < 500 and status not in _LEFT_OPEN)
    if isinstance(status, str) and status.isalpha() | ("_" in status):
        return _refuses(status)
    coded = finding.code and not _ERRNO.match(finding.code) and finding.code != finding.code.lower()
    return bool(coded) and not _read_data(finding) and _refuses(finding.code)


def _refuses(code: str | None) -> bool:
    kind = kind_of_code(code)
    return kind in _REFUSED or kind is ErrorKind.RATE_LIMIT


def _refused_by_database(finding: Finding) -> bool:
    """Whether a database refused a statement, rolled it back, or gave no lock for it."""
    if not finding.types or finding.types[0].partition(".")[0] not in _DATABASES:
        return not finding.types and bool({finding.code, finding.status} & _ROLLED_BACK)
    state = {finding.code, finding.status} - {None}
    if state & _ROLLED_BACK:
        return True
    return finding.kind in _REFUSED and (bool(state) or finding.category is not Category.NONE)


def _refused_by_tool(finding: Finding, arguments: JSON, schema: JsonObject, *, told: bool) -> bool:
    """Whether the tool says no to what it was asked, rather than that something went wrong."""
    if finding.kind not in _REFUSED or _is_late(finding):
        return False
    if told or _about_the_call(finding, arguments, schema):
        return True
    first = finding.types[0] if finding.types else ""
    on_purpose = bool(first) and first not in _BUGS and not _read_data(finding)
    if not on_purpose or (finding.code and _ERRNO.match(finding.code)):
        return False
    inner = finding.kind in (ErrorKind.AUTH, ErrorKind.QUOTA, ErrorKind.PERMANENT)
    return inner or finding.category in _ABOUT_A_THING


def _is_late(finding: Finding) -> bool:
    """Whether the chain holds what may come after acting: a lost connection, a server's fault."""
    status = finding.status
    lost = any(
        name in ("TimeoutError", "ConnectionError", "EOFError") or name.endswith("Timeout")
        for name in finding.types
    )
    return lost or (isinstance(status, int) and (status >= 500 or status in _LEFT_OPEN))


def _read_data(finding: Finding) -> bool:
    return any(name.endswith(_PARSED) for name in finding.types)


def _about_the_call(finding: Finding, arguments: JSON, schema: JsonObject) -> bool:
    """Whether the error names a parameter of the call, or repeats the value of one."""
    place = Place(arguments, schema)
    words = {word.lower() for word in _WORD.findall(finding.text[:4000])}
    return any(
        _spoken_of(path.removeprefix("/args"), place, finding, words) for path in finding.paths
    )


def _spoken_of(path: str, place: Place, finding: Finding, words: set[str]) -> bool:
    value = place.value(path)
    known = bool(place.leaves or place.declared)
    if value is ABSENT and known and path not in place.declared:
        return False
    name = [word.lower() for word in _WORD.findall(split(path)[-1])] if path else []
    if name and all(word in words for word in name):
        return True
    shown = str(value) if isinstance(value, str | int | float) and value is not True else ""
    return len(shown) > 1 and shown in finding.text
