"""The map `operator_safe`, on a real bank in SQLite: nothing moves twice, or without a person."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import Field

from selfcorrect import ToolSpec, build_graph
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.testing import ScriptedModel, VirtualTime

MAP = str(Path(__file__).parents[1] / "strategies" / "operator_safe.toml")
STRATEGIES = StrategyMap.load(MAP)
SCHEMA = """
CREATE TABLE accounts (
    id TEXT PRIMARY KEY, balance INT NOT NULL, CONSTRAINT enough_money CHECK (balance >= 0));
CREATE TABLE transfers (payee TEXT NOT NULL REFERENCES accounts (id), amount REAL NOT NULL);
INSERT INTO accounts VALUES ('ours', 100), ('ann', 0);
"""


class GatewayError(Exception):
    """What the client of a payment gateway raises."""

    def __init__(self, status, text, **headers):
        super().__init__(text)
        self.status_code = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Bank:
    """Accounts on a database; `failures` are raised first, one per call, `after` acting or not."""

    def __init__(self, *failures, after=False):
        self.database = sqlite3.connect(":memory:", check_same_thread=False)
        self.database.executescript(SCHEMA)
        self.failures, self.after, self.calls = list(failures), after, 0

    def close(self):
        self.database.close()

    @property
    def sent(self):
        return self.database.execute("SELECT payee, amount FROM transfers").fetchall()

    def fail(self):
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)

    def tools(self):
        def transfer_money(payee: str, amount: float) -> str:
            """Send money to somebody."""
            if not self.after:
                self.fail()
            with self.database:
                self.database.execute("INSERT INTO transfers VALUES (?, ?)", (payee, amount))
                update = "UPDATE accounts SET balance = balance + ? WHERE id = ?"
                self.database.execute(update, (-amount, "ours"))
                self.database.execute(update, (amount, payee))
            if self.after:
                self.fail()
            return "sent"

        def list_transfers(
            limit: Annotated[int, Field(ge=1, le=100)] = 10,
            order: Literal["newest", "oldest"] = "newest",
        ) -> list:
            """List transfers."""
            self.fail()
            return [limit, order]

        def create_invoice(amount: float, currency: Literal["EUR", "USD"] = "EUR") -> list:
            """Write an invoice."""
            self.fail()
            return [amount, currency]

        return [transfer_money, list_transfers, create_invoice]


@pytest.fixture
def bank():
    with closing(Bank()) as bank:
        yield bank


def run(bank, name, model=None, **args):
    time = VirtualTime()
    loop = assemble(bank.tools(), Options(strategies=STRATEGIES, time=time, model=model))
    return walk(loop, {"call": {"name": name, "args": args}}), time


def changes(out):
    return [change for event in out["trail"] for change in event.get("changes", [])]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        *((401, "Unauthorized"), (403, "Forbidden"), (402, "Payment Required")),
        *((429, "You exceeded your current quota"), (405, "Method Not Allowed")),
    ],
)
@pytest.mark.parametrize("name", ["transfer_money", "list_transfers"])
def test_what_an_operator_must_settle_ends_the_run_at_once(bank, status, text, name):
    bank.failures = [GatewayError(status, text)]
    model = ScriptedModel(script=[])
    args = {"payee": "ann", "amount": 5.0} if name == "transfer_money" else {}
    out, time = run(bank, name, model, **args)
    assert out["failure"]["reason"] == "terminal_kind"
    assert (bank.calls, time.slept, model.prompts, bank.sent) == (1, [], [], [])


@pytest.mark.parametrize(
    "args",
    [
        {"payee": "ann", "amount": "5"},
        {"payee": "ann", "amount": "5 euros"},
        {"payee": "ann", "sum": 5},
        {"payee": "ann", "amount": 5, "note": "thanks"},
        {"amount": 5},
        {"payee": "ann", "amount": 500},  # the bank's own constraint
        {"payee": ["ann"], "amount": 5},
    ],
)
def test_a_call_that_moves_money_is_mended_by_nobody_but_a_person(bank, args):
    model = ScriptedModel(script=[])
    out, _ = run(bank, "transfer_money", model, **args)
    executed = bool(out["failure"]["attempts"])  # the last one is the bank's own constraint
    assert out["failure"]["reason"] == ("refused" if executed else "needs_person")
    assert (changes(out), model.prompts, bank.sent) == ([], [], [])


def test_a_misspelt_tool_never_becomes_one_that_moves_money(bank):
    out, _ = run(bank, "transfer_mony", payee="ann", amount=5.0)
    assert "result" not in out
    assert bank.sent == []


def test_a_person_decides_and_the_money_moves_once(bank):
    graph = build_graph(bank.tools(), strategies=STRATEGIES, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    call = {"name": "transfer_money", "args": {"payee": "ann", "amount": "5 euros"}}
    out = graph.invoke({"call": call}, config)
    (question,) = out["__interrupt__"]
    assert "5 euros" in question.value["question"]
    out = graph.invoke(Command(resume={"action": "answer", "value": 5.0}), config)
    assert out["result"] == "sent"
    assert bank.sent == [("ann", 5.0)]


def test_a_person_may_say_no(bank):
    graph = build_graph(bank.tools(), strategies=STRATEGIES, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    call = {"name": "transfer_money", "args": {"payee": "ann", "amount": "5 euros"}}
    graph.invoke({"call": call}, config)
    out = graph.invoke(Command(resume={"action": "reject"}), config)
    assert out["failure"]["reason"] == "rejected"
    assert bank.sent == []


def test_money_that_was_turned_away_is_not_sent_again_by_itself(bank):
    bank.failures = [GatewayError(429, "slow down", retry_after="20")]
    out, time = run(bank, "transfer_money", payee="ann", amount=5.0)
    assert out["failure"]["reason"] == "refused"
    assert (bank.calls, time.slept, bank.sent) == (1, [], [])


def test_money_that_takes_one_step_is_sent_when_the_gateway_says(bank):
    bank.failures = [GatewayError(429, "slow down", retry_after="20")]
    time = VirtualTime()
    transfer = ToolSpec.from_function(bank.tools()[0], effect="destructive", atomic=True)
    loop = assemble([transfer], Options(strategies=STRATEGIES, time=time))
    call = {"name": "transfer_money", "args": {"payee": "ann", "amount": 5.0}}
    assert walk(loop, {"call": call})["result"] == "sent"
    assert 20 <= sum(time.slept) < 21
    assert bank.sent == [("ann", 5.0)]


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize(
    "error", [TimeoutError("timed out"), GatewayError(503, "oops"), ConnectionResetError(104, "")]
)
def test_money_that_may_have_been_sent_is_not_sent_again(error, after):
    with closing(Bank(error, after=after)) as bank:
        out, _ = run(bank, "transfer_money", payee="ann", amount=5.0)
        assert out["failure"]["reason"] == "unknown_outcome"
        assert bank.sent == ([("ann", 5.0)] if after else [])
        assert bank.calls == 1


def test_nothing_that_loses_meaning_runs_unasked_even_on_a_tool_that_reads(bank):
    out, _ = run(bank, "list_transfers", limit=500)
    assert out["failure"]["reason"] == "needs_person"
    assert 100 in out["failure"]["question"]["options"]
    out, _ = run(bank, "list_transfers", limit="50", order="Newest")
    assert out["result"] == [50, "newest"]


def test_the_value_of_an_amount_changes_by_nobody_but_a_person(bank):
    out, _ = run(bank, "create_invoice", amount="12.5")
    assert out["result"] == [12.5, "EUR"], "another spelling of the same value"
    for args in ({"amount": "twelve"}, {"amount": 12.5, "currency": "EURO"}):
        model = ScriptedModel(script=[{"amount": 12.0}, {"currency": "EUR"}])
        out, _ = run(bank, "create_invoice", model, **args)
        assert out["failure"]["reason"] == "needs_person"
        assert not changes(out)
