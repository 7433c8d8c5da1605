"""split-list: a text that lists several things becomes a list."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.list import several
from selfcorrect.mending.edges.null import nothing


@dataclass(frozen=True, slots=True)
class SplitList(EdgeSet):
    """Splits a text into the list that the schema asks for: `"a, b"` as `["a", "b"]`.

    Always inferred. Numbers and listed values are split wherever each part is one. Free text is
    split at `;`, `|` and line ends, and at commas only where the parts are plain lower-case words
    or codes: `"Smith, John"` and `"Paris, France"` may be one thing, and are refused.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> change = try_strategy(SplitList(), schema, {"tags": "red, green"}).changes[0]
    >>> change.after, change.safety.value
    (['red', 'green'], 'inferred')
    >>> try_strategy(SplitList(), schema, {"tags": "Smith, John"})
    GiveUp(reason='its commas may belong to one item')
    """

    name = "split-list"

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (nothing, several)
