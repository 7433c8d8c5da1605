"""Reads numbers as people write them: thousands, currencies, units, words.

Only digits of ASCII count, and only forms that have one meaning: `50.000` has two.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Final

from selfcorrect.kernel.number_words import spoken
from selfcorrect.text import Unclear
from selfcorrect.values.measures import currency_of
from selfcorrect.words import singular

_LONGEST: Final = 1_000
_LONGEST_DECIMAL: Final = 100


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that was read, and what stood beside it.

    Attributes:
        value: The number.
        currency: The code or sign of its currency, as `measures` knows it, or None.
        unit: The unit or noun behind it, or None.
        percent: Whether a percent sign stood behind it.
        scale: Whether a word such as `million` told how it is counted.
        plus: Whether a plus stood before it, which may say that so much is to be added.
        fraction: The digits behind its point, as they were written.
    """

    value: int | float
    currency: str | None = None
    unit: str | None = None
    percent: bool = False
    scale: bool = False
    plus: bool = False
    fraction: str = ""

    @property
    def may_be_grouped(self) -> bool:
        """Whether its point could group thousands: one is `1.234` or 1234."""
        return len(self.fraction) == _GROUP and 1 <= abs(self.value) < 1_000

    @property
    def may_mean_more(self) -> bool:
        """Whether it says more than a number, or could be another one, whatever is asked for."""
        return self.plus or (self.may_be_grouped and self.fraction.endswith("0"))


_GROUP: Final = 3

_COMMA_IS_DECIMAL: Final = frozenset(
    {"EUR", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "BGN", "TRY", "BRL", "ARS"}
    | {"CLP", "COP", "IDR", "VND", "ZAR", "UAH", "RUB"}
)

_CURRENCY: Final = re.compile(
    r"(?P<sign>-?)(?P<before>US\$|[$\u20ac\u00a3\u00a5\u20b9\u20a9]|[A-Z]{3}(?=[\s\d]))?\s?"
    r"(?P<number>-?[\d.,]+)\s?(?P<after>[\u20ac\u00a3\u00a5\u20b9\u20a9$]|[A-Z]{3})?",
    re.ASCII,
)
_UNIT: Final = re.compile(
    r"(?P<number>-?[\d.,]+)\s{0,2}(?P<unit>[A-Za-z\u00b0][A-Za-z\u00b0/ ]{0,30})", re.ASCII
)


def read_quantity(text: str, *, whole: bool) -> Quantity:
    """The one number that a text names.

    Args:
        text: The text.
        whole: Whether a whole number is asked for; a fraction is then refused, never rounded.

    Raises:
        Unclear: If it names no number, or could name several.

    >>> read_quantity("$1,250.00", whole=False).value, read_quantity("five", whole=True).value
    (1250.0, 5)
    >>> read_quantity("50.000", whole=True)
    Traceback (most recent call last):
        ...
    selfcorrect.text.Unclear: its point could group thousands or begin the fraction
    """
    if len(text) > _LONGEST:
        raise Unclear("it is too long for a number")
    text = text.strip().replace("\u2212", "-")
    if _PLUS.match(text):
        return replace(read_quantity(text[1:], whole=whole), plus=True)
    if (found := _plain(text, whole=whole)) is not None:
        return found
    if match := _PERCENT.fullmatch(text):
        if (found := _plain(match["number"], whole=whole)) is not None:
            return replace(found, percent=True)
    elif (match := _CURRENCY.fullmatch(text)) and bool(match["before"]) != bool(match["after"]):
        return _money(match, whole=whole)
    elif match := _UNIT.fullmatch(text):
        found = _numeral(match["number"], whole=whole, comma_groups=whole)
        if found is not None:
            return _counted(found, match["unit"].strip())
    raise Unclear("it is not a number in a form that has one meaning")


def _plain(text: str, *, whole: bool) -> Quantity | None:
    """A number in digits or words with nothing beside it."""
    found = _numeral(text, whole=whole, comma_groups=whole)
    if found is not None or (said := spoken(text)) is None:
        return found
    integral = said.value == said.value.to_integral_value()
    if whole and not integral:
        raise Unclear("it is not a whole number")
    value = int(said.value) if integral else float(said.value)
    return Quantity(value, scale=said.scale)


def _money(match: re.Match[str], *, whole: bool) -> Quantity:
    currency = currency_of(match["before"] or match["after"])
    if currency is None or (match["sign"] and match["number"][0] == "-"):
        raise Unclear("it is not an amount in a currency that is known")
    if _POINT_MAY_GROUP.fullmatch(match["number"]):
        raise Unclear("its point could group thousands or begin the fraction")
    groups = whole or currency not in _COMMA_IS_DECIMAL
    found = _numeral(match["sign"] + match["number"], whole=whole, comma_groups=groups)
    if found is None:
        raise Unclear("it is not a number in a form that has one meaning")
    return replace(found, currency=currency)


def _counted(found: Quantity, unit: str) -> Quantity:
    if (currency := currency_of(singular(unit.lower()))) is not None:
        return replace(found, currency=currency)
    return replace(found, unit=unit)


_PLUS: Final = re.compile(r"\+[\d.]", re.ASCII)
_PERCENT: Final = re.compile(
    r"(?P<number>.*\S)\s{0,3}(?:%|percent|per cent)", re.IGNORECASE | re.DOTALL
)
_INTEGER: Final = re.compile(r"-?\d+", re.ASCII)
_DECIMAL: Final = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_POINT_MAY_GROUP: Final = re.compile(r"-?[1-9]\d{0,2}\.\d{3}", re.ASCII)
_GROUPED: Final = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+(?P<rest>\.\d+)?", re.ASCII)
_POINTS_GROUP: Final = re.compile(r"-?[1-9]\d{0,2}(?:\.\d{3})+,\d{1,2}", re.ASCII)


def _numeral(text: str, *, whole: bool, comma_groups: bool) -> Quantity | None:
    """A bare number; `comma_groups` says whether `1,234` can only be a thousand and more."""
    if _INTEGER.fullmatch(text):
        return Quantity(int(text))
    if whole and _POINT_MAY_GROUP.fullmatch(text):
        raise Unclear("its point could group thousands or begin the fraction")
    if len(text) > _LONGEST_DECIMAL:
        return None
    if _POINTS_GROUP.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    if _DECIMAL.fullmatch(text):
        fraction = text.partition(".")[2]
        return Quantity(
            _decimal(text, whole=whole), fraction=fraction if fraction.isdigit() else ""
        )
    if match := _GROUPED.fullmatch(text):
        if match["rest"] is None and text.count(",") == 1 and not comma_groups:
            raise Unclear("its comma could group thousands or begin the fraction")
        bare = text.replace(",", "")
        if match["rest"] is None:
            return Quantity(int(bare))
        return Quantity(_decimal(bare, whole=whole), fraction=match["rest"][1:])
    return None


def _decimal(text: str, *, whole: bool) -> int | float:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise Unclear("it is not a number") from None
    if whole:
        if abs(number.adjusted()) > 30 or number != number.to_integral_value():
            raise Unclear("it is not a whole number")
        return int(number)
    value = float(text)
    if not math.isfinite(value) or (value == 0) != (number == 0):
        raise Unclear("it is beyond the range of numbers")
    if len(number.as_tuple().digits) > 15 and Decimal(repr(value)) != number:
        raise Unclear("it has more digits than a number can hold")
    return value
