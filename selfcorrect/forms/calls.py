"""Where calls stand in what a model's provider, a framework or an MCP client writes.

Which form a call has follows from its structure: a table, one row a form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from selfcorrect.forms.access import Path, get, has, is_record, part, put
from selfcorrect.kernel.requests import runs_elsewhere
from selfcorrect.model import JsonObject
from selfcorrect.plain import is_one_of

MOST_CALLS: Final = 1_000
"""More calls in one value than anybody means."""


@dataclass(frozen=True, slots=True)
class CallForm:
    """How one call is written.

    Attributes:
        name: The path to the tool's name.
        arguments: The path to the arguments.
        ids: Where its id stands; the first that is there counts.
        marks: A key, and the values of it that tell this form, where its paths alone do not.
        writes: Arguments are written as an `object`, or as JSON `text` unless they came as an
            object.
        may_lack: Whether a call without arguments may have no place for them.
    """

    name: Path
    arguments: Path
    ids: tuple[Path, ...] = (("id",),)
    marks: tuple[str, frozenset[str]] | None = None
    writes: Literal["object", "text"] = "object"
    may_lack: bool = True

    @property
    def inner(self) -> Path:
        """The path to what holds name and arguments."""
        return self.name[:-1]

    def fits(self, value: Any) -> bool:
        """Whether a record is a call of this form. Its name may be missing."""
        if self.marks is not None:
            return is_one_of(get(value, self.marks[0]), self.marks[1])
        inner = get(value, str(self.name[0]))
        if not is_record(inner):
            return False
        return has(inner, str(self.arguments[-1])) or (
            self.may_lack and has(inner, "name") and not has(inner, "parameters")
        )

    def as_written(self, args: JsonObject, came: Any) -> JsonObject | str:
        """Arguments as this form writes them."""
        if self.writes == "object" or is_record(came):
            return args
        return json.dumps(args, ensure_ascii=False)


def _type(*values: str) -> tuple[str, frozenset[str]]:
    return "type", frozenset(values)


FORMS: Final[Mapping[str, CallForm]] = {
    # {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": …, "arguments": {…}}}
    "mcp": CallForm(
        ("params", "name"), ("params", "arguments"), marks=("method", frozenset({"tools/call"}))
    ),
    # OpenAI's chat completions, Mistral, Cohere; Ollama's arguments are an object.
    "chat": CallForm(("function", "name"), ("function", "arguments"), writes="text"),
    "responses": CallForm(
        ("name",),
        ("arguments",),
        (("call_id",), ("id",)),
        marks=_type("function_call"),
        writes="text",
    ),
    "anthropic": CallForm(("name",), ("input",), marks=_type("tool_use")),
    "langchain": CallForm(("name",), ("args",), marks=_type("tool_call", "invalid_tool_call")),
    "langchain, streamed": CallForm(
        ("name",), ("args",), marks=_type("tool_call_chunk"), writes="text"
    ),
    "bedrock": CallForm(("toolUse", "name"), ("toolUse", "input"), (("toolUse", "toolUseId"),)),
    "gemini": CallForm(
        ("functionCall", "name"), ("functionCall", "args"), (("functionCall", "id"),)
    ),
    # OpenAI's chat completions, before there were several calls in a message.
    "one function": CallForm(
        ("function_call", "name"), ("function_call", "arguments"), (), writes="text", may_lack=False
    ),
    "gemini, in Python": CallForm(
        ("function_call", "name"), ("function_call", "args"), (("function_call", "id"),)
    ),
}
"""The forms by name; the first that fits is the one."""

HOLDERS: Final = (
    "choices",
    "candidates",
    "message",
    "output",
    "content",
    "parts",
    "tool_calls",
    "invalid_tool_calls",
)
"""Under these keys stand the messages of a response, and the calls of a message."""
_BARE: Final = ("tool_calls", "invalid_tool_calls")
"""Here a call needs no mark of its own."""
BARE_FORMS: Final = tuple(
    CallForm(("name",), (arguments,)) for arguments in ("args", "arguments", "parameters")
)
"""Forms without a mark, in places where nothing but calls stands."""
_TWICE: Final = ("content", "tool_calls")
"""Where one call of a message may stand twice."""
_OTHERS: Final = {
    "role": ("developer", "function", "system", "tool", "user"),
    "type": ("human", "system", "tool"),
}
"""Whose messages hold no calls of the model, by the keys under which they say so."""
_DEPTH: Final = 8


@dataclass(frozen=True, slots=True)
class Slot:
    """One call where it stands.

    Attributes:
        path: Where its object stands in the whole value.
        form: How it is written.
        name: The tool's name; empty where there is none.
        arguments: The arguments as they stand there.
        id: Its id as it stands there.
        invalid: The client could not parse its arguments, and says so.
        status: What the provider says of its end.
        beside: What else is written right beside name and arguments.
    """

    path: Path
    form: CallForm
    name: str
    arguments: Any
    id: Any = None
    invalid: bool = False
    status: str | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def held(self) -> str | int | None:
        """The key of the list in which it stands."""
        return self.path[-2] if len(self.path) > 1 else None

    def written_into(self, value: Any, name: str, args: JsonObject) -> Any:
        """The whole value with this call in the place of the one that stood there."""
        new = self.form.as_written(args, self.arguments)
        if self.held == "tool_calls":
            value = self._written_once_more(value, {"name": name, "arguments": new})
        if name != self.name:
            value = put(value, (*self.path, *self.form.name), name)
        if args is self.arguments:
            return value
        value = put(value, (*self.path, *self.form.arguments), new)
        return _made_valid(value, self.path) if self.invalid else value

    def _written_once_more(self, value: Any, call: JsonObject) -> Any:
        """The value with this call where it stands again, for clients that know one a message."""
        place = (*self.path[:-2], "function_call")
        one = get(part(value, self.path[:-2]), "function_call")
        if not is_record(one) or self.form is not FORMS["chat"]:
            return value
        if (get(one, "name"), get(one, "arguments")) != (self.name, self.arguments):
            return value
        for key, item in call.items():
            value = put(value, (*place, key), item)
        return value


def _made_valid(value: Any, path: Path) -> Any:
    """A call that could be parsed after all no longer says that it could not."""
    call = part(value, path)
    if not isinstance(call, Mapping):
        return value
    kept = {key: item for key, item in call.items() if key != "error"}
    return put(value, path, {**kept, "type": "tool_call"} if "type" in kept else kept)


def slots(value: Any) -> tuple[Slot, ...]:
    """Every call in a value, in order; none where no structure says that there is one.

    >>> call = {"type": "function", "function": {"name": "find", "arguments": "{}"}}
    >>> [slot.path for slot in slots({"role": "assistant", "tool_calls": [call]})]
    [('tool_calls', 0)]
    """
    return tuple(_slots(value, (), bare=False))


def copies(found: Sequence[Slot]) -> list[tuple[Slot, ...]]:
    """The calls, each with every place of one message in which it stands.

    LangChain and others keep a call among the parts of the content, too, as its provider wrote it.
    What they parsed of it comes first.
    """
    groups: dict[Any, list[Slot]] = {}
    for slot in found:
        key: Any = slot.path
        if isinstance(slot.id, str) and slot.held in _TWICE:
            key = (slot.path[:-2], slot.id, slot.name)
            if any(other.held == slot.held for other in groups.get(key, ())):
                key = slot.path  # two calls of one id are two calls
        groups.setdefault(key, []).append(slot)
    first_parsed = [
        sorted(group, key=lambda slot: slot.held == "content") for group in groups.values()
    ]
    return [tuple(group) for group in first_parsed]


def parsed(value: Any, found: Sequence[Slot]) -> Any:
    """The value with calls that could be parsed after all among those that could be."""
    places: dict[Path, list[str | int]] = {}
    for slot in found:
        if slot.held == "invalid_tool_calls":
            places.setdefault(slot.path[:-2], []).append(slot.path[-1])
    for message, which in places.items():
        around = part(value, message)
        unread = list(enumerate(get(around, "invalid_tool_calls")))
        made = [*(get(around, "tool_calls") or ()), *(call for n, call in unread if n in which)]
        left = [call for n, call in unread if n not in which]
        value = put(value, (*message, "invalid_tool_calls"), left)
        value = put(value, (*message, "tool_calls"), made)
    return value


def is_others(message: Any) -> bool:
    """Whether a message is somebody else's than the model's."""
    return any(has(message, key) for key in ("content", "parts")) and any(
        is_one_of(get(message, key), names) for key, names in _OTHERS.items()
    )


def form_of(value: Any, *, bare: bool = False) -> CallForm | None:
    """The form of a record that is a call, or None.

    Args:
        value: The record.
        bare: Whether it stands where only calls stand.
    """
    found = next((form for form in FORMS.values() if form.fits(value)), None)
    if found is None and bare and has(value, "name"):
        return next((form for form in BARE_FORMS if has(value, str(form.arguments[0]))), None)
    return found


def slot_at(value: Any, path: Path, form: CallForm, *, invalid: bool = False) -> Slot:
    """The call of a form in a record."""
    inner = part(value, form.inner)
    name = get(inner, str(form.name[-1]))
    kind = get(value, "type")
    status = get(value, "status")
    return Slot(
        path,
        form,
        name if isinstance(name, str) else "",
        get(inner, str(form.arguments[-1])),
        next((found for each in form.ids if (found := part(value, each)) is not None), None),
        invalid or kind == "invalid_tool_call",
        status if isinstance(status, str) else None,
        _beside(value, inner, form),
    )


def _beside(value: Any, inner: Any, form: CallForm) -> dict[str, Any]:
    """What else stands in the object of a call, and in the one that holds name and arguments."""
    ids = {str(each[-1]) for each in form.ids}
    told = {"type", "status", "jsonrpc", *((form.marks[0],) if form.marks is not None else ())}
    outer = {str(form.name[0]), *ids, *told}
    read = {str(form.name[-1]), str(form.arguments[-1]), *ids, "_meta"}
    if inner is value:
        return _without(value, outer | read)
    return _without(value, outer) | _without(inner, read)


def _without(record: Any, read: set[str]) -> dict[str, Any]:
    return {k: v for k, v in record.items() if k not in read} if isinstance(record, dict) else {}


def _slots(value: Any, path: Path, *, bare: bool, invalid: bool = False) -> Iterator[Slot]:
    if len(path) > _DEPTH:
        return
    if isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _slots(item, (*path, place), bare=bare, invalid=invalid)
        return
    if not is_record(value) or is_others(value):
        return
    form = form_of(value, bare=bare)
    if form is FORMS["one function"] and get(value, "tool_calls"):
        form = None  # the same call once more, for clients that know one call a message
    if form is not None and runs_elsewhere(value):
        return
    if form is not None:
        yield slot_at(value, path, form, invalid=invalid)
        return
    for key in HOLDERS:
        held = get(value, key)
        if isinstance(held, list | tuple) or is_record(held):
            unread = key == "invalid_tool_calls"
            yield from _slots(held, (*path, key), bare=key in _BARE, invalid=unread)
