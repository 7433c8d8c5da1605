# ruff: noqa: T201 - a script prints
"""Train the witness of `selfcorrect.diagnosis`; how sure it is, it learns on systems left out.

usage: train_witness.py ERRORS.jsonl... [--left-out FILE] --out WITNESS.bin

Needs numpy, scipy and scikit-learn. The rows stay where they are: of them only weights are kept.
Every run over the same files gives the same weights.
"""

import argparse
import gzip
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from selfcorrect.diagnosis import witness
from selfcorrect.diagnosis.evidence import FAULTLESS, Evidence, openings_of
from selfcorrect.diagnosis.facts import recorded_finding
from selfcorrect.diagnosis.judgement import by_words_alone, gather
from selfcorrect.diagnosis.parameters import places_of
from selfcorrect.diagnosis.witness import decide, features_of, signs
from selfcorrect.model import RETRYABLE, ErrorKind
from selfcorrect.strategy_map.match import Ruling
from selfcorrect.strategy_map.strategy_map import StrategyMap

STRENGTH = 15.0
KEPT = 10_700
FOLDS = 5
GROUP = 4
"""Phrases that count as one system."""
PHRASES = Path(__file__).with_name("phrases.txt")
NEUTRAL = ("error", "request failed", "something went wrong", "an error occurred")
"""Sentences that say nothing."""
SILENT = (0.0,) * 9


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled error, and what is known of it before the witness speaks."""

    evidence: Evidence
    sure: tuple[str | None, str | None]
    hashes: tuple[int, ...]
    kinds: tuple[str, ...]
    categories: tuple[str, ...]
    system: str
    ruling: Ruling
    openings: tuple["Row", ...] = ()


def row_of(record: dict[str, Any], strategies: StrategyMap, *, is_opening: bool = False) -> Row:
    """Gather what the library would know of an error."""
    finding = recorded_finding(record["message"], record.get("exception"), record.get("status"))
    places = places_of(record.get("arguments"), record.get("schema") or {})
    ask = strategies.ask_rules
    ruling = ask(finding)
    evidence, facts = gather(finding, ruling, ask, places)
    heads = [] if is_opening else openings_of(evidence)
    openings = (row_of({**record, "message": head}, strategies, is_opening=True) for head in heads)
    category = facts.category or ("none" if facts.kind in FAULTLESS else None)
    sure = (facts.kind and str(facts.kind), category and str(category))
    labels = record["labels"]
    hashes = tuple(dict.fromkeys(map(witness.hash_of, features_of(evidence))))
    return Row(
        evidence, sure, hashes,
        words(labels["kind"]), words(labels["category"]), record["system"], ruling, tuple(openings),
    )  # fmt: skip


def words(label: str | Sequence[str]) -> tuple[str, ...]:
    return (label,) if isinstance(label, str) else tuple(label)


def read(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    lines = data.decode("utf-8", "surrogatepass").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def phrases() -> Iterator[dict[str, Any]]:
    """Yield sentences under headings `# kind|kind category`; a few make a system."""
    number, labels = 0, {}
    for line in PHRASES.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            _, kinds, categories = line.split(" ")
            labels = {"kind": kinds.split("|"), "category": categories.split("|")}
        elif line.strip():
            yield {"message": line, "labels": labels, "system": f"phrases-{number // GROUP}"}
            number += 1


def advice(strategies: StrategyMap) -> Iterator[dict[str, Any]]:
    """Yield errors whose words say nothing: what a hint of the map says holds for them."""
    for placed in strategies.rules:
        rule = placed.rule
        if not rule.hint or rule.match or rule.code:
            continue
        labels = {"kind": [str(rule.kind)], "category": [str(rule.category or "none")]}
        for said in rule.status or (None,):
            # One of the class that no other rule names.
            status = said.replace("x", "8") if isinstance(said, str) else said
            for exception in rule.error or (None,):
                about = {"status": status, "exception": exception, "labels": labels}
                for text in (f"status {status}", *NEUTRAL) if status else NEUTRAL:
                    yield {"message": text, "system": f"phrases-{rule.id}", **about}


# --- fitting ---


def shares(rows: list[Row]) -> Any:
    """Return weights by which a system with many messages does not outvote the others."""
    number = Counter(row.system for row in rows)
    raw = np.array([1 / math.sqrt(number[row.system]) for row in rows])
    return raw * len(raw) / raw.sum()


def matrix(rows: list[Row], place: dict[int, int]) -> Any:
    ends, columns, values = [0], [], []
    for row in rows:
        known = [place[each] for each in row.hashes if each in place]
        columns += known
        values += [1 / math.sqrt(len(known) or 1)] * len(known)
        ends.append(len(columns))
    return csr_matrix((values, columns, ends), shape=(len(rows), len(place)))


def shared(rows: list[Row]) -> list[int]:
    """Return the features of phrases, and those of more than one system."""
    first: dict[int, str] = {}
    return sorted(
        {
            each
            for row in rows
            for each in row.hashes
            if first.setdefault(each, row.system) != row.system or row.system.startswith("phrases-")
        }
    )


def fit_head(
    data: Any, labels: list[tuple[str, ...]], classes: tuple[str, ...], weights: Any
) -> Any:
    lines, wanted, counted = [], [], []
    for number, accepted in enumerate(labels):
        for each in accepted:
            lines.append(number)
            wanted.append(classes.index(each))
            counted.append(weights[number] / len(accepted))
    model = LogisticRegression(C=STRENGTH, max_iter=300, tol=1e-3)
    model.fit(data[lines], wanted, sample_weight=counted)
    table, start = np.zeros((len(classes), data.shape[1])), np.full(len(classes), -20.0)
    table[model.classes_], start[model.classes_] = model.coef_, model.intercept_
    return table, start


def fit(rows: list[Row], kept: int | None = None) -> witness.Weights:
    """Fit both heads and round them to bytes."""
    features = shared(rows)
    for last in (False, True):
        place = {each: number for number, each in enumerate(features)}
        data, weights = matrix(rows, place), shares(rows)
        kind = fit_head(data, [row.kinds for row in rows], witness.KINDS, weights)
        category = fit_head(data, [row.categories for row in rows], witness.CATEGORIES, weights)
        table = np.vstack([kind[0], category[0]])
        bias = np.concatenate([kind[1], category[1]])
        if last or not kept or len(features) <= kept:
            break
        size = (table**2).sum(axis=0)
        features = sorted(features[each] for each in np.argsort(-size, kind="stable")[:kept])
    scale = np.maximum(np.abs(table).max(axis=1), 1e-6) / 127
    packed = np.rint(table / scale[:, None]).astype(np.int8).T.tobytes()
    return witness.Weights(
        place, memoryview(packed).cast("b"), tuple(map(float, scale.round(9))),
        tuple(map(float, bias.round(6))), pairs(rows), SILENT,
    )  # fmt: skip


def pairs(rows: list[Row]) -> Any:
    """Return how much more often kinds and categories go together than by chance."""
    count = np.full((len(witness.KINDS), len(witness.CATEGORIES)), 0.3)
    for row, weight in zip(rows, shares(rows), strict=True):
        for kind in row.kinds:
            for category in row.categories:
                at = witness.KINDS.index(kind), witness.CATEGORIES.index(category)
                count[at] += weight / len(row.kinds) / len(row.categories)
    chance = count.sum(axis=1, keepdims=True) * count.sum(axis=0, keepdims=True) / count.sum()
    return tuple(tuple(map(float, line)) for line in np.log(count / chance).round(3))


def testify(weights: witness.Weights, rows: list[Row]) -> list[witness.Testimony]:
    """Score many rows at once."""
    classes = len(weights.scale)
    table = np.frombuffer(weights.table, dtype=np.int8).reshape(-1, classes)
    scores = matrix(rows, dict(weights.rows)) @ (table * np.array(weights.scale))
    known = [
        sum(each in weights.rows for each in row.hashes) / max(1, len(row.hashes)) for row in rows
    ]
    lines = scores + np.array(weights.bias)
    return [
        witness.testimony_of(list(line), share) for line, share in zip(lines, known, strict=True)
    ]


# --- how sure it is ---


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a row by a model that did not see the row's system."""

    row: Row
    votes: witness.Testimony
    weights: witness.Weights

    def decide(self) -> tuple[str, str, float]:
        found = decide_row(self.row, self.votes, self.weights)
        if by_words_alone(ErrorKind(found[0]), self.row.ruling):
            votes = testify(self.weights, list(self.row.openings))
            doubts = map(decide_row, self.row.openings, votes, repeat(self.weights))
            return next((each for each in doubts if each[0] not in RETRYABLE), found)
        return found


