"""The one pass over the arguments of a call: composes readings, renamed keys and removed wrappers.

Only the primitives in `values` make values. Every written leaf is used once or named as a problem.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from selfcorrect.effects.equal import canonical
from selfcorrect.model import ABSENT, JSON, Change, JsonObject, Safety, frozen, name_place
from selfcorrect.names.arguments import Assignment, match_keys
from selfcorrect.names.dictionary import vocabulary
from selfcorrect.names.letters import letters
from selfcorrect.pointer import pointer
from selfcorrect.redaction import names_secret
from selfcorrect.schema.slot import Slot
from selfcorrect.values.dates import name_day
from selfcorrect.values.nothing import is_empty, says_nothing
from selfcorrect.values.primitives import EVERY, PRIMITIVES
from selfcorrect.values.readings import Allow, applicable, readings
from selfcorrect.values.structures import nested

Kind: TypeAlias = Literal["missing", "extra", "invalid", "ambiguous"]
_DEPTH = 8
_WORK = 1_000
"""Values that are looked at in one pass because they do not fit; beyond it nothing is repaired."""
_LISTED = 200
"""Problems that are named."""
SURE = frozenset({Safety.EXACT, Safety.INFERRED})
WRAPPERS = frozenset({"arguments", "args", "parameters", "params", "input", "tool_args"})
_PARTIAL = frozenset({"parse-nested", "unwrap-value"})
_PLAIN = re.compile(r"[\w.\-]+")


@frozen
class Problem:
    """What keeps arguments from fitting.

    Attributes:
        path: The place.
        kind: What is wrong there.
        text: Why it was not repaired, for people.
        strategies: Those that looked at it.
    """

    path: str
    kind: Kind
    text: str
    strategies: tuple[str, ...] = ()


@frozen
class Rewrite:
    """What became of a value, or of all arguments.

    Attributes:
        args: The value; the same object where nothing is changed, `ABSENT` where there is none.
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
        surest_first = [*Safety]
        worst = max((surest_first.index(each.safety) for each in self.changes), default=0)
        shapes = (each for each in self.changes if PRIMITIVES[str(each.strategy)].is_shape)
        return worst, sum(each.safety is Safety.EXACT for each in shapes)


def repair_arguments(args: JSON, slot: Slot, allow: Allow, at: Sequence[str] = ()) -> Rewrite:
    """Repair arguments, or the value at one place of them, as far as the primitives reach.

    Args:
        args: All arguments, or the value at `at`.
        slot: The place that they stand in.
        allow: Which strategies and classes of changes are allowed.
        at: The keys of the place.

    >>> slot = Slot.of({"properties": {"n": {"type": "integer"}}})
    >>> allow = Allow((PRIMITIVES["convert-type"],))
    >>> repair_arguments({"n": "5"}, slot, allow).args
    {'n': 5}
    """
    place = _Place(slot, tuple(at))
    try:
        return _Pass(allow, iter(range(_WORK))).value(args, place)
    except _TooMuchError:
        names = [each.name for each in allow.strategies]
        return place.refuse(args, "invalid", "too much is wrong with it", *names)


class _TooMuchError(Exception):
    """More is wrong than one pass looks at."""


class _Place(NamedTuple):
    """A place in the call, and how many readings, branches and keys lead to it."""

    slot: Slot
    keys: tuple[str | int, ...]
    depth: int = 0

    def inside(self, slot: Slot, *keys: str | int) -> "_Place":
        """Return a place inside this one; without a key, this one as another schema sees it."""
        return _Place(slot, self.keys + keys, self.depth + 1)

    def change(
        self, before: JSON, after: JSON, safety: Safety, strategy: str, reason: str = ""
    ) -> Change:
        """Return a change of the value that stands here."""
        why = reason or PRIMITIVES[strategy].reason
        return Change(pointer(*self.keys), before, after, safety, why, strategy=strategy)

    def refuse(self, value: JSON, kind: Kind, text: str, *strategies: str) -> Rewrite:
        """Leave the value that stands here as it is, and say why, and who looked at it."""
        return Rewrite(value, (), (Problem(pointer(*self.keys), kind, text, strategies),))

    def show(self, value: JSON) -> str:
        """Name the value that stands here, for people."""
        if names_secret(self.keys):
            return "its value"
        if isinstance(value, dict | list):
            return "an object" if isinstance(value, dict) else "a list"
        short = value[:60] if isinstance(value, str) else value
        return json.dumps(short, ensure_ascii=False, default=str)


