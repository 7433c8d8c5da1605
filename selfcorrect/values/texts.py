"""Other spellings of a text, and numbers that are wanted as text."""

from collections.abc import Iterator

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading

_LONGEST = 2_000
_QUOTES = frozenset({"''", '""', "``"})
_AROUND = _QUOTES | {"<>"}
_ADDRESSES = frozenset({"email", "uri"})


def read_words(value: JSON, place: Place) -> Iterator[Reading]:
    """Read a scalar as the text that a place wants."""
    if isinstance(value, int):
        yield Reading(str(value).lower(), Safety.EXACT, "convert-type")
    elif isinstance(value, float):
        # 5.0 may have been written 5, and 1.1 may have been written 1.10.
        if not value.is_integer() and "e" not in (text := repr(value)):
            yield Reading(text, Safety.INFERRED, "convert-type", is_guess=True)
    elif isinstance(value, str) and len(value) <= _LONGEST and (place.format or place.pattern):
        yield from _spellings(value, place)


def unquote(text: str, pairs: frozenset[str] = _QUOTES) -> str:
    """Return a text without the spaces and quotes around it; a lone quote says something.

    >>> unquote(" `ann` "), unquote('5"')
    ('ann', '5"')
    """
    bare = text.strip()
    while len(bare) > 1 and bare[0] + bare[-1] in pairs:
        bare = bare[1:-1].strip()
    return bare


def _spellings(text: str, place: Place) -> Iterator[Reading]:
    bare = unquote(text, _AROUND if place.format in _ADDRESSES else _QUOTES)
    if place.accepts(bare):
        yield Reading(bare, Safety.EXACT, "correct-format")
    elif place.pattern:
        for form in (bare.upper(), bare.lower()):
            # `ß` has no capital letter of its own.
            if len(form) == len(bare):
                yield Reading(form, Safety.INFERRED, "correct-format")
