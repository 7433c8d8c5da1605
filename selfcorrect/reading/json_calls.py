"""Reads calls that are written as JSON objects, wherever in a text they stand.

The name stands inside the object, or right before it in one of the forms of open models:
`<function=find>{…}`, `find` and a line break, `to=functions.find … <|message|>{…}`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.kernel.calls import is_holder
from selfcorrect.kernel.standing import Standing, key_of
from selfcorrect.model import JSON
from selfcorrect.reading.arguments import UNCLEAR, surest
from selfcorrect.reading.contract import (
    ATTEMPT,
    MOST_CALLS,
    Candidate,
    Deviation,
    Fault,
    JsonRead,
    Oddity,
    Offered,
    Reader,
    ToolCallKeys,
    has,
    parameters,
)
from selfcorrect.reading.envelopes import calls_in
from selfcorrect.reading.openings import named_before
from selfcorrect.reading.tolerant_json import read_json
from selfcorrect.reading.unreadable import MARKUP_NEXT, unread_call, unread_calls

_OPEN: Final = re.compile(
    r"\{(?=\s*+[}\"'\u201c\u201d\u2018\u2019\\\w$/#])|\[(?=\s*+[{\[\"'\u201c\u201d\u2018\u2019\\])"
)
_GOES_ON: Final = re.compile(r"\s*+,\s*+[\"'\u201c][\w-]{1,60}[\"'\u201d]\s*+:")
"""What stands behind an object that was closed too early: another key."""
_FENCE_BEFORE: Final = re.compile(r"```\w*\s*\Z")
_NAME_BACKWARDS: Final = re.compile(r"[\s\"'`*:>(]*+([\w.\-:/]{1,200})")
_BEFORE_ARGUMENTS: Final = ">]`:=(\"'*_,"
_ONE_TOO_MANY: Final = "a closing bracket too many"
_BACK: Final = 260
_FRONT: Final = 400
_DEEP: Final = 50
_WORK: Final = 8
"""How often, on average, a character may be looked at while unreadable JSON is skipped."""


@dataclass(frozen=True, slots=True)
class JsonCalls:
    """Calls as JSON objects.

    Attributes:
        keys: Where the parts of a call are found.
        end: Whether the model ended the text by itself; None if nobody knows.
        code: Reads calls that are written as code inside JSON strings.
    """

    keys: ToolCallKeys
    end: bool | None
    code: Reader

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]:
        found: list[Candidate] = []
        broken: list[Candidate] = []
        work = _WORK * len(text) + 10_000
        pos = 0
        while work > 0 and (opening := _OPEN.search(text, pos)) and len(found) <= MOST_CALLS:
            start = opening.start()
            read = _read(text, start)
            work -= ATTEMPT
            if isinstance(read, JsonRead) and _GOES_ON.match(text, read.end):
                read = self._closed_early(text, read, tools)
                work -= len(text) - start
            if isinstance(read, Fault):
                work -= 2 * ATTEMPT + (read.reach - start) * (_DEEP if read.deep else 1)
                unread = unread_call(text, start, read, tools, self.keys)
                if unread is not None and unread.fault is not None:
                    work -= unread.fault.reach - start
                    broken.append(unread)
                pos = read.offset if read.deep else start + 1
                continue
            found += self._calls(text, read, tools)
            pos = read.end
        if work <= 0:
            fault = Fault(pos, "too much broken JSON")
            return (Candidate("", None, 0, len(text), fault=fault),)
        return (*found, *unread_calls(text, found, broken, tools, self.keys))

    def _closed_early(self, text: str, read: JsonRead, tools: Offered) -> JsonRead | Fault:
        """A call whose object goes on behind its closing bracket, which is one too many there."""
        calls = calls_in(read.value, tools, self.keys, self.end)
        if not isinstance(read.value, dict) or not calls:
            return read
        unclear = Fault(read.end, "brackets that do not match")
        last = read.end - 1
        again = read_json(f"{text[:last]} {text[read.end :]}", read.start, whole=False)
        if isinstance(again, Fault) or not isinstance(again.value, dict):
            return unclear
        own = {*self.keys.id, *self.keys.name, *self.keys.arguments}
        known = own.union(*(parameters(tools.meant(call.name)) for call in calls))
        if again.rivals or not again.value.keys() - read.value.keys() <= known:
            return unclear
        note = Deviation(last, _ONE_TOO_MANY, Oddity.CLOSER_TOO_MANY)
        return replace(again, deviations=(note, *again.deviations))

    def _calls(self, text: str, read: JsonRead, tools: Offered) -> list[Candidate]:
        """The calls in a value that was read, with their place in the text."""
        before = text[max(0, read.start - _BACK) : read.start]
        calls: Sequence[Candidate] = self._sure(read, tools)
        start = read.start
        if not calls and isinstance(read.value, dict):
            named = self._named(before, read, tools)
            if named is not None:
                calls, start = [named], read.start - named.start
        if not calls:
            calls = self._quoted(read.value, tools)
        mended = has(read.deviations, Oddity.CLOSER_TOO_MANY)
        if mended or text[read.end : read.end + _FRONT].lstrip()[:1] == "}":
            calls = [_surely_inside(call, read) for call in calls]
        return [_placed(call, start, read) for call in calls]

    def _sure(self, read: JsonRead, tools: Offered) -> Sequence[Candidate]:
        """The calls in the value, if no other reading of the text holds other calls."""
        calls = calls_in(read.value, tools, self.keys, self.end)
        if any(call.fault is not None for call in calls):
            return calls
        for rival in read.rivals:
            others = calls_in(rival, tools, self.keys, self.end)
            same = [*map(key_of, calls)] == [*map(key_of, others)]
            if not others or same or _faults(others, tools) > _faults(calls, tools):
                continue
            unclear = Fault(read.end, UNCLEAR, read.unclosed)
            return [replace(call, args=None, fault=unclear) for call in calls]
        return calls

    def _named(self, before: str, read: JsonRead, tools: Offered) -> Candidate | None:
        """A call whose name stands right before its arguments; `start` is how far before."""
        args: Any = read.value
        tail = before.rstrip()[-1:]
        if not (tail.isalnum() or (tail and tail in _BEFORE_ARGUMENTS)):
            return None
        found = named_before(before)
        if found and (args or tools.meant(found["name"]) is not None):
            call = self._with_name(found["name"], len(before) - found.start(), read, tools)
            return replace(call, tagged=True)
        fence = _FENCE_BEFORE.search(before)
        found = _NAME_BACKWARDS.match((before[: fence.start()] if fence else before)[::-1])
        if found is None:
            return None
        name = found[1][::-1]
        back = found.end() + (len(before) - fence.start() if fence else 0)
        while name and name not in tools:
            _, dot, rest = name.partition(".")
            back -= len(name) - len(rest)
            name = rest if dot else ""
        if not name or not (args.keys() <= parameters(tools[name]).keys()):
            return None
        if not args and not tools[name].is_valid({}):
            return None
        return self._with_name(name, back, read, tools)

    def _with_name(self, name: str, back: int, read: JsonRead, tools: Offered) -> Candidate:
        note = Deviation(read.start, "the name stands before the arguments")
        value = surest(read, tools.meant(name))
        if isinstance(value, Fault):
            return Candidate(name, None, back, 0, (note,), fault=value)
        return Candidate(name, value, back, 0, (note,))

    def _quoted(self, value: JSON, tools: Offered) -> list[Candidate]:
        """Calls in code that are strings: `["find(q='x')"]`, each of them nothing else."""
        if isinstance(value, dict) and len(value) == 1 and is_holder(next(iter(value))):
            value = next(iter(value.values()))
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return []
        note = Deviation(0, "a call inside a string")
        found: list[Candidate] = []
        for item in map(str, value):
            calls = self.code(item, tools)
            if not calls or not Standing(item, calls).alone():
                return []
            found += (replace(call, deviations=(note, *call.deviations)) for call in calls)
        return found


def _read(text: str, start: int) -> JsonRead | Fault:
    """The value that starts here, where a missing closer may also be before a tag."""
    read = read_json(text, start, whole=False)
    if isinstance(read, Fault) and not read.cut and MARKUP_NEXT.match(text, read.offset):
        block = read_json(text[: read.offset], start, whole=False)
        if isinstance(block, JsonRead):
            return replace(block, unclosed=False)
    return read


def _surely_inside(call: Candidate, read: JsonRead) -> Candidate:
    """The call, unless a closing bracket too many may have moved an argument out of another one."""
    beside = has(call.deviations, Oddity.BESIDE)
    if not beside or call.args is None:
        return call
    if any(isinstance(value, dict | list) for value in call.args.values()):
        return replace(call, args=None, fault=Fault(read.end, "brackets that do not match"))
    note = Deviation(read.end, _ONE_TOO_MANY, Oddity.CLOSER_TOO_MANY)
    return replace(call, deviations=(*call.deviations, note))


def _placed(call: Candidate, start: int, read: JsonRead) -> Candidate:
    """A call with its place in the text, instead of one in the value that it was found in."""
    notes = tuple(each._replace(offset=read.start) for each in call.deviations)
    fault = replace(call.fault, offset=read.start) if call.fault else None
    late = [each for each in read.deviations if each.offset >= read.end]
    if has(notes, Oddity.NO_ARGUMENTS) and has(late, Oddity.CLOSER_MISSING):
        fault = Fault(read.end, "cut off before the arguments", cut=True)
        call = replace(call, args=None)
    notes = (*read.deviations, *notes)
    value = read.value if start == read.start else None
    return replace(call, start=start, end=read.end, deviations=notes, fault=fault, value=value)


def _faults(calls: Sequence[Candidate], tools: Offered) -> int:
    """In how many places some calls break their tools' schemas."""
    total = 0
    for call in calls:
        tool = tools.meant(call.name)
        if tool is None or call.args is None:
            total += 1_000
        else:
            total += len(tool.violations(call.args))
    return total