@frozen
class _Pass:
    """One pass: what is allowed, and how many more values it looks at."""

    allow: Allow
    work: Iterator[int]

    def value(self, written: JSON, place: _Place) -> Rewrite:
        """Repair one value."""
        if place.slot.accepts(written):
            return Rewrite(written)
        # Each way to read a long list looks at all of it.
        size = len(written) // 100 if isinstance(written, Mapping | list) else 0
        if len(list(islice(self.work, 1 + size))) <= size:
            raise _TooMuchError
        names = applicable(written, place.slot, self.allow)
        if place.depth > _DEPTH:
            return place.refuse(written, "invalid", "it is nested too deeply", *names)
        ways = list(self.ways(written, place))
        good = [way for way in ways if not way.problems and place.slot.accepts(way.args)]
        if good:
            return self.surest(written, good, ways, place)
        if place.keys and is_empty(written):
            return place.refuse(written, "missing", "it is empty", *names)
        return _nearest(written, ways, place, names)

    def ways(self, written: JSON, place: _Place) -> Iterator[Rewrite]:
        """Yield the value as each way makes it."""
        slot = place.slot
        for branch in _branches(written, slot):
            yield self.value(written, place.inside(branch))
        if isinstance(written, Mapping) and slot.takes("object") and slot.names_keys:
            yield (whole := self.object(written, place))
            if not whole.problems:
                return
        elif isinstance(written, list) and slot.takes("array") and slot.item is not None:
            yield self.items(written, place)
        if slot.branches:
            return
        for found in readings(written, slot, self.allow):
            inner = self.value(found.value, place.inside(slot))
            # Only what the text itself writes is worth reading in part.
            if not inner.problems or found.strategy in _PARTIAL:
                change = place.change(written, found.value, found.safety, found.strategy)
                yield Rewrite(inner.args, (change, *inner.changes), inner.problems)

    def surest(
        self, written: JSON, good: Sequence[Rewrite], ways: Sequence[Rewrite], place: _Place
    ) -> Rewrite:
        """Return the surest way; two that are as sure and differ are a refusal."""
        best = min(way.rank for way in good)
        path = pointer(*place.keys)
        # A way that is torn between two values is a rival of every way that is inferred.
        for way in ways if best[0] else ():
            if any((each.kind, each.path) == ("ambiguous", path) for each in way.problems):
                return way
        rivals = {canonical(way.args): way for way in reversed(good) if way.rank == best}
        if len(rivals) == 1:
            return next(iter(rivals.values()))
        meant = " or ".join(sorted(name_day(way.args) for way in rivals.values()))
        meant = "not clear" if names_secret(place.keys) else meant
        names = {str(change.strategy): 0 for way in rivals.values() for change in way.changes}
        return place.refuse(written, "ambiguous", f"{place.show(written)} is {meant}", *names)

    def items(self, written: list[JSON], place: _Place) -> Rewrite:
        """Repair the items of a list."""
        parts = [
            self.value(each, place.inside(place.slot.at([str(at)]), at))
            for at, each in enumerate(written)
        ]
        return _join([part.args for part in parts], parts, written)

    def object(self, written: JsonObject, place: _Place) -> Rewrite:
        """Take off a wrapper, name the keys, repair the values, and tell what is missing."""
        slot = place.slot
        if not place.keys and (inner := self.unwrapped(written, slot)) is not ABSENT:
            change = place.change(written, inner, Safety.EXACT, "unwrap-arguments")
            rest = self.value(inner, place.inside(slot))
            return replace(rest, changes=(change, *rest.changes))
        names = self.names(written, place)
        parts = {
            names.names.get(key, key): self.entry(key, value, names, place)
            for key, value in written.items()
        }
        for name, each in slot.properties.items():
            if each.required and name not in parts:
                parts[name] = self.missing(place.inside(each, name))
        made = {name: part.args for name, part in parts.items() if part.args is not ABSENT}
        return _join(made, parts.values(), written)

    def unwrapped(self, written: JsonObject, slot: Slot) -> JSON:
        """Return the arguments that stand in one wrapper, or `ABSENT`."""
        if len(written) != 1 or not self.allow.lets("unwrap-arguments", Safety.EXACT):
            return ABSENT
        known = slot.properties.keys()
        (key, value), *_ = written.items()
        if key.lower() in WRAPPERS:
            inner = nested(value) if isinstance(value, str) else value
        else:
            # A key that is the JSON text of the arguments, and says nothing beside it.
            inner = nested(key) if key[:1] == "{" and is_empty(value) else ABSENT
        # Where any key is welcome, the wrapper may be one.
        is_ours = isinstance(inner, dict) and not (slot.is_open and known.isdisjoint(inner))
        return inner if is_ours and key not in known else ABSENT

    def names(self, written: JsonObject, place: _Place) -> Assignment:
        """Assign the keys that the object does not name to the arguments that are not there."""
        known = place.slot.properties
        unknown = {key: value for key, value in written.items() if key not in known}
        free = {
            name: each
            for name, each in known.items()
            # Where any key is welcome, only need makes another one of it.
            if name not in written and (each.required or not place.slot.is_open)
        }
        if not unknown or not free or self.allow.find("rename-argument") is None:
            return Assignment({}, {}, {})

        # A key is renamed where its value can be read at all, whoever reads it.
        whole = replace(self.allow, strategies=EVERY, classes=SURE)
        probe = _Pass(whole, self.work)

        def reads(value: JSON, hole: Slot) -> bool:
            # Whether what is empty may be left out is a question to the argument that is meant.
            return is_empty(value) or not probe.value(value, place.inside(hole, "")).problems

        found = match_keys(
            unknown,
            free,
            acts=self.allow.acts,
            said=vocabulary(self.allow.description),
            reads=reads,
            synonyms=self.allow.words("rename-argument"),
        )
        allowed = self.allow.classes
        names = {key: to for key, to in found.names.items() if found.safety[key] in allowed}
        return replace(found, names=names)

    def entry(self, key: str, value: JSON, assigned: Assignment, place: _Place) -> Rewrite:
        """Leave out one entry of an object, or repair it under the name that it gets."""
        slot, name = place.slot, assigned.names.get(key, key)
        own = slot.properties.get(name)
        written = place.inside(slot, key)
        ties = assigned.ties.get(key, ())
        safety = None if ties else self.emptiness(key, own, value, is_open=slot.is_open)
        if safety and self.allow.lets("drop-null", safety):
            return Rewrite(ABSENT, (written.change(value, ABSENT, safety, "drop-null"),))
        if own is None and not slot.is_open:
            if ties:
                text = f"it may mean {' and '.join(f'`{each}`' for each in ties)}"
                return written.refuse(value, "ambiguous", text, "rename-argument")
            names = ["rename-argument", *(["drop-null"] if is_empty(value) else [])]
            return written.refuse(value, "extra", f"no argument is named `{key[:80]}`", *names)
        meant = place.inside(slot.at([name]), name)
        part = self.value(value, meant)
        if key == name:
            return part
        reason = f"`{key[:80]}` is `{name}`"
        change = meant.change(ABSENT, value, assigned.safety[key], "rename-argument", reason)
        change = replace(change, moved_from=pointer(*written.keys))
        return replace(part, changes=(change, *part.changes))

    def emptiness(self, key: str, own: Slot | None, value: JSON, *, is_open: bool) -> Safety | None:
        """Return how sure it is that a value says nothing at a place that may be absent."""
        if own is None:
            if not key.strip() and is_empty(value):
                return Safety.INFERRED
            # A key of several words is content: `{"unless ann agrees": ""}`.
            says = is_empty(value) and not is_open and _PLAIN.fullmatch(key) is not None
        elif own.required or own.accepts(value):
            return None
        elif own.default is not ABSENT and canonical(value) == canonical(own.default):
            # The author's default, which the schema itself refuses. For Python, 1 is True.
            return Safety.EXACT
        else:
            # A word for nothing that is listed itself may be meant: `None` beside "none" and null.
            is_word = says_nothing(value) and letters(str(value)) not in _letters_of(own)
            # What is empty asks for no default.
            says = value is None or (is_word and own.default in (ABSENT, None))
        if says and value is None:
            return Safety.EXACT
        # On a tool that acts, what is empty is missing.
        return Safety.INFERRED if says and not self.allow.acts else None

    def missing(self, place: _Place) -> Rewrite:
        """Fill in the default of a missing argument where that is allowed; else tell of it."""
        own = place.slot
        default = self.allow.words("default-value").get(
            name_place(pointer(*place.keys)), own.default
        )
        if default is ABSENT or not self.allow.lets("default-value", Safety.LOSSY):
            names = ("rename-argument", "default-value")
            return place.refuse(ABSENT, "missing", f"`{own.name}` is missing", *names)
        return Rewrite(default, (place.change(ABSENT, default, Safety.LOSSY, "default-value"),))


