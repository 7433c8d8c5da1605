"""Whether a text is the calls that were read from it, and no more: law 4, of whole texts.

A reader says where each call stands, and from which value it was read. Here it is seen that the
text says that value, that the value is the call and what is known to stand beside one, and that
outside of the calls nothing stands but tokens of their forms, or what is allowed to.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from selfcorrect.kernel.covering import GOES_ON, Cover, covers, covers_calls
from selfcorrect.kernel.forms import WRAPPERS as AROUND
from selfcorrect.kernel.metadata import ended_all, is_said, left_out
from selfcorrect.kernel.standing import classes, key_of, spoken, unquoted
from selfcorrect.kernel.verdicts import Step, worst
from selfcorrect.kernel.wrappers import NAMERS
from selfcorrect.model import JSON, Call, Extent, JsonObject, Safety
from selfcorrect.plain import canonical, loaded
from selfcorrect.text import LONGEST, tokens
from selfcorrect.words import singular

_LEVELS: Final = 8
_MOST_IN_CODE: Final = 20
NAMES: Final = (*NAMERS, "recipient_name", "api_name")
"""The keys of a tool's name; what is none of the usual ones has to hold that of an offered tool."""
ONE_CALL: Final = ("function", "functionCall", "function_call", "toolUse", "tool_use", "tool_call")
"""What one call is wrapped in; all else holds a message, or several."""
HOLDERS: Final = (
    *("tool_calls", "invalid_tool_calls", "function_calls", "tool_uses", "calls", "actions"),
    *ONE_CALL,
    *("message", "choices", "content", "parts", "candidates", "output", "additional_kwargs"),
)
"""The keys under which calls stand in the messages of providers and models."""


def whole(step: Step, raw: str) -> Cover:
    """How certain it is that a text makes the call that would run."""
    extents = sorted(step.extents, key=lambda one: (one.start, -one.end))
    for _ in range(_LEVELS):
        if (inner := unquoted(raw)) is None:
            break
        raw = inner
    text = spoken(raw, extents)
    found = list[Cover]()
    for span, group in groupby(extents, key=lambda one: (one.start, one.end)):
        found.append(_said(text, span, list(group), step))
        if found[-1].safety is None:
            return found[-1]
    behind = text[extents[-1].end :].strip() if extents else ""
    # One more call of the list was to come.
    if behind == "," and text.lstrip().startswith("[") and not step.ended:
        return Cover(None, GOES_ON)
    made = classes(text, extents, reads=not step.acts, edge=step.edge)
    key = key_of(step.runs)
    ours = [(one, safety) for one, safety in zip(extents, made, strict=True) if key_of(one) == key]
    if not any(safety for _, safety in ours):
        return Cover(None, text)
    kinds = [one for one in made if one]
    again = len({(one.start, one.end) for one, _ in ours}) > 1
    kinds += [Safety.INFERRED] if again else []
    return Cover(worst([*kinds, *(one.safety for one in found if one.safety)]))


def is_just(given: JSON, call: Call, keys: Collection[str] = ()) -> bool:
    """Whether an object, or its JSON text, is one call as it stands there, and nothing more.

    >>> pay = Call("pay", {"to": "ann"})
    >>> is_just({"name": "pay", "arguments": {"to": "ann"}}, pay)
    True
    >>> is_just({"name": "pay", "arguments": {"to": "ann"}, "approved": "no"}, pay)
    False
    """
    holding = _Holding([Extent(call.name, call.args)], keys, "mutating")
    left = holding.left(loaded(given), 0)
    return not left and holding.at == 1 and worst(holding.classes) is Safety.EXACT


def _said(text: str, span: tuple[int, int], calls: Sequence[Extent], step: Step) -> Cover:
    """Whether a piece of text is some calls, and nothing else."""
    piece, one, left = text[slice(*span)], calls[0], ""
    texts = list[tuple[Extent, Cover]]()
    if one.value is None or piece.lstrip()[:1] not in ("{", "["):
        found = covers_calls(piece, [(one.name, one.args or {})], acts=step.acts)
    else:
        found = covers(piece, one.value, acts=step.acts)
        holding = _Holding(calls, step.keys, step.effect)
        left = holding.left(one.value, 0) or ("" if holding.at >= len(calls) else text)
        safety = found.safety and worst([found.safety, *holding.classes])
        inside = _ends_inside(one.value, found.missing, calls[-1].args or {})
        found = replace(found, safety=safety, missing=inside)
        texts = holding.texts
    ends = [(one, cover, ended_all(step.ended, one.ended)) for one, cover in texts]
    if step.ended is False or not text[span[1] :].strip():
        ends.append((calls[-1], found, step.ended))
    for one, cover, ended in ends:
        # Of a call of another tool is asked when that call is to run.
        effect = step.effect if one.name == step.runs.name else "read_only"
        if cover.goes_on(effect, ended):
            return Cover(None, GOES_ON)
    return Cover(None, left) if left else found


def _ends_inside(value: Any, missing: int, args: JsonObject) -> bool:
    """Whether one of so many outermost containers in which a value ends is of the arguments."""
    while missing and isinstance(value, dict | list):
        items = [*(value.items() if isinstance(value, dict) else enumerate(value))]
        if value in (args, [args]) or any(each in items for each in args.items()):
            return True
        value, missing = items[-1][1] if items else None, missing - 1
    return False


