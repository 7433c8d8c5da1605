"""openai-agents: a model whose calls are mended before the runner looks them up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from inspect import signature
from typing import Any, Final

from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall

from selfcorrect.forms.access import put
from selfcorrect.integrations.chat import new_id
from selfcorrect.integrations.fetching import keep, with_last
from selfcorrect.integrations.menders import Asked, Delegating, Items, asked

_ITEMS: Final = Items(
    lambda i: getattr(i, "type", None) == "function_call",
    lambda name, args: ResponseFunctionToolCall(
        type="function_call", call_id=new_id(), name=name, arguments=json.dumps(args)
    ),
    ("call_id",),
    ("name",),
    ("arguments",),
    lambda i: [p.text for p in getattr(i, "content", None) or () if p.type == "output_text"],
)
_ARGUMENTS: Final = list(signature(Model.get_response).parameters)[1:]


class MendedModel(Delegating, Model):
    """`Agent(model=MendedModel(model))`, whole or streamed; `options` are those of `Mender`."""

    def __init__(self, wrapped: Any, **options: Any) -> None:
        Delegating.__init__(self, wrapped, **options)
        keep(wrapped, "_fetch_response")  # nothing public has how chat completions ended

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the model, and mend what it answers."""
        response, fetched = await with_last(self._wrapped.get_response(*args, **kwargs))
        return await self._mended(response, _asked(*args, **kwargs), fetched)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Like `get_response`; the last event has what the runner executes."""
        async for event in self._wrapped.stream_response(*args, **kwargs):
            if event.type != "response.completed":
                yield event
                continue
            whole = await self._mended(event.response, _asked(*args, **kwargs))
            yield put(event, ("response",), whole)

    async def _mended(self, response: Any, request: Asked, fetched: Any = None) -> Any:
        request = request.ended(None, fetched, response.output)
        output = await self._menders.answer(request, response.output, _ITEMS)
        return put(response, ("output",), output)


def _asked(*args: Any, **kwargs: Any) -> Asked:
    given = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
    run = [tool for tool in given["tools"] if hasattr(tool, "params_json_schema")]
    named = [(tool.name, tool.params_json_schema) for tool in run]
    named += [(each.tool_name, each.input_json_schema) for each in given.get("handoffs") or ()]
    tools = [{"name": name, "parameters": schema} for name, schema in named]
    form, hosted = given.get("output_schema"), {tool.name for tool in given["tools"]}
    answer = None if form is None or form.is_plain_text() else form.json_schema()
    choice = getattr(given.get("model_settings"), "tool_choice", None)
    return asked(tools, choice, answer, hosted - {name for name, _ in named})
