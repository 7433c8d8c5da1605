"""The rung before those of the map: which handler an error of a tool goes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from selfcorrect.protocols import Tool

if TYPE_CHECKING:
    from selfcorrect.handlers.handler import OnError

DESERIALIZATION: Final = "ArgumentDeserializationError"


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A handler decided, and what it decided on is used up: the run ends."""

    reason: str


class Handlers:
    """Who handles a tool's errors: the tool's own handler, else the graph's, else the defaults.

    It stands on a ladder like a strategy, by its name, and takes all findings of a round at once.

    Args:
        per_tool: The handlers that tools bring along, and those that the graph names by tool.
        graph: The graph's handler for all other tools.
        fallback: The process's defaults.
    """

    name: ClassVar[str] = "on-error"
    batch: ClassVar[bool] = True

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
