"""Whether a place asks for exactly the unit or currency that was written."""

import re
from typing import Final

from selfcorrect.dictionary import stem
from selfcorrect.names import NEGATIONS, words

_ROWS: Final = (
    *("$ us$ usd dollar", "€ eur euro", "£ gbp sterling", "¥ jpy yen", "₹ inr rupee"),
    *("cad c$", "aud a$", "nzd", "sgd", "hkd", "mxn peso", "chf franc", "cny yuan rmb", "krw won"),
    *("sek", "nok", "dkk", "pln zloty", "brl real", "zar rand", "btc bitcoin", "eth ether"),
    *("% percent pct percentage", "km kilometer kilometre", "m meter metre", "mi mile", "nm"),
    *("cm centimeter centimetre", "mm millimeter millimetre", "ft foot feet", "in inch", "yd yard"),
    *("kg kilogram kilo", "g gram", "mg milligram", "t tonne", "ton", "lb pound", "oz ounce"),
    *("ms millisecond", "s sec second", "min minute", "h hr hour", "d day", "week", "month"),
    *("year", "°C C celsius", "°F F fahrenheit", "K kelvin", "km/h kmh kph", "mph", "W watt"),
    *("V volt", "A ampere", "kB KB kilobyte", "MB megabyte", "GB gigabyte", "TB terabyte", "byte"),
)
"""Signs and words of one unit a row."""
_SIGNS: Final = {word: row for row in _ROWS for word in row.split()}
_UNITS: Final = {word.lower(): row for word, row in _SIGNS.items()}
_ALSO_WORDS: Final = frozenset({"in", "min", "a", "s", "real", "won"})
"""Signs that a name or description uses as words."""
_POINTS: Final = frozenset({"day", "hour", "minute", "month", "second", "week", "year"})
"""Words that say when, as `start_hour` does; a word for an amount is a plural."""
_MONEY: Final = frozenset({"price", "cost", "fee", "amount", "budget", "salary", "payment"})
_BREAK: Final = re.compile(
    r"([.,;:()\[\]\n]|\b(?:in|as|how many|(?:number|amount|count) of)\b"
    r"|\b(?:to|from|before|after|between|until)\b)"
)
"""What stands between two phrases."""
_BEHIND: Final = frozenset({"to", "from", "before", "after", "between", "until"})
"""What follows a unit: `seconds to wait` are seconds, `converted from USD` is no USD."""
_IDLE: Final = frozenset({"the", "us", "degree", "degrees", "whole", "full"})
_CHANGING: Final = (
    *("nautical short long imperial troy metric fluid", "per square squared cubic log"),
    *("canadian australian singapore kong taiwan zealand mexican", "minor base smallest lowest"),
    *("hundred thousand million billion tenth hundredth thousandth", "dozen half quarter"),
    *("cent pence penny", "fraction decimal ratio basis", "scaled multiplied divided times"),
    *("zero one ten", "or if unless otherwise any other local such like example"),
)
"""Words that make another unit of one, count it in others, or leave it open."""
_CHANGES: Final = NEGATIONS.union(*map(str.split, _CHANGING))


def is_asked_for(unit: str, name: str, description: str) -> bool:
    """Say whether a whole phrase asks for this unit, and nothing else changes or contradicts it.

    A phrase is the last word of a name, or what stands in a description between punctuation,
    brackets and words such as "in".

    >>> is_asked_for("km", "distance_km", ""), is_asked_for("nights", "num_nights", "")
    (True, True)
    >>> is_asked_for("$", "x", "Price in USD"), is_asked_for("$", "x", "Price in thousands of USD")
    (True, False)
    """
    meant, (*head, last) = _unit(unit.strip(". ")), ("", *words(name))
    text = description[:_LONGEST].replace("U.S.", "US")
    # The pounds of a price are no weight.
    if not _MONEY.isdisjoint((*head, last, *words(text))):
        last, text = (_POUNDS.sub("gbp", each) for each in (last, text))
    named, rest = _phrases(text)
    # A lone letter is a variable, and a lone `min` a bound.
    is_unit = len(head) > 1 or (len(last) > 1 and last not in _ALSO_WORDS)
    if is_unit and last not in _POINTS and meant in (_known(last), stem(last)):
        named.add(meant)
    else:
        head.append(last)
    rest += [word for word in head if len(word) > 1]
    has_number = any(char.isnumeric() for char in text)
    return meant is not None and named == {meant} and not (has_number or any(map(_changes, rest)))


def _unit(text: str) -> str | None:
    """Return the row of what was written as a unit, or the word where there is none."""
    if len(text) < 3 and text.isalpha():
        # The case of a sign belongs to it: `Mb` is no `MB`, `M` is no metre.
        return _SIGNS.get(text)
    return _known(text.lower()) or (stem(text) if text.islower() else None)


def _known(word: str) -> str | None:
    return _UNITS.get(word) or _UNITS.get(stem(word))


def _phrases(text: str) -> tuple[set[str | None], list[str]]:
    """Return the units that are the whole of a phrase, and the words of all other phrases."""
    named: set[str | None] = set()
    rest: list[str] = []
    parts = _BREAK.split(text.lower())
    for lead, phrase in zip(["", *parts[1::2]], parts[::2], strict=True):
        said = [word for word in phrase.split() if word not in _IDLE]
        unit = said[0].strip(_QUOTES) if lead not in _BEHIND and len(said) == 1 else ""
        if unit not in _POINTS and (len(unit) > 1 or not unit.isalpha()) and (row := _known(unit)):
            named.add(row)
        else:
            rest += _WORD.findall(phrase)
    return named, rest


def _changes(word: str) -> bool:
    """Say whether a word beside the phrase of a unit may change what is asked for."""
    if word in _ALSO_WORDS:
        return False
    is_letter = len(word) == 1 and word.isalpha()
    return is_letter or word in _CHANGES or stem(word) in _CHANGES or _known(word) is not None


_LONGEST: Final = 2_000
_QUOTES: Final = "\"'`*"
_POUNDS: Final = re.compile(r"\bpounds?\b")
_WORD: Final = re.compile(r"[^\W\d_]+|[$€£¥₹%]")
