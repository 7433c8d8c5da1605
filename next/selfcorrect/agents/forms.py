"""How providers write calls and answers: a thread as units, and the units as messages again.

Loads no LangChain; its messages have a form of their own in `langchain_form`.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from selfcorrect.agents.characters import has_half_characters, without_half_characters
from selfcorrect.model import JSON, JsonDict, JsonObject
from selfcorrect.reading.call_object import strict_json


@dataclass(frozen=True, slots=True)
class ThreadCall:
    """A call as a message holds it.

    Attributes:
        id: Its id; empty where it has none.
        name: The name of its tool.
        args: Its arguments: an object, or what stands in its place.
        has_id: Whether the form needs an id here.
    """

    id: str
    name: str
    args: JSON
    has_id: bool = True


@dataclass(frozen=True, slots=True)
class Unit:
    """What stands or falls together.

    Attributes:
        at: The place of its message in the thread.
        item: The message, or the part of it.
        calls: The calls that it holds.
        answers: The id of the call that it answers.
        holder: The message without its parts, where the item is a part.
    """

    at: int
    item: Any
    calls: tuple[ThreadCall, ...] = ()
    answers: str | None = None
    holder: JsonObject | None = None


class ThreadForm(Protocol):
    """How one kind of API writes a thread."""

    @property
    def is_text(self) -> bool:
        """Whether arguments are written as the text of an object."""
        ...

    def clean(self, message: Any) -> Any:
        """Return a message without halves of characters; the same object where it has none."""
        ...

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        """Return the units of a thread."""
        ...

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        """Return a turn with these calls in place of its own, one by one."""
        ...

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        """Return an answer with the id of its call; without an item, an error with this text."""
        ...

    def join(self, units: Sequence[Unit]) -> list[Any]:
        """Return the messages of units."""
        ...


class _JsonForm:
    def clean(self, message: Any) -> Any:
        return without_half_characters(message) if has_half_characters(message) else message


def object_of(args: JSON) -> JsonObject | None:
    """Return arguments as an object, or None if they are none; an empty text is no argument."""
    value = strict_json(args) if isinstance(args, str) and args.strip() else args
    return value if isinstance(value, dict) else {} if value in ("", None) else None


def _rewrite(holder: JsonObject, id_key: str, args_key: str, call: ThreadCall) -> JsonDict:
    """Return a call with another id and arguments; a text that says the same stays as it is."""
    made = {**holder, id_key: call.id} if call.has_id else {**holder}
    written = holder.get(args_key)
    if args_key == "arguments":
        same = isinstance(written, str) and strict_json(written) == call.args
        made[args_key] = written if same else json.dumps(call.args, ensure_ascii=False)
    elif args_key in holder or args_key != "args" or call.args:
        # Gemini leaves out arguments where a tool takes none.
        made[args_key] = call.args
    return made


def _call(holder: JsonObject, call_id: JSON, args_key: str, *, has_id: bool = True) -> ThreadCall:
    name, args = holder.get("name"), holder.get(args_key)
    return ThreadCall(_text(call_id), _text(name), args, has_id)


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _dicts(value: JSON) -> list[JsonDict]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class ChatForm(_JsonForm):
    """OpenAI's chat completions: calls beside the content, a message for each answer."""

    is_text: bool = True

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        return [self._unit(at, each) for at, each in enumerate(messages)]

    def _unit(self, at: int, message: JsonObject) -> Unit:
        if message.get("role") == "tool":
            return Unit(at, message, answers=_text(message.get("tool_call_id")))
        calls = _dicts(message.get("tool_calls")) if message.get("role") == "assistant" else []
        return Unit(at, message, tuple(self._written(each) for each in calls))

    def _written(self, call: JsonObject) -> ThreadCall:
        inner = call.get("function")
        if isinstance(inner, dict):
            return _call(inner, call.get("id"), "arguments")
        # A custom tool takes a text that is no arguments.
        custom = call.get("custom")
        name = custom.get("name") if isinstance(custom, dict) else ""
        return ThreadCall(_text(call.get("id")), _text(name), "")

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        made = []
        for old, call in zip(_dicts(item["tool_calls"]), calls, strict=True):
            inner = old.get("function")
            new = {**old, "id": call.id}
            if isinstance(inner, dict):
                new["function"] = _rewrite(inner, "", "arguments", _plain(call))
            made.append(new)
        return {**item, "tool_calls": made}

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        return {**(item or {"role": "tool", "content": text}), "tool_call_id": call.id}

    def join(self, units: Sequence[Unit]) -> list[Any]:
        return [unit.item for unit in units]


def _plain(call: ThreadCall) -> ThreadCall:
    """Return the call for a holder whose id stands elsewhere."""
    return replace(call, has_id=False)


@dataclass(frozen=True, slots=True)
class ResponsesForm(_JsonForm):
    """OpenAI's responses: a flat list of items. Calls that follow each other are one turn."""

    is_text: bool = True
    types: tuple[str, ...] = ("function_call", "function_call_output", "reasoning")

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        units: list[Unit] = []
        at = 0
        while at < len(messages):
            size = self._turn(messages[at:])
            items = list(messages[at : at + max(1, size)])
            kind, answers = items[0].get("type"), None
            if kind == "function_call_output":
                answers = _text(items[0].get("call_id"))
            calls = [each for each in items if each.get("type") == "function_call"]
            written = tuple(_call(each, each.get("call_id"), "arguments") for each in calls)
            units.append(Unit(at, items, written, answers))
            at += len(items)
        return units

    def _turn(self, items: Sequence[JsonObject]) -> int:
        """Return how many items, from a call on, are one turn: thoughts may stand between calls."""
        size = 0
        for at, each in enumerate(items):
            if each.get("type") == "function_call":
                size = at + 1
            elif at == 0 or each.get("type") != "reasoning":
                break
        return size

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        left = iter(calls)
        return [
            _rewrite(each, "call_id", "arguments", next(left))
            if each.get("type") == "function_call"
            else each
            for each in item
        ]

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        made = item[0] if item else {"type": "function_call_output", "output": text}
        return [{**made, "call_id": call.id}]

    def join(self, units: Sequence[Unit]) -> list[Any]:
        return [item for unit in units for item in unit.item]


