"""An object or list that was written into a string."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from selfcorrect.mending.choice import Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.reading.contract import Fault
from selfcorrect.reading.tolerant_json import read_json
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import type_of
from selfcorrect.text import Unclear

_DEEPEST: Final = 8
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
    for level in range(1, _DEEPEST + 1):
        bare = written.strip()
        if len(bare) > _LONGEST or bare[:1] not in _OPENING:
            break
        if (inner := _text_in(bare)) is not None:
            written = inner
            continue
        read = read_json(bare, closers=False)
        if isinstance(read, Fault):
            raise Unclear(f"the string is no JSON: {read.what}")
        if read.rivals:
            raise Unclear("the string could hold several things")
        if not isinstance(read.value, dict | list):
            break
        if _is_deeper(read.value, _DEEPEST - level):
            raise Unclear(f"it holds JSON in JSON, more than {_DEEPEST} times over")
        return read.value
    raise Unclear("the string holds neither an object nor a list")


def _text_in(written: str) -> str | None:
    """The text that a JSON string holds."""
    value = _json(written) if written[0] == '"' else None
    return value if isinstance(value, str) else None


def _json(written: str) -> JSON:
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return None


def _is_deeper(value: JSON, levels: int) -> bool:
    """Whether the strings in a value hold JSON in JSON more than so many times over."""
    found: list[JSON] = [value]
    for _ in range(levels + 1):
        bare = (one.strip() for one in _texts(found))
        opened = (one for one in bare if len(one) <= _LONGEST and one[:1] in _OPENING)
        found = [inner for one in opened if (inner := _json(one)) is not None]
    return bool(found)


def _texts(values: list[JSON]) -> Iterator[str]:
    left = list(values)
    while left:
        match left.pop():
            case str() as one:
                yield one
            case dict() as inner:
                left += inner.values()
            case list() as items:
                left += items
