"""An edge of a deployment's own, as a strategy that its map can name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from selfcorrect.errors import GraphSetupError
from selfcorrect.mapping.rules import STRATEGY_NAME
from selfcorrect.mending.choice import Edge, Fit
from selfcorrect.mending.edge_set import EdgeSet
from selfcorrect.model import JSON, Safety
from selfcorrect.plain import as_text, copied, own_copy
from selfcorrect.schema.places import Place
from selfcorrect.text import Unclear


@dataclass(frozen=True)
class OwnEdge(EdgeSet):
    """One edge that was written elsewhere; it sees copies, and a fault of its own is a refusal."""

    vouches: ClassVar[bool] = True

    name: str = ""  # type: ignore[misc]  # of each edge, not of its class
    safety: tuple[Safety, ...] = ()  # type: ignore[misc]
    function: Edge | None = None

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The one edge."""
        return (self._candidates,)

    def _candidates(self, value: JSON, want: Place) -> Iterator[Fit]:
        if self.function is None:
            return
        seen = replace(want, call=own_copy(want.call), value=copied(value))
        try:
            found = [*self.function(seen.value, seen)]
        except Unclear:
            raise
        except Exception as error:
            raise Unclear(f"raised {type(error).__name__}: {as_text(error)[:200]}") from error
        for one in found:
            if not isinstance(one, Fit) or one.safety not in self.safety:
                raise Unclear("it is no Fit of a class that the edge declares")
            yield replace(one, safety=Safety(one.safety))


def edge(name: str, *, safety: Iterable[Safety | str] = ("exact",)) -> Callable[[Edge], OwnEdge]:
    """Make of a function `(value, want)` an edge that maps can name in a ladder.

    It yields a `Fit` for each value that could be meant at the place `want`, and nothing where it
    has no say; `raise Unclear` refuses what it can read in two ways. All edges of a ladder search
    together: the cheapest candidate that fits the schema wins, if it wins by 1. The table of costs
    says what others cost: 1 for another spelling, 3 for one best reading.

    >>> from selfcorrect import Fit, Safety, edge
    >>> @edge("cost-centre", safety=["exact"])
    ... def cost_centre(value, want):
    ...     if want.name == "cost_centre" and isinstance(value, int):
    ...         yield Fit(f"CC-{value:04}", 1, Safety.EXACT, "the number of it")
    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"cost_centre": {"type": "string", "pattern": "^CC-[0-9]{4}$"}}}
    >>> try_strategy(cost_centre, schema, {"cost_centre": 42}).changes[0].after
    'CC-0042'

    Args:
        name: Its name in maps, kebab-case; a map brings it along in `[use]`.
        safety: The classes of the candidates that it can yield.

    Raises:
        GraphSetupError: If the name is not in kebab-case, or there is no such class.
    """
    if not STRATEGY_NAME.fullmatch(name):
        raise GraphSetupError(f"an edge's name is kebab-case, not {name!r}")
    try:
        classes = tuple(Safety(one) for one in safety)
    except ValueError as error:
        raise GraphSetupError(f"edge {name!r}: {error}") from None
    return lambda function: OwnEdge(name=name, safety=classes, function=function)
