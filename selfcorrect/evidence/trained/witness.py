"""The last witness: its own reading of an error, weighed against what the rules say of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

from selfcorrect.evidence.parts import Part
from selfcorrect.evidence.trained.features import features, hashed
from selfcorrect.kinds import RETRYABLE
from selfcorrect.model import Category, ErrorKind, Finding, Source
from selfcorrect.ports import LastWitness, Open, Testimony
from selfcorrect.weights import CLASSES, Weights

KINDS: Final = tuple(ErrorKind)
CATEGORIES: Final = tuple(Category)
OF_INPUT: Final = frozenset(
    {ErrorKind.VALIDATION, ErrorKind.NOT_FOUND, ErrorKind.CONFLICT, ErrorKind.PERMANENT}
)
"""Kinds of which a category says more."""
OVERRULES_KIND: Final = 0.9
OVERRULES_CATEGORY: Final = 0.5
"""From which probability another kind or category is said than a rule says; measured on systems
left out. High for the kind: what is trained on holds the rare ones too seldom."""
NAMES_NONE: Final = 0.5
"""From which probability no category is said of an error of the input."""
_NONE: Final = CATEGORIES.index(Category.NONE)
_UNASKED: Final = (4.6, 8.0, 0.0, 1.0)
"""Signs of a category where the kind has none: nothing to be wrong about."""
_TINY: Final = 1e-4
_FEW: Final = 20
"""Features of a text that says little."""
_SPOKE: Final = 5
_LEAST: Final = 0.05
_SUREST: Final = 0.99


@lru_cache(maxsize=8)
def witness_of(weights: Weights) -> LastWitness:
    """The witness that knows these weights."""
    return partial(testimony, weights)


def testimony(weights: Weights, part: Part, decided: Finding, free: Open) -> Testimony | None:
    """What the trained model and the rules together make of an error; as `ports.LastWitness`."""
    names = features(part)
    seen = hashed(names)
    scores = weights.scores(seen)
    said = together(weights, scores, decided, free, len(seen))
    spoke: tuple[tuple[str, float], ...] = ()
    if (said.kind, said.category) != (decided.kind, decided.category):
        about = KINDS.index(said.kind)
        if said.category not in (decided.category, Category.NONE):
            about = len(KINDS) + CATEGORIES.index(said.category)
        spoke = tuple(_spoke(weights, names, about, scores))
    return Testimony(said.kind, said.category, said.confidence, spoke)


class Said(NamedTuple):
    """Kind and category, how sure they are, and what that hangs on."""

    kind: ErrorKind
    category: Category
    confidence: float
    signs: tuple[float, ...]


def together(
    weights: Weights, scores: Sequence[float], decided: Finding, free: Open | None, seen: int
) -> Said:
    """What a model's scores and the rules come to, as far as it is free.

    Args:
        weights: How the two are weighed.
        scores: As `Weights.scores` gives them.
        decided: The finding as the rules have it.
        free: What may become another than what the rules say.
        seen: How many features the scores come from.
    """
    of_kind, of_category = scores[: len(KINDS)], scores[len(KINDS) :]
    kinds = weighed(of_kind, KINDS.index(decided.kind), decided, weights.weigh_kind)
    silent = decided.category is Category.NONE
    told = None if silent else CATEGORIES.index(decided.category)
    categories = weighed(of_category, told, decided, weights.weigh_category)
    kind, category = decided.kind, decided.category
    spoken = decided.witness is Source.RULE
    if free is not None and free.kind:
        best = max(_choices(decided), key=kinds.__getitem__)
        kind = kind if spoken and kinds[best] < OVERRULES_KIND else KINDS[best]
    if free is not None and free.category:
        # Nearly every error of the input is about something: only the sure say that it is not.
        told_none = kind in OF_INPUT and categories[_NONE] < NAMES_NONE
        some = range(_NONE if told_none else len(CATEGORIES))
        best = max(some, key=categories.__getitem__)
        held = spoken and not silent and categories[best] < OVERRULES_CATEGORY
        category = category if held else CATEGORIES[best]
    if kind not in OF_INPUT and (kind is not decided.kind or silent):
        category = Category.NONE
    about = _leads(categories, of_category, CATEGORIES.index(category))
    leads = _leads(kinds, of_kind, KINDS.index(kind)) + (about if kind in OF_INPUT else _UNASKED)
    alone, carried = (decided.witness is each for each in (Source.NONE, Source.STRUCTURE))
    signs = (
        *leads,
        *(lead * alone for lead in leads),
        *(lead * carried for lead in leads),
        silent,
        alone,
        spoken,
        odds(decided.confidence),
        math.log(seen + 1),
        seen < _FEW,
        max(of_kind),
        max(of_category),
        *(each is kind or each is category for each in CLASSES),
    )
    return Said(kind, category, confidence(signs, weights.sure), signs)


def _leads(shares: Sequence[float], scores: Sequence[float], at: int) -> tuple[float, ...]:
    """How far a class is before the next one: with the rules' word, and without it."""
    rival = max(share for number, share in enumerate(shares) if number != at)
    lead = scores[at] - max(score for number, score in enumerate(scores) if number != at)
    ahead = math.log((shares[at] + _TINY) / (rival + _TINY))
    return odds(shares[at]), ahead, lead, float(lead > 0)


def _choices(decided: Finding) -> Iterator[int]:
    return (
        number for number, kind in enumerate(KINDS) if kind not in RETRYABLE or kind is decided.kind
    )


def weighed(
    scores: Sequence[float], told: int | None, decided: Finding, weigh: Sequence[float]
) -> list[float]:
    """Probabilities of classes: those of the model, and the rule's word for one of them.

    Args:
        scores: What the model has for each class.
        told: The class that the rules say, if they say one.
        decided: The finding as the rules have it: how sure they are.
        weigh: As in `Weights`.
    """
    power, factor, summand = weigh
    sums = [power * each for each in scores]
    if told is not None and decided.witness is not Source.NONE:
        sums[told] += factor * odds(decided.confidence) + summand
    top = max(sums)
    shares = [math.exp(each - top) for each in sums]
    whole = sum(shares)
    return [share / whole for share in shares]


def odds(share: float) -> float:
    """The log-odds of a probability, none of them certain."""
    held = min(_SUREST, max(1 - _SUREST, share))
    return math.log(held / (1 - held))


def confidence(signs: Sequence[float], sure: Sequence[float]) -> float:
    """How often such an answer is right, kind and category together."""
    score = sum(sign * each for sign, each in zip(signs, sure, strict=False)) + sure[-1]
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, score)))), 3)


def _spoke(
    weights: Weights, names: Sequence[str], about: int, scores: Sequence[float]
) -> Iterator[tuple[str, float]]:
    """The features that spoke for a class against the next one, the heaviest first."""
    head = range(len(KINDS)) if about < len(KINDS) else range(len(KINDS), len(scores))
    rival = max((each for each in head if each != about), key=scores.__getitem__)
    spoken = {}
    for name in names:
        (bucket,) = hashed([name])
        spoken[name] = weights.weight(bucket, about) - weights.weight(bucket, rival)
    for name in sorted(spoken, key=spoken.__getitem__, reverse=True)[:_SPOKE]:
        if spoken[name] >= _LEAST:
            yield name, round(spoken[name], 2)
