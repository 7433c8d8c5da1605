"""The graph `human_gate`: on real books, no money moves that nobody approved, and none twice."""

from __future__ import annotations

import importlib.util
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect.cli.show import verdict
from selfcorrect.mapping.strategy_map import StrategyMap

FILE = Path(__file__).parents[1] / "graphs" / "human_gate.py"


def load():
    spec = importlib.util.spec_from_file_location("graph_under_test", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gates = load()
STRATEGIES = StrategyMap.load("operator_safe")
PAID = {"number": "INV-7", "cents": 500}
CONFIG = {"configurable": {"thread_id": "1"}}
APPROVE = {"action": "approve"}


class TurnedAway(Exception):
    """The bank was busy and did nothing."""

    status_code = 429
    headers = {"Retry-After": "0"}  # noqa: RUF012


class FlakyBooks(gates.Books):
    failures: list = []  # noqa: RUF012

    def pay(self, number, cents, currency):
        if self.failures:
            raise self.failures.pop(0)
        return super().pay(number, cents, currency)


@pytest.fixture
def books():
    with closing(FlakyBooks()) as books:
        books.failures = []
        yield books


def paying(books, **args):
    graph = gates.make_graph(STRATEGIES, books=books, checkpointer=InMemorySaver())
    return graph, graph.invoke({"call": {"name": "pay_invoice", "args": args}}, CONFIG)


def question(out):
    (asked,) = out["__interrupt__"]
    return asked.value


@pytest.mark.parametrize("example", gates.examples(), ids=lambda example: example["title"])
def test_what_becomes_of_the_examples_is_what_they_say(example):
    assert verdict(gates.graph.invoke(example["input"])) == example["expect"]


def test_every_way_to_an_execution_is_drawn_through_the_gate():
    edges = gates.graph.get_graph().edges
    assert {edge.source for edge in edges if edge.target == "execute"} == {"before_execute"}


def test_reading_asks_nobody(books):
    graph = gates.make_graph(STRATEGIES, books=books, checkpointer=InMemorySaver())
    out = graph.invoke({"call": {"name": "list_invoices", "args": {}}}, CONFIG)
    assert [row["number"] for row in out["result"]] == ["INV-7", "INV-8"]


def test_money_moves_after_an_approval_and_once(books):
    graph, out = paying(books, **PAID)
    assert question(out)["call"]["args"] == PAID
    assert books.payments() == []
    out = graph.invoke(Command(resume=APPROVE), CONFIG)
    assert out["result"]["cents"] == 500
    assert books.payments() == [("INV-7", 500)]


def test_nobody_to_ask_means_no_money(books):
    out = gates.make_graph(STRATEGIES, books=books).invoke(
        {"call": {"name": "pay_invoice", "args": PAID}}
    )
    assert out["failure"]["reason"] == "needs_person"
    assert "500" in out["failure"]["question"]["question"]
    assert books.payments() == []


def test_a_person_may_pay_another_amount(books):
    graph, _ = paying(books, **PAID)
    edited = {"action": "edit", "args": PAID | {"cents": 300}}
    out = graph.invoke(Command(resume=edited), CONFIG)
    assert out["result"]["cents"] == 300
    assert books.payments() == [("INV-7", 300)]
    (change,) = [change for event in out["trail"] for change in event.get("changes", [])]
    assert change["safety"] == "human"


def test_an_edit_that_does_not_fit_the_tool_pays_nothing(books):
    graph, _ = paying(books, **PAID)
    graph.invoke(Command(resume={"action": "edit", "args": {"cents": -1}}), CONFIG)
    assert books.payments() == []


NOT_A_YES = (
    *(False, True, 1, "", "no", "reject", "yes, but not now", "approved?", [], ["approve"]),
    *({"action": "reject"}, {"action": "edit"}, {"action": "answer", "value": 500}),
    *({"approve": True}, {"action": ["approve"]}, {"action": "edit", "args": "approve"}),
)


@pytest.mark.parametrize("answer", NOT_A_YES, ids=repr)
def test_whatever_is_not_an_approval_is_a_no(books, answer):
    graph, _ = paying(books, **PAID)
    out = graph.invoke(Command(resume=answer), CONFIG)
    assert out["failure"]["reason"] == "rejected"
    assert books.payments() == []


def test_a_call_that_was_changed_is_shown_again_as_it_will_run(books):
    graph, out = paying(books, number="INV-7", cents="five hundred cents")
    assert "What should it be?" in question(out)["question"]
    out = graph.invoke(Command(resume={"action": "answer", "value": 500}), CONFIG)
    asked = question(out)
    assert asked["call"]["args"] == PAID
    assert asked["changes"][0]["before"] == "five hundred cents"
    assert books.payments() == []
    graph.invoke(Command(resume=APPROVE), CONFIG)
    assert books.payments() == [("INV-7", 500)]


def test_an_approved_call_that_was_turned_away_is_not_asked_about_again(books):
    books.failures = [TurnedAway("busy"), TurnedAway("busy")]
    graph, _ = paying(books, **PAID)
    out = graph.invoke(Command(resume=APPROVE), CONFIG)
    assert out["result"]["cents"] == 500
    assert books.payments() == [("INV-7", 500)]


def test_money_that_may_have_moved_is_not_moved_again(books):
    books.failures = [TimeoutError("timed out")]
    graph, _ = paying(books, **PAID)
    out = graph.invoke(Command(resume=APPROVE), CONFIG)
    assert out["failure"]["reason"] == "unknown_outcome"
    assert books.payments() == []


def test_the_books_refuse_more_than_is_open(books):
    graph, _ = paying(books, number="INV-7", cents=99_999)
    graph.invoke(Command(resume=APPROVE), CONFIG)
    assert books.payments() == []
    assert books.invoices()[0]["open"] == 12_000


def test_books_in_a_file_are_kept(tmp_path):
    path = str(tmp_path / "books.db")
    with closing(gates.Books(path)) as books:
        graph, _ = paying(books, **PAID)
        graph.invoke(Command(resume=APPROVE), CONFIG)
    with closing(gates.Books(path)) as books:
        assert books.payments() == [("INV-7", 500)]
        with pytest.raises(sqlite3.IntegrityError):
            books.pay("INV-7", 12_000, "EUR")
        assert books.payments() == [("INV-7", 500)]
