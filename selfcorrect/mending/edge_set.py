"""Some edges as a strategy that maps can name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from selfcorrect.mending.cost import PRICES, priced
from selfcorrect.mending.fit import Edge, choose
from selfcorrect.model import Call, Diagnosis, Finding, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, present
from selfcorrect.text import Unclear

Find: TypeAlias = Callable[[Call, Finding, RepairContext], Place | GiveUp]
"""The place that a finding speaks of, or why there is none to mend."""


@dataclass(frozen=True, slots=True)
class EdgeSet(ABC):
    """Puts at the place of a finding what the cheapest of its edges makes of the value there.

    Attributes:
        costs: Prices of edits, in place of those in the table of costs; 10 switches one off.
    """

    needs: ClassVar[str] = "nothing"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)

    find: ClassVar[Find] = staticmethod(present)

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
    def edges(self) -> Iterable[Edge]:
        """The edges of this set."""

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Mend the value at the first finding."""
        place = type(self).find(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        found = choose(place, self.edges, self.prices)
        if isinstance(found, Unclear):
            return GiveUp(str(found))
        return place.put(found.value, found.safety, found.reason)