class _Holding:
    """The calls that a value holds, in their order, as far as they were met."""

    def __init__(self, calls: Sequence[Extent], keys: Collection[str], effect: str) -> None:
        self.calls, self.keys, self.effect = calls, keys, effect
        self.acts = effect != "read_only"
        self.at = 0
        self.texts: list[tuple[Extent, Cover]] = []
        self.classes: list[Safety] = []

    def left(self, value: JSON, depth: int) -> str:
        """What of a value is none of the calls, and not known; empty if nothing."""
        if depth > _LEVELS:
            return "too deep"
        if isinstance(value, str):
            return self._in_code(value)
        if isinstance(value, list):
            for item in value:
                has_met, left = self._met(item, depth)
                if left and (has_met or not is_said(item)):
                    return left
            return ""
        if not isinstance(value, dict):
            return "" if value is None else canonical(value)
        meant = self._call(value)
        if meant is not None:
            self.at += 1
            return left_out(value, meant) or ""
        return self._held(value, depth)

    def _met(self, value: JSON, depth: int) -> tuple[bool, str]:
        """Whether a call was met in a value, and what of it is left."""
        before = self.at
        left = self.left(value, depth + 1)
        return self.at > before, left

    def _held(self, value: JsonObject, depth: int) -> str:
        """The same of an object around calls: a message, or a wrapper."""
        meant = list[str]()
        for key in filter(is_holder, value):
            has_met, left, inner = False, "", value[key]
            if key == "invalid_tool_calls" and isinstance(inner, list):
                # Their errors are about the text of their arguments.
                inner = [
                    each | {"error": None} if isinstance(each, dict) else each for each in inner
                ]
            if isinstance(inner, dict | list):
                has_met, left = self._met(inner, depth)
            if has_met and left:
                return left
            meant += [key] if has_met else []
        if not meant:
            return self._named(value)
        message = value.get("role") is not None or any(key not in ONE_CALL for key in meant)
        return left_out(value, (*meant, *self.keys), message=message) or ""

    def _named(self, value: JsonObject) -> str:
        """Calls under the names of their tools."""
        for key, item in value.items():
            call = self._next
            if call is None or call.name != key or self._gives(item, call.args) is None:
                return canonical(value)
            self.at += 1
        return ""

    @property
    def _next(self) -> Extent | None:
        return self.calls[self.at] if self.at < len(self.calls) else None

    def _call(self, value: JsonObject) -> set[str] | None:
        """The keys of an object that are the next call; None if it is another thing."""
        call = self._next
        if call is None or call.args is None:
            return None
        names = {key for key in (*NAMES, *self.keys) if _is_name(value.get(key), call.name)}
        given = [key for key in (*AROUND, *self.keys) if key in value and key not in names]
        for key in given:
            item = value[key]
            if not names and isinstance(item, dict):
                inner = {k for k in NAMES if _is_name(item.get(k), call.name)}
                # What is called so in the arguments may be a thing; nothing is destroyed for that.
                inner = inner if self.effect != "destructive" else set()
                if inner and {k: v for k, v in item.items() if k not in inner} == call.args:
                    self.classes.append(Safety.INFERRED)
                    return {key}
            beside = {k for k in call.args if k in value and k not in (key, *names)}
            rest = {k: v for k, v in call.args.items() if k not in beside}
            if not names or any(value[k] != call.args[k] for k in beside):
                continue
            if (safety := self._gives(item, rest)) is not None:
                self.classes += [safety, *([Safety.INFERRED] if beside else [])]
                echoes = {k for k in given if not value[k] or _is_echo(value[k], item)}
                return {key, *names, *beside, *echoes, *self.keys}
        is_beside = all(k in value and value[k] == v for k, v in call.args.items())
        if names and is_beside and not any(isinstance(value[key], dict) for key in given):
            self.classes += [Safety.INFERRED] if call.args else []
            return {*names, *call.args, *self.keys}
        return None

    def _gives(self, item: JSON, args: JSON) -> Safety | None:
        """How certain it is that what stands for arguments is these."""
        if item == args or (item is None and args == {}):
            return Safety.EXACT
        if isinstance(item, list):
            item = json.dumps(item, ensure_ascii=False)
        return self._read(covers(item, args, acts=self.acts)) if isinstance(item, str) else None

    def _read(self, found: Cover, count: int = 1) -> Safety | None:
        """Note what comes of a text that calls stand in, or the arguments of one."""
        self.texts += [(one, found) for one in self.calls[self.at :][:count]]
        return found.safety

    def _in_code(self, value: str) -> str:
        """Calls in code that are strings: `["find(q='x')"]`."""
        rest = [(one.name, one.args or {}) for one in self.calls[self.at :][:_MOST_IN_CODE]]
        for count in range(1, len(rest) + 1):
            found = covers_calls(value, rest[:count], acts=self.acts)
            said = self._read(found, count)
            if said is not None:
                self.classes.append(said)
                self.at += count
                return ""
        return value


def is_holder(key: str) -> bool:
    """Whether calls stand under a key, whatever the order and number of its words."""
    return key in HOLDERS or _words(key) in _HELD


def _words(key: str) -> frozenset[str]:
    return frozenset(singular(word) for word in tokens(key[:LONGEST]))


_HELD: Final = frozenset(map(_words, HOLDERS))


def _is_name(item: JSON, name: str) -> bool:
    """Whether a text is the name, but for what a chat template left behind it."""
    return isinstance(item, str) and name in (item, item.partition("<")[0].strip()) and name != ""


def _is_echo(item: JSON, given: JSON) -> bool:
    """Whether the same arguments stand here again, or the schema of some."""
    is_schema = isinstance(item, Mapping) and not {"properties", "type"}.isdisjoint(item)
    return item == given or is_schema
