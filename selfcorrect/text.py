"""Distances, normal forms and tokens: how names and words are compared, everywhere.

Nothing here decides what may run; it says how alike two texts are. Every function takes bounded
time for any input: names longer than `LONGEST` are never compared fuzzily.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final

from selfcorrect.words import WORDS, american, is_english, singular

LONGEST: Final = 200
"""Characters of a name that is compared fuzzily; no tool, argument or enum value is longer."""

_LONGEST_FORM: Final = 1_000
_MOST_NAMES: Final = 5_000
_MOST_TOLD: Final = 20

_SHORTEST_PART: Final = 4
"""Letters of a word that says the same when it is joined to the next: `full time`."""

LONGEST_TYPO: Final = 4
"""Edits beyond which two names have nothing to do with each other."""


class Unclear(ValueError):
    """A text means nothing that is asked for, or could mean more than one thing; says which.

    Attributes:
        readings: What it could mean, in words, where these are few, and the value of each.
    """

    def __init__(self, reason: str, readings: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Say why, and between what it is unclear."""
        super().__init__(reason)
        self.readings = readings


def normal(text: str) -> str:
    r"""Letters and digits only, NFKC, casefolded; an empty result matches nothing.

    Combining marks stay, because they are part of a letter in many scripts.

    >>> normal("Vector-Search"), normal("--"), normal("\uff46light")
    ('vectorsearch', '', 'flight')
    """
    return _normal(text) if len(text) <= _LONGEST_FORM else ""


@lru_cache(maxsize=1_024)
def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    if folded.isascii():
        return "".join(c for c in folded if c.isalnum())
    return "".join(c for c in folded if unicodedata.category(c)[0] in "LNM")


_SEPARATORS: Final = re.compile(r"(?<=[^\W_])[\s_.\-\u2010-\u2015]+(?=[^\W_])")
_QUOTES: Final = frozenset({"''", '""', "``", "\u201c\u201d", "\u2018\u2019"})


def spelling(text: str) -> str:
    """The same text for spellings that differ in case, separators and outer quotes only.

    Separators between two digits carry meaning and stay; so do signs and symbols.

    >>> spelling(" Business Class "), spelling("business_class"), spelling("businessClass")
    ('businessclass', 'businessclass', 'businessclass')
    >>> spelling("v1.0") == spelling("v10"), spelling("-1") == spelling("1")
    (False, False)
    """
    return _spelling(text) if len(text) <= _LONGEST_FORM else ""


@lru_cache(maxsize=1_024)
def _spelling(text: str) -> str:
    text = unicodedata.normalize("NFC", text).strip()
    if len(text) > 1 and text[0] + text[-1] in _QUOTES:
        text = text[1:-1].strip()
    text = text.strip("_").casefold()
    return _SEPARATORS.sub(lambda found: _kept(text, found), text)


def _kept(text: str, found: re.Match[str]) -> str:
    between_digits = text[found.start() - 1].isdigit() and text[found.end()].isdigit()
    return found[0] if between_digits else ""


def is_spelling_of(text: str, meant: str) -> bool:
    """Whether two texts have one spelling, and no word of `meant` was pulled apart.

    A short part of a word may be a word of its own: `in active` is not `inactive`.

    >>> is_spelling_of("Business Class", "business_class"), is_spelling_of("e-mail", "email")
    (True, True)
    >>> is_spelling_of("in active", "inactive")
    False
    """
    key = spelling(text)
    return key != "" and key == spelling(meant) and not is_pulled_apart(text, meant)


def is_pulled_apart(text: str, meant: str) -> bool:
    """Whether a text writes one word of another text as two, one of them short."""
    if plain_letters(text) != plain_letters(meant):
        return False
    ours, theirs = re.split(r"[\s_]+", text.strip(" _\t\n'\"`")), tokens(meant)
    apart = {*accumulate(map(_letters, ours))} - {*accumulate(map(_letters, theirs))}
    return bool(apart) and min(map(_letters, ours)) < _SHORTEST_PART


def _letters(text: str) -> int:
    return len(normal(text))


def plain_letters(text: str) -> str:
    """The spelling without accents: `Zürich` and `zurich` are one."""
    if len(text) > LONGEST:
        return ""
    parts = unicodedata.normalize("NFKD", text)
    return spelling("".join(c for c in parts if not unicodedata.combining(c)))


def tokens(text: str) -> tuple[str, ...]:
    """The words of a name, lower-cased: split at separators, case, acronym and digit borders.

    >>> tokens("getHTTPServer2_name")
    ('get', 'http', 'server', '2', 'name')
    """
    return _tokens(text) if len(text) <= LONGEST else ()


def words_of(name: str) -> list[str]:
    """The words of a name in the singular, bounded.

    >>> words_of("departureDates")
    ['departure', 'date']
    """
    return [singular(word) for word in tokens(name[:LONGEST])]


@lru_cache(maxsize=4_096)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _words(text, _is_border))


