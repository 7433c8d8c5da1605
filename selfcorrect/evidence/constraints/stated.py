"""What a sentence demands, in JSON Schema words: bounds, choices, patterns, types, formats."""

from __future__ import annotations

from typing import Final

from selfcorrect.evidence.constraints.bounds import bounds_in, sign_in
from selfcorrect.evidence.constraints.choices import choices_in
from selfcorrect.evidence.constraints.types import pattern_in, type_in
from selfcorrect.model import JSON

_LONGEST: Final = 1500


def constraint_in(text: str) -> dict[str, JSON]:
    """The demand of a sentence as a JSON Schema fragment; empty if it states none.

    >>> constraint_in("Ensure this value is greater than or equal to 1.")
    {'minimum': 1}
    >>> constraint_in("'coach' must be one of 'economy', 'business'")
    {'enum': ['economy', 'business']}
    """
    text = text[:_LONGEST]
    if bounds := bounds_in(text):
        return bounds
    if choices := choices_in(text):
        return {"enum": list(choices)}
    if pattern := pattern_in(text):
        return {"pattern": pattern}
    return type_in(text) or sign_in(text)
