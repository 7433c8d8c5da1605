"""The one way to a chat model: messages in, text or calls out, every call and token counted."""

import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from selfcorrect.model import JSON, JsonDict, JsonObject

MAX_ANSWER: Final = 100_000
"""Characters of an answer that are read: what is longer is no repair."""


@dataclass(slots=True)
class ModelPort:
    """Asks a model.

    Attributes:
        model: A LangChain chat model.
        is_async: Whether the run is async.
        calls: Calls made through this port.
        tokens: Tokens that they cost, as far as the model says so.
    """

    model: Any
    is_async: bool = False
    calls: int = field(default=0, init=False)
    tokens: int = field(default=0, init=False)

    async def ask_json(self, system: str, user: str) -> JsonDict | None:
        """Return the JSON object that the model answers, or None where it answers none."""
        text = text_of(await self.ask(self.model, system, user))[:MAX_ANSWER]
        begin, end = text.find("{"), text.rfind("}")
        try:
            found: JSON = json.loads(text[begin : end + 1])
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    async def ask_call(self, system: str, user: str, tools: Sequence[JsonObject]) -> JSON:
        """Return the call that the model makes, a list of several, its text where there is none."""
        answer = await self.ask(self.model.bind_tools(list(tools)), system, user)
        calls = getattr(answer, "tool_calls", None) or getattr(answer, "invalid_tool_calls", None)
        if not calls:
            return text_of(answer)
        return calls[0] if len(calls) == 1 else list(calls)

    async def ask(self, model: Any, system: str, user: str) -> Any:
        """Return the model's message."""
        self.calls += 1
        messages = [("system", system), ("human", user)]
        ask = model.ainvoke if self.is_async else model.invoke
        answer = await value_of(ask(messages))
        self.tokens += (getattr(answer, "usage_metadata", None) or {}).get("total_tokens", 0)
        return answer


async def value_of(value: Any) -> Any:
    """Return a value, awaited where it has to be."""
    return await value if inspect.isawaitable(value) else value


def text_of(message: Any) -> str:
    """Return the text of a message, its other blocks left out."""
    return str(getattr(message, "text", message))
