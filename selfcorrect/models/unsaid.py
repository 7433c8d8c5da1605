"""Whether a conversation says anything that a missing value could be.

Judged generously: what might be the value counts as said, so that nobody is asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from selfcorrect.echoes import leaves
from selfcorrect.model import JSON, JsonObject
from selfcorrect.text import normal
from selfcorrect.words import number_word

_LONGEST: Final = 20_000
_MOST: Final = 1_000
_WORD: Final = re.compile(r"[^\W\d_]+")
_QUOTED: Final = re.compile(r"[\"“«„]([^\"”»“]{1,80})[\"”»“]")
_MARKED: Final = re.compile(r"\S*[\d@#_/]\S*")
_NAMED: Final = re.compile(r"(?<=[^\s.!?:] )[A-Z]\w+")
_DATED: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|now|next|coming|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"weekend|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)


def is_unsaid(texts: Sequence[str], args: JSON, schema: JsonObject) -> bool:
    """Whether nothing in these texts could be the value that this schema asks for.

    False where there are no texts, and where a value could be anything: who reads them knows more.

    Args:
        texts: What was said.
        args: The arguments that are there: what stands in them is another's value.
        schema: The schema of the missing value.

    >>> is_unsaid(["Book a flight, please."], {}, {"type": "integer"})
    True
    >>> is_unsaid(["Book a flight for two."], {}, {"type": "integer"})
    False
    """
    text = "\n".join(texts)[-_LONGEST:]
    if not text.strip():
        return False
    enum = schema.get("enum")
    if isinstance(enum, list):
        spoken = {normal(word) for word in _WORD.findall(text)}
        return not any(normal(str(value)) in spoken for value in enum)
    used = {normal(str(value)) for _, value in leaves(args, "")}
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return not any(normal(word) not in used for word in _numbers(text))
    if kind != "string":
        return False
    if str(schema.get("format", "")).startswith("date") and _DATED.search(text):
        return False
    return all(normal(piece) in used for piece in _pieces(text))


def _numbers(text: str) -> Iterator[str]:
    yield from re.findall(r"\d[\d.,]*", text)[:_MOST]
    yield from (word for word in _WORD.findall(text)[:_MOST] if number_word(word) is not None)


def _pieces(text: str) -> Iterator[str]:
    """What looks like a value: quoted, with a digit or sign in it, or a name inside a sentence."""
    for pattern in (_QUOTED, _MARKED, _NAMED):
        for found in list(pattern.finditer(text))[:_MOST]:
            yield found[found.lastindex or 0].strip(".,;:!?()\"'")
