"""The map `sql` and its strategies, on a real SQLite and a real PostgreSQL."""

from __future__ import annotations

import doctest
import importlib.util
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import ToolSpec, build_graph
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Changed, Finding, GiveUp, Safety
from selfcorrect.testing import ScriptedModel, check_strategy
from selfcorrect.testing.conformance import Case, try_strategy

FOLDER = Path(__file__).parents[1] / "strategies"
MAP = str(FOLDER / "sql.toml")
SCHEMA = """
CREATE TABLE users (id INT PRIMARY KEY, name TEXT NOT NULL, email TEXT, "userId" INT);
CREATE TABLE orders (id INT PRIMARY KEY, user_id INT REFERENCES users (id), total INT);
CREATE TABLE order_items (order_id INT, price INT, amount_eur INT);
INSERT INTO users VALUES (1, 'Ann', 'nmae@example.org', 7), (2, 'Bob', 'usres', 8);
INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20);
INSERT INTO order_items VALUES (1, 10, 5);
"""


def load():
    """The file by path, outside `sys.modules`, as a map's `[use]` does."""
    spec = importlib.util.spec_from_file_location("file_under_test", FOLDER / "sql_repairs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sql_repairs = load()
STRATEGIES = StrategyMap.load(MAP)


def changes(out):
    """What was changed, from the trail."""
    return [change for event in out["trail"] for change in event.get("changes", [])]


def statements(out):
    return [change["after"] for change in changes(out)]


# A real SQLite


@pytest.fixture
def sqlite_file(tmp_path, monkeypatch):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA)
    monkeypatch.setenv("SQL_DATABASE", str(path))
    return path


def sqlite_graph(path, effect="read_only", **wiring):
    mode = "ro" if effect == "read_only" else "rw"

    def query(sql: str) -> list:
        """Run one SQL statement."""
        address = f"file:{path}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as database:
            return [list(row) for row in database.execute(sql).fetchall()]

    return build_graph(
        [ToolSpec.from_function(query, effect=effect)], strategies=STRATEGIES, **wiring
    )


def ask(graph, sql):
    return graph.invoke({"call": {"name": "query", "args": {"sql": sql}}})


MENDED = {
    "SELECT nmae FROM users": "SELECT name FROM users",
    "SELECT u.nmae FROM users u WHERE u.nmae = 'nmae'": (
        "SELECT u.name FROM users u WHERE u.name = 'nmae'"
    ),
    "SELECT * FROM usres": "SELECT * FROM users",
    "SELECT usres.name FROM usres WHERE usres.id = 1": (
        "SELECT users.name FROM users WHERE users.id = 1"
    ),
    "SELECT 'usres' /* usres */ FROM usres -- usres": (
        "SELECT 'usres' /* usres */ FROM users -- usres"
    ),
    "SELECT price FROM OrderItems": "SELECT price FROM order_items",
    "SELECT sum(totl) FROM orders GROUP BY user_id HAVING sum(totl) > 1": (
        "SELECT sum(total) FROM orders GROUP BY user_id HAVING sum(total) > 1"
    ),
    "select Nmae\n\tfrom users\n\twhere nmae like '%nmae%'": (
        "select name\n\tfrom users\n\twhere name like '%nmae%'"
    ),
    "SELECT emial FROM main.usres": "SELECT email FROM main.users",
}


@pytest.mark.parametrize(("sql", "mended"), MENDED.items())
def test_sqlite_names_are_mended_from_the_catalogue(sqlite_file, sql, mended):
    out = ask(sqlite_graph(sqlite_file), sql)
    assert "result" in out, out["failure"]
    assert statements(out)[-1] == mended
    assert {change["safety"] for change in changes(out)} == {"inferred"}


LEFT = [
    "SELECT amount_usd FROM order_items",  # another word, not a slip
    "SELECT nothing FROM users",
    "SELECT total AS nmae FROM orders WHERE nmea > 1",  # an alias may be meant
    "SELECT x FROM (SELECT total AS totals FROM orders) WHERE totl > 1",
    "SELECT nmae FROM users nmae",
    "WITH recents AS (SELECT 1) SELECT * FROM recent",
    "SELECT rder_id FROM order_items JOIN orders",  # rivals: order_id and user_id are not one slip
    "SELECT name FROM usr",
    "SELECT foo(id) FROM users",
    "SELECT name FROM [usres]",
    "SELECT 'it' || name FROM 'usres",
]


