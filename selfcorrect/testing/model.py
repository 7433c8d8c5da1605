"""A chat model that says what a test tells it to say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import Field, PrivateAttr


class ScriptedModel(BaseChatModel):
    """Answers with the next item of its script: text, an object, a message, an error to raise.

    Running past the end of the script raises `IndexError`, so that a test sees a call too many.

    >>> model = ScriptedModel(script=[{"passengers": 1}])
    >>> model.invoke("how many?").content
    '{"passengers": 1}'
    >>> len(model.prompts)
    1
    """

    script: list[Any] = Field(default_factory=list)
    tokens_per_call: int = 10
    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _answers: Iterator[Any] | None = PrivateAttr(default=None)

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        """The messages of every call so far."""
        return self._prompts

    @property
    def _llm_type(self) -> str:
        return "selfcorrect-scripted"

    def bind_tools(
        self,
        tools: Sequence[Any],  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> Runnable[Any, AIMessage]:
        """The same script; what was bound is ignored."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        self._prompts.append(messages)
        if self._answers is None:
            self._answers = iter(self.script)
        try:
            answer = next(self._answers)
        except StopIteration:
            raise IndexError(f"the script has {len(self.script)} answers, and no more") from None
        if isinstance(answer, BaseException):
            raise answer
        return ChatResult(generations=[ChatGeneration(message=self._message(answer))])

    def _message(self, answer: Any) -> AIMessage:
        if isinstance(answer, AIMessage):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": self.tokens_per_call}
        return AIMessage(content=text, usage_metadata=usage)
