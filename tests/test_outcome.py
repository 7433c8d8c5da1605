"""What one execution did follows from structure: class, status and the tool's own declaration."""

import asyncio
import datetime as dt
import http.client
import importlib
import json
import socket
import sqlite3
import ssl
from contextlib import suppress
from pathlib import Path

import pytest
from langchain_core.tools import ToolException

from selfcorrect import NotDone
from selfcorrect.diagnosis.facts import reported_error
from selfcorrect.effects.failure import outcome_of
from selfcorrect.effects.outcome import Outcome, with_doubt
from selfcorrect.errors import ResultError, ToolReportedError
from selfcorrect.model import ErrorKind


def named(name, base=Exception, **fields):
    return type(name, (base,), fields)("a text of no weight")


def with_status(status):
    return named("Answered", status_code=status)


def circle():
    """Return an exception that is, over another one, its own cause."""
    error, cause = ValueError("x"), KeyError("x")
    error.__cause__, cause.__cause__ = cause, error
    return error


def caused(depth, root):
    """Return an exception with so many causes."""
    for _ in range(depth):
        error = ValueError("x")
        error.__cause__, root = root, error
    return root


LOST = [
    TimeoutError("x"),
    ConnectionResetError("x"),
    OSError(101, "Network is unreachable"),
    socket.gaierror(-2, "Name or service not known"),
    ssl.SSLEOFError(8, "EOF occurred"),
    http.client.IncompleteRead(b""),
    EOFError("x"),
    TypeError("x"),
    AttributeError("x"),
    NameError("x"),
    AssertionError("x"),
    ZeroDivisionError("x"),
    NotImplementedError("x"),
    RecursionError("x"),
    UnicodeDecodeError("utf-8", b"", 0, 1, "x"),
    sqlite3.OperationalError("database is locked"),
    KeyboardInterrupt(),
    SystemExit(),
    asyncio.CancelledError(),
    named("ReadTimeout"),
    named("APIConnectionError"),
    named("ServiceUnavailable"),
    named("RemoteProtocolError"),
    *map(with_status, (408, 499, 500, 502, 503, 504, 529)),
    # An answer below 400 is no refusal, whatever the exception that carries it.
    *map(with_status, (100, 200, "200", 202, 303)),
    # One status is written in many ways, and stands in many places.
    *map(with_status, (http.HTTPStatus.BAD_GATEWAY, 502.0, "502", "502 Bad Gateway", " 502 ")),
    named("Answered", statusCode=503),
    named("Answered", http_status=503),
    named("Answered", resp={"status": "503"}),
    named("Answered", response={"status_code": 503}),
    named("Answered", response={"error": {"code": 503}}),
    named("ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 503}}),
    # Of two statuses the graver one counts.
    named("Answered", status_code=400, response=with_status(502)),
    # What is not looked at may be anything.
    caused(20, TimeoutError("x")),
    caused(20, ValueError("x")),
    ExceptionGroup("x", [*(ValueError("x") for _ in range(20)), TimeoutError("x")]),
    ResultError("x"),
]
REFUSED = [
    ValueError("x"),
    KeyError("x"),
    LookupError("x"),
    RuntimeError("x"),
    PermissionError("x"),
    FileNotFoundError("x"),
    sqlite3.IntegrityError("x"),
    named("ToolException"),
    named("InsufficientFunds"),
    *map(with_status, (400, 401, 404, 422, 429)),
    # A mere code below 400 is the application's own.
    named("Answered", code=190),
    circle(),
]
UNCLEAR = [*map(with_status, (409, 412, 424))]


def ids(errors):
    return [f"{type(each).__name__}-{getattr(each, 'status_code', '')}" for each in errors]


@pytest.mark.parametrize("error", LOST, ids=ids(LOST))
@pytest.mark.parametrize("atomic", [False, True])
def test_lost(error, atomic):
    assert outcome_of(error, atomic=atomic) is Outcome.LOST


@pytest.mark.parametrize("error", REFUSED, ids=ids(REFUSED))
def test_refused_and_not_done_only_by_an_atomic_tool(error):
    assert outcome_of(error, atomic=False) is Outcome.REFUSED
    assert outcome_of(error, atomic=True) is Outcome.NOT_DONE


@pytest.mark.parametrize("error", UNCLEAR, ids=ids(UNCLEAR))
def test_a_status_that_may_speak_of_another_request_is_never_not_done(error):
    assert outcome_of(error, atomic=False) is Outcome.REFUSED
    assert outcome_of(error, atomic=True) is Outcome.REFUSED


@pytest.mark.parametrize("text", ["nothing was done", "503 Service Unavailable", "timed out"])
def test_no_word_of_a_text_is_evidence(text):
    assert outcome_of(ValueError(text), atomic=False) is Outcome.REFUSED


def test_a_cause_that_broke_off_leaves_the_refusal_in_doubt():
    error = ValueError("the service did not accept it")
    error.__cause__ = ConnectionResetError("x")
    assert outcome_of(error, atomic=True) is Outcome.LOST


TABLE = Path(__file__).parent / "data" / "outcome.txt"


class Declined(Exception):
    """An error of the tool's own package."""


class Code:
    """What gRPC's clients give for a code."""

    def __init__(self, name):
        self.name = name


def foreign(name, base=Exception, **fields):
    """Return an error of another package."""
    return type(name, (base,), {**fields, "__module__": "elsewhere.client"})("a text of no weight")


def raised(error, cause=None, *, hidden=False):
    """Return an error as this module's code raises it; what it hides stays its context."""
    with suppress(type(error)):
        raise error
    error.__context__, error.__suppress_context__ = cause, hidden
    return error


def raised_in_library(run, *args):
    try:
        run(*args)
    except Exception as error:
        return error
    raise AssertionError(run)


def reported(value, cause=None):
    error = reported_error(value, "a text")
    error.__cause__ = cause
    return error


ERRORS = {
    "NotDone": raised(NotDone("x")),
    "ValueError of the tool's code": raised(ValueError("x")),
    "RuntimeError of the tool's code": raised(RuntimeError("x")),
    "LookupError of the tool's code": raised(LookupError("x")),
    "a class of the tool's package": raised(Declined("x")),
    "a class of it over a KeyError": raised(Declined("x"), KeyError("x")),
    "a class of it over a timeout": raised(Declined("x"), TimeoutError("x")),
    "the same, the timeout hidden": raised(Declined("x"), TimeoutError("x"), hidden=True),
    "a class of it over another package's": raised(Declined("x"), foreign("AutoReconnect")),
    "KeyError of the tool's code": raised(KeyError("x")),
    "IndexError of the tool's code": raised(IndexError("x")),
    "FileNotFoundError of the tool's code": raised(FileNotFoundError("x")),
    "TypeError of the tool's code": raised(TypeError("x")),
    "ValueError out of a library": raised_in_library(dt.datetime.strptime, "x", "%Y"),
    "ValueError that nobody raised": ValueError("x"),
    "JSONDecodeError": raised_in_library(json.loads, "<html>"),
    "another package's class": raised(foreign("AutoReconnect")),
    "another package's class, timed_out": raised(foreign("Failed", timed_out=True)),
    "another package's class, 404": raised(foreign("Answered", status_code=404)),
    "another package's class, 409": raised(foreign("Answered", status_code=409)),
    "another package's class, 408": raised(foreign("Answered", status_code=408)),
    "another package's class, 503": raised(foreign("Answered", status_code=503)),
    "another package's class, 200": raised(foreign("Answered", status_code=200)),
    "SQLSTATE 23505": raised(foreign("UniqueViolation", sqlstate="23505")),
    "SQLSTATE 40001": raised(foreign("SerializationFailure", sqlstate="40001")),
    "SQLSTATE 08006": raised(foreign("ConnectionFailure", pgcode="08006")),
    "sqlite3.IntegrityError": raised(sqlite3.IntegrityError("x")),
    "sqlite3.ProgrammingError": raised(sqlite3.ProgrammingError("x")),
    "sqlite3.OperationalError": raised(sqlite3.OperationalError("x")),
    "gRPC INVALID_ARGUMENT": raised(foreign("RpcError", code=lambda _: Code("INVALID_ARGUMENT"))),
    "gRPC UNAVAILABLE": raised(foreign("RpcError", code=lambda _: Code("UNAVAILABLE"))),
    "JSON-RPC -32602": raised(foreign("McpError", error={"code": -32602})),
    "JSON-RPC -32603": raised(foreign("McpError", error={"code": -32603})),
    "ToolException": raised(ToolException("x")),
    "TimeoutError": raised(TimeoutError("x")),
    "ConnectionResetError": raised(ConnectionResetError("x")),
    "a cancellation": raised(asyncio.CancelledError()),
    "an error value": reported({"error": "x"}),
    "an error value, 404": reported({"error": "x", "status_code": 404}),
    "an error value, 404 and 502": reported({"error": {"code": 502}, "status_code": 404}),
    "an error value, 503": reported({"status_code": 503}),
    "an error value, timed_out": reported({"error": "x", "timed_out": True}),
    "isError of an MCP server": reported({"isError": True, "content": "x"}),
    "a handler's message of ValueError": reported("x", raised(ValueError("x"))),
    "a handler's message of AutoReconnect": reported("x", raised(foreign("AutoReconnect"))),
    "a handler's message with 503": reported({"status_code": 503}, raised(ValueError("x"))),
}
COLUMNS = {
    "undeclared": {},
    "declared to act": {"declared": True},
    "declared, atomic": {"declared": True, "atomic": True},
}


def table():
    lines = [(f"{'what left the tool':40}" + "".join(f"{each:18}" for each in COLUMNS)).rstrip()]
    for name, error in ERRORS.items():
        row = [
            outcome_of(error, **{"atomic": False, "home": __name__, **more})
            for more in COLUMNS.values()
        ]
        lines.append((f"{name:40}" + "".join(f"{each:18}" for each in row)).rstrip())
    return "\n".join([*lines, ""])


def test_the_table_is_the_one_that_is_written_down():
    print(table())  # noqa: T201
    assert table() == TABLE.read_text("utf-8")


CLIENTS = [
    ("botocore.exceptions", "ConnectionClosedError", {"endpoint_url": "x"}),
    ("botocore.exceptions", "HTTPClientError", {"error": "x"}),
    ("requests.exceptions", "ChunkedEncodingError", {}),
    ("httpx", "TooManyRedirects", {"message": "x"}),
    ("sqlalchemy.exc", "ResourceClosedError", {}),
    ("openai", "APIResponseValidationError", None),
    ("concurrent.futures.process", "BrokenProcessPool", {}),
    ("subprocess", "CalledProcessError", {"returncode": 1, "cmd": "x"}),
]


@pytest.mark.parametrize(("module", "name", "fields"), CLIENTS, ids=[each[1] for each in CLIENTS])
def test_what_comes_out_of_another_package_without_a_status_is_lost(module, name, fields):
    kind = getattr(importlib.import_module(module), name)
    error = kind.__new__(kind) if fields is None else kind(**fields)
    assert outcome_of(raised(error), atomic=True, declared=True, home=__name__) is Outcome.LOST


def test_the_kind_of_an_error_only_ever_adds_a_doubt():
    for outcome in Outcome:
        for kind in ErrorKind:
            grown = with_doubt(outcome, [kind])
            assert grown is (Outcome.LOST if kind in ("timeout", "transient") else outcome)


def test_a_text_stands_in_for_no_status():
    error = reported("429 rooms match", raised(TimeoutError("x")))
    assert isinstance(error, ToolReportedError)
    assert (error.status_code, error.code) == (None, None)