@pytest.mark.parametrize("sql", LEFT)
def test_sqlite_statements_that_nobody_can_be_sure_of_are_left_alone(sqlite_file, sql):
    out = ask(sqlite_graph(sqlite_file), sql)
    assert out["failure"]["reason"] == "needs_person"
    assert not changes(out)


def test_the_catalogue_is_found_by_the_url_of_sqlalchemy_as_well(sqlite_file, monkeypatch):
    monkeypatch.setenv("SQL_DATABASE", f"sqlite:///{sqlite_file}")
    assert "result" in ask(sqlite_graph(sqlite_file), "SELECT * FROM usres")


def test_without_a_catalogue_nothing_is_guessed(sqlite_file, monkeypatch):
    for place in ("", "/nowhere/at/all.db"):
        monkeypatch.setenv("SQL_DATABASE", place)
        out = ask(sqlite_graph(sqlite_file), "SELECT nmae FROM users")
        assert out["failure"]["reason"] == "needs_person"


def test_the_names_that_a_tool_proposes_are_hints_as_well():
    def query(sql: str) -> str:
        """Run one SQL statement."""
        if "usres" in sql:
            raise LookupError("no such table: usres\nHINT: did you mean users, orders?")
        return sql

    graph = build_graph([ToolSpec.from_function(query, effect="read_only")], strategies=STRATEGIES)
    assert ask(graph, "SELECT * FROM usres")["result"] == "SELECT * FROM users"


KEYWORDS = {
    "SELECT name FORM users": "SELECT name FROM users",
    "select name form users": "select name from users",
    "SELECT name FROM users WEHRE id > 0": "SELECT name FROM users WHERE id > 0",
    "SELECT name FROM users ORDR BY id": "SELECT name FROM users ORDER BY id",
    "SELCT 'selct' AS name FROM users": "SELECT 'selct' AS name FROM users",
    "SELECT name FROM users u JION orders o ON o.id = u.id": (
        "SELECT name FROM users u JOIN orders o ON o.id = u.id"
    ),
}


@pytest.mark.parametrize(("sql", "mended"), KEYWORDS.items())
def test_a_keyword_with_a_slip_is_put_right(sqlite_file, sql, mended):
    out = ask(sqlite_graph(sqlite_file), sql)
    assert "result" in out, out["failure"]
    assert statements(out) == [mended]


SYNTAX = [
    "SELECT name FROM users WHERE",
    "SELECT name FROM users LIMIT 1 WHERE id = 1",
    "SELECT id, count(*) FROM users WHERE count(*) > 1",
    "SELECT id FROM users JOIN orders USING (id) JOIN order_items WHERE id = order_id AND id",
    "SELECT concat_all(id) FROM users",
    "SELECT 1; SELECT 2",
]


@pytest.mark.parametrize("sql", SYNTAX)
def test_sqlite_syntax_errors_go_to_the_model(sqlite_file, sql):
    model = ScriptedModel(script=[{"sql": "SELECT name FROM users ORDER BY id"}])
    out = ask(sqlite_graph(sqlite_file, model=model), sql)
    if "result" not in out:
        assert sql.endswith("AND id"), out["failure"]  # SQLite finds nothing wrong with it
        return
    assert out["result"] == [["Ann"], ["Bob"]] or not model.prompts


def test_a_model_may_not_turn_a_query_into_something_that_writes(sqlite_file):
    model = ScriptedModel(script=[{"sql": "DELETE FROM users"}])
    out = ask(sqlite_graph(sqlite_file, model=model), "SELECT name FROM users WHERE")
    assert out["failure"]["reason"] == "needs_person"
    assert not changes(out)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE users SET nmae = 'x'",
        "DELETE FROM usres",
        "INSERT INTO users (idd, name) VALUES (3, 'Cid')",
        "INSERT INTO users (id, name) VALUES (1, 'Cid')",
        "UPDATE users SET name = 'x' WHER id = 1",
        "DELETE FORM users",
    ],
)
def test_nobody_but_a_person_changes_a_statement_that_writes(sqlite_file, sql):
    model = ScriptedModel(script=[])
    out = ask(sqlite_graph(sqlite_file, effect="mutating", model=model), sql)
    assert out["failure"]["reason"] == "refused"
    assert not model.prompts
    assert not changes(out)


