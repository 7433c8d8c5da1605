"""English words: those that are never typos, plurals, and numbers in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final, TypeVar

T = TypeVar("T")

_LONGEST: Final = 200

_OWN_WORDS: Final = """
accept activate add after all any append apply approve archive assign at attach before begin
block book borrow buy call cancel change charge check chmod chown clean clear clone close
commit compute confirm connect copy cost count create credit data date day deactivate debit
decode decrease decrypt default delete deny deploy deposit detach disable discard disconnect
dispatch do down download draft drop edit email enable encode encrypt end enter erase estimate
exclude execute exit export extend fetch fill filter find finish first fix flight follow forget
fork form format free freeze from generate get give go grant hide hold host hour import in
include increase index inform insert install invite invoke issue item job join keep kill last
launch leave lend like limit link list listen load lock log login logout look lost mail make
mark max mean measure merge min minor minute mkdir modify month mount move mute name new next
no not note notify off on open order out pack park part past patch path pause pay phone pick
place plan plane play point poll post price print private prize process public publish pull
purchase purge push put query rate read reboot receive record refund register reject release
remind remove rename rent repay replace reply report request reserve reset resolve restart
restore resume retrieve return revert revoke rmdir run sale save scan schedule search second
seed seek select sell send set share ship show shut sign skip sort split start state status
stock stop store submit subscribe subtract suspend swap sync tag take test text time to top
total trade train transfer trip type umask umount undo unlock unmute unsubscribe up update
upgrade upload use user validate verify view void wait want watch withdraw work write year
"""

WORDS: Final = frozenset(_OWN_WORDS.split())
"""Words that are never taken for a misspelling of another word, and verbs of many tool names."""


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text in their order: how long lists of words are written.

    >>> word_list("id name key")
    ('id', 'name', 'key')
    """
    return tuple(text.split())


def by_word(meanings: Mapping[T, str], between: str | None = None) -> Mapping[str, T]:
    """Each word with the meaning under which it is listed: how long tables are written.

    >>> by_word({"integer": "int long"})["long"]
    'integer'
    """
    return MappingProxyType(
        {
            word.strip(): meaning
            for meaning, text in meanings.items()
            for word in text.split(between)
        }
    )


def is_english(word: str) -> bool:
    """Whether a word in small letters is one of English, and so no slip of the pen for another.

    >>> is_english("hostel"), is_english("serach")
    (True, False)
    """
    return word in _english()


_BRITISH: Final = (
    (re.compile(r"(?<=\w\w)our(?=\Z|s|ed|ing|ful|able|ite)"), "or"),
    (re.compile(r"(?<=\w\w)is(?=(?:e|es|ed|er|ers|ing|ation|ations)\Z)"), "iz"),
    (re.compile(r"(?<=\w)tre(?=s?\Z)"), "ter"),
    (re.compile(r"\Agrey"), "gray"),
    (re.compile(r"(?<=\w\w)ll(?=(?:ed|ing|er|ers)\Z)"), "l"),
    (re.compile(r"(?<=\w\w)ogue(?=s?\Z)"), "og"),
)


def american(word: str) -> str:
    """A word as it is spelled in America, where the British spelling follows a rule.

    >>> american("colours"), american("cancelled"), american("organise"), american("four")
    ('colors', 'canceled', 'organize', 'four')
    """
    for pattern, spelled in _BRITISH:
        word = pattern.sub(spelled, word)
    return word


@cache
def _english() -> frozenset[str]:
    lines = resources.files("selfcorrect").joinpath("english.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


EXCEPTIONS: Final = frozenset(
    {"but", "except", "exclude", "excluding", "neither", "never", "no", "none", "nor", "not"}
    | {"other", "without"}
)
"""Words that say what is not meant."""
NEGATIONS: Final = EXCEPTIONS | {"anti", "de", "dis", "non", "un", "undo"}
"""Words that turn the meaning of what they stand beside."""
_NO_VALUES: Final = frozenset(
    {"", "all", "andsoon", "any", "anyone", "anything", "anywhere", "blank", "default", "either"}
    | {"empty", "etal", "etc", "etcetera", "every", "everything", "na", "nan", "nil", "no"}
    | {"nobody", "none", "noone", "nothing", "null", "other", "some", "something", "tba", "tbc"}
    | {"tbd", "todo", "undefined", "unknown", "unspecified", "unsure", "various", "whatever"}
)


def is_no_value(text: str) -> bool:
    """Whether a text stands where a value would, and names none.

    >>> is_no_value("N/A"), is_no_value("and so on"), is_no_value("Nana")
    (True, True, False)
    """
    return re.sub(r"[\W_]", "", text[:_LONGEST]).lower() in _NO_VALUES


SHORT_WORDS: Final = MappingProxyType(
    {
        "addr": "address",
        "amt": "amount",
        "avg": "average",
        "db": "database",
        "dept": "department",
        "desc": "description",
        "dest": "destination",
        "dir": "directory",
        "dst": "destination",
        "lang": "language",
        "lng": "longitude",
        "max": "maximum",
        "min": "minimum",
        "msg": "message",
        "no": "number",
        "nr": "number",
        "num": "number",
        "org": "organization",
        "pct": "percent",
        "pwd": "password",
        "qty": "quantity",
        "src": "source",
    }
)
"""What the usual abbreviations in names stand for."""


def singular(word: str) -> str:
    """An English word without its plural ending; the word itself where that is not certain.

    >>> singular("views"), singular("classes"), singular("cities"), singular("business")
    ('view', 'class', 'city', 'business')
    """
    if len(word) < 5 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1]


_ONE_WORDS: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TEN_WORDS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES: Final[dict[str, int]] = {word: n for n, word in enumerate(_ONE_WORDS.split())}
_TENS: Final[dict[str, int]] = {word: 10 * n for n, word in enumerate(_TEN_WORDS.split(), 2)}
SCALES: Final = MappingProxyType({"billion": 10**9, "million": 10**6, "thousand": 1_000})
_LARGER: Final = {**SCALES, "hundred": 100}
_BEFORE_AND: Final = re.compile(r"\b(hundred|thousand|million|billion) and (?!thousand|.illion)")


def number_word(text: str) -> int | None:
    """The whole number that English words name, or None.

    >>> number_word("five"), number_word("Twenty-one"), number_word("two thousand and six")
    (5, 21, 2006)
    >>> number_word("five or six"), number_word("twenty thirty"), number_word("a few")
    (None, None, None)
    """
    if len(text) > _LONGEST:
        return None
    told = " ".join(text.lower().replace("-", " ").split())
    words = _BEFORE_AND.sub(r"\1 ", told).split()
    total = part = 0
    for word in words:
        if word in SCALES:
            total, part = total + part * SCALES[word], 0
        elif word == "hundred":
            part *= 100
        else:
            part += _ONES.get(word, _TENS.get(word, 0))
    return total + part if words == _in_words(total + part) else None


def _in_words(number: int) -> list[str]:
    """A whole number as it is said, so that nothing else is taken for one."""
    for word, size in _LARGER.items():
        if number >= size:
            rest = _in_words(number % size) if number % size else []
            return [*_in_words(number // size), word, *rest]
    if number < len(_ONES):
        return [[*_ONES][number]]
    tens, ones = divmod(number, 10)
    return [[*_TENS][tens - 2], *([[*_ONES][ones]] if ones else [])]
