"""Trains a witness. Needs scikit-learn: the extra `train`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from zlib import crc32

from selfcorrect.errors import MissingExtra
from selfcorrect.evidence.trained.witness import (
    CATEGORIES,
    KINDS,
    odds,
    together,
)
from selfcorrect.model import Category, ErrorKind, Source
from selfcorrect.training.rows import Row
from selfcorrect.weights import SIGNS, Weights

FEATURES: Final = 12_000
"""Features that are kept: those with the largest weights."""
STRENGTH: Final = 1.0
"""How little the weights are held down; measured on systems left out."""
PARTS: Final = 8
"""Parts of what is trained on that are left out in turn, to learn how sure an answer is."""
_LARGEST: Final = 127
_NOTHING: Final = Weights((), b"", (), (), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0,) * SIGNS)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model says of a row whose system it did not know; `part` numbers the model."""

    row: Row
    scores: Sequence[float]
    part: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a row by rules and model, and whether kind and category are right."""

    row: Row
    kind: ErrorKind
    category: Category
    right: bool
    confidence: float
    signs: Sequence[float]


def fit(rows: Sequence[Row], apart: Sequence[Heard], origin: str = "") -> Weights:
    """Weights learned from rows, the same for the same rows in the same order.

    Args:
        rows: What to learn from.
        apart: `heard_apart(rows)`: how what the model says and what the rules say are weighed, and
            how sure the outcome is, is learned on systems that a model did not know.
        origin: What the rows are, in a sentence.

    Raises:
        MissingExtra: If scikit-learn is not installed.
        ValueError: If there is too little to learn from.
    """
    return replace(_weighing(apart, _linear(rows, FEATURES)), origin=origin)


def heard_apart(rows: Sequence[Row]) -> list[Heard]:
    """What models say of rows whose systems they did not know.

    Raises:
        MissingExtra: If scikit-learn is not installed.
        ValueError: If there is too little to learn from: under two systems, three kinds, or three
            categories.
    """
    systems = sorted({row.system for row in rows}, key=lambda name: (crc32(name.encode()), name))
    if len(systems) < 2:
        raise ValueError("messages of at least two systems are needed (`system`)")
    part_of = {system: number % PARTS for number, system in enumerate(systems)}
    found = []
    for part in range(min(PARTS, len(systems))):
        model = _linear([row for row in rows if part_of[row.system] != part], None)
        found += [
            Heard(row, model.scores(row.buckets), part)
            for row in rows
            if part_of[row.system] == part
        ]
    return found


def left_out(apart: Sequence[Heard]) -> list[Answer]:
    """An answer to every row, by rules and a model that did not know its system."""
    found = []
    for part in sorted({each.part for each in apart}):
        others = [each for each in apart if each.part != part]
        weights = _weighing(others, _NOTHING)
        found += [answered(each, weights) for each in apart if each.part == part]
    return found


def answered(heard: Heard, weights: Weights | None) -> Answer:
    """What rules and model say of a row; without weights, what the rules say alone."""
    row = heard.row
    kind, category, sure, signs = row.kind, row.category, row.confidence, tuple[float, ...]()
    if weights is not None and row.free is not None:
        said = together(weights, heard.scores, row.decided, row.free, len(row.buckets))
        kind, category, sure, signs = said
    return Answer(row, kind, category, row.is_right(kind, category), sure, signs)


def _linear(rows: Sequence[Row], features: int | None) -> Weights:
    """A linear model of kinds and categories, of the most telling features if not of all."""
    candidates = _shared(rows)
    tables = _tables(_matrix(rows, candidates), rows)
    if features:
        size: Any = sum((table**2).sum(axis=0) for table, _ in tables)
        heaviest = size.argsort(kind="stable")[::-1][:features]
        best = sorted(candidates[each] for each in heaviest if size[each] > 0)
        tables = _tables(_matrix(rows, best), rows)
    else:
        best = candidates
    scales, columns, biases = [], [], []
    for table, bias in tables:
        for line, start in zip(table, bias, strict=True):
            scale = round(float(abs(line).max()) / _LARGEST, 9) or 1.0
            scales.append(scale)
            columns.append([round(float(each) / scale) for each in line])
            biases.append(round(float(start), 6))
    packed = bytes(
        max(-_LARGEST, min(_LARGEST, value)) & 255
        for values in zip(*columns, strict=True)
        for value in values
    )
    return replace(
        _NOTHING,
        buckets=tuple(best),
        table=packed,
        scale=tuple(scales),
        bias=tuple(biases),
    )


def _shared(rows: Sequence[Row]) -> list[int]:
    """The features that more than one system has: what one alone has tells nothing of others."""
    found: dict[int, str] = {}
    shared = set()
    for row in rows:
        for bucket in row.buckets:
            if found.setdefault(bucket, row.system) != row.system:
                shared.add(bucket)
    return sorted(shared)


def _matrix(rows: Sequence[Row], kept: Sequence[int]) -> Any:
    """Rows by features, one where a row has a feature."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise MissingExtra("train", "training a witness") from error
    place = {bucket: number for number, bucket in enumerate(kept)}
    ends, columns = [0], list[int]()
    for row in rows:
        columns += [place[bucket] for bucket in row.buckets if bucket in place]
        ends.append(len(columns))
    return csr_matrix(([1.0] * len(columns), columns, ends), shape=(len(rows), len(kept)))


