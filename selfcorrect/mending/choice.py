"""The choice at one place: the cheapest candidate that fits there, or why there is none.

An edge turns a value into candidates for a place. Of all candidates that the schema accepts the
cheapest wins, if it is cheaper than any other by a margin. Two that are equally near, and a value
that an edge calls contested, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from selfcorrect.kernel.joint import could_be
from selfcorrect.mending.cost import MARGIN, OFF
from selfcorrect.model import JSON, Change, Safety
from selfcorrect.schema.places import Place, around
from selfcorrect.schema.subschema import same, type_of
from selfcorrect.text import Unclear


@dataclass(frozen=True, slots=True)
class Fit:
    """A candidate for a place.

    Attributes:
        value: What would stand there; `ABSENT` leaves the place out.
        cost: How far it is from what was written: a row of the table of costs, or a number.
        safety: Its class, which the policy judges.
        reason: Why, in a few words for people.
        opens: Whether what lies in the value may need a mend of its own.
    """

    value: JSON
    cost: str | float
    safety: Safety
    reason: str
    opens: bool = False


def candidate(value: JSON, cost: str, reason: str, *, opens: bool = False) -> Fit:
    """A candidate that claims nothing: the kernel says of which class it is."""
    return Fit(value, cost, Safety.EXACT, reason, opens)


Edge: TypeAlias = Callable[[JSON, Place], Iterable[Fit]]
"""Turns a value into candidates for a place; raises `Unclear` where it can name none.

An `Unclear` leaves the word to the other edges, a `Contested` forbids them to speak.
"""


class Contested(Unclear):
    """The value has two readings, whatever another edge makes of it."""


@dataclass(frozen=True, slots=True)
class Priced:
    """An edge, what its edits cost, and in whose name it stands.

    Attributes:
        edge: The edge.
        costs: The price of each kind of edit.
        strategy: The name that maps know it by.
    """

    edge: Edge
    costs: Mapping[str, float]
    strategy: str


class Choice(NamedTuple):
    """The candidate that won, what it costs, and whose it is."""

    fit: Fit
    cost: float
    strategy: str


class Refusal(Unclear):
    """No candidate won.

    Attributes:
        by: By strategy, why its edges could name none.
    """

    def __init__(self, reason: str, by: Mapping[str, Unclear]) -> None:
        """Say why, and why each strategy did not."""
        super().__init__(reason)
        self.by = by


def choose(place: Place, edges: Iterable[Priced]) -> Choice | Refusal:
    """The cheapest candidate for a place that fits there, if it is cheaper by a margin."""
    found: list[Choice] = []
    whys: dict[str, Unclear] = {}
    for one in edges:
        try:
            found += _candidates(one, place)
        except Contested as why:
            return Refusal(str(why), {})
        except Unclear as why:
            whys.setdefault(one.strategy, why)
    found.sort(key=lambda choice: choice.cost)
    fitting = [choice for choice in found if place.fits(choice.fit.value)]
    if not fitting and len(found) == 1 and _opens(found[0].fit, place):
        return found[0]
    if not fitting:
        first = str(next(iter(whys.values()), ""))
        return Refusal(first if first and not found else _loss(place, found), whys)
    best = fitting[0]
    rivals = [choice for choice in fitting if choice.cost < best.cost + MARGIN]
    if any(not same(rival.fit.value, best.fit.value) for rival in rivals):
        return Refusal("the value could become several things", {})
    return best


def valued(place: Place, edges: Sequence[Priced], *, lists: bool = True) -> tuple[Change] | Refusal:
    """The change that puts the best value at a place, or at the `lists` that it stands in."""
    why: Refusal | None = None
    for here in around(place) if lists and place.declared else [place]:
        found = choose(here, edges)
        if isinstance(found, Choice):
            one = found.fit
            return (
                Change(here.path, here.value, one.value, one.safety, one.reason, found.strategy),
            )
        why = why or found
    return why or Refusal("there is no value to mend", {})


def _opens(fit: Fit, place: Place) -> bool:
    """Whether a candidate has the shape that is asked for, or is a text that could be made fit."""
    if not fit.opens:
        return False
    if not isinstance(fit.value, str):
        return place.shapes(fit.value)
    return all("type" in one for one in place.schemas) and could_be(
        fit.value, place.kinds, place.formats
    )


def _candidates(one: Priced, place: Place) -> Iterator[Choice]:
    for fit in one.edge(place.value, place):
        cost = one.costs.get(fit.cost, OFF) if isinstance(fit.cost, str) else fit.cost
        unchanged = type(fit.value) is type(place.value) and same(fit.value, place.value)
        if cost < OFF and not unchanged:
            yield Choice(fit, cost, one.strategy)


def _loss(place: Place, found: Sequence[Choice]) -> str:
    if found:
        return f"{found[0].fit.reason}, but the result would not fit the schema"
    wanted = " or ".join(sorted(place.kinds)) or "a type that the schema does not name"
    return f"{type_of(place.value)} cannot become {wanted} without a loss"
