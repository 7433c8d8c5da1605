"""Which JSON values are calls: the keys and wrappers of every provider and model family."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from selfcorrect.kernel.calls import HOLDERS, NAMES, ONE_CALL
from selfcorrect.model import JSON, Call, JsonObject
from selfcorrect.plain import is_one_of
from selfcorrect.protocols import Tool
from selfcorrect.reading.arguments import NO_ARGUMENTS, as_arguments
from selfcorrect.reading.beside import (
    ARGUMENTS_TOO,
    CALL_ID,
    IDS_TOO,
    belongs,
    beside,
)
from selfcorrect.reading.contract import (
    Candidate,
    Deviation,
    Fault,
    Oddity,
    Offered,
    ToolCallKeys,
    parameters,
    without_residue,
)
from selfcorrect.reading.endings import ended_in, lost
from selfcorrect.reading.strict import strict_json
from selfcorrect.text import normal

_OTHERS: Final = ("developer", "function", "system", "tool", "user")
"""Whose messages hold no calls of the model."""
_ANSWERS: Final = frozenset({"role", "content", "result", "response", "output", "status", "error"})
"""With one of these and no arguments, an object is a tool's answer, not a call of it."""
_DEPTH: Final = 8


def read_call_object(value: JSON, keys: ToolCallKeys | None = None) -> Call | None:
    """Read a call that is given as an object, under any of its usual keys.

    Arguments that are not an object, or not strictly readable, end up in `raw`: they are never
    taken for empty ones. Where the object says that they were lost, all of it ends up there.
    Whether it is this call and nothing more says `is_just`. Not the right tool for text; see
    `read_calls`.

    Args:
        value: The object.
        keys: Where the parts of a call are found.

    >>> read_call_object({"tool": "find", "parameters": {"q": "x"}, "id": "1"})
    Call(name='find', args={'q': 'x'}, id='1', raw=None)
    >>> read_call_object({"name": "find", "arguments": "{'q': 'x'}"})
    Call(name='find', args={}, id=None, raw="{'q': 'x'}")
    """
    keys = keys or ToolCallKeys()
    if not isinstance(value, Mapping):
        return None
    call_id = _text_under(value, (CALL_ID, *keys.id, *IDS_TOO))
    for wrapper in ONE_CALL:
        inner = value.get(wrapper)
        if isinstance(inner, Mapping) and (call := read_call_object(inner, keys)):
            return replace(call, id=call.id or call_id)
    name = _text_under(value, keys.name)
    written = _key_of(value, (*keys.arguments, "input"))
    if name is None or (written is None and not _ANSWERS.isdisjoint(value)):
        return None
    call = Call(name, {}, call_id)
    given = value[written] if written is not None else None
    end = ended_in(value)
    is_lost = lost(value, given, end) is not None
    if written is None and not is_lost:
        others = beside(value, keys)
        return replace(call, raw=as_text(others)) if others else call
    call = _with_arguments(call, given)
    if is_lost or (call.raw is not None and end is False):
        return Call("", {}, call_id, as_text(value))
    return call


def _with_arguments(call: Call, given: JSON) -> Call:
    """The call with its arguments, or with their text where they cannot be taken as they are."""
    if given is None:
        return call
    strict = strict_json(given) if isinstance(given, str) else None
    args = given if strict is None else strict.value
    if isinstance(args, Mapping):
        return replace(call, args=args)
    return replace(call, raw=given if isinstance(given, str) else as_text(given))


