"""What the description of an argument speaks of."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from selfcorrect.text import tokens
from selfcorrect.words import NEGATIONS, SHORT_WORDS, singular

_LONGEST: Final = 600
_SENTENCE: Final = re.compile(r"(?<=[a-z)])[.;:(](?:\s|$)|\s\(|,?\s(?:e\.g|i\.e|eg|ex)\b\.?|\n")
_OPENERS: Final = frozenset({"optional", "required", "mandatory", "deprecated"})
_STOPPERS: Final = frozenset(
    {"are", "as", "at", "be", "being", "between", "by", "for", "from", "have", "if", "in", "into"}
    | {"is", "like", "on", "per", "such", "that", "to", "used", "using", "via", "was", "what"}
    | {"when", "where", "which", "who", "whose", "will", "with", "you", "your", "the"}
    | {"after", "before", "excluding", "including", "times", "unless", "until", "without"}
)
_TURNS: Final = NEGATIONS | {"false", "off", "otherwise", "unless"}
_GENERIC: Final = frozenset(
    {"a", "an", "the", "and", "or", "of", "array", "collection", "dict", "dictionary", "id"}
    | {"identifier", "list", "name", "number", "object", "set", "string", "text", "title", "type"}
    | {"value", "desired", "specified", "specific", "given", "optional", "required", "this"}
)

_ENDS: Final = frozenset(
    {"minimum", "maximum", "min", "max", "lowest", "highest", "lower", "upper", "start", "end"}
    | {"first", "last", "earliest", "latest", "begin", "beginning"}
)
"""One end of something; what speaks of both ends is neither of them."""


def speaks_of(description: str, words: Collection[str]) -> bool:
    """Whether these words name what a description begins with: its noun phrase, by its noun.

    >>> speaks_of("The name of the city, e.g. Oslo. Where to look.", {"city"})
    True
    >>> speaks_of("Message to the recipient", {"recipient"})
    False
    >>> speaks_of("Minimum price and maximum price", {"minimum", "price"})
    False
    >>> speaks_of("Latitude and longitude", {"longitude"})
    False
    """
    phrase, nouns, heads = _subject(description[:_LONGEST])
    ends = phrase & _ENDS
    if ends.intersection(words) and ends.difference(words):
        return False
    return bool(words) and phrase.issuperset(words) and any(noun in words for noun in nouns[:heads])


def subject_of(description: str) -> frozenset[str]:
    """The words of the noun phrase that a description begins with, if it is about one thing.

    >>> sorted(subject_of("The departure airport, as a code"))
    ['airport', 'departure']
    >>> sorted(subject_of("Minimum price and maximum size"))
    []
    """
    phrase, nouns, _ = _subject(description[:_LONGEST])
    return phrase if len(nouns) == 1 and len(phrase & _ENDS) <= 1 else frozenset()


def is_turned(description: str) -> bool:
    """Whether the first sentence says what is so if something is not: `Hidden unless set`.

    >>> is_turned("Quiet mode if false"), is_turned("Include spam. False by default.")
    (True, False)
    """
    first = _SENTENCE.split(description[:_LONGEST])[0]
    return not _TURNS.isdisjoint(_split(first))


def terms_of(description: str) -> frozenset[str]:
    """All words of a description, in the singular; bounded.

    >>> "score" in terms_of("keys represent subjects and values represent scores")
    True
    """
    return _all_words(description[:_LONGEST])


def named_order(description: str, keys: Collection[str]) -> list[str] | None:
    """The keys in the order in which a description names them, or None if it does not.

    >>> named_order("Latitude and longitude of the place", ["longitude", "lat"])
    ['lat', 'longitude']
    """
    words = _split(description[:_LONGEST])
    first: dict[int, str] = {}
    last: dict[int, str] = {}
    for key in keys:
        found = [i for i, word in enumerate(words) if _is_word_for(key, word)]
        if not found or found[0] in first:
            return None
        first[found[0]] = last[found[-1]] = key
    order = [first[index] for index in sorted(first)]
    return order if order == [last[index] for index in sorted(last)] else None


def _is_word_for(key: str, word: str) -> bool:
    own = tokens(key)
    if len(own) != 1:
        return False
    meant = SHORT_WORDS.get(own[0], own[0])
    return singular(word) == singular(meant) or (len(own[0]) >= 3 and word.startswith(own[0]))


@lru_cache(maxsize=2_048)
def _subject(description: str) -> tuple[frozenset[str], tuple[str, ...], int]:
    """The words of the first noun phrase, the noun of each of its parts, and how many of them lead.

    What an `and` adds does not: a location that is a city and a state may be called a city.
    """
    for sentence in _SENTENCE.split(description):
        words = _split(sentence)
        if words and not set(words) <= _OPENERS:
            parts = [[word for word in part if word not in _GENERIC] for part in _parts(words)]
            nouns = tuple(part[-1] for part in parts if part)
            leading = words[: words.index("and")] if "and" in words else words
            heads = 1 + leading.count("or")
            return frozenset(word for part in parts for word in part), nouns, heads
    return frozenset(), (), 0


def _parts(words: list[str]) -> list[list[str]]:
    """What `and` and `or` join in the noun phrase that a sentence begins with."""
    parts: list[list[str]] = [[]]
    for word in words[:12]:
        if word in ("and", "or"):
            parts.append([])
        elif word == "of":
            if not _GENERIC.issuperset(parts[-1]):
                break
        elif word in _STOPPERS and (word != "the" or not _GENERIC.issuperset(parts[-1])):
            break
        else:
            parts[-1].append(singular(word))
    return parts


@lru_cache(maxsize=2_048)
def _all_words(description: str) -> frozenset[str]:
    return frozenset(map(singular, _split(description)))


def _split(text: str) -> list[str]:
    return [word for piece in text.split() for word in tokens(piece) if word != "s"]