@dataclass(frozen=True, slots=True)
class PartsForm(_JsonForm):
    """Anthropic and Gemini: calls and answers are parts of messages.

    All answers to a turn stand together in the next message, before anything else.

    Attributes:
        parts: The key of the parts.
        call: The keys of a call; a part is one if it has the first, or this type.
        answer_keys: The same of an answer.
        args: The key of the arguments.
        id: The key of the id in an answer.
        needs_id: Whether each call has an id; if not, an answer may name its tool instead.
    """

    parts: str
    call: tuple[str, ...]
    answer_keys: tuple[str, ...]
    args: str
    id: str
    needs_id: bool
    is_text: bool = False

    @property
    def blocks(self) -> tuple[str, ...]:
        """The types of parts by which the form is known."""
        return (*self.call, *self.answer_keys)

    def split(self, messages: Sequence[Any]) -> list[Unit]:
        units: list[Unit] = []
        open_ids: defaultdict[str, list[str]] = defaultdict(list)
        for at, message in enumerate(messages):
            parts = message.get(self.parts)
            if not isinstance(parts, list):
                units.append(Unit(at, message))
                continue
            holder = {key: item for key, item in message.items() if key != self.parts}
            calls = tuple(self._written(p) for p in parts if self._inner(p, self.call))
            if calls:
                open_ids.clear()
                for each in calls:
                    open_ids[each.name].append(each.id)
            answers = [p for p in parts if self._inner(p, self.answer_keys)]
            for part in answers:
                found = self._answered(part, open_ids)
                units.append(Unit(at, part, answers=found, holder=holder))
            rest = [p for p in parts if not self._inner(p, self.answer_keys)]
            if rest or not answers:
                units.append(Unit(at, {**message, self.parts: rest}, calls))
        return units

    def _inner(self, part: Any, keys: tuple[str, ...]) -> JsonDict | None:
        """Return what a part holds of a call or an answer, or None if it is neither."""
        if not isinstance(part, dict):
            return None
        if part.get("type") in keys:
            return part
        return next((part[key] for key in keys if isinstance(part.get(key), dict)), None)

    def _written(self, part: JsonObject) -> ThreadCall:
        inner = self._inner(part, self.call) or {}
        has_id = self.needs_id or bool(inner.get("id"))
        call_id = inner.get("id") if has_id else f"name:{inner.get('name')}"
        return _call(inner, call_id, self.args, has_id=has_id)

    def _answered(self, part: JsonObject, open_ids: dict[str, list[str]]) -> str:
        inner = self._inner(part, self.answer_keys) or {}
        if self.needs_id or inner.get(self.id):
            return _text(inner.get(self.id))
        # An answer without an id belongs to a call without one, or to the first of its tool.
        name = _text(inner.get("name"))
        own, waiting = f"name:{name}", open_ids[name]
        return own if own in waiting or not waiting else waiting.pop(0)

    def with_calls(self, item: Any, calls: Sequence[ThreadCall]) -> Any:
        left, made = iter(calls), []
        for part in item[self.parts]:
            inner = self._inner(part, self.call)
            if inner is None:
                made.append(part)
                continue
            new = _rewrite(inner, "id", self.args, next(left))
            made.append(new if inner is part else _swap(part, inner, new))
        return {**item, self.parts: made}

    def answer(self, item: Any, call: ThreadCall, text: str) -> Any:
        if self.needs_id:
            error = {"type": "tool_result", "content": text, "is_error": True}
            return {**(item or error), self.id: call.id}
        part = item or {self.answer_keys[0]: {"name": call.name, "response": {"error": text}}}
        inner = self._inner(part, self.answer_keys) or {}
        new = {**inner, self.id: call.id} if call.has_id else inner
        return _swap(part, inner, new)

    def join(self, units: Sequence[Unit]) -> list[Any]:
        made: list[Any] = []
        answers: list[Unit] = []
        for unit in [*units, None]:
            if unit is not None and unit.answers is not None:
                answers.append(unit)
                continue
            parts = [each.item for each in answers]
            holder = next((each.holder for each in answers if each.holder), None)
            if unit is not None and answers and unit.at in {each.at for each in answers}:
                made.append({**unit.item, self.parts: [*parts, *unit.item[self.parts]]})
            else:
                made += [{**(holder or {"role": "user"}), self.parts: parts}] if answers else []
                made += [] if unit is None else [unit.item]
            answers = []
        return made


def _swap(part: JsonObject, old: JsonDict, new: JsonDict) -> JsonDict:
    return {key: new if value is old else value for key, value in part.items()}


ANTHROPIC: Final = PartsForm(
    "content", ("tool_use",), ("tool_result",), "input", "tool_use_id", needs_id=True
)
GEMINI: Final = PartsForm(
    "parts",
    ("functionCall", "function_call"),
    ("functionResponse", "function_response"),
    "args",
    "id",
    needs_id=False,
)
