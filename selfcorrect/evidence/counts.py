"""Too many or too few: "takes 2 arguments but 3 were given", "8 columns but 1 values supplied"."""

from __future__ import annotations

import re
from typing import Final

from selfcorrect.model import Category

_WHAT: Final = (
    r"(?:\w+[- ]){0,2}?(?:arg(?:ument)?s?|arg\(s\)|parameters?|params?|values?|columns?|operands?"
    r"|fields?|inputs?|bindings?|elements?|placeholders?|variables?|expressions?)"
)
_SAY: Final = (
    r"(?:was|were|is|are|has|have|got|received|given|supplied|provided|passed|found|but|only|,|;"
    r"|\.|\(|instead|and|there)"
)
_WORDS: Final = {"no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "none": 0}
_N: Final = r"(\d{1,6}|no|zero|one|two|three|four|none)"
_ASKS: Final = (
    r"(?:takes?|accepts?|expect(?:s|ed|ing)?|requires?|needs?|has|wants?|uses|must have)"
    r"(?: (?:exactly|at least|at most|from|a minimum of|a maximum of|only|up to|between))*"
)
_FORM: Final = re.compile(
    rf"\b{_ASKS} {_N}(?: (?:to|or|and|-) \d{{1,6}})?(?: {_WHAT})?[\w() ]{{0,30}}?[ ,;:(]{{1,3}}"
    rf"(?:{_SAY}[ ,:]{{0,2}}){{0,5}}{_N}\b",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(rf"(?:\A|[^\w]){_N} {_WHAT} for {_N} {_WHAT}", re.IGNORECASE)
_MORE: Final = re.compile(
    r"\bhas more ((?:target )?\w{1,20}) than (?:\w{1,20} ){0,2}\w{1,20}", re.IGNORECASE
)
_ABOUT: Final = re.compile(_WHAT, re.IGNORECASE)


def category_of_counts(text: str) -> Category | None:
    """`missing_param` or `extra_param` where a text compares what was given with what was wanted.

    >>> category_of_counts("takes 2 positional arguments but 3 were given")
    <Category.EXTRA_PARAM: 'extra_param'>
    >>> category_of_counts("table users has 8 columns but 1 values were supplied")
    <Category.MISSING_PARAM: 'missing_param'>
    """
    text = text[:1000]
    if (match := _LEADING.search(text)) is not None:
        return _compare(_number(match[2]), _number(match[1]))
    if (match := _FORM.search(text)) is not None and _ABOUT.search(match[0]):
        return _compare(_number(match[1]), _number(match[2]))
    if (match := _MORE.search(text)) is not None:
        given = match[1].lower().startswith(("expression", "value", "argument"))
        return Category.EXTRA_PARAM if given else Category.MISSING_PARAM
    return None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[word.lower()]


def _compare(wanted: int, given: int) -> Category | None:
    if given == wanted:
        return None
    return Category.EXTRA_PARAM if given > wanted else Category.MISSING_PARAM