def _words(text: str, is_border: Callable[[str, int], bool]) -> list[str]:
    words = [""]
    for index, char in enumerate(text):
        is_part = char.isalnum() or unicodedata.category(char)[0] == "M"
        if not is_part or (words[-1] and is_border(text, index)):
            words.append("")
        if is_part:
            words[-1] += char
    return [word for word in words if word]


def _is_border(text: str, index: int) -> bool:
    before, here = text[index - 1], text[index]
    if before.isdigit() != here.isdigit():
        return True
    if before.islower() and here.isupper():
        return True
    after = text[index + 1 : index + 2]
    return before.isupper() and here.isupper() and after.islower()


def distance(one: str, other: str, limit: int) -> int | None:
    """Edits between two texts (a swap of neighbours is one edit), or None if more than `limit`.

    >>> distance("serach", "search", 2), distance("delete", "create", 2)
    (1, None)
    """
    return _edits(one, other, limit, lambda _a, _b: True)


def slips(one: str, other: str, limit: int) -> int | None:
    """Like `distance`, but a letter only slips to a neighbouring key or from vowel to vowel.

    `close` is therefore not a slip of `clone`, though one edit apart.
    """
    return _edits(one, other, limit, _easily_confused)


_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_KEYS: Final = {key: (r, c + r * 0.4) for r, row in enumerate(_ROWS) for c, key in enumerate(row)}
_ALIKE: Final = (frozenset("aeiouy"), frozenset("cks"), frozenset("sz"))


def _easily_confused(one: str, other: str) -> bool:
    if any(one in group and other in group for group in _ALIKE):
        return True
    here, there = _KEYS.get(one), _KEYS.get(other)
    if here is None or there is None:
        return False
    return abs(here[0] - there[0]) <= 1 and abs(here[1] - there[1]) < 1.5


def _edits(one: str, other: str, limit: int, may_replace: Callable[[str, str], bool]) -> int | None:
    """Optimal string alignment within a band of `limit` around the diagonal."""
    if one == other:
        return 0
    if abs(len(one) - len(other)) > limit or max(len(one), len(other)) > LONGEST:
        return None
    if len(set(one) ^ set(other)) > 2 * limit:  # an edit brings or takes two letters at most
        return None
    far = limit + 1
    before: list[int] = []
    last = [j if j <= limit else far for j in range(len(other) + 1)]
    for i, a in enumerate(one, 1):
        row = [far] * (len(other) + 1)
        row[0] = i if i <= limit else far
        for j in range(max(1, i - limit), min(len(other), i + limit) + 1):
            b = other[j - 1]
            best = min(last[j], row[j - 1]) + 1
            if a == b or may_replace(a, b):
                best = min(best, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, before[j - 2] + 1)
            row[j] = min(best, far)
        if min(row) >= far:
            return None
        before, last = last, row
    return last[-1] if last[-1] <= limit else None


@dataclass(frozen=True, slots=True)
class Slip:
    """How far a typo may be from the word that was meant.

    Attributes:
        shortest: The shorter of the two words has at least this many letters.
        two_from: Two edits from this many letters on (of the shorter word), else one; and one in
            a name, of which others may be as near.
    """

    shortest: int = 3
    two_from: int = 6


NAME_SLIP: Final = Slip()
VALUE_SLIP: Final = Slip(shortest=4, two_from=8)


def misspells(
    word: str, meant: str, slip: Slip = NAME_SLIP, known: Collection[str] = WORDS
) -> int | None:
    """Edits by which `word` is a typo of `meant`, or None if it is a word of its own.

    A typo keeps the first letter (so `import` is none of `export`), holds no digit, is not itself
    a known or an English word, and turns nothing into its opposite.

    >>> misspells("serach", "search"), misspells("unlock", "lock"), misspells("hostel", "hotel")
    (1, None, None)
    >>> misspells("hypotension", "hypertension") is None
    True
    """
    shorter, longer = sorted((len(word), len(meant)))
    if not word or not meant or word[0] != meant[0] or shorter < slip.shortest or longer < 4:
        return None
    if word in known or not word.isalpha() or not meant.isalpha():
        return None
    if word.isascii() != meant.isascii():
        return None
    two = shorter >= slip.two_from and longer - shorter <= 2 and is_english(meant)
    edits = slips(word, meant, 2 if two else 1)
    if edits is None or is_opposite(word, meant):
        return None
    return None if is_english(word) and american(word) != american(meant) else edits


_OPPOSITES: Final = (
    *(("hyper", "hypo"), ("inter", "intra"), ("macro", "micro"), ("over", "under"), ("pre", "pro")),
    *(("kilo", "mega"), ("milli", "micro"), ("mega", "giga")),
)
"""Beginnings of words by which one says something else than the other."""
_ROLES: Final = frozenset({"er", "or", "ee"})
"""Endings that tell who does something from whom it is done to."""


