"""rename-argument: an unknown key gets the name of the argument that was meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.key import renamed
from selfcorrect.mending.place import Way


@dataclass(frozen=True, slots=True)
class RenameArgument(EdgeSet):
    """Gives an unknown key the name of the one absent argument that it stands for.

    Works from either side: for an unknown key and for a missing argument. Exact where only case,
    separators or a prefix such as `param_` differ; inferred for a synonym, a slip, an
    abbreviation, or a name that says less (`date` where only `departure_date` is missing). All keys
    of an object are placed together: one that could stand for two arguments is refused, unless the
    other keys leave one of them, and an argument that is there is never overwritten. A misspelt
    optional key is renamed, too.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.
        synonyms: What else arguments are called here: `{class = "cabin"}`.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"cabin": {"type": "string"}, "passengers": {"type": "integer"}}}
    >>> gone, new = try_strategy(RenameArgument(), schema, {"passangers": 2}).changes
    >>> gone.path, new.path, new.after, new.safety.value
    ('/args/passangers', '/args/passengers', 2, 'inferred')
    """

    name = "rename-argument"
    batch = True

    synonyms: Mapping[str, str] = field(default_factory=dict)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return ()

    @property
    def way(self) -> Way:
        """The names that the keys of an object stand for."""
        return partial(renamed, prices=self.prices, synonyms=self.synonyms)