def _tables(matrix: Any, rows: Sequence[Row]) -> list[tuple[Any, Any]]:
    weights = shares(rows)
    kinds = _classes(matrix, [row.kinds for row in rows], KINDS, weights)
    return [kinds, _classes(matrix, [row.categories for row in rows], CATEGORIES, weights)]


def shares(rows: Sequence[Row]) -> list[float]:
    """What each row counts: a system with many messages does not outvote the others."""
    number = Counter(row.system for row in rows)
    raw = [1 / math.sqrt(number[row.system]) for row in rows]
    return [each * len(raw) / sum(raw) for each in raw]


def _classes(
    matrix: Any, labels: Sequence[Sequence[Any]], classes: Sequence[Any], weights: Sequence[float]
) -> tuple[Any, Any]:
    """Weights and starts by class; where several are right, each has its share."""
    try:
        import numpy as np
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("train", "training a witness") from error
    lines, wanted, counted = [], [], []
    for number, accepted in enumerate(labels):
        for each in accepted:
            lines.append(number)
            wanted.append(classes.index(each))
            counted.append(weights[number] / len(accepted))
    if len(set(wanted)) < 3:
        raise ValueError("messages of at least three kinds and three categories are needed")
    model = LogisticRegression(C=STRENGTH, max_iter=200, tol=1e-4)
    model.fit(matrix[lines], wanted, sample_weight=counted)
    table = np.zeros((len(classes), matrix.shape[1]))
    start = np.full(len(classes), -20.0)
    table[model.classes_] = model.coef_
    start[model.classes_] = model.intercept_
    return table, start


def _weighing(apart: Sequence[Heard], weights: Weights) -> Weights:
    """The weights with how the model's word and the rules' count, and how sure the outcome is.

    Where the rules were written with the messages in sight, they would seem too good.
    """
    asked = [each for each in apart if each.row.free is not None]
    fair = [each for each in asked if not each.row.known] or asked
    kinds = _best(fair, slice(len(KINDS)), KINDS, lambda row: (row.kind, row.kinds))
    categories = _best(
        fair, slice(len(KINDS), None), CATEGORIES, lambda row: (row.category, row.categories)
    )
    weights = replace(weights, weigh_kind=kinds, weigh_category=categories)
    return replace(weights, sure=_sureness(fair, weights))


def _best(
    fair: Sequence[Heard], part: slice, classes: Sequence[Any], of: Callable[[Row], Any]
) -> tuple[float, ...]:
    """Power, factor and summand, as in `Weights`, under which what is right is likeliest."""
    import numpy as np
    from scipy.optimize import minimize

    heard = np.array([each.scores[part] for each in fair])
    rows = [each.row for each in fair]
    sure = np.array([odds(row.confidence) for row in rows])
    accepted = np.zeros_like(heard)
    speak, at = list[int](), list[int]()
    for number, row in enumerate(rows):
        told, right = of(row)
        accepted[number, [classes.index(each) for each in right]] = 1
        if row.witness is not Source.NONE and told is not Category.NONE:
            speak.append(number)
            at.append(classes.index(told))
    counted = np.array(shares(rows))

    def loss(values: Any) -> float:
        power, factor, summand = values
        sums = power * heard
        sums[speak, at] += factor * sure[speak] + summand
        likely = np.exp(sums - sums.max(axis=1, keepdims=True))
        found = (likely * accepted).sum(axis=1) / likely.sum(axis=1)
        return float(-(counted * np.log(found + 1e-9)).sum())

    found = minimize(loss, [1.0, 0.3, 1.0], method="Nelder-Mead", options={"maxiter": 600})
    return tuple(round(float(each), 4) for each in found.x)


def _sureness(apart: Sequence[Heard], weights: Weights) -> tuple[float, ...]:
    """How the signs of an answer become one confidence."""
    from sklearn.linear_model import LogisticRegression

    said = [answered(each, weights) for each in apart]
    right = [each.right for each in said]
    if len(set(right)) < 2:
        return (*_NOTHING.sure[1:], odds(float(right[0])) if right else 0.0)
    model: Any = LogisticRegression(C=1.0, max_iter=2000)
    model.fit(
        [each.signs for each in said], right, sample_weight=shares([each.row for each in apart])
    )
    return tuple(round(float(each), 4) for each in (*model.coef_[0], model.intercept_[0]))
