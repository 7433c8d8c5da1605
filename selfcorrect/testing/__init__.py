"""For the tests of people who build on selfcorrect: a scripted model and a virtual clock."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfcorrect.testing.clock import VirtualTime
    from selfcorrect.testing.conformance import check_strategy
    from selfcorrect.testing.model import ScriptedModel

_HOMES = {"ScriptedModel": "model", "VirtualTime": "clock", "check_strategy": "conformance"}

__all__ = ["ScriptedModel", "VirtualTime", "check_strategy"]


def __getattr__(name: str) -> Any:
    """Load a name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"selfcorrect.testing.{_HOMES[name]}"), name)
