"""Tools as selfcorrect sees them: what the model is sent, what checks arguments, what runs."""

from selfcorrect.tools.signatures import ArgumentDeserializationError
from selfcorrect.tools.spec import ToolSpec, tool_specs

__all__ = ["ArgumentDeserializationError", "ToolSpec", "tool_specs"]
