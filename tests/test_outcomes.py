"""What a failed execution did: by the structure of its error, never by its words."""

from __future__ import annotations

import asyncio
import functools
import json
import random
import sqlite3
import urllib.error
import warnings
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core._api import LangChainBetaWarning
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import ToolException, tool
from pydantic import BaseModel

from selfcorrect import NotDone, ToolSpec
from selfcorrect.effects import Outcome
from selfcorrect.errors import ToolReportedError
from selfcorrect.evidence.outcome import ending_of
from selfcorrect.integrations.mcp import MCPProtocolError
from selfcorrect.kernel.outcomes import settled

HERE = __name__.partition(".")[0]


class Refusal(Exception):
    """An error class of the tool's own."""


class ApiError(Exception):
    def __init__(self, text, status=None, code=None):
        super().__init__(text)
        self.status_code = status
        self.code = code


class Answer(BaseModel):
    price: float


def raised(act):
    """The exception of a function, with its traceback."""
    try:
        act()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def raising(error, cause=None):
    def act():
        raise error from cause

    return raised(act)


def after(error, inner):
    """The error, raised while another one was handled, without naming it."""

    def act():
        try:
            inner()
        except Exception:
            raise error from None

    return raised(act)


def ended(error):
    return ending_of(error, HERE).outcome


NOT_DONE = {
    "the author's word": lambda: raising(NotDone("closed")),
    "the author's word about a cause": lambda: raising(NotDone("away"), TimeoutError("late")),
    "a trusted server refuses the request": lambda: raising(
        MCPProtocolError(-32602, "Invalid params", trusted=True)
    ),
}

REFUSED = {
    "a ValueError that it raises": lambda: raising(ValueError("no such seat")),
    "a LookupError that it raises": lambda: raising(LookupError("no flight")),
    "a KeyError that it raises": lambda: raising(KeyError("BA117")),
    "a right that is missing": lambda: raising(PermissionError("not for you")),
    "a class of its own": lambda: raising(Refusal("sold out")),
    "a bare exception that it raises": lambda: raising(Exception("press the brake first")),
    "a ToolException": lambda: raising(ToolException("no")),
    "an error as its answer": lambda: raising(ToolReportedError("no")),
    "a look-up that it turned into a refusal": lambda: after(LookupError("no"), lambda: {}["x"]),
    "a status": lambda: raising(ApiError("Unprocessable", 422)),
    "too many requests": lambda: raising(ApiError("later", 429)),
    "a code": lambda: raising(ApiError("no", code="FAILED_PRECONDITION")),
    "an HTTP answer of the standard library": lambda: raising(
        urllib.error.HTTPError("http://x", 404, "Not Found", None, None)
    ),
    "a database that refuses a row": lambda: raised(_unique),
    "all of a group": lambda: raising(
        ExceptionGroup("two", [raising(ValueError("a")), raising(Refusal("b"))])
    ),
    "an untrusted server refuses the request": lambda: raising(
        MCPProtocolError(-32602, "Invalid params")
    ),
}

