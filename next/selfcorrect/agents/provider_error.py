"""The call that a provider's error holds: what the model wrote, and the provider could not read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool

from selfcorrect.reading.choose import Chosen, read_text

_DEPTH: Final = 4
_MOST: Final = 50
_WRITTEN: Final = "failed_generation"
"""The field in which providers say what the model wrote."""


def response_in(error: Exception, request: ModelRequest[Any]) -> ModelResponse[Any]:
    """Return what the model wrote, where its provider's error holds it; else raise the error.

    It is a text that is calls of offered tools and nothing else, in the field of the error's body
    that says what the model wrote: other fields repeat the request, and so whatever stands in it.
    """
    names = {each.name for each in request.tools if isinstance(each, BaseTool)}
    for text in _texts(getattr(error, "body", None), _DEPTH):
        chosen = read_text(text, names.__contains__)
        if isinstance(chosen, Chosen) and not chosen.around:
            if names.issuperset(call.name for call in chosen.calls):
                return ModelResponse(result=[AIMessage(text)])
            break
    raise error


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and isinstance(written := value.get(_WRITTEN), str):
        yield written
    if depth and isinstance(value, Mapping | list):
        items = list(value.values()) if isinstance(value, Mapping) else value
        for each in items[:_MOST]:
            yield from _texts(each, depth - 1)
