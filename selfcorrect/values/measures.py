"""Which currency or unit a schema names, and whether it is the very one that was written.

Only what is named in a form that has one meaning counts: behind `in`, in brackets, as the end of a
name. A word before a unit makes another of it (nautical miles, square metres), and the case of a
sign belongs to it (`Mb` is no `MB`). Whatever else is mentioned beside it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from selfcorrect.text import tokens
from selfcorrect.words import NEGATIONS, singular

_LONGEST: Final = 2_000


def pieces_of(text: str) -> list[str]:
    """The words of a name or a description, bounded."""
    return [word for piece in text[:_LONGEST].split() for word in tokens(piece)]


def _denies(text: str) -> bool:
    return not NEGATIONS.isdisjoint(pieces_of(text))


# --- currencies -----------------------------------------------------------------------------------

_DOLLARS: Final = frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN"})
_CODES: Final = frozenset(
    _DOLLARS
    | {"EUR", "GBP", "JPY", "CNY", "INR", "KRW", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF"}
    | {"RON", "BGN", "TRY", "ILS", "AED", "SAR", "ZAR", "BRL", "ARS", "CLP", "COP", "THB", "IDR"}
    | {"MYR", "PHP", "VND", "PKR", "EGP", "NGN", "KES", "UAH", "RUB"}
)
_SIGNS: Final = {
    "$": "$",
    "US$": "USD",
    "\u20ac": "EUR",
    "\u00a3": "GBP",
    "\u00a5": "\u00a5",
    "\u20b9": "INR",
    "\u20a9": "KRW",
}
_SHARED: Final = {"$": _DOLLARS, "\u00a5": frozenset({"JPY", "CNY"})}
"""Signs that several currencies have."""
_WORDS: Final = {
    "dollar": "$",
    "euro": "EUR",
    "sterling": "GBP",
    "yen": "JPY",
    "yuan": "CNY",
    **{code.lower(): code for code in ("USD", "EUR", "GBP", "JPY", "INR", "CHF", "CAD", "AUD")},
}
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
_ANOTHER: Final = "?"
_PIECES: Final = re.compile(
    r"[A-Z]{1,3}\$|[$\u20ac\u00a3\u00a5\u20b9\u20a9]|[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
)


def currency_of(written: str) -> str | None:
    """The code that a code, a sign or a word stands for; a sign of several stays what it is.

    >>> currency_of("USD"), currency_of("\u20ac"), currency_of("dollar"), currency_of("XYZ")
    ('USD', 'EUR', '$', None)
    """
    return _SIGNS.get(written) or _WORDS.get(written) or (written if written in _CODES else None)


def currencies_in(text: str) -> frozenset[str]:
    """The currencies that a name or a description speaks of; `?` is one that is not known.

    >>> sorted(currencies_in("Amount in US dollars")), sorted(currencies_in("price_eur"))
    (['USD'], ['EUR'])
    >>> sorted(currencies_in("in Jamaican dollars")), sorted(currencies_in("dollars"))
    (['?'], ['$'])
    """
    return frozenset(_currencies(text[:_LONGEST].replace("U.S.", "US")))


def _currencies(text: str) -> Iterator[str]:
    before = ""
    for piece in _PIECES.findall(text):
        word = singular(piece.lower())
        if piece.endswith("$"):
            yield _SIGNS.get(piece, _ANOTHER)
        elif word == "dollar" and before not in _BEFORE_ANY:
            yield _COUNTRIES.get(before, _ANOTHER)
        elif (found := currency_of(piece) or currency_of(word)) is not None:
            yield found
        before = piece.lower()


def names_currency(written: str, name: str, description: str) -> bool:
    """Whether a schema names the very currency that was written, and no other.

    >>> names_currency("$", "amount", "Amount in US dollars")
    True
    >>> names_currency("MXN", "amount", "Amount in US dollars")
    False
    >>> names_currency("$", "amount", "Amount in Canadian dollars")
    False
    """
    named = currencies_in(name) | currencies_in(description)
    if not named or _denies(description):
        return False
    if written == "$":
        return named <= {"$", "USD"}
    shared = {sign for sign, codes in _SHARED.items() if written in codes}
    return written in named and named <= shared | {written}


_SMALL_COINS: Final = frozenset(
    {"cent", "cents", "pence", "pennies", "satoshi", "satoshis", "wei", "mills"}
    | {"minor", "smallest"}
)
_LARGE_SCALES: Final = frozenset(
    {"thousand", "thousands", "million", "millions", "billion", "billions", "lakh", "crore"}
)


def counts_coins(text: str) -> bool:
    """Whether a name or description counts an amount in parts of the currency's own unit.

    >>> counts_coins("amount_cents"), counts_coins("in the smallest currency unit")
    (True, True)
    """
    return not _SMALL_COINS.isdisjoint(pieces_of(text))


def counts_scale(text: str) -> bool:
    """Whether a name or description counts in thousands, millions or more.

    >>> counts_scale("revenue_millions"), counts_scale("revenue")
    (True, False)
    """
    return not _LARGE_SCALES.isdisjoint(pieces_of(text))


# --- units ----------------------------------------------------------------------------------------

_TABLE: Final = """
mm | millimeter millimetre
cm | centimeter centimetre
m | meter metre
km | kilometer kilometre
in | inch
ft | foot feet
yd | yard
mi | mile
mg | milligram
g | gram gramme
kg | kilogram kilogramme kilo
oz | ounce
lb lbs | pound
t | tonne
  | ton
