"""The graph `sql_analyst`: a real SQLite that can only be read, and statements that it refuses."""

from __future__ import annotations

import importlib.util
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from selfcorrect.cli.show import verdict
from selfcorrect.testing import ScriptedModel

FILE = Path(__file__).parents[1] / "graphs" / "sql_analyst.py"


def load():
    """The file as a server does it: by path, under a made-up name, outside `sys.modules`."""
    spec = importlib.util.spec_from_file_location("graph_under_test", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


analyst = load()


@pytest.fixture
def database():
    with closing(analyst.Database()) as database:
        yield database


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sales.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE sales (day TEXT, amount REAL, note BLOB);")
        connection.execute("INSERT INTO sales VALUES ('2026-01-05', 12.5, x'00ff')")
        connection.commit()
    return path


def ask(graph, sql):
    return graph.invoke({"call": {"name": "query", "args": {"sql": sql}}})


@pytest.mark.parametrize("example", analyst.examples(), ids=lambda example: example["title"])
def test_what_becomes_of_the_examples_is_what_they_say(example):
    assert verdict(analyst.graph.invoke(example["input"])) == example["expect"]


def test_a_file_is_asked_and_never_written(file):
    before = file.read_bytes()
    with closing(analyst.Database(str(file))) as database:
        graph = analyst.make_graph(database=database)
        out = ask(graph, "SELECT day, amuont, note FROM saels")
        assert out["result"] == [{"day": "2026-01-05", "amount": 12.5, "note": "00ff"}]
        for sql in ("DELETE FROM sales", "DROP TABLE sales", "UPDATE sales SET amount = 0"):
            assert ask(graph, sql)["failure"]["reason"] == "terminal_kind"
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO customers VALUES (9, 'Eve', 'Rome')",
        "UPDATE customers SET name = 'Eve'",
        "DELETE FROM customers",
        "DROP TABLE customers",
        "ATTACH '/etc/passwd' AS x",
        "PRAGMA writable_schema = 1",
        "CREATE TABLE copied AS SELECT * FROM customers",
        "SELECT 1; DELETE FROM customers",
    ],
)
def test_whatever_is_asked_nothing_changes(database, sql):
    before = [database.query(f"SELECT * FROM {table}") for table in database.tables()]
    assert "failure" in ask(analyst.make_graph(database=database), sql)
    assert [database.query(f"SELECT * FROM {table}") for table in database.tables()] == before


def test_answers_are_bounded(database):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
    rows = database.query(f"{numbers} LIMIT 100000) SELECT i FROM n")
    assert len(rows) == analyst.MOST_ROWS
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        database.query(f"{numbers}) SELECT count(*) FROM n")


def test_an_endless_statement_is_not_asked_again(database):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
    out = ask(analyst.make_graph(database=database), endless)
    assert len(out["failure"]["attempts"]) == 1


def test_a_model_is_asked_only_where_the_database_says_too_little(database):
    model = ScriptedModel(script=[{"sql": "SELECT name FROM products WHERE price > 100"}])
    graph = analyst.make_graph(database=database, model=model)
    assert ask(graph, "SELECT name FROM prodcts LIMIT 1")["result"] == [{"name": "lamp"}]
    assert not model.prompts
    out = ask(graph, "SELECT name FROM products WHERE price > ")
    assert out["result"] == [{"name": "desk"}]
    assert len(model.prompts) == 1


def test_many_may_ask_at_once(database):
    graph = analyst.make_graph(database=database)
    with ThreadPoolExecutor(4) as pool:
        outs = list(pool.map(lambda _: ask(graph, "SELECT count(*) AS n FROM ordres"), range(12)))
    assert all(out["result"] == [{"n": 3}] for out in outs)