def is_opposite(word: str, meant: str) -> bool:
    """Whether a word says the opposite of another, or tells who does it from whom it is done to."""
    pair = {word, meant}
    for one, other in _OPPOSITES:
        if {w.removeprefix(one) for w in pair} & {w.removeprefix(other) for w in pair} - pair:
            return True
    return word[:-2] == meant[:-2] and {word[-2:], meant[-2:]} <= _ROLES


def typo(
    requested: str, name: str, slip: Slip = NAME_SLIP, known: Collection[str] = WORDS
) -> int | None:
    """Edits between two names that differ inside one word only, or None; a plural is one edit.

    >>> typo("serach_flights", "search_flights"), typo("delete_order", "create_order")
    (1, None)
    """
    ours, theirs = tokens(requested), tokens(name)
    if not ours or len(ours) != len(theirs):
        return None
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(differing) != 1:
        return None
    word, meant = differing[0]
    if singular(word) == singular(meant):
        return 1
    return misspells(word, meant, slip, known)


def rivals(requested: str, best: str, names: Iterable[str]) -> list[str]:
    """Other names that are nearly as near as the best one, counting every edit alike.

    >>> rivals("carx", "card", ["card", "cart", "bike"])
    ['cart']
    """
    key = "".join(tokens(requested))
    edits = distance(key, "".join(tokens(best)), LONGEST_TYPO) or 0
    return [
        name
        for name in names
        if name != best and distance(key, "".join(tokens(name)), edits + 1) is not None
    ]


@dataclass(frozen=True, slots=True)
class Similar:
    """Names that look like a requested one, by how they do.

    Attributes:
        equal: Equal but for case and anything that is neither letter nor digit.
        typos: Equal but for a slip inside one word, nearest first.
        shared: Sharing words, most alike first; at most three, and one if it leads clearly.
    """

    equal: tuple[str, ...] = ()
    typos: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What to suggest: all equal names, or else typos and shared words, at most three."""
        return self.equal or tuple(dict.fromkeys(self.typos + self.shared))[:3]


def similar_names(
    requested: str,
    available: Iterable[str],
    *,
    min_token_length: int = 3,
    min_token_similarity: float = 0.25,
) -> Similar:
    """Find the names that a requested one may stand for.

    Args:
        requested: The name that does not exist.
        available: The names that do.
        min_token_length: Words shorter than this do not count for `shared`.
        min_token_similarity: Least share of common words (Jaccard, 0 to 1) for `shared`.

    >>> similar_names("vector-search", ["vectorSearch", "search"]).names
    ('vectorSearch',)
    >>> similar_names("serach", ["search", "book"]).names
    ('search',)
    """
    names = list(dict.fromkeys(available))[:_MOST_NAMES]
    key = normal(requested)
    equal = tuple(name for name in names if key and normal(name) == key)
    if equal:
        return Similar(equal=equal)
    if len(requested) > LONGEST:
        return Similar()
    found = {name: edits for name in names if (edits := typo(requested, name)) is not None}
    typos = tuple(sorted(found, key=lambda name: found[name]))
    scores = {
        name: _shared(requested, name, min_token_length) for name in names if len(name) <= LONGEST
    }
    kept = [name for name, score in scores.items() if score >= min_token_similarity]
    kept.sort(key=lambda name: -scores[name])
    if len(kept) > 1 and scores[kept[0]] >= 2 * scores[kept[1]]:
        kept = kept[:1]
    return Similar(typos=typos, shared=tuple(kept[:3]))


def _shared(requested: str, name: str, shortest: int) -> float:
    """The share of words that two names have in common."""
    ours, theirs = _plain_tokens(requested, shortest), _plain_tokens(name, shortest)
    score = len(ours & theirs) / max(1, len(ours | theirs))
    if requested and name and (requested in name or name in requested):
        return min(1.0, score + 0.2)
    return score


@lru_cache(maxsize=1_024)
def _plain_tokens(name: str, shortest: int) -> frozenset[str]:
    words = _words(name, lambda text, i: text[i - 1].islower() and text[i].isupper())
    return frozenset(word.lower() for word in words if len(word) >= shortest)


def tool_not_found_feedback(
    requested: str, suggestions: Sequence[str], available: Sequence[str]
) -> str:
    """What a model is told of a tool that does not exist; bounded for any input.

    >>> print(tool_not_found_feedback("serach", ["search"], ["search", "book"]))
    There is no tool named "serach". Did you mean "search"? Available tools: "search", "book". Use
    an exact name.
    """
    from selfcorrect.kernel.texts import quoted  # the kernel stands on this module

    parts = [f"There is no tool named {quoted(requested, 80)}."]
    if suggestions:
        listed = " or ".join(quoted(name, 80) for name in suggestions[:3])
        parts.append(f"Did you mean {listed}?")
    if available:
        listed = ", ".join(quoted(name, 80) for name in available[:_MOST_TOLD])
        more = len(available) - _MOST_TOLD
        listed += f" and {more} more" if more > 0 else ""
        parts.append(f"Available tools: {listed}.")
        parts.append("Use an exact name.")
    else:
        parts.append("No tools are available.")
    return " ".join(parts)
