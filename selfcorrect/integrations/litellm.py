"""litellm: the calls of an answer are repaired before a guardrail or a client gets it."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import ChatCompletionDeltaToolCall, Function

from selfcorrect.integrations.adapter import Adapter, Turn, message_of
from selfcorrect.model import JsonDict
from selfcorrect.threads.pieces import join_pieces


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
                    (call.function.name, call.function.arguments, call.id)
                    for call in _calls(message)
                ]
                written = message_of(
                    message.content or "", calls, finish_reason=choice.finish_reason
                )
                turn = self._judge_choice(written, request_data)
                if turn.is_changed:
                    message.content = None if turn.is_text and turn.ready else message.content
                    _write(choice, message, _calls(message), turn)
        return response

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        response: Any,
        request_data: JsonDict,
    ) -> AsyncGenerator[Any, None]:
        """Hand on the texts of the proxy's stream as they come, and its calls when it is whole."""
        chunks, held = list[Any](), list[Any]()
        async for chunk in response:
            chunks.append(chunk)
            choices = getattr(chunk, "choices", ())
            if held or any(choice.finish_reason or _calls(choice.delta) for choice in choices):
                held.append(chunk)
            else:
                yield chunk
        choices = [choice for chunk in chunks for choice in getattr(chunk, "choices", ())]
        # The last choice of each index ends it.
        for index, last in {choice.index: choice for choice in choices}.items():
            deltas = [choice.delta for choice in choices if choice.index == index]
            pieces = [call for delta in deltas for call in _calls(delta)]
            text = "".join(delta.content or "" for delta in deltas)
            calls = [(call.name, call.args, call.id) for call in join_pieces(map(_piece, pieces))]
            written = message_of(text, calls, finish_reason=last.finish_reason)
            turn = self._judge_choice(written, request_data)
            if turn.is_changed:
                for delta in deltas:
                    delta.tool_calls = None
                _write(last, last.delta, pieces, turn)
        for chunk in held:
            yield chunk

    def _judge_choice(self, message: JsonDict, request: JsonDict) -> Turn:
        thread = [
            each if isinstance(each, dict) else each.model_dump()
            for each in request.get("messages") or ()
        ]
        tools = [tool for tool in request.get("tools") or () if "function" in tool]
        return self.judge(message, thread, tools)


def _calls(part: Any) -> list[Any]:
    return [call for call in part.tool_calls or () if getattr(call, "function", None)]


def _piece(call: Any) -> JsonDict:
    inner = call.function
    return {"index": call.index, "id": call.id, "name": inner.name, "args": inner.arguments}


def _write(choice: Any, part: Any, written: list[Any], turn: Turn) -> None:
    """Put the calls that may run into an answer, and a text about the others."""
    own = {call.id: call for call in reversed(written)}
    calls = []
    for index, call in enumerate(turn.ready):
        function = Function(name=call.name, arguments=json.dumps(call.args))
        new = ChatCompletionDeltaToolCall(
            id=call.id, type="function", index=index, function=function
        )
        # Beside the call stands what its provider wants to see again.
        calls.append(
            own[call.id].model_copy(update={"function": function}) if call.id in own else new
        )
    part.tool_calls = calls or None
    part.content = "\n".join(filter(None, (part.content, turn.objection))) or None
    choice.finish_reason = "tool_calls" if calls else "stop"
