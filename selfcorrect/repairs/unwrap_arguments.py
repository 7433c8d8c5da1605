"""unwrap-arguments: what stands one level too deep moves to its place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.level import opened
from selfcorrect.mending.edges.wrapped import bare_items, value_wrapper
from selfcorrect.mending.place import Way


@dataclass(frozen=True, slots=True)
class UnwrapArguments(EdgeSet):
    """Takes arguments out of a wrapper that the schema does not know.

    Exact for all arguments under one key (`{"arguments": {…}}`, the tool's own name, an echo of
    the schema's `properties`), if they fit better without it. Inferred for a single value in a
    wrapper of its own (`{"city": {"value": "Oslo"}}`), for the items of a list that are
    (`[{"tag": "new"}]`), and for flat arguments that were nested.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"city": {"type": "string"}}, "required": ["city"]}
    >>> change = try_strategy(UnwrapArguments(), schema, {"arguments": {"city": "Oslo"}}).changes[0]
    >>> change.path, change.after, change.safety.value
    ('/args', {'city': 'Oslo'}, 'exact')
    """

    name = "unwrap-arguments"
    batch = True

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (value_wrapper, bare_items)

    @property
    def way(self) -> Way:
        """What is around arguments that are looked for."""
        return partial(opened, prices=self.prices)