def test_a_person_sees_the_proposal_for_a_statement_that_writes(sqlite_file):
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    graph = sqlite_graph(sqlite_file, effect="mutating", checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    call = {"name": "query", "args": {"sql": "UPDATE users SET nmae = 'Eve' WHERE id = 2"}}
    out = graph.invoke({"call": call}, config)
    (question,) = out["__interrupt__"]
    assert "UPDATE users SET name = 'Eve' WHERE id = 2" in str(question.value["options"])
    out = graph.invoke(Command(resume={"action": "approve"}), config)
    assert out["result"] == []
    with closing(sqlite3.connect(sqlite_file)) as database:
        assert database.execute("SELECT name FROM users WHERE id = 2").fetchone() == ("Eve",)


def test_a_write_through_a_tool_that_says_it_only_reads_is_not_mended(sqlite_file):
    out = ask(sqlite_graph(sqlite_file), "UPDATE users SET nmae = 'x'")
    assert out["failure"]["reason"] == "needs_person"
    assert not changes(out)


# A real PostgreSQL


@pytest.fixture
def shop(postgres, monkeypatch):
    """A database that a role without any other right may read."""
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute(SCHEMA)
        database.execute(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reader')"
            " THEN CREATE ROLE reader; END IF; END $$"
        )
        database.execute("GRANT SELECT ON users, orders, order_items TO reader")
        database.execute("CREATE TABLE salaries (id INT, salary INT)")
    monkeypatch.setenv("SQL_DATABASE", "")
    return postgres


def postgres_graph(dsn, effect="read_only", before=None, **wiring):
    import psycopg

    options = "-c default_transaction_read_only=on" if effect == "read_only" else ""
    asked = []

    def query(sql: str) -> list:
        """Run one SQL statement."""
        asked.append(sql)
        options_ = f"{options} -c statement_timeout=1000 -c role=reader"
        with psycopg.connect(dsn, autocommit=True, options=options_) as database:
            if before is not None:
                before(len(asked), database)
            cursor = database.execute(sql)
            return [list(row) for row in cursor.fetchall()] if cursor.description else []

    graph = build_graph(
        [ToolSpec.from_function(query, effect=effect)], strategies=STRATEGIES, **wiring
    )
    return graph, asked


HINTED = {
    "SELECT nmae FROM users": "SELECT name FROM users",
    "SELECT u.emial FROM users u": "SELECT u.email FROM users u",
    "SELECT userId FROM users": 'SELECT "userId" FROM users',
    "SELECT users.name FROM users AS u WHERE users.id = 1": (
        "SELECT u.name FROM users AS u WHERE u.id = 1"
    ),
    "SELECT totl FROM orders\n\tWHERE totl > 5 ORDER BY totl": (
        "SELECT total FROM orders\n\tWHERE total > 5 ORDER BY total"
    ),
    "SELECT " + "1, " * 90 + "nmae, 'nmae' FROM users WHERE nmae <> $$nmae$$": (
        "SELECT " + "1, " * 90 + "name, 'nmae' FROM users WHERE name <> $$nmae$$"
    ),
    "WITH t AS (SELECT id, totl FROM orders) SELECT id FROM t": (
        "WITH t AS (SELECT id, total FROM orders) SELECT id FROM t"
    ),
}


@pytest.mark.parametrize(("sql", "mended"), HINTED.items())
def test_postgres_columns_are_mended_from_its_hints(shop, sql, mended):
    graph, _ = postgres_graph(shop)
    out = ask(graph, sql)
    assert "result" in out, out["failure"]
    assert statements(out)[-1] == mended
    assert {change["safety"] for change in changes(out)} == {"inferred"}


def test_postgres_tables_are_mended_from_its_catalogue(shop, monkeypatch):
    graph, _ = postgres_graph(shop)
    assert ask(graph, "SELECT * FROM usres")["failure"]["reason"] == "needs_person"
    monkeypatch.setenv("SQL_DATABASE", shop.replace("postgresql:", "postgresql+psycopg:"))
    out = ask(graph, "SELECT usres.nmae FROM public.users, usres")
    assert out["failure"]["reason"] == "needs_person", "users is there already"
    out = ask(graph, "SELECT orderitems.amount_eur FROM orderitems WHERE amount_eur > 1")
    assert out["result"] == [[5]]
    out = ask(graph, "SELECT totl, totl FROM ordrs WHERE totl > 10")
    assert out["result"] == [[20, 20]]
    sql = "SELECT nmae FROM users WHERE name IN (SELECT nmae FROM users)"
    out = ask(graph, sql)
    assert out["result"] == [["Ann"], ["Bob"]], "the catalogue shows that no column is called so"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT amount_usd FROM order_items",  # the hint proposes euros
        'SELECT id FROM users WHERE name = "Name"',  # perhaps a text
        "SELECT total AS nmea FROM orders, users WHERE nmea <> 'x'",  # perhaps the alias
        "SELECT b.nmae FROM users a, orders b",  # the hint names a column of the other table
        "SELECT nmae FROM users WHERE id IN (SELECT nmae FROM orders)",  # two queries
        "SELECT users.name FROM users a, users b",
    ],
)
def test_postgres_hints_are_not_followed_blindly(shop, sql):
    graph, _ = postgres_graph(shop)
    out = ask(graph, sql)
    assert "result" not in out
    assert not changes(out)


