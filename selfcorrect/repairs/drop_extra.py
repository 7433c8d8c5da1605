"""drop-extra: an argument that the tool does not know is left out."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.kernel.verdicts import FOLLOWS
from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.extra import Extra
from selfcorrect.model import Call, Finding, GiveUp, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.places import Place, place_of


@dataclass(frozen=True, slots=True)
class DropExtra(EdgeSet):
    """Leaves out an argument that the tool does not know and that resembles none it knows.

    Lossy wherever something is said, on tools that only read as well: what was asked for may stand
    there. Exact only where nothing is: null, an empty value, or the same value once more under
    another spelling. An argument that may be a misspelt one, or belong into an object, is never
    dropped.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.
        keep: Names that are never dropped, so that a later rung deals with them.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"city": {}, "return_date": {}}}
    >>> change = try_strategy(DropExtra(), schema, {"verbose": 1}, effect="read_only").changes[0]
    >>> change.path, change.safety.value
    ('/args/verbose', 'lossy')
    >>> try_strategy(DropExtra(), schema, {"retrun_date": "x"})
    GiveUp(reason='it may stand for "return_date"')
    """

    name = "drop-extra"
    joins = False
    safety = (*FOLLOWS, Safety.LOSSY)

    keep: tuple[str, ...] = ()

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (Extra(self.keep),)

    def place(self, call: Call, finding: Finding, context: RepairContext) -> Place | GiveUp:
        """The place that a finding speaks of, known or not."""
        return place_of(call, finding, context)
