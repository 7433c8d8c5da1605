"""The reading of one error: what the map leaves open, facts and the witness fill in."""

from dataclasses import dataclass
from typing import Final

from selfcorrect.diagnosis.clues import Clues
from selfcorrect.model import RETRYABLE, Category, ErrorKind, Finding
from selfcorrect.pointer import pointer

FAULTLESS: Final = RETRYABLE | {ErrorKind.QUOTA, ErrorKind.CANCELLED, ErrorKind.INTERNAL}
"""Kinds of errors for which no argument is at fault: they have no category."""
SURE: Final = 0.97
"""How often a sure fact is right, measured on systems that nothing was written for."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an error is, how sure that is, and who saw it.

    Attributes:
        kind: What the error is.
        category: What is wrong with the call.
        confidence: The probability that both are right.
        witness: `structure`, `rule` or `witness`; `elimination` where the place at fault is the
            only one that can be meant.
    """

    kind: ErrorKind
    category: Category
    confidence: float
    witness: str


def read(
    clues: Clues,
    kind: ErrorKind | None,
    category: Category | None,
    source: str,
) -> Reading:
    """Complete what rules say; the witness is loaded only where they leave something open."""
    if kind in FAULTLESS and category is None:
        category = Category.NONE
    if kind is not None and category is not None:
        return Reading(kind, category, SURE, source)
    from selfcorrect.diagnosis.decide import decide
    from selfcorrect.diagnosis.features import features_of
    from selfcorrect.diagnosis.witness import load, testify

    weights = load()
    heard = testify(weights, features_of(clues))
    found = decide(heard, weights, clues.hints, kind, category)
    is_guess = clues.blame.by == "elimination" and found.category != Category.NONE
    witness = "elimination" if is_guess else "witness"
    return Reading(ErrorKind(found.kind), Category(found.category), found.confidence, witness)


def own_words(finding: Finding, clues: Clues, code: str | None) -> Finding:
    """Return a finding with what the own sentence and the body say, for rules to see again."""
    return {
        **finding,
        "text": clues.sentence.text,
        "types": list(clues.classes),
        "status": clues.status,
        "code": code,
    }


def places_at_fault(clues: Clues, said: list[str], kind: ErrorKind) -> list[str]:
    """Return the places at fault as JSON Pointers: those that a rule says, or the error's own."""
    keys = clues.places.keys
    own = [pointer(*keys.get(path, path.split("."))) for path in clues.blame.paths]
    if len(said) == len(own) == 1 and own[0].endswith(said[0].removeprefix("/args")):
        # A pattern captures a name; the error also says where it stands.
        return own
    return said or ([] if kind in FAULTLESS else own)