def decide_row(row: Row, votes: witness.Testimony, weights: witness.Weights) -> Any:
    kind, category = row.sure
    if kind and category:
        return kind, category, 0.97
    return decide(votes, weights, row.evidence, kind, category)


def folds_of(rows: list[Row]) -> dict[str, int]:
    systems = sorted({row.system for row in rows}, key=lambda name: (crc32(name.encode()), name))
    return {system: number % FOLDS for number, system in enumerate(systems)}


def say_apart(rows: list[Row], extra: list[Row]) -> list[Said]:
    """Return what models say that were fitted on other systems."""
    fold, found = folds_of(rows), []
    for part in range(FOLDS):
        weights = fit([row for row in rows if fold[row.system] != part] + extra)
        left = [row for row in rows if fold[row.system] == part]
        votes = testify(weights, left)
        found += [Said(row, each, weights) for row, each in zip(left, votes, strict=True)]
    return found


def is_right(row: Row, kind: str, category: str) -> bool:
    fits = category in row.categories or row.categories == ("none",)
    younger = category == "precondition" and "business_rule" in row.categories
    return kind in row.kinds and (fits or younger)


def learn_signs(said: Iterable[Said]) -> tuple[float, ...]:
    """Learn how the signs of an answer become one confidence."""
    marks, right = [], []
    for each in said:
        if all(each.row.sure):
            continue
        kind, category, _ = each.decide()
        is_hinted = kind in {name for name, _ in each.row.evidence.hints[:1]}
        marks.append(signs(each.votes, kind, category, is_hinted=is_hinted))
        right.append(is_right(each.row, kind, category))
    model = LogisticRegression(C=1.0, max_iter=2000).fit(marks, right)
    return tuple(round(float(each), 4) for each in (*model.coef_[0], model.intercept_[0]))


def save(weights: witness.Weights, path: Path) -> None:
    hashes = np.array(list(weights.rows), dtype="<u4").tobytes()
    names = ("scale", "bias", "pairs", "sure")
    head = {"features": len(weights.rows), **{name: getattr(weights, name) for name in names}}
    path.write_bytes(json.dumps(head).encode() + b"\n" + hashes + bytes(weights.table.cast("B")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("errors", nargs="+", type=Path)
    parser.add_argument("--left-out", type=Path, help="names of systems that are not trained on")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    left_out = set(options.left_out.read_text().split()) if options.left_out else set()
    strategies = StrategyMap.load("default")
    records = [each for file in options.errors for each in read(file)]
    rows = [row_of(each, strategies) for each in records if each["system"] not in left_out]
    extra = [row_of(each, strategies) for each in (*phrases(), *advice(strategies))]
    print(
        len(rows), "rows of", len({row.system for row in rows}), "systems,", len(extra), "phrases"
    )
    weights = replace(fit(rows + extra, KEPT), sure=learn_signs(say_apart(rows, extra)))
    save(weights, options.out)
    print(options.out, options.out.stat().st_size, "bytes,", len(weights.rows), "features")


if __name__ == "__main__":
    main()
