"""What was said before a text, by which a call in it is not made: it was made, or is quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.forms.access import get, is_record
from selfcorrect.forms.calls import slots
from selfcorrect.model import Call
from selfcorrect.plain import DEPTH
from selfcorrect.protocols import Tool
from selfcorrect.reading.contract import Candidate, Offered
from selfcorrect.reading.envelopes import read_call_object
from selfcorrect.reading.outcome import Reading
from selfcorrect.reading.strict import strict_json
from selfcorrect.reading.texts import read_calls
from selfcorrect.schema.equality import call_key
from selfcorrect.text import normal

MADE: Final = "the text holds a call that was made before; it was not made again"
QUOTED: Final = "the text holds a call that somebody else wrote; it was not made"
BESIDE: Final = "the text holds a call beside calls that were made as such; it was not made"
_OWN: Final = frozenset({"ai", "aimessagechunk", "assistant", "model"})
_TOOL: Final = frozenset({"tool", "function", "toolmessagechunk"})
_SPELLING: Final = re.compile(r"[\s\\\"'`]+")
"""What differs between a text and the same text escaped, indented or in other quotes."""


@dataclass(frozen=True, slots=True)
class _Message:
    role: str
    texts: tuple[str, ...]
    calls: tuple[Call, ...]

    @property
    def is_own(self) -> bool:
        """Whether the model wrote it."""
        return self.role in _OWN


def why_not_made(
    reading: Reading,
    tools: Mapping[str, Tool],
    messages: Sequence[Any],
    request: str | None,
) -> str | None:
    """Why the calls in a text are not made after what was said before; None if nothing speaks.

    Args:
        reading: What the text holds.
        tools: The offered tools by name.
        messages: The conversation, in any of the usual forms.
        request: What the user asked for.
    """
    calls = reading.calls or reading.doubted
    if not calls or not (messages or request):
        return None
    offered = Offered(tools)
    said = [_message(item) for item in messages]
    if said and said[-1].is_own and said[-1].calls:
        text = _plain(reading.text)
        if text and text in _plain("".join(said[-1].texts)):
            return BESIDE
    wanted = {_key(call.call, offered) for call in calls}
    if wanted & {_key(call, offered) for call in _made(said, offered)}:
        return MADE
    others = [text for message in said if not message.is_own for text in message.texts]
    if request:
        others.append(request)
    return QUOTED if _quotes(reading, calls, wanted, others, offered) else None


def _quotes(
    reading: Reading,
    calls: Sequence[Candidate],
    wanted: set[str],
    others: Sequence[str],
    offered: Offered,
) -> bool:
    """Whether somebody else wrote one of the calls, in the same words or in another form."""
    plain = "\n".join(map(_plain, others))
    if any(_plain(reading.text[call.start : call.end]) in plain for call in calls):
        return True
    names = {normal(call.name) for call in calls}
    for text in others:
        if any(name in normal(text) for name in names):
            found = read_calls(text, offered)
            if wanted & {_key(each.call, offered) for each in (*found.calls, *found.doubted)}:
                return True
    return False


def _made(said: Sequence[_Message], offered: Offered) -> Iterator[Call]:
    """The calls that were made: as such, or in a text that a tool answered."""
    for index, message in enumerate(said):
        yield from message.calls
        answered = index + 1 < len(said) and said[index + 1].role in _TOOL
        if message.is_own and answered and not message.calls:
            yield from (call.call for call in read_calls("".join(message.texts), offered).calls)


def _key(call: Call, offered: Offered) -> str:
    tool = offered.meant(call.name)
    name = tool.name if tool is not None else call.name
    return call_key(Call(name, call.args, None, call.raw), tool)


def _plain(text: str) -> str:
    return _SPELLING.sub("", text).casefold()


def _message(item: Any) -> _Message:
    if isinstance(item, str):
        return _Message("user", (item,), ())
    if isinstance(item, tuple | list) and len(item) == 2:
        return _Message(str(item[0]).lower(), tuple(_texts(item[1])), ())
    item = item if is_record(item) else getattr(item, "__dict__", {})
    role = get(item, "role") or get(item, "type")
    made = (read_call_object({"name": one.name, "args": one.arguments}) for one in slots(item))
    calls = tuple(call for call in made if call is not None)
    return _Message(str(role or "user").lower(), tuple(_texts(get(item, "content"))), calls)


def _texts(content: Any, depth: int = 0) -> Iterator[str]:
    """Every text in a message's content, and in the JSON that it holds."""
    if depth > DEPTH:
        return
    if isinstance(content, str):
        yield content
        read = strict_json(content) if content.lstrip()[:1] in tuple('{["') else None
        if read is not None and content.strip()[:1]:
            yield from _texts(read.value, depth + 1)
    elif isinstance(content, Mapping):
        for inner in content.values():
            yield from _texts(inner, depth + 1)
    elif isinstance(content, list | tuple):
        for inner in content:
            yield from _texts(inner, depth + 1)
