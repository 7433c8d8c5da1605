"""openai-agents: a model whose calls are mended before the runner looks them up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import partial
from inspect import signature
from typing import Any, Final

from agents import FunctionTool, ModelBehaviorError
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage

from selfcorrect.forms.access import put
from selfcorrect.integrations.chat import new_id
from selfcorrect.integrations.fetching import fetched, keep
from selfcorrect.integrations.menders import Asked, Delegating, Items, asked
from selfcorrect.plain import plain

_CALL: Final = partial(ResponseFunctionToolCall, type="function_call")
_ITEMS: Final = Items(
    lambda i: getattr(i, "type", None) == "function_call",
    lambda name, args: _CALL(call_id=new_id(), name=name, arguments=json.dumps(args)),
    ("call_id",),
    ("name",),
    ("arguments",),
    lambda i: [getattr(p, "text", p) for p in _said(i)],
)
_ARGUMENTS: Final = list(signature(Model.get_response).parameters)[1:]


class MendedModel(Delegating, Model):
    """`Agent(model=MendedModel(model))`, whole or streamed; `options` are those of `Mender`."""

    def __init__(self, wrapped: Any, **options: Any) -> None:
        Delegating.__init__(self, wrapped, **options)
        keep(wrapped, "_fetch_response")  # nothing public has how chat completions ended

    async def get_response(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the model, and mend what it answers."""
        seen, response = fetched(), await self._wrapped.get_response(*args, **kwargs)
        return await self._mended(response, seen, *args, **kwargs)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Like `get_response`; the last event has what the runner executes."""
        seen = fetched()
        async for each in self._wrapped.stream_response(*args, **kwargs):
            if each.type != "response.completed":
                yield each
                continue
            yield put(each, ("response",), await self._mended(each.response, seen, *args, **kwargs))

    async def _mended(self, response: Any, seen: Any, *args: Any, **kwargs: Any) -> Any:
        request = _asked(*args, **kwargs).ended(None, seen, response.output)
        mended = await self._menders.within(request, response, "output", _ITEMS)
        if response.output and not mended.output:
            raise ModelBehaviorError("the answer may hold no call, and held nothing else")
        return mended


def _said(item: Any) -> Any:
    return item.content if isinstance(item, ResponseOutputMessage) else [plain(item)]


def _asked(*args: Any, **kwargs: Any) -> Asked:
    given = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs
    named = [(t.name, t.params_json_schema) for t in given["tools"] if isinstance(t, FunctionTool)]
    named += [(each.tool_name, each.input_json_schema) for each in given.get("handoffs") or ()]
    tools = [{"name": name, "parameters": schema} for name, schema in named]
    form, hosted = given["output_schema"], {t.name for t in given["tools"]} - dict(named).keys()
    answer = None if form is None or form.is_plain_text() else form.json_schema()
    return asked(tools, given["model_settings"].tool_choice, answer, hosted)
