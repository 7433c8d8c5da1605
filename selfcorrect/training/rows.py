"""What a witness is trained on: labelled messages, or what is left of them after hashing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.evidence.deciding import by_rules
from selfcorrect.evidence.reading import ErrorReport, read
from selfcorrect.evidence.testifying import left_open
from selfcorrect.evidence.trained.features import features, hashed
from selfcorrect.model import Call, Category, ErrorKind, Finding, Source
from selfcorrect.ports import Open, Rules
from selfcorrect.weights import BUCKETS

KEYS: Final = frozenset(
    {"message", "labels", "system", "exception", "status", "schema", "arguments", "tool", "known"}
    | {"id", "origin", "buckets", "rules", "free"}
)
"""The keys of a labelled error, and of a row that was hashed, that are read."""
_FREE: Final = {(True, True): "both", (False, True): "category", (False, False): "none"}
ASKED: Final = {word: Open(*free) for free, word in _FREE.items()}
"""What is open of a finding that the witness is asked about, by the word for it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled message, hashed.

    Attributes:
        system: Whose message it is: a whole system is left out to see what others teach of it.
        buckets: Its features.
        kinds: The kinds that are right.
        categories: The categories that are right; `none` alone: there is none to know.
        kind: What the rules say.
        category: What the rules say.
        confidence: How sure the rules are.
        witness: Who saw it, before the trained witness.
        free: What is open; None where the trained witness is not asked.
        known: Whether the rules were written with this message in sight, so that they tell nothing
            about how good they are.
    """

    system: str
    buckets: tuple[int, ...]
    kinds: tuple[ErrorKind, ...]
    categories: tuple[Category, ...]
    kind: ErrorKind
    category: Category
    confidence: float
    witness: Source
    free: Open | None
    known: bool = False

    @property
    def decided(self) -> Finding:
        """What the rules say, as a finding."""
        return Finding(
            "",
            kind=self.kind,
            category=self.category,
            confidence=self.confidence,
            witness=self.witness,
        )

    def is_right(self, kind: ErrorKind, category: Category) -> bool:
        """Whether this is what the labels say; `precondition` is younger than many of them."""
        fits = category in self.categories or self.categories == (Category.NONE,)
        younger = category is Category.PRECONDITION and Category.BUSINESS_RULE in self.categories
        return kind in self.kinds and (fits or younger)


def row_of(record: Mapping[str, Any], rules: Rules) -> Row:
    """The row of a labelled message, or the row that a line already holds.

    Args:
        record: With `buckets`, what `to_json` gave. Else `message` and `labels` (`kind` and
            `category`, each a word or a list of them), and as far as known `system`, `exception`,
            `status`, `schema`, `arguments`, `tool`.
        rules: The error-strategy map.

    Raises:
        ValueError: If it is neither; the message says what is missing or wrong.
    """
    if "buckets" in record:
        return _hashed_row(record)
    if not isinstance(record.get("message"), str):
        raise ValueError("message must be a text")  # noqa: TRY004 -- wrong data, not a wrong call
    labels = record.get("labels")
    if not isinstance(labels, Mapping):
        raise ValueError("labels must be an object")  # noqa: TRY004 -- as above
    kinds = tuple(ErrorKind(each) for each in _words(labels, "kind"))
    categories = tuple(Category(each) for each in _words(labels, "category"))
    args, schema = record.get("arguments"), record.get("schema")
    tool = record.get("tool")
    name, status = record.get("exception"), record.get("status")
    recorded = ErrorReport(record["message"], name, status)
    part = read(recorded, Call(tool or "", args or {}), schema=schema).parts[0]
    decided = by_rules(part, rules)
    return Row(
        system=str(record.get("system") or tool or record.get("exception") or ""),
        buckets=tuple(hashed(features(part))),
        kinds=kinds,
        categories=categories,
        kind=decided.kind,
        category=decided.category,
        confidence=decided.confidence,
        witness=decided.witness,
        free=left_open(decided, rules),
        known=record.get("known") is True,
    )


def to_json(row: Row) -> dict[str, Any]:
    """A row as a line of a file holds it: no word of the message is left."""
    return {
        "system": row.system,
        "labels": {"kind": list(row.kinds), "category": list(row.categories)},
        "rules": [row.kind, row.category, row.confidence, row.witness],
        "free": _FREE[row.free] if row.free else None,
        "known": row.known,
        "buckets": sorted(row.buckets),
    }


def _hashed_row(record: Mapping[str, Any]) -> Row:
    buckets = record["buckets"]
    if not isinstance(buckets, list) or not all(
        type(each) is int and 0 <= each < BUCKETS for each in buckets
    ):
        raise ValueError(f"buckets must be numbers below {BUCKETS}")
    labels, said = record.get("labels"), record.get("rules")
    if not isinstance(labels, Mapping) or not isinstance(said, list) or len(said) != 4:
        raise ValueError("a hashed row has labels, and what the rules say: four values")
    return Row(
        system=str(record.get("system", "")),
        buckets=tuple(buckets),
        kinds=tuple(ErrorKind(each) for each in _words(labels, "kind")),
        categories=tuple(Category(each) for each in _words(labels, "category")),
        kind=ErrorKind(said[0]),
        category=Category(said[1]),
        confidence=float(said[2]),
        witness=Source(said[3]),
        free=ASKED[record["free"]] if record.get("free") else None,
        known=record.get("known") is True,
    )


def _words(labels: Mapping[str, Any], name: str) -> Sequence[str]:
    said = labels.get(name)
    words = said if isinstance(said, list) else [said]
    found = [each for each in words if isinstance(each, str)]
    if not found or len(found) < len(words):
        raise ValueError(f"labels.{name} must be a word or a list of words")
    return found
