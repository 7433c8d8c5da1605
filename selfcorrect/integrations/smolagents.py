"""smolagents: a model whose calls are mended before a `ToolCallingAgent` runs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from smolagents import models

from selfcorrect.integrations.menders import Items, Menders, new_id

_PARTS: Final = Items(
    lambda p: None if isinstance(p, str) else (p.id, p.function.name, p.function.arguments),
    lambda p: p if isinstance(p, str) else None,
    lambda p, name, args: replace(p, function=models.ChatMessageToolCallFunction(args, name)),
    lambda name, args: models.ChatMessageToolCall(
        models.ChatMessageToolCallFunction(args, name), new_id(), "function"
    ),
)


class MendedModel(models.Model):
    """`ToolCallingAgent(tools=…, model=MendedModel(model))`; whole answers, not streams.

    Args:
        wrapped: The model.
        options: Those of `Mender`.
    """

    def __init__(self, wrapped: models.Model, **options: Any) -> None:
        super().__init__(model_id=wrapped.model_id)
        self._wrapped, self._menders = wrapped, Menders(**options)

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the model, and mend what it answers."""
        message = self._wrapped.generate(*args, **kwargs)
        offered = kwargs.get("tools_to_call_from") or ()
        tools = [models.get_tool_json_schema(tool)["function"] for tool in offered]
        said = [message.content] if isinstance(message.content, str) else []
        parts = self._menders.answer_now(tools, message.tool_calls or said, _PARTS)
        calls = [part for part in parts if not isinstance(part, str)]
        return replace(message, tool_calls=calls or None)
