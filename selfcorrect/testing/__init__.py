"""For the tests of people who build on selfcorrect.

A scripted model, a virtual clock, a world in which tools fail and processes die as they are told
to, and checks of what people bring along: strategies and ledgers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfcorrect.lazily import lazily

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
    "Crash": "selfcorrect.testing.crashes",
    "Crashes": "selfcorrect.testing.crashes",
    "Fault": "selfcorrect.testing.faults",
    "FragileLedger": "selfcorrect.testing.crashes",
    "ScriptedModel": "selfcorrect.testing.model",
    "VirtualTime": "selfcorrect.testing.clock",
    "World": "selfcorrect.testing.world",
    "aplay": "selfcorrect.testing.playing",
    "check_ledger": "selfcorrect.testing.ledgers",
    "check_strategy": "selfcorrect.testing.conformance",
    "play": "selfcorrect.testing.playing",
    "tool_call": "selfcorrect.testing.model",
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

__getattr__ = lazily(__name__, _HOMES)
