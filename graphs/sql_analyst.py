"""An analyst's questions to a database, in SQL: two tools on SQLite, and the graph over them.

`SQL_ANALYST_DB` names the database, a file that is opened for reading only; without it a small
shop in memory is asked. Names and keywords with a slip are mended from what the database itself
says: its errors, and the hints that the tool adds from its catalogue. What writes is refused.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from selfcorrect import ToolSpec, build_graph
from selfcorrect.model import JSON

MAP: Final = Path(__file__).resolve().parents[1] / "strategies" / "sql.toml"
MOST_ROWS: Final = 200
MOST_STEPS: Final = 5_000_000
"""Instructions of SQLite's machine after which a statement is interrupted: about a second."""

SHOP: Final = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    ordered_on TEXT NOT NULL
);
CREATE TABLE order_items (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product_id INTEGER NOT NULL REFERENCES products (id),
    quantity INTEGER NOT NULL
);
INSERT INTO customers VALUES (1, 'Ann', 'Rome'), (2, 'Bob', 'Oslo'), (3, 'Cleo', 'Rome');
INSERT INTO products VALUES (1, 'lamp', 30.0), (2, 'chair', 80.0), (3, 'desk', 200.0);
INSERT INTO orders VALUES (1, 1, '2026-01-05'), (2, 2, '2026-01-09'), (3, 1, '2026-02-02');
INSERT INTO order_items VALUES (1, 1, 2), (1, 2, 1), (2, 3, 1), (3, 2, 4);
"""

_READING: Final = frozenset(
    {
        *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE),
        sqlite3.SQLITE_FUNCTION,
    }
)
_UNKNOWN: Final = re.compile(r"no such (?:column|table): (?:[\w$]+\.)*(?P<name>[\w$]+)")


class Database:
    """A database that only answers: read-only, one statement at a time, within bounds.

    Args:
        path: The file; None for the shop in memory.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def default(cls) -> "Database":
        """The database that `SQL_ANALYST_DB` names, or the shop."""
        return cls(os.environ.get("SQL_ANALYST_DB") or None)

    def close(self) -> None:
        """Close it; the next question opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def tables(self) -> dict[str, list[str]]:
        """The columns of every table and view."""
        rows = self._ask(
            "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c"
            " WHERE m.type IN ('table', 'view') ORDER BY m.name, c.cid",
            guarded=False,
        )
        found: dict[str, list[str]] = {}
        for table, column in rows:
            found.setdefault(table, []).append(column)
        return found

    def query(self, sql: str) -> list[dict[str, JSON]]:
        """The rows of a statement, at most so many.

        Raises:
            sqlite3.Error: With the names that may have been meant, where one is unknown.
        """
        try:
            names, rows = self._rows(sql)
        except sqlite3.OperationalError as error:
            raise self._with_hint(error) from None
        return [dict(zip(names, map(_plain, row), strict=True)) for row in rows]

    def _rows(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        rows: list[tuple[Any, ...]] = []
        names: list[str] = []

        def take(cursor: sqlite3.Cursor) -> None:
            names.extend(str(column[0]) for column in cursor.description or ())
            rows.extend(cursor.fetchmany(MOST_ROWS))

        self._ask(sql, take=take)
        return names, rows

    def _ask(
        self,
        sql: str,
        *,
        take: Callable[[sqlite3.Cursor], None] | None = None,
        guarded: bool = True,
    ) -> list[Any]:
        with self._lock:
            if self._connection is None:
                self._connection = _opened(self.path)
            database = self._connection
            database.set_authorizer(_allowed if guarded else None)
            database.set_progress_handler(lambda: 1, MOST_STEPS)
            cursor = database.execute(sql)
            try:
                if take is None:
                    return cursor.fetchall()
                take(cursor)
                return []
            finally:
                cursor.close()

    def _with_hint(self, error: sqlite3.OperationalError) -> sqlite3.OperationalError:
        """The same error, and the names in the catalogue that are near the unknown one."""
        said = str(error)
        unknown = _UNKNOWN.fullmatch(said)
        if unknown is None:
            return error
        tables = self.tables()
        is_table = said.startswith("no such table")
        known: Sequence[str] = [*tables] if is_table else [c for t in tables.values() for c in t]
        near = get_close_matches(unknown["name"], list(dict.fromkeys(known)), 3, 0.7)
        listed = ", ".join(f'"{name}"' for name in near)
        hint = f"\nHINT: did you mean {listed}?" if near else ""
        return sqlite3.OperationalError(said + hint)


def _allowed(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _opened(path: str | None) -> sqlite3.Connection:
    if path is not None:
        address = f"{Path(path).absolute().as_uri()}?mode=ro"
        return sqlite3.connect(address, uri=True, timeout=10, check_same_thread=False)
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    database.executescript(SHOP)
    return database


def _plain(value: Any) -> JSON:
    return value.hex() if isinstance(value, bytes) else value


def tools(database: Database) -> list[ToolSpec]:
    """The two tools of an analyst; neither can change anything."""

    def list_tables() -> Any:
        """List the tables of the database with their columns."""
        return database.tables()

    def query(sql: Annotated[str, Field(description="One SELECT, in SQLite's SQL")]) -> Any:
        """Ask the database; at most 200 rows are answered."""
        return database.query(sql)

    return [
        ToolSpec.from_function(list_tables, effect="read_only"),
        ToolSpec.from_function(query, effect="read_only"),
    ]


def make_graph(strategies: Any = MAP, *, database: Database | None = None, **wiring: Any) -> Any:
    """The graph over a database; `wiring` (such as a model for the rest) is for `build_graph`."""
    return build_graph(tools(database or Database.default()), strategies=strategies, **wiring)


graph = make_graph()

JOINED: Final = (
    "SELECT sum(quantity * price) AS total FROM OrderItems JOIN products ON products.id = ProductId"
)
QUESTIONS: Final = (
    ("a table with a slip", "mended", "SELECT city, count(*) AS n FROM custmers GROUP BY city"),
    ("a column with a slip", "mended", "SELECT nmae FROM customers WHERE nmae <> 'nmae'"),
    ("names as one writes them elsewhere", "mended", JOINED),
    ("a keyword with a slip", "mended", "SELECT name FORM products ORDER BY price"),
    ("a column that may be one of two", "asked", "SELECT customer FROM orders"),
    ("a column that is not there", "asked", "SELECT discount FROM orders"),
    ("half a statement", "asked", "SELECT name FROM products WHERE"),
    ("a statement that writes", "reported", "DELETE FROM customers"),
)
"""What is wrong, what comes of it without a model, and the statement."""


def examples() -> list[dict[str, JSON]]:
    """The questions as inputs of the graph: `{"title", "input", "expect"}` each."""
    listing = {"call": {"name": "list_tabels", "args": {}}}
    asked = [
        {
            "title": title,
            "input": {"call": {"name": "query", "args": {"sql": sql}}},
            "expect": expect,
        }
        for title, expect, sql in QUESTIONS
    ]
    return [{"title": "a slip in the tool's name", "input": listing, "expect": "mended"}, *asked]
