"""Says whether a call that stands in a text is a quotation of what somebody else has said.

A page may hold a call, and a model that repeats it must not make it. Whatever its form, a call is
a quotation where what a tool answered names its tool and one of its values. The user speaks of
tools and values too, so what the user wrote must also have the form of a call.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from unicodedata import normalize

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from selfcorrect.model import JSON
from selfcorrect.names import words
from selfcorrect.reading.text_call import TextCall


def is_quoted(calls: Iterable[TextCall], messages: Sequence[AnyMessage]) -> bool:
    """Say whether one of these calls stands in what a tool answered, or in a user's document."""
    said = [
        (_fold(each.text), _FORM if isinstance(each, HumanMessage) else "")
        for each in messages
        if isinstance(each, ToolMessage | HumanMessage)
    ]
    return any(_stands_in(call, text, form) for call in calls for text, form in said)


_FORM: Final = r"['\"`]?\s*(?:[({<>]|[,:]?\s*['\"]?(?:arguments|args|parameters|params|input)\b)"
"""What follows the name of a tool in a call, be it markup, JSON or code."""
_APART: Final = re.compile(r"[\W_]+")


def _stands_in(call: TextCall, text: str, form: str) -> bool:
    name = r"[\W_]*".join(map(re.escape, words(call.name)))
    if re.search(rf"(?<![^\W_]){name}(?![^\W_]){form}", text) is None:
        return False
    squeezed = _APART.sub("", text)
    written = _leaves([call.arguments, *call.positional])
    values = {_APART.sub("", _fold(each)) for each in written} - {""}
    return not values or any(each in squeezed for each in values)


def _leaves(value: JSON) -> Iterator[str]:
    """Yield what is written in arguments."""
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _fold(text: str) -> str:
    return normalize("NFKC", text).casefold()
