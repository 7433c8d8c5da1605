"""One life of a real process: takes up a task and runs it until it is done or killed.

The effect is one committed row in a database of its own.
"""

from __future__ import annotations

import locale
import sqlite3
import time
from contextlib import closing
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from selfcorrect import ToolSpec, build_graph
from selfcorrect.ledger import PostgresLedger, SqliteLedger


class World:
    """Real effects: rows that are committed."""

    def __init__(self, kind: str, where: str) -> None:
        self.kind, self.where = kind, where

    def connect(self) -> Any:
        if self.kind == "sqlite":
            return sqlite3.connect(self.where + ".world", timeout=20, isolation_level=None)
        import psycopg

        return psycopg.connect(self.where, autocommit=True)

    def book(self, thread: str, seats: int) -> str:
        """Book seats."""
        mark = "?" if self.kind == "sqlite" else "%s"
        time.sleep(0.002)
        with closing(self.connect()) as connection:
            connection.execute(f"INSERT INTO effects VALUES ({mark}, {mark})", (thread, seats))
        time.sleep(0.002)
        return f"{seats} for {thread}"


def make(kind: str, where: str) -> None:
    """Lay the tables out, before any process is killed."""
    with closing(World(kind, where).connect()) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS effects (thread TEXT, seats INTEGER)")


def main(kind: str, where: str, checkpoints: str, thread: str, said: Any) -> None:
    """Take the task up where it was left; tell `said` when it starts, and how it ended."""
    world = World(kind, where)
    ledger = (SqliteLedger if kind == "sqlite" else PostgresLedger)(where)
    # Under a Turkish locale sqlite3 before Python 3.13 begins no transaction for an INSERT: what
    # LangGraph's checkpointer writes of one step could be cut in two, and nobody could resume it.
    locale.setlocale(locale.LC_CTYPE, "C")
    connection = sqlite3.connect(checkpoints, timeout=20, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    graph = build_graph(
        [ToolSpec.from_function(world.book, effect="mutating")],
        ledger=ledger,
        checkpointer=SqliteSaver(connection),
    )
    config: Any = {"configurable": {"thread_id": thread}}
    call = {"name": "book", "args": {"thread": thread, "seats": "2"}, "id": "c1"}
    said.send("ready")
    known = graph.get_state(config)
    # A step that was written and not yet taken up is in `tasks`, and no longer in `next`.
    if known.values and not known.tasks:
        out: Any = known.values
    else:
        given = None if known.tasks else {"call": call, "task_id": thread}
        out = graph.invoke(given, config, durability="sync")
    failure = out.get("failure")
    said.send(failure["reason"] if failure else out["result"])


def warm_up() -> None:
    """Load everything that a run needs, before processes are forked that are to be killed."""

    def nothing(thread: str, seats: int) -> str:
        """Book nothing."""
        raise PermissionError(f"{seats} for {thread}")

    graph = build_graph([nothing], checkpointer=InMemorySaver())
    call = {"name": "nothing", "args": {"thread": "", "seats": "2"}}
    graph.invoke({"call": call}, {"configurable": {"thread_id": "warm"}})


warm_up()