def as_text(value: JSON) -> str:
    """JSON text for another reading, or no text, which is never taken for arguments."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def calls_in(
    value: JSON,
    tools: Offered,
    keys: ToolCallKeys,
    end: bool | None,
) -> tuple[Candidate, ...]:
    """The calls that a JSON value holds; none where it is something else.

    A call has the name of a tool: which tool is meant is never told by arguments alone.
    """
    return tuple(_Reader(tools, keys, end).calls(value, 0))


@dataclass(frozen=True, slots=True)
class _Reader:
    """The parts of one question that do not change."""

    tools: Offered
    keys: ToolCallKeys
    end: bool | None
    failed: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.keys.name, *NAMES)

    @property
    def ids(self) -> tuple[str, ...]:
        return (CALL_ID, *self.keys.id, *IDS_TOO)

    def key_of(self, value: JsonObject) -> str | None:
        """The key of the arguments in an object."""
        return _key_of(value, (*self.keys.arguments, *ARGUMENTS_TOO))

    def calls(self, value: JSON, depth: int) -> Iterator[Candidate]:
        if depth > _DEPTH:
            return
        if isinstance(value, list):
            for item in value:
                yield from self.calls(item, depth + 1)
        elif isinstance(value, dict):
            inside = self.inside(value)
            direct = inside.direct(value)
            if direct is not None:
                yield inside.kept(direct, value, depth)
            else:
                yield from inside.wrapped(value, depth)

    def inside(self, value: JsonObject, *, failed: bool = False) -> _Reader:
        """The reader for what stands in an object, which may say how its calls end."""
        return replace(self, end=ended_in(value, self.end), failed=failed or self.failed)

    def kept(self, call: Candidate, value: JsonObject, depth: int) -> Candidate:
        """The call, unless its arguments are empty because they were lost on the way.

        What a model itself wrote as a whole object, without anything around it, is complete.
        """
        if call.args is None or call.args:
            return call
        key = self.key_of(value)
        provided = depth > 0 or call.id is not None or "type" in value
        end = self.end if provided else ended_in(value)
        fault = lost(value, value[key] if key else None, end, failed=self.failed)
        return replace(call, args=None, fault=fault) if fault else call

    def wrapped(self, value: JsonObject, depth: int) -> Iterator[Candidate]:
        """Calls inside a provider's message, or under their tools' names."""
        if is_one_of(value.get("role"), _OTHERS):
            return
        has_met = False
        for key in filter(HOLDERS.__contains__, value):
            reader = self.inside({}, failed=key == "invalid_tool_calls")
            outer = _text_under(value, self.ids) if isinstance(value[key], dict) else None
            for call in reader.calls(value[key], depth + 1):
                has_met = True
                yield replace(call, id=call.id or outer)
        if has_met or not value or any(self.tools.meant(name) is None for name in value):
            return
        if all(isinstance(given, dict) for given in value.values()):
            for name, given in value.items():
                note = Deviation(0, "wrapped in the tool's name")
                yield self.candidate(name, given, {}, None, note)

    def direct(self, value: JsonObject) -> Candidate | None:
        """The object itself as a call."""
        name_key = next((k for k in self.names if self.names_a_tool(k, value)), None)
        args_key = self.key_of(value)
        if name_key is None:
            return self.nameless(value.get(args_key) if args_key else None)
        name = str(value[name_key])
        tool = self.tools.meant(name)
        meant = {key for key in self.names if normal(str(value.get(key))) == normal(name)}
        left = {k: v for k, v in beside(value, self.keys).items() if k not in (*meant, args_key)}
        given: JSON = {}
        why = None
        if args_key is None and tool is None:
            return None
        if args_key is not None:
            given = value[args_key]
            if is_definition(value, given):
                return None
            left = {k: v for k, v in left.items() if tool is None or belongs(k, tool)}
        elif not left.keys() <= parameters(tool).keys() or not _ANSWERS.isdisjoint(value):
            return None
        elif left:
            why = Deviation(0, "the arguments stand beside the name")
        else:
            why = Deviation(0, NO_ARGUMENTS, Oddity.NO_ARGUMENTS)
        return self.candidate(name, given, left, _text_under(value, self.ids), why)

    def names_a_tool(self, key: str, value: JsonObject) -> bool:
        name = value.get(key)
        if not isinstance(name, str) or not name.strip():
            return False
        return key in self.keys.name or self.tools.meant(name) is not None

    def nameless(self, args: JSON) -> Candidate | None:
        """A call whose name stands inside its arguments, because of a lost bracket."""
        if isinstance(args, dict):
            inside = next((k for k in self.keys.name if isinstance(args.get(k), str)), None)
            if inside is not None:
                tool = self.tools.meant(str(args[inside]))
                if tool is not None and inside not in parameters(tool):
                    rest = {key: item for key, item in args.items() if key != inside}
                    why = Deviation(0, "the name stands inside the arguments")
                    return self.candidate(str(args[inside]), rest, {}, None, why)
        return None

    def candidate(
        self, name: str, given: JSON, left: JsonObject, id_: str | None, why: Deviation | None
    ) -> Candidate:
        notes = []
        clean = without_residue(name)
        if clean and clean != name:
            notes.append(Deviation(0, "residue of a chat template"))
            name = clean
        if why is not None:
            notes.append(why)
        tool: Tool | None = self.tools.meant(name)
        read = as_arguments(given, tool, self.end)
        args = read.value
        notes += read.deviations
        fault = read.fault
        if args is not None and left:
            if twice := args.keys() & left.keys():
                args, fault = None, Fault(0, f"the argument {min(twice)[:40]!r} is given twice")
            else:
                what = "arguments beside the others"
                notes.append(Deviation(0, what, Oddity.BESIDE))
                args = {**args, **left}
        return Candidate(name, args, 0, 0, tuple(notes), id_, fault, ended=self.end)


def is_definition(value: JsonObject, given: JSON) -> bool:
    """Whether this describes a tool instead of calling it."""
    return (
        isinstance(given, dict)
        and isinstance(given.get("properties"), dict)
        and ("type" in given or "description" in value)
    )


def _key_of(value: JsonObject, keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if key in value and not _is_name(value[key], key)), None)


def _is_name(item: JSON, key: str) -> bool:
    """A text under a key of arguments that is plainly no arguments: `"input": "hello"`."""
    return isinstance(item, str) and key in ARGUMENTS_TOO and "{" not in item


def _text_under(value: JsonObject, keys: tuple[str, ...]) -> str | None:
    return next((item for key in keys if isinstance(item := value.get(key), str) and item), None)
