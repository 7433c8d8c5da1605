"""smolagents: a model whose calls are mended before a `ToolCallingAgent` runs them."""

from __future__ import annotations

from copy import copy
from typing import Any, Final

from smolagents import models

from selfcorrect.forms.access import put
from selfcorrect.integrations.chat import new_id
from selfcorrect.integrations.menders import Asked, Delegating, Items, asked
from selfcorrect.kernel.calls import is_just
from selfcorrect.kernel.requests import Request, why_no_call
from selfcorrect.model import Call

_PARTS: Final = Items(
    lambda p: isinstance(p, models.ChatMessageToolCall),
    lambda name, args: models.ChatMessageToolCall(
        models.ChatMessageToolCallFunction(args, name), new_id(), "function"
    ),
)
_ARGUMENTS: Final = ("messages", "stop_sequences", "response_format", "tools_to_call_from")


class MendedModel(Delegating, models.Model):
    """`ToolCallingAgent(tools=…, model=MendedModel(model))`; whole answers, not streams.

    Args:
        wrapped: The model.
        options: Those of `Mender`.
    """

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the model, and mend what it answers."""
        message = self._wrapped.generate(*args, **kwargs)
        given = dict(zip(_ARGUMENTS, args, strict=False)) | kwargs | self.kwargs
        request = _asked(given).ended(None, message.raw)
        said = message.content if isinstance(message.content, list) else [message.content]
        given = [each.get("text", each) if isinstance(each, dict) else each for each in said]
        parts = self._menders.answer_now(request, [*given, *(message.tool_calls or ())], _PARTS)
        message = put(message, ("tool_calls",), [*filter(_PARTS.is_call, parts)] or None)
        # What the request does not allow is no call for the agent's own parser either.
        message.allows = request.allows
        return message

    def parse_tool_calls(self, message: Any) -> Any:
        """Let the model read the calls in a text that may hold one.

        Raises:
            ValueError: If the text is an answer, or something stands around the call.
        """
        read = self._wrapped.parse_tool_calls(copy(message))
        if message.tool_calls:
            return read
        made = [call.function for call in read.tool_calls if _PARTS.is_call(call)]
        allows = getattr(message, "allows", Request())
        keys = (self.tool_name_key, self.tool_arguments_key)
        # The framework's own parser takes any JSON object, whatever is said around it.
        own = type(self._wrapped).parse_tool_calls is not models.Model.parse_tool_calls
        is_call = own or is_just(message.content, Call(made[0].name, made[0].arguments), keys)
        if not is_call or why_no_call(allows, (), names=[one.name for one in made]):
            raise ValueError("the text is an answer, or more than a call: write a call alone")
        return read

    @property
    def generate_stream(self) -> Any:
        """Not there: what an agent reads out of a stream is not mended."""
        raise AttributeError("generate_stream")


def _asked(given: Any) -> Asked:
    tools = [models.get_tool_json_schema(tool) for tool in given.get("tools_to_call_from") or ()]
    facts = [given.get(name) for name in ("tool_choice", "response_format")]
    choice, form = (None if fact is models.REMOVE_PARAMETER else fact for fact in facts)
    return asked([tool["function"] for tool in tools], choice, form)
