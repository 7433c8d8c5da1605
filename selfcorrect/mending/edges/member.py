"""The listed value that was meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from selfcorrect.mending.choice import Contested, Fit, candidate
from selfcorrect.model import JSON
from selfcorrect.redaction import quoted
from selfcorrect.schema.places import Place
from selfcorrect.schema.subschema import strings
from selfcorrect.text import (
    LONGEST,
    VALUE_SLIP,
    Unclear,
    is_pulled_apart,
    is_spelling_of,
    misspells,
    plain_letters,
    rivals,
    spelling,
    tokens,
)
from selfcorrect.words import NEGATIONS, SHORT_WORDS, WORDS, singular

_GENERIC: Final = frozenset(
    {"category", "choice", "class", "facility", "feature", "format", "grade", "kind", "level"}
    | {"method", "mode", "option", "setting", "sort", "state", "status", "style", "type", "unit"}
    | {"value"}
)
"""Nouns that name the sort of a value and say nothing of the value itself."""
_ARTICLES: Final = frozenset({"a", "an", "the"})
_LIGHT: Final = frozenset(
    {"has", "have", "having", "with", "is", "are", "being"}
    | {"offer", "offering", "include", "including", "provide", "providing", "operate", "operating"}
)
"""Words that only tie a value to what it is said of: `"operates 24 hours"`, `"with parking"`."""
_PERIODS: Final = frozenset({"hour", "day", "week", "month", "quarter", "year"})
_PAST: Final = frozenset({"last", "past", "previous"})
"""What says nothing more of a period, unless a listed value says it."""
_JOINING: Final = frozenset({"and", "or", "plus", "but", "to", "vs"})
_UNIT: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}(?![^\W\d_])")


@dataclass(frozen=True, slots=True)
class Member:
    """The listed value that was meant.

    Attributes:
        synonyms: What else a listed value is called here.
    """

    synonyms: Mapping[str, JSON] = field(default_factory=dict)

    def __call__(self, value: JSON, want: Place) -> Iterator[Fit]:
        """Take the listed value that differs in spelling only, or in words that say nothing."""
        members = want.members
        said = _as_text(value)
        if not members:
            if said is not None and not want.own and said.strip() not in ("", said):
                yield candidate(said.strip(), "spelling", "white space around a value")
                return
            raise Unclear("the schema lists no values here")
        if said is None or len(said) > LONGEST:
            raise Unclear("the value is no short text")
        equal = [one for one in members if _is_spelled(one, said)]
        if equal and not _keeps_units(said, equal, members):
            raise Contested("capital and small letters mean different things here")
        if equal:
            one = _only(equal)
            yield candidate(one, "spelling", "another spelling of a listed value")
            return
        known = {spelling(key): meant for key, meant in self.synonyms.items()}
        if (meant := known.get(spelling(said))) is not None and meant in members:
            yield candidate(meant, "synonym", "a synonym that the map gives")
            return
        for cost, reason, matches in _TIERS:
            found = [*matches(said, strings(members), want)]
            if found and not (len(found) == 1 and is_pulled_apart(said, found[0])):
                _only(_begun_by(said, _only(found), members))
                yield candidate(found[0], cost, reason)
            if found:
                return
        shown = quoted(said, 60)
        raise Unclear(f"no listed value is meant with a clear margin by {shown}")


def _only(found: Sequence[JSON]) -> JSON:
    """The one value that was found.

    Raises:
        Contested: If there are more.
    """
    if len(found) > 1:
        listed = ", ".join(quoted(str(one), 40) for one in found[:5])
        raise Contested(f"several listed values are equally near: {listed}")
    return found[0]


def _as_text(value: JSON) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 64:
        return str(value)
    return None


def _is_spelled(member: JSON, text: str) -> bool:
    member = _as_text(member)
    return member is not None and is_spelling_of(text, member)


def _begun_by(text: str, found: str, members: Sequence[JSON]) -> list[str]:
    """The listed values that a text is the beginning of, if the one that was found is one."""
    start = spelling(text)
    begun = [one for one in strings(members) if spelling(one).startswith(start)]
    return begun if found in begun else [found]


def _keeps_units(text: str, equal: Sequence[JSON], members: Sequence[JSON]) -> bool:
    """Whether short words keep their case where the listed values tell `5m` and `1M` apart."""
    listed = {unit for one in strings(members) for unit in _UNIT.findall(one)}
    telling = {unit for unit in listed if unit.swapcase() in listed}
    if not telling:
        return True
    ours = _UNIT.findall(text)
    both = telling | {unit.swapcase() for unit in telling}
    return any(
        [unit for unit in ours if unit in both] == [u for u in _UNIT.findall(one) if u in both]
        for one in strings(equal)
    )


def _without_accents(text: str, members: Collection[str], _: Place) -> Iterator[str]:
    key = plain_letters(text)
    if key:
        yield from (one for one in members if plain_letters(one) == key)


def _same_words(text: str, members: Collection[str], place: Place) -> Iterator[str]:
    """Members whose words are those of the text, but for plurals and nouns that say nothing."""
    ours = _words(text)
    if not ours or _is_joined(text) or not _only_words(text):
        return
    own = {singular(word) for word in tokens(place.name)}
    theirs = {one: _words(one) for one in members if _only_words(one)}
    uses = Counter(word for words in theirs.values() for word in set(words))
    for member, words in theirs.items():
        elsewhere = {word for word in ours if uses[word] > (word in words)}
        idle = (_GENERIC | _ARTICLES | _LIGHT | own) - NEGATIONS - elsewhere
        if not _PERIODS.isdisjoint(words):
            idle |= _PAST - elsewhere
        said = [
            word
            for word in ours
            if word in words or idle.isdisjoint({word, SHORT_WORDS.get(word, word)})
        ]
        asked = [word for word in words if word in ours or word not in _GENERIC]
        if said != asked or _GENERIC.issuperset(said):
            continue
        fuller = (one for one, other in theirs.items() if one != member and set(ours) <= set(other))
        if len(asked) == len(words) or next(fuller, None) is None:
            yield member


def _slips(text: str, members: Collection[str], place: Place) -> Iterator[str]:
    """The members that differ by a slip inside one word, and those that are nearly as near."""
    ours = tokens(text)
    known = WORDS | {singular(word) for word in tokens(place.description[:LONGEST])}
    found: list[str] = []
    for member in members:
        theirs = tokens(member)
        if not ours or len(theirs) != len(ours) or not _only_words(member):
            continue
        pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
        if len(pairs) == 1 and misspells(*pairs[0], VALUE_SLIP, known) is not None:
            found.append(member)
    for member in found:
        yield member
        yield from (one for one in rivals(text, member, members) if one not in found)


def _words(text: str) -> tuple[str, ...]:
    return tuple(singular(word) for word in tokens(text))


def _is_joined(text: str) -> bool:
    return bool(set(tokens(text)) & (_JOINING | NEGATIONS)) or any(c in text for c in ",;|&+")


def _only_words(text: str) -> bool:
    """Whether a text is made of words alone: a sign or a symbol would be lost in comparison."""
    bare = text.strip()
    framed = bare[:1].isalnum() and (bare[-1:].isalnum() or bare[-1:] == ".")
    return framed and len(text) <= LONGEST and all(c.isalnum() or c in " _-.'/" for c in bare)


_Match = Callable[[str, Collection[str], Place], Iterator[str]]
_TIERS: Final[Sequence[tuple[str, str, _Match]]] = (
    ("same-words", "a listed value without its accents", _without_accents),
    ("same-words", "a listed value and words that say nothing more", _same_words),
    ("slip", "a listed value with a slip of the pen", _slips),
)
