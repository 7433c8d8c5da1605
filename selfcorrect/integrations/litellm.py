"""litellm: a callback that mends the calls in completions, of the SDK and of the proxy."""

from __future__ import annotations

import json
from typing import Any, Final

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import ChatCompletionMessageToolCall, Function

from selfcorrect.integrations.menders import Items, Menders, new_id


def _call(name: str, args: Any, call_id: str | None = None) -> Any:
    function = Function(name=name, arguments=json.dumps(args))
    return ChatCompletionMessageToolCall(id=call_id or new_id(), type="function", function=function)


_PARTS: Final = Items(
    lambda p: None if isinstance(p, str) else (p.id, p.function.name, p.function.arguments),
    lambda p: p if isinstance(p, str) else None,
    lambda p, name, args: _call(name, args, p.id),
    _call,
)


class MendingLogger(CustomLogger):
    """`litellm.callbacks = [MendingLogger()]`, for `acompletion` and the proxy; not for streams."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._menders = Menders(**options)

    async def async_post_call_success_deployment_hook(
        self, request_data: Any, response: Any, _: Any
    ) -> Any:
        """Mend what a deployment answers, before anybody sees it."""
        tools = [tool["function"] for tool in request_data.get("tools") or () if "function" in tool]
        for choice in getattr(response, "choices", None) or () if tools else ():
            message = choice.message
            said = [message.content] if isinstance(message.content, str) else []
            given, reason = message.tool_calls or said, choice.finish_reason
            parts = await self._menders.answer(tools, given, _PARTS, reason)
            if any(part is not old for part, old in zip(parts, given, strict=False)):
                message.tool_calls = parts
                if given is said:
                    message.content, choice.finish_reason = None, "tool_calls"
        return response
