"""The witness: a trained linear model that says kind and category where no fact is sure."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from zlib import crc32

from selfcorrect.model import Category, ErrorKind

FILE: Final = Path(__file__).with_name("witness.bin")
KINDS: Final = tuple(map(str, ErrorKind))
CATEGORIES: Final = tuple(map(str, Category))
_CLASSES: Final = len(KINDS) + len(CATEGORIES)


@dataclass(frozen=True, slots=True)
class Weights:
    """A trained model.

    Attributes:
        rows: The number of a feature's row, by the feature's hash.
        table: Rows of one signed byte for each kind and category.
        scale: What a byte is worth, by class.
        bias: Where a class starts.
        pairs: How much more often a kind and a category go together than by chance, in log-odds.
        sure: Weights of the signs that an answer is right; the last is where it starts.
    """

    rows: Mapping[int, int]
    table: memoryview
    scale: Sequence[float]
    bias: Sequence[float]
    pairs: Sequence[Sequence[float]]
    sure: Sequence[float]


@dataclass(frozen=True, slots=True)
class Testimony:
    """Probabilities of kinds and categories, and the share of the features that are known."""

    kinds: Mapping[str, float]
    categories: Mapping[str, float]
    known: float


@cache
def load(path: Path = FILE) -> Weights:
    """Load a model: a line of JSON, hashes of four bytes, rows of one byte for each class."""
    head, _, data = path.read_bytes().partition(b"\n")
    facts = json.loads(head)
    end = 4 * facts.pop("features")
    hashes, table = memoryview(data[:end]).cast("I"), memoryview(data[end:]).cast("b")
    return Weights({number: row for row, number in enumerate(hashes)}, table, **facts)


def hash_of(feature: str) -> int:
    """Return the hash under which a feature is stored."""
    return crc32(feature.encode("utf-8", "replace"))


def testify(weights: Weights, features: Sequence[str]) -> Testimony:
    """Score the features of an error."""
    found = [weights.rows.get(hash_of(name)) for name in features]
    rows = [row for row in found if row is not None]
    lines = [weights.table[row * _CLASSES : (row + 1) * _CLASSES] for row in rows]
    sums = map(sum, zip(*lines, strict=True)) if lines else [0] * _CLASSES
    length = math.sqrt(len(rows) or 1)
    scores = [
        total * scale / length + bias
        for total, scale, bias in zip(sums, weights.scale, weights.bias, strict=True)
    ]
    return testimony_of(scores, len(rows) / max(1, len(features)))


def testimony_of(scores: Sequence[float], known: float) -> Testimony:
    """Turn the scores of all classes into probabilities."""
    kinds, categories = _shares(scores[: len(KINDS)]), _shares(scores[len(KINDS) :])
    return Testimony(
        dict(zip(KINDS, kinds, strict=True)), dict(zip(CATEGORIES, categories, strict=True)), known
    )


def _shares(scores: Sequence[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]
