"""What the emitter itself proposes: "did you mean …", "maybe you meant", "candidates: …", HINT."""

from __future__ import annotations

import re
from typing import Final

_HEAD: Final = re.compile(
    r"\b(?:did you (?:mean|intend)|(?:perhaps|maybe|probably|possibly) you (?:meant"
    r"|want(?:ed)?|intended)"
    r"(?: to (?:say|use|reference|type|write|call))?|you (?:may|might|probably) (?:have meant"
    r"|want(?:ed)?|meant)"
    r"|(?:most )?similar (?:\w{1,20} ){0,3}(?:names?|exists?|is|are|commands?|to|found|options?)"
    r"|(?:closest|nearest|best) (?:match(?:es)?|names?)(?: (?:is|are|was))?|suggestions?"
    r"|candidate (?:\w{1,20} ){1,3}|possible (?:options?|alternatives?|matches)|try (?:using "
    r"|with )?(?=[`'\"])|instead,? (?:use|try)"
    r"|use (?=[`'\"‘“][\w.-]{1,60}[`'\"’”] instead)|meant to (?:use|say|type)|help: "
    r".{0,40}?similar name(?: exists)?:?)",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(
    r"[\s:,(\[{-]*(?:(?:the|a|an|to|reference|column|table|alias|field|argument|parameter"
    r"|option|flag|command|attribute"
    r"|function|method|key|one of|these|this|either|use|using|named?|is|are|was|instead|type"
    r"|relation|property)(?=[\s:,(\[{])[\s:,(\[{]*)*"
)
_ITEM: Final = re.compile(
    r"\"([^\"\n]{1,80})\"|'([^'\n]{1,80})'|`([^`'\n]{1,80})[`']|‘([^’\n]{1,80})’"
    r"|“([^”\n]{1,80})”|«([^»\n]{1,80})»"
    r"|(--?[A-Za-z][\w-]{0,60}|[\w$@][\w$@./:-]{0,80})"
)
_NEXT: Final = re.compile(r"\s*(?:,(?: (?:or|and))?|\bor\b|/|\n\s*(?=[\"'`\w-]))\s*")
_STOP: Final = frozenset(
    ["to", "the", "a", "an", "one", "of", "it", "this", "that", "for", "with", "you", "it?", "in"]
)
_MOST: Final = 10


def suggestions_in(text: str) -> tuple[str, ...]:
    """The names or values that a text proposes, in its order; bounded.

    >>> suggestions_in('unknown command "instal" - maybe you meant "install"')
    ('install',)
    >>> suggestions_in("no field 'nmae'; did you mean name?")
    ('name',)
    """
    found: list[str] = []
    for head in list(_HEAD.finditer(text[:8000]))[:4]:
        filler = _FILLER.match(text, head.end())
        position = filler.end() if filler else head.end()
        for _ in range(_MOST):
            match = _ITEM.match(text, position)
            if match is None:
                break
            value = match[match.lastindex or 0].rstrip("?.!:;")
            if not value or value.lower() in _STOP:
                break
            found.append(value)
            follow = _NEXT.match(text, match.end())
            if follow is None:
                break
            position = follow.end()
    return tuple(dict.fromkeys(found))[:_MOST]
