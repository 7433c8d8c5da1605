"""The words and letters of a name, whatever its case and separators."""

import re
import unicodedata
from functools import lru_cache

LONGEST = 120
"""Characters beyond which two names are alike only if they are equal."""
NEGATIONS = frozenset({"no", "not", "non", "never", "without", "except", "un", "dry"})
"""Words that turn a meaning round."""
_PLAIN = re.compile(r"\w[\w.:/\- ]*")
_SEPARATOR = re.compile(r"[\W_]+")
_DIGIT = re.compile(r"[\W_]*\d[\W_]*")
_BORDER = re.compile(  # bookFlight, HTTP|Page, 256|sum, sha|256
    r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)"
)


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


def same_words(one: str, other: str, *, strict: bool = False) -> bool:
    """Say whether two names differ in case and separators only.

    In strict comparison a separator beside a digit counts: it parts two numbers, or is a sign.

    >>> same_words("deploy_v1_0", "deployV10"), same_words("deploy_v1_0", "deployV10", strict=True)
    (True, False)
    """
    is_same = letters(one) == letters(other) != ""
    return is_same and not (strict and _numbers(one) != _numbers(other))


def _numbers(name: str) -> list[str]:
    """Return the digits of a name, each with the separators beside it."""
    return _DIGIT.findall(name.replace("-", "_").replace(" ", "_"))


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
