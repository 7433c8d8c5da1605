"""Which listed value a text means: the same letters, the same words, or one slip."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from selfcorrect.dictionary import stem
from selfcorrect.likeness import near_letters, typos
from selfcorrect.model import ABSENT, JSON, Safety
from selfcorrect.names import NEGATIONS, letters, words
from selfcorrect.schema.slot import Slot
from selfcorrect.values.reading import Reading
from selfcorrect.values.texts import unquote

_MOST: Final = 300
"""Listed values beyond which none is compared word by word with what was written."""
_LONGEST: Final = 200
_SORTS: Final = "class type kind mode level option style format value state status category grade"
_FILLERS: Final = frozenset({*_SORTS.split(), "unit", "the", "a", "an"})
"""Words that name the sort of a value; beside a listed value they say nothing more."""
_TURNS: Final = NEGATIONS | {"in"}
"""They turn a meaning round even where they stand in the argument's own name."""
_PREFIXES: Final = _TURNS | {"a", "re"}
"""What stands apart is no part of a word: `a typical` is not `atypical`."""


def read_choice(value: JSON, slot: Slot) -> Iterator[Reading]:
    """Read a scalar as one of the listed values."""
    if value is None or isinstance(value, list | dict) or len(text := str(value)) > _LONGEST:
        return
    index = _index(slot)
    if same := index.get(_key(unquote(text)), ()):
        # 3.1 may have been written 3.10.
        is_cut = isinstance(value, float) and _key(f"{text}0") in index
        for each in same:
            yield Reading(each, Safety.EXACT, "correct-enum", is_cut)
    elif len(slot.choices) <= _MOST:
        found = _by_words(text, slot)
        for each in found or _by_letters(text, slot.choices):
            yield Reading(each, Safety.INFERRED, "correct-enum", not found)


def read_synonym(value: JSON, slot: Slot, synonyms: Mapping[str, JSON]) -> Iterator[Reading]:
    """Read a text as the listed value that a map names for it."""
    meant = synonyms.get("_".join(words(str(value))), ABSENT)
    if meant is not ABSENT and meant in slot.choices:
        yield Reading(meant, Safety.INFERRED, "correct-enum")


@lru_cache(maxsize=64)
def _index(slot: Slot) -> Mapping[Hashable, Sequence[JSON]]:
    """Return the listed values by what is the same in all spellings of them."""
    found: dict[Hashable, list[JSON]] = defaultdict(list)
    for each in slot.choices:
        found[_key(str(each).strip())].append(each)
    return dict(found)


def _key(text: str) -> Hashable:
    """Return what two texts share that differ in case, spaces and hyphens only."""
    # A sign that is left out may say something: `+5`, `A-`, `C#`, `1.5`.
    if _has_signs(text):
        return text.lower()
    # 1-5 is no 15.
    turns = tuple(word for word in words(text) if word in _PREFIXES)
    return turns, _SEPARATORS.sub("", text).lower(), tuple(_DIGITS.findall(text))


def _has_signs(text: str) -> bool:
    return not _PLAIN.fullmatch(text)


_PLAIN: Final = re.compile(r"[^\W_](?:[\w \-]*[^\W_])?")
_SEPARATORS: Final = re.compile(r"[ _\-]+")
_DIGITS: Final = re.compile(r"\d+")


def _by_words(text: str, slot: Slot) -> list[JSON]:
    """Return the values whose words stand in a text that says nothing else, or the reverse."""
    bare = unquote(text).removesuffix(".")
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
            _says_more(ours, theirs, idle) or _says_more(theirs, ours, _FILLERS - telling)
        ):
            found.append(choice)
    return found


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


def _by_letters(text: str, choices: Sequence[JSON]) -> list[JSON]:
    """Return the values that a text names but for a slip, or but for naming many of a thing."""
    bare = unquote(text)
    listed = [each for each in choices if isinstance(each, str) and not _has_signs(each)]
    if _has_signs(bare):
        return []
    return [each for each in listed if _is_slip(bare, each) or _is_number_of(bare, each)]


def _is_slip(text: str, choice: str) -> bool:
    """Say whether one letter of a text is wrong, left out, doubled, or two have changed places."""
    return near_letters(text, choice) and typos(letters(text), letters(choice)) == 1


def _is_number_of(text: str, choice: str) -> bool:
    """Say whether several words differ only in that one names many: a lone `weeks` is no `week`."""
    ours, theirs = ([*map(stem, _words(each))] for each in (text, choice))
    return len(ours) > 1 and ours == theirs
