"""Which listed value a text means: the same letters, the same words, or one slip."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from selfcorrect.dictionary import stem
from selfcorrect.likeness import near_letters, typos
from selfcorrect.model import ABSENT, JSON, Safety
from selfcorrect.names import NEGATIONS, letters, words
from selfcorrect.schema.slot import Slot
from selfcorrect.values.reading import Reading

_MOST: Final = 20_000
"""Listed values beyond which none is compared with what was written."""
_LONGEST: Final = 200
_FILLERS: Final = frozenset(
    {
        *("class", "type", "kind", "mode", "level", "option", "style", "format", "value", "state"),
        *("status", "category", "grade", "unit", "the", "a", "an"),
    }
)
"""Words that name the sort of a value; beside a listed value they say nothing more."""
_TURNS: Final = NEGATIONS | {"in"}
"""They turn a meaning round even where they stand in the argument's own name."""


def read_choice(value: JSON, slot: Slot) -> Iterator[Reading]:
    """Read a scalar as one of the listed values."""
    if value is None or isinstance(value, list | dict) or len(text := str(value)) > _LONGEST:
        return
    if len(slot.choices) > _MOST:
        return
    same = [each for each in slot.choices if _is_same(text, str(each))]
    if same:
        for each in same:
            yield Reading(each, Safety.EXACT, "correct-enum")
        return
    for each in _by_words(text, slot) or _by_slip(text, slot.choices):
        yield Reading(each, Safety.INFERRED, "correct-enum")


def read_synonym(value: JSON, slot: Slot, synonyms: Mapping[str, JSON]) -> Iterator[Reading]:
    """Read a text as the listed value that a map names for it."""
    meant = synonyms.get("_".join(words(str(value))), ABSENT)
    if meant in slot.choices:
        yield Reading(meant, Safety.INFERRED, "correct-enum")


def _is_same(text: str, choice: str) -> bool:
    """Say whether two texts differ in case, spaces, hyphens and quotes only."""
    ours, theirs = text.strip(_QUOTES), choice.strip()
    # A sign that is left out may say something: `+5`, `A-`, `C#`, `1.5`.
    if _has_signs(ours) or _has_signs(theirs):
        return ours.lower() == theirs.lower()
    # `in active` is not `inactive`.
    turns = [_TURNS.intersection(words(each)) for each in (ours, theirs)]
    return turns[0] == turns[1] and _letters(ours) == _letters(theirs) != ("", [])


def _has_signs(text: str) -> bool:
    return not _PLAIN.fullmatch(text)


def _letters(text: str) -> tuple[str, list[str]]:
    # 1-5 is no 15.
    return _SEPARATORS.sub("", text).lower(), _DIGITS.findall(text)


_QUOTES: Final = " \t\r\n'\"`"
_PLAIN: Final = re.compile(r"[^\W_](?:[\w \-]*[^\W_])?")
_SEPARATORS: Final = re.compile(r"[ _\-]+")
_DIGITS: Final = re.compile(r"\d+")


def _by_words(text: str, slot: Slot) -> list[JSON]:
    """Return the values whose words stand in a text that says nothing else, or the reverse."""
    bare = text.strip(_QUOTES).removesuffix(".")
    if _has_signs(bare):
        return []
    listed = [_words(str(each)) for each in slot.choices]
    telling = _telling(listed)
    # A word that tells two listed values apart is not idle.
    idle = (_FILLERS | {each for each in words(slot.name) if len(each) > 1}) - _TURNS - telling
    ours = _words(bare)
    found: list[JSON] = []
    for choice, theirs in zip(slot.choices, listed, strict=True):
        if not _has_signs(str(choice).strip()) and (
            _is_number_of(ours, theirs)
            or _says_more(ours, theirs, idle)
            or _says_more(theirs, ours, _FILLERS - telling)
        ):
            found.append(choice)
    return found


def _is_number_of(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Say whether several words differ only in that one names many: a lone `weeks` is no `week`."""
    return len(ours) > 1 and [*map(stem, ours)] == [*map(stem, theirs)]


def _words(text: str) -> tuple[str, ...]:
    # Folding would make one word of `Maße` and `Masse`.
    return words(text) if text.isascii() else tuple(_WORD.findall(text.lower()))


_WORD: Final = re.compile(r"[^\W_]+")


def _telling(listed: Sequence[tuple[str, ...]]) -> set[str]:
    """Return the fillers that are all that a listed value says, or that tell two values apart."""
    bare = [tuple(word for word in each if word not in _FILLERS) for each in listed]
    times = Counter(bare)
    return {
        word
        for each, rest in zip(listed, bare, strict=True)
        for word in each
        if word in _FILLERS and (not rest or times[rest] > 1)
    }


def _says_more(more: Sequence[str], less: Sequence[str], idle: frozenset[str] | set[str]) -> bool:
    """Say whether one text holds the words of the other in a row, and else only idle ones."""
    size = len(less)
    starts = (
        at for at in range(len(more) - size + 1) if tuple(more[at : at + size]) == tuple(less)
    )
    return any({*more[:at], *more[at + size :]} <= idle for at in starts)


def _by_slip(text: str, choices: Sequence[JSON]) -> list[JSON]:
    return [each for each in choices if isinstance(each, str) and _is_slip(text, each)]


def _is_slip(text: str, choice: str) -> bool:
    """Say whether one letter of a text is wrong, left out, doubled, or two have changed places."""
    if _has_signs(text.strip(_QUOTES)) or _has_signs(choice):
        return False
    return near_letters(text, choice) and typos(letters(text), letters(choice)) == 1
