"""Applies the witness: a trained linear model that chooses what no rule and no fact decides."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from selfcorrect.diagnosis.evidence import FAULTLESS, Evidence
from selfcorrect.diagnosis.parameters import MARK
from selfcorrect.model import RETRYABLE, Category, ErrorKind, frozen

FILE = Path(__file__).with_name("witness.bin")
KINDS = tuple(map(str, ErrorKind))
CATEGORIES = tuple(map(str, Category))
_CLASSES = len(KINDS) + len(CATEGORIES)


@frozen
class Weights:
    """A trained model.

    Attributes:
        rows: The number of a feature's row, by the feature's hash.
        table: Rows of one signed byte for each kind and category.
        scale: What a byte is worth, by class.
        bias: Where a class starts.
        pairs: How much more often a kind and a category go together than by chance, in log-odds.
        sure: Weights of the signs that a decision is right; the last is where it starts.
    """

    rows: Mapping[int, int]
    table: memoryview
    scale: Sequence[float]
    bias: Sequence[float]
    pairs: Sequence[Sequence[float]]
    sure: Sequence[float]


@frozen
class Testimony:
    """Probabilities of kinds and categories, and the share of features that the model has."""

    kinds: Mapping[str, float]
    categories: Mapping[str, float]
    coverage: float


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
    hashes = map(hash_of, features)
    rows = [weights.rows[number] for number in hashes if number in weights.rows]
    lines = [weights.table[row * _CLASSES : (row + 1) * _CLASSES] for row in rows]
    sums = map(sum, zip(*lines, strict=True)) if lines else [0] * _CLASSES
    length = math.sqrt(len(rows) or 1)
    scores = [
        total * scale / length + bias
        for total, scale, bias in zip(sums, weights.scale, weights.bias, strict=True)
    ]
    return testimony_of(scores, len(rows) / max(1, len(features)))


def testimony_of(scores: Sequence[float], coverage: float) -> Testimony:
    """Turn the scores of all classes into probabilities."""
    kinds, categories = _shares(scores[: len(KINDS)]), _shares(scores[len(KINDS) :])
    return Testimony(
        dict(zip(KINDS, kinds, strict=True)),
        dict(zip(CATEGORIES, categories, strict=True)),
        coverage,
    )


def _shares(scores: Sequence[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


# --- features: words and facts, never the caller's values ---

_LONGEST = 600
"""Characters of a sentence that are looked at."""
_GRAM = 5
"""Characters of the pieces that stand for the stems and endings of words."""
_UNSPACED = "\u2e80"
"""From here on writing puts no spaces between words; pairs of characters stand for them."""
_TOKEN = re.compile(
    rf"{MARK}|(?<![\w-])--?(?=[A-Za-z])|(?<!\w)\.{{0,2}}/(?=\w)|[^\W\d_]+|\d+|[?!%*<>=]"
)
_SHAPES = {MARK: "<value>", "-": "<option>", "/": "<path>", ".": "<path>"}
"""What a value counts as, and what begins an option of a program and the path of a file."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def features_of(evidence: Evidence) -> list[str]:
    """List the features of an error, each once."""
    names = {path[-1].lower() for paths in evidence.places.by_name.values() for path in paths}
    tokens = [
        _SHAPES.get(word[0]) or ("0" if word.isdigit() else word.lower())
        for word in _TOKEN.findall(evidence.sentence.text[:_LONGEST])
    ]
    return list(dict.fromkeys((*_facts(evidence), *_place(evidence), *_words(tokens, names))))


def _words(tokens: list[str], names: set[str]) -> Iterator[str]:
    """Yield words, pairs and pieces of words; whole, an argument's name is just a name."""
    shown = ["<name>" if token in names else token for token in tokens]
    yield from shown
    yield from map(" ".join, zip(["^", *shown], [*shown, "$"], strict=True))
    if len(tokens) == 1:
        yield "lone-word"
    for word in dict.fromkeys(tokens):
        size = 2 if word[:1] >= _UNSPACED else _GRAM
        bounded = word if size == 2 else f"<{word}>"
        if len(word) > 3 or size == 2:
            yield from (f"~{bounded[at : at + size]}" for at in range(len(bounded) - size + 1))


