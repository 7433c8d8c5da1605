"""A chat model that answers from a list."""

import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from selfcorrect.model import JsonDict


def tool_call(name: str, id: str | None = None, /, **args: Any) -> AIMessage:  # noqa: A002
    """Return a message with one tool call; without an id it gets a fresh one.

    >>> tool_call("add", "call_1", id=5).tool_calls[0]["args"]
    {'id': 5}
    """
    call = {"name": name, "args": args, "id": id or f"call_{uuid4().hex[:12]}"}
    return AIMessage(content="", tool_calls=[call])


class ScriptedModel(BaseChatModel):
    """Answers with the items of a list, one after the other, then with an empty text.

    An item is a text, a dict (answered as JSON text), a message, an exception (raised), or a
    function of the messages whose value is an item.

    Attributes:
        items: What is still to be answered.
        again: Whether the last item is repeated for ever.
        prompts: The messages of every call so far.
        bound_tools: The tools that were bound last, in OpenAI's format.

    >>> model = ScriptedModel([{"passengers": 1}, "Booked."])
    >>> model.invoke("how many?").text, model.invoke("and?").text, model.invoke("and?").text
    ('{"passengers": 1}', 'Booked.', '')
    >>> len(model.prompts)
    3
    """

    items: list[Any]
    again: bool = False
    prompts: list[list[BaseMessage]] = Field(default_factory=list, repr=False)
    bound_tools: list[JsonDict] = Field(default_factory=list, repr=False)

    def __init__(self, items: Iterable[Any] = (), again: bool = False, **fields: Any) -> None:
        fields |= {"items": list(items), "again": again}
        super().__init__(**fields)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        """Remember the tools; the same model answers, whatever is bound."""
        self.bound_tools[:] = [convert_to_openai_tool(tool) for tool in tools]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **_: Any,
    ) -> ChatResult:
        self.prompts.append(list(messages))
        keep = self.again and len(self.items) == 1
        item = self.items[0] if keep else self.items.pop(0) if self.items else ""
        return ChatResult(generations=[ChatGeneration(message=_message(item, messages))])


def _message(item: Any, messages: list[BaseMessage]) -> BaseMessage:
    if isinstance(item, BaseMessage):
        # LangChain writes ids into what a model answers, and an item may be answered again.
        return item.model_copy(deep=True)
    if isinstance(item, BaseException):
        raise item
    if callable(item):
        return _message(item(messages), messages)
    return AIMessage(content=item if isinstance(item, str) else json.dumps(item))
