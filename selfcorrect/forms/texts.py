"""The words of a model's message, and calls made of them: in the message's own form.

Models on plain servers write calls as text. Whoever runs the calls looks for them where calls
belong, and at the reason for which the model stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from selfcorrect.forms.access import Path, part, put
from selfcorrect.forms.calls import FORMS, is_others
from selfcorrect.kernel.metadata import is_silent
from selfcorrect.model import Call, JsonObject
from selfcorrect.plain import digest


@dataclass(frozen=True, slots=True)
class Style:
    """How a provider writes a message that makes calls.

    Attributes:
        form: The name of the form of one call.
        marks: What stands in its object to tell the form.
        within: Calls stand among the parts of the content; else in a list of their own.
        stop: Why the model stopped, in the provider's word; None where it has none for calls.
        empty: What is left of a text that was a call.
        carries: What stands beside the text in its part belongs to the call.
        has_id: A call has an id; one without takes its arguments as an object.
    """

    form: str
    marks: Mapping[str, str] = field(default_factory=dict)
    within: bool = True
    stop: str | None = None
    empty: str | None = None
    carries: bool = False
    has_id: bool = True

    def call(self, call_id: str, call: Call) -> JsonObject:
        """The object of one call."""
        form = FORMS[self.form]
        args = form.as_written(call.args, None) if self.has_id else call.args
        made = dict(self.marks)
        parts = [(form.ids[0], call_id)] if self.has_id else []
        for path, item in (*parts, (form.name, call.name), (form.arguments, args)):
            *above, key = path
            inner: Any = made
            for each in above:
                inner = inner.setdefault(each, {})
            inner[key] = item
        return made


@dataclass(frozen=True, slots=True)
class Words:
    """The one text of a message that makes no calls.

    Attributes:
        text: The text.
        path: Where the message, or the list of its parts, stands in the value.
        part: The place of the text in that list; None where the content is the text.
        style: How calls are written there.
        reason: Where the reason for stopping stands, if it is there.
    """

    text: str
    path: Path
    part: int | None
    style: Style
    reason: Path | None = None

    def replaced(self, value: Any, calls: Sequence[Call], left: str) -> Any:
        """The value with these calls in the place of the text, of which some words are left."""
        ids = [call.id or call_id(self.text, place) for place, call in enumerate(calls)]
        made = [self.style.call(*pair) for pair in zip(ids, calls, strict=True)]
        if self.part is None:
            before = part(value, self.path).get("tool_calls") or ()
            value = put(value, (*self.path, "content"), left or self.style.empty)
            value = put(value, (*self.path, "tool_calls"), [*before, *made])
        else:
            parts = part(value, self.path)
            kept = self._kept(parts[self.part], left)
            if self.style.carries and not left:
                rest = {key: each for key, each in parts[self.part].items() if key != "text"}
                made[0] = {**rest, **made[0]}
            new = [*parts[: self.part], *kept, *made, *parts[self.part + 1 :]]
            value = put(value, self.path, new)
        stops = self.reason is not None and self.style.stop is not None
        return put(value, self.reason or (), self.style.stop) if stops else value

    def _kept(self, part: Mapping[str, Any], left: str) -> list[Mapping[str, Any]]:
        """What stays of the part that held the text: the words, and whatever else it holds."""
        inner = part.get("content")
        if not isinstance(inner, list):
            return [{**part, "text": left}] if left else []
        others = [{**each, "text": left} if _has_text(each) else each for each in inner]
        others = others if left else [each for each in inner if not _has_text(each)]
        return [{**part, "content": others}] if others else []


def _has_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def call_id(text: str, place: int) -> str:
    """An id for a call that stood in a text."""
    return f"call_{digest(text, place)[:24]}"


_CHAT: Final = Style("chat", {"type": "function"}, within=False, stop="tool_calls")
_OLLAMA: Final = Style("chat", within=False, empty="", has_id=False)
_ANTHROPIC: Final = Style("anthropic", {"type": "tool_use"}, stop="tool_use")
_BEDROCK: Final = Style("bedrock", stop="tool_use")
_GEMINI: Final = Style("gemini", has_id=False, carries=True)
_RESPONSES: Final = Style("responses", {"type": "function_call", "status": "completed"})


def words_in(value: Any) -> Words | None:
    """The one text of a message or a response of JSON; None where there is none, or several.

    >>> found = words_in({"role": "assistant", "content": "Good day."})
    >>> found.text, found.path
    ('Good day.', ())
    """
    if isinstance(value, list):
        return _of_parts(value, ())
    if not isinstance(value, Mapping) or is_others(value):
        return None
    for key, inner in (("choices", "message"), ("candidates", "content")):
        answers = value.get(key)
        if isinstance(answers, list):
            if len(answers) != 1 or not isinstance(answers[0], Mapping):
                return None
            holder: Path = (key, 0)
            return _of_message(part(value, (*holder, inner)), (*holder, inner), value, holder)
    output = value.get("output")
    if isinstance(output, list):
        return _of_items(output)
    if isinstance(output, Mapping):
        return _of_message(output.get("message"), ("output", "message"), value, ())
    if isinstance(value.get("message"), Mapping):
        return _of_message(value["message"], ("message",), value, ())
    return _of_message(value, (), value, ())


def _of_message(message: Any, path: Path, whole: Mapping[str, Any], holder: Path) -> Words | None:
    if not isinstance(message, Mapping) or is_others(message):
        return None
    said = part(whole, holder)
    names = ("finish_reason", "stop_reason", "stopReason", "finishReason")
    reason = next(((*holder, name) for name in names if said.get(name) is not None), None)
    content = message.get("content")
    if isinstance(content, str):
        style = _OLLAMA if "done" in whole else _CHAT
        return Words(content, path, None, style, reason) if content.strip() else None
    for key in ("content", "parts"):
        if isinstance(message.get(key), list):
            return _of_parts(message[key], (*path, key), reason)
    return None


def _of_parts(parts: Sequence[Any], path: Path, reason: Path | None = None) -> Words | None:
    """The one text among the parts of a content; what they look like tells whose they are."""
    # Whatever else stands there may say something of the text, in a form that nobody knows.
    said = [(place, part) for place, part in enumerate(parts) if not is_silent(part)]
    if len(said) != 1 or not _has_text(said[0][1]):
        return None
    place, found = said[0]
    if found.get("type") == "text":
        style = _ANTHROPIC
    elif "type" in found:
        return None
    else:
        style = _GEMINI if path[-1:] == ("parts",) else _BEDROCK
    return Words(found["text"], path, place, style, reason)


def _of_items(items: Sequence[Any]) -> Words | None:
    """The one message among the items of a response."""
    said = [(place, part) for place, item in enumerate(items) for part in _said_in(item)]
    if len(said) != 1 or not _has_text(said[0][1]):
        return None
    return Words(said[0][1]["text"], ("output",), said[0][0], _RESPONSES)


def _said_in(item: Any) -> list[Any]:
    """The parts of an item of a response that say something; None for one that is no message."""
    if isinstance(item, Mapping) and item.get("type") == "message":
        return [part for part in item.get("content") or () if not is_silent(part)]
    return [] if is_silent(item) else [None]