@pytest.mark.parametrize(("sql", "mended"), list(KEYWORDS.items())[:2])
def test_postgres_keywords_with_a_slip_are_put_right(shop, sql, mended):
    graph, _ = postgres_graph(shop)
    out = ask(graph, sql)
    assert "result" in out, out["failure"]
    assert statements(out) == [mended]


def test_postgres_syntax_errors_go_to_the_model_with_the_place(shop):
    model = ScriptedModel(script=[{"sql": "SELECT name FROM users WHERE id = 1"}])
    graph, asked = postgres_graph(shop, model=model)
    out = ask(graph, "SELECT name FROM users WHERE id = = 1")
    assert out["result"] == [["Ann"]]
    assert "syntax error at or near" in str(model.prompts)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("sql", "reason", "times"),
    [
        ("SELECT * FROM salaries", "terminal_kind", 1),  # 42501: permission denied
        ("SELECT pg_sleep(9)", "needs_person", 1),  # 57014: it would be as slow again
        ("DELETE FROM users", "terminal_kind", 1),
    ],
)
def test_postgres_errors_that_no_change_mends_end_the_run(shop, sql, reason, times):
    graph, asked = postgres_graph(shop)
    out = ask(graph, sql)
    assert out["failure"]["reason"] == reason, out["failure"]
    assert len(asked) == times


def test_a_query_is_repeated_when_the_server_restarts_under_it(shop, postgres_server):
    def restart_once(number, database):
        if number == 1:
            postgres_server.restart()

    graph, asked = postgres_graph(shop, before=restart_once)
    out = ask(graph, "SELECT name FROM users ORDER BY id")
    assert out["result"] == [["Ann"], ["Bob"]]
    assert len(asked) == 2


def test_a_write_is_not_repeated_when_the_server_restarts_under_it(shop, postgres_server):
    def restart(number, database):
        postgres_server.restart()

    graph, asked = postgres_graph(shop, effect="mutating", before=restart)
    out = ask(graph, "UPDATE users SET name = 'Eve'")
    assert out["failure"]["reason"] == "unknown_outcome"
    assert len(asked) == 1


# The strategies alone

KNOWN = {
    "carts": ["cart", "mole"],
    "users": ["id", "name", "email"],
    "orders": ["id", "total"],
    "Order Items": ["price"],
}
SCHEMA_OF_CALL = {"properties": {"sql": {"type": "string"}}}


