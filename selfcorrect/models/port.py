"""The one way to a chat model: messages in, text or calls out, every call and token counted."""

import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from selfcorrect.limits import Spending
from selfcorrect.model import JSON, JsonDict, JsonObject

MAX_ANSWER = 100_000
"""Characters of an answer that are read: a repair is never longer."""

_LETTERS = 4
"""Characters of a token, where a model does not say how many it took."""


@dataclass(slots=True)
class ModelPort:
    """Asks a model.

    Attributes:
        model: A LangChain chat model.
        spending: What its calls cost; several ports may share it.
    """

    model: Any
    spending: Spending = field(default_factory=Spending)

    async def ask_json(self, system: str, user: str) -> JsonDict | None:
        """Return the JSON object that the model answers, or None where it answers none."""
        text = message_text(await self.ask(system, user))[:MAX_ANSWER]
        begin, end = text.find("{"), text.rfind("}")
        try:
            reply = json.loads(text[begin : end + 1])
        except ValueError:
            return None
        return reply if isinstance(reply, dict) else None

    async def ask_call(self, system: str, user: str, tools: Sequence[JsonObject]) -> JSON:
        """Return the model's call, a list of its calls, or its text where it makes none."""
        answer = await self.ask(system, user, tools)
        calls = getattr(answer, "tool_calls", None) or getattr(answer, "invalid_tool_calls", None)
        if not calls:
            return message_text(answer)
        return calls[0] if len(calls) == 1 else list(calls)

    async def ask(self, system: str, user: str, tools: Sequence[JsonObject] = ()) -> Any:
        """Return the model's message.

        Raises:
            LimitReachedError: If a bound is reached.
        """
        from selfcorrect.models.attempts import ask_until_answered

        spending, messages = self.spending, [("system", system), ("human", user)]
        model = self.model.bind_tools(list(tools)) if tools else self.model
        invoke = model.ainvoke if spending.is_async else model.invoke

        async def send() -> Any:
            spending.check()
            spending.calls += 1
            began = spending.now()
            try:
                answer = await value_of(invoke(messages))
            finally:
                spending.seconds += max(0.0, spending.now() - began)
            usage = getattr(answer, "usage_metadata", None) or {}
            letters = len(system) + len(user) + len(message_text(answer))
            spending.tokens += usage.get("total_tokens", letters // _LETTERS)
            return answer

        async def wait(seconds: float) -> None:
            spending.check(seconds)
            spending.seconds += seconds
            await spending.sleep(seconds)

        return await ask_until_answered(send, model=model, decide=spending.decide, sleep=wait)


async def value_of(value: Any) -> Any:
    """Return a value, awaited where it has to be."""
    return await value if inspect.isawaitable(value) else value


def message_text(message: Any) -> str:
    """Return the text of a message, its other blocks left out."""
    return str(getattr(message, "text", message))
