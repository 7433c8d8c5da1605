"""Whether a number with what stood beside it is what a parameter asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from selfcorrect.model import JSON
from selfcorrect.text import Unclear, tokens
from selfcorrect.values.measures import (
    counts_coins,
    counts_scale,
    currencies_in,
    currency_of,
    is_same_unit,
    is_unit,
    names_currency,
    pieces_of,
    unit_agrees,
    units_in,
)
from selfcorrect.values.quantities import Quantity


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is known of a parameter that asks for a number.

    Attributes:
        name: Its name.
        description: What people are told of it.
        most: The greatest values that its schemas allow.
        meets: Whether a value keeps the bounds of its schemas.
        beside: The arguments that may stand beside it, `None` for one that is not given.
        around: The same for all of the call.
    """

    name: str
    description: str
    most: Sequence[JSON] = ()
    meets: Callable[[JSON], bool] = bool
    beside: Mapping[str, JSON] | None = None
    around: Mapping[str, JSON] | None = None

    @property
    def text(self) -> str:
        """Its name and its description."""
        return f"{self.name} {self.description}"


def check(found: Quantity, wanted: Wanted) -> None:
    """Refuse a number that may not be what a parameter asks for.

    Raises:
        Unclear: If what stood beside the number does not agree, or is counted in another way.

    >>> check(Quantity(5, unit="km"), Wanted("distance", "Distance in kilometers"))
    >>> check(Quantity(5, unit="miles"), Wanted("distance", "Distance in kilometers"))
    Traceback (most recent call last):
    selfcorrect.text.Unclear: the schema does not name exactly this unit
    """
    if found.currency is not None:
        _check_currency(found.currency, wanted)
    if found.percent and not _asks_for_percent(wanted):
        raise Unclear("the schema does not say that a percentage is meant")
    if found.unit is not None:
        _check_unit(found.unit, wanted)
    _check_sign(found, wanted)
    _check_scale(found, wanted)


def _check_unit(unit: str, wanted: Wanted) -> None:
    """Refuse a unit that neither the schema names nor the argument to which it leaves that."""
    told = _unit_beside(wanted)
    agrees = is_same_unit(unit, told)
    if unit_agrees(unit, wanted.name, wanted.description):
        if told and is_unit(unit) and not agrees:
            raise Unclear("the unit is a parameter of its own and does not agree")
    elif units_in(wanted.text) or not agrees:
        raise Unclear("the schema does not name exactly this unit")


def _unit_beside(wanted: Wanted) -> str:
    """What the one argument beside this one says that tells the unit, or nothing."""
    names = [name for name in wanted.beside or () if tokens(name)[-1:] in _FOR_UNITS]
    own = [name for name in names if tokens(name)[:-1] == tokens(wanted.name)] or names
    told = (wanted.beside or {}).get(own[0]) if len(own) == 1 else None
    return told.strip() if isinstance(told, str) else ""


_FOR_UNITS: Final = (("unit",), ("units",), ("scale",))


def _check_currency(currency: str, wanted: Wanted) -> None:
    """Refuse money in a currency that neither the schema names nor the argument beside it."""
    if counts_coins(wanted.text) or counts_scale(wanted.text):
        raise Unclear("the amount is counted in another unit than the currency's own")
    if units_in(wanted.name) or _asks_for_percent(wanted):
        raise Unclear("the schema asks for something else than money")
    told = [
        given[name]
        for given in (wanted.beside or {}, wanted.around or {})
        for name in given
        if {"currency", "ccy"} & set(tokens(name))
    ]
    if not all(isinstance(one, str) and _is_currency(currency, one) for one in told):
        raise Unclear("the currency is a parameter of its own and does not agree")
    is_silent = told and not currencies_in(wanted.text)
    if not is_silent and not names_currency(currency, wanted.name, wanted.description):
        raise Unclear("the schema does not name exactly this currency")


def _is_currency(currency: str, told: str) -> bool:
    return names_currency(currency, (currency_of(told.strip().upper()) or ""), "")


def _check_sign(found: Quantity, wanted: Wanted) -> None:
    if found.plus and _SIGNED.isdisjoint(pieces_of(wanted.text)):
        raise Unclear("its plus could say that so much is to be added")


_SIGNED: Final = frozenset(
    {"adjustment", "change", "delta", "difference", "offset", "shift"}
    | {"lat", "latitude", "lng", "lon", "longitude"}
)
"""What has a sign of its own."""


def _check_scale(found: Quantity, wanted: Wanted) -> None:
    """Refuse a number that may be counted in something else than what is asked for."""
    if found.scale and counts_scale(wanted.text):
        raise Unclear("the schema counts in thousands or more, and so may the text")
    measured = units_in(wanted.text)
    if len(found.fraction) == _CENTS and counts_coins(wanted.text) and not measured:
        raise Unclear("its fraction may be what the schema counts in")
    money = currencies_in(wanted.text) or not _MONEY.isdisjoint(tokens(wanted.name))
    rounded = found.fraction.endswith("0") or (money and not measured)
    if found.may_be_grouped and rounded and wanted.meets(round(found.value * 1_000)):
        raise Unclear("its point could group thousands or begin the fraction")


_CENTS: Final = 2
_MONEY: Final = frozenset(
    {"amount", "balance", "budget", "cost", "fee", "payment", "price", "salary", "wage"}
)
_FRACTION: Final = frozenset({"fraction", "decimal", "ratio", "proportion"})
_PARTS_OF_ONE: Final = re.compile(
    r"(?<![\d.])0?\.\d+(?![\d\s]*%)|/ ?100\b|\bdivided\b"
    r"|\b0(?:\.0+)? ?(?:and|to|-|\u2013|,|\.\.) ?1(?:\.0+)?(?![\d.])"
)
"""How a description says that 5 % is written 0.05."""


def _asks_for_percent(wanted: Wanted) -> bool:
    text = f"{' '.join(tokens(wanted.name))} {wanted.description.lower()}"
    if any(isinstance(bound, int | float) and bound <= 1 for bound in wanted.most):
        return False
    if any(word in text for word in _FRACTION) or _PARTS_OF_ONE.search(text):
        return False
    return "percent" in text or "%" in text or "pct" in text.split()
