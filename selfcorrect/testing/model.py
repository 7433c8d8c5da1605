"""A chat model that says what a test tells it to say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, PrivateAttr


def tool_call(name: str, call_id: str | None = None, /, **args: Any) -> AIMessage:
    """A message that calls a tool, for a script.

    >>> tool_call("add", a=1, b=2).tool_calls[0]["args"]
    {'a': 1, 'b': 2}
    """
    call = {"name": name, "args": args, "id": call_id or f"call_{uuid4().hex[:8]}"}
    return AIMessage(content="", tool_calls=[call])


class ScriptedModel(BaseChatModel):
    """Answers with the next item of its script.

    An item is text, an object (answered as JSON), a message (see `tool_call`), an exception to
    raise, or a function of the messages that returns one of these. Running past the end of the
    script raises `IndexError`, so that a test sees a call too many. Tools can be bound,
    structured output asked for, and answers streamed; what was sent stays in `prompts`, what was
    bound in `bound_tools`.

    Attributes:
        script: The items, in order.
        tokens_per_call: The total that usage says of every call.
        again: Whether the script starts anew when it is over.

    >>> model = ScriptedModel([{"passengers": 1}, ConnectionError("down")])
    >>> model.invoke("how many?").content
    '{"passengers": 1}'
    >>> model.invoke("and now?")
    Traceback (most recent call last):
    ...
    ConnectionError: down
    >>> len(model.prompts)
    2
    """

    script: list[Any] = Field(default_factory=list)
    tokens_per_call: int = 10
    again: bool = False
    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[dict[str, Any]] = PrivateAttr(default_factory=list)
    _next: int = PrivateAttr(default=0)

    def __init__(self, script: Sequence[Any] = (), /, **fields: Any) -> None:
        super().__init__(**{"script": list(script), **fields})

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        """The messages of every call so far."""
        return self._prompts

    @property
    def bound_tools(self) -> list[dict[str, Any]]:
        """The tools that were bound last, as a provider is sent them."""
        return self._tools

    @property
    def _llm_type(self) -> str:
        return "selfcorrect-scripted"

    def bind_tools(
        self,
        tools: Sequence[Any],
        **kwargs: Any,  # noqa: ARG002
    ) -> Runnable[Any, AIMessage]:
        """The same script; what is bound is kept in `bound_tools`."""
        self._tools = [convert_to_openai_tool(tool) for tool in tools]
        return self

    def with_structured_output(
        self,
        schema: Any,
        *,
        include_raw: bool = False,
        **kwargs: Any,  # noqa: ARG002
    ) -> Runnable[Any, Any]:
        """The next item as an object: a pydantic model of that class, or a dict.

        Raises:
            ValueError: When it runs, if the item is not JSON or does not fit the class.
        """

        def parsed(message: AIMessage) -> Any:
            text = str(message.content)
            is_class = isinstance(schema, type) and issubclass(schema, BaseModel)
            value = schema.model_validate_json(text) if is_class else json.loads(text)
            whole = {"raw": message, "parsed": value, "parsing_error": None}
            return whole if include_raw else value

        return self | RunnableLambda(parsed)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> Iterator[ChatGenerationChunk]:
        message = self._answer(messages)
        calls = [
            {"name": c["name"], "args": json.dumps(c["args"]), "id": c["id"], "index": index}
            for index, c in enumerate(message.tool_calls)
        ]
        for part in re.findall(r"\s*\S+\s*", str(message.content)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=part))
        last = AIMessageChunk(
            content="",
            tool_call_chunks=cast("Any", calls),
            usage_metadata=message.usage_metadata,
        )
        yield ChatGenerationChunk(message=last)

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        self._prompts.append(messages)
        if self.again and self.script:
            self._next %= len(self.script)
        if self._next >= len(self.script):
            raise IndexError(f"the script has {len(self.script)} answers, and no more")
        item: Any = self.script[self._next]
        self._next += 1
        if isinstance(item, BaseException | BaseMessage | type) or not callable(item):
            return self._message(item)
        return self._message(item(messages))

    def _message(self, answer: Any) -> AIMessage:
        if isinstance(answer, BaseException) or (
            isinstance(answer, type) and issubclass(answer, BaseException)
        ):
            raise answer
        usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": self.tokens_per_call}
        if isinstance(answer, AIMessage):
            said = answer.usage_metadata
            return answer if said else answer.model_copy(update={"usage_metadata": usage})
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return AIMessage(content=text, usage_metadata=usage)
