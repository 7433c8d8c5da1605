"""How far apart two names are: the same letters, a slip in one word, noise, or another name.

Letters alone cannot tell a slip from another word (`trial`, `trail`), so a dictionary decides: a
word of the language is never a slip of another one.
"""

import re
import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

LONGEST: Final = 120
"""Characters beyond which two names are alike only if they are equal."""
MAX_TEXT: Final = 2_000
SAME: Final = 0.0
ALIKE: Final = 0.1
NOISY: Final = 0.5
OTHER: Final = 1.0
MAX_NOISE: Final = 0.4
"""The largest share of letters that may differ."""
_PLAIN: Final = re.compile(r"\w[\w.:/\- ]*")
_SPACE: Final = re.compile(r".*(?:[.:/]|__)", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[\W_]+")
_BORDER: Final = re.compile(  # bookFlight, HTTP|Page, 256|sum, sha|256
    r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)"
)
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


def is_plain(name: str) -> bool:
    """Say whether a name holds nothing but words: a sign such as "!" may negate it."""
    return _PLAIN.fullmatch(unicodedata.normalize("NFKC", name)) is not None


def letters(name: str) -> str:
    """Return the letters and digits of a name in small letters; a long name is left as it is.

    >>> letters("Departure-Date")
    'departuredate'
    """
    return _letters(name) if len(name) <= LONGEST else name


def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters.

    >>> words("getHTTPStatus_v2"), words("book-flight")
    (('get', 'http', 'status', 'v', '2'), ('book', 'flight'))
    """
    return _words(name[:LONGEST])


def stem(word: str) -> str:
    """Return the singular of a word.

    >>> stem("categories"), stem("boxes"), stem("status")
    ('category', 'box', 'status')
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


@lru_cache(maxsize=512)
def vocabulary(text: str) -> frozenset[str]:
    """Return the words of a description: none of them is a slip."""
    return frozenset(each.casefold() for each in _SEPARATOR.split(text[:MAX_TEXT]) if each)


def same_words(one: str, other: str) -> bool:
    """Say whether two names differ in case and separators only."""
    return letters(one) == letters(other) != ""


def near_letters(one: str, other: str) -> bool:
    """Say whether two names differ by at most a slip inside one word, never by a whole word.

    >>> near_letters("serach_flights", "search_flights"), near_letters("delete_x", "create_x")
    (True, False)
    """
    first, second = words(one), words(other)
    pair = _differing_words(first, second)
    return first == second if pair is None else is_slip(*pair)


