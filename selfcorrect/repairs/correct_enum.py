"""correct-enum: the listed value that was meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from selfcorrect.model import JSON, Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.protocols import RepairContext
from selfcorrect.redaction import quoted
from selfcorrect.schema.places import Place, present, without
from selfcorrect.schema.subschema import strings
from selfcorrect.text import (
    LONGEST,
    VALUE_SLIP,
    is_pulled_apart,
    is_spelling_of,
    misspells,
    plain_letters,
    rivals,
    spelling,
    tokens,
)
from selfcorrect.words import NEGATIONS, SHORT_WORDS, WORDS, singular

GENERIC: Final = frozenset(
    {
        "category",
        "choice",
        "class",
        "facility",
        "feature",
        "format",
        "grade",
        "kind",
        "level",
        "method",
        "mode",
    }
    | {"option", "setting", "sort", "state", "status", "style", "type", "unit", "value"}
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
_AND_SIGN: Final = re.compile(r"\s*&\s*")
_JOINING: Final = frozenset({"and", "or", "plus", "but", "to", "vs"})


@dataclass(frozen=True, slots=True)
class CorrectEnum:
    """Takes the listed value that was meant: `"Business"` or `"business class"` as `"business"`.

    Exact where only case, spaces and separators differ. Inferred for a synonym, a noun that says
    nothing (`class`, `type`, the parameter's own name), a plural, a missing accent or a slip of the
    pen. A word that qualifies (`"premium economy"`), a negation, a word pulled apart (`"in
    active"`), the beginning of two values, or two values equally near are refused.

    Attributes:
        synonyms: What else a listed value is called here: `{coach = "economy"}`.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> schema = {"properties": {"cabin": {"enum": ["economy", "business"]}}}
    >>> change = try_strategy(CorrectEnum(), schema, {"cabin": "Business class"}).changes[0]
    >>> change.after, change.safety.value
    ('business', 'inferred')
    >>> try_strategy(CorrectEnum(), schema, {"cabin": "premium economy"})
    GiveUp(reason='no listed value is meant with a clear margin by "premium economy"')
    """

    name: ClassVar[str] = "correct-enum"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.EXACT, Safety.INFERRED)
    needs: ClassVar[str] = "nothing"

    synonyms: Mapping[str, JSON] = field(default_factory=dict)

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Correct the value at the first finding."""
        place = present(call, diagnosis.finding, context)
        if isinstance(place, GiveUp):
            return place
        if (nothing := without(place)) is not None:
            return nothing
        members = place.members
        text = _as_text(place.value)
        if not members:
            if text is not None and not place.own and text.strip() not in ("", text):
                return place.mend(text.strip(), Safety.EXACT, "white space around a value")
            return GiveUp("the schema lists no values here")
        if text is None or len(text) > LONGEST:
            return GiveUp("the value is no short text")
        return self._corrected(place, text, members)

    def _corrected(self, place: Place, text: str, members: Sequence[JSON]) -> Repair:
        equal = [one for one in members if _is_spelled(one, text)]
        if equal and not _keeps_units(text, equal, members):
            return GiveUp("capital and small letters mean different things here")
        if len(equal) == 1:
            return place.mend(equal[0], Safety.EXACT, "another spelling of a listed value")
        if equal:
            return _tie(equal)
        known = {spelling(key): value for key, value in self.synonyms.items()}
        if (meant := known.get(spelling(text))) is not None and meant in members:
            return place.mend(meant, Safety.INFERRED, "a synonym that the map gives")
        for reason, matches in _TIERS:
            found = list(matches(text, strings(members), place))
            if len(found) > 1:
                return _tie(found)
            if found and is_pulled_apart(text, found[0]):
                break
            if found and len(begun := _begun_by(text, found[0], members)) > 1:
                return _tie(begun)
            if found:
                return place.mend(found[0], Safety.INFERRED, reason)
        shown = quoted(text, 60)
        return GiveUp(f"no listed value is meant with a clear margin by {shown}")


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
    return begun if found in begun else []


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


_UNIT: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}(?![^\W\d_])")


def _tie(found: Sequence[JSON]) -> GiveUp:
    listed = ", ".join(quoted(str(one), 40) for one in found[:5])
    return GiveUp(f"several listed values are equally near: {listed}")


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
        idle = (GENERIC | _ARTICLES | _LIGHT | own) - NEGATIONS - elsewhere
        if not _PERIODS.isdisjoint(words):
            idle |= _PAST - elsewhere
        said = [
            word
            for word in ours
            if word in words or idle.isdisjoint({word, SHORT_WORDS.get(word, word)})
        ]
        asked = [word for word in words if word in ours or word not in GENERIC]
        if said != asked or GENERIC.issuperset(said):
            continue
        fuller = (one for one, other in theirs.items() if one != member and set(ours) <= set(other))
        if len(asked) == len(words) or next(fuller, None) is None:
            yield member


def _signs_for_and(text: str, members: Collection[str], _: Place) -> Iterator[str]:
    """The members that differ in `&` for `and`."""
    key = spelling(_AND_SIGN.sub(" and ", text))
    if key:
        yield from (one for one in members if spelling(_AND_SIGN.sub(" and ", one)) == key)


def _forms(text: str, members: Collection[str], _: Place) -> Iterator[str]:
    """The members with a verb in another form (`heating`, `heat`), and all others with it."""
    ours = tokens(text)
    if not ours or not _only_words(text):
        return
    for member in members:
        theirs = tokens(member)
        if len(theirs) != len(ours) or not _only_words(member):
            continue
        pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
        if len(pairs) == 1 and _is_form(*pairs[0]):
            yield member
            stem = _stem(pairs[0][1])
            yield from (o for o in members if o != member and any(map(_starts(stem), tokens(o))))


def _is_form(one: str, other: str) -> bool:
    stem = _stem(one)
    return one.endswith("ing") != other.endswith("ing") and len(stem) > 2 and stem == _stem(other)


def _stem(word: str) -> str:
    bare = word.removesuffix("ing") if len(word) > 5 else word
    bare = bare.removesuffix("e")
    return bare[:-1] if bare[-2:-1] == bare[-1:] else bare


def _starts(stem: str) -> Callable[[str], bool]:
    return lambda word: word.startswith(stem)


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


_TIERS: Final[Sequence[tuple[str, Callable[[str, Collection[str], Place], Iterator[str]]]]] = (
    ("a listed value without its accents", _without_accents),
    ("a listed value with another sign for and", _signs_for_and),
    ("a listed value and words that say nothing more", _same_words),
    ("another form of a listed verb", _forms),
    ("a listed value with a slip of the pen", _slips),
)
