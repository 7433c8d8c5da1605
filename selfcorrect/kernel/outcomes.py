"""What an execution did: the laws of outcomes. How its failure is told is another matter.

Between *refused* and *lost* structure alone decides: classes of the whole chain, statuses and codes
that an exception carries as fields, and those in a body that was parsed. No bare number and no word
does, or whoever is echoed could make everything lost. Doubt only grows: nothing but the author's
word makes anything else of *lost*.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from selfcorrect.effects import Outcome
from selfcorrect.kinds import PASSING, ErrorKind

_REFUSING: Final = frozenset(
    {ErrorKind.VALIDATION, ErrorKind.NOT_FOUND, ErrorKind.AUTH, ErrorKind.QUOTA}
    | {ErrorKind.CONFLICT, ErrorKind.RATE_LIMIT}
)
_BREAKING: Final = PASSING | {ErrorKind.INTERNAL}
_LEFT_OPEN: Final = frozenset({408, 499})
_UNCLEAR: Final = frozenset({409, 412, 424})
"""What may be about an equal request that came before, or about a part of what was asked.

429 is none: it counts and does nothing.
"""


@dataclass(frozen=True, slots=True)
class Layer:
    """What one exception of a chain carries.

    Attributes:
        status: An HTTP status from 400 on, of a field.
        inside: Statuses in a body that was parsed.
        kind: What its code speaks for.
        breaks: Its class says that no answer came.
        passes: Anything of it, its words too, speaks of a fault that passes.
    """

    status: int | None = None
    inside: tuple[int, ...] = ()
    kind: ErrorKind | None = None
    breaks: bool = False
    passes: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How an execution ended that raised.

    Attributes:
        layers: The exception that left the tool, then everything that led to it.
        promised: The author says that nothing was done.
        unreached: The host refused the arguments before the tool's own code ran.
        rejected: A trusted server refused the request itself.
        reported: It is an answer that says that it is an error.
        on_purpose: A `raise` of the tool's own code made it.
        by_library: A library that the tool calls raised it, as ValueError or LookupError.
    """

    layers: tuple[Layer, ...]
    promised: bool = False
    unreached: bool = False
    rejected: bool = False
    reported: bool = False
    on_purpose: bool = False
    by_library: bool = False


def _is_break(layer: Layer) -> bool:
    if layer.status is not None:
        return _breaks(layer.status)
    if any(map(_breaks, layer.inside)):
        return True  # what else a body says proves nothing
    return layer.kind not in _REFUSING and (layer.kind in _BREAKING or layer.breaks)


def _breaks(status: int) -> bool:
    return status >= 500 or status in _LEFT_OPEN


def _answered(ended: Ended) -> bool:
    return ended.layers[0].status is not None or ended.layers[0].kind in _REFUSING


BROKE_OFF: Final = "it broke off"
"""Where nothing else is known."""
EVIDENCE: Final[tuple[tuple[str, Outcome, Callable[[Ended], bool]], ...]] = (
    ("the tool says that it did nothing", Outcome.NOT_DONE, lambda e: e.promised),
    ("its arguments were refused before its own code", Outcome.NOT_DONE, lambda e: e.unreached),
    ("a trusted server refused the request itself", Outcome.NOT_DONE, lambda e: e.rejected),
    ("no answer came, or it broke off", Outcome.LOST, lambda e: any(map(_is_break, e.layers))),
    ("the tool answered with an error", Outcome.REFUSED, lambda e: e.reported),
    ("it answered with a status or code that refuses", Outcome.REFUSED, _answered),
    ("its own code raised it in order to refuse", Outcome.REFUSED, lambda e: e.on_purpose),
    ("a library raised it in order to refuse", Outcome.REFUSED, lambda e: e.by_library),
    (BROKE_OFF, Outcome.LOST, lambda _: True),
)
"""Why, and what was done: the first that holds decides."""


def what_was_done(ended: Ended | None) -> tuple[str, Outcome]:
    """What an execution did that raised, and why that is known; of what cannot be read, lost.

    >>> what_was_done(Ended((Layer(status=404),)))[1], what_was_done(Ended((Layer(status=502),)))[1]
    (<Outcome.REFUSED: 'refused'>, <Outcome.LOST: 'lost'>)
    """
    if ended is None:
        return "its error cannot be read", Outcome.LOST
    return next((why, outcome) for why, outcome, holds in EVIDENCE if holds(ended))


def is_firm(ended: Ended) -> bool:
    """Whether an atomic tool that refused so did nothing: nothing at all speaks of a passing fault.

    And its own code refused, or it answered: a library's `raise` says nothing of what came before.
    """
    said = _answered(ended) or ended.reported or ended.on_purpose
    return said and not any(each.passes or each.status in _UNCLEAR for each in ended.layers)


def settled(outcome: Outcome, *, atomic: bool, firm: bool) -> Outcome:
    """The outcome for a tool: what an atomic one refused for good, it did not do."""
    return Outcome.NOT_DONE if atomic and firm and outcome is Outcome.REFUSED else outcome


def after_rules(
    found: Outcome, said: Collection[str | None], kinds: Collection[ErrorKind], *, atomic: bool
) -> Outcome:
    """The outcome where rules of a deployment speak, which may know a refusal and grow a doubt.

    Args:
        found: As structure shows it.
        said: The outcome that the rule of each finding says, if it says one.
        kinds: What nobody but the built-in maps and the witness made of it.
        atomic: It was found not done because the tool is atomic, which proves nothing of a fault
            that passes, however that was found out.
    """
    if "lost" in said or found is Outcome.LOST:
        return Outcome.LOST
    if set(said) == {"not_done"}:
        return Outcome.NOT_DONE
    return Outcome.REFUSED if atomic and not PASSING.isdisjoint(kinds) else found


def verified(said: object, *, over: bool) -> Outcome:
    """What the author's own question found out; while it may still run, nothing is certain."""
    return Outcome.NOT_DONE if said is Outcome.NOT_DONE and over else Outcome.LOST
