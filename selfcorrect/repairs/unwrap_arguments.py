"""unwrap-arguments: what stands one level too deep, or too flat, moves to its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.mending.choice import Choice, Edge, choose
from selfcorrect.mending.cost import OFF
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.level import deeper, higher, unwrapped
from selfcorrect.mending.edges.wrapped import bare_items, inner_list, value_wrapper
from selfcorrect.mending.place import level_at
from selfcorrect.model import ABSENT, Call, Changed, Diagnosis, GiveUp, Repair
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, around, faults_now, parent, place_of, present


@dataclass(frozen=True, slots=True)
class UnwrapArguments(EdgeSet):
    """Takes arguments out of a wrapper that the schema does not know, or puts them into one.

    Exact for all arguments under one key (`{"arguments": {…}}`, the tool's own name, an echo of
    the schema's `properties`), if they fit better without it. Inferred for a single value in a
    wrapper of its own (`{"city": {"value": "Oslo"}}`), for the items of a list that are
    (`[{"tag": "new"}]`), for nested arguments that were written flat (`address.city`, or `street`
    where only `address` knows one), and for flat ones that were nested.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    >>> change = try_strategy(UnwrapArguments(), schema, {"arguments": {"city": "Oslo"}}).changes[0]
    >>> change.path, change.after, change.safety.value
    ('/args', {'city': 'Oslo'}, 'exact')
    """

    name: ClassVar[str] = "unwrap-arguments"
    joins: ClassVar[bool] = False

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for, beside those that move keys."""
        return (value_wrapper, bare_items, inner_list)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Move what is at the wrong level, as far as the first finding speaks of it."""
        tool = context.tool
        if tool is None or call.raw is not None or not faults_now(tool, call):
            return GiveUp("there is nothing to unwrap")
        prices = self.prices
        if prices["wrapper"] < OFF and (whole := unwrapped(call, tool)) is not None:
            return Changed(whole)
        place = place_of(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if place.value is not ABSENT and place.declared:
            value = present(call, diagnosis.finding, context)
            return value if isinstance(value, GiveUp) else self._value(value)
        level = level_at(call, tool, parent(place.path))
        moved = None if level is None else deeper(level, place.key, prices)
        if moved is None and level is not None and prices["higher"] < OFF:
            moved = higher(level, place.key)
        return Changed(moved) if moved else GiveUp("nothing fits better at another level")

    def _value(self, place: Place) -> Repair:
        """The value without what is around it, or the list that it stands in."""
        for here in around(place):
            found = choose(here, self.priced)
            if isinstance(found, Choice):
                return here.put(found.fit.value, found.fit.safety, found.fit.reason)
        return GiveUp("the value is in no wrapper that could be taken off")
