"""Runs calls without LangGraph, and plays models, clocks and services, for tests.

Names are loaded when they are first used: only who plays a model pays for langchain-core.
"""

from selfcorrect.lazy import load_names

__all__, __getattr__ = load_names(
    __name__,
    {"clock": "VirtualTime", "model": "ScriptedModel tool_call", "playing": "aplay play"},
)
