"""Intents and outcomes: what was about to be done, and what came of it.

An intent is written before the tool is called and settled after it, so that a run that is
resumed replays what is done, repeats what surely was not, and reports what nobody knows.
"""

from selfcorrect.ledger.memory import MemoryLedger

__all__ = ["MemoryLedger"]
