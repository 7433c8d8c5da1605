"""Microsoft agent-framework: chat middleware that mends calls before the client runs them."""

from __future__ import annotations

import json
from typing import Any, Final

from agent_framework import ChatMiddleware, ChatResponse, Content

from selfcorrect.integrations.menders import Items, Menders, new_id

_CONTENTS: Final = Items(
    lambda c: (c.call_id, c.name, c.arguments) if c.type == "function_call" else None,
    lambda c: c.text if c.type == "text" else None,
    lambda c, name, args: Content.from_function_call(c.call_id, name, arguments=json.dumps(args)),
    lambda name, args: Content.from_function_call(new_id(), name, arguments=json.dumps(args)),
)


class MendingMiddleware(ChatMiddleware):
    """`Agent(client, middleware=[MendingMiddleware()])`; `options` are those of `Mender`."""

    def __init__(self, **options: Any) -> None:
        self._menders = Menders(**options)

    async def process(self, context: Any, call_next: Any) -> None:
        """Let the client ask the model, and mend what it answers, streamed or whole."""
        tools = [_tool(tool) for tool in (context.options or {}).get("tools") or ()]

        async def mended(response: Any) -> Any:
            for each in response.messages:
                reason = response.finish_reason
                each.contents = await self._menders.answer(tools, each.contents, _CONTENTS, reason)
            return response

        if context.stream:
            context.stream_result_hooks.append(mended)
        await call_next()
        if isinstance(context.result, ChatResponse):
            await mended(context.result)


def _tool(tool: Any) -> dict[str, Any]:
    schema = tool.parameters() if hasattr(tool, "parameters") else None
    return {"name": str(getattr(tool, "name", None) or id(tool)), "parameters": schema}
