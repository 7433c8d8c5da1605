"""Ledgers remember calls of tools that act: the intent before the effect, the outcome after it.

Only the ledger that somebody asks for loads its database.
"""

from selfcorrect.lazy import load_names

__all__, __getattr__ = load_names(
    __name__,
    {
        "memory": "MemoryLedger",
        "postgres": "PostgresLedger",
        "sqlite": "SqliteLedger",
    },
)