ml mL | milliliter millilitre
l L | liter litre
gal | gallon
ms | millisecond
s sec | second
min | minute
h hr | hour
d | day
wk | week
mo | month
yr | year
C \u00b0C | celsius
F \u00b0F | fahrenheit
K | kelvin
km/h kmh kph |
mph |
bpm |
rpm |
psi |
W | watt
kW | kilowatt
kWh |
V | volt
B | byte
kB KB | kilobyte
MB | megabyte
GB | gigabyte
"""
_ROWS: Final = [line.split("|") for line in _TABLE.strip().splitlines()]
_OF_SIGN: Final = {sign: row for row, (signs, _) in enumerate(_ROWS) for sign in signs.split()}
_OF_WORD: Final = {word: row for row, (_, words) in enumerate(_ROWS) for word in words.split()}
_OF_FOLDED: Final = {sign.lower(): row for sign, row in _OF_SIGN.items() if len(sign) > 1}
_POUND: Final = _OF_SIGN["lb"]
_ALSO_WORDS: Final = frozenset({"in", "min", "mo", "sec", "second", "foot", "d", "as", "is"})
_NO_PLURAL: Final = frozenset({"celsius", "fahrenheit", "kelvin", "feet"})
_WEIGHS: Final = frozenset({"lb", "lbs", "mass", "weigh", "weight"})
_NAMED: Final = re.compile(
    r"(?:\b(?i:in|many|number of)\s(?:whole\s|degrees\s)?|[(\[,:;]\s?|\A)"
    r"(?P<unit>\u00b0?[A-Za-z]+)"
    r"(?=\s*\Z|[)\],;:]|\.(?:\s|\Z)|\s(?!(?:squared|cubed|per|of|an?)\b))"
)
_IN_NAMES: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MEASURES: Final = frozenset(
    {"age", "altitude", "amount", "capacity", "count", "delay", "depth", "diameter", "distance"}
    | {"dose", "duration", "elevation", "height", "in", "interval", "length", "limit", "mass"}
    | {"max", "num", "number", "of", "period", "quantity", "radius", "range", "size", "speed"}
    | {"temp", "temperature", "time", "timeout", "volume", "weight", "width"}
)
"""Words before a unit at the end of a name that make no other unit of it."""
_COUNTING: Final = frozenset({"count", "how", "many", "num", "number", "of", "total"})
_MULTIPLIERS: Final = frozenset({"M", "B", "K", "k", "G", "T", "bn", "mn", "MM"})


def _row(unit: str) -> int | None:
    """The row of the table that a sign, in its case, or a word stands in."""
    found = _OF_SIGN.get(unit)
    if found is not None:
        return found
    word = unit.lower()
    forms = (word, singular(word), word.removesuffix("s"))
    found = next((_OF_WORD[form] for form in forms if form in _OF_WORD), None)
    is_plural = len(unit) > 2 and unit.endswith("s")
    return _OF_SIGN.get(unit[:-1]) if found is None and is_plural else found


def units_in(text: str) -> frozenset[int]:
    """The units that a text mentions in any case, but not by a single letter."""
    words = [w for w in pieces_of(text) if len(w) > 1 and w not in _ALSO_WORDS]
    rows = (row if (row := _OF_FOLDED.get(word)) is not None else _row(word) for word in words)
    return frozenset(row for row in rows if row is not None)


def tells_same_measure(key: str, name: str, description: str) -> bool:
    """Whether each unit and currency that a key adds to a name is the one that is asked for.

    >>> tells_same_measure("amount_usd", "amount", "Amount in US dollars")
    True
    >>> tells_same_measure("amount_dollars", "amount", "Amount in Canadian dollars")
    False
    """
    units = [word for word in pieces_of(key) if word not in pieces_of(name) and _is_told(word)]
    codes = currencies_in(key) - currencies_in(name)
    return all(unit_agrees(unit, name, description) for unit in units) and all(
        names_currency(code, name, description) for code in codes
    )


def _is_told(word: str) -> bool:
    return word not in _ALSO_WORDS and (word in _OF_FOLDED or _told(word) is not None)


def is_unit(word: str) -> bool:
    """Whether a word names a unit of measure, and is no noun that is counted."""
    return _row(word) is not None


def is_same_unit(unit: str, told: str) -> bool:
    """Whether an argument that tells a unit tells this one."""
    if unit in _MULTIPLIERS:
        return False
    return unit == told or (len(told) > 1 and (row := _row(unit)) is not None and row == _row(told))


def unit_agrees(unit: str, name: str, description: str) -> bool:
    """Whether a parameter's name or description asks for exactly this unit, or counts this noun.

    >>> unit_agrees("km", "distance", "Distance in kilometers")
    True
    >>> unit_agrees("miles", "distance", "Distance in nautical miles")
    False
    >>> unit_agrees("Mb", "size", "Size in MB"), unit_agrees("nights", "num_nights", "")
    (False, True)
    """
    unit = unit.removeprefix("degrees ")
    if unit in _MULTIPLIERS or _denies(description) or "per" in pieces_of(description):
        return False
    row = _row(unit)
    if (units_in(name) | units_in(description)) - {row}:
        return False
    if row is None:
        return _counts(unit, name)
    text = f"{name} {description}"
    if row == _POUND and (currencies_in(text) or _WEIGHS.isdisjoint(pieces_of(text))):
        return False
    return any(one == unit or _told(one) == row for one in _named(name, description))


def _named(name: str, description: str) -> Iterator[str]:
    """What a schema names in a form in which it can only be a unit."""
    for match in _NAMED.finditer(description[:_LONGEST]):
        yield match["unit"]
    parts = _IN_NAMES.findall(name)
    alone = len(parts) == 1 or (len(parts) > 1 and parts[-2].lower() in _MEASURES)
    if alone and parts[-1] not in _ALSO_WORDS:
        yield parts[-1]


def _told(one: str) -> int | None:
    """The row of a word in the plural, or of a sign of more than one letter."""
    if one in _OF_SIGN:
        return _OF_SIGN[one] if len(one) > 1 and one not in _ALSO_WORDS else None
    word = one.lower()
    return _row(word) if word in _NO_PLURAL or word.endswith("s") else None


def _counts(unit: str, name: str) -> bool:
    """Whether a name counts this noun, and no more special one."""
    ours = [singular(word) for word in tokens(unit)]
    theirs = [singular(word) for word in tokens(name) if word not in _COUNTING]
    return len(unit) > 2 and bool(ours) and ours == theirs
