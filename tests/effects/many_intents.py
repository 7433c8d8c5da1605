"""A ledger's table with as many rows as years of work leave, and what the database does with it."""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg

from selfcorrect.ledger import PostgresLedger
from selfcorrect.ledger.records import row

_CHUNK = 20_000
_OPEN = 1_000
"""One row in so many is in doubt."""
QUERIES = {
    "begin": "SELECT key, version, status, value, holder, checksum FROM selfcorrect_intents "
    "WHERE key = 'none'",
    "doubts": "SELECT key, status, holder FROM selfcorrect_intents "
    "WHERE scope = 'none' AND status IN ('begun', 'unknown') LIMIT 100",
    "first version": "SELECT 1 FROM selfcorrect_intents WHERE scope IS NULL LIMIT 1",
}


def lay_in(dsn: str, start: int, end: int) -> None:
    """Write settled intents straight into the table, as work of days ago would have left them."""
    ledger = PostgresLedger(dsn)
    ledger.doubts("")
    ledger.close()
    known = row("k", "done", {"id": 1}, "holder")
    then = time.time() - 90 * 86_400
    with psycopg.connect(dsn, autocommit=True) as connection:
        statement = (
            "COPY selfcorrect_intents (key, version, status, value, holder, checksum, written, "
            "scope) FROM STDIN"
        )
        with connection.cursor().copy(statement) as copy:
            for part in range(start, end, _CHUNK):
                copy.write("".join(_rows(part, min(part + _CHUNK, end), known, then)))
        connection.execute("ANALYZE selfcorrect_intents")


def _rows(start: int, end: int, known: Any, then: float) -> Iterator[str]:
    for number in range(start, end):
        status = "unknown" if number % _OPEN == 0 else "done"
        key = f"{number * 2_654_435_761 % 2**32:08x}{number:024x}"
        yield (
            f"{key}\t{known.version}\t{status}\t{known.value}\t{known.holder}\t{known.checksum}\t"
            f"{then + number / 1_000:.3f}\t{key[:32]}\n"
        )


def times(dsn: str, rounds: int = 300) -> dict[str, float]:
    """Microseconds, as a median, of what a call does with its ledger."""
    ledger = PostgresLedger(dsn)
    taken: dict[str, list[float]] = {"begin": [], "settle": [], "replay": [], "doubts": []}

    def timed(name: str, method: Any, *args: Any) -> None:
        started = time.perf_counter()
        method(*args)
        taken[name].append((time.perf_counter() - started) * 1e6)

    for _ in range(rounds):
        key = f"{uuid.uuid4().hex}:{uuid.uuid4().hex}"
        timed("begin", ledger.begin, key)
        timed("settle", ledger.settle, key, "done", {"id": 1})
        timed("replay", ledger.begin, key)
        timed("doubts", ledger.doubts, key.partition(":")[0])
    ledger.close()
    return {name: statistics.median(each) for name, each in taken.items()}


def plans(dsn: str) -> dict[str, str]:
    """How the database finds the rows of each query."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        return {
            name: "\n".join(line for (line,) in connection.execute(f"EXPLAIN {query}").fetchall())
            for name, query in QUERIES.items()
        }
