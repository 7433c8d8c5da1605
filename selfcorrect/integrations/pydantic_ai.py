"""pydantic-ai: a model whose calls are mended before the agent validates them."""

from __future__ import annotations

from typing import Any, Final

from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.wrapper import WrapperModel

from selfcorrect.integrations.menders import Asked, Delegating, Items, asked

_PARTS: Final = Items(
    lambda p: isinstance(p, ToolCallPart),
    ToolCallPart,
    ("tool_call_id",),
    ("tool_name",),
    ("args",),
    lambda p: [] if isinstance(p, ThinkingPart) else [p.content if isinstance(p, TextPart) else p],
)


class MendedModel(Delegating, WrapperModel):
    """`Agent(MendedModel("openai:gpt-5"))`; whole answers, not streams.

    Args:
        wrapped: The model, or its name.
        options: Those of `Mender`.
    """

    KEPT = "_"  # what is private WrapperModel hands on itself, as far as it should be

    def __init__(self, wrapped: Any, **options: Any) -> None:
        WrapperModel.__init__(self, wrapped)
        Delegating.__init__(self, self.wrapped, **options)

    async def request(self, messages: Any, model_settings: Any, parameters: Any) -> ModelResponse:
        """Ask the model, and mend what it answers."""
        response = await self._wrapped.request(messages, model_settings, parameters)
        settings = {**(self.settings or {}), **(model_settings or {})}
        request = _asked(parameters, settings.get("tool_choice"))
        request = request.ended(response.finish_reason, response.provider_details)
        return await self._menders.within(request, response, "parts", _PARTS)


def _asked(parameters: Any, tool_choice: Any) -> Asked:
    offered = [*parameters.function_tools, *parameters.output_tools]
    tools = [{"name": t.name, "parameters": t.parameters_json_schema} for t in offered]
    chosen = [] if tool_choice == "none" else getattr(tool_choice, "function_tools", tool_choice)
    if chosen == [] or chosen is not tool_choice:  # its output tools are called all the same
        tool_choice = [*chosen, *(t.name for t in parameters.output_tools)] or "none"
    # An output tool has the form of an answer, too: who writes that as text has not called another.
    forms = [t.parameters_json_schema for t in parameters.output_tools]
    whole = getattr(parameters.output_object, "json_schema", None)
    forms = [each for each in (*forms, whole) if each]
    return asked(tools, tool_choice, forms and {"anyOf": forms})
