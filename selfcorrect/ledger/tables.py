"""The tables of a ledger in an SQL database, and what one of an earlier form lacks."""

from __future__ import annotations

from typing import Final

from selfcorrect.ledger.counts import TABLE

TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS selfcorrect_intents (
        key TEXT PRIMARY KEY, version INTEGER NOT NULL, status TEXT NOT NULL, value TEXT,
        holder TEXT NOT NULL, checksum TEXT NOT NULL, written DOUBLE PRECISION NOT NULL,
        scope TEXT, answered_by TEXT, doubt TEXT, about TEXT
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS selfcorrect_holders (
        id TEXT PRIMARY KEY, host TEXT, pid INTEGER NOT NULL, started TEXT, beat INTEGER NOT NULL
    )
    """,
    TABLE,
    """
    CREATE TABLE IF NOT EXISTS selfcorrect_board (
        name TEXT PRIMARY KEY, version INTEGER NOT NULL, value TEXT NOT NULL,
        written DOUBLE PRECISION NOT NULL
    )
    """,
)
ADDED: Final = ("scope", "answered_by", "doubt", "about")
"""Columns of text that a table of an earlier form lacks; what was written before has none."""
INDEXES: Final = (
    """
    CREATE INDEX IF NOT EXISTS selfcorrect_doubts ON selfcorrect_intents (scope)
    WHERE status IN ('begun', 'unknown')
    """,
    """
    CREATE INDEX IF NOT EXISTS selfcorrect_in_doubt ON selfcorrect_intents (doubt)
    WHERE doubt IS NOT NULL
    """,
    """
    CREATE INDEX IF NOT EXISTS selfcorrect_marked ON selfcorrect_intents (substr(checksum, 17))
    WHERE length(checksum) > 16
    """,
    """
    CREATE INDEX IF NOT EXISTS selfcorrect_first ON selfcorrect_intents (key) WHERE scope IS NULL
    """,
)


def add_column(name: str) -> str:
    """The statement that gives a table of an earlier form one of the columns it lacks."""
    return f"ALTER TABLE selfcorrect_intents ADD COLUMN {name} TEXT"
