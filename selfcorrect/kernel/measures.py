"""Units and currencies: whether a schema asks for exactly the one that was written.

Not the amount: that is a number like any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from selfcorrect.text import tokens
from selfcorrect.words import NEGATIONS, singular

_UNITS: Final = [
    frozenset(row.split())
    for row in """
mm millimeter millimetre|cm centimeter centimetre|m meter metre|km kilometer kilometre|in inch
ft foot feet|yd yard|mi mile|mg milligram|g gram gramme|kg kilogram kilogramme kilo|oz ounce
lb lbs pound|t tonne|ton|ml milliliter millilitre|l liter litre|gal gallon|ms millisecond
s sec second|min minute|h hr hrs hour|d day|wk week|mo month|yr year|c \u00b0c celsius
f \u00b0f fahrenheit|k kelvin|km/h kmh kph|mph|bpm|rpm|psi|w watt|kw kilowatt|kwh|v volt|b byte
kb kilobyte|mb megabyte|gb gigabyte|% percent percentage pct""".replace("\n", "|").split("|")
    if row
]
"""Signs and words of one unit of measure a row."""
_MONEY: Final = [
    frozenset(row.split())
    for row in """
usd us$ $ dollar|eur \u20ac euro|gbp \u00a3 sterling|jpy \u00a5 yen|cny \u00a5 yuan|inr \u20b9
krw \u20a9|cad $ dollar|aud $ dollar|nzd $ dollar|sgd $ dollar|hkd $ dollar|twd $ dollar
mxn $|chf|sek|nok|dkk|pln|czk|huf|ron|bgn|try|ils|aed|sar|zar|brl|ars|clp|cop|thb|idr|myr|php
vnd|pkr|egp|ngn|kes|uah|rub""".replace("\n", "|").split("|")
    if row
]
_LARGER: Final = frozenset(
    {"cent", "pence", "penny", "satoshi", "wei", "mill", "minor", "smallest", "lakh", "crore"}
    | {"thousand", "million", "billion", "per", "squared", "cubed", "square", "cubic", "nautical"}
    | {"fraction", "decimal", "ratio", "proportion"}
)
"""Words beside a unit that make another of it."""


_RATES: Final = frozenset(
    {"annual", "annually", "bp", "bps", "cent", "daily", "gross", "hourly", "minor", "monthly"}
    | {"net", "per", "permille", "quarterly", "weekly", "yearly"}
)


_COUNTED: Final = _RATES.union(_LARGER, *_UNITS, *_MONEY)


def is_measure(word: str) -> bool:
    """Whether a word of a name says in what its number is counted.

    >>> is_measure("cent"), is_measure("kg"), is_measure("flight")
    (True, True, False)
    """
    return word in _COUNTED


_IDLE: Final = frozenset({"as", "foot", "in", "is", "min", "mo", "pound", "try", "all"})
"""Signs and words of a unit that are words of another kind, too."""


def is_money(mark: str) -> bool:
    """Whether a mark beside a number is a currency."""
    return any(_folded(mark) in row for row in _MONEY)


def _folded(mark: str) -> str:
    low = mark.strip().lower()
    return low if len(low) < 4 or not low.isascii() else singular(low)


def asks_for(mark: str, name: str, said: str) -> bool:
    """Whether name or description name exactly this unit, currency or counted noun, and no other.

    `5 min` is none of "seconds, at most 10 minutes".

    >>> asks_for("min", "delay", "in seconds, at most 10 minutes"), asks_for("km", "far", "in km")
    (False, True)
    """
    unit = _folded(mark.removeprefix("degrees "))
    told = _told(name, said)
    if not NEGATIONS.isdisjoint(told) or not _LARGER.isdisjoint(told):
        return False
    if unit in ("$", "dollar") and not _is_usual_dollar(told, said):
        return False
    # One letter at the end of a name is its unit: `weight_g`.
    last = re.findall(r"_([a-zA-Z])\Z", name)
    told |= {unit} if [one.lower() for one in last] == [unit] else set()
    rows = [row for row in (*_UNITS, *_MONEY) if unit in row]
    if last and unit in told and len(unit) == 1:
        return len(rows) == 1 and all(_signs(row, told) <= rows[0] | _IDLE for row in _UNITS)
    if not rows:
        return unit in told and len(unit) > 2
    known = _IDLE.union(*rows)
    others = [row for row in (*_UNITS, *_MONEY) if not _signs(row, told) <= known]
    named = [row for row in rows if _signs(row, told)]
    return bool(named) and not others


_BEFORE_DOLLARS: Final = re.compile(r"([^\W\d_.]+)\.?\s+dollars?\b", re.IGNORECASE)
_USUAL: Final = frozenset({"us", "s", "american", "in", "of", "the", "as", "amount", "price"})
"""Words before `dollars` that make no other country's of them."""


def _is_usual_dollar(told: Collection[str], said: str) -> bool:
    """Whether dollars are those of the United States, or nobody says whose they are."""
    codes = {code for row in _MONEY if "$" in row for code in row if len(code) == 3}
    words = {word.lower() for word in _BEFORE_DOLLARS.findall(said[:2_000])}
    return words <= _USUAL and codes.isdisjoint(set(told) - {"usd", "us$"})


def _signs(row: frozenset[str], told: Collection[str]) -> frozenset[str]:
    return frozenset(word for word in row if word in told and (len(word) > 1 or not word.isalpha()))


def _told(name: str, said: str) -> frozenset[str]:
    text = f"{' '.join(tokens(name))} {said[:2_000]}"
    pieces = re.findall(r"[^\W\d_]+(?:/[a-z])?|[^\w\s]", text)
    return frozenset(_folded(piece) for piece in pieces)
