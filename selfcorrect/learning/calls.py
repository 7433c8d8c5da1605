"""A recorded call: one line of CALLS.jsonl, the form that everything in this room reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, get_args

from selfcorrect.model import JSON, JsonObject
from selfcorrect.protocols import Effect

_EFFECTS: Final = get_args(Effect)
_LONGEST_ERROR: Final = 32_768


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call that was executed, or refused, and what came of it.

    Attributes:
        task_id: The run that it belongs to.
        seq: Its place in the run.
        tool: The name of the tool.
        arguments: What it was called with.
        error: What it failed with, or None where it did well.
        effect: What the tool does to the world, if known.
        schema: JSON Schema of its arguments, or only its mark, as trails have it; if known.
        request: What the user said last, if known.
        result: What it returned, if known.
        tokens: Tokens that the turn after this call cost, where the log says so.
    """

    task_id: str
    seq: int
    tool: str
    arguments: JsonObject
    error: str | None = None
    effect: Effect | None = None
    schema: JsonObject | str | None = None
    request: str | None = None
    result: JSON = field(default=None, compare=False)
    tokens: int | None = None

    def as_line(self) -> dict[str, JSON]:
        """The call as a line of CALLS.jsonl; what is not known is left out."""
        line = asdict(self)
        return {key: line[key] for key in line if line[key] is not None or key == "error"}


class Unreadable(ValueError):
    """A line is no recorded call; the message says what is wrong with it."""


KEYS: Final = frozenset(RecordedCall.__slots__) | {"id"}
"""The keys of a line of CALLS.jsonl that are read."""


def is_line(value: JSON) -> bool:
    """Whether this claims to be a line of CALLS.jsonl."""
    return isinstance(value, Mapping) and "task_id" in value and "tool" in value


def from_line(line: Mapping[str, Any]) -> RecordedCall:
    """The call of a line.

    >>> from_line({"task_id": "t", "seq": 0, "tool": "ls", "arguments": {}, "error": None}).tool
    'ls'

    Raises:
        Unreadable: If a key is missing, or is not what it should be.
    """
    tool, arguments, error = line.get("tool"), line.get("arguments"), line.get("error")
    if not isinstance(tool, str) or not tool:
        raise Unreadable("`tool` is the name of a tool")
    if not isinstance(arguments, Mapping):
        raise Unreadable("`arguments` is an object")
    if error is not None and not isinstance(error, str):
        raise Unreadable("`error` is a text, or null where the call did well")
    seq = line.get("seq", 0)
    if isinstance(seq, bool) or not isinstance(seq, int):
        raise Unreadable("`seq` is the place of the call in its run, a whole number")
    effect, schema = line.get("effect"), line.get("schema")
    if effect is not None and effect not in _EFFECTS:
        raise Unreadable(f"`effect` is one of {', '.join(_EFFECTS)}")
    if schema is not None and not isinstance(schema, Mapping | str):
        raise Unreadable("`schema` is an object, or the mark of one")
    request, tokens = line.get("request"), line.get("tokens")
    return RecordedCall(
        str(line.get("task_id")),
        seq,
        tool,
        arguments,
        None if error is None else error[:_LONGEST_ERROR],
        effect,
        schema,
        request if isinstance(request, str) else None,
        line.get("result"),
        tokens if isinstance(tokens, int) else None,
    )
