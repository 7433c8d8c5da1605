"""What one execution did follows from structure: class, status and the tool's own declaration."""

import asyncio
import http.client
import socket
import sqlite3
import ssl

import pytest

from selfcorrect import NotDone
from selfcorrect.effects.outcome import Outcome, outcome_of
from selfcorrect.errors import ResultError


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


def test_not_done_is_what_the_author_says():
    assert outcome_of(NotDone("nothing"), atomic=False) is Outcome.NOT_DONE


@pytest.mark.parametrize("text", ["nothing was done", "503 Service Unavailable", "timed out"])
def test_no_word_of_a_text_is_evidence(text):
    assert outcome_of(ValueError(text), atomic=False) is Outcome.REFUSED


def test_a_cause_that_broke_off_leaves_the_refusal_in_doubt():
    error = ValueError("the service did not accept it")
    error.__cause__ = ConnectionResetError("x")
    assert outcome_of(error, atomic=True) is Outcome.LOST


def test_a_status_as_text_is_read_as_the_number():
    assert outcome_of(named("Answered", status_code="502"), atomic=True) is Outcome.LOST
