"""litellm: the calls of an answer are repaired before a guardrail or a client gets it."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import ChatCompletionDeltaToolCall, Function

from selfcorrect.integrations.adapter import Adapter, WrittenCall, message_of
from selfcorrect.model import JsonDict
from selfcorrect.threads.pieces import join_pieces

_BLANK = ChatCompletionDeltaToolCall(type="function", index=0, function=Function(arguments=""))


class MendingLogger(Adapter, CustomLogger):
    """Repairs calls: `litellm.callbacks = [MendingLogger()]`; see `Adapter`.

    The client runs the tools, so the model is not asked again: what is wrong with a call becomes a
    text of the answer.
    """

    message_logging = True
    turn_off_message_logging = False

    async def async_post_call_success_deployment_hook(
        self, request_data: JsonDict, response: Any, *_: Any, **__: Any
    ) -> Any:
        """Judge a whole answer of the proxy, or of the SDK."""
        for choice in getattr(response, "choices", ()):
            if message := getattr(choice, "message", None):
                calls = [
                    (each.function.name, each.function.arguments, each.id)
                    for each in _calls(message)
                ]
                self._mend(choice, [message], calls, request_data)
        return response

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        response: Any,
        request_data: JsonDict,
    ) -> AsyncGenerator[Any, None]:
        """Hand on the texts of the proxy's stream as they come, and its calls when it is whole."""
        choices, held = list[Any](), list[Any]()
        async for chunk in response:
            new = getattr(chunk, "choices", ())
            choices += new
            if held or any(choice.finish_reason or _calls(choice.delta) for choice in new):
                held.append(chunk)
            else:
                yield chunk
        # The last choice of each index ends it.
        for index, last in {choice.index: choice for choice in choices}.items():
            deltas = [choice.delta for choice in choices if choice.index == index]
            pieces = [_piece(call) for delta in deltas for call in _calls(delta)]
            calls = [(call.name, call.args, call.id) for call in join_pieces(pieces)]
            self._mend(last, deltas, calls, request_data)
        for chunk in held:
            yield chunk

    def _mend(
        self, choice: Any, parts: Sequence[Any], calls: list[WrittenCall], request: JsonDict
    ) -> None:
        """Put the calls that may run into the last part of a choice, and a text about the others.

        Args:
            choice: What ends with this part.
            parts: The message, or the pieces of a stream.
            calls: The calls that they make up.
            request: What was asked.
        """
        thread = [
            each if isinstance(each, dict) else each.model_dump()
            for each in request.get("messages") or ()
        ]
        tools = [tool for tool in request.get("tools") or () if "function" in tool]
        text = "".join(part.content or "" for part in parts)
        written = message_of(text, calls, finish_reason=choice.finish_reason)
        turn = self.judge(written, thread, tools)
        if not turn.is_changed:
            return
        # Beside a call stands what its provider wants to see again.
        own = {call.id: call for part in reversed(parts) for call in reversed(_calls(part))}
        for part in parts:
            part.tool_calls = None
        last, new = parts[-1], []
        for index, call in enumerate(turn.ready):
            function = Function(name=call.name, arguments=json.dumps(call.args))
            update = {"id": call.id, "index": index, "function": function}
            new.append(own.get(call.id, _BLANK).model_copy(update=update))
        last.tool_calls = new or None
        last.content = "\n".join(filter(None, (last.content, turn.objection))) or None
        choice.finish_reason = "tool_calls" if new else "stop"


def _calls(part: Any) -> list[Any]:
    return [call for call in part.tool_calls or () if getattr(call, "function", None)]


def _piece(call: Any) -> JsonDict:
    inner = call.function
    return {"index": call.index, "id": call.id, "name": inner.name, "args": inner.arguments}
