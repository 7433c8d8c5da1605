"""Which listed value a text means: the same letters, the same words, or one slip."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set as AbstractSet
from functools import lru_cache

from selfcorrect.model import ABSENT, JSON, Safety
from selfcorrect.names.dictionary import stem
from selfcorrect.names.letters import NEGATIONS, letters, words
from selfcorrect.names.likeness import near_letters, typos
from selfcorrect.schema.place import Place
from selfcorrect.values.primitives import Reading
from selfcorrect.values.texts import unquote

_MOST = 200
"""Listed values beyond which none is compared word by word with what was written."""
_LONGEST = 200
_SORTS = "class type kind mode level option style format value state status category grade"
_FILLERS = frozenset({*_SORTS.split(), "unit", "the"})
"""Words that name the sort of a value; beside a listed value they say nothing more."""
_TURNS = NEGATIONS | {"in"}
"""They turn a meaning round even where they stand in the argument's own name."""
_PREFIXES = _TURNS | {"a", "re"}
"""A word of its own is not part of another one: `a typical` is not `atypical`."""


def read_choice(value: JSON, place: Place) -> Iterator[Reading]:
    """Read a scalar as one of the listed values."""
    if value is None or isinstance(value, list | dict) or len(text := str(value)) > _LONGEST:
        return
    bare, index = unquote(text), _index(place)
    if same := index.get(_key(bare), ()):
        # 3.1 may have been written 3.10.
        is_cut = isinstance(value, float) and _key(f"{text}0") in index
        for choice in same:
            yield Reading(choice, Safety.EXACT, "correct-enum", is_cut)
    elif len(place.choices) <= _MOST and not _has_signs(bare.removesuffix(".")):
        by_words = _by_words(bare, place)
        for choice in by_words or index.get(_stems(bare)) or _by_slip(bare, place):
            yield Reading(choice, Safety.INFERRED, "correct-enum", not by_words)


def read_synonym(value: JSON, place: Place, synonyms: Mapping[str, JSON]) -> Iterator[Reading]:
    """Read a text as the listed value that a map names for it."""
    meant = synonyms.get("_".join(words(str(value))), ABSENT)
    if meant is not ABSENT and meant in place.choices:
        yield Reading(meant, Safety.INFERRED, "correct-enum")


@lru_cache(maxsize=64)
def _index(place: Place) -> Mapping[Hashable, Sequence[JSON]]:
    """Return the listed values by their letters, and by their words in the singular."""
    index: dict[Hashable, list[JSON]] = defaultdict(list)
    for choice in place.choices:
        text = str(choice).strip()
        index[_key(text)].append(choice)
        index[_stems(text)].append(choice)
    index.pop((), None)
    return index


def _key(text: str) -> Hashable:
    """Return what two texts share that differ in case, spaces and hyphens only."""
    # A sign that is left out may say something: `+5`, `A-`, `C#`, `1.5`.
    if _has_signs(text):
        return text.lower()
    # 1-5 is not 15.
    turns = tuple(word for word in words(text) if word in _PREFIXES)
    return turns, _SEPARATORS.sub("", text).lower(), tuple(_DIGITS.findall(text))


def _has_signs(text: str) -> bool:
    return not _PLAIN.fullmatch(text)


_PLAIN = re.compile(r"[^\W_](?:[\w \-]*[^\W_])?")
_SEPARATORS = re.compile(r"[ _\-]+")
_DIGITS = re.compile(r"\d+")


def _stems(text: str) -> tuple[str, ...]:
    """Return the singular of several words, none for a lone one: `weeks` is not `week`."""
    plain = () if _has_signs(text) else _words(text)
    return tuple(map(stem, plain)) if len(plain) > 1 else ()


def _words(text: str) -> tuple[str, ...]:
    # Folding would make one word of `Maße` and `Masse`.
    return words(text) if text.isascii() else tuple(_WORD.findall(text.lower()))


_WORD = re.compile(r"[^\W_]+")


def _by_words(text: str, place: Place) -> list[JSON]:
    """Return the values whose words stand in a text that says nothing else, or the reverse."""
    listed, needed = _listed(place)
    fillers = _FILLERS - needed
    names = {word for word in words(place.name) if len(word) > 1} - _TURNS - needed
    ours = _words(text)
    return [
        choice
        for choice, theirs in listed
        if _says_more(ours, theirs, fillers | names) or _says_more(theirs, ours, fillers)
    ]


@lru_cache(maxsize=64)
def _listed(place: Place) -> tuple[Sequence[tuple[JSON, tuple[str, ...]]], set[str]]:
    """Return the listed values without signs and their words, and what tells values apart."""
    listed = [(choice, _words(str(choice))) for choice in place.choices]
    plain = [pair for pair in listed if not _has_signs(str(pair[0]).strip())]
    return plain, _needed_fillers([theirs for _, theirs in listed])


def _needed_fillers(listed: Sequence[tuple[str, ...]]) -> set[str]:
    """Return the fillers that are all that a listed value says, or that tell two values apart."""
    bare = [tuple(word for word in each if word not in _FILLERS) for each in listed]
    times = Counter(bare)
    return {
        word
        for each, rest in zip(listed, bare, strict=True)
        for word in each
        if word in _FILLERS and (not rest or times[rest] > 1)
    }


def _says_more(more: Sequence[str], less: Sequence[str], fillers: AbstractSet[str]) -> bool:
    """Say whether one text holds the words of the other in a row, and else only fillers."""
    size = len(less)
    return less[0] in more and any(
        more[at : at + size] == less and {*more[:at], *more[at + size :]} <= fillers
        for at in range(len(more) - size + 1)
    )


def _by_slip(text: str, place: Place) -> list[JSON]:
    return [each for each, _ in _listed(place)[0] if isinstance(each, str) and _is_slip(text, each)]


def _is_slip(text: str, choice: str) -> bool:
    """Say whether one letter of a text is wrong, left out, doubled, or two have changed places."""
    return near_letters(text, choice) and typos(letters(text), letters(choice)) == 1