def _facts(evidence: Evidence) -> Iterator[str]:
    yield f"status={evidence.status}"
    yield f"status={str(evidence.status)[:1]}xx"
    for code in evidence.codes[:4]:
        yield f"code={code[:60]}"
        yield from (f"code:{word.lower()}" for word in _WORD.findall(code)[:8])
    for name in evidence.classes[:3]:
        own = name.rpartition(".")[2]
        yield f"class={own}"
        yield from (f"class:{word.lower()}" for word in _WORD.findall(own))
    for kind, category in evidence.hints:
        yield f"hint={kind}"
        yield f"hint={kind}/{category}"
    yield from (f"constraint={keyword}" for keyword in evidence.constraint)


def _place(evidence: Evidence) -> Iterator[str]:
    places = evidence.places
    for path in evidence.subject.paths[:2]:
        value = places.values.get(path)
        yield f"value={type(value).__name__ if path in places.values else 'absent'}"
        yield f"empty={not value}"
        yield from (f"name:{word.lower()}" for word in _WORD.findall(path[-1]))
    if not evidence.subject.paths:
        yield "unplaced"
    if len(places.top) == 1:
        yield f"only:{places.top[0][0][:20].lower()}"


# --- the decision ---

HINT = 0.8
"""How much a hint counts for its kind, and for its category, in log-odds."""
PAIR = 0.3
"""How much it counts that a kind and a category go together."""
RETRY = 0.5
"""From which probability words alone say that the same call may succeed."""
LEAST = 0.2
"""A kind of a smaller share is said by no words, only by what goes together."""
_TINY = 1e-6


class Decision(NamedTuple):
    """Kind and category, and the probability that both are right."""

    kind: str
    category: str
    confidence: float


def decide(
    votes: Testimony,
    weights: Weights,
    evidence: Evidence,
    kind: str | None = None,
    category: str | None = None,
) -> Decision:
    """Choose kind and category together; a kind or a category that is passed stays."""
    hint = evidence.hints[0] if evidence.hints else ("", "")
    # Words alone say that the same call may succeed only where they are sure of it.
    open_kinds = [
        name
        for name in KINDS
        if name not in RETRYABLE or name == hint[0] or votes.kinds[name] >= RETRY
    ]
    pairs = product([kind] if kind else open_kinds, [category] if category else CATEGORIES)

    def score(pair: tuple[str, str]) -> float:
        together = weights.pairs[KINDS.index(pair[0])][CATEGORIES.index(pair[1])]
        odds = _log(votes.kinds[pair[0]]) + _log(votes.categories[pair[1]])
        return odds + PAIR * together + HINT * sum(map(str.__eq__, pair, hint))

    fitting = (each for each in pairs if category or each[1] == "none" or each[0] not in FAULTLESS)
    best = max(fitting, key=score)
    if not (kind or category or hint[0]) and votes.kinds[best[0]] < LEAST:
        best = ("internal", "none")
    marks = signs(votes, *best, is_hinted=best[0] == hint[0])
    total = sum(mark * weight for mark, weight in zip(marks, weights.sure, strict=False))
    sure = max(-20.0, min(20.0, total + weights.sure[-1]))
    return Decision(*best, round(1 / (1 + math.exp(-sure)), 3))


def signs(votes: Testimony, kind: str, category: str, *, is_hinted: bool) -> list[float]:
    """Return what tells a right decision from a wrong one: odds, leads, coverage."""
    marks = [votes.coverage, float(is_hinted), float(kind in FAULTLESS), float(category == "none")]
    for shares, choice in ((votes.kinds, kind), (votes.categories, category)):
        rival = max(share for name, share in shares.items() if name != choice)
        marks += [_log(shares[choice]), _log(shares[choice]) - _log(rival)]
    return marks


def _log(share: float) -> float:
    return math.log(share + _TINY)
