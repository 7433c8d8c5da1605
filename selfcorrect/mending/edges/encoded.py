"""An object or list that was written into a string."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.plain import loaded
from selfcorrect.reading.contract import Fault
from selfcorrect.reading.tolerant_json import read_json
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import type_of
from selfcorrect.text import Unclear

_TOO_DEEP: Final = "\\" * 2**7
"""What stands before a quote in a text inside eight others."""
_LONGEST: Final = 1_000_000
_OPENING: Final = ("{", "[", '"', "'", "(")
_REASON: Final = "an object or list that was written into a string"


def encoded(value: JSON, want: Place) -> Iterator[Fit]:
    """Read a string as the object or list that is asked for, if its shape fits."""
    if not isinstance(value, str) or not want.kinds & {"object", "array"}:
        return
    inner = _parsed(value)
    if type_of(inner) == "object" and want.kinds == {"array"}:
        yield candidate([inner], "encoded", _REASON)
    elif type_of(inner) in want.kinds:
        yield candidate(inner, "encoded", _REASON, opens=True)
    else:
        raise Unclear("what the string holds has not the shape that is asked for")


def _parsed(written: str) -> JSON:
    """What a string holds, after taking off as many encodings as there are."""
    if _TOO_DEEP in written:
        raise Unclear("it holds JSON in JSON, more than 8 times over")
    while True:
        bare = written.strip()
        if len(bare) > _LONGEST or bare[:1] not in _OPENING:
            break
        inner = loaded(bare) if bare[0] == '"' else bare
        if isinstance(inner, str) and inner is not bare:
            written = inner
            continue
        read = read_json(bare, closers=False)
        if isinstance(read, Fault):
            raise Unclear(f"the string is no JSON: {read.what}")
        if read.rivals:
            raise Unclear("the string could hold several things")
        if not isinstance(read.value, dict | list):
            break
        return read.value
    raise Unclear("the string holds neither an object nor a list")
