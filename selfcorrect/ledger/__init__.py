"""Intents and outcomes: what was about to be done, and what came of it.

An intent is written before the tool is called and settled after it, so that a run that is
resumed replays what is done, repeats what surely was not, and reports what nobody knows. A
process that resumes what another one has begun waits while that one lives, and takes over after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily
from selfcorrect.ledger.memory import MemoryLedger

if TYPE_CHECKING:
    from selfcorrect.ledger.postgres import PostgresLedger
    from selfcorrect.ledger.sqlite import SqliteLedger

_HOMES = {
    "PostgresLedger": "selfcorrect.ledger.postgres",
    "SqliteLedger": "selfcorrect.ledger.sqlite",
}

__all__ = ["MemoryLedger", "PostgresLedger", "SqliteLedger"]

__getattr__ = lazily(__name__, _HOMES)
