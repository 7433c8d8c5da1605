"""Which argument each unknown key means: all keys are compared with all free arguments at once."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from selfcorrect.model import JSON, Safety, frozen
from selfcorrect.names.dictionary import stem
from selfcorrect.names.letters import LONGEST, is_plain, same_words, words
from selfcorrect.names.likeness import ALIKE, NOISY, OTHER, SAME, difference, has_rival
from selfcorrect.schema.place import Place

LEAD = 0.1
"""How much nearer a key and its argument must be than any rival of either."""
MAX_PAIRS = 1_000
"""Pairs of keys and arguments beyond which only equal letters count: such a call is not a slip."""

_Prices: TypeAlias = dict[tuple[str, str], float]
"""How far each key is from each argument that it may mean."""


@frozen
class Assignment:
    """What the unknown keys mean.

    Attributes:
        names: By key, the argument that it means.
        safety: By key, how certain that is.
        ties: By key, the arguments that it may as well mean, or shares with another key.
    """

    names: Mapping[str, str]
    safety: Mapping[str, Safety]
    ties: Mapping[str, tuple[str, ...]]


def match_keys(
    unknown: Mapping[str, JSON],
    places: Mapping[str, Place],
    *,
    acts: bool,
    terms: frozenset[str],
    reads: Callable[[JSON, Place], bool],
    synonyms: Mapping[str, str],
) -> Assignment:
    """Assign unknown keys to free arguments; a key without a clear lead is assigned to none.

    A rival never makes an assignment surer. Noise in a key is believed only where every key and
    every required argument finds its place.

    >>> places = Place.of({"properties": {"from_city": {}, "to_city": {}}}).properties
    >>> match_keys({"fromCity": 1, "city": 2}, places, acts=True, terms=frozenset(),
    ...            reads=lambda value, place: True, synonyms={}).names
    {'fromCity': 'from_city'}

    Args:
        unknown: The unknown keys with their values.
        places: The arguments without a value.
        acts: Whether the tool may change something.
        terms: The words of the tool's description; none of them is a slip of another.
        reads: Whether a value fits in a place, converted if need be.
        synonyms: Arguments by the other names that they go by; they come before any likeness.
    """
    is_large = len(unknown) * len(places) > MAX_PAIRS
    price_of = partial(_price, terms=terms, synonyms=synonyms, is_large=is_large)
    near = {
        (key, name): price
        for key, value in unknown.items()
        for name, place in places.items()
        if (price := price_of(key, place)) < OTHER and reads(value, place)
    }
    # Rivals count by the loosest likeness; an argument of a tool that acts needs the strictest.
    leads, ties = _find_leads(near)
    prices = {
        key: price
        for key, name in leads.items()
        if (price := price_of(key, places[name], strict=acts)) < OTHER
        and (price == SAME or not has_rival(key, name, places))
    }
    required = {name for name, place in places.items() if place.required}
    if len(prices) < len(unknown) or not required <= {leads[key] for key in prices}:
        prices = {key: price for key, price in prices.items() if price < NOISY}
    safety = {
        key: Safety.EXACT if price == SAME and key not in synonyms else Safety.INFERRED
        for key, price in prices.items()
    }
    return Assignment({key: leads[key] for key in prices}, safety, ties)


def _find_leads(near: _Prices) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the pairs that lead every other pair of their key and of their argument, and ties."""
    by_key, by_name = defaultdict(list), defaultdict(list)
    for (key, name), price in near.items():
        by_key[key].append((price, name))
        by_name[name].append((price, key))
    leads: dict[str, str] = {}
    ties: dict[str, tuple[str, ...]] = {}
    for key, pairs in by_key.items():
        price, name = min(pairs)
        names = [each for other, each in pairs if other < price + LEAD]
        keys = [each for other, each in by_name[name] if other < price + LEAD]
        if (names, keys) == ([name], [key]):
            leads[key] = name
        else:
            ties[key] = tuple(names)
    return leads, ties


_WRAPPER = re.compile(r"\A(?:--|(?:args|arguments|params|parameters)[./_]|(?:input|tool_args)[./])")


def _price(
    key: str,
    place: Place,
    *,
    terms: frozenset[str],
    synonyms: Mapping[str, str],
    is_large: bool,
    strict: bool = False,
) -> float:
    """Return how far a key is from an argument; in strict comparison only spelling counts."""
    if key in synonyms:
        return SAME if synonyms[key] == place.name else OTHER
    if is_large or len(key) > LONGEST:
        is_same = same_words(key, place.name, strict=strict) and is_plain(key)
        return SAME if is_same else OTHER
    bare = _WRAPPER.sub("", key)
    price = difference(bare, place.name, terms, strict=strict)
    if strict or price <= ALIKE or not is_plain(bare):
        return price
    ours, theirs = _content(bare), _content(place.name)
    return ALIKE if ours == theirs != [] else price


_TYPES = frozenset({"array", "dict", "int", "list", "map", "obj", "object", "str", "string"})


def _content(name: str) -> list[str]:
    """Return the singular words of a name without those for a type: the schema names it already."""
    return [stem(word) for word in words(name) if word not in _TYPES]
