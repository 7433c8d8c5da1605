"""correct-enum: the listed value that was meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.member import Member
from selfcorrect.mending.edges.null import nothing
from selfcorrect.model import JSON


@dataclass(frozen=True, slots=True)
class CorrectEnum(EdgeSet):
    """Takes the listed value that was meant: `"Business"` or `"business class"` as `"business"`.

    Exact where only case, spaces and separators differ. Inferred for a synonym, a noun that says
    nothing (`class`, `type`, the parameter's own name), a plural, a missing accent or a slip of the
    pen. A word that qualifies (`"premium economy"`), a negation, a word pulled apart (`"in
    active"`), the beginning of two values, or two values equally near are refused.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.
        synonyms: What else a listed value is called here: `{coach = "economy"}`.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"cabin": {"enum": ["economy", "business"]}}}
    >>> change = try_strategy(CorrectEnum(), schema, {"cabin": "Business class"}).changes[0]
    >>> change.after, change.safety.value
    ('business', 'inferred')
    >>> try_strategy(CorrectEnum(), schema, {"cabin": "premium economy"})
    GiveUp(reason='no listed value is meant with a clear margin by "premium economy"')
    """

    name = "correct-enum"

    synonyms: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (nothing, Member(self.synonyms))
