"""For the tests of people who build on selfcorrect.

A scripted model, a virtual clock, a world in which tools fail and processes die as they are told
to, and checks of what people bring along: strategies and ledgers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfcorrect.testing.clock import VirtualTime
    from selfcorrect.testing.conformance import check_strategy
    from selfcorrect.testing.crashes import Crash, Crashes, FragileLedger
    from selfcorrect.testing.faults import Fault
    from selfcorrect.testing.ledgers import check_ledger
    from selfcorrect.testing.model import ScriptedModel, tool_call
    from selfcorrect.testing.playing import aplay, play
    from selfcorrect.testing.world import World

_HOMES = {
    "Crash": "crashes",
    "Crashes": "crashes",
    "Fault": "faults",
    "FragileLedger": "crashes",
    "ScriptedModel": "model",
    "VirtualTime": "clock",
    "World": "world",
    "aplay": "playing",
    "check_ledger": "ledgers",
    "check_strategy": "conformance",
    "play": "playing",
    "tool_call": "model",
}

__all__ = [
    "Crash",
    "Crashes",
    "Fault",
    "FragileLedger",
    "ScriptedModel",
    "VirtualTime",
    "World",
    "aplay",
    "check_ledger",
    "check_strategy",
    "play",
    "tool_call",
]


def __getattr__(name: str) -> Any:
    """Load a name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"selfcorrect.testing.{_HOMES[name]}"), name)
