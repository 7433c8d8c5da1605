"""Units and currencies: whether a schema asks for exactly the one that was written.

Not the amount: that is a number like any other. What is named counts only in a form that has one
meaning: behind `in`, in brackets, at the end of a name. A word before a unit makes another of it
(nautical miles), the case of a sign belongs to it (`Mb` is no `MB`), and whatever else is
mentioned refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from selfcorrect.text import tokens
from selfcorrect.words import NEGATIONS, singular

_LONGEST: Final = 2_000
_UNITS: Final = """
mm | millimeter millimetre : cm | centimeter centimetre : m | meter metre
km | kilometer kilometre : in | inch : ft | foot feet : yd | yard : mi | mile : mg | milligram
g | gram gramme : kg | kilogram kilogramme kilo : oz | ounce : lb lbs | pound : t | tonne : ton |
ml mL | milliliter millilitre : l L | liter litre : gal | gallon : ms | millisecond
s sec | second : min | minute : h hr | hour : d | day : wk | week : mo | month : yr | year
C \u00b0C | celsius : F \u00b0F | fahrenheit : K | kelvin : km/h kmh kph | : mph | : bpm | : rpm |
psi | : W | watt : kW | kilowatt : kWh | : V | volt : B | byte : kB KB | kilobyte : MB | megabyte
GB | gigabyte : % | percent percentage pct
"""
"""Of each unit its signs, in their case, and its words."""
_MONEY: Final = """
USD US$ | : $ | dollar : GBP \u00a3 | sterling : JPY | yen : CNY | yuan : \u00a5 | : INR \u20b9 |
KRW \u20a9 | : CAD | : AUD | : NZD | : SGD | : HKD | : TWD | : MXN | : ILS | : AED | : SAR |
THB | : MYR | : PHP | : PKR | : EGP | : NGN | : KES |
"""
_COMMA_MONEY: Final = """
EUR \u20ac | euro : CHF | : SEK | : NOK | : DKK | : PLN | : CZK | : HUF | : RON | : BGN | : TRY |
BRL | : ARS | : CLP | : COP | : IDR | : VND | : ZAR | : UAH | : RUB |
"""
"""Currencies in whose countries a comma may begin the fraction."""


def _rows(table: str) -> Iterator[tuple[list[str], list[str]]]:
    for row in table.strip().replace("\n", " : ").split(" : "):
        signs, _, words = row.partition("|")
        yield signs.split(), words.split()


_ALL: Final = [*_rows(_UNITS), *_rows(_MONEY), *_rows(_COMMA_MONEY)]
_OF_SIGN: Final = {sign: signs[0] for signs, _ in _ALL for sign in signs}
_OF_WORD: Final = {word: signs[0] for signs, words in _ALL for word in words}
_OF_FOLDED: Final = {sign.lower(): row for sign, row in _OF_SIGN.items() if len(sign) > 1}
_OF_ANY: Final = {sign.lower() for sign in _OF_SIGN} | _OF_WORD.keys()
_CURRENCIES: Final = {signs[0] for table in (_MONEY, _COMMA_MONEY) for signs, _ in _rows(table)}
_WITH_COMMAS: Final = {signs[0] for signs, _ in _rows(_COMMA_MONEY)}
_DOLLARS: Final = frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN"})
_SHARED: Final = {
    **dict.fromkeys(_DOLLARS, "$"),
    "$": "USD",
    "JPY": "\u00a5",
    "CNY": "\u00a5",
    "GBP": "lb",
}
"""Beside a currency the sign or word may stand that it shares with another."""
_COUNTRIES: Final = {
    "american": "USD",
    "us": "USD",
    "canadian": "CAD",
    "australian": "AUD",
    "singapore": "SGD",
    "zealand": "NZD",
    "kong": "HKD",
}
"""The last word before `dollar` that tells whose it is."""
_BEFORE_ANY: Final = frozenset(
    {"", "as", "in", "of", "amount", "balance", "budget", "cost", "fee", "payment", "price"}
    | {"salary", "total", "value"}
)
"""What stands before a word for money and does not tell whose it is."""
_ALSO_WORDS: Final = frozenset(
    {"in", "min", "mo", "sec", "second", "foot", "d", "as", "is", "try", "ton"}
)
_NO_PLURAL: Final = frozenset({"celsius", "fahrenheit", "kelvin", "feet"})
COINS: Final = frozenset({"cent", "pence", "penny", "satoshi", "wei", "mill", "minor", "smallest"})
SCALES: Final = frozenset({"dozen", "thousand", "million", "billion", "lakh", "crore"})
_LARGER: Final = (
    COINS
    | SCALES
    | {"per", "squared", "cubed", "square", "cubic", "nautical"}
    | {"fraction", "decimal", "ratio", "proportion"}
)
"""Words beside a unit that make another of it."""
_RATES: Final = frozenset(
    {"annual", "annually", "bp", "bps", "daily", "gross", "hourly", "monthly", "net", "permille"}
    | {"quarterly", "weekly", "yearly"}
)
_WEIGHS: Final = frozenset({"lb", "lbs", "mass", "weigh", "weight"})
_MULTIPLIERS: Final = frozenset({"M", "B", "K", "k", "G", "T", "bn", "mn", "MM"})
_MEASURES: Final = frozenset(
    {"age", "altitude", "amount", "capacity", "count", "delay", "depth", "diameter", "distance"}
    | {"dose", "duration", "elevation", "height", "in", "interval", "length", "limit", "mass"}
    | {"max", "num", "number", "of", "period", "quantity", "radius", "range", "size", "speed"}
    | {"temp", "temperature", "time", "timeout", "volume", "weight", "width"}
)
"""Words before a unit at the end of a name that make no other unit of it."""
_COUNTING: Final = frozenset({"count", "how", "many", "num", "number", "of", "total"})
_PIECES: Final = re.compile(
    r"[A-Z]{1,3}\$|[$\u20ac\u00a3\u00a5\u20b9\u20a9%]|[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
)
_NAMED: Final = re.compile(
    r"(?:\b(?i:in|many|number of)\s(?:whole\s|degrees\s)?|[(\[,:;]\s?|\A)"
    r"(?P<unit>\u00b0?[A-Za-z]+)"
    r"(?=\s*\Z|[)\],;:]|\.(?:\s|\Z)|\s(?!(?:squared|cubed|per|of|an?)\b))"
)
_PARTS_OF_ONE: Final = re.compile(
    r"(?<![\d.])0?\.\d+(?![\d\s]*%)|/ ?100\b|\bdivided\b"
    r"|\b0(?:\.0+)? ?(?:and|to|-|\u2013|,|\.\.) ?1(?:\.0+)?(?![\d.])"
)
"""How a description says that 5 % is written 0.05."""


def is_measure(word: str) -> bool:
    """Whether a word of a name says in what its number is counted.

    >>> is_measure("cent"), is_measure("kg"), is_measure("flight")
    (True, True, False)
    """
    return word in _LARGER or word in _RATES or word in _OF_ANY


def currency(mark: str) -> str | None:
    """The currency that a code, a sign or a word stands for."""
    found = _meant(mark)
    return found if found in _CURRENCIES else None


def comma_groups(mark: str) -> bool:
    """Whether `1,250` can only be a thousand and more beside this mark."""
    return currency(mark) is not None and currency(mark) not in _WITH_COMMAS


def words_told(name: str, said: str) -> frozenset[str]:
    """The words of a name and a description, in the singular."""
    return frozenset(singular(piece.lower()) for piece in _pieces(f"{name} {said}"))


def measures_told(name: str, said: str) -> frozenset[str]:
    """What a name and a description mention of units and currencies, each by its first sign.

    >>> sorted(measures_told("price_eur", "")), sorted(measures_told("x", "in Jamaican dollars"))
    (['EUR'], ['?'])
    """
    return frozenset([*_mentioned(name), *_mentioned(said)])


def asks_for(mark: str, name: str, said: str) -> bool:
    """Whether name or description ask for exactly this unit or currency, or count this noun.

    `5 min` is none of "seconds, at most 10 minutes".

    >>> asks_for("min", "delay", "in seconds, at most 10 minutes"), asks_for("km", "far", "in km")
    (False, True)
    >>> asks_for("Mb", "size", "Size in MB"), asks_for("nights", "num_nights", "")
    (False, True)
    """
    mark = mark.removeprefix("degrees ")
    words, told, meant = words_told(name, said), measures_told(name, said), _meant(mark)
    if mark in _MULTIPLIERS or not (NEGATIONS | _LARGER).isdisjoint(words):
        return False
    if told - {meant, _SHARED.get(meant or "")}:
        return False
    if meant is None:
        return _counts(mark, name)
    if meant == "%":
        return bool(told) and not _PARTS_OF_ONE.search(said)
    if meant in _CURRENCIES:
        return meant in told or (meant == "$" and bool(told))
    if meant == "lb" and _WEIGHS.isdisjoint(words):
        return False  # pounds may be money
    return any(one == mark or _told(one) == meant for one in _named(name, said))


def _pieces(text: str) -> list[str]:
    return _PIECES.findall(text[:_LONGEST].replace("U.S.", "US"))


def _meant(mark: str) -> str | None:
    """The first sign of the unit that a sign, in its case, or a word stands for."""
    if mark in _OF_SIGN:
        return _OF_SIGN[mark]
    word = mark.lower()
    folded = _OF_FOLDED.get(word) if _OF_FOLDED.get(word) in _CURRENCIES else None
    forms = (word, singular(word), word.removesuffix("s"))
    found = folded or next((_OF_WORD[form] for form in forms if form in _OF_WORD), None)
    is_plural = len(mark) > 2 and mark.endswith("s")
    return _OF_SIGN.get(mark[:-1]) if found is None and is_plural else found


def _mentioned(text: str) -> Iterator[str]:
    """The units that a text speaks of in any case, but not by a letter; `?` is one unknown."""
    before = ""
    for piece in _pieces(text):
        word = piece.lower()
        if piece.endswith("$"):
            yield _OF_SIGN.get(piece, "?")
        elif singular(word) == "dollar" and before not in _BEFORE_ANY:
            yield _COUNTRIES.get(before, "?")
        elif word not in _ALSO_WORDS and (len(word) > 1 or not word.isalpha()):
            found = _OF_FOLDED.get(word) or _meant(piece)
            yield from [found] if found else []
        before = word


def _named(name: str, said: str) -> Iterator[str]:
    """What a schema names in a form in which it can only be a unit."""
    for match in _NAMED.finditer(said[:_LONGEST]):
        yield match["unit"]
    parts = _PIECES.findall(name)
    alone = len(parts) == 1 or (len(parts) > 1 and parts[-2].lower() in _MEASURES)
    if alone and parts[-1] not in _ALSO_WORDS:
        yield parts[-1]


def _told(one: str) -> str | None:
    """The unit of a word in the plural, or of a sign of more than one letter."""
    if one in _OF_SIGN:
        return _OF_SIGN[one] if len(one) > 1 and one not in _ALSO_WORDS else None
    word = one.lower()
    return _meant(word) if word in _NO_PLURAL or word.endswith("s") else None


def _counts(mark: str, name: str) -> bool:
    """Whether a name counts this noun, and no more special one."""
    ours = [singular(word) for word in tokens(mark)]
    theirs = [singular(word) for word in tokens(name) if word not in _COUNTING]
    return len(mark) > 2 and bool(ours) and ours == theirs
