"""litellm: a callback that mends the calls in completions, of the SDK and of the proxy."""

from __future__ import annotations

import json
from typing import Any, Final

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import ChatCompletionMessageToolCall, Function

from selfcorrect.forms.access import put
from selfcorrect.integrations.chat import new_id
from selfcorrect.integrations.menders import Asked, Items, Menders, asked

_PARTS: Final = Items(
    lambda p: getattr(p, "function", None) is not None,
    lambda name, args: ChatCompletionMessageToolCall(
        Function(name=name, arguments=json.dumps(args)), new_id(), "function"
    ),
)
_SAID: Final = ("audio", "images", "function_call", "content")


class MendingLogger(CustomLogger):
    """`litellm.callbacks = [MendingLogger()]`, for `acompletion` and the proxy; not for streams."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._menders = Menders(**options)

    async def async_post_call_success_deployment_hook(
        self, request_data: Any, response: Any, _: Any
    ) -> Any:
        """Mend what a deployment answers, before anybody sees it."""
        request, choices = _asked(request_data), getattr(response, "choices", None)
        if not request.tools or not choices:
            return response
        return put(response, ("choices",), [await self._mended(request, each) for each in choices])

    async def _mended(self, request: Asked, choice: Any) -> Any:
        message = choice.message
        details = [getattr(each, "provider_specific_fields", None) for each in (choice, message)]
        native = (details[0] or {}).get("native_finish_reason") or choice.finish_reason
        request = request.ended(native, message, *details)
        said = [getattr(message, key, None) for key in _SAID]
        calls = list(message.tool_calls or ())
        mended = (await self._menders.answer(request, [*said, *calls], _PARTS))[len(said) :]
        if mended == calls:
            return choice
        choice = put(choice, ("message", "tool_calls"), mended or None)
        return choice if message.tool_calls else put(choice, ("finish_reason",), "tool_calls")


def _asked(data: Any) -> Asked:
    offered = data.get("tools") or ()
    tools = [tool["function"] for tool in offered if "function" in tool]
    others = {tool.get("name") for tool in offered if "function" not in tool}
    return asked(tools, data.get("tool_choice"), data.get("response_format"), others)