def _join(value: JSON, parts: Collection[Rewrite], written: JSON) -> Rewrite:
    """Make one rewrite of those of the parts; where nothing is changed, what was written stays."""
    changes = tuple(change for part in parts for change in part.changes)
    problems = (each for part in parts for each in part.problems)
    return Rewrite(value if changes else written, changes, tuple(islice(problems, _LISTED)))


def _branches(written: JSON, slot: Slot) -> Sequence[Slot]:
    """Return the branches of a union that a value may mean: one where an object says which."""
    if slot.tag is None or not isinstance(written, Mapping) or slot.tag[0] not in written:
        return slot.branches
    meant = slot.meant(written)
    return () if meant is None else (meant,)


def _nearest(
    written: JSON, ways: Sequence[Rewrite], place: _Place, names: Sequence[str]
) -> Rewrite:
    """Return the one way that helps in part; where there are several, none is taken."""
    branches = _branches(written, place.slot)
    if (meant := place.slot.meant(written)) in branches:
        ways = [ways[branches.index(meant)]]
    useful = [way for way in ways if way.changes]
    found = useful or [way for way in ways if way.problems]
    if len(found) == 1 or (found and not useful and not branches):
        way = found[0]
        unfit = place.refuse(written, "invalid", "it does not fit", *names).problems
        return replace(way, problems=way.problems or unfit)
    for way in ways:
        if any(each.kind == "ambiguous" for each in way.problems):
            return Rewrite(written, (), way.problems)
    return place.refuse(written, "invalid", f"{place.show(written)} has no form that fits", *names)


@lru_cache(maxsize=64)
def _letters_of(slot: Slot) -> frozenset[str]:
    """Return the listed values by their letters; there may be thousands."""
    return frozenset(letters(str(each)) for each in slot.choices) - {""}
