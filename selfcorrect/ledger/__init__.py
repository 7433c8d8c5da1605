"""Intents and outcomes: what was about to be done, and what came of it.

An intent is written before the tool is called and settled after it, so that a run that is
resumed replays what is done, repeats what surely was not, and reports what nobody knows. A
process that resumes what another one has begun waits while that one lives, and takes over after.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from selfcorrect.ledger.memory import MemoryLedger

if TYPE_CHECKING:
    from selfcorrect.ledger.postgres import PostgresLedger
    from selfcorrect.ledger.sqlite import SqliteLedger

_HOMES = {"PostgresLedger": "postgres", "SqliteLedger": "sqlite"}

__all__ = ["MemoryLedger", "PostgresLedger", "SqliteLedger"]


def __getattr__(name: str) -> Any:
    """Load a ledger on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"selfcorrect.ledger.{_HOMES[name]}"), name)
