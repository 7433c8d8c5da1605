"""Whether a tool may have acted before it failed: certain only with evidence."""

import pytest

from selfcorrect.effects import Outcome
from selfcorrect.evidence import diagnosed, outcome_of, read_error
from selfcorrect.loading import load_map
from selfcorrect.model import Call
from selfcorrect.tools import ToolSpec

NOT_DONE, MAYBE = Outcome.NOT_DONE, Outcome.MAYBE


def book(flight: str, seats: int = 1, date: str = "") -> str:
    """Book seats."""
    return f"{flight} {seats} {date}"


BOOK = ToolSpec.from_function(book, effect="mutating")
ARGS = {"flight": "BA117", "seats": 4, "date": "tomorrow"}


class Refusal(Exception):
    """An error class of the tool's own."""


class ApiError(Exception):
    def __init__(self, text, status):
        super().__init__(text)
        self.status_code = status


def because(outer, inner):
    outer.__cause__ = inner
    return outer


CERTAIN = {
    "a parameter is named": ValueError("Invalid date format for 'date'"),
    "a value is repeated": ValueError("time data 'tomorrow' does not match format '%Y-%m-%d'"),
    "a number is repeated": ValueError("Value for 'seats' must be <= 3"),
    "raised on purpose, about a thing": LookupError("Flight for given route not found"),
    "a class of one's own, about a rule": Refusal("Flight is sold out"),
    "a class of one's own, about a duplicate": Refusal("This booking already exists"),
    "a key that the caller named": KeyError("BA117"),
    "not for this caller": PermissionError("You do not have permission to book"),
    "never will be": NotImplementedError("group bookings are not implemented"),
    "a status that refuses": ApiError("Unprocessable", 422),
    "not let in": ApiError("Unauthorized", 401),
    "turned away": ApiError("Too many requests", 429),
    "a conflict": ApiError("Conflict", 409),
    "not offered": ApiError("Not Implemented", 501),
    "refused at the door": ConnectionRefusedError(111, "Connection refused"),
}

OPEN = {
    "a bare index": IndexError("list index out of range"),
    "a bare key": KeyError("price"),
    "a bare attribute": AttributeError("'NoneType' object has no attribute 'json'"),
    "a bare type": TypeError("'NoneType' object is not subscriptable"),
    "a bare division": ZeroDivisionError("division by zero"),
    "an assertion": AssertionError(""),
    "a runtime error": RuntimeError("something broke"),
    "a value of the answer": ValueError("could not convert string to float: 'N/A'"),
    "a date of the answer": ValueError("Invalid isoformat string: '0000-00-00'"),
    "an answer that is no JSON": ValueError("Expecting value: line 1 column 1 (char 0)"),
    "a file of the tool's own": FileNotFoundError(2, "No such file or directory", "/var/r.pdf"),
    "no right to write the receipt": PermissionError(13, "Permission denied", "/var/r.pdf"),
    "no space for the receipt": OSError(28, "No space left on device"),
    "timed out": TimeoutError("timed out"),
    "reset": ConnectionResetError(104, "Connection reset by peer"),
    "pipe": BrokenPipeError(32, "Broken pipe"),
    "a fault of the server": ApiError("Internal Server Error", 500),
    "a bad gateway": ApiError("Bad Gateway", 502),
    "a gateway's timeout": ApiError("Gateway Timeout", 504),
    "unavailable": ApiError("Service Unavailable", 503),
    "the server's timeout": ApiError("Request Timeout", 408),
    "a second connection refused": because(
        ValueError("booked, but the mail was not sent"), ConnectionRefusedError(111, "refused")
    ),
    "a class of one's own over a refused connection": because(
        Refusal("could not notify"), ConnectionRefusedError(111, "refused")
    ),
    "a class of one's own over a timeout": because(Refusal("no seats"), TimeoutError("timed out")),
    "nothing": Exception(""),
    "unknown": Exception("zzz"),
}


def outcomes(error, tool=BOOK, args=ARGS):
    strategies = load_map()
    found = read_error(error, Call(tool.name, dict(args)), tool)
    decided = [
        diagnosed(item, lambda f: strategies.decide(f, tool.name), dict(args), tool.schema)
        for item in found
    ]
    return {outcome_of(item, args, tool.schema) for item in decided}


@pytest.mark.parametrize("error", CERTAIN.values(), ids=CERTAIN)
def test_a_refusal_did_nothing(error):
    assert outcomes(error) == {NOT_DONE}


@pytest.mark.parametrize("error", OPEN.values(), ids=OPEN)
def test_anything_else_may_have_acted(error):
    assert MAYBE in outcomes(error)


def test_our_own_check_comes_before_the_call():
    from selfcorrect.schema import Checker

    found = Checker(BOOK.schema, "tool").violations({"seats": "many"})
    said = [outcome_of(item, {"seats": "many"}, BOOK.schema) for item in found]
    assert set(said) == {NOT_DONE}


def test_only_the_transport_in_the_chain_was_never_sent():
    httpx = pytest.importorskip("httpx")
    inner = ConnectionRefusedError(111, "Connection refused")
    refused = because(httpx.ConnectError("[Errno 111] Connection refused"), inner)
    assert outcomes(refused) == {NOT_DONE}
    assert outcomes(httpx.ReadTimeout("timed out")) == {MAYBE}
    assert outcomes(httpx.ReadError("closed")) == {MAYBE}


def test_a_database_refuses_a_statement_as_a_whole():
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id integer primary key)")
    connection.execute("insert into t values (1)")
    for statement in ("insert into t values (1)", "insert into u values (1)", "insrt into t"):
        with pytest.raises(sqlite3.Error) as caught:
            connection.execute(statement)
        assert outcomes(caught.value) == {NOT_DONE}
    assert outcomes(sqlite3.OperationalError("disk I/O error")) == {MAYBE}
    connection.close()


def test_an_answer_that_pydantic_refuses_is_no_refusal_of_the_call():
    from pydantic import BaseModel, ValidationError

    class Answer(BaseModel):
        price: float

    with pytest.raises(ValidationError) as caught:
        Answer.model_validate({"price": "N/A"})
    assert outcomes(caught.value) == {MAYBE}
