"""How good a witness is on systems that it does not know, in figures to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from selfcorrect.kinds import RETRYABLE
from selfcorrect.model import Category
from selfcorrect.training.fitting import Answer, Heard, answered, left_out

BARS = (0.5, 0.7, 0.9)


def told(apart: Sequence[Heard]) -> Iterator[str]:
    """The figures of rules alone, and of rules and witness, each system by what others teach."""
    both = left_out(apart)
    fair = [each for each in both if not each.row.known]
    yield f"rules alone: {_line([answered(each, None) for each in apart])}"
    yield f"with the witness: {_line(both)}"
    if fair:
        yield f"with the witness, of messages that were new to the rules: {_line(fair)}"
    for bar in BARS:
        yield f"confidence >= {bar}: {_sure(fair or both, bar)}"


def _line(answers: Sequence[Answer]) -> str:
    asked = [each for each in answers if each.row.categories != (Category.NONE,)]
    again = [each for each in answers if each.kind in RETRYABLE]
    wanted = [each for each in answers if RETRYABLE.issuperset(each.row.kinds)]
    hits = sum(not RETRYABLE.isdisjoint(each.row.kinds) for each in again)
    found = sum(each.kind in RETRYABLE for each in wanted)
    kinds = sum(each.kind in each.row.kinds for each in answers)
    categories = sum(each.category in each.row.categories for each in asked)
    return (
        f"{len(answers)} messages of {len({each.row.system for each in answers})} systems, "
        f"kind {_share(kinds, len(answers))}, category {_share(categories, len(asked))}, "
        f"both {_share(sum(each.right for each in answers), len(answers))}, of kinds that may be "
        f"repeated precision {_share(hits, len(again))}, recall {_share(found, len(wanted))}"
    )


def _sure(answers: Sequence[Answer], bar: float) -> str:
    above = [each for each in answers if each.confidence >= bar]
    right = sum(each.right for each in above)
    return f"{_share(len(above), len(answers))} of the messages, {_share(right, len(above))} right"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
