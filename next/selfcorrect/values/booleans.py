"""Words for true and false."""

from collections.abc import Iterator
from typing import Final

from selfcorrect.model import JSON, Safety
from selfcorrect.schema.slot import Slot
from selfcorrect.values.reading import Reading


def read_boolean(value: JSON, _slot: Slot) -> Iterator[Reading]:
    """Read "true" and "false", and less surely "yes", "no", "on", "off", 1 and 0."""
    if not isinstance(value, str | int):
        return
    word = str(value).strip(" \t\r\n'\"").lower()
    if word in _SAME:
        yield Reading(_SAME[word], Safety.EXACT, "convert-type")
    elif word in _ALIKE:
        yield Reading(_ALIKE[word], Safety.INFERRED, "convert-type")


_SAME: Final = {"true": True, "false": False}
_ALIKE: Final = {"yes": True, "on": True, "1": True, "no": False, "off": False, "0": False}