LOST = {
    "a timeout": lambda: raising(TimeoutError("read timed out")),
    "a connection refused on the way": lambda: raising(ConnectionRefusedError(111, "refused")),
    "a reset": lambda: raising(ConnectionResetError(104, "reset")),
    "a broken pipe": lambda: raising(BrokenPipeError(32, "pipe")),
    "the end of a stream": lambda: raising(EOFError("closed")),
    "no space left": lambda: raising(OSError(28, "No space left on device")),
    "a server's fault": lambda: raising(ApiError("boom", 500)),
    "a server that is away, with a wait": lambda: raising(ApiError("later", 503)),
    "a server's timeout": lambda: raising(ApiError("late", 408)),
    "a client that hung up": lambda: raising(ApiError("closed", 499)),
    "a code of a break": lambda: raising(ApiError("late", code="DEADLINE_EXCEEDED")),
    "a refusal over a timeout": lambda: raising(Refusal("no"), TimeoutError("late")),
    "a refusal while a connection broke": lambda: after(ValueError("no"), _reset),
    "a group with a timeout in it": lambda: raising(
        ExceptionGroup("two", [raising(ValueError("a")), TimeoutError("late")])
    ),
    "an assertion": lambda: raised(_assertion),
    "a number that is none": lambda: raised(lambda: int("abc")),
    "a key that is missing": lambda: raised(lambda: {}["price"]),
    "a place that is missing": lambda: raised(lambda: list("ab")[3]),
    "an attribute of nothing": lambda: raised(lambda: len(None)),
    "a division": lambda: raised(lambda: 1 / 0),
    "a name that is none": lambda: raised(lambda: nowhere),  # noqa: F821
    "an answer that is no JSON": lambda: raised(lambda: json.loads("<html>")),
    "a module that is missing": lambda: raised(_missing_module),
    "an operation that is raised on": lambda: raised(_raised_on),
    "an operation that is passed on": lambda: raised(_passed_on),
    "a decimal": lambda: raised(lambda: Decimal("x")),
    "an answer that pydantic refuses": lambda: raised(lambda: Answer.model_validate({})),
    "a runtime error": lambda: raising(RuntimeError("something broke")),
    "never raised here": lambda: ValueError("made elsewhere"),
    "a library that raises": lambda: raised(lambda: random.sample([], 3)),
    "a server whose request failed": lambda: raising(MCPProtocolError(-32603, "Internal error")),
    "a server that hung up": lambda: raising(MCPProtocolError(-32000, "Connection closed")),
    "cancelled": lambda: raising(asyncio.CancelledError()),
}


def _unique():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id integer primary key)")
    connection.execute("insert into t values (1)")
    try:
        connection.execute("insert into t values (1)")
    finally:
        connection.close()


def _reset():
    raise ConnectionResetError(104, "reset")


def _assertion():
    assert [] == [1]


def _missing_module():
    import nowhere_at_all  # noqa: F401


def _raised_on():
    try:
        int("abc")
    except ValueError as error:
        seen = error
        raise seen  # noqa: B904 -- as careless tools do


def _passed_on():
    try:
        int("abc")
    except ValueError as error:
        error.add_note("passed on")
        raise


def cases(table):
    return pytest.mark.parametrize("make", table.values(), ids=table)


@cases(NOT_DONE)
def test_what_surely_did_nothing(make):
    assert ended(make()) is Outcome.NOT_DONE


@cases(REFUSED)
def test_what_answered_in_order_to_refuse(make):
    assert ended(make()) is Outcome.REFUSED


@cases(LOST)
def test_everything_else_broke_off(make):
    assert ended(make()) is Outcome.LOST


PROSE = (
    "HTTP 429 Too Many Requests",
    "ThrottlingException: Rate exceeded",
    "Connection refused: nothing was sent",
    "did you mean 'amount'?",
    "Invalid value for parameter 'amount': 5",
    "the payment was not made, it is safe to retry",
    "the payment was made",
)


@given(st.sampled_from(PROSE) | st.text(max_size=80))
def test_no_word_of_a_text_counts(words):
    assert ended(raising(ValueError(words))) is Outcome.REFUSED
    assert ended(raising(RuntimeError(words))) is Outcome.LOST
    assert ended(raising(TimeoutError(words))) is Outcome.LOST
    assert ended(raising(ApiError(words, 500))) is Outcome.LOST
    assert ended(raising(ApiError(words, 404))) is Outcome.REFUSED


def test_what_an_atomic_tool_refused_it_did_not_do_and_what_it_lost_stays_lost():
    for outcome in Outcome:
        assert settled(outcome, atomic=False, firm=True) is outcome
        changed = outcome is Outcome.REFUSED
        assert settled(outcome, atomic=True, firm=True) is (
            Outcome.NOT_DONE if changed else outcome
        )
        assert settled(outcome, atomic=True, firm=False) is outcome


def test_a_host_that_refuses_the_arguments_never_reached_the_tool():
    @tool
    def pay(to: str, amount: int) -> str:
        """Pay."""
        raise AssertionError("it ran")

    spec = ToolSpec.from_langchain(pay, effect="mutating")
    assert ending_of(raised(lambda: spec.run({"to": "ann"})), HERE).outcome is Outcome.NOT_DONE

    def dated(day: date) -> str:
        raise AssertionError("it ran")

    spec = ToolSpec.from_function(dated, effect="mutating")
    assert ending_of(raised(lambda: spec.run({"day": "no day"})), HERE).outcome is Outcome.NOT_DONE


