"""Some edges as a strategy that maps can name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import is_
from typing import ClassVar

from selfcorrect.kernel.verdicts import FOLLOWS
from selfcorrect.mending.choice import Edge, Priced, Refusal, valued
from selfcorrect.mending.cost import PRICES, priced
from selfcorrect.mending.place import Way, is_of_keys, levels_of, moved
from selfcorrect.model import Call, Change, Changed, Diagnosis, Finding, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, place_of, present
from selfcorrect.schema.subschema import same


@dataclass(frozen=True)
class EdgeSet(ABC):
    """Mends the place of a finding: brings a value there, or makes of the value what fits.

    The sets of edges on one ladder search together, unless `joins` is off.

    Attributes:
        costs: Prices of edits, in place of those in the table of costs; 10 switches one off.
    """

    needs: ClassVar[str] = "nothing"
    safety: ClassVar[tuple[Safety, ...]] = FOLLOWS

    name: ClassVar[str]
    joins: ClassVar[bool] = True

    costs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a price of something that is no edit.

        Raises:
            ValueError: If the table of costs does not have it.
        """
        priced(self.costs)

    @property
    def prices(self) -> Mapping[str, float]:
        """The price of every edit here."""
        return priced(self.costs) if self.costs else PRICES

    @property
    @abstractmethod
    def edges(self) -> tuple[Edge, ...]:
        """The edges of this set between values."""

    @property
    def way(self) -> Way | None:
        """How this set brings a value to its place, if it does."""
        return None

    def place(self, call: Call, finding: Finding, context: RepairContext) -> Place | GiveUp:
        """The place that a finding speaks of, or why there is none to mend."""
        return present(call, finding, context)

    @cached_property
    def priced(self) -> tuple[Priced, ...]:
        """The edges with their prices, in the name of this set."""
        return tuple(Priced(edge, self.prices, self.name) for edge in self.edges)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Mend what the first finding speaks of, by an edge of this set or of one beside it."""
        sets = [one for one in context.beside if isinstance(one, EdgeSet) and one.joins] or [self]
        found = _search(
            _Asked(call, diagnosis.findings, context, tuple(sets), self.way is not None)
        )
        if isinstance(found, Refusal):
            why = found.by.get(self.name, found)
            return GiveUp(str(why), why.readings)
        again = ((old, one) for old in context.refused for one in found if old.path == one.path)
        if any(same(old.after, one.after) for old, one in again):
            return GiveUp("the policy does not let run what the value would become")
        return Changed(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A question to a search, compared by identity, so that sets of one ladder search once."""

    call: Call
    findings: tuple[Finding, ...]
    context: RepairContext
    sets: tuple[EdgeSet, ...]
    moves: bool

    def __hash__(self) -> int:
        return hash((id(self.call), self.findings[0].paths))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Asked)
            and other.call is self.call
            and other.moves is self.moves
            and _are_same(other.findings, self.findings)
            and _are_same(other.sets, self.sets)
        )


def _are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


@lru_cache(maxsize=16)
def _search(asked: _Asked) -> tuple[Change, ...] | Refusal:
    """What brings a value to the place of a finding, or makes of the value there what fits."""
    call, context = asked.call, asked.context
    places = [place_of(call, finding, context) for finding in asked.findings]
    ways = [(one.name, way) for one in asked.sets if (way := one.way) is not None]
    first = places[0]
    if asked.moves and not isinstance(first, GiveUp) and is_of_keys(first):
        levels = levels_of(place for place in places if isinstance(place, Place))
        return moved(levels, ways)
    edges = {id(one.edge): one for each in reversed(asked.sets) for one in each.priced}
    why: Refusal | None = None
    for finding in asked.findings:
        place = asked.sets[0].place(call, finding, context)
        if isinstance(place, GiveUp):
            found: tuple[Change] | Refusal = Refusal(place.reason, {})
        else:
            found = valued(place, tuple(reversed(edges.values())), lists=asked.moves)
        if not isinstance(found, Refusal):
            return found
        why = why or found
    return why or Refusal("there is nothing to mend", {})
