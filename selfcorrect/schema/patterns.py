"""Says how long values may be, so that the patterns and lists of a schema are checked in time."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from selfcorrect.model import JsonObject
from selfcorrect.pointer import parts_of

_MOST_WORK = 4_000_000
"""Characters times parts of a pattern that may be matched at the same time."""
_MOST_PARTS = 10_000


def longest_text(schema: JsonObject) -> int | None:
    """Return how many characters may be matched; None where a schema has no pattern.

    Matching takes time in proportion to the text and to the pattern with its counted repeats
    written out, so a large pattern gets a short text.

    >>> longest_text({"pattern": "^[a-z]{1,40}$"})
    100000

    Raises:
        ValueError: If a pattern is too large for any text.
    """
    most = max(map(_count_parts, _patterns(schema)), default=0)
    if most > _MOST_PARTS:
        raise ValueError(
            f"a pattern repeats {most} parts, and at most {_MOST_PARTS} are allowed; "
            "use maxLength in place of counted repeats"
        )
    return _MOST_WORK // most if most else None


def longest_list(schema: JsonObject) -> int:
    """Return how many values the longest list of allowed ones has, and at least 1."""
    lists = (part.get("enum") for part in parts_of(schema))
    return max((len(values) for values in lists if isinstance(values, list) and values), default=1)


def _patterns(schema: Any) -> Iterator[str]:
    for part in parts_of(schema):
        if isinstance(pattern := part.get("pattern"), str):
            yield pattern
        by_pattern = part.get("patternProperties")
        yield from by_pattern if isinstance(by_pattern, Mapping) else ()


def _count_parts(pattern: str) -> int:
    """Return how many characters and classes a pattern has once its repeats are written out."""
    groups, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        if token["opening"]:
            groups.append(0)
        elif token["closing"]:
            last = groups.pop() if len(groups) > 1 else 0
            groups[-1] += last
        elif token["least"]:
            times = max(1, int(token["most"] or token["least"]))
            groups[-1] += last * (times - 1)
            last *= times
        elif token["part"]:
            last = 1
            groups[-1] += 1
    return max(1, sum(groups))


_TOKEN = re.compile(
    r"(?s)\{(?P<least>\d+)(?:,(?P<most>\d*))?\}|(?P<opening>\((?:\?[:=!]|\?<[=!])?)|(?P<closing>\))"
    r"|[*+?|^$]|(?P<part>\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|.)"
)
