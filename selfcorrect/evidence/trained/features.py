"""What the trained witness sees of a finding: words that are hashed, never the values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

from selfcorrect.evidence.clean import openings
from selfcorrect.evidence.faults.place import Places
from selfcorrect.evidence.parts import Part
from selfcorrect.model import ABSENT, Finding
from selfcorrect.pointer import split
from selfcorrect.text import words_of
from selfcorrect.weights import BUCKETS, MOST

LONGEST: Final = 600
"""Characters of a sentence that are looked at."""

_TOKEN: Final = re.compile("[\U000f0000-\U0010ffff]|[^\\W\\d_]+|\\d+|[?!%*<>=]")
_UNSPACED: Final = "\u2e80"
"""From here on writing puts no spaces between words: pairs of signs stand for them."""
_RUN: Final = 24
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?\Z")
_DATE: Final = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[/.]\d\d?[/.]\d{2,4}|\d\d?:\d\d")
_KEYWORDS: Final = (
    *("enum", "const", "format", "pattern", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"),
    *("uniqueItems", "items", "properties", "anyOf", "default"),
)


def features(part: Part) -> list[str]:
    """The features of what was read of an error, each once.

    `explain` shows them, `hashed` counts them.
    """
    finding, hidden, place = part.finding, part.hidden, part.place
    text = hidden.text[:LONGEST]
    own = next(openings(text))
    found = dict.fromkeys(_of_facts(finding))
    found |= dict.fromkeys(_of_place(finding, hidden, place))
    found |= dict.fromkeys(_of_words(list(_tokens(own)), place.names))
    found |= dict.fromkeys(f"behind:{token}" for token in _tokens(text[len(own) :]))
    return list(found)[:MOST]


def hashed(names: Sequence[str]) -> list[int]:
    """The buckets of features, in their order, each once."""
    return list(dict.fromkeys(crc32(name.encode("utf-8", "replace")) % BUCKETS for name in names))


def _tokens(text: str) -> Iterator[str]:
    """The words of a text without what is a caller's own: echoed values and numbers."""
    for word in _TOKEN.findall(text):
        echoed = word >= "\U000f0000"
        yield "<value>" if echoed else "0" if word.isdigit() else word.lower()


def _of_words(tokens: Sequence[str], names: Mapping[str, Any]) -> Iterator[str]:
    before = "^"
    for token in tokens:
        shown = "<name>" if token in names else token
        yield f"{before} {shown}"
        yield shown
        before = shown
    yield f"{before} $"
    for word in dict.fromkeys(tokens):
        if word[:1] >= _UNSPACED:
            yield from (word[at : at + 2] for at in range(min(len(word), _RUN) - 1))
        elif len(word) > 4:
            yield from _parts(word)


@lru_cache(maxsize=4096)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((word[:4] + "-", word[:5] + "-", "-" + word[-4:], "-" + word[-5:])))


def _of_facts(finding: Finding) -> Iterator[str]:
    yield f"kind={finding.kind}"
    yield f"category={finding.category}"
    if finding.status is not None:
        yield f"status={finding.status}"
        yield f"status={str(finding.status)[:1]}xx"
    if finding.code:
        yield f"code={finding.code[:60]}"
        for word in words_of(finding.code)[:8]:
            yield f"code:{word}"
    # The base of all classes says nothing, and a record of an error does not have it.
    for name in [each for each in finding.types if each != "Exception"][:4]:
        last = name.rpartition(".")[2]
        yield f"class={last}"
        for word in words_of(last)[:8]:
            yield f"class:{word}"
    for keyword in finding.constraint:
        yield f"constraint={keyword}"
    if finding.suggestions:
        yield "suggestions"


def _of_place(finding: Finding, hidden: Any, place: Places) -> Iterator[str]:
    echoed = [path for echo in hidden.echoes for path in echo.paths if echo.whole]
    named = [path.removeprefix("/args") for path in (*finding.paths, *echoed)]
    for path in list(dict.fromkeys(path for path in named if path))[:2]:
        for look in _looks(place.value(path)):
            yield f"value={look}"
        token = split(path)[-1]
        for word in words_of(token)[:4]:
            yield f"name:{word}"
        for keyword in _schema_of(place, path):
            yield f"schema={keyword}"
    if not named:
        yield "unplaced"
    if place.lacking:
        yield "lacking"
    if place.declared and any(path not in place.declared for path in place.top):
        yield "undeclared"
    if len(place.top) == 1:
        yield f"only:{split(place.top[0])[-1][:20].lower()}"


def _looks(value: Any) -> Iterator[str]:
    if value is ABSENT:
        yield "absent"
    elif value is None or isinstance(value, bool):
        yield "null" if value is None else "boolean"
    elif isinstance(value, int | float):
        yield "integer" if isinstance(value, int) else "fraction"
        yield "negative" if value < 0 else "zero" if value == 0 else "positive"
        if abs(value) > 1000:
            yield "large"
    elif isinstance(value, str):
        yield from _text_looks(value)
    elif isinstance(value, Mapping):
        yield "object" if value else "empty-object"
    else:
        yield "list" if value else "empty-list"


def _text_looks(value: str) -> Iterator[str]:
    yield "text"
    bare = value.strip()
    if not bare:
        yield "empty"
    elif _NUMBER.match(bare):
        yield "number-as-text"
    elif _DATE.search(value[:40]):
        yield "date-like"
    if len(value) > 60:
        yield "long"
    yield "words" if " " in bare else "word"


def _schema_of(place: Places, path: str) -> Iterator[str]:
    node: Any = place.schema
    for token in split(path):
        if not isinstance(node, Mapping):
            return
        inner = node.get("properties")
        node = node.get("items") if token.isdigit() else (inner or {}).get(token)
    if not isinstance(node, Mapping):
        return
    said = node.get("type")
    if isinstance(said, str):
        yield f"type-{said}"
    for keyword in _KEYWORDS:
        if keyword in node:
            yield keyword
    if isinstance(node.get("format"), str):
        yield f"format-{node['format'][:20]}"