def rename(sql, got, what="column", effect="read_only", suggestions=(), known=KNOWN):
    strategy = sql_repairs.RenameIdentifier(what=what, catalogue=lambda: known)
    finding = Finding("no such name", captures={"got": got}, suggestions=suggestions)
    return try_strategy(strategy, SCHEMA_OF_CALL, {"sql": sql}, finding, effect=effect)


@pytest.mark.parametrize(
    ("sql", "effect", "safety"),
    [
        ("SELECT nmae FROM users", "read_only", Safety.INFERRED),
        ("SELECT nmae FROM users", "mutating", Safety.LOSSY),
        ("SELECT nmae FROM users", "idempotent", Safety.LOSSY),
        ("UPDATE users SET nmae = 1", "read_only", Safety.LOSSY),
        ("SELECT nmae INTO copied FROM users", "read_only", Safety.LOSSY),
        ("SELECT 1 FROM users WHERE nmae = 'x'; DELETE FROM users", "read_only", Safety.LOSSY),
    ],
)
def test_only_what_reads_is_mended_unasked(sql, effect, safety):
    (change,) = rename(sql, "nmae", effect=effect).changes
    assert change.safety is safety
    assert change.after == sql.replace("nmae", "name")


@pytest.mark.parametrize(
    ("sql", "what", "got", "after"),
    [
        ("SELECT 1 FROM OrderItems", "table", "OrderItems", 'SELECT 1 FROM "Order Items"'),
        ('SELECT 1 FROM "Usres"', "table", "Usres", 'SELECT 1 FROM "users"'),
        ("SELECT u.Nmae FROM users u", "column", "u.Nmae", "SELECT u.name FROM users u"),
        ("SELECT :nmae, nmae FROM users", "column", "nmae", "SELECT :nmae, name FROM users"),
        ("SELECT nmae::text FROM users", "column", "nmae", "SELECT name::text FROM users"),
        ("SELECT %(nmae)s, nmae FROM users", "column", "nmae", "SELECT %(nmae)s, name FROM users"),
        (
            "SELECT nmae FROM users WHERE e = E'\\' nmae'",
            "column",
            "nmae",
            "SELECT name FROM users WHERE e = E'\\' nmae'",
        ),
    ],
)
def test_a_name_is_written_as_the_database_wants_it(sql, what, got, after):
    (change,) = rename(sql, got, what).changes
    assert change.after == after


@pytest.mark.parametrize(
    ("sql", "got", "what"),
    [
        ("", "nmae", "column"),
        ("SELECT nmae FROM users", "", "column"),
        ("SELECT nmae FROM users", "a.b.c.d", "column"),
        ("SELECT nmae FROM users", "name", "column"),
        ("SELECT cat FROM carts", "cat", "column"),  # short for category, perhaps
        ("SELECT male FROM carts", "male", "column"),
        ("SELECT nmae AS nmae FROM users", "nmae", "column"),
        ("SELECT nmae(1) FROM users", "nmae", "column"),
        ("SELECT total nmae FROM orders, users WHERE nmae = 1", "nmae", "column"),
        ('SELECT 1 FROM users WHERE email = "nmae"', "nmae", "column"),
        ("WITH usres AS (SELECT 1) SELECT 1 FROM usres", "usres", "table"),
        ("WITH a(nmae) AS (SELECT 1) SELECT nmae FROM a, users", "nmae", "column"),
        ("SELECT nmae FROM (VALUES (1)) AS t(nmae), users", "nmae", "column"),
        ("SELECT nmea, nmae FROM users", "nmae", "column"),  # another name is as near
        ("SELECT nmae FROM users -- it's /* open", "nmae2", "column"),
        ("SELECT nmae FROM users /* /* */ nmae */", "nmae", "column"),
        ("SELECT nmae FROM users WHERE a = 'open", "nmae", "column"),
        ("SELECT nmae FROM users WHERE a = 'back\\slash'", "nmae", "column"),
        ("SELECT `nmae` FROM users", "nmae", "column"),
    ],
)
def test_a_statement_that_can_be_read_in_two_ways_is_left_alone(sql, got, what):
    assert isinstance(rename(sql, got, what), GiveUp)


