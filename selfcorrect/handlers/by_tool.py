"""Which handler an error of a tool goes to."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from selfcorrect.protocols import Tool

if TYPE_CHECKING:
    from selfcorrect.handlers.handler import OnError

ON_ERROR: Final = "on-error"
"""The name of a tool's handler on a ladder, before the strategies of the map."""

DESERIALIZATION: Final = "ArgumentDeserializationError"


class Handlers:
    """Who handles a tool's errors: the tool's own handler, else the graph's, else the defaults.

    Args:
        per_tool: The handlers that tools bring along, and those that the graph names by tool.
        graph: The graph's handler for all other tools.
        fallback: The process's defaults.
    """

    def __init__(
        self,
        per_tool: Mapping[str, OnError] | None = None,
        graph: OnError | None = None,
        fallback: OnError | None = None,
    ) -> None:
        self._per_tool = MappingProxyType(dict(per_tool or {}))
        self._else = graph if graph is not None else fallback

    def of(self, tool: str) -> OnError | None:
        """The whole handler that holds for a tool, or None."""
        return self._per_tool.get(tool, self._else)

    def handles(self, tool: Tool | None, source: str, type_name: str | None) -> bool:
        """Whether anyone handles an error from this source (`schema`, `tool`, `plan`)."""
        handler = self.of(tool.name) if tool is not None else None
        if handler is None:
            return False
        if source != "tool":
            return handler.invalid_args is not None
        if type_name == DESERIALIZATION:
            return handler.deserialization_error is not None
        return handler.execution_error is not None
