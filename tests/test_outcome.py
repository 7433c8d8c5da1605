"""What one execution did follows from structure: class, status and the tool's own declaration."""

import builtins
import datetime as dt
import http
import json
import pkgutil
from contextlib import suppress

import openai
import pytest
from kit import DATA, table

from selfcorrect.diagnosis.facts import reported_error
from selfcorrect.effects import Outcome, with_doubt
from selfcorrect.effects.failure import outcome_of
from selfcorrect.errors import ToolReportedError
from selfcorrect.model import ErrorKind


def error_of(name, args=("x",), fields=()):
    """Return an error of Python, of a library, or of a class that another package has."""
    if "." in name or hasattr(builtins, name):
        home = name if "." in name else f"builtins.{name}"
        return pkgutil.resolve_name(home)(*args, **dict(fields))
    return type(name, (Exception,), {**dict(fields), "__module__": "elsewhere.client"})(*args)


def errors(section):
    return [error_of(*row) for row in table("errors.txt", section)]


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
    *errors("lost"),
    UnicodeDecodeError("utf-8", b"", 0, 1, "x"),
    error_of("Answered", fields={"status_code": http.HTTPStatus.BAD_GATEWAY}),
    error_of("Answered", fields={"response": error_of("A", fields={"status_code": 502})}),
    # What is not looked at may be anything.
    caused(20, TimeoutError("x")),
    caused(20, ValueError("x")),
    ExceptionGroup("x", [*(ValueError("x") for _ in range(20)), TimeoutError("x")]),
]
REFUSED = [*errors("refused"), circle()]


@pytest.mark.parametrize("error", LOST, ids=repr)
@pytest.mark.parametrize("atomic", [False, True])
def test_lost(error, atomic):
    assert outcome_of(error, atomic=atomic) is Outcome.LOST


@pytest.mark.parametrize("error", REFUSED, ids=repr)
def test_refused_and_not_done_only_by_an_atomic_tool(error):
    assert outcome_of(error, atomic=False) is Outcome.REFUSED
    assert outcome_of(error, atomic=True) is Outcome.NOT_DONE


@pytest.mark.parametrize("error", errors("unclear"), ids=repr)
def test_a_status_that_may_speak_of_another_request_is_never_not_done(error):
    assert outcome_of(error, atomic=False) is Outcome.REFUSED
    assert outcome_of(error, atomic=True) is Outcome.REFUSED


def test_a_cause_that_broke_off_leaves_the_refusal_in_doubt():
    error = ValueError("the service did not accept it")
    error.__cause__ = ConnectionResetError("x")
    assert outcome_of(error, atomic=True) is Outcome.LOST


class Declined(Exception):
    """An error of the tool's own package."""


class Code:
    """What gRPC's clients give for a code."""

    def __init__(self, name):
        self.name = name


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
    error.__cause__ = cause and raised(error_of(*cause))
    return error


def answered(name):
    """Return an error of gRPC, whose code is a method."""
    return raised(error_of("RpcError", fields={"code": lambda _: Code(name)}))


ERRORS = {
    **{name: raised(error_of(*error)) for name, error in table("errors.txt", "raised")},
    "a class of the tool's package": raised(Declined("x")),
    "a class of it over a KeyError": raised(Declined("x"), KeyError("x")),
    "a class of it over a timeout": raised(Declined("x"), TimeoutError("x")),
    "the same, the timeout hidden": raised(Declined("x"), TimeoutError("x"), hidden=True),
    "a class of it over another package's": raised(Declined("x"), error_of("AutoReconnect")),
    "ValueError out of a library": raised_in_library(dt.datetime.strptime, "x", "%Y"),
    "ValueError that nobody raised": ValueError("x"),
    "JSONDecodeError": raised_in_library(json.loads, "<html>"),
    "gRPC INVALID_ARGUMENT": answered("INVALID_ARGUMENT"),
    "gRPC UNAVAILABLE": answered("UNAVAILABLE"),
    **{name: reported(*given) for name, *given in table("errors.txt", "reported")},
}
COLUMNS = {
    "undeclared": {},
    "declared to act": {"declared": True},
    "declared, atomic": {"declared": True, "atomic": True},
}


def written():
    lines = [(f"{'what left the tool':40}" + "".join(f"{each:18}" for each in COLUMNS)).rstrip()]
    for name, error in ERRORS.items():
        row = [
            outcome_of(error, **{"atomic": False, "home": __name__, **more})
            for more in COLUMNS.values()
        ]
        lines.append((f"{name:40}" + "".join(f"{each:18}" for each in row)).rstrip())
    return "\n".join([*lines, ""])


def test_the_table_is_the_one_that_is_written_down():
    print(written())  # noqa: T201
    assert written() == (DATA / "outcome.txt").read_text("utf-8")


UNREADABLE = openai.APIResponseValidationError
LIBRARIES = [*errors("libraries"), UNREADABLE.__new__(UNREADABLE)]


@pytest.mark.parametrize("error", LIBRARIES, ids=lambda each: type(each).__name__)
def test_what_comes_out_of_another_package_without_a_status_is_lost(error):
    assert outcome_of(raised(error), atomic=True, declared=True, home=__name__) is Outcome.LOST


def test_the_kind_of_an_error_only_ever_adds_a_doubt():
    for outcome in Outcome:
        for kind in ErrorKind:
            grown = with_doubt(outcome, [kind])
            assert grown is (Outcome.LOST if kind in ("timeout", "transient") else outcome)


def test_a_text_stands_in_for_no_status():
    error = reported("429 rooms match", ["TimeoutError", ["x"]])
    assert isinstance(error, ToolReportedError)
    assert (error.status_code, error.code) == (None, None)
