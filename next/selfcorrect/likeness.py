"""How far apart two names are: the same letters, a slip in one word, noise, or another name.

Letters alone cannot tell a slip from another word (`trial`, `trail`), so a dictionary decides: a
word of the language is never a slip of another one.
"""

import re
from collections.abc import Iterable
from typing import Final

from selfcorrect.dictionary import is_short_for, is_word
from selfcorrect.names import LONGEST, is_plain, letters, words

SAME: Final = 0.0
ALIKE: Final = 0.1
NOISY: Final = 0.5
OTHER: Final = 1.0
MAX_NOISE: Final = 0.4
STRICT_NOISE: Final = 0.3
"""The largest share of letters that may differ, and the same for tools that act."""
_SPACE: Final = re.compile(r".*(?:[.:/]|__)", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[\W_]+")
_NO_WORDS: Final[frozenset[str]] = frozenset()


def difference(
    one: str, other: str, said: frozenset[str] = _NO_WORDS, *, strict: bool = False
) -> float:
    """Return how far apart two names are, from `SAME` to `OTHER`; it is the same both ways.

    >>> difference("departureDate", "departure_date"), difference("destinaton", "destination")
    (0.0, 0.1)
    >>> difference("min_price", "max_price"), difference("!pay", "pay")
    (1.0, 1.0)

    Args:
        one: A name.
        other: The other name.
        said: More words that are never slips, such as those of a description.
        strict: Whether only slips count that are unlikely to make another word of a trade's own.
    """
    if one == other:
        return SAME
    if max(len(one), len(other)) > LONGEST or not (is_plain(one) and is_plain(other)):
        return OTHER
    if letters(one) == letters(other) != "":
        return SAME
    # What stands before a dot or colon is a namespace, such as a server: a name keeps its own.
    if _namespace(one) != _namespace(other):
        return OTHER
    pair = _differing_words(words(one), words(other))
    if pair is not None and (is_short_for(*pair) or is_slip(*pair, said, strict=strict)):
        return ALIKE
    share = _noise(one, other, said, strict=strict)
    return OTHER if share is None else NOISY + share


def near_letters(one: str, other: str) -> bool:
    """Say whether two names differ by at most a slip inside one word, never by a whole word.

    >>> near_letters("serach_flights", "search_flights"), near_letters("delete_x", "create_x")
    (True, False)
    """
    first, second = words(one), words(other)
    pair = _differing_words(first, second)
    if pair is None:
        return first == second
    # What begins or ends with the other one may be a longer word, or one that was cut.
    return is_slip(*pair) and pair[0] not in pair[1] and pair[1] not in pair[0]


def is_slip(
    one: str, other: str, said: frozenset[str] = _NO_WORDS, *, strict: bool = False
) -> bool:
    """Say whether two words are one, written once with a letter or two wrong.

    One of them is a word of the language: of `hget` and `hset` nobody knows.

    >>> is_slip("trial", "trail"), is_slip("tril", "trial"), is_slip("hirr", "hire", strict=True)
    (False, True, False)

    Args:
        one: A word.
        other: The other word.
        said: More words that are never slips of a word.
        strict: Whether letters may only be left out, doubled or swapped inside the word: a changed
            letter makes another one too easily.
    """
    shortest, longest = sorted((len(one), len(other)))
    limit = 0 if shortest < _SHORTEST + strict else 1 if strict or longest < 8 else 2
    if not limit or not (one + other).isalpha() or longest > LONGEST:
        return False
    if typos(one, other, limit) > limit:
        return False
    # A letter before a word makes another one (`mount`, `umount`).
    if one[0] != other[0] or _ends_otherwise(one, other):
        return False
    if strict and not _keeps_letters(one, other):
        return False
    known = [is_word(each) or each in said for each in (one, other)]
    return any(known) != all(known)


_SHORTEST: Final = 4
"""Letters of a word below which another letter makes another word."""


def _keeps_letters(one: str, other: str) -> bool:
    if len(one) == len(other):
        return sorted(one) == sorted(other)
    return one[-1] == other[-1]


def typos(one: str, other: str, limit: int = LONGEST) -> int:
    """Return the edit distance, where a swap of two neighbours counts as one.

    Beyond the limit it returns some number beyond the limit.

    >>> typos("serach", "search"), typos("pay", "search", 2)
    (1, 3)
    """
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def has_rival(written: str, name: str, others: Iterable[str]) -> bool:
    """Say whether another name is as few letters away, though it is no word.

    >>> has_rival("enclude", "include", ["exclude"])
    True
    """
    away = typos(letters(written), letters(name), _RIVAL)
    rivals = (letters(each) for each in others if each != name)
    return away <= _RIVAL and any(typos(letters(written), each, away) <= away for each in rivals)


_RIVAL: Final = 2


def _noise(one: str, other: str, said: frozenset[str], *, strict: bool) -> float | None:
    """Return the share of letters that differ, if one name may be the other with noise in it."""
    first, second = letters(one), letters(other)
    shortest, longest = sorted((len(first), len(second)))
    if shortest < 4 or _digits(first) != _digits(second):
        return None
    most = int((STRICT_NOISE if strict else MAX_NOISE) * longest)
    share = typos(first, second, most)
    if share > most or _says_other_words(one, other, said, strict=strict):
        return None
    return share / longest


def _digits(text: str) -> list[str]:
    return [char for char in text if char.isdigit()]


def _says_other_words(one: str, other: str, said: frozenset[str], *, strict: bool) -> bool:
    """Say whether words differ that are words of their own, or one name only says more."""
    first, second = _plain_words(one), _plain_words(other)
    ours = [word for key, word in first.items() if key not in second]
    theirs = [word for key, word in second.items() if key not in first]
    if not ours or not theirs:
        return True
    known = {word: _is_known(word, said) for word in (*ours, *theirs)}
    if any(known[word] for word in ours) == any(known[word] for word in theirs):
        return True
    if len(ours) != len(theirs):
        ours, theirs = ["".join(ours)], ["".join(theirs)]
    pairs = [
        # Known words first: what is unknown is compared with them.
        sorted(pair, key=lambda word: (not known.get(word), len(word), word))
        for pair in zip(ours, theirs, strict=True)
    ]
    # A few letters are a code of a trade: `etc_address`, `eth_address`.
    if strict and any(max(map(len, pair)) < _SHORTEST for pair in pairs):
        return True
    if any(_is_apart(letters(a), letters(b)) for a, b in pairs):
        return True
    return strict and all(_is_affixed(letters(a), letters(b)) for a, b in pairs)


def _is_known(word: str, said: frozenset[str]) -> bool:
    # The words of `eventSlug` count each.
    parts = words(word)
    return len(word) > 2 and all(is_word(each) or each in said for each in parts)


def _is_apart(one: str, other: str) -> bool:
    """Say whether two words differ in a part added in one piece, or in most of their letters."""
    shortest, longest = sorted((len(one), len(other)))
    shared = _shared(one, other) + _shared(one[::-1], other[::-1])
    is_added = longest - shortest > 1 and shared >= shortest
    most = int(MAX_NOISE * longest)
    return is_added or _ends_otherwise(one, other) or typos(one, other, most) > most


def _ends_otherwise(one: str, other: str) -> bool:
    """Say whether an ending of two letters or more makes another word: `tutor`, `tutee`."""
    rest = min(len(one), len(other)) - _shared(one, other)
    is_swap = sorted(one) == sorted(other)
    return one[-1] != other[-1] and 1 < rest < 4 and not is_swap


def _is_affixed(word: str, unknown: str) -> bool:
    """Say whether letters before a word or behind it make another one: `umount`, `writev`."""
    is_longer = unknown.startswith(word) or unknown.endswith(word)
    return is_longer or unknown[0] not in word[:2]


def _shared(one: str, other: str) -> int:
    """Return how many letters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _plain_words(name: str) -> dict[str, str]:
    """Return the words between separators: a capital inside a word may be noise itself."""
    return {letters(word): word for word in _SEPARATOR.split(name) if word}


def _namespace(name: str) -> str:
    found = _SPACE.match(name)
    return letters(found[0]) if found else ""


def _differing_words(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the one pair of words in which two names differ, if they differ so."""
    pairs = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
    return pairs[0] if len(first) == len(second) and len(pairs) == 1 else None
