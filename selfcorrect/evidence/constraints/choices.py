"""Values that a sentence lists as allowed: "one of a, b or c", "valid values are: …"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.words import word_list

_LIST_HEAD: Final = re.compile(
    r"\b(?:(?:must|should|can|has to|needs to|to)? ?(?:only )?(?:be )?(?:either )?(?:one|any) "
    r"of(?: the following)?(?: values?| types?| formats?| options?)?"
    r"|(?:(?:valid|allowed|possible|available|accepted|permitted|supported|acceptable|legal"
    r"|known|existing|candidate|following)"
    r" ?(?:\w{1,20} ){0,3}?(?:values?|options?|choices?|names?|types?|modes?|formats?|tools?"
    r"|commands?|columns?|units?|keys?|fields?|are|is)(?: are| is| include)?)"
    r"|choose from|choices(?: are)?|options(?: are)?|try one of|in|is not in|not in|(?:is "
    r")?none of|supports?(?: only)?|expected(?: one)?|input should be|must be|should be|got "
    r"one of|allowed|use)"
    r"[:=]?(?= ?[\n\t ]*[\"'`\[({‘“«]|: ?\w| \w+[,|])",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    r"[\s\[({,|;:/]*(?:(?:or|and|und|oder)\s+)?"
    r"(?:\"([^\"\n]{0,120})\"|'([^'\n]{0,120})'|`([^`\n]{0,120})`|‘([^’\n]{0,120})’"
    r"|“([^”\n]{0,120})”|«([^»\n]{0,120})»"
    r"|([\w.+-][\w.+/-]{0,60}))(?=[\s\])},|;./]|\Z)"
)
_STOP: Final = frozenset(
    word_list("""
        the a an is are was but got received found for to of in with not be as at by this that""")
)


def choices_in(text: str) -> tuple[JSON, ...]:
    """The values that a sentence lists as allowed: "one of a, b or c", "valid values are: …"."""
    for head in list(_LIST_HEAD.finditer(text))[:6]:
        items = tuple(_items(text, head.end()))
        if len(items) >= 2 or (
            items and head[0].lower().rstrip(": ").endswith(("one of", "values are"))
        ):
            return items
    return ()


def _items(text: str, position: int) -> Iterator[JSON]:
    quoted = False
    for _ in range(200):
        match = _ITEM.match(text, position)
        if match is None:
            return
        group = match.lastindex or 0
        value = match[group]
        bare = group == 7
        if bare and (quoted or value.lower() in _STOP):
            return
        quoted = quoted or not bare
        yield _plain(value.rstrip(".") if bare else value, bare=bare)
        position = match.end()
        tail = text[position : position + 8]
        if not re.match(r"[\])}]?\s*(?:,|\||;|/|or\b|and\b|\n\s*\S)", tail) or tail[:1] in "])}":
            return


def _plain(value: str, *, bare: bool) -> JSON:
    if bare:
        try:
            return json.loads(value) if value not in ("NaN", "Infinity") else value
        except ValueError:
            return value
    return value
