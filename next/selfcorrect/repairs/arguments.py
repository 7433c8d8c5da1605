"""The one pass over the arguments of a call: composes readings, renamed keys and removed wrappers.

Only the primitives in `values` make values. Every written leaf is used once or named as a problem.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from selfcorrect.dictionary import vocabulary
from selfcorrect.model import ABSENT, JSON, Change, JsonObject, Safety, name_place
from selfcorrect.names import same_words
from selfcorrect.pointer import pointer
from selfcorrect.repairs.keys import Assignment, match_keys
from selfcorrect.schema.slot import Slot
from selfcorrect.text import names_secret
from selfcorrect.values.dates import name_day
from selfcorrect.values.nothing import is_empty, says_nothing
from selfcorrect.values.readings import SHAPES, Allow, readings
from selfcorrect.values.structures import nested

Keys: TypeAlias = tuple[str | int, ...]
_DEPTH: Final = 8
_WORK: Final = 1_000
"""Values that are looked at in one pass because they do not fit; beyond it nothing is repaired."""
_LISTED: Final = 200
"""Problems that are named."""
_RANKS: Final = {Safety.EXACT: 0, Safety.INFERRED: 1, Safety.LOSSY: 2}
WRAPPERS: Final = frozenset({"arguments", "args", "parameters", "params", "input", "tool_args"})
_PARTIAL: Final = frozenset({"parse-nested", "unwrap-value"})
_PLAIN: Final = re.compile(r"[\w.\-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps arguments from fitting.

    Attributes:
        path: The place.
        kind: What is wrong there.
        text: Why it was not repaired, for people.
    """

    path: str
    kind: Literal["missing", "extra", "invalid", "ambiguous"]
    text: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What became of a value, or of all arguments.

    Attributes:
        args: The value; the same object where nothing is changed.
        changes: What was changed, in order; each fits what the ones before it made.
        problems: What is still wrong.
    """

    args: JSON
    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def rank(self) -> tuple[int, int]:
        """How unsure the least sure change is, and how much of the shape is changed.

        A shape that is inferred is one reading among others: `1,234` is a number or a list.
        """
        worst = max((_RANKS[each.safety] for each in self.changes), default=0)
        shapes = (each for each in self.changes if each.strategy in SHAPES)
        return worst, sum(each.safety is Safety.EXACT for each in shapes)

    def is_torn(self, path: str) -> bool:
        """Say whether a place has two readings."""
        return any(each.kind == "ambiguous" and each.path == path for each in self.problems)


def repair_arguments(args: JSON, slot: Slot, allow: Allow, at: Sequence[str] = ()) -> Rewrite:
    """Repair arguments, or the value at one place of them, as far as the primitives reach.

    Args:
        args: All arguments, or the value at `at`.
        slot: The place that they stand in.
        allow: Which strategies and classes of changes are allowed.
        at: The keys of the place.

    >>> slot = Slot.of({"properties": {"n": {"type": "integer"}}})
    >>> allow = Allow(frozenset({"convert-type"}))
    >>> repair_arguments({"n": "5"}, slot, allow).args
    {'n': 5}
    """
    try:
        return _Pass(allow).value(args, slot, tuple(at))
    except _TooMuchError:
        return Rewrite(args, (), (Problem(pointer(*at), "invalid", "too much is wrong with it"),))


class _TooMuchError(Exception):
    """More is wrong than one pass looks at."""


class _Pass:
    """One pass: what is allowed, and how many values it has looked at."""

    def __init__(self, allow: Allow) -> None:
        self.allow = allow
        self.work = 0

    def value(self, written: JSON, slot: Slot, place: Keys, depth: int = 0) -> Rewrite:
        """Repair one value."""
        if slot.accepts(written):
            return Rewrite(written)
        self.work += 1
        if self.work > _WORK:
            raise _TooMuchError
        if depth > _DEPTH:
            return _problem(written, place, "invalid", "it is nested too deeply")
        ways = list(self.ways(written, slot, place, depth))
        good = [way for way in ways if not way.problems and slot.accepts(way.args)]
        if good:
            torn = [way for way in ways if way.is_torn(pointer(*place))]
            is_sure = not torn or min(way.rank for way in good) < (_RANKS[Safety.INFERRED], 0)
            return self.surest(written, good, place) if is_sure else torn[0]
        if place and is_empty(written):
            return _problem(written, place, "missing", "it is empty")
        return _nearest(written, ways, slot, place)

    def ways(self, written: JSON, slot: Slot, place: Keys, depth: int) -> Iterator[Rewrite]:
        """Yield the value as each way makes it."""
        for branch in slot.branches:
            yield self.value(written, branch, place, depth + 1)
        if isinstance(written, Mapping) and slot.takes("object") and slot.names_keys:
            yield (whole := self.object(written, slot, place, depth))
            if not whole.problems:
                return
        elif isinstance(written, list) and slot.takes("array") and slot.item is not None:
            yield self.items(written, slot, slot.item, place, depth)
        if slot.branches:
            return
        for found in readings(written, slot, self.allow):
            inner = self.value(found.value, slot, place, depth + 1)
            # Only what the text itself writes is worth reading in part.
            if not inner.problems or found.strategy in _PARTIAL:
                reason = _REASONS[found.strategy]
                change = _change(place, written, found.value, found.safety, found.strategy, reason)
                yield Rewrite(inner.args, (change, *inner.changes), inner.problems)

    def surest(self, written: JSON, good: Sequence[Rewrite], place: Keys) -> Rewrite:
        """Return the surest way; two that are as sure and differ are a refusal."""
        if len(good) == 1:
            return good[0]
        best = min(way.rank for way in good)
        rivals = {_canonical(way.args): way for way in reversed(good) if way.rank == best}
        if len(rivals) == 1:
            return next(iter(rivals.values()))
        meant = " or ".join(sorted(name_day(way.args) for way in rivals.values()))
        meant = "not clear" if names_secret(place) else meant
        return _problem(written, place, "ambiguous", f"{_show(written, place)} is {meant}")

    def items(
        self, written: list[JSON], slot: Slot, item: Slot, place: Keys, depth: int
    ) -> Rewrite:
        """Repair the items of a list."""
        first = [slot.at([str(at)]) for at in range(len(slot.view.get("prefixItems", ())))]
        parts = [
            self.value(each, first[at] if at < len(first) else item, (*place, at), depth + 1)
            for at, each in enumerate(written)
        ]
        return _join([part.args for part in parts], parts, written)

    def object(self, written: JsonObject, slot: Slot, place: Keys, depth: int) -> Rewrite:
        """Take off a wrapper, name the keys, repair the values, and tell what is missing."""
        if not place and (inner := self.unwrapped(written, slot)) is not ABSENT:
            reason = "all arguments stood in it"
            change = _change((), written, inner, Safety.EXACT, "unwrap-arguments", reason)
            rest = self.value(inner, slot, place, depth + 1)
            return replace(rest, changes=(change, *rest.changes))
        names = self.names(written, slot, depth)
        made: dict[str, JSON] = {}
        parts: list[Rewrite] = []
        for key, value in written.items():
            name = names.names.get(key, key)
            safety = self.emptiness(key, slot.properties.get(name), value, is_open=slot.is_open)
            if safety and key not in names.ties and self.allow.lets("drop-null", safety):
                drop = _change((*place, key), value, ABSENT, safety, "drop-null")
                parts.append(Rewrite(None, (drop,)))
                continue
            part = self.entry(key, name, value, slot, place, names, depth)
            made[name] = part.args
            parts.append(part)
        for name, each in slot.properties.items():
            if each.required and name not in made:
                parts.append(self.missing(name, each, place))
                if parts[-1].changes:
                    made[name] = parts[-1].args
        return _join(made, parts, written)

    def unwrapped(self, written: JsonObject, slot: Slot) -> JSON:
        """Return the arguments that stand in one wrapper, or `ABSENT`."""
        if len(written) != 1 or not self.allow.lets("unwrap-arguments", Safety.EXACT):
            return ABSENT
        (key, value), *_ = written.items()
        if key in slot.properties:
            return ABSENT
        if key.lower() in WRAPPERS:
            inner = nested(value) if isinstance(value, str) else value
            # Where any key is welcome, the wrapper may be one.
            is_ours = isinstance(inner, dict) and (
                not slot.is_open or not slot.properties.keys().isdisjoint(inner)
            )
            return inner if is_ours else ABSENT
        # A key that is the JSON text of known arguments, and says nothing beside it.
        inner = nested(key) if key[:1] == "{" and is_empty(value) else ABSENT
        return (
            inner if isinstance(inner, dict) and inner.keys() <= slot.properties.keys() else ABSENT
        )

    def names(self, written: JsonObject, slot: Slot, depth: int) -> Assignment:
        """Assign the keys that the object does not name to the arguments that are not there."""
        known = slot.properties
        if "rename-argument" not in self.allow.strategies:
            return Assignment()
        unknown = {key: value for key, value in written.items() if key not in known}
        free = {
            name: each
            for name, each in known.items()
            # Where any key is welcome, only need makes another one of it.
            if name not in written and (each.required or not slot.is_open)
        }
        if not unknown or not free:
            return Assignment()

        # A key is renamed where its value can be read at all, whoever reads it.
        whole = replace(self.allow, strategies=VALUE_STRATEGIES, classes=frozenset(_RANKS))

        def reads(value: JSON, hole: Slot) -> bool:
            if is_empty(value):
                # Whether it may be left out is a question to the argument that it stands for.
                return True
            probe = _Pass(whole)
            probe.work = self.work
            found = probe.value(value, hole, ("",), depth + 1)
            self.work = probe.work
            return not found.problems

        found = match_keys(
            unknown,
            free,
            acts=self.allow.acts,
            said=vocabulary(self.allow.description),
            reads=reads,
            synonyms=self.allow.key_synonyms,
        )
        allowed = self.allow.classes
        names = {key: to for key, to in found.names.items() if found.safety[key] in allowed}
        return replace(found, names=names)

    def emptiness(self, key: str, own: Slot | None, value: JSON, *, is_open: bool) -> Safety | None:
        """Return how sure it is that a value says nothing at a place that may be absent."""
        if own is not None and (own.required or own.accepts(value)):
            return None
        if own is not None and _is_default(value, own):
            # The author's default, which the schema itself refuses.
            return Safety.EXACT
        if not key.strip() and is_empty(value):
            return Safety.INFERRED
        if own is None and (is_open or not _PLAIN.fullmatch(key)):
            # A key of several words is content: `{"unless ann agrees": ""}`.
            return None
        if value is None:
            return Safety.EXACT
        if self.allow.acts or (own is not None and own.default not in (ABSENT, None)):
            # What is empty asks for no default, and on a tool that acts it is missing.
            return None
        # A word for nothing that is listed itself may be meant: `None` beside "none" and null.
        is_listed = own is not None and any(same_words(str(value), str(c)) for c in own.choices)
        says = says_nothing(value) and not is_listed if own is not None else is_empty(value)
        return Safety.INFERRED if says else None

    def entry(
        self,
        key: str,
        name: str,
        value: JSON,
        slot: Slot,
        place: Keys,
        names: Assignment,
        depth: int,
    ) -> Rewrite:
        """Repair one entry of an object under the name that it gets."""
        inner = (*place, name)
        if name in slot.properties:
            part = self.value(value, slot.properties[name], inner, depth + 1)
        elif slot.is_open:
            return self.value(value, slot.at([key]), inner, depth + 1)
        else:
            ties = " and ".join(f"`{each}`" for each in names.ties.get(key, ()))
            text = f"it may mean {ties}" if ties else f"no argument is named `{key[:80]}`"
            return _problem(value, inner, "ambiguous" if ties else "extra", text)
        if key == name:
            return part
        change = Change(
            *(pointer(*inner), ABSENT, value, names.safety[key], f"`{key[:80]}` is `{name}`"),
            moved_from=pointer(*place, key),
            strategy="rename-argument",
        )
        return replace(part, changes=(change, *part.changes))

    def missing(self, name: str, slot: Slot, place: Keys) -> Rewrite:
        """Fill in the default of a missing argument where that is allowed; else tell of it."""
        path = pointer(*place, name)
        default = self.allow.defaults.get(name_place(path), slot.default)
        if default is ABSENT or not self.allow.lets("default-value", Safety.LOSSY):
            return _problem(None, (*place, name), "missing", f"`{name}` is missing")
        change = _change((*place, name), ABSENT, default, Safety.LOSSY, "default-value")
        return Rewrite(default, (change,))


_REASONS: Final = {
    "convert-type": "as the type that is wanted",
    "correct-enum": "a listed value",
    "format-date": "as an ISO date",
    "format-time": "as an ISO time",
    "correct-format": "in the form that is wanted",
    "split-list": "a list, written as one text",
    "wrap-list": "a list of one",
    "unwrap-list": "the only item",
    "unwrap-value": "the value that it holds",
    "parse-nested": "the value that the text writes",
    "drop-null": "it says nothing",
    "default-value": "its default",
}
VALUE_STRATEGIES: Final = frozenset((_REASONS.keys() - {"default-value"}) | {"rename-argument"})


def _change(
    place: Keys, before: JSON, after: JSON, safety: Safety, strategy: str, reason: str = ""
) -> Change:
    why = reason or _REASONS[strategy]
    return Change(pointer(*place), before, after, safety, why, strategy=strategy)


def _problem(
    value: JSON, place: Keys, kind: Literal["missing", "extra", "invalid", "ambiguous"], text: str
) -> Rewrite:
    return Rewrite(value, (), (Problem(pointer(*place), kind, text),))


def _join(value: JSON, parts: Sequence[Rewrite], written: JSON) -> Rewrite:
    """Make one rewrite of those of the parts; where nothing is changed, what was written stays."""
    changes = tuple(change for part in parts for change in part.changes)
    problems = tuple(each for part in parts for each in part.problems)
    return Rewrite(value if changes else written, changes, problems)


def _nearest(written: JSON, ways: Sequence[Rewrite], slot: Slot, place: Keys) -> Rewrite:
    """Return the one way that helps in part; where there are several, none is taken."""
    useful = [way for way in ways if way.changes]
    found = useful or [way for way in ways if way.problems]
    if len(found) == 1 or (found and not useful and not slot.branches):
        way = found[0]
        if way.problems:
            return replace(way, problems=way.problems[:_LISTED])
        return replace(way, problems=(Problem(pointer(*place), "invalid", "it does not fit"),))
    for way in ways:
        if any(each.kind == "ambiguous" for each in way.problems):
            return Rewrite(written, (), way.problems)
    return _problem(written, place, "invalid", f"{_show(written, place)} has no form that fits")


def _is_default(value: JSON, slot: Slot) -> bool:
    # For Python, 1 is True.
    return slot.default is not ABSENT and _canonical(value) == _canonical(slot.default)


def _canonical(value: JSON) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _show(value: JSON, place: Keys) -> str:
    if names_secret(place):
        return "its value"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value[:60] if isinstance(value, str) else value, ensure_ascii=False)
