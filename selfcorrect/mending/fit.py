"""The one search: the cheapest edits after which arguments fit, or why there are none.

An edge turns a value into candidates for a place. Of all candidates that the schema accepts the
cheapest wins, if it is cheaper than any other by a margin. Two that are equally near, and a value
that an edge calls contested, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from selfcorrect.mending.cost import MARGIN, OFF
from selfcorrect.model import JSON, Safety
from selfcorrect.schema.keys import loosely_fits
from selfcorrect.schema.places import Place
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


Edge: TypeAlias = Callable[[JSON, Place], Iterable[Fit]]
"""Turns a value into candidates for a place; raises `Unclear` where it can name none.

An `Unclear` leaves the word to the other edges, a `Contested` forbids them to speak.
"""


class Contested(Unclear):
    """The value has two readings, whatever another edge makes of it."""


def choose(
    place: Place, edges: Iterable[Edge], costs: Mapping[str, float], value: JSON = None
) -> Fit | Unclear:
    """The cheapest candidate for a place that fits there, if it is cheaper by a margin."""
    value = place.value if value is None else value
    found: list[_Found] = []
    why: Unclear | None = None
    try:
        for edge in edges:
            try:
                found += _candidates(edge, value, place, costs)
            except Contested:
                raise
            except Unclear as told:
                why = why or told
    except Contested as told:
        return told
    found.sort(key=lambda one: one.cost)
    fitting = [one for one in found if place.fits(one.fit.value)]
    if not fitting and len(found) == 1 and _opens(found[0].fit, place):
        return found[0].fit
    if not fitting:
        return Unclear(str(why) if why and not found else _loss(place, found))
    best = fitting[0]
    rivals = [one for one in fitting if one.cost < best.cost + MARGIN]
    if any(not same(one.fit.value, best.fit.value) for one in rivals):
        return Unclear("the value could become several things")
    return best.fit


def _opens(fit: Fit, place: Place) -> bool:
    """Whether a candidate has the shape that is asked for, or is a text that could be made fit."""
    if not fit.opens:
        return False
    if not isinstance(fit.value, str):
        return place.shapes(fit.value)
    return all("type" in one for one in place.schemas) and loosely_fits(fit.value, place.schemas)


class _Found(NamedTuple):
    fit: Fit
    cost: float


def _candidates(
    edge: Edge, value: JSON, place: Place, costs: Mapping[str, float]
) -> Iterator[_Found]:
    for fit in edge(value, place):
        cost = costs.get(fit.cost, OFF) if isinstance(fit.cost, str) else fit.cost
        unchanged = type(fit.value) is type(value) and same(fit.value, value)
        if cost < OFF and not unchanged:
            yield _Found(fit, cost)


def _loss(place: Place, found: Sequence[_Found]) -> str:
    if found:
        return f"{found[0].fit.reason}, but the result would not fit the schema"
    wanted = " or ".join(sorted(place.kinds)) or "a type that the schema does not name"
    return f"{type_of(place.value)} cannot become {wanted} without a loss"
