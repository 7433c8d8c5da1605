"""A tool that acts is executed once for one call, whatever stands between the loop and the tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from selfcorrect.effects import Outcome, settled
from selfcorrect.errors import is_control_flow
from selfcorrect.evidence.outcome import ending_of
from selfcorrect.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class _Failed:
    """An execution that failed: with what, what it left, and how it ended."""

    args: Any
    outcome: Outcome
    ended: Exception | ToolMessage

    def again(self) -> ToolMessage:
        """The same ending, once more."""
        if isinstance(self.ended, Exception):
            raise self.ended
        return self.ended


class Once:
    """Watches the executions of a tool that acts, and answers repetitions by what is known.

    A middleware between the loop and the tool may call the tool as often as it likes: after an
    execution that may have acted it gets the same answer again, and the tool is left alone.

    Attributes:
        error: What the tool raised last; hosts turn it into a message and forget it.
    """

    def __init__(self, spec: ToolSpec) -> None:
        self.error: Exception | None = None
        self._spec = spec
        self._failed: list[_Failed] = []

    def guarding(self, tool: BaseTool) -> BaseTool:
        """A copy of the tool that asks here before it is run."""
        guarded = tool.model_copy()

        def invoke(given: Any, config: Any = None, **options: Any) -> Any:
            if (known := self._known(given)) is not None:
                return known.again()
            try:
                value = tool.invoke(given, config, **options)
            except Exception as error:
                self._raised(given, error)
                raise
            return self._returned(given, value)

        async def ainvoke(given: Any, config: Any = None, **options: Any) -> Any:
            if (known := self._known(given)) is not None:
                return known.again()
            try:
                value = await tool.ainvoke(given, config, **options)
            except Exception as error:
                self._raised(given, error)
                raise
            return self._returned(given, value)

        # An instance's own attribute comes before the method of its class.
        object.__setattr__(guarded, "invoke", invoke)
        object.__setattr__(guarded, "ainvoke", ainvoke)
        return guarded

    def _known(self, given: Any) -> _Failed | None:
        for item in self._failed:
            if item.outcome is Outcome.LOST or _equal(item.args, _args(given)):
                return item
        return None

    def _raised(self, given: Any, error: Exception) -> None:
        if not is_control_flow(error):
            self.error = error
            self._note(given, ending_of(error, self._spec.home).outcome, error)

    def _returned(self, given: Any, value: Any) -> Any:
        self.error = None
        if isinstance(value, ToolMessage) and value.status == "error":
            self._note(given, Outcome.REFUSED, value)
        return value

    def _note(self, given: Any, outcome: Outcome, ended: Exception | ToolMessage) -> None:
        if (left := settled(outcome, self._spec)) is not Outcome.NOT_DONE:
            self._failed.append(_Failed(_args(given), left, ended))


def _args(given: Any) -> Any:
    is_call = isinstance(given, Mapping) and given.get("type") == "tool_call"
    return given["args"] if is_call else given


def _equal(one: Any, other: Any) -> bool:
    """Equality of arguments; what cannot be compared is taken for equal."""
    try:
        return bool(one == other)
    except Exception:  # injected objects may compare as they like
        return True
