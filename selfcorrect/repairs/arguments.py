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
from selfcorrect.schema.place import Place
from selfcorrect.values.dates import name_day
from selfcorrect.values.nothing import is_empty, says_nothing
from selfcorrect.values.primitives import EVERY, PRIMITIVES
from selfcorrect.values.readings import Permission, readings
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
        path: The position.
        kind: What is wrong there.
        text: Why it was not repaired, for people.
    """

    path: str
    kind: Kind
    text: str


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


def repair_arguments(
    args: JSON, place: Place, allow: Permission, at: Sequence[str] = ()
) -> Rewrite:
    """Repair arguments, or the value at one position of them, as far as the primitives reach.

    Args:
        args: All arguments, or the value at `at`.
        place: The position that they stand in.
        allow: Which strategies and classes of changes are allowed.
        at: The keys of the position.

    >>> place = Place.of({"properties": {"n": {"type": "integer"}}})
    >>> allow = Permission({"convert-type": {}})
    >>> repair_arguments({"n": "5"}, place, allow).args
    {'n': 5}
    """
    position = _Position(place, tuple(at))
    try:
        return _Pass(allow, iter(range(_WORK))).value(args, position)
    except _TooMuchError:
        return position.refuse(args, "invalid", "too much is wrong with it")


class _TooMuchError(Exception):
    """More is wrong than one pass looks at."""


class _Position(NamedTuple):
    """A position in the call, and how many readings, branches and keys lead to it."""

    place: Place
    keys: tuple[str | int, ...]
    depth: int = 0

    def inside(self, place: Place, *keys: str | int) -> "_Position":
        """Return a position inside this one; without a key, this one as another schema sees it."""
        return _Position(place, self.keys + keys, self.depth + 1)

    def change(
        self, before: JSON, after: JSON, safety: Safety, strategy: str, reason: str = ""
    ) -> Change:
        """Return a change of the value that stands here."""
        why = reason or PRIMITIVES[strategy].reason
        return Change(pointer(*self.keys), before, after, safety, why, strategy=strategy)

    def refuse(self, value: JSON, kind: Kind, text: str) -> Rewrite:
        """Leave the value that stands here as it is, and say why."""
        return Rewrite(value, (), (Problem(pointer(*self.keys), kind, text),))

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

    allow: Permission
    work: Iterator[int]

    def value(self, written: JSON, position: _Position) -> Rewrite:
        """Repair one value."""
        if position.place.accepts(written):
            return Rewrite(written)
        # Each way to read a long list looks at all of it.
        size = len(written) // 100 if isinstance(written, Mapping | list) else 0
        if len(list(islice(self.work, 1 + size))) <= size:
            raise _TooMuchError
        if position.depth > _DEPTH:
            return position.refuse(written, "invalid", "it is nested too deeply")
        rewrites = list(self.rewrites(written, position))
        good = [
            each for each in rewrites if not each.problems and position.place.accepts(each.args)
        ]
        if good:
            return self.surest(written, good, rewrites, position)
        if position.keys and is_empty(written):
            return position.refuse(written, "missing", "it is empty")
        return _nearest(written, rewrites, position)

    def rewrites(self, written: JSON, position: _Position) -> Iterator[Rewrite]:
        """Yield what each branch, the parts, and each reading make of the value."""
        place = position.place
        for branch in _branches(written, place):
            yield self.value(written, position.inside(branch))
        if isinstance(written, Mapping) and place.takes("object") and place.names_keys:
            yield (whole := self.object(written, position))
            if not whole.problems:
                return
        elif isinstance(written, list) and place.takes("array") and place.item is not None:
            yield self.items(written, position)
        if place.branches:
            return
        for reading in readings(written, place, self.allow):
            inner = self.value(reading.value, position.inside(place))
            # Only what the text itself writes is worth reading in part.
            if not inner.problems or reading.strategy in _PARTIAL:
                change = position.change(written, reading.value, reading.safety, reading.strategy)
                yield Rewrite(inner.args, (change, *inner.changes), inner.problems)

    def surest(
        self,
        written: JSON,
        good: Sequence[Rewrite],
        rewrites: Sequence[Rewrite],
        position: _Position,
    ) -> Rewrite:
        """Return the surest rewrite; two that are as sure and differ are a refusal."""
        best = min(each.rank for each in good)
        path = pointer(*position.keys)
        # What is inferred is no surer than a branch that has two values for the same place.
        for rewrite in rewrites if best[0] else ():
            if any((each.kind, each.path) == ("ambiguous", path) for each in rewrite.problems):
                return rewrite
        rivals = {canonical(each.args): each for each in reversed(good) if each.rank == best}
        first, *others = rivals.values()
        if not others:
            return first
        meant = " or ".join(sorted(name_day(each.args) for each in rivals.values()))
        meant = "not clear" if names_secret(position.keys) else meant
        return position.refuse(written, "ambiguous", f"{position.show(written)} is {meant}")

    def items(self, written: list[JSON], position: _Position) -> Rewrite:
        """Repair the items of a list."""
        parts = [
            self.value(each, position.inside(position.place.at([str(at)]), at))
            for at, each in enumerate(written)
        ]
        return _join([part.args for part in parts], parts, written)

    def object(self, written: JsonObject, position: _Position) -> Rewrite:
        """Take off a wrapper, name the keys, repair the values, and tell what is missing."""
        place = position.place
        if not position.keys and (inner := self.unwrapped(written, place)) is not ABSENT:
            change = position.change(written, inner, Safety.EXACT, "unwrap-arguments")
            rest = self.value(inner, position.inside(place))
            return replace(rest, changes=(change, *rest.changes))
        names = self.names(written, position)
        parts = {
            names.names.get(key, key): self.entry(key, value, names, position)
            for key, value in written.items()
        }
        for name, each in place.properties.items():
            if each.required and name not in parts:
                parts[name] = self.missing(position.inside(each, name))
        args = {name: part.args for name, part in parts.items() if part.args is not ABSENT}
        return _join(args, parts.values(), written)

    def unwrapped(self, written: JsonObject, place: Place) -> JSON:
        """Return the arguments that stand in one wrapper, or `ABSENT`."""
        if len(written) != 1 or not self.allow.lets("unwrap-arguments", Safety.EXACT):
            return ABSENT
        (key, value), *_ = written.items()
        if key.lower() in WRAPPERS:
            inner = nested(value) if isinstance(value, str) else value
        else:
            # A key that is the JSON text of the arguments, and says nothing beside it.
            inner = nested(key) if key[:1] == "{" and is_empty(value) else ABSENT
        # Where any key is welcome, the wrapper may be one.
        names = place.properties.keys()
        is_ours = isinstance(inner, dict) and not (place.is_open and names.isdisjoint(inner))
        return inner if is_ours and key not in names else ABSENT

    def names(self, written: JsonObject, position: _Position) -> Assignment:
        """Assign the keys that the object does not name to the arguments that are not there."""
        properties = position.place.properties
        unknown = {key: value for key, value in written.items() if key not in properties}
        free = {
            name: each
            for name, each in properties.items()
            # An object that takes any key keeps its own, unless a required argument is missing.
            if name not in written and (each.required or not position.place.is_open)
        }
        if not unknown or not free or "rename-argument" not in self.allow.strategies:
            return Assignment({}, {}, {})

        # A key is renamed where its value can be read at all, whoever reads it.
        whole = replace(self.allow, strategies=EVERY, classes=SURE)
        probe = _Pass(whole, self.work)

        def reads(value: JSON, place: Place) -> bool:
            # Whether what is empty may be left out is a question to the argument that is meant.
            return is_empty(value) or not probe.value(value, position.inside(place, "")).problems

        assigned = match_keys(
            unknown,
            free,
            acts=self.allow.acts,
            terms=vocabulary(self.allow.description),
            reads=reads,
            synonyms=self.allow.words("rename-argument"),
        )
        allowed = self.allow.classes
        names = {key: to for key, to in assigned.names.items() if assigned.safety[key] in allowed}
        return replace(assigned, names=names)

    def entry(self, key: str, value: JSON, assigned: Assignment, position: _Position) -> Rewrite:
        """Leave out one entry of an object, or repair it under the name that it gets."""
        place, name = position.place, assigned.names.get(key, key)
        own = place.properties.get(name)
        written = position.inside(place, key)
        ties = assigned.ties.get(key, ())
        safety = None if ties else self.emptiness(key, own, value, is_open=place.is_open)
        if safety and self.allow.lets("drop-null", safety):
            return Rewrite(ABSENT, (written.change(value, ABSENT, safety, "drop-null"),))
        if own is None and not place.is_open:
            if ties:
                text = f"it may mean {' and '.join(f'`{each}`' for each in ties)}"
                return written.refuse(value, "ambiguous", text)
            return written.refuse(value, "extra", f"no argument is named `{key[:80]}`")
        meant = position.inside(place.at([name]), name)
        part = self.value(value, meant)
        if key == name:
            return part
        reason = f"`{key[:80]}` is `{name}`"
        change = meant.change(ABSENT, value, assigned.safety[key], "rename-argument", reason)
        change = replace(change, moved_from=pointer(*written.keys))
        return replace(part, changes=(change, *part.changes))

    def emptiness(
        self, key: str, own: Place | None, value: JSON, *, is_open: bool
    ) -> Safety | None:
        """Return how sure it is that a value says nothing at a position that may be absent."""
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

    def missing(self, position: _Position) -> Rewrite:
        """Fill in the default of a missing argument where that is allowed; else tell of it."""
        own = position.place
        default = self.allow.words("default-value").get(
            name_place(pointer(*position.keys)), own.default
        )
        if default is ABSENT or not self.allow.lets("default-value", Safety.LOSSY):
            return position.refuse(ABSENT, "missing", f"`{own.name}` is missing")
        return Rewrite(default, (position.change(ABSENT, default, Safety.LOSSY, "default-value"),))


def _join(value: JSON, parts: Collection[Rewrite], written: JSON) -> Rewrite:
    """Make one rewrite of those of the parts; where nothing is changed, what was written stays."""
    changes = tuple(change for part in parts for change in part.changes)
    problems = (each for part in parts for each in part.problems)
    return Rewrite(value if changes else written, changes, tuple(islice(problems, _LISTED)))


def _branches(written: JSON, place: Place) -> Sequence[Place]:
    """Return the branches of a union that a value may mean: one where an object says which."""
    if place.tag is None or not isinstance(written, Mapping) or place.tag[0] not in written:
        return place.branches
    meant = place.meant(written)
    return () if meant is None else (meant,)


def _nearest(written: JSON, rewrites: Sequence[Rewrite], position: _Position) -> Rewrite:
    """Return the one rewrite that helps in part; where there are several, none is taken."""
    branches = _branches(written, position.place)
    if (meant := position.place.meant(written)) in branches:
        rewrites = [rewrites[branches.index(meant)]]
    useful = [each for each in rewrites if each.changes]
    useful = useful or [each for each in rewrites if each.problems]
    if len(useful) == 1:
        unfit = position.refuse(written, "invalid", "it does not fit").problems
        return replace(useful[0], problems=useful[0].problems or unfit)
    for rewrite in rewrites:
        if any(each.kind == "ambiguous" for each in rewrite.problems):
            return replace(rewrite, args=written, changes=())
    return position.refuse(written, "invalid", f"{position.show(written)} has no form that fits")


@lru_cache(maxsize=64)
def _letters_of(place: Place) -> frozenset[str]:
    """Return the listed values by their letters; there may be thousands."""
    return frozenset(letters(str(each)) for each in place.choices) - {""}
