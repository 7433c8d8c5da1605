"""How far apart two names are: the same letters, a slip in one word, noise, or another name.

Letters alone cannot tell a slip from another word (`trial`, `trail`), so a dictionary decides: a
word of the language is never a slip of another one.
"""

import re
from collections.abc import Iterable

from selfcorrect.names.dictionary import is_rare, is_short_for, is_word
from selfcorrect.names.letters import LONGEST, is_plain, letters, same_words, words

SAME = 0.0
ALIKE = 0.1
NOISY = 0.5
OTHER = 1.0
MAX_NOISE = 0.4
"""The largest share of letters that may differ."""
_SPACE = re.compile(r".*(?:[.:/]|__)", re.DOTALL)
_SEPARATOR = re.compile(r"[\W_]+")
_NO_WORDS: frozenset[str] = frozenset()


def difference(
    one: str, other: str, terms: frozenset[str] = _NO_WORDS, *, strict: bool = False
) -> float:
    """Return how far apart two names are, from `SAME` to `OTHER`; it is the same both ways.

    >>> difference("departureDate", "departure_date"), difference("destinaton", "destination")
    (0.0, 0.1)
    >>> difference("min_price", "max_price"), difference("!pay", "pay")
    (1.0, 1.0)

    Args:
        one: A name.
        other: The other name.
        terms: More words that are never slips, such as those of a description.
        strict: Whether letters decide nothing, as on a tool that acts: names are alike only if
            one word is the other's abbreviation, or misspelt by one edit strictly inside it.
    """
    if one == other:
        return SAME
    if max(len(one), len(other)) > LONGEST or not (is_plain(one) and is_plain(other)):
        return OTHER
    if same_words(one, other, strict=strict):
        return SAME
    # What stands before a dot or colon is a namespace, such as a server: a name keeps its own.
    if _namespace(one) != _namespace(other):
        return OTHER
    pair = _differing_words(words(one), words(other))
    if strict:
        # Another number is another thing, wherever its digits stand.
        if not (letters(one) + letters(other)).isalpha():
            return OTHER
        pair = pair or _differing_words(_noisy_words(one), _noisy_words(other))
    is_same_word = is_inner_slip if strict else is_slip
    if pair is not None and (is_short_for(*pair) or is_same_word(*pair, terms)):
        return ALIKE
    if strict:
        return OTHER
    share = _noise(one, other, terms)
    return OTHER if share is None else NOISY + share


def _noisy_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, where a capital may be noise: in `quantiIty`, not in `payOut`."""
    parts = filter(None, _SEPARATOR.split(name))
    split = (words(each) if _is_word(each, _NO_WORDS) else (letters(each),) for each in parts)
    return sum(split, ())


def is_inner_slip(one: str, other: str, terms: frozenset[str] = _NO_WORDS) -> bool:
    """Say whether one of two words is the other, misspelt by one edit strictly inside it.

    A word of a trade that common English does not have, such as `sulfite`, is not a slip.

    >>> is_inner_slip("flihgt", "flight"), is_inner_slip("endorsee", "endorser")
    (True, False)
    >>> is_inner_slip("sulfite", "sulfate"), is_inner_slip("umount", "mount")
    (False, False)
    """
    if min(len(one), len(other)) <= _SHORTEST or (one[0], one[-1]) != (other[0], other[-1]):
        return False
    if is_word(one) == is_word(other) or typos(one, other, 1) > 1:
        return False
    unknown = other if is_word(one) else one
    return unknown not in terms and not is_rare(unknown)


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


def is_slip(one: str, other: str, terms: frozenset[str] = _NO_WORDS) -> bool:
    """Say whether two words are one, written once with a letter or two wrong.

    One of them is a word of the language: of `hget` and `hset` nobody knows.

    >>> is_slip("trial", "trail"), is_slip("tril", "trial")
    (False, True)

    Args:
        one: A word.
        other: The other word.
        terms: More words that are never slips of a word.
    """
    shortest, longest = sorted((len(one), len(other)))
    limit = 0 if shortest < _SHORTEST else 1 if longest < 8 else 2
    if not limit or not (one + other).isalpha() or typos(one, other, limit) > limit:
        return False
    # A letter before a word makes another one (`mount`, `umount`).
    if one[0] != other[0] or _ends_otherwise(one, other):
        return False
    first, second = (is_word(each) or each in terms for each in (one, other))
    return first != second


_SHORTEST = 4
"""Letters of a word below which another letter makes another word."""


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
    """Say whether another name is as few letters away, though it is not a word.

    >>> has_rival("enclude", "include", ["exclude"])
    True
    """
    away = typos(letters(written), letters(name), _RIVAL)
    rivals = (letters(each) for each in others if each != name)
    return away <= _RIVAL and any(typos(letters(written), each, away) <= away for each in rivals)


_RIVAL = 2


def _noise(one: str, other: str, terms: frozenset[str]) -> float | None:
    """Return the share of letters that differ, if one name may be the other with noise in it."""
    first, second = letters(one), letters(other)
    shortest, longest = sorted((len(first), len(second)))
    if shortest < 4 or re.findall(r"\d", first) != re.findall(r"\d", second):
        return None
    most = int(MAX_NOISE * longest)
    share = typos(first, second, most)
    if share > most or _says_other_words(one, other, terms):
        return None
    return share / longest


def _says_other_words(one: str, other: str, terms: frozenset[str]) -> bool:
    """Say whether words differ that are words of their own, or one name only says more."""
    first, second = _plain_words(one), _plain_words(other)
    ours = [word for key, word in first.items() if key not in second]
    theirs = [word for key, word in second.items() if key not in first]
    if not ours or not theirs:
        return True
    if any(_is_word(word, terms) for word in ours) == any(_is_word(word, terms) for word in theirs):
        return True
    if len(ours) != len(theirs):
        ours, theirs = ["".join(ours)], ["".join(theirs)]
    return any(_is_apart(letters(a), letters(b)) for a, b in zip(ours, theirs, strict=True))


def _is_word(word: str, terms: frozenset[str]) -> bool:
    # The words of `eventSlug` count each.
    parts = words(word)
    return len(word) > 2 and all(is_word(each) or each in terms for each in parts)


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
    return one[-1] != other[-1] and 1 < rest < 4 and sorted(one) != sorted(other)


def _shared(one: str, other: str) -> int:
    """Return how many letters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _plain_words(name: str) -> dict[str, str]:
    """Return the words between separators: a capital inside a word may be noise itself."""
    return {letters(word): word for word in _SEPARATOR.split(name) if word}


def _namespace(name: str) -> str:
    match = _SPACE.match(name)
    return letters(match[0]) if match else ""


def _differing_words(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the one pair of words in which two names differ, if they differ so."""
    pairs = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
    return pairs[0] if len(first) == len(second) and len(pairs) == 1 else None
