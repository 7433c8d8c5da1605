"""Which JSON values are calls: the keys and wrappers of every provider and model family."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from selfcorrect.model import JSON, Call, JsonObject, Safety
from selfcorrect.protocols import Tool
from selfcorrect.reading import (
    ARGUMENTS_TOO,
    BESIDE,
    CALL_ID,
    IDS_TOO,
    MEANS_NOTHING,
    NAMES_TOO,
    NO_ARGUMENTS,
    Candidate,
    Deviation,
    Ending,
    Fault,
    Offered,
    ToolCallKeys,
    as_arguments,
    belongs,
    beside,
    ending_in,
    limited,
    lost,
    parameters,
    strict_json,
    without_residue,
)
from selfcorrect.text import normal

_WRAPPERS: Final = (
    *("tool_calls", "invalid_tool_calls", "function_calls", "tool_uses", "calls", "actions"),
    *("function_call", "functionCall", "toolUse", "tool_use", "tool_call", "function"),
    *("message", "choices", "content", "parts", "candidates", "output", "additional_kwargs"),
)
_CHOICE: Final = frozenset({"either", "oder", "or", "ou", "versus", "vs", "xor"})
_OTHERS: Final = ("developer", "function", "system", "tool", "user")
"""Whose messages hold no calls of the model."""
_ANSWERS: Final = frozenset({"role", "content", "result", "response", "output", "status", "error"})
"""With one of these and no arguments, an object is a tool's answer, not a call of it."""
_DEPTH: Final = 8


def read_call_object(
    value: JSON, keys: ToolCallKeys | None = None, tools: Mapping[str, Tool] | None = None
) -> Call | None:
    """Read a call that is given as an object, under any of its usual keys.

    Arguments that are not an object, or not strictly readable, end up in `raw`: they are never
    taken for empty ones. Where the object says that they were lost, all of it ends up there.
    Not the right tool for text; see `read_calls`.

    Args:
        value: The object.
        keys: Where the parts of a call are found.
        tools: The offered tools, if known. Then the whole object ends up in `raw`, and the name
            is empty, where a parameter stands beside the other arguments.

    >>> read_call_object({"tool": "find", "parameters": {"q": "x"}, "id": "1"})
    Call(name='find', args={'q': 'x'}, id='1', raw=None)
    >>> read_call_object({"name": "find", "arguments": "{'q': 'x'}"})
    Call(name='find', args={}, id=None, raw="{'q': 'x'}")
    """
    keys = keys or ToolCallKeys()
    if not isinstance(value, Mapping):
        return None
    for wrapper in ("function", "functionCall", "function_call", "toolUse", "tool_use"):
        inner = value.get(wrapper)
        if isinstance(inner, Mapping) and (call := read_call_object(inner, keys, tools)):
            return replace(call, id=call.id or _text_under(value, (CALL_ID, *keys.id, *IDS_TOO)))
    name = _text_under(value, keys.name)
    return None if name is None else _call_of(name, value, keys, tools)


def _call_of(
    name: str, value: JsonObject, keys: ToolCallKeys, tools: Mapping[str, Tool] | None
) -> Call | None:
    """The call of a name that stands in an object, or None where it is an answer."""
    call = Call(name, {}, _text_under(value, (CALL_ID, *keys.id, *IDS_TOO)))
    written = _key_of(value, (*keys.arguments, "input"))
    others = beside(value, keys)
    if tools is not None and written is not None and _contradicted(value, written, keys):
        return Call("", {}, call.id, _as_text(value))
    if written is None and not _ANSWERS.isdisjoint(value):
        return None
    given = value[written] if written is not None else None
    ending = ending_in(value, Ending())
    if lost(value, given, ending) is not None:
        return Call("", {}, call.id, _as_text(value))
    if written is None:
        return replace(call, raw=_as_text(others)) if others else call
    if tools is not None and others:
        tool = Offered(tools).meant(name)
        if tool is None or any(belongs(key, tool) for key in others):
            return Call("", {}, call.id, _as_text(value))
    if tools is not None and limited(name, value, keys, Offered(tools)) is not None:
        return Call("", {}, call.id, _as_text(value))
    call = _with_arguments(call, given)
    if call.raw is not None and not ending.closers:
        return Call("", {}, call.id, _as_text(value))
    return call


def _contradicted(value: JsonObject, written: str, keys: ToolCallKeys) -> bool:
    """Whether arguments stand under two keys, and neither is the echo of a schema."""
    told = [value[key] for key in (*keys.arguments, "input") if key != written and value.get(key)]
    return any(
        isinstance(one, Mapping)
        and one != value[written]
        and {"properties", "type"}.isdisjoint(one)
        for one in told
    )


def _with_arguments(call: Call, given: JSON) -> Call:
    """The call with its arguments, or with their text where they cannot be taken as they are."""
    if isinstance(given, str):
        strict = strict_json(given)
        if strict is None or not isinstance(strict.value, dict):
            return replace(call, raw=given)
        given = strict.value
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        return replace(call, raw=_as_text(given))
    return replace(call, args=given)


