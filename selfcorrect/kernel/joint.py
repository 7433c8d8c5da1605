"""What was renamed behind the caller: tools and keys, by spelling and structure together.

A slip is judged by the letters alone. What lies farther off is the same name only where both speak
for it: no other name is as near, by a margin, and everything that was written has one place there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from selfcorrect.kernel.likeness import (
    BORDER,
    Naming,
    bare_tool,
    form_of,
    has_own_sign,
    is_near,
    is_placeholder,
)
from selfcorrect.kernel.measures import is_measure
from selfcorrect.kernel.spellings import TRUTH, Slot, Words
from selfcorrect.model import JSON
from selfcorrect.text import LONGEST, distance, is_opposite, normal, rivals, tokens
from selfcorrect.words import NEGATIONS, SHORT_WORDS, WORDS, is_english, number_word, singular

FARTHEST: Final = 0.4
"""The share of letters by which a name, and each word of it, may have changed."""
LEAD: Final = 0.2
"""By how much the nearest name is nearer than the next."""
_OTHER: Final = 1.0
_MOST_KEYS: Final = 1_000
_MOST_COMPARED: Final = 50
_MOST_NAMES: Final = 500
_MOST_RENAMED: Final = 12
"""Keys beyond which nobody renamed a tool and all of them."""
_MOST_TOOLS: Final = 1_000
_SHORTEST: Final = 4
"""Letters of a name, or of a word in one: shorter ones are alike by chance."""
_ENDINGS: Final = "drs"
"""Letters that make another word of one at its end: a past, who does it, a plural."""
_BETWEEN: Final = re.compile(r"[\W_]+")
_DATES: Final = frozenset({"date", "time", "date-time"})

_OPENING: Final = ("{", "[")
"""How a text begins that may hold several arguments."""
_IDS: Final = frozenset({"id", "identifier", "key", "uuid"})
_CODES: Final = frozenset({"abbreviation", "code", "iata", "icao", "iso", "symbol", "ticker"})
_IDENTIFIES: Final = frozenset(
    {*_IDS, *_CODES, "address", "base64", "content", "email", "hash", "hex", "link", "mail"}
    | {"number", "phone", "token", "uri", "url"}
)
"""Words that tell what no name is."""
_LONGEST_CODE: Final = 3

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
    if BORDER.split(written)[:-1] != BORDER.split(name)[:-1]:
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


@dataclass(frozen=True, slots=True)
class Names:
    """What is known of the names that the unknown keys of an object may stand for.

    Attributes:
        slot: What the schema says of each place.
        topic: Words of the tool's name and description.
        acts: Whether the tool may change something.
        words: What a deployment declares to mean the same.
        off: Kinds of likeness that count for nothing here.
    """

    slot: Slots
    topic: frozenset[str] = frozenset()
    acts: bool = True
    words: Words = field(default_factory=Words)
    off: frozenset[str] = frozenset()


class Assignment(NamedTuple):
    """The names that the unknown keys of an object stand for.

    Attributes:
        names: By key, its name, if it has one.
        claims: By key, the names that it could stand for.
        is_whole: Whether every key has a name, and all that must be there is there.
    """

    names: Mapping[str, str]
    claims: Mapping[str, Sequence[str]]
    is_whole: bool


def assigned(given: Mapping[str, JSON], about: Names, path: Path = ()) -> Assignment:
    """One assignment of the unknown keys of an object to the names under which nothing stands.

    The surest likeness speaks first. One that rests on the whole object speaks only where every
    key has a name then, and all that must be there is there.
    """
    declared = dict.fromkeys(about.slot(path).names)
    unknown = [key for key in given if key not in declared]
    absent = (name for name in declared if name not in given)
    holes = {name: about.slot((*path, name)) for name in islice(absent, _MOST_NAMES)}
    claims = _spelled(unknown[:_MOST_KEYS], holes)
    ranks = dict.fromkeys(claims, 0)
    for key in [key for key in unknown if key not in claims][:_MOST_COMPARED]:
        if any(about.words.mean(key, name) for name in declared if name in given):
            continue  # it was written twice, and means nothing else
        price = {name: _price(key, given[key], name, holes, about) for name in holes}
        best = min(price.values(), default=_OFF)
        names = [name for name in holes if price[name] < best + LEAD]
        if best == _NEAR:
            names += [other for name in names for other in rivals(key, name, holes)]
        if best < _OFF:
            claims[key], ranks[key] = list(dict.fromkeys(names)), int(best)
    found, taken = dict[str, str](), set[str]()
    for rank, kinds in enumerate(_KINDS):
        if about.off.isdisjoint(kinds):
            _place({key: claims[key] for key in ranks if ranks[key] == rank}, found, taken)
    must = {name for name in holes if holes[name].required}
    is_whole = len(found) == len(unknown) and must <= {*found.values()}
    placed = (key for key in unknown if key in found and (is_whole or ranks[key] <= _NEAR))
    return Assignment({key: found[key] for key in placed}, claims, is_whole)


def _spelled(keys: Iterable[str], names: Iterable[str]) -> dict[str, list[str]]:
    """By key, the names that differ in case, separators and a known prefix only."""
    spelled: dict[str, set[str]] = {}
    for name in names:
        for one in form_of(name).spellings:
            spelled.setdefault(one, set()).add(name)
    found = {key: [spelled.get(one, ()) for one in form_of(key).spellings] for key in keys}
    return {key: sorted(set[str]().union(*near)) for key, near in found.items() if any(near)}


def _place(claims: Mapping[str, Sequence[str]], found: dict[str, str], taken: set[str]) -> None:
    """Place every key that has one name left which no other such key has, until none is.

    What is then still open on either side is a tie, and nobody breaks it.
    """
    while True:
        left = {
            key: [name for name in names if name not in taken]
            for key, names in claims.items()
            if key not in found
        }
        single = Counter(names[0] for names in left.values() if len(names) == 1)
        if not single:
            break
        ones = ((key, names[0]) for key, names in left.items() if len(names) == 1)
        found |= {key: name for key, name in ones if single[name] == 1}
        taken |= single.keys()
    taken.update(*left.values())


def _price(key: str, value: JSON, name: str, holes: Mapping[str, Slot], about: Names) -> float:
    """How far a key is from a name: the kind of likeness, and the share of letters that differ."""
    slot = holes[name]
    if about.words.mean(key, name):
        return 1
    if max(len(key), len(name)) > LONGEST or not could_be(value, slot.kinds, slot.formats):
        return _OFF
    near = Naming(holes, about.topic, slot.required, about.acts)
    if is_near(key, name, near) and not _asks_for_more(key, value, name, slot.said):
        return _NEAR
    holds_more = isinstance(value, str) and value.lstrip()[:1] in _OPENING
    if slot.required and is_placeholder(key) and not holds_more:
        return _NEAR + 1
    price = far(key, name)
    return _NEAR + 2 + price if price < _OTHER and is_garbled(key, name) else _OFF


def _asks_for_more(key: str, value: JSON, name: str, said: str) -> bool:
    """Whether an id, an address or a code of something is asked for, and not what was written."""
    ours, theirs = {*form_of(key).words}, {*form_of(name).words}
    told = {word for piece in said.split() for word in tokens(piece)}
    if "name" in ours - theirs and not _IDENTIFIES.isdisjoint(told):
        return True
    asked = theirs - ours if len(theirs) > len(ours) else set[str]()
    if not asked & (_IDS | _CODES) or not isinstance(value, str) or has_digit(value):
        return False
    is_code = value.isupper() or len(value.strip()) <= _LONGEST_CODE
    return bool(asked & _IDS) or not is_code


_NEAR: Final = 2
_KINDS: Final = (
    ("key-spelling",),
    ("key-like",),
    ("key-like",),
    ("key-unnamed",),
    ("key-spelling", "key-like"),
)
"""The kinds of likeness by rank, as prices name them: what is farther off rests on two of them."""
_OFF: Final = len(_KINDS)


def renamed_tool(
    written: str,
    given: Mapping[str, JSON],
    offered: Collection[str],
    about: Callable[[str], Names],
) -> tuple[str, Mapping[str, str]] | None:
    """The tool that was renamed, and its keys: the nearest by the margin, which alone takes them.

    Where it only reads, another may take them whose name is farther by the margin.
    """
    bare = bare_tool(written)
    price = {one: far(bare, one) for one in offered} if len(offered) <= _MOST_TOOLS else {}
    near = [one for one in price if price[one] < _OTHER and is_garbled(bare, one)]
    name = min(near, key=lambda one: price[one], default="")
    rivals = [one for one in near if one != name and price[one] - price[name] < LEAD]
    if not name or rivals or (keys := _taken(given, about(name))) is None:
        return None
    acts = about(name).acts
    if acts and not is_told_apart(written, name):
        return None
    rivals = [one for one in offered if one != name and (acts or price[one] - price[name] < LEAD)]
    return None if any(_taken(given, about(one)) is not None for one in rivals) else (name, keys)


def _taken(given: Mapping[str, JSON], about: Names) -> Mapping[str, str] | None:
    """The new names of the keys by which a tool takes some arguments, if it does."""
    if len(given.keys() - {*about.slot(()).names}) > _MOST_RENAMED:
        return None
    found = assigned(given, about)
    return found.names if found.is_whole else None
