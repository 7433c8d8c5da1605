"""How alike names are: keys, tools, listed values. Searchers find by it, the kernel checks by it.

Nothing here looks at a call. A likeness is a relation between two texts and what stands beside
them; where two others are as like, it is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from selfcorrect.kernel.measures import is_measure
from selfcorrect.model import Safety
from selfcorrect.text import (
    LONGEST,
    VALUE_SLIP,
    is_pulled_apart,
    misspells,
    normal,
    plain_letters,
    rivals,
    spelling,
    tokens,
    typo,
)
from selfcorrect.words import NEGATIONS, SHORT_WORDS, WORDS, is_english, singular

# --- keys -----------------------------------------------------------------------------------------

_PREFIX: Final = re.compile(
    r"(?:args?|arguments?|params?|parameters?)(?:[_\-.]+|(?=[A-Z]))(.+)|p[_\-.]+(.+)", re.DOTALL
)
_NO_SIGN: Final = re.compile(r"(?!//)[\w.:/\-\s\"'`$@=*,\[\](){}<\u200b\ufeff\u2010-\u2015]*>?")
"""What may stand around the words of a key without a meaning of its own."""
_STOP: Final = frozenset({"a", "an", "of", "the"})
FILLERS: Final = frozenset(
    {"arg", "argument", "field", "input", "param", "parameter", "str", "string", "value"}
)
"""Words of a key that say only that it is one."""
SAYS_NOTHING: Final = FILLERS | {"data", "item", "key", "object", "x", "y"}
_SORTS: Final = frozenset({"array", "dict", "json", "list", "map"})
"""Words that tell the type of a value, and change nothing of what is done."""
_OTHER_END: Final = frozenset(
    {"former", "maximum", "minimum", "old", "parent", "previous", "prior", "secondary"}
)
_KEY_WORDS: Final = frozenset({"arg", "argument", "param", "parameter"})


class Form(NamedTuple):
    """What keys are compared by."""

    letters: str
    digits: tuple[str, ...]
    plain: str
    words: tuple[str, ...]
    spellings: frozenset[str]


def form_of(key: str) -> Form:
    """A key in the forms that it is compared by; a long one by its letters alone."""
    if len(key) <= LONGEST:
        return _formed(key)
    return Form(normal(key), (), "", (), _spellings(key))


@lru_cache(maxsize=4_096)
def _formed(key: str) -> Form:
    said = tokens(key)
    # `no_fees` are none; `order_no` and `no_of_guests` are numbers.
    short = {} if "no" in said[:-1] and "of" not in said else SHORT_WORDS
    words = (singular(short.get(word, word)) for word in said)
    kept = tuple(word for word in words if word not in _STOP)
    digits = tuple(re.findall(r"\d+", key))
    return Form(normal(key), digits, plain_letters(key), kept, _spellings(key))


def _spellings(key: str) -> frozenset[str]:
    match = _PREFIX.fullmatch(key)
    bare = spelling(match[1] or match[2]) if match else ""
    return frozenset({spelling(key), bare} - {""})


def is_spelled(key: str, name: str) -> bool:
    """Whether two keys differ in case, separators and a known prefix only.

    >>> is_spelled("departureDate", "departure_date"), is_spelled("params_location", "location")
    (True, True)
    """
    return not form_of(key).spellings.isdisjoint(form_of(name).spellings)


def has_same_letters(key: str, name: str) -> bool:
    """Whether two keys have the same letters and digits in the same order."""
    ours, theirs = form_of(key), form_of(name)
    return ours.digits == theirs.digits and ours.letters == theirs.letters != ""


def has_own_sign(key: str) -> bool:
    """Whether a key says something by a sign: `!force`, `//force`, `force?`."""
    return not _NO_SIGN.fullmatch(key)


def is_placeholder(key: str) -> bool:
    """Whether a key only says that it is one, and does not wrap others.

    >>> is_placeholder("params_name"), is_placeholder("arg1"), is_placeholder("params")
    (True, True, False)
    """
    words = [singular(word) for word in tokens(key)]
    bare = {word for word in words if not word.isdigit()}
    known = bare <= _KEY_WORDS | {"key", "name", "value"}
    return len(words) > 1 and known and bool(bare & _KEY_WORDS)


@dataclass(frozen=True, slots=True)
class Naming:
    """What stands beside the name that a key may mean.

    Attributes:
        others: The other declared names of its object.
        topic: Words of the tool's name and description.
        required: Whether the object cannot do without the name.
        acts: Whether the tool may change something.
    """

    others: Collection[str] = ()
    topic: frozenset[str] = frozenset()
    required: bool = False
    acts: bool = True


def is_near(key: str, name: str, beside: Naming) -> bool:
    """Whether a key is like a name, whatever others are like it too."""
    ours, theirs = form_of(key), form_of(name)
    if has_own_sign(key) and not set(key) <= set(name):
        return False
    if has_same_letters(key, name) or ours.plain == theirs.plain != "":
        return True
    if sorted(ours.words) == sorted(theirs.words):
        return bool(ours.words)
    return _one_word_off(ours.words, theirs.words, beside) or _is_part(
        frozenset(ours.words), frozenset(theirs.words), beside
    )


def _one_word_off(ours: Sequence[str], theirs: Sequence[str], beside: Naming) -> bool:
    """Whether the words differ by a slip or an abbreviation of one of them."""
    if len(ours) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(differing) != 1:
        return False
    word, meant = differing[0]
    if _is_slip_of_name(word, meant, alone=len(ours) == 1):
        return True
    short, long = sorted((word, meant), key=len)
    begun = short.isalpha() and long.startswith(short) and len(long) - len(short) > 1
    if len(short) >= 3 and begun:
        return {word, meant}.isdisjoint(WORDS) and not is_english(short)
    if misspells(word, meant) is None:  # asked first: it is cheap
        return False
    known = {w for one in beside.others for w in tokens(one)} | beside.topic
    return misspells(word, meant, known=WORDS | known) is not None


def _is_slip_of_name(word: str, meant: str, *, alone: bool) -> bool:
    """Whether the last letter was written twice or left out, or two letters of a word swapped.

    What is shorter than misspellings are looked for needs another word beside it that is right.
    """
    if word in WORDS or is_english(word) or not word.isalpha():
        return False
    if word == meant + meant[-1]:
        return True
    if len(meant) < 5 and (alone or not is_english(meant)):
        return False
    swapped = len(word) == len(meant) == 3 and word[0] == meant[0] and word[1:] == meant[:0:-1]
    return swapped or (len(meant) >= 4 and word == meant[:-1])


def _is_part(ours: frozenset[str], theirs: frozenset[str], beside: Naming) -> bool:
    """Whether one name says less than the other, and nothing else."""
    if (ours & theirs) <= SAYS_NOTHING or any(map(is_measure, ours ^ theirs)):
        return False
    if ours < theirs:
        more = theirs - ours
        if more & (NEGATIONS | _OTHER_END):
            return False
        # `run` is no `dry_run`: on a tool that acts, the word that was not written decides.
        return more <= FILLERS or (beside.required and (not beside.acts or more <= _SORTS))
    if theirs < ours:
        more = ours - theirs
        return not more & NEGATIONS and more <= beside.topic | FILLERS | {"name"}
    return False


# --- tools ----------------------------------------------------------------------------------------

_SPACES: Final = frozenset({"functions", "tools", "default_api"})
_RESIDUE: Final = re.compile(r"\s*+(?:<[|\uff5c].*|\(\))", re.DOTALL)
_NUMBERED: Final = re.compile(r":\d{1,4}\Z", re.ASCII)
BORDER: Final = re.compile(r"__|[.:/]")
_DISPATCHES: Final = frozenset(
    {"action", "agent", "api", "call", "dispatch", "dispatcher", "exec", "execute", "executor"}
    | {"func", "function", "handler", "invoke", "json", "name", "perform", "request", "router"}
    | {"run", "runner", "tool", "use", "v"}
)
"""What a made-up tool is called that only passes a call on."""
_FOR_TOOLS: Final = frozenset({"api", "call", "func", "function", "tool", "v"})
"""Words that say only that something is a tool."""
_NAME_ALONE: Final = re.compile(r"(?!//)[\w.:/\-\s\"'`]*", re.UNICODE)


def bare_tool(written: str) -> str:
    """A tool's name without quotes, template residue and an allowed namespace."""
    name = _RESIDUE.sub("", written[: 4 * LONGEST]).strip().strip("\"'`").strip()
    space, _, rest = re.sub(r"[:/]", ".", name, count=1).partition(".")
    bare = name[len(space) + 1 :] if rest and space in _SPACES else name
    return _NUMBERED.sub("", bare)


