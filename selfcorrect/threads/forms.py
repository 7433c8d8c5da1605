"""How providers write calls and answers: a thread as units, and the units as messages again.

Loads no LangChain; the form of its messages is `langchain.calls.LangChainForm`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from itertools import groupby
from typing import Any

from selfcorrect.effects.equal import digest
from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, JsonDict, JsonObject, frozen
from selfcorrect.reading.call_object import strict_json

NAME = "[a-zA-Z0-9_-]{1,64}"
"""The pattern of the names that most APIs take."""


@frozen
class ThreadCall:
    """A call as a message holds it.

    Attributes:
        id: Its id; empty where it has none.
        name: The name of its tool.
        args: Its arguments: an object, or what stands in its place.
        has_id: Whether the form needs an id here.
        text: What a tool gets that takes a text in place of arguments.
        kind: The type of the item, where the form has several.
    """

    id: str
    name: str
    args: Any
    _: KW_ONLY
    has_id: bool = True
    text: str | None = None
    kind: str = ""


@frozen
class Unit:
    """A part of a thread: a turn of the model with its calls, an answer, or something else.

    Attributes:
        at: The place of its message in the thread.
        item: The message, or the part of it.
        calls: The calls that it holds.
        answers: The id of the call that it answers.
        holder: The message without its parts, where the item is a part.
        tool: The tool that an answer names.
    """

    at: int
    item: Any
    calls: tuple[ThreadCall, ...] = ()
    _: KW_ONLY
    answers: str | None = None
    holder: JsonObject | None = None
    tool: str = ""


@frozen
class ProviderForm:
    """Where an API writes the calls and the answers of a thread.

    Attributes:
        parts: The key of the list that holds the calls of a message.
        call: What marks a call: a key that holds it, or its type.
        answers: What marks an answer: a key that holds it, or its type or role.
        args: The key of the arguments.
        call_id: The key of the id of a call.
        answer_id: The key of the same id in an answer.
        lost: An answer without its id, with places for the name of the tool and a text.
        is_text: Whether arguments are written as the text of an object.
        is_apart: Whether each answer is a message. If not, all answers to a turn stand together in
            the next message, before anything else.
        is_flat: Whether a call is an item of the thread itself, and not part of a message.
        is_inside: Whether the id of a call stands beside its name, and not around both.
        needs_id: Whether each call has an id; if not, an answer may name its tool instead.
        others: Types of calls that have no arguments, but a text or an object of their own.
        own_name: The pattern of the names of tools that it takes.
        own_id: The pattern of the ids that it takes.
        asks_between: Whether the model has to speak between an answer and the user.
    """

    _: KW_ONLY
    parts: str
    call: Sequence[str]
    answers: Sequence[str]
    args: str
    call_id: str
    answer_id: str
    lost: JsonDict
    is_text: bool = False
    is_apart: bool = False
    is_flat: bool = False
    is_inside: bool = False
    needs_id: bool = True
    others: Sequence[str] = ()
    own_name: str = NAME
    own_id: str = ".+"
    asks_between: bool = False

    def holds(self, message: JsonObject) -> bool:
        """Say whether a message shows that its thread has this form."""
        marks = (*self.call, *self.answers)
        # A message of the old chat API holds its call under `function_call`; it is not an item.
        is_item = message.get("type") in marks or (self.parts == "parts" and "parts" in message)
        return is_item or any(_inner(part, marks) for part in self._parts(message))

    def clean(self, message: Any) -> Any:
        """Return a message without halves of characters and blank texts, or the same object."""
        clean: Any = without_half_characters(message)
        key = "content" if self.is_text else self.parts
        is_speech = clean.get("role") in KEYS["speakers"] and key in clean
        if is_speech and not any(map(clean.get, KEYS["says"])):
            block = {"text": NO_WORDS} | ({} if key == "parts" else {"type": "text"})
            clean = {**clean, key: with_words(clean[key], block)}
        return message if clean == message else clean

    def is_written(self, args: JSON) -> bool:
        """Say whether arguments stand as this form wants them."""
        if self.is_text:
            return isinstance(args, str) and isinstance(strict_json(args), dict)
        return isinstance(args, dict)

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        """Return the units of a thread."""
        units: list[Unit] = []
        for at, message in self._turns(messages):
            parts = self._parts(message)
            calls = tuple(self.read(part) for part in parts if _inner(part, self.call))
            rest = [part for part in parts if not _inner(part, self.answers)]
            answers = [part for part in (message, *parts) if _inner(part, self.answers)]
            holder = {key: item for key, item in message.items() if key != self.parts}
            for answer in answers:
                inner = _inner(answer, self.answers) or {}
                call_id, tool = _text(inner.get(self.answer_id)), _text(inner.get("name"))
                units.append(Unit(at, answer, answers=call_id, holder=holder, tool=tool))
            if not answers:
                units.append(Unit(at, message, calls))
            elif rest:
                units.append(Unit(at, {**message, self.parts: rest}, calls))
        return units

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        """Return a turn with these calls in place of its own, one by one."""
        left = iter(calls)
        parts = [
            self.write(part, next(left)) if _inner(part, self.call) else part
            for part in self._parts(item)
        ]
        return {**item, self.parts: parts}

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        """Return an answer with the id of its call; without an item, an error with this text."""
        places = {"name": call.name, "text": text, "type": f"{call.kind}_output"}
        part = item or _fill(self.lost, places)
        inner = _inner(part, self.answers) or {}
        new = {**inner, self.answer_id: call.id}
        if not call.has_id:
            del new[self.answer_id]
        if inner.get("name") or not self.needs_id:
            # Where an answer need not have an id, its name has to be that of its call.
            new["name"] = call.name
        return _swap(part, inner, new)

    def join(self, units: Sequence[Unit]) -> list[Any]:
        """Return the messages of units."""
        messages: list[Any] = []
        # Where the answers came from that the last message holds; none if it holds others.
        places: set[int] = set()
        for unit in units:
            item = unit.item
            if unit.answers is not None and not self.is_apart:
                if not places:
                    messages.append({"role": "user", self.parts: []})
                messages[-1].update(unit.holder or {})
                messages[-1][self.parts].append(item)
                places.add(unit.at)
                continue
            if unit.at in places:
                item = {**item, self.parts: [*messages.pop()[self.parts], *item[self.parts]]}
            places = set()
            if self.asks_between and [m.get("role") for m in (*messages[-1:], item)] == _ANSWERED:
                messages.append({"role": "assistant", "content": NO_WORDS})
            messages.append(item)
        if self.is_flat:
            return [item for message in messages for item in self._parts(message) or [message]]
        return messages

    def _turns(self, messages: Sequence[JsonObject]) -> Iterator[tuple[int, JsonObject]]:
        """Yield the messages; calls that stand by themselves, behind each other, are one turn."""
        # Thoughts may stand between the calls of a turn; behind the last call they are another's.
        inside = (*self.call, "reasoning") if self.is_flat else ()
        items = enumerate(messages)
        for is_turn, group in groupby(items, lambda place: place[1].get("type") in inside):
            row = list(group)
            calls = [at for at, item in row if is_turn and _inner(item, self.call)]
            size = calls[-1] + 1 - row[0][0] if calls else 0
            if size:
                yield row[0][0], {self.parts: [item for _, item in row[:size]]}
            yield from row[size:]

    def _parts(self, message: JsonObject) -> list[Any]:
        parts = message.get(self.parts)
        return parts if isinstance(parts, list) else []

    def read(self, part: JsonObject) -> ThreadCall:
        """Return a call as it is written."""
        inner = _inner(part, self.call) or {}
        kind = next((key for key in self.others if key in part), _text(part.get("type")))
        is_other = kind in self.others
        call_id = (inner if self.is_inside else part).get(self.call_id)
        # A custom tool takes a text in place of arguments; Gemini leaves out empty ones.
        args = inner.get(self.args, None if self.needs_id else {})
        return ThreadCall(
            _text(call_id),
            _text(inner.get("name", kind if is_other else "")),
            "{}" if is_other else args,
            has_id=self.needs_id or bool(call_id),
            text=_text(inner.get("input")) if is_other else None,
            kind=kind,
        )

    def write(self, part: JsonObject, call: ThreadCall) -> JsonObject:
        """Return a written call with this id, name and arguments; a text that says them stays."""
        inner = _inner(part, self.call) or {}
        new = {**inner, "name": call.name} if "name" in inner else dict(inner)
        written = self.read(part).args
        if not self.is_written(written) or repr(object_of(written)) != repr(call.args):
            args = json.dumps(call.args, ensure_ascii=False, default=str)
            new[self.args] = args if self.is_text else call.args
        if call.has_id and self.is_inside:
            new[self.call_id] = call.id
        call_part = _swap(part, inner, new)
        return call_part if self.is_inside else {**call_part, self.call_id: call.id}


_ANSWERED = ["tool", "user"]

NO_WORDS = "(empty)"
"""Stands for a message without words: most APIs refuse one."""


def with_words(content: Any, block: JsonObject) -> Any:
    """Return what a message says without blocks of blank text; something that is not blank."""
    if isinstance(content, list):
        return [part for part in content if not _is_blank(part)] or [block]
    return content if content and str(content).strip() else NO_WORDS


def _is_blank(block: Any) -> bool:
    is_text = isinstance(block, dict) and block.keys() <= {"type", "text", "cache_control"}
    return is_text and "text" in block and not str(block["text"] or "").strip()


def fit(text: str, pattern: str) -> str:
    """Return a name or an id that fits a pattern; the same where it does.

    >>> fit("run shell cmd", NAME), fit("call_1", NAME)
    ('run_shell_cmd', 'call_1')
    """
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", text)[:64] or "unknown"
    ways = (text, plain, plain[:40], f"_{plain}"[:64], digest(text)[:9])
    return next((way for way in ways if re.fullmatch(pattern, way)), plain)


def object_of(args: JSON) -> JsonObject | None:
    """Return arguments as an object, or None if they are not one; an empty text is an empty one."""
    value = strict_json(args) if isinstance(args, str) else args
    if value in ("", None):
        return {}
    return value if isinstance(value, dict) else None


def _inner(part: Any, marks: Sequence[str]) -> JsonObject | None:
    """Return what a part holds of a call or an answer, or None if it is neither."""
    if not isinstance(part, dict):
        return None
    inner = next((part[key] for key in marks if isinstance(part.get(key), dict)), None)
    return part if inner is None and part.get("type", part.get("role")) in marks else inner


def _fill(pattern: Any, places: dict[str, str]) -> Any:
    """Return a pattern of JSON with the places in place of their names."""
    if isinstance(pattern, dict):
        return {key: _fill(item, places) for key, item in pattern.items()}
    if isinstance(pattern, list):
        return [_fill(item, places) for item in pattern]
    return places.get(pattern, pattern)


def _swap(part: JsonObject, old: JsonObject, new: JsonDict) -> JsonDict:
    if old is part:
        return new
    return {key: new if value is old else value for key, value in part.items()}


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


_TABLES = load_table("threads/forms.toml")
KEYS: Mapping[str, Sequence[str]] = _TABLES["keys"]
"""Keys and values of providers' messages, whatever their form."""
FORMS: Mapping[str, ProviderForm] = {
    name: ProviderForm(**row) for name, row in _TABLES["forms"].items()
}
CHAT, RESPONSES, ANTHROPIC = FORMS["chat"], FORMS["responses"], FORMS["anthropic"]


def without_half_characters(value: JSON) -> JSON:
    """Return the value with halves of characters replaced; two that belong together are joined."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        pairs = value.items()
        return {without_half_characters(key): without_half_characters(item) for key, item in pairs}
    return [*map(without_half_characters, value)] if isinstance(value, list) else value
