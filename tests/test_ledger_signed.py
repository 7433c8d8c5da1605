"""Who answered a question is kept in the ledger, also in one of an earlier form."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Literal

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from typer.testing import CliRunner

from selfcorrect import SelfCorrection, ToolSpec, build_graph
from selfcorrect.cli import app
from selfcorrect.errors import LedgerError
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger
from selfcorrect.testing import Crashes, FragileLedger, ScriptedModel

DATA = Path(__file__).parent / "data"
CONFIG = {"configurable": {"thread_id": "t"}}
PAY = {
    "name": "pay",
    "parameters": {
        "type": "object",
        "properties": {"to": {"type": "string", "enum": ["ann", "bob"]}},
        "required": ["to"],
    },
}


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    if request.param == "memory":
        made = MemoryLedger()
    elif request.param == "sqlite":
        made = SqliteLedger(tmp_path / "ledger.db")
    else:
        made = PostgresLedger(request.getfixturevalue("postgres"))
    yield made
    if request.param != "memory":
        made.close()


def asked(ledger, pay=lambda to: f"paid {to}"):
    graph = build_graph(
        [ToolSpec.from_schema(PAY, call=pay, effect="mutating")],
        ledger=ledger,
        checkpointer=InMemorySaver(),
    )
    out = graph.invoke({"call": {"name": "pay", "args": {"to": "carl"}, "id": "c"}}, CONFIG)
    assert out["__interrupt__"]
    return graph


def answered(graph, **by):
    return graph.invoke(Command(resume={"action": "answer", "value": "ann", **by}), CONFIG)


def test_who_answered_stands_beside_the_intent(ledger):
    assert answered(asked(ledger), by="eve")["result"] == "paid ann"
    (intent,) = ledger.intents()
    assert (intent.status, intent.by) == ("done", "eve")


def test_an_agent_keeps_who_answered_too(ledger):
    def pay(to: Literal["ann", "bob"]) -> str:
        """Pay somebody."""
        return f"paid {to}"

    model = ScriptedModel([{"name": "pay", "args": {"to": "carl"}, "id": "c"}, "done"])
    middleware = [SelfCorrection(ask_person=True, ledger=ledger)]
    agent = create_agent(model, [pay], middleware=middleware, checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "pay")]}, CONFIG)
    agent.invoke(Command(resume={"action": "answer", "value": "ann", "by": "eve"}), CONFIG)
    assert [(each.status, each.by) for each in ledger.intents()] == [("done", "eve")]


def test_it_stands_there_before_the_effect(ledger):
    seen = []

    def pay(to):
        seen.extend((each.status, each.by) for each in ledger.intents(in_doubt=True))
        return to

    answered(asked(ledger, pay), by="eve")
    assert seen == [("begun", "eve")]


def test_nobody_is_made_up(ledger):
    answered(asked(ledger))
    assert [each.by for each in ledger.intents()] == [None]


def test_all_who_answered_are_kept(ledger):
    graph = asked(ledger)
    again = graph.invoke(Command(resume={"action": "answer", "value": "dan", "by": "eve"}), CONFIG)
    assert again["__interrupt__"]
    answered(graph, by="mallory", question=again["__interrupt__"][0].value["id"])
    assert [each.by for each in ledger.intents()] == ["eve, mallory"]


def test_who_let_an_earlier_try_begin_does_not_answer_for_a_later_one(ledger):
    for by, status, told in (("eve", "not_done", "eve"), (None, "unknown", None)):
        ledger.begin("k")
        if by:
            ledger.sign("k", by)
        ledger.settle("k", status)
        assert [each.by for each in ledger.intents()] == [told]


def test_a_doubt_keeps_its_name_when_it_is_taken_up(ledger):
    ledger.begin("ab:cd")
    ledger.sign("ab:cd", "eve")
    ledger.settle("ab:cd", "unknown")
    assert ledger.begin("ab:cd").status == "unknown"
    ledger.settle("ab:cd", "done", 1)
    assert [(each.status, each.by) for each in ledger.intents()] == [("done", "eve")]


def test_what_is_over_is_not_signed_any_more(ledger):
    ledger.begin("k")
    ledger.settle("k", "done", 1)
    ledger.sign("k", "mallory")
    assert ledger.intents()[0].by is None


def test_a_name_is_text_and_never_sql(ledger):
    ledger.begin("k")
    ledger.sign("k", "'; DROP TABLE selfcorrect_intents; --\ud800\x00")
    assert ledger.intents()[0].by.startswith("'; DROP TABLE")


def test_a_ledger_that_keeps_no_names_is_used_as_before():
    class Bare:
        def __init__(self):
            inner = MemoryLedger()
            self.begin, self.settle = inner.begin, inner.settle

    assert answered(asked(Bare()), by="eve")["result"] == "paid ann"
    wrapped = FragileLedger(MemoryLedger(), Crashes())
    assert answered(asked(wrapped), by="eve")["result"] == "paid ann"
    assert wrapped.intents()[0].by == "eve"


def test_a_name_that_cannot_be_written_holds_nothing_up():
    class Full(MemoryLedger):
        def sign(self, key, by):
            raise LedgerError("the disk is full")

    out = answered(asked(Full()), by="eve")
    assert out["result"] == "paid ann"
    assert [event["by"] for event in out["trail"] if "by" in event] == ["eve"]


# --- ledgers that were written before names were kept -------------------------------------------

BEFORE = [  # what tests/data/ledger-unsigned.db holds, as that form of the library wrote it
    ("d1", "done", {"paid": 5}),
    ("d2", "unknown", None),
    ("d4", "refused", None),
    ("d5", "paused", {"at": 1}),
]


def check_the_old_rows(ledger):
    assert {each.by for each in ledger.intents()} == {None}
    assert {each.key for each in ledger.intents()} == {f"d{number}" for number in range(1, 7)}
    assert set(ledger.doubts("ab12")) == {"ab12:d2", "ab12:d6"}
    for key, status, value in BEFORE:
        found = ledger.begin(f"ab12:{key}")
        assert (found.status, found.value) == (status, value)
    assert ledger.begin("ab12:d3") is None
    assert ledger.begin("ab12:d6").status == "begun"
    ledger.sign("ab12:d6", "eve")
    ledger.settle("ab12:d6", "done", 6)
    assert [each.by for each in ledger.intents() if each.key == "d6"] == ["eve"]


def test_a_file_without_names_is_opened_and_loses_nothing(tmp_path):
    path = shutil.copy(DATA / "ledger-unsigned.db", tmp_path / "ledger.db")
    for _ in range(2):  # what was upgraded is opened again
        SqliteLedger(path).intents()
    ledger = SqliteLedger(path, lease=0.2)
    check_the_old_rows(ledger)
    ledger.close()


def test_a_file_of_version_0_1_is_listed(tmp_path):
    path = shutil.copy(DATA / "ledger-0.1.db", tmp_path / "ledger.db")
    ledger = SqliteLedger(path)
    assert {each.status for each in ledger.intents()} >= {"done", "begun"}
    ledger.close()


def test_tables_without_names_are_upgraded_in_postgres(postgres):
    import psycopg

    old = sqlite3.connect(DATA / "ledger-unsigned.db")
    with psycopg.connect(postgres) as connection:
        for (made,) in old.execute("SELECT sql FROM sqlite_master WHERE type = 'table'"):
            connection.execute(made)
        for table in ("selfcorrect_intents", "selfcorrect_holders"):
            for row in old.execute(f"SELECT * FROM {table}"):
                places = ", ".join(["%s"] * len(row))
                connection.execute(f"INSERT INTO {table} VALUES ({places})", row)
    old.close()
    for _ in range(2):
        ledger = PostgresLedger(postgres)
        ledger.intents()
        ledger.close()
    ledger = PostgresLedger(postgres, lease=0.2)
    check_the_old_rows(ledger)
    ledger.close()


# --- on the command line ------------------------------------------------------------------------


def listed(*args):
    return CliRunner().invoke(app, ["ledger", *map(str, args)])


def test_the_command_tells_who_answered_and_no_result(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.db")
    answered(asked(ledger), by="eve\x1b[31m")
    ledger.begin("left")
    ledger.close()
    told = listed(tmp_path / "ledger.db")
    assert told.exit_code == 0
    assert [word in told.stdout for word in ("done", "begun", "eve", "paid")] == [1, 1, 1, 0]
    assert "\x1b" not in told.stdout
    doubts = listed(tmp_path / "ledger.db", "--doubts").stdout
    assert "left" in doubts
    assert "eve" not in doubts


def test_the_command_is_clear_about_what_it_cannot_read(tmp_path):
    assert listed(tmp_path / "none.db").exit_code == 2
    (tmp_path / "text.db").write_text("no database")
    told = listed(tmp_path / "text.db")
    assert told.exit_code == 2
    assert "the ledger cannot be read" in told.stderr


def test_the_command_reads_postgres(postgres):
    ledger = PostgresLedger(postgres)
    assert "the ledger is empty" in listed(postgres).stdout
    answered(asked(ledger), by="eve")
    ledger.close()
    assert "eve" in listed(postgres).stdout