def tool_likeness(
    written: str,
    name: str,
    offered: Collection[str],
    *,
    acts: bool = True,
    declared: bool = False,
) -> Safety | None:
    """How certain a written name means a tool: the same words, or a slip inside one word.

    >>> offered = ["pay", "send_email"]
    >>> tool_likeness("functions.Pay", "pay", offered), tool_likeness("!pay", "pay", offered)
    (<Safety.EXACT: 'exact'>, None)
    """
    found, has_same_words = tools_like(written, offered)
    if found != [name]:
        return None
    bare, safety = bare_tool(written), Safety.EXACT if has_same_words else Safety.INFERRED
    if not acts or not is_behind_namespace(bare, name):
        return safety
    if declared:
        return None  # it may be another server's: what acts is not called on a likeness of names
    # Every tool here has this namespace; of several servers the call may mean another one's tool.
    length = len(name) - len(bare)
    return safety if all(one[:length] == name[:length] for one in offered) else None


def tools_like(written: str, offered: Collection[str]) -> tuple[list[str], bool]:
    """The tools that a written name may mean, and whether they have the same words.

    >>> tools_like("serach", ["search", "book"])
    (['search'], False)
    """
    bare = bare_tool(written)
    if bare in offered:
        return [bare], True
    if not _NAME_ALONE.fullmatch(bare) or len(bare) > LONGEST:
        return [], True  # a sign of its own is said: `!pay` is no call of `pay`
    if same := [one for one in offered if spelling(one) == spelling(bare) != ""]:
        return same, True
    if alike := [one for one in offered if has_same_letters(bare, one)]:
        return alike, False
    typos = [one for one in offered if typo(bare, one) is not None]
    near = [other for one in typos for other in rivals(bare, one, offered)]
    near += [one for one in offered if is_repeated(bare, one) or is_behind_namespace(bare, one)]
    return list(dict.fromkeys([*typos, *near])), False


