"""The ways in which a model says nothing."""

from collections.abc import Iterator

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading


def read_nothing(value: JSON, _place: Place) -> Iterator[Reading]:
    """Read a word for nothing as null."""
    word = str(value).strip().lower()
    if word in _NULLS:
        yield Reading(None, Safety.EXACT, "convert-type")
    elif word in _WORDS:
        # For a tool that acts, what is empty is missing, and not null.
        yield Reading(None, Safety.INFERRED, "convert-type", is_guess=not word)


def is_empty(value: JSON) -> bool:
    """Say whether a value holds nothing at all.

    >>> is_empty(None), is_empty(" "), is_empty([]), is_empty(0), is_empty("none")
    (True, True, True, False, False)
    """
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def says_nothing(value: JSON) -> bool:
    """Say whether a value is empty or a word for nothing.

    >>> says_nothing(""), says_nothing("N/A"), says_nothing("nobody")
    (True, True, False)
    """
    is_word = isinstance(value, str) and value.strip().lower() in _NULLS | _WORDS
    return is_word or is_empty(value)


_NULLS = frozenset({"null", "none"})
_WORDS = frozenset({"", "nil", "undefined", "n/a", "not specified"})
