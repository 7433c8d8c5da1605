"""Payments behind a person: no money moves before somebody has seen the very call that moves it.

A guard stands before every execution. It stops the run at an interrupt and goes on with what the
person answers: approve, edit or reject. A call that does not fit the tool never comes to the guard.
A call that was approved and then turned away unsent is not asked about again; one that was changed
meanwhile is. The server brings the checkpointer; where nobody can be asked, nothing is paid.

`HUMAN_GATE_DB` names the database with the invoices; without it a small one lives in memory.
"""

import os
import sqlite3
import threading
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from selfcorrect import ToolSpec, build_graph
from selfcorrect.kernel.texts import outside
from selfcorrect.loop.context import RunContext
from selfcorrect.model import JSON
from selfcorrect.state import CorrectionState

GATED: Final = frozenset({"pay_invoice"})
SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS invoices (
    number   TEXT PRIMARY KEY,
    payee    TEXT NOT NULL,
    open     INTEGER NOT NULL CONSTRAINT not_more_than_is_open CHECK (open >= 0),
    currency TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS payments (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    invoice TEXT NOT NULL REFERENCES invoices (number),
    cents   INTEGER NOT NULL CHECK (cents > 0)
);
INSERT OR IGNORE INTO invoices VALUES
    ('INV-7', 'Ann''s Chairs', 12000, 'EUR'), ('INV-8', 'Lamps & Co', 4550, 'EUR');
"""


class Books:
    """Invoices and payments on SQLite; a payment is one transaction, whole or not at all."""

    def __init__(self, path: str = ":memory:") -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def default(cls) -> "Books":
        """The books that `HUMAN_GATE_DB` names, or fresh ones in memory."""
        return cls(os.environ.get("HUMAN_GATE_DB") or ":memory:")

    def close(self) -> None:
        """Close them; the next use opens them again (books in memory start afresh)."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def invoices(self) -> list[dict[str, JSON]]:
        """What is open, in cents."""
        with self._lock:
            rows = self._database().execute("SELECT * FROM invoices ORDER BY number").fetchall()
        names = ("number", "payee", "open", "currency")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def payments(self) -> list[tuple[str, int]]:
        """What was paid, in order."""
        with self._lock:
            query = "SELECT invoice, cents FROM payments ORDER BY id"
            return [(str(row[0]), int(row[1])) for row in self._database().execute(query)]

    def pay(self, number: str, cents: int, currency: str) -> dict[str, JSON]:
        """Pay an invoice, or a part of it.

        Raises:
            LookupError: If there is no such invoice, or not in this currency.
            sqlite3.IntegrityError: If less is open.
        """
        with self._lock, self._database() as database:
            found = database.execute(
                "SELECT payee FROM invoices WHERE number = ? AND currency = ?", (number, currency)
            ).fetchone()
            if found is None:
                raise LookupError(f"there is no open invoice {number!r} in {currency}")
            database.execute(
                "UPDATE invoices SET open = open - ? WHERE number = ?", (cents, number)
            )
            row = database.execute(
                "INSERT INTO payments (invoice, cents) VALUES (?, ?)", (number, cents)
            ).lastrowid
        return {"payment": row, "payee": found[0], "cents": cents}

    def _database(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(self.path, timeout=30, check_same_thread=False)
            self._connection.executescript(SCHEMA)
        return self._connection


def tools(books: Books) -> list[ToolSpec]:
    """One tool that reads and one that pays."""

    def list_invoices() -> Any:
        """List the invoices with what is open, in cents."""
        return books.invoices()

    def pay_invoice(
        number: Annotated[str, Field(description="As list_invoices says it: INV-7")],
        cents: Annotated[int, Field(ge=1, description="How much to pay, in cents")],
        currency: Literal["EUR", "USD"] = "EUR",
    ) -> Any:
        """Pay an invoice, or a part of it."""
        return books.pay(number, cents, currency)

    return [
        ToolSpec.from_function(list_invoices, effect="read_only"),
        ToolSpec.from_function(pay_invoice, effect="mutating", atomic=True),  # one transaction
    ]


def gate(state: CorrectionState, context: RunContext) -> dict[str, Any]:
    """Ask a person about a call that moves money, unless just this call was approved already."""
    call = state["current"]
    if call["name"] not in GATED or _was_approved(call, state):
        return {}
    question = {
        "question": f"Pay? {call['name']} with {outside(dict(call['args']), 500)}",
        "options": ["approve", "reject"],
        "call": dict(call),
        "changes": [*(state.get("changes") or ()), *(state.get("pending") or ())],
    }
    if context.ask_person is None:
        detail = "a person has to approve a payment, and nobody can be asked here"
        return {"question": question, "stop": {"reason": "needs_person", "detail": detail}}
    # An interrupt runs this node again from its top: nothing before it may have an effect.
    answer = context.ask_person(question)
    action = _action(answer)
    if action == "approve":
        return {}
    if action == "edit" and isinstance(answer, Mapping) and isinstance(answer.get("args"), dict):
        return {"current": {**call, "args": answer["args"]}}
    return {"stop": {"reason": "rejected", "detail": "a person did not approve the payment"}}


def _was_approved(call: Mapping[str, Any], state: CorrectionState) -> bool:
    """Whether just this call was executed before: nothing is executed that was not approved."""
    before = [attempt["call"] for attempt in state.get("attempts") or ()]
    return any(one["name"] == call["name"] and one["args"] == call["args"] for one in before)


def _action(answer: Any) -> Any:
    """What a person wants, in the forms of answers to other questions; anything unclear is a no."""
    if isinstance(answer, Mapping):
        answer = answer.get("choice", answer.get("value", answer.get("action")))
    return answer.strip().lower() if isinstance(answer, str) else None


def make_graph(
    strategies: Any = "operator_safe", *, books: Books | None = None, **wiring: Any
) -> Any:
    """The graph over books; `wiring` (a checkpointer, a ledger) is for `build_graph`."""
    before = {"execute": gate}
    return build_graph(
        tools(books or Books.default()), strategies=strategies, before=before, **wiring
    )


graph = make_graph()


def examples() -> list[dict[str, JSON]]:
    """Calls as inputs of the graph: `{"title", "input", "expect"}` each."""
    paid = {"number": "INV-7", "cents": 12000}
    calls = [
        ("what is open", "healthy", {"name": "list_invoices", "args": {}}),
        ("a slip in a tool that reads", "mended", {"name": "list_invoice", "args": {}}),
        ("a payment", "asked", {"name": "pay_invoice", "args": paid}),
        ("an amount in words", "asked", {"name": "pay_invoice", "args": paid | {"cents": "all"}}),
        ("a payment that does not exist", "reported", {"name": "give_money", "args": paid}),
    ]
    return [
        {"title": title, "input": {"call": call}, "expect": expect} for title, expect, call in calls
    ]
