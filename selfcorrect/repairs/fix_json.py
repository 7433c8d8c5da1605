"""fix-json: read a call that is not written as strictly valid JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.kernel.verdicts import FOLLOWS
from selfcorrect.model import (
    ABSENT,
    Call,
    Changed,
    Diagnosis,
    Extent,
    GiveUp,
    Repair,
    Safety,
    edit,
)
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.contract import Candidate, Deviation, ToolCallKeys
from selfcorrect.reading.known_tool import read_arguments
from selfcorrect.reading.outcome import Asked, Reading, refusal_of
from selfcorrect.reading.texts import read_calls

_MOST_REASONS: Final = 4


@dataclass(frozen=True, slots=True)
class FixJson:
    r"""Reads the call out of what the model wrote: broken JSON, wrapped text, calls as code.

    Its class is exact where nothing but spelling and wrapping differs (single quotes, trailing
    commas, Python literals, fences, tags), inferred where there is one best reading (words around
    a call of a tool that only reads, a missing comma, a closing bracket that is missing behind the
    arguments), lossy where something beside the call is left out. What was cut off inside a value,
    has two readings, or holds several calls is refused.

    Attributes:
        id_keys: Keys of a call's id, besides the usual ones.
        name_keys: Keys of a tool's name, besides the usual ones.
        arguments_keys: Keys of a call's arguments, besides the usual ones.

    >>> from selfcorrect.model import Finding
    >>> broken = Call("", raw="```json\n{'tool': 'find', 'args': {'q': 'x',}}\n```")
    >>> mended = FixJson()(broken, Diagnosis((Finding("malformed"),)), RepairContext())
    >>> [(change.path, change.after) for change in mended.changes]
    [('/name', 'find'), ('/args', {'q': 'x'}), ('/raw', ABSENT)]
    >>> cut = Call("find", raw='{"q": "a long que')
    >>> FixJson()(cut, Diagnosis((Finding("malformed"),)), RepairContext())
    GiveUp(reason='cut off inside a string (line 1, column 7)')
    """

    name = "fix-json"
    safety = (*FOLLOWS, Safety.LOSSY)
    needs = "nothing"

    id_keys: tuple[str, ...] = ()
    name_keys: tuple[str, ...] = ()
    arguments_keys: tuple[str, ...] = ()

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Read the raw text of the call."""
        del diagnosis  # the text itself says what is wrong with it
        if call.raw is None:
            return GiveUp("the call was read strictly: there is no text to read")
        return (self._arguments if call.name else self._whole)(call, call.raw, context)

    def _arguments(self, call: Call, raw: str, context: RepairContext) -> Repair:
        tool = context.tool or context.tools.get(call.name)
        read = read_arguments(raw, tool, finish_reason=context.finish_reason)
        if read.value is None or read.fault is not None:
            return GiveUp(refusal_of(raw, read.fault) if read.fault else "no arguments were read")
        return _changed(call, raw, Candidate("", read.value, deviations=read.deviations))

    def _whole(self, call: Call, raw: str, context: RepairContext) -> Repair:
        reading = self.read(raw, context)
        if reading.refusal is not None:
            return GiveUp(reading.refusal.text)
        if len(reading.calls) != 1:
            return GiveUp(f"the text holds {len(reading.calls)} calls, and a run carries one")
        return _changed(call, raw, reading.calls[0], reading.written)

    def each(self, raw: str, context: RepairContext) -> tuple[Changed, ...]:
        """For every call in a text, the changes that make the text this call."""
        read = self.read(raw, context)
        return tuple(_changed(Call("", raw=raw), raw, one, read.written) for one in read.calls)

    @property
    def keys(self) -> ToolCallKeys:
        """Where the parts of a call are found."""
        usual = ToolCallKeys()
        return ToolCallKeys(
            (*usual.id, *self.id_keys),
            (*usual.name, *self.name_keys),
            (*usual.arguments, *self.arguments_keys),
        )

    def read(self, raw: str, context: RepairContext) -> Reading:
        """The calls in a text, under the keys that this strategy knows."""
        asked: dict[str, Any] = {
            "finish_reason": context.finish_reason,
            "keys": self.keys,
            "request": context.request,
            "policy": context.reading,
            "in_context": bool(context.messages),
        }
        if isinstance(context.read, Reading) and context.read.asked == Asked(raw, **asked):
            return context.read
        return read_calls(raw, context.tools, **asked)


def _changed(call: Call, raw: str, found: Candidate, extents: Sequence[Extent] = ()) -> Changed:
    reason = _reason(found.deviations)
    changes = [edit("/args", dict(call.args), dict(found.args or {}), reason)]
    if found.name:
        changes.insert(0, edit("/name", ABSENT, found.name, reason))
    if found.id is not None and call.id is None:
        changes.append(edit("/id", ABSENT, found.id, reason))
    changes.append(edit("/raw", raw or ABSENT, ABSENT, "the text was read"))
    return Changed(changes, extents=extents)


def _reason(deviations: tuple[Deviation, ...]) -> str:
    """What differed, first that on which something hangs, in a few words."""
    ordered = sorted(deviations, key=lambda each: each.code is None)
    whats = list(dict.fromkeys(each.what for each in ordered))
    more = f" and {len(whats) - _MOST_REASONS} more" if len(whats) > _MOST_REASONS else ""
    return "read as JSON: " + ", ".join(whats[:_MOST_REASONS]) + more if whats else "read as JSON"
