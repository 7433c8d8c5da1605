"""Other spellings of a text, and numbers that are wanted as text."""

import re
from collections.abc import Callable, Iterator, Mapping

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading

_LONGEST = 2_000
_QUOTES = frozenset({"''", '""', "``"})
_AROUND = _QUOTES | {"<>"}


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
    bare = unquote(text, _AROUND if place.format in _FORMS else _QUOTES)
    if place.accepts(bare):
        yield Reading(bare, Safety.EXACT, "correct-format")
    elif place.format in _FORMS:
        yield Reading(_FORMS[place.format](bare), Safety.EXACT, "correct-format")
    elif place.pattern:
        for form in (bare.upper(), bare.lower()):
            # `ß` has no capital letter of its own.
            if len(form) == len(bare):
                yield Reading(form, Safety.INFERRED, "correct-format")


def _email(text: str) -> str:
    bare = text.removeprefix("mailto:")
    # A domain without a dot is an address that was cut off.
    return bare if "." in bare.rpartition("@")[2] else text


def _uuid(text: str) -> str:
    bare = text.lower().removeprefix("urn:uuid:").strip("{}")
    digits = _UUID.fullmatch(bare)
    return "-".join(digits.groups()) if digits else text


_UUID = re.compile(r"([0-9a-f]{8})" + r"-?([0-9a-f]{4})" * 3 + r"-?([0-9a-f]{12})")


_FORMS: Mapping[str, Callable[[str], str]] = {
    "email": _email,
    "uuid": _uuid,
    "uri": str,
}
