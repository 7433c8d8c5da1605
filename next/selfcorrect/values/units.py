"""Whether a place asks for exactly the unit or currency that was written."""

import re
from typing import Final

from selfcorrect.dictionary import stem
from selfcorrect.names import words

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
_ALSO_WORDS: Final = frozenset({"in", "min", "a", "real", "won"})
"""Signs that a description uses as words."""
_POINTS: Final = frozenset({"day", "hour", "minute", "month", "second", "week", "year"})
"""Words that say when, as `start_hour` does; a word for an amount is a plural."""
_MONEY: Final = frozenset({"price", "cost", "fee", "amount", "budget", "salary", "payment"})
_OTHER_SIZE: Final = frozenset(
    {
        *("nautical", "short", "long", "imperial", "troy", "metric"),
        *("canadian", "australian", "singapore", "kong", "zealand", "mexican"),
        *("thousand", "million", "billion", "cent", "pence", "per", "square", "squared", "cubic"),
        *("fraction", "decimal", "ratio", "basis", "dozen", "half"),
    }
)
"""Words that make another unit of the one that they stand beside."""


def is_asked_for(unit: str, name: str, description: str) -> bool:
    """Say whether a name or description asks for this unit and mentions no other.

    >>> is_asked_for("km", "distance_km", ""), is_asked_for("nights", "num_nights", "")
    (True, True)
    >>> is_asked_for("min", "delay", "seconds, up to 10 minutes")
    False
    """
    # A lone letter is a variable: `v` is no volt, `distance_m` is in metres.
    described = {word for word in _words_of(description) if len(word) > 1}
    written = {*_words_of_name(name), *(described - _ALSO_WORDS)}
    said = {*map(stem, written), *re.findall(r"[$€£¥₹%]", description)}
    # The pounds of a price are no weight.
    said = {"gbp" if each == "pound" and _MONEY & said else each for each in said}
    asked = {_UNITS[each] for each in said if each in _UNITS}
    when = {_UNITS[each] for each in _POINTS & written if f"{each}s" not in written}
    folded = unit.strip(". ").lower()
    if len(folded) < 3 and folded.isalpha():
        # The case of a sign belongs to it: `Mb` is no `MB`, `M` is no metre.
        meant = _SIGNS.get(unit.strip(". "))
    else:
        meant = _UNITS.get(folded) or _UNITS.get(stem(folded))
    if meant is None:
        named = map(stem, words(name))
        return len(folded) > 2 and not asked and stem(folded) in named
    return asked == {meant} and meant not in when and _OTHER_SIZE.isdisjoint(said)


def _words_of_name(name: str) -> set[str]:
    """Return the words of a name that may be units.

    A sign that is also a word is one only at the end: `size_in`, but not `in_stock`.
    """
    said = words(name)
    if len(name) < 2 or not said:
        return set()
    last = set(said[1:][-1:])
    return last | {word for word in said if len(word) > 1 and word not in _ALSO_WORDS}


def _words_of(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:/h)?", text.lower()[:2_000])
