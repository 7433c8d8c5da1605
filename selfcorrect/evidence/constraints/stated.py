"""What a sentence demands in JSON Schema words, and what such a demand is about."""

from __future__ import annotations

from typing import Final

from selfcorrect.evidence.constraints.bounds import bounds_in, sign_in
from selfcorrect.evidence.constraints.choices import choices_in
from selfcorrect.evidence.constraints.types import pattern_in, type_in
from selfcorrect.model import JSON, Category, JsonObject
from selfcorrect.words import by_word

CATEGORIES: Final = by_word(
    {
        Category.MISSING_PARAM: "required",
        Category.EXTRA_PARAM: "additionalProperties",
        Category.ENUM: "enum",
        Category.RANGE: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
        Category.LENGTH: """
            minLength maxLength minItems maxItems minProperties maxProperties uniqueItems""",
        Category.FORMAT_PATTERN: "pattern",
        Category.WRONG_TYPE: "type",
    }
)
"""What each keyword is about."""

_DATE_FORMATS: Final = ("date", "date-time", "time", "duration")
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
    return sign_in(text) or type_in(text)


def category_of_constraint(constraint: JsonObject) -> Category | None:
    """What a constraint is about; None where it says nothing."""
    for keyword, value in constraint.items():
        if keyword in CATEGORIES:
            return CATEGORIES[keyword]
        if keyword == "format":
            return Category.FORMAT_DATE if value in _DATE_FORMATS else Category.FORMAT_OTHER
    return None
