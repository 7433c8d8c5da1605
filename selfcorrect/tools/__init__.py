"""Tools as selfcorrect sees them: what the model is sent, what checks arguments, what runs."""

from selfcorrect.tools.builtin import escalate, throw_exception
from selfcorrect.tools.collection import tool_specs
from selfcorrect.tools.signatures import ArgumentDeserializationError
from selfcorrect.tools.spec import ToolSpec

__all__ = [
    "ArgumentDeserializationError",
    "ToolSpec",
    "escalate",
    "throw_exception",
    "tool_specs",
]
