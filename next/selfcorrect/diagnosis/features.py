"""Features: what the witness sees of an error. Words and facts, never the caller's values."""

import re
from collections.abc import Iterator
from typing import Final

from selfcorrect.diagnosis.clues import Clues
from selfcorrect.diagnosis.places import MARK

_LONGEST: Final = 600
"""Characters of a sentence that are looked at."""
_GRAM: Final = 5
"""Characters of the pieces that stand for the stems and endings of words."""
_UNSPACED: Final = "\u2e80"
"""From here on writing puts no spaces between words; pairs of characters stand for them."""
_TOKEN: Final = re.compile(rf"{MARK}|[^\W\d_]+|\d+|[?!%*<>=]")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def features_of(clues: Clues) -> list[str]:
    """List the features of an error, each once."""
    names = {keys[-1].lower() for keys in clues.places.keys.values()}
    tokens = [
        "<value>" if word == MARK else "0" if word.isdigit() else word.lower()
        for word in _TOKEN.findall(clues.sentence.text[:_LONGEST])
    ]
    return list(dict.fromkeys((*_facts(clues), *_place(clues), *_words(tokens, names))))


def _words(tokens: list[str], names: set[str]) -> Iterator[str]:
    """Yield words, pairs and pieces of words; whole, an argument's name is just a name."""
    shown = ["<name>" if token in names else token for token in tokens]
    yield from shown
    yield from map(" ".join, zip(["^", *shown], [*shown, "$"], strict=True))
    if len(tokens) == 1:
        yield "lone-word"
    for word in dict.fromkeys(tokens):
        size = 2 if word[:1] >= _UNSPACED else _GRAM
        bounded = word if size == 2 else f"<{word}>"
        if len(word) > 3 or size == 2:
            yield from (f"~{bounded[at : at + size]}" for at in range(len(bounded) - size + 1))


def _facts(clues: Clues) -> Iterator[str]:
    yield f"status={clues.status}"
    yield f"status={str(clues.status)[:1]}xx"
    for code in clues.codes[:4]:
        yield f"code={code[:60]}"
        yield from (f"code:{word.lower()}" for word in _WORD.findall(code)[:8])
    for name in clues.classes[:3]:
        yield f"class={name.rpartition('.')[2]}"
        yield from (f"class:{word.lower()}" for word in _WORD.findall(name.rpartition(".")[2]))
    for kind, category in clues.hints:
        yield f"hint={kind}"
        yield f"hint={kind}/{category}"
    yield from (f"constraint={keyword}" for keyword in clues.constraint)


def _place(clues: Clues) -> Iterator[str]:
    places = clues.places
    for path in clues.blame.paths[:2]:
        value = places.values.get(path)
        yield f"value={type(value).__name__ if path in places.values else 'absent'}"
        yield f"empty={value in ('', [], {})}"
        yield from (f"name:{word.lower()}" for word in _WORD.findall(path.rpartition(".")[2]))
    if not clues.blame.paths:
        yield "unplaced"
    if not set(places.required) <= set(places.values):
        yield "lacking"
    if places.declared and not set(places.top) <= set(places.declared):
        yield "undeclared"
    if len(places.top) == 1:
        yield f"only:{places.top[0][:20].lower()}"
