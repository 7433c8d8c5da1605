"""Whatever comes in whatever order: no call is made twice, and no doubt is forgotten."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import ToolSpec, build_graph
from selfcorrect.ledger import SqliteLedger
from selfcorrect.loop.context import AGAIN

THREADS, IDS = st.sampled_from(["t", "u"]), st.sampled_from(["c1", "c2", None])
AMOUNTS = st.sampled_from([5, "5", 6])
COLUMNS = st.sampled_from(["status", "scope", "doubt", "value", "holder", "about", "checksum"])


class Memory(RuleBasedStateMachine):
    """Calls of two threads, against what may be made at most."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger.db"
        self.saver = InMemorySaver()
        self.paid: list[tuple[Any, ...]] = []
        self.now: tuple[Any, ...] = ()
        self.ending: type[BaseException] | None = None
        self.done: set[tuple[Any, ...]] = set()
        self.lost: set[tuple[Any, ...]] = set()
        self.own: set[tuple[Any, ...]] = set()
        self.is_damaged = False
        self.ledger: SqliteLedger | None = None
        self.restarts()

    def pay(self, amount: int) -> int:
        """Pay."""
        self.paid.append(self.now)
        if self.ending is not None:
            raise self.ending("no answer")
        return amount

    @rule()
    def restarts(self) -> None:
        """Another process takes over the file and the checkpoints."""
        if self.ledger is not None:
            self.ledger.close()
        self.ledger = SqliteLedger(self.path)
        self.ledger.intents()
        tool = ToolSpec.from_function(self.pay, effect="mutating")
        self.graph = build_graph([tool], ledger=self.ledger, checkpointer=self.saver)

    @rule(
        thread=THREADS,
        call_id=IDS,
        amount=AMOUNTS,
        ending=st.sampled_from([None, None, TimeoutError, KeyboardInterrupt]),
        again=st.booleans(),
    )
    def calls(
        self, thread: str, call_id: str | None, amount: Any, ending: Any, again: bool
    ) -> None:
        """A call, as new or as one that a person lets be made again."""
        given = self._given(call_id, amount)

        def make(graph: Any, config: Any) -> Any:
            config["configurable"][AGAIN] = again
            return graph.invoke(given, config)

        self._made((thread, int(amount)), call_id, ending, again, make)

    @rule(thread=THREADS, place=st.integers(0, 30))
    def goes_back(self, thread: str, place: int) -> None:
        """Time travel to any checkpoint from which the tool comes next."""
        config: Any = {"configurable": {"thread_id": thread}}
        past = [each for each in self.graph.get_state_history(config) if each.next == ("execute",)]
        if not past:
            return
        there = past[place % len(past)]
        call = there.values["current"]
        args = (thread, int(call["args"]["amount"]))
        self._made(
            args, call.get("id"), None, False, lambda graph, _: graph.invoke(None, there.config)
        )

    @rule(column=COLUMNS, value=st.sampled_from([None, "", "done", "not_done", "7"]))
    def is_hit(self, column: str, value: str | None) -> None:
        """A row in doubt is damaged; from then on more may be in doubt, and nothing less."""
        where = "(SELECT key FROM selfcorrect_intents WHERE doubt IS NOT NULL LIMIT 1)"
        with sqlite3.connect(self.path) as connection:
            try:
                statement = f"UPDATE selfcorrect_intents SET {column} = ? WHERE key = {where}"
                self.is_damaged |= connection.execute(statement, (value,)).rowcount > 0
            except sqlite3.IntegrityError:
                connection.rollback()
        connection.close()

    def _given(self, call_id: str | None, amount: Any) -> dict[str, Any]:
        call = {"name": "pay", "args": {"amount": amount}}
        return {"call": call | ({} if call_id is None else {"id": call_id})}

    def _made(self, equal: Any, call_id: Any, ending: Any, again: bool, make: Any) -> None:
        thread, _ = equal
        this, before = (*equal, call_id), len(self.paid)
        may = this not in self.done and (again or (equal not in self.lost and this not in self.own))
        self.now, self.ending = this, ending
        out: dict[str, Any] = {}
        try:
            out = make(self.graph, {"configurable": {"thread_id": thread}})
        except KeyboardInterrupt:
            assert ending is KeyboardInterrupt
        made = len(self.paid) - before
        assert made <= int(may), "made twice, or a doubt was forgotten"
        if not self.is_damaged and again and may:
            assert made, "a person said again"
        if again:
            self.lost.discard(equal)  # what was lost itself stays so for itself
        if made:
            self.own.discard(this)
        if made and ending is not None:
            self.lost.add(equal)
            self.own.add(this)
        elif made:
            self.done.add(this)
            assert out["result"] == equal[1]
        elif this in self.done and not self.is_damaged and not out.get("failure"):
            assert out.get("result") == equal[1]

    @invariant()
    def every_doubt_is_listed(self) -> None:
        """What a person has to settle can be found."""
        if self.ledger is not None and self.lost:
            assert self.ledger.intents(most=100, in_doubt=True)

    def teardown(self) -> None:
        if self.ledger is not None:
            self.ledger.close()
        self.folder.cleanup()


Memory.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestMemory = Memory.TestCase


@pytest.mark.nightly
class TestMemoryLong(Memory.TestCase):  # type: ignore[misc, name-defined]
    """The same, for as long as a night takes."""

    settings = settings(Memory.TestCase.settings, max_examples=1_000)