def is_behind_namespace(bare: str, name: str) -> bool:
    """Whether a tool's name ends with another, behind a namespace that is no verb.

    >>> is_behind_namespace("convert", "currency_exchange.convert")
    True
    >>> is_behind_namespace("order", "delete_order")
    False
    """
    ours, theirs = tokens(bare), tokens(name)
    space = theirs[: len(theirs) - len(ours)]
    if not ours or not space or theirs[len(space) :] != ours:
        return False
    if not (WORDS | NEGATIONS).isdisjoint(space):
        return False
    last = BORDER.split(name)[-1]
    return tokens(last) == ours or (len(ours) > 1 and any(word.isdigit() for word in space))


def is_repeated(bare: str, name: str) -> bool:
    """Whether a tool's own beginning stands before its name again, or a word for a tool behind it.

    >>> is_repeated("bank.bank_transfer", "bank_transfer"), is_repeated("get_time_tool", "get_time")
    (True, True)
    """
    ours, theirs = tokens(bare), tokens(name)
    before, behind = ours[: -len(theirs)], ours[len(theirs) :]
    if ours[-len(theirs) :] == theirs and before:
        return before == theirs[: len(before)]
    begins = len(theirs) > 1 and ours[: len(theirs)] == theirs and bool(behind)
    return begins and _FOR_TOOLS.union(theirs).issuperset(behind)


def is_dispatcher(written: str) -> bool:
    """Whether the name of a tool that does not exist says only that it passes a call on."""
    words = [singular(word) for word in tokens(written)]
    return all(word in _DISPATCHES or word.isdigit() for word in words)


# --- listed values --------------------------------------------------------------------------------

