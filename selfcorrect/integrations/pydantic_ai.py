"""pydantic-ai: a model whose calls are mended before the agent validates them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.wrapper import WrapperModel

from selfcorrect.integrations.menders import Items, Menders

_PARTS: Final = Items(
    lambda p: (p.tool_call_id, p.tool_name, p.args) if isinstance(p, ToolCallPart) else None,
    lambda p: p.content if isinstance(p, TextPart) else None,
    lambda part, name, args: replace(part, tool_name=name, args=args),
    ToolCallPart,
)


class MendedModel(WrapperModel):
    """`Agent(MendedModel("openai:gpt-5"))`; whole answers, not streams.

    Args:
        wrapped: The model, or its name.
        options: Those of `Mender`.
    """

    def __init__(self, wrapped: Any, **options: Any) -> None:
        super().__init__(wrapped)
        self._menders = Menders(**options)

    async def request(self, messages: Any, model_settings: Any, parameters: Any) -> ModelResponse:
        """Ask the model, and mend what it answers."""
        response = await super().request(messages, model_settings, parameters)
        offered = [*parameters.function_tools, *parameters.output_tools]
        tools = [{"name": t.name, "parameters": t.parameters_json_schema} for t in offered]
        reason = response.finish_reason
        return replace(
            response, parts=await self._menders.answer(tools, response.parts, _PARTS, reason)
        )
