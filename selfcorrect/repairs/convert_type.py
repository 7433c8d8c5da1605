"""convert-type: the same value in the type that the schema asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.boolean import boolean
from selfcorrect.mending.edges.list import one_item, only_item
from selfcorrect.mending.edges.null import nothing
from selfcorrect.mending.edges.number import Number
from selfcorrect.mending.edges.text import kept_text, text


@dataclass(frozen=True, slots=True)
class ConvertType(EdgeSet):
    """Writes a value in the type that the schema asks for: `"5"` as `5`, `12345` as `"12345"`.

    Exact where it is another spelling of the same value (`"1,234"`, `"true"`, one value where only
    a list fits, `"$1,250.00"` where the schema names that very currency); inferred where there is
    one best reading (`"five"`, `"yes"`, `"5 km"` where the schema names that very unit, a list of
    one for a single value). Names are what name and description say, or the keywords `unit`,
    `x-unit` and `x-currency`. What could mean two things (`"50.000"`, `"+1"`), would lose something
    (2.5 as an integer) or is no number (`"1/2"`) is refused. Where a text may stand as well, the
    text in its normal form comes first.
    `on` and `off` need a name that says what is on (`enabled`, not `disable_cache`).

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.
        number_words: What else names a number here, beside English: `{deux = 2, dutzend = 12}`.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"count": {"type": "integer"}}}
    >>> change = try_strategy(ConvertType(), schema, {"count": "1,234"}).changes[0]
    >>> change.after, change.safety.value
    (1234, 'exact')
    >>> try_strategy(ConvertType(), schema, {"count": 2.5})
    GiveUp(reason='2.5 is not a whole number')
    """

    name = "convert-type"

    number_words: Mapping[str, float] = field(default_factory=dict)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (nothing, kept_text, Number(self.number_words), boolean, text, only_item, one_item)
