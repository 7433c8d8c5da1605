"""A doubt is any row that is not soundly over: damage, clocks and crowds make nobody forget it."""

from __future__ import annotations

import sqlite3
import time
from itertools import combinations
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from typer.testing import CliRunner

from selfcorrect import ToolSpec, build_graph
from selfcorrect.cli.commands import app
from selfcorrect.errors import LedgerError
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger
from selfcorrect.mapping.document import MapBreaker
from selfcorrect.policies.breaker import Breaker

SCOPE = "ab12"
THREAD: Any = {"configurable": {"thread_id": "order-17"}}


class World:
    """A tool that pays; its answers are lost, or a process dies over it."""

    def __init__(self, *endings: type[BaseException]) -> None:
        self.paid = 0
        self.endings = list(endings)

    def pay(self, to: str) -> int:
        """Pay."""
        self.paid += 1
        if self.endings:
            raise self.endings.pop()("no answer")
        return self.paid

    def asks(self, path: Any, call_id: str, to: str = "ann@example.com") -> Any:
        ledger = SqliteLedger(path)
        tool = ToolSpec.from_function(self.pay, effect="mutating")
        call = {"name": "pay", "args": {"to": to}, "id": call_id}
        try:
            return build_graph([tool], ledger=ledger).invoke({"call": call}, THREAD)
        finally:
            ledger.close()


