"""Runs calls without LangGraph, and plays models, clocks and services, for tests."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfcorrect.testing.clock import VirtualTime
    from selfcorrect.testing.model import ScriptedModel, tool_call
    from selfcorrect.testing.playing import aplay, play

__all__ = ["ScriptedModel", "VirtualTime", "aplay", "play", "tool_call"]

_HOMES = {
    "ScriptedModel": "model",
    "VirtualTime": "clock",
    "aplay": "playing",
    "play": "playing",
    "tool_call": "model",
}


def __getattr__(name: str) -> Any:
    # langchain_core takes its time to import: only who plays a model pays for it.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
