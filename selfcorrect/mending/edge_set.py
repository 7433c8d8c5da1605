"""Some edges as a strategy that maps can name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import ClassVar

from selfcorrect.mending.choice import Edge, Priced, Refusal, choose
from selfcorrect.mending.cost import PRICES, priced
from selfcorrect.model import Call, Change, Changed, Diagnosis, Finding, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, present
from selfcorrect.schema.subschema import same


@dataclass(frozen=True)
class EdgeSet(ABC):
    """Puts at the place of a finding what the cheapest edge makes of the value there.

    The sets of edges on one ladder search together, unless `joins` is off.

    Attributes:
        costs: Prices of edits, in place of those in the table of costs; 10 switches one off.
    """

    needs: ClassVar[str] = "nothing"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)

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
        """The edges of this set."""

    def place(self, call: Call, finding: Finding, context: RepairContext) -> Place | GiveUp:
        """The place that a finding speaks of, or why there is none to mend."""
        return present(call, finding, context)

    @cached_property
    def priced(self) -> tuple[Priced, ...]:
        """The edges with their prices, in the name of this set."""
        return tuple(Priced(edge, self.prices, self.name) for edge in self.edges)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Mend the value at the first finding, by an edge of this set or of one beside it."""
        sets = [one for one in context.beside if isinstance(one, EdgeSet) and one.joins] or [self]
        found = _search(_Asked(call, diagnosis.finding, context, tuple(sets)))
        if isinstance(found, Refusal):
            why = found.by.get(self.name, found)
            return GiveUp(str(why), why.readings)
        if any(_is_same(old, found) for old in context.refused):
            return GiveUp("the policy does not let run what the value would become")
        return Changed(found)


def _is_same(one: Change, other: Change) -> bool:
    """Whether two changes put the same value at the same place, as surely."""
    alike = one.path == other.path and one.safety is other.safety
    return alike and same(one.after, other.after)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A question to a search, compared by identity, so that sets of one ladder search once."""

    call: Call
    finding: Finding
    context: RepairContext
    sets: tuple[EdgeSet, ...]

    def __hash__(self) -> int:
        return hash((id(self.call), self.finding.paths))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Asked)
            and other.call is self.call
            and other.finding is self.finding
            and len(other.sets) == len(self.sets)
            and all(ours is theirs for ours, theirs in zip(self.sets, other.sets, strict=True))
        )


@lru_cache(maxsize=16)
def _search(asked: _Asked) -> Change | Refusal:
    """What the cheapest edge of some sets makes of the value at a finding."""
    place = asked.sets[0].place(asked.call, asked.finding, asked.context)
    if isinstance(place, GiveUp):
        return Refusal(place.reason, {})
    edges = {id(one.edge): one for each in reversed(asked.sets) for one in each.priced}
    found = choose(place, reversed(edges.values()))
    if isinstance(found, Refusal):
        return found
    (change,) = place.put(found.fit.value, found.fit.safety, found.fit.reason).changes
    return replace(change, strategy=found.strategy)
