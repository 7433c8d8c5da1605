"""Decides what an error is: sure facts first, then the witness, whom hints advise."""

import math
from collections.abc import Iterable
from itertools import product
from typing import Final, NamedTuple

from selfcorrect.diagnosis.clues import FAULTLESS
from selfcorrect.diagnosis.witness import CATEGORIES, KINDS, Testimony, Weights
from selfcorrect.model import RETRYABLE

HINT: Final = 1.0
"""How much a hint counts for its kind, and for its category, in log-odds."""
PAIR: Final = 0.3
"""How much it counts that a kind and a category go together."""
RETRY: Final = 0.5
"""From which probability words alone say that the same call may succeed."""
NONE: Final = 0.5
"""From which probability an error of the input is said to have no category."""
_TINY: Final = 1e-6


class Decision(NamedTuple):
    """Kind and category, and the probability that both are right."""

    kind: str
    category: str
    confidence: float


def decide(
    heard: Testimony,
    weights: Weights,
    hints: Iterable[tuple[str, str]] = (),
    kind: str | None = None,
    category: str | None = None,
) -> Decision:
    """Choose kind and category together; what is sure is given, and stays."""
    hints = list(hints)
    hinted = {each for each, _ in hints}
    kinds = [kind] if kind else [each for each in KINDS if _may_say(heard, each, hinted)]
    categories = [category] if category else CATEGORIES
    of_kind = {each: _log(heard.kinds[each]) for each in kinds}
    of_category = {each: _log(heard.categories[each]) for each in categories}
    for first, second in hints[:1]:
        of_kind[first] = of_kind.get(first, -math.inf) + HINT
        of_category[second] = of_category.get(second, -math.inf) + HINT
    best, most = (kinds[0], "none"), -math.inf
    for one, other in product(kinds, categories):
        together = weights.pairs[KINDS.index(one)][CATEGORIES.index(other)]
        score = of_kind[one] + of_category[other] + PAIR * together
        if score > most and (category or _go(heard, one, other, hints)):
            best, most = (one, other), score
    marks = signs(heard, *best, is_hinted=best[0] in hinted)
    total = sum(mark * weight for mark, weight in zip(marks, weights.sure, strict=False))
    score = max(-20.0, min(20.0, total + weights.sure[-1]))
    return Decision(*best, round(1 / (1 + math.exp(-score)), 3))


def signs(heard: Testimony, kind: str, category: str, *, is_hinted: bool) -> list[float]:
    """Return what tells a right answer from a wrong one: odds, leads, how much is known."""
    found = [heard.known, float(is_hinted), float(kind in FAULTLESS), float(category == "none")]
    for odds, said in ((heard.kinds, kind), (heard.categories, category)):
        rival = max(share for name, share in odds.items() if name != said)
        found += [_log(odds[said]), _log(odds[said]) - _log(rival)]
    return found


def _may_say(heard: Testimony, kind: str, hinted: set[str]) -> bool:
    return kind not in RETRYABLE or kind in hinted or heard.kinds[kind] >= RETRY


def _go(heard: Testimony, kind: str, category: str, hints: list[tuple[str, str]]) -> bool:
    """Say whether the two go together."""
    if kind in FAULTLESS:
        return category == "none"
    return category != "none" or heard.categories["none"] >= NONE or (kind, "none") in hints


def _log(share: float) -> float:
    return math.log(share + _TINY)
