"""parse-nested: an object or list that was written into a string becomes one."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.encoded import encoded
from selfcorrect.mending.edges.null import nothing


@dataclass(frozen=True, slots=True)
class ParseNested(EdgeSet):
    """Reads a string as the object or list that the schema asks for, if its shape fits.

    Exact, also where it was encoded several times over or written as a Python literal. A string
    that may stay a string is never touched; what is cut, holds a key twice, or JSON in JSON more
    than eight times over, is refused.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> change = try_strategy(ParseNested(), schema, {"tags": "['a', 'b']"}).changes[0]
    >>> change.after, change.safety.value
    (['a', 'b'], 'exact')
    """

    name = "parse-nested"

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (nothing, encoded)
