"""One rule in every host: `play`, a graph, an agent and a tool node say the same of a tool."""

import pytest
from hosts import HOSTS
from kit import Answered, table
from langchain_core.tools import ToolException

from selfcorrect import NotDone, Retry, on_error
from selfcorrect.ledger import MemoryLedger

CALL = {"to": "ann", "note": "error"}


class Declined(Exception):
    """An error of the tool's own package."""


Foreign = type("AutoReconnect", (Exception,), {"__module__": "elsewhere.client"})

ENDS = {
    **dict(table("hosts.txt", "values")),
    "NotDone": NotDone("nothing was done"),
    "ValueError": ValueError("the seat is taken"),
    "ValueError that speaks of time": ValueError("the request timed out"),
    "KeyError": KeyError("seat"),
    "TypeError": TypeError("x"),
    "a class of the tool's own": Declined("declined"),
    "another package's": Foreign("closed"),
    "ToolException": ToolException("no"),
    "TimeoutError": TimeoutError("no answer"),
    **{str(status): Answered(status) for status in (101, 200, 302, 400, 404, 408, 409)},
    **{str(status): Answered(status) for status in (422, 500, 503)},
}
EFFECTS = {
    "undeclared": {},
    "mutating": {"effect": "mutating"},
    "atomic": {"effect": "mutating", "atomic": True},
    "destructive": {"effect": "destructive"},
    "read_only": {"effect": "read_only"},
}


def book_of(end, metadata):
    """Return a tool that ends like this, as a function of this module."""

    def book(to: str, note: str):
        """Book."""
        if isinstance(end, BaseException):
            raise end
        return end

    book.metadata = metadata
    return book


def did(host, book, **options):
    """Return what the executions of a call did, one after the other."""
    trail = host([book], "book", CALL, **options)["trail"]
    return [event["did"] for event in trail if "did" in event]


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("end", ENDS)
def test_an_execution_has_one_outcome_in_every_host(end, effect):
    limits = {"attempts": 1}
    found = [did(host, book_of(ENDS[end], EFFECTS[effect]), limits=limits) for host in HOSTS]
    assert found[0]
    assert found.count(found[0]) == len(HOSTS), found


@pytest.mark.parametrize("decision", [Retry(2), Retry(2, even_if_lost=True)], ids=repr)
@pytest.mark.parametrize("end", [ValueError("x"), TimeoutError("x"), Answered(503)], ids=repr)
def test_a_handler_means_the_same_in_every_host(end, decision):
    handler = on_error(execution_error=lambda _: decision)
    found = [
        did(host, book_of(end, {"effect": "mutating"}), on_error=handler, ledger=MemoryLedger())
        for host in HOSTS
    ]
    assert len(found[0]) == (3 if decision.even_if_lost or isinstance(end, ValueError) else 1)
    assert found.count(found[0]) == len(HOSTS), found
