"""What is wrong at the place at fault, where the text did not say."""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.faults.roles import DATES, FREE_FORM
from selfcorrect.evidence.faults.values import category_by_schema
from selfcorrect.model import JSON, Category, ErrorKind, Finding
from selfcorrect.pointer import split
from selfcorrect.text import words_of

_MEASURED: Final = re.compile(
    r"\b(?:digit|character|char|letter|byte|decimal|long|short|length|item|element|token)",
    re.IGNORECASE,
)


def category_at(finding: Finding, place: Places) -> Category:
    """What is wrong where the text did not say: from schema, value and name of the place."""
    if finding.kind is not ErrorKind.VALIDATION or len(finding.paths) != 1:
        return finding.category
    path = finding.paths[0].removeprefix("/args")
    if finding.category is Category.FORMAT_DATE:
        return _dated_value(finding, place.value(path))
    if finding.category is Category.LENGTH and _is_amount(finding, place.value(path)):
        return Category.RANGE
    if finding.category is not Category.NONE:
        return finding.category
    by_rule = category_by_schema(path, place)
    if by_rule is not None:
        return by_rule
    dated = DATES & set(words_of(split(path)[-1])) and isinstance(place.value(path), str)
    return Category.FORMAT_DATE if dated else Category.NONE


def _is_amount(finding: Finding, value: JSON) -> bool:
    """Whether a size that is too large or too small is a plain number: no text, no list."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and not _MEASURED.search(finding.text)


def _dated_value(finding: Finding, value: JSON) -> Category:
    """A number that is no date is out of range; a list, an object or null is of the wrong type."""
    last = split(finding.paths[0])[-1].lower()
    if (isinstance(value, bool | list | dict) or value is None) and last not in FREE_FORM:
        return Category.WRONG_TYPE
    bounded = re.search(r"\brange\b|must be in", finding.text)
    return Category.RANGE if isinstance(value, int | float) and bounded else Category.FORMAT_DATE
