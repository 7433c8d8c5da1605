"""What counts as near: one price for each kind of edit, with a sentence that says what it is.

A candidate wins if it is cheaper than every other by `MARGIN`; what costs `OFF` or more is no
candidate. The class of a change (exact, inferred, lossy) is not its price: the policy judges it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from selfcorrect.hints import near

MARGIN: Final = 1.0
OFF: Final = 10.0


class Price(NamedTuple):
    """What an edit costs, and what it does."""

    cost: float
    says: str


COSTS: Final[Mapping[str, Price]] = MappingProxyType(
    {
        # the value says nothing, or is the same text
        "nothing": Price(0, "`null`, or the word for it, where nothing is asked for"),
        "empty": Price(0, "an empty text, or the schema's default, for an optional argument"),
        "same-text": Price(0, "a text that may stand there, in its normal form"),
        # another spelling or type of the same value
        "spelling": Price(1, "case, separators, outer quotes or white space differ"),
        "number-text": Price(1, "a number in digits, written as text"),
        "boolean-text": Price(1, "`true` or `false`, written as text"),
        "whole-number": Price(1, "a number without a fraction as an integer"),
        "text": Price(1, "a number or boolean where a text is asked for"),
        "one-item": Price(1, "one value where only a list fits"),
        "encoded": Price(1, "an object or list that was written into a string"),
        "normal-form": Price(1, "an address, identifier or code in its normal form"),
        "iso-date": Price(1, "a date or time in another ISO spelling"),
        # one best reading
        "number-words": Price(3, "a number in words, with a unit or percent that the schema names"),
        "told-word": Price(2, "a number word that the map gives"),
        "boolean-word": Price(3, "`yes`, `no`, `on`, `off`, 0 or 1 for true or false"),
        "only-item": Price(3, "the one item of a list, where one value is asked for"),
        "named-order": Price(3, "an object as a list, in the order that the description gives"),
        "split": Price(3, "a text that lists several things"),
        "synonym": Price(2, "a listed value or an argument under a name that the map gives"),
        "same-words": Price(3, "a listed value and words that say nothing more"),
        "slip": Price(5, "a listed value with a slip of the pen"),
        "spoken-date": Price(3, "a date or time in words, or with a zone that is told"),
        # where a value belongs
        "key-spelling": Price(1, "an argument whose name differs in case, separators or `param_`"),
        "key-like": Price(3, "an argument whose name says the same, with a slip, or less"),
        "key-unnamed": Price(5, "the one missing argument, for a key that is no name (`arg1`)"),
        "wrapper": Price(1, "all arguments under one key that is none of them"),
        "value-wrapper": Price(3, "a value in a wrapper of its own, or items in one each"),
        # what may go
        "says-nothing": Price(1, "an unknown key under which nothing is said"),
        "twice": Price(1, "the same value once more under another spelling of its key"),
        "extra": Price(9, "an unknown key that resembles nothing; lossy"),
    }
)
"""By kind of edit, its price. What may be renamed is dearer than what may be respelled."""


PRICES: Final[Mapping[str, float]] = {name: price.cost for name, price in COSTS.items()}


def priced(own: Mapping[str, float]) -> Mapping[str, float]:
    """The price of every kind of edit, with a deployment's own in place of some.

    Raises:
        ValueError: If there is no such kind.

    >>> priced({"number-words": OFF})["number-words"]
    10.0
    """
    for name in own:
        if name not in COSTS:
            hint = near(name, COSTS) or "the table of costs has all of them"
            raise ValueError(f"costs: there is no edit {name!r}; {hint}")
    return {**PRICES, **own}