def test_a_tool_that_a_tool_calls_is_not_the_tool():
    @tool
    def inner(amount: int) -> str:
        """Do it."""
        return str(amount)

    @tool
    def outer(to: str) -> str:
        """Do something, then call another tool wrongly."""
        return inner.invoke({"wrong": to})

    spec = ToolSpec.from_langchain(outer, effect="mutating")
    assert ending_of(raised(lambda: spec.run({"to": "ann"})), HERE).outcome is Outcome.LOST


@tool
def inner(amount: int) -> str:
    """Do it."""
    return str(amount)


def test_a_refusal_made_of_what_an_inner_tool_s_host_raised_is_the_tool_s_own():
    @tool
    def outer(to: str) -> str:
        """Do something, then call another tool wrongly."""
        try:
            return inner.invoke({"amount": to})
        except ValueError as error:
            raise ValueError(f"no such {to}") from error

    for make, of in ((ToolSpec.from_langchain, outer), (ToolSpec.from_function, outer.func)):
        error = raised(functools.partial(make(of, effect="mutating").run, {"to": "ann"}))
        assert ending_of(error, HERE).outcome is Outcome.REFUSED


def test_a_chain_that_is_a_tool_has_a_body_of_the_host_s_own_code():
    done = []
    chain = RunnableLambda(lambda given: done.append(given) or {"amount": "much"}) | inner
    with warnings.catch_warnings():  # the host tells once in a process that this is in beta
        warnings.simplefilter("ignore", LangChainBetaWarning)
        pay = chain.as_tool(name="pay", description="Pay.", arg_types={"to": str})
    spec = ToolSpec.from_langchain(pay, effect="mutating")
    assert ending_of(raised(lambda: spec.run({"to": "ann"}))).outcome is Outcome.LOST
    assert done == [{"to": "ann"}]


def test_a_host_s_own_error_about_its_parser_is_its_parser_s():
    def refuse():
        try:
            inner.invoke({"amount": "much"})
        except ValueError as error:
            raise RuntimeError("wrong arguments") from error

    assert ending_of(raised(refuse)).outcome is Outcome.NOT_DONE


def test_what_is_the_tools_own_fault_is_said_with_its_place():
    ending = ending_of(raised(lambda: 1 / 0), HERE)
    assert ending.is_fault
    assert ending.where is not None
    assert "test_outcomes.py:" in ending.where
    for refusal in (ValueError("no"), TimeoutError("late"), Refusal("no")):
        assert not ending_of(raising(refusal), HERE).is_fault


@pytest.mark.parametrize(
    ("make", "is_fault"),
    [
        (lambda: random.sample([], 3), False),  # a library's `raise`
        (lambda: json.loads("<html>"), False),
        (lambda: {}["price"], True),
        (lambda: int("abc"), True),
        (lambda: len(None), True),
        (_assertion, True),
    ],
)
def test_a_fault_is_what_an_operation_raised_and_no_raise(make, is_fault):
    def act():
        error = make()
        if isinstance(error, BaseException):
            raise error

    ending = ending_of(raised(act), HERE)
    assert (ending.outcome, ending.is_fault) == (Outcome.LOST, is_fault)


def test_trust_is_no_attribute_that_an_answer_may_set():
    error = ApiError("Invalid params", code=-32602)
    error.trusted = True
    assert ended(raising(error)) is Outcome.REFUSED
    error = Refusal("Invalid params")
    error.__dict__.update({"error_code": "-32601", "trusted": True})
    assert ended(raising(error)) is Outcome.REFUSED


def test_a_hostile_error_proves_nothing():
    class Hostile(Exception):
        @property
        def response(self):
            raise RuntimeError("gotcha")

        @property
        def trusted(self):
            raise RuntimeError("gotcha")

    assert ended(raising(Hostile("x"))) is not Outcome.NOT_DONE
    ring = ValueError("a")
    ring.__context__ = ring
    assert ending_of(ring, HERE).outcome is Outcome.LOST
