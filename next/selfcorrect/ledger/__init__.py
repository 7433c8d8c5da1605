"""Ledgers remember calls of tools that act: the intent before the effect, the outcome after it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfcorrect.ledger.memory import MemoryLedger
    from selfcorrect.ledger.sqlite import SqliteLedger

__all__ = ["MemoryLedger", "SqliteLedger"]


def __getattr__(name: str) -> Any:
    # Only the ledger that somebody asks for loads its database.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{name.removesuffix('Ledger').lower()}")
    return getattr(module, name)
