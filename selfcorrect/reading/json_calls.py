"""Says which JSON values are calls: a name beside arguments, or a tool's name as the only key."""

from collections.abc import Callable
from typing import TypeAlias

from selfcorrect.lazy import load_table
from selfcorrect.model import JSON, JsonDict, frozen
from selfcorrect.reading.json_text import CLOSERS, JsonText, decode, inside
from selfcorrect.reading.literals import JsonTextError
from selfcorrect.reading.text_call import IsTool, TextCall

_TABLE = load_table("reading/calls.toml")


class CallTextError(JsonTextError):
    """A text names a call that cannot be read; `name` is the name of its tool."""

    def __init__(self, name: str, why: object) -> None:
        super().__init__(f"the call of {name!r} cannot be read: {why}")
        self.name = name


Decode: TypeAlias = Callable[[JSON], tuple[JSON, tuple[str, ...]]]
"""Returns arguments and what was skipped in their text; what is not JSON stays a text."""


@frozen
class ToolCallKeys:
    """The keys under which a call holds its parts; they read values as calls.

    Attributes:
        id: Of the id.
        name: Of the tool's name.
        arguments: Of the arguments.
        is_tool: Whether a name is the name of a tool.
        decode: Reads arguments that are given as text; left out, all that a model may write.
    """

    id: tuple[str, ...] = tuple(_TABLE["id"])
    name: tuple[str, ...] = tuple(_TABLE["name"])
    arguments: tuple[str, ...] = tuple(_TABLE["arguments"])
    is_tool: IsTool = lambda _: False
    decode: Decode | None = None

    def read(
        self, value: JSON, skipped: tuple[str, ...] = (), outer_id: str | None = None
    ) -> tuple[TextCall, ...]:
        """Return the calls that a value consists of; none if it is anything else.

        >>> ToolCallKeys().read({"name": "f", "arguments": '{"a": 1}'})[0].arguments
        {'a': 1}

        Args:
            value: The value.
            skipped: What was skipped around it.
            outer_id: The id that stands around it.

        Raises:
            CallTextError: If the value names a known tool and holds more than a call.
        """
        if isinstance(value, list):
            parts = [self.read(item, skipped) for item in value]
            return tuple(call for part in parts for call in part) if all(parts) else ()
        if not isinstance(value, dict) or not value:
            return ()
        rest = {key: member for key, member in value.items() if not _is_mark(key, member)}
        id_keys = [key for key in self.id if isinstance(rest.get(key), str | int)]
        own_id = str(rest.pop(id_keys[0])) if id_keys else None
        call_id = own_id or outer_id
        if len(rest) == 1:
            [(key, inner)] = rest.items()
            if key in _TABLE["wrappers"] and isinstance(inner, dict | list):
                return self.read(inner, skipped, call_id)
            if isinstance(inner, dict) and self.is_tool(key):
                if own_id is not None:
                    # No form writes the id of such a call: it may be an argument.
                    raise CallTextError(key, "an id stands beside its arguments")
                return (TextCall(key, inner, (), skipped, call_id),)
        return self._call(rest, skipped, call_id)

    def _call(
        self, rest: JsonDict, skipped: tuple[str, ...], call_id: str | None
    ) -> tuple[TextCall, ...]:
        name_keys = [key for key in self.name if isinstance(rest.get(key), str)]
        argument_keys = [key for key in self.arguments if key in rest]
        name = rest.pop(name_keys[0]) if name_keys else ""
        if not name or not (argument_keys or self.is_tool(name)):
            return ()
        if not argument_keys and CLOSERS.intersection(skipped):
            raise CallTextError(name, "the text ends before its arguments")
        written = rest.pop(argument_keys[0]) if argument_keys else None
        arguments, inner = (self.decode or _arguments)(written)
        if isinstance(arguments, dict) and {"type", "properties"} <= arguments.keys():
            return ()  # the definition of a tool
        if not rest:
            return (TextCall(name, arguments, (), skipped + inner, call_id),)
        if self.is_tool(name):
            raise CallTextError(name, f"{next(iter(rest))[:40]!r} stands beside its arguments")
        return ()


USUAL_KEYS = ToolCallKeys()


def decode_arguments(value: JSON) -> JsonText:
    """Return arguments that may be given as text; an empty text stands for none.

    >>> decode_arguments(" ").value, decode_arguments('{"a": 1}').value
    ({}, {'a': 1})

    Raises:
        JsonTextError: If a text in them is not one value.
    """
    is_blank = isinstance(value, str) and not value.strip()
    read = decode(None if is_blank else value)
    value = {} if read.value in (None, []) else read.value
    return JsonText(value, inside(read.skipped))


def _arguments(value: JSON) -> tuple[JSON, tuple[str, ...]]:
    """Decode arguments; a text that is not JSON stays as it is."""
    try:
        read = decode_arguments(value)
    except JsonTextError:
        return value, ()
    return read.value, read.skipped


def _is_mark(key: str, value: JSON) -> bool:
    return (key == "type" and value in _TABLE["types"]) or (
        key == "index" and isinstance(value, int)
    )
