"""openai-agents: a model whose calls are mended before the runner looks them up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Final

from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall

from selfcorrect.integrations.menders import Items, Menders, new_id

_ITEMS: Final = Items(
    lambda i: (i.call_id, i.name, i.arguments) if i.type == "function_call" else None,
    lambda i: getattr(i.content[0], "text", None) if i.type == "message" and i.content else None,
    lambda i, name, args: i.model_copy(update={"name": name, "arguments": json.dumps(args)}),
    lambda name, args: ResponseFunctionToolCall(
        type="function_call", call_id=new_id(), name=name, arguments=json.dumps(args)
    ),
)
_ARGUMENTS: Final = ("system_instructions", "input", "model_settings", "tools", "_", "handoffs")


class MendedModel(Model):
    """`Agent(model=MendedModel(model))`, whole or streamed; `options` are those of `Mender`."""

    def __init__(self, wrapped: Model, **options: Any) -> None:
        self._wrapped, self._menders = wrapped, Menders(**options)

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the model, and mend what it answers."""
        response = await self._wrapped.get_response(*args, **kwargs)
        response.output = await self._menders.answer(
            _tools(*args, **kwargs), response.output, _ITEMS
        )
        return response

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Like `get_response`; the last event has what the runner executes."""
        async for event in self._wrapped.stream_response(*args, **kwargs):
            if event.type == "response.completed":
                output, tools = event.response.output, _tools(*args, **kwargs)
                event.response.output = await self._menders.answer(tools, output, _ITEMS)
            yield event


def _tools(*args: Any, **kwargs: Any) -> list[Any]:
    given = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
    named = [(t.name, getattr(t, "params_json_schema", None)) for t in given["tools"]]
    named += [(each.tool_name, each.input_json_schema) for each in given.get("handoffs") or ()]
    return [{"name": name, "parameters": schema} for name, schema in named]