def changed(path: Any, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE selfcorrect_intents SET {statement}")
    connection.close()


DAMAGE = [
    f"{column} = {value}"
    for column, values in {
        "status": ("'done'", "'not_done'", "'refused'", "''", "'DONE'", "x'00'", "7"),
        "scope": ("NULL", "''", "'ab12'", "upper(scope)", "substr(scope, 2)", "7"),
        "doubt": ("NULL", "''", "'ab12'"),
        "value": ("'[1'", "'7'"),
        "holder": ("''", "'me'"),
        "written": ("0", "1e12"),
        "version": ("0", "1", "2", "9"),
        "checksum": ("''",),
        "about": ("'x'",),
        "answered_by": ("'eve'",),
    }.items()
    for value in values
]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", [TimeoutError, KeyboardInterrupt])
@pytest.mark.parametrize("call_id", ["c1", "c2"])
def test_a_lost_call_whose_row_is_damaged_stays_in_doubt(tmp_path, damage, ending, call_id):
    path, world = tmp_path / "ledger.db", World(ending)
    if ending is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            world.asks(path, "c1")
        changed(path, "status = status")
    else:
        world.asks(path, "c1")
    changed(path, damage)
    for _ in range(2):
        out = world.asks(path, call_id)
        assert out["failure"]["reason"] == "unknown_outcome"
    assert world.paid == 1


PAIRS = list(combinations(["status", "scope", "doubt", "checksum", "version", "value"], 2))


@pytest.mark.parametrize("one", ["'done'", "''", "NULL", "'7'"])
@pytest.mark.parametrize("other", ["'done'", "''", "NULL", "'7'"])
def test_two_damaged_columns_hide_no_doubt(tmp_path, one, other):
    for number, (first, second) in enumerate(PAIRS):
        path, world = tmp_path / f"{number}.db", World(TimeoutError)
        world.asks(path, "c1")
        try:
            changed(path, f"{first} = {one}, {second} = {other}")
        except sqlite3.IntegrityError:
            continue  # the database itself refuses it
        assert world.asks(path, "c2")["failure"]["reason"] == "unknown_outcome", (first, second)
        ledger = SqliteLedger(path)
        ledger.forget(-1)
        assert [each.status for each in ledger.intents(in_doubt=True)] == ["damaged"]
        ledger.close()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_done_call_whose_row_is_damaged_is_not_made_again(tmp_path, damage):
    path, world = tmp_path / "ledger.db", World()
    assert world.asks(path, "c1")["result"] == 1
    changed(path, damage)
    out = world.asks(path, "c1")
    assert (
        "damaged" in (out.get("failure") or {"detail": "damaged"})["detail"] or out["result"] == 1
    )
    assert world.paid == 1


def test_what_is_damaged_is_listed_and_never_forgotten(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.db")
    ledger.begin(f"{SCOPE}:01")
    ledger.settle(f"{SCOPE}:01", "unknown")
    changed(tmp_path / "ledger.db", "status = 'done', written = 1")
    assert [each.status for each in ledger.intents(in_doubt=True)] == ["damaged"]
    ledger.forget(0)
    assert ledger.doubts(SCOPE) == [f"{SCOPE}:01"]
    ledger.close()


@pytest.fixture(params=["sqlite", "postgres"])
def make(request: Any, tmp_path: Any) -> Any:
    if request.param == "postgres":
        dsn = request.getfixturevalue("postgres")
        return lambda: PostgresLedger(dsn)
    return lambda: SqliteLedger(tmp_path / "ledger.db")


def test_a_lost_call_is_seen_behind_any_number_that_are_under_way(make):
    busy, other = make(), make()
    for number in range(110):
        busy.begin(f"{SCOPE}:{number:02x}00")
    other.begin(f"{SCOPE}:ff")
    other.settle(f"{SCOPE}:ff", "unknown")
    assert other.doubts(SCOPE) == [f"{SCOPE}:ff"]
    busy.close()
    other.close()


def test_what_is_old_is_said_by_the_clock_of_the_database(postgres, monkeypatch):
    ledger, ahead = PostgresLedger(postgres), time.time() + 2 * 86_400
    ledger.begin("k")
    ledger.settle("k", "done", 1)
    monkeypatch.setattr("selfcorrect.ledger.sql.time.time", lambda: ahead)
    ledger.forget(86_400)
    assert ledger.begin("k").value == 1
    ledger.settle("j", "done", 1)
    monkeypatch.undo()
    assert {each.written < ahead - 86_400 for each in ledger.intents()} == {True}
    ledger.close()


@pytest.mark.parametrize("instead", [False, True])
def test_a_ledger_whose_file_vanishes_is_not_made_anew(tmp_path, instead):
    path, world = tmp_path / "ledger.db", World()
    ledger = SqliteLedger(path)
    tool = ToolSpec.from_function(world.pay, effect="mutating")
    graph = build_graph([tool], ledger=ledger)
    call = {"name": "pay", "args": {"to": "ann"}, "id": "c1"}
    graph.invoke({"call": call}, THREAD)
    for each in tmp_path.iterdir():
        each.rename(tmp_path.parent / f"{tmp_path.name}-{each.name}")
    if instead:
        SqliteLedger(path).intents()
    for _ in range(2):
        with pytest.raises(LedgerError, match="is gone"):
            graph.invoke({"call": call}, THREAD)
    assert world.paid == 1
    assert path.exists() is instead


# --- a person settles it -------------------------------------------------------------------------


def listed(*args: Any, width: int = 200) -> Any:
    return CliRunner().invoke(app, ["ledger", *map(str, args)], env={"COLUMNS": str(width)})


@pytest.mark.parametrize(("verdict", "paid"), [("done", 1), ("not-done", 2), ("again", 2)])
@pytest.mark.parametrize("damage", ["status = status", "status = 'done'", "scope = NULL"])
def test_a_doubt_is_found_by_its_call_and_settled(tmp_path, verdict, paid, damage):
    path, world = tmp_path / "ledger.db", World(TimeoutError)
    detail = world.asks(path, "c1")["failure"]["detail"]
    changed(path, damage)
    (doubt,) = SqliteLedger(path).intents(in_doubt=True)
    assert doubt.key in detail
    shown = listed(path, "--doubts").output
    assert "pay, thread order-17, call c1" in shown
    assert doubt.key in shown
    assert doubt.key in listed(path, "--doubts", width=80).output, "it has to be copied"
    assert "ann@example.com" not in path.read_bytes().decode("latin-1")
    settled = listed(path, "--settle", doubt.key, verdict, "--by", "eve")
    assert settled.exit_code == 0, settled.output
    assert "eve" in settled.output
    assert SqliteLedger(path).intents(in_doubt=True) == []
    for _ in range(2):
        out = world.asks(path, "c1")
        assert "failure" not in out
        assert out["result"] == (None if verdict == "done" else 2)
    assert world.paid == paid
    assert listed(path, "--settle", doubt.key, "again", "--by", "bob").exit_code == 2


@pytest.mark.parametrize(("verdict", "paid"), [("not-done", 2), ("again", 2), ("done", 1)])
def test_what_is_settled_in_the_ledger_holds_in_a_thread_that_remembers_the_loss(
    tmp_path, verdict, paid
):
    world, ledger = World(TimeoutError), SqliteLedger(tmp_path / "ledger.db")
    tool = ToolSpec.from_function(world.pay, effect="mutating")
    graph = build_graph([tool], ledger=ledger, checkpointer=InMemorySaver())
    calls = [{"name": "pay", "args": {"to": "ann"}, "id": each} for each in ("c1", "c2")]
    graph.invoke({"call": calls[0]}, THREAD)
    (doubt,) = ledger.intents(in_doubt=True)
    ledger.settle_doubt(doubt.key, verdict, "eve")
    for _ in range(2):
        graph.invoke({"call": calls[1]}, THREAD)
    assert world.paid == paid
    ledger.close()


def test_a_doubt_that_a_tool_was_asked_about_still_says_whose_it_is(tmp_path):
    world, ledger = World(TimeoutError), SqliteLedger(tmp_path / "ledger.db")
    tool = ToolSpec.from_function(world.pay, effect="mutating", verify=lambda args, key: None)
    graph = build_graph([tool], ledger=ledger)
    for call_id in ("c1", "c2"):
        graph.invoke({"call": {"name": "pay", "args": {"to": "ann"}, "id": call_id}}, THREAD)
    told = [each.about for each in ledger.intents(in_doubt=True)]
    assert told == ["pay, thread order-17, call c1"]
    ledger.close()


@pytest.mark.parametrize(
    "args", [("no-key", "done", "--by", "eve"), ("k", "paid", "--by", "eve"), ("k", "done")]
)
def test_what_cannot_be_settled_is_said(tmp_path, args):
    SqliteLedger(tmp_path / "ledger.db").intents()
    assert listed(tmp_path / "ledger.db", "--settle", *args).exit_code == 2


def test_what_is_under_way_is_settled_by_whoever_is_at_it(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.db")
    ledger.begin(f"{SCOPE}:01")
    said = listed(tmp_path / "ledger.db", "--settle", "01", "done", "--by", "eve")
    assert said.exit_code == 2
    assert "under way" in said.output
    ledger.close()


# --- the board -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [{"row": "many"}, {"calls": None}, {"no": 1}, [1], "x", 7, {"until": "soon"}, {"row": 1.5}],
)
def test_a_damaged_row_of_the_board_is_left_out(value):
    board = MemoryLedger()
    board.swap("circuit:tool:t", 0, value)
    breaker = Breaker(MapBreaker(failures=1), board)
    made = breaker.admit("t", 0)
    assert not made.wait
    breaker.told("t", made, 0, ok=False)
    assert breaker.admit("t", 1).wait


def test_text_that_is_no_json_on_the_board_is_left_out(tmp_path):
    ledger = SqliteLedger(tmp_path / "ledger.db")
    ledger.swap("circuit:tool:t", 0, {"row": 1})
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("UPDATE selfcorrect_board SET value = '{'")
    connection.close()
    assert not Breaker(MapBreaker(failures=1), ledger).admit("t", 0).wait
    ledger.close()


def test_failures_that_name_no_host_hold_back_their_tool_alone():
    breaker = Breaker(MapBreaker(failures=3), MemoryLedger())
    for tool in ("fetch", "pay"):
        breaker.told(tool, breaker.admit(tool, 0), 0, ok=False, host="api.example.com")
    breaker.told("pay", breaker.admit("pay", 0), 0, ok=True)
    for _ in range(9):
        breaker.told("fetch", breaker.admit("fetch", 1), 1, ok=False)
    assert breaker.admit("fetch", 2).wait
    assert not breaker.admit("pay", 2).wait
