"""Words for true and false."""

from collections.abc import Iterator

from selfcorrect.model import JSON, Safety
from selfcorrect.names.letters import NEGATIONS, words
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading
from selfcorrect.values.texts import unquote


def read_boolean(value: JSON, place: Place) -> Iterator[Reading]:
    """Read "true" and "false", and less surely "yes", "no", "on", "off", 1 and 0."""
    if not isinstance(value, str | int):
        return
    word = unquote(str(value)).lower()
    if word in _SAME:
        yield Reading(_SAME[word], Safety.EXACT, "convert-type")
    elif word in _ALIKE and not (
        word in ("on", "off") and _NEGATIVE.intersection(words(place.name))
    ):
        yield Reading(_ALIKE[word], Safety.INFERRED, "convert-type")


_SAME = {"true": True, "false": False}
_ALIKE = {"yes": True, "on": True, "1": True, "no": False, "off": False, "0": False}
_OFF = (
    "skip skipped exclude excluded disable disabled ignore hide hidden omit suppress"
    " dont block deny disallow forbid prevent avoid mute"
)
_NEGATIVE = NEGATIONS.union(_OFF.split())
"""Words of a name under which "off" may mean the argument, or what the argument turns off."""