def test_a_catalogue_that_fails_is_no_catalogue():
    def broken():
        raise RuntimeError("no catalogue today")

    strategy = sql_repairs.RenameIdentifier(catalogue=broken)
    finding = Finding("no such column: nmae", captures={"got": "nmae"})
    args = {"sql": "SELECT nmae FROM users"}
    answer = try_strategy(strategy, SCHEMA_OF_CALL, args, finding, effect="read_only")
    assert isinstance(answer, GiveUp)


PIECES = st.sampled_from(
    [
        *("nmae", "'nmae'", '"nmae"', "-- nmae\n", "/* nmae */", "$$nmae$$", "$a$nmae$a$"),
        *(":nmae", "u.nmae", "E'\\'nmae'", "x", "=", ",", "(", ")", "AND", "SELECT", "AS"),
        *("'it''s nmae'", "'", "nmae"),
    ]
)


@settings(max_examples=150)
@given(st.lists(PIECES, max_size=12).map(lambda parts: f"SELECT {' '.join(parts)} FROM users u"))
def test_nothing_but_the_name_itself_is_ever_changed(sql):
    answer = rename(sql, "nmae")
    if isinstance(answer, Changed):
        (change,) = answer.changes
        before, after = sql_repairs.tokens_of(sql), sql_repairs.tokens_of(change.after)
        assert len(before) == len(after)
        pairs = [(b.text, a.text) for b, a in zip(before, after, strict=True) if b.text != a.text]
        assert set(pairs) == {("nmae", "name")}
        for kept in ("'nmae'", '"nmae"', "-- nmae", "/* nmae", "$$nmae$$", "$a$nmae", "u.nmae"):
            assert sql.count(kept) == change.after.count(kept)


@settings(max_examples=60)
@given(st.text(max_size=80), st.text(max_size=10), st.sampled_from(["column", "table", "alias"]))
def test_any_text_is_answered(sql, got, what):
    assert isinstance(rename(f"{sql} {got} FROM users", got, what), Changed | GiveUp)


@pytest.mark.parametrize(
    ("sql", "got"),
    [
        ("SELECT form type x FROM docs", "x"),  # type is no slip of a keyword
        ("SELECT a FROM t WHERE", ""),
        ("SELECT frim a FORM b", "nothing"),
        ("SELECT a b frm, frm c", "frm"),  # which of the two
        ("SELECT 'FORM' FROM users x", "users"),
        ('SELECT "FORM" users', "users"),
    ],
)
def test_a_keyword_that_is_not_certain_is_left_alone(sql, got):
    finding = Finding(f'near "{got}": syntax error', captures={"got": got})
    keyword = sql_repairs.CorrectKeyword()
    answer = try_strategy(keyword, SCHEMA_OF_CALL, {"sql": sql}, finding, effect="read_only")
    assert isinstance(answer, GiveUp)


def test_long_statements_take_bounded_time():
    for bait in ("'" * 19_999, '"a' * 9_000, "/*" * 9_000, "$a$" * 6_000, "nmae," * 3_900):
        assert isinstance(rename(f"SELECT {bait}", "nmae"), Changed | GiveUp)
    assert isinstance(rename("SELECT nmae, " * 100_000, "nmae"), GiveUp)
    many = {f"t{n}": [f"nam{n}", f"nmae{n}"] for n in range(3_000)}
    used = "SELECT nmae FROM " + ", ".join(list(many)[:1_500])
    assert isinstance(rename(used, "nmae", known=many), GiveUp)


def test_the_strategies_keep_the_common_promises():
    cases = [
        Case(SCHEMA_OF_CALL, {"sql": sql}, Finding("no", captures={"got": got}))
        for sql in ("SELECT nmae FROM users", "SELECT \u202e FROM users", "x" * 200_000)
        for got in ("nmae", "\u202e", ".", "x" * 200_000)
    ]
    check_strategy(sql_repairs.RenameIdentifier(catalogue=lambda: KNOWN), cases)
    check_strategy(sql_repairs.CorrectKeyword(), cases)
    check_strategy(sql_repairs.AskModelToRead(), cases)


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(sql_repairs).failed == 0