def _as_text(value: JSON) -> str:
    """JSON text for another reading, or no text, which is never taken for arguments."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def calls_in(
    value: JSON, tools: Offered, keys: ToolCallKeys, ending: Ending
) -> tuple[Candidate, ...]:
    """The calls that a JSON value holds; none where it is something else.

    A call has the name of a tool: which tool is meant is never told by arguments alone.
    """
    return tuple(_Reader(tools, keys, ending).calls(value, 0))


class _Reader:
    """The parts of one question that do not change."""

    __slots__ = ("args", "ending", "failed", "ids", "keys", "names", "tools")

    def __init__(
        self, tools: Offered, keys: ToolCallKeys, ending: Ending, *, failed: bool = False
    ) -> None:
        self.tools = tools
        self.keys = keys
        self.ending = ending
        self.failed = failed
        self.names = (*keys.name, *NAMES_TOO)
        self.args = (*keys.arguments, *ARGUMENTS_TOO)
        self.ids = (CALL_ID, *keys.id, *IDS_TOO)

    def calls(self, value: JSON, depth: int) -> Iterator[Candidate]:
        if depth > _DEPTH:
            return
        if isinstance(value, list):
            found = [call for item in value for call in self.calls(item, depth + 1)]
            if found and any(isinstance(item, str) and normal(item) in _CHOICE for item in value):
                yield Candidate("", None, fault=Fault(0, "calls of which one is to be chosen"))
            else:
                yield from found
        elif isinstance(value, dict):
            inside = self.inside(value)
            direct = inside.direct(value)
            if direct is not None:
                yield inside.kept(direct, value, depth)
            else:
                yield from inside.wrapped(value, depth)

    def inside(self, value: JsonObject, *, failed: bool = False) -> _Reader:
        """The reader for what stands in an object, which may say how its calls end."""
        ending = ending_in(value, self.ending)
        if ending == self.ending and failed <= self.failed:
            return self
        return _Reader(self.tools, self.keys, ending, failed=failed or self.failed)

    def kept(self, call: Candidate, value: JsonObject, depth: int) -> Candidate:
        """The call, unless its arguments are empty because they were lost on the way.

        What a model itself wrote as a whole object, without anything around it, is complete.
        """
        if call.args is None or call.args:
            return call
        key = _key_of(value, self.args)
        provided = depth > 0 or call.id is not None or "type" in value
        ending = self.ending if provided else ending_in(value, Ending())
        fault = lost(value, value[key] if key else None, ending, failed=self.failed)
        return replace(call, args=None, fault=fault) if fault else call

    def wrapped(self, value: JsonObject, depth: int) -> Iterator[Candidate]:
        """Calls inside a provider's message, or under their tools' names."""
        if value.get("role") in _OTHERS:
            return
        under = [(key, value[key]) for key in _WRAPPERS if isinstance(value.get(key), dict | list)]
        found = False
        for key, item in under:
            reader = self.inside({}, failed=key == "invalid_tool_calls")
            for call in reader.calls(item, depth + 1):
                found = True
                outer = _text_under(value, self.ids) if isinstance(item, dict) else None
                yield replace(call, id=call.id or outer)
        if not found and value and all(self.is_wrapper(k, v) for k, v in value.items()):
            for name, given in value.items():
                yield self.candidate(name, given, {}, None, "wrapped in the tool's name")

    def is_wrapper(self, name: str, given: JSON) -> bool:
        tool = self.tools.meant(name)
        return tool is not None and isinstance(given, dict)

    def direct(self, value: JsonObject) -> Candidate | None:
        """The object itself as a call."""
        name_key = next((k for k in self.names if self.names_a_tool(k, value)), None)
        args_key = _key_of(value, self.args)
        if name_key is None:
            return self.nameless(value.get(args_key) if args_key else None)
        name = str(value[name_key])
        left = {
            key: item
            for key, item in value.items()
            if key not in (name_key, args_key, *self.ids) and key not in MEANS_NOTHING
        }
        id_ = _text_under(value, self.ids)
        tool = self.tools.meant(name)
        if args_key is not None:
            if is_definition(value, value[args_key]):
                return None
            if _contradicted(value, args_key, self.keys):
                fault = Fault(0, "arguments under two keys, which are not the same")
                return Candidate(name, None, id=id_, fault=fault)
            if tool is not None:
                left = {key: item for key, item in left.items() if belongs(key, tool)}
            said = limited(name, value, self.keys, self.tools, failed=self.failed)
            if not left and said is not None:
                return Candidate(name, None, id=id_, fault=Fault(0, said))
            return self.candidate(name, value[args_key], left, id_, None)
        known = parameters(tool)
        if tool is None or not left.keys() <= known.keys():
            return None
        if not _ANSWERS.isdisjoint(value):
            return None
        why = "the arguments stand beside the name" if left else NO_ARGUMENTS
        return self.candidate(name, {}, left, id_, why)

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
                destroys = tool is not None and tool.effect == "destructive"
                if tool is not None and not destroys and inside not in parameters(tool):
                    rest = {key: item for key, item in args.items() if key != inside}
                    why = "the name stands inside the arguments"
                    return self.candidate(str(args[inside]), rest, {}, None, why)
        return None

    def candidate(
        self, name: str, given: JSON, left: JsonObject, id_: str | None, why: str | None
    ) -> Candidate:
        notes = []
        clean = without_residue(name)
        if clean and clean != name:
            notes.append(Deviation(0, "residue of a chat template", Safety.EXACT))
            name = clean
        if why:
            inferred = left or "inside" in why
            notes.append(Deviation(0, why, Safety.INFERRED if inferred else Safety.EXACT))
        tool: Tool | None = self.tools.meant(name)
        read = as_arguments(given, tool, self.ending)
        args = read.value
        notes += read.deviations
        fault = read.fault
        if args is not None and left:
            if twice := args.keys() & left.keys():
                args, fault = None, Fault(0, f"the argument {min(twice)[:40]!r} is given twice")
            else:
                notes.append(Deviation(0, BESIDE, Safety.INFERRED))
                args = {**args, **left}
        raw = given if args is None and isinstance(given, str) else None
        return Candidate(name, args, 0, 0, tuple(notes), id_, raw, fault)


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
