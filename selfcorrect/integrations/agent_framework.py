"""Microsoft agent-framework: chat middleware that mends calls before the client runs them."""

from __future__ import annotations

import json
from typing import Any, Final

from agent_framework import (
    ChatMiddleware,
    ChatResponse,
    Content,
    FunctionTool,
    Message,
    normalize_tools,
)

from selfcorrect.forms.access import put
from selfcorrect.integrations.chat import new_id
from selfcorrect.integrations.menders import Asked, Items, Menders, asked

_SILENT: Final = (None, "text_reasoning", "usage")
_CONTENTS: Final = Items(
    lambda c: getattr(c, "type", None) == "function_call",
    lambda name, args: Content.from_function_call(new_id(), name, arguments=json.dumps(args)),
    ("call_id",),
    ("name",),
    ("arguments",),
    lambda c: () if getattr(c, "type", None) in _SILENT else [c.text if c.type == "text" else c],
)


class MendingMiddleware(ChatMiddleware):
    """`Agent(client, middleware=[MendingMiddleware()])`; `options` are those of `Mender`."""

    def __init__(self, **options: Any) -> None:
        self._menders = Menders(**options)

    async def process(self, context: Any, call_next: Any) -> None:
        """Let the client ask the model, and mend what it answers, streamed or whole."""
        updates = list[Any]()

        async def mended(response: Any) -> Any:
            request = _asked(context.options or {}, response, updates)
            parts = [part for each in response.messages for part in (each, *each.contents)]
            response.messages = []
            for part in await self._menders.answer(request, parts, _CONTENTS):
                if isinstance(part, Message):
                    response.messages.append(put(part, ("contents",), []))
                else:
                    response.messages[-1].contents.append(part)
            return response

        if context.stream:
            # The response that is made of a stream leaves out what some of its pieces say.
            context.stream_transform_hooks.append(updates.append)
            context.stream_result_hooks.append(mended)
        await call_next()
        if isinstance(context.result, ChatResponse):
            await mended(context.result)


def _asked(options: Any, response: Any, updates: Any) -> Asked:
    run = [each for each in normalize_tools(options.get("tools")) if isinstance(each, FunctionTool)]
    tools = [{"name": each.name, "parameters": each.parameters()} for each in run]
    messages = (*response.messages, *updates)
    said = [part for each in messages for part in each.contents]
    answered = {part.call_id for part in said if part.type == "function_result"}
    raw = [each.raw_representation for each in (response, *messages, *said)]
    choice, form = options.get("tool_choice"), options.get("response_format")
    return asked(tools, choice, form, answered).ended(response.finish_reason, raw)
