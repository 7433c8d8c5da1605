"""correct-format: the same address, identifier or code in its normal form."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.mending.choice import Edge
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.mending.edges.format import normal_form
from selfcorrect.mending.edges.null import nothing


@dataclass(frozen=True, slots=True)
class CorrectFormat(EdgeSet):
    """Writes an e-mail address, UUID, URI, IP address, phone number or code in its normal form.

    Only what is certain: surrounding white space, quotes and brackets, `mailto:`, upper and lower
    case, separators between the same letters and digits. Nothing is made up, so an address without
    a scheme, a phone number without a country code or a word for a code (`Ford`) is refused.

    Attributes:
        costs: Prices of edits in place of the usual ones; 10 switches one off.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"to": {"type": "string", "format": "email"}}}
    >>> args = {"to": "<mailto:ann@example.org>"}
    >>> change = try_strategy(CorrectFormat(), schema, args).changes[0]
    >>> change.after, change.safety.value
    ('ann@example.org', 'exact')
    """

    name = "correct-format"

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that this name stands for."""
        return (nothing, normal_form)