def only_near(name: str, known: Iterable[str]) -> str | None:
    """Return the one known name that is equal in words, else the one that is near, else None."""
    names = list(known)
    for is_alike in (same_words, near_letters):
        found = [each for each in names if is_alike(name, each)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def is_slip(
    one: str, other: str, said: frozenset[str] = _NO_WORDS, *, strict: bool = False
) -> bool:
    """Say whether two words are one, written once with a letter or two wrong.

    >>> is_slip("trial", "trail"), is_slip("tril", "trial"), is_slip("hirr", "hire", strict=True)
    (False, True, False)

    Args:
        one: A word.
        other: The other word.
        said: More words that are never slips of a word.
        strict: Whether one of them must be a word, and the other one lacks, doubles or swaps
            letters inside of it: a changed letter makes a trade's own word (`chmod`, `chown`).
    """
    shortest, longest = sorted((len(one), len(other)))
    limit = 0 if shortest < 4 + strict else 1 if strict or longest < 8 else 2
    if not limit or not (one + other).isalpha() or longest > LONGEST:
        return False
    if typos(one, other, limit) > limit:
        return False
    # A letter before a word makes another one (`mount`, `umount`).
    if one[0] != other[0] or (strict and not _keeps_letters(one, other)):
        return False
    known = [is_word(each) or each in said for each in (one, other)]
    return any(known) != all(known) if strict else not all(known)


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


_ABBREVIATIONS: Final = (
    "addr address, amt amount, app application, attr attribute, auth authentication, cfg config",
    "cnt count, conf configuration, config configuration, ctx context, db database",
    "dept department",
    "desc description, dest destination, dict dictionary, dir directory, doc document",
    "dst destination",
    "env environment, exp expiration, fn function, freq frequency, id identifier, idx index",
    "img image, info information, lang language, lat latitude, lng longitude, loc location",
    "lon longitude, max maximum, min minimum, msg message, no number, num number, org organization",
    "param parameter, passwd password, pct percent, pic picture, pwd password, qty quantity",
    "ref reference, repo repository, req request, resp response, sec seconds, src source",
    "tgt target",
    "txt text, tz timezone, usr user, val value",
)
_SHORT: Final = frozenset(
    frozenset(pair.split()) for row in _ABBREVIATIONS for pair in row.split(", ")
)


_SHORT_WORDS: Final = frozenset().union(*_SHORT)


def is_short_for(one: str, other: str) -> bool:
    """Say whether one of two words is the usual abbreviation of the other.

    >>> is_short_for("qty", "quantity"), is_short_for("amount", "quantity")
    (True, False)
    """
    return frozenset((one, other)) in _SHORT


_PREFIXES: Final = (
    *("un", "re", "de", "dis", "non", "pre", "sub", "mis", "over", "under", "up", "down", "out"),
    *("anti", "inter", "min", "max"),
)
_SUFFIXES: Final = (
    *("ed", "er", "or", "ee", "ly", "in", "on", "up", "off", "out", "to", "by", "down"),
)


@lru_cache(maxsize=4_096)
def is_word(word: str) -> bool:
    """Say whether a word is English, or is made of one and of what makes another word of it.

    >>> is_word("undelete"), is_word("checkout"), is_word("serach")
    (True, True, False)
    """
    if not (2 < len(word) <= _LONGEST_WORD and word.isascii() and word.isalpha()):
        return False
    if word in _SHORT_WORDS:
        return True
    before = [word.removeprefix(each) for each in _PREFIXES if word.startswith(each)]
    behind = [word.removesuffix(each) for each in _SUFFIXES if word.endswith(each)]
    return any(len(each) > 2 and _is_listed(each) for each in (word, *before, *behind))


_LONGEST_WORD: Final = 32


def _is_listed(word: str) -> bool:
    text = _dictionary()

    def line(at: int) -> str:
        start = text.rfind("\n", 0, at) + 1
        return text[start : text.index("\n", start)]

    at = bisect_left(range(1, len(text)), word, key=line) + 1
    return at < len(text) and line(at) == word


@cache
def _dictionary() -> str:
    """Read the words in order, one a line; a healthy call never comes here."""
    return zlib.decompress(Path(__file__).with_name("words.bin").read_bytes()).decode()


def _noise(one: str, other: str, said: frozenset[str], *, strict: bool) -> float | None:
    """Return the share of letters that differ, if one name may be the other with noise in it."""
    first, second = letters(one), letters(other)
    shortest, longest = sorted((len(first), len(second)))
    if shortest < 4 or _digits(first) != _digits(second):
        return None
    if strict and first[0] != second[0]:
        return None
    most = int(MAX_NOISE * longest)
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
    known = [[_is_known(word, said) for word in side] for side in (ours, theirs)]
    if all(map(any, known)) or (strict and not any(map(any, known))):
        return True
    if len(ours) != len(theirs):
        ours, theirs = ["".join(ours)], ["".join(theirs)]
    return any(_is_apart(letters(a), letters(b)) for a, b in zip(ours, theirs, strict=True))


def _is_known(word: str, said: frozenset[str]) -> bool:
    # The words of `eventSlug` count each.
    parts = words(word)
    return len(word) > 2 and all(is_word(each) or each in said for each in parts)


def _is_apart(one: str, other: str) -> bool:
    """Say whether two words differ in a part added in one piece, or in most of their letters."""
    head, tail = _shared(one, other), _shared(one[::-1], other[::-1])
    shortest, longest = sorted((len(one), len(other)))
    is_added = longest - shortest > 1 and head + tail >= shortest
    # Another ending of two letters or more makes another word: `tutor`, `tutee`.
    is_exchanged = not tail and 1 < shortest - head - tail < 4
    most = int(MAX_NOISE * longest)
    return is_added or is_exchanged or typos(one, other, most) > most


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


@lru_cache(maxsize=4_096)
def _letters(name: str) -> str:
    return _SEPARATOR.sub("", _fold(name))


@lru_cache(maxsize=4_096)
def _words(name: str) -> tuple[str, ...]:
    spaced = _BORDER.sub(" ", unicodedata.normalize("NFKC", name))
    return tuple(word for word in _SEPARATOR.split(_fold(spaced)) if word)


def _fold(text: str) -> str:
    """Fold case letter by letter: `ß` is not `ss`."""
    text = unicodedata.normalize("NFKC", text)
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := char.casefold()) == 1 else char for char in text)
