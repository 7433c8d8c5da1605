"""What was renamed behind the caller: tools and keys, by spelling and structure together.

A slip is judged by the letters alone. What lies farther off is the same name only where both speak
for it: no other name is as near, by a margin, and everything that was written has one place there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from selfcorrect.kernel.likeness import bare_tool, form_of, has_own_sign
from selfcorrect.kernel.measures import is_measure
from selfcorrect.kernel.spellings import TRUTH, Slot
from selfcorrect.model import JSON
from selfcorrect.text import LONGEST, distance, is_opposite, normal, tokens
from selfcorrect.words import NEGATIONS, SHORT_WORDS, WORDS, is_english, number_word, singular

FARTHEST: Final = 0.4
"""The share of letters by which a name, and each word of it, may have changed."""
LEAD: Final = 0.2
"""By how much the nearest name is nearer than the next."""
_OTHER: Final = 1.0
_MOST_KEYS: Final = 12
"""Unknown keys of one object beyond which nobody renamed them."""
_MOST_HOLES: Final = 50
_MOST_TOOLS: Final = 1_000
_SHORTEST: Final = 4
"""Letters of a name, or of a word in one: shorter ones are alike by chance."""
_ENDINGS: Final = "drs"
"""Letters that make another word of one at its end: a past, who does it, a plural."""
_BETWEEN: Final = re.compile(r"[\W_]+")
_BORDER: Final = re.compile(r"__|[.:/]")
_DATES: Final = frozenset({"date", "time", "date-time"})

Path = tuple[str | int, ...]
Slots = Callable[[Path], Slot]
"""What the schema of a tool says of a place in its arguments."""


# --- spelling -------------------------------------------------------------------------------------


def far(one: str, other: str) -> float:
    """The share of letters that differ; 1 where it is too large.

    >>> far("order", "ordre"), far("pay", "search")
    (0.2, 1.0)
    """
    ours, theirs = normal(one), normal(other)
    longest = max(len(ours), len(theirs))
    edits = distance(ours, theirs, int(FARTHEST * longest))
    return _OTHER if edits is None or longest < _SHORTEST else edits / longest


def is_garbled(written: str, name: str) -> bool:
    """Whether a name may be another one with letters added, left out or changed.

    Between two words of a language there is no slip, only another word; and what stands whole in a
    longer name was not garbled, but added to.

    >>> is_garbled("cancel_order", "cancl_ordr"), is_garbled("cancel_order", "create_order")
    (True, False)
    >>> is_garbled("approve", "approveall"), is_garbled("minprice", "maxprice")
    (False, False)
    """
    if form_of(written).digits != form_of(name).digits or has_own_sign(written):
        return False
    if _BORDER.split(written)[:-1] != _BORDER.split(name)[:-1]:
        return False  # another namespace may be another server's
    ours, theirs = tokens(written), tokens(name)
    one, other = _parts(written), _parts(name)
    # A capital letter in the midst of a word is noise, where the other name has none.
    whole, came = set(other).difference(one), set(theirs).difference(ours)
    known = any(map(is_english, whole)) or (len(ours) > len(one) and any(map(_is_word, came)))
    if not whole or known or not WORDS.isdisjoint(came) or set(one) <= set(other):
        return False
    if NEGATIONS & (set(ours) ^ set(theirs)) or any(map(is_measure, set(one) ^ set(other))):
        return False
    if len(one) != len(other):
        return not _is_another("".join(one), "".join(other))
    return not any(_is_another(a, b) for a, b in zip(one, other, strict=True) if a != b)


def _parts(name: str) -> list[str]:
    return [part for part in _BETWEEN.split(name.lower()) if part]


def _is_word(word: str) -> bool:
    return word in WORDS or (len(word) >= _SHORTEST and is_english(word))


def _is_another(word: str, other: str) -> bool:
    """Whether a word differs from another by whole words, or by more than noise."""
    heads, tails = _begin_alike(word, other), _begin_alike(word[::-1], other[::-1])
    # What stands whole around, before or behind something that was put in says more.
    if _adds(word, other) or (heads == len(word) and other[-1] in _ENDINGS):
        return True
    if far(word, other) == _OTHER or is_opposite(word, other):
        return True
    is_part = _turns if _is_word(word) else _is_part
    rests = [(word[at:], other[at:]) for at in range(2, heads + 1)]
    rests += [(word[: len(word) - n], other[: len(other) - n]) for n in range(2, tails + 1)]
    return any(a != b and is_part(a) and is_part(b) for a, b in rests)


def _adds(word: str, other: str) -> bool:
    """Whether another word is this one and more than a letter, in one piece."""
    alike = _begin_alike(word, other) + _begin_alike(word[::-1], other[::-1])
    return len(other) - len(word) > 1 and alike >= len(word)


def _begin_alike(word: str, other: str) -> int:
    pairs = enumerate(zip(word, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(word), len(other)))


def _turns(part: str) -> bool:
    """Whether a part of a word makes another action of the rest: `checkin`, `upvote`, `srcid`."""
    return part in NEGATIONS or part in WORDS or part in SHORT_WORDS


def _is_part(part: str) -> bool:
    return _turns(part) or is_english(part)


def is_told_apart(written: str, name: str) -> bool:
    """Whether a name may be called for another unasked, as far as its spelling goes.

    Its beginning is equal, no plural differs, nothing was added, and what was written says what
    is meant: where neither word is one of the language, nobody knows that they are not two.

    >>> is_told_apart("serach", "search"), is_told_apart("search_flights", "search_flight")
    (True, False)
    """
    ours, theirs = tokens(bare_tool(written)), tokens(name)
    gone, came = set(ours) - set(theirs), set(theirs) - set(ours)
    if normal(bare_tool(written))[:1] != normal(name)[:1]:
        return False
    if {*map(singular, gone)} & {*map(singular, came)}:
        return False
    if len(gone) == len(came) == 1:
        short, long = sorted((*gone, *came), key=len)
        if _is_word(short) and _adds(short, long):
            return False
    return all(map(_is_word, gone)) or all(map(_is_word, came))


# --- structure ------------------------------------------------------------------------------------


def could_be(value: JSON, kinds: Collection[str], formats: Collection[str] = ()) -> bool:
    """Whether a value is of the right shape, or one that could be converted."""
    if value is None or not kinds:
        return True
    match value:
        case str():
            text = value[:LONGEST].strip().lower()
            if "string" in kinds:
                return _DATES.isdisjoint(formats) or has_digit(text)
            if "integer" in kinds or "number" in kinds:
                return has_digit(text) or number_word(text) is not None
            if "boolean" in kinds:
                return text in TRUTH
            return "array" in kinds or text.startswith("{")
        case bool():
            wanted = {"boolean", "array"}
        case int() | float():
            wanted = {"integer", "number", "string", "array"}
            wanted |= {"boolean"} if value in (0, 1) else set()
        case Mapping():
            wanted = {"object", "array"}
        case _:
            wanted = {"array"}
    return not wanted.isdisjoint(kinds)


def has_digit(text: str) -> bool:
    """Whether a text holds a digit."""
    return any(char.isdigit() for char in text[:LONGEST])


def assigned(given: Mapping[str, JSON], slots: Slots, path: Path = ()) -> dict[str, str] | None:
    """By unknown key of an object, the name that it stands for; None where not all have one place.

    Every other assignment is farther by the margin: for each key its name leads, and for each name
    its key. All that must be there is there then.
    """
    names = slots(path).names
    holes = [name for name in names if name not in given]
    if len(given) + len(holes) - len(names) > min(_MOST_KEYS, len(holes)):
        return None  # more unknown keys than places
    known = frozenset(names)
    free = [key for key in given if key not in known]
    about = {name: slots((*path, name)) for name in holes[:_MOST_HOLES]}
    must = {name for name, slot in about.items() if slot.required}
    if len(must) > len(free):
        return None
    price = {
        (key, name): _price(key, given[key], name, slot)
        for key in free
        for name, slot in about.items()
    }
    found: dict[str, str] = {}
    for key in free:
        name = min(about, key=lambda one: price[key, one])
        rivals = [price[key, one] for one in about if one != name]
        rivals += [price[one, name] for one in free if one != key]
        best = price[key, name]
        if best == _OTHER or min(rivals, default=_OTHER) - best < LEAD:
            return None
        found[key] = name
    return found if must <= {*found.values()} else None


def _price(key: str, value: JSON, name: str, slot: Slot) -> float:
    if has_own_sign(key) or not could_be(value, slot.kinds, slot.formats):
        return _OTHER
    ours, theirs = form_of(key), form_of(name)
    if (ours.letters, ours.digits) == (theirs.letters, theirs.digits) and ours.letters:
        return 0.0
    return far(key, name) if is_garbled(key, name) else _OTHER


def renamed_tool(
    written: str,
    given: Mapping[str, JSON],
    offered: Collection[str],
    slots: Callable[[str], Slots],
    acts: Callable[[str], bool],
) -> str | None:
    """The tool that was renamed: the nearest by the margin, and no other takes the arguments.

    Where it only reads, another may take them whose name is farther by the margin.
    """
    bare = bare_tool(written)
    price = {one: far(bare, one) for one in offered} if len(offered) <= _MOST_TOOLS else {}
    near = [one for one in price if price[one] < _OTHER and is_garbled(bare, one)]
    name = min(near, key=lambda one: price[one], default="")
    rivals = [one for one in near if one != name and price[one] - price[name] < LEAD]
    if not name or rivals or assigned(given, slots(name)) is None:
        return None
    if acts(name):
        if not is_told_apart(written, name):
            return None
        rivals = [one for one in offered if one != name]
    else:
        rivals = [one for one in offered if one != name and price[one] - price[name] < LEAD]
    return None if any(assigned(given, slots(one)) is not None for one in rivals) else name