_GENERIC: Final = frozenset(
    {"category", "choice", "class", "facility", "feature", "format", "grade", "kind", "level"}
    | {"method", "mode", "option", "setting", "sort", "state", "status", "style", "type", "unit"}
    | {"value"}
)
"""Nouns that name the sort of a value and say nothing of the value itself."""
_LIGHT: Final = frozenset(
    {"has", "have", "having", "with", "is", "are", "being", "a", "an", "the"}
    | {"offer", "offering", "include", "including", "provide", "providing", "operate", "operating"}
)
"""Words that only tie a value to what it is said of: `"operates 24 hours"`."""
_PERIODS: Final = frozenset({"hour", "day", "week", "month", "quarter", "year"})
_PAST: Final = frozenset({"last", "past", "previous"})
_JOINING: Final = frozenset({"and", "or", "plus", "to", "vs"})


def meant_values(
    written: str, listed: Collection[str], name: str, said: str
) -> tuple[list[str], bool]:
    """The listed values that words may mean, and whether by a slip: one is an answer.

    >>> meant_values("Business class", ["economy", "business"], "cabin", "")
    (['business'], False)
    >>> meant_values("premium economy", ["economy", "business"], "cabin", "")
    ([], True)
    """
    plain, slips = plain_letters(written), False
    found = [one for one in listed if plain_letters(one) == plain != ""]
    found = found or list(_same_words(written, listed, name))
    if not found:
        found, slips = _slips(written, listed, said), True
    if len(found) == 1 and is_pulled_apart(written, found[0]):
        return [], slips
    begun = [one for one in listed if spelling(one).startswith(spelling(written))]
    return (begun if len(found) == 1 and found[0] in begun else found), slips


def _same_words(written: str, listed: Collection[str], name: str) -> Iterator[str]:
    """Values whose words are those of a text, but for plurals and nouns that say nothing."""
    ours = _words(written)
    joined = set(tokens(written)) & (_JOINING | NEGATIONS) or any(c in written for c in ",;|&+")
    if not ours or joined or not _only_words(written):
        return
    own = {singular(word) for word in tokens(name)}
    theirs = {one: _words(one) for one in listed if _only_words(one)}
    uses = Counter(word for words in theirs.values() for word in set(words))
    for one, words in theirs.items():
        elsewhere = {word for word in ours if uses[word] > (word in words)}
        idle = (_GENERIC | _LIGHT | own) - NEGATIONS - elsewhere
        if not _PERIODS.isdisjoint(words):
            idle |= _PAST - elsewhere
        said = [w for w in ours if w in words or idle.isdisjoint({w, SHORT_WORDS.get(w, w)})]
        asked = [word for word in words if word in ours or word not in _GENERIC]
        if said != asked or _GENERIC.issuperset(said):
            continue
        fuller = (each for other, each in theirs.items() if other != one and set(ours) <= set(each))
        if len(asked) == len(words) or next(fuller, None) is None:
            yield one


def _slips(written: str, listed: Collection[str], said: str) -> list[str]:
    """Values that differ by a slip inside one word, and those that are nearly as near."""
    ours = tokens(written)
    known = WORDS | {singular(word) for word in tokens(said[:LONGEST])}
    found: list[str] = []
    for one in listed:
        theirs = tokens(one)
        if not ours or len(theirs) != len(ours) or not _only_words(one):
            continue
        pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
        if len(pairs) != 1 or misspells(*pairs[0], VALUE_SLIP, known) is None:
            continue
        word, meant = pairs[0]
        # The beginning of a longer word may go on in another way: `southw` for `south`.
        if not word.startswith(meant) or word == meant + meant[-1]:
            found.append(one)
    near = [other for one in found for other in rivals(written, one, listed)]
    return list(dict.fromkeys(found + near))


def _words(text: str) -> tuple[str, ...]:
    return tuple(singular(word) for word in tokens(text))


def _only_words(text: str) -> bool:
    """Whether a text is made of words alone: a sign or a symbol would be lost in comparison."""
    bare = text.strip()
    # Two points show that something was cut off: `red..`.
    framed = bare[:1].isalnum() and (bare[-1:].isalnum() or (bare[-1:] == "." != bare[-2:-1]))
    return framed and len(text) <= LONGEST and all(c.isalnum() or c in " _-.'/" for c in bare)
