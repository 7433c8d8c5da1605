"""Which parameter is at fault: the one named, whose value is quoted, or that breaks the rule.

Structure first (a path in the error), then names in the text, then quoted values, then what breaks
the stated constraint. Being the only argument is no evidence, and where something else has to hold
first, no argument is at fault.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from selfcorrect.evidence.faults.absent import absent
from selfcorrect.evidence.faults.names import named, unknown_names
from selfcorrect.evidence.faults.place import Places, deepest, from_wire, whole_list
from selfcorrect.evidence.faults.roles import FREE_FORM, TOOLS, dated, free_form
from selfcorrect.evidence.faults.values import (
    by_breaking,
    by_got_type,
    by_noun,
    by_number,
    by_schema,
)
from selfcorrect.evidence.masking import PRIVATE, Echo, Masked
from selfcorrect.model import ABSENT, Category, ErrorKind, Finding
from selfcorrect.pointer import join, split
from selfcorrect.text import words_of

_INPUT: Final = frozenset({ErrorKind.VALIDATION, ErrorKind.NOT_FOUND, ErrorKind.CONFLICT})
_OF_THE_CALL: Final = (Category.MISSING_PARAM, Category.UNKNOWN_TOOL, Category.MALFORMED_JSON)
"""What no argument is at fault for."""
_STATES: Final = (Category.BUSINESS_RULE, Category.PRECONDITION)
"""What is wrong with the state of things, and with an argument only where it is quoted."""
_VARIABLE: Final = re.compile(r"\bvariable [\"'`]?\$", re.IGNORECASE)
_MAIN: Final = re.compile(r"\n(?:DETAIL|HINT|CONTEXT|Hint|hint|Detail)\b")
_KEY: Final = re.compile(r"\bKey \([\w., ]{1,120}\)=")
_LONGEST: Final = 4000
_SURE: Final = 2.0
_LABEL: Final = re.compile(rf"\W{{0,3}}{PRIVATE.pattern}\W?:")
"""An echo in front that says which line is meant."""


def settle(finding: Finding, hidden: Masked, place: Places) -> tuple[str, ...]:
    """Pointers (from `/args`) of the parameters at fault; empty where nobody can tell.

    Args:
        finding: With its kind and category as far as known, its constraint, and paths of the wire.
        hidden: The finding's text with its echoes taken out.
        place: The arguments and their schema.
    """
    if finding.captures.get("param"):
        bare = replace(finding, captures={})  # what the text and the schema show may say more
        return settle(replace(bare, paths=()), hidden, place) or settle(bare, hidden, place)
    if finding.paths:
        if finding.kind not in _INPUT:
            return ()
        placed = (from_wire(path, place) for path in finding.paths)
        return tuple(dict.fromkeys("/args" + path for path in placed if path))
    text = hidden.text
    text = _MAIN.split(text[:_LONGEST], maxsplit=1)[0] if not _KEY.search(text) else text
    quoted = _quoted(hidden.within(text.split(" -> ", maxsplit=1)[0]), place)
    vague = finding.category in (Category.NONE, *_STATES)
    free = [] if vague or _VARIABLE.search(text) else free_form(place)
    if finding.category is Category.UNKNOWN_TOOL:
        found = quoted or free or [p for p in place.top if set(words_of(split(p)[-1])) & TOOLS]
        found = found if len(found) == 1 else []
    elif finding.kind is ErrorKind.CONFLICT and finding.category in _STATES:
        found = quoted
    elif finding.kind in _INPUT:
        found = free or _search(finding, text, quoted, hidden.within(text), place)
    else:
        told = finding.kind in (ErrorKind.PERMANENT, ErrorKind.AUTH)
        found = quoted if told or finding.category is Category.UNKNOWN_RESOURCE else []
    return tuple("/args" + path for path in dict.fromkeys(found))


def by_elimination(finding: Finding, place: Places) -> tuple[str, ...]:
    """The only argument that there is: it is told, and nothing is changed for it."""
    meant = finding.kind in _INPUT and finding.category not in _OF_THE_CALL
    return ("/args" + place.top[0],) if meant and len(place.top) == 1 else ()


def _quoted(echoes: Sequence[Echo], place: Places) -> list[str]:
    single = [echo for echo in echoes if len(echo.paths) == 1]
    told = [echo for echo in single if echo.whole] or single
    paths = [echo.paths[0].removeprefix("/args") for echo in told]
    return list(dict.fromkeys(whole_list(path, place) for path in paths if path))


def _search(
    finding: Finding, text: str, quoted: list[str], echoed: Sequence[Echo], place: Places
) -> list[str]:
    ranked = named(text, place, finding.code)
    sure = [path for score, path in ranked if score >= _SURE]
    if finding.category is Category.MISSING_PARAM:
        return _missing(finding, text, sure, place)
    if finding.category is Category.EXTRA_PARAM:
        return _extra(text, sure, place)
    if finding.category is Category.BUSINESS_RULE:
        both = [path for score, path in ranked if score >= 0.5 and (sure or score >= 1.0)]
        twice = [echo.paths for echo in echoed if echo.whole and len(echo.paths) == 2]
        if twice and not both:
            return [path.removeprefix("/args") for path in twice[0]]
        return both or quoted or _by_value(finding, text, place)
    if beside := _beside_label(text, [path for _, path in ranked], echoed, place):
        return beside
    weak = [path for score, path in ranked if score >= 1.0]
    return (
        _of_one_line(sure, finding, text, place)
        or [path for path in weak if path in quoted]
        or quoted
        or weak
        or _by_value(finding, text, place)
        or [path for _, path in ranked[:1]]
        or _marked(text, place)
    )


def _beside_label(
    text: str, ranked: Sequence[str], echoed: Sequence[Echo], place: Places
) -> list[str]:
    """What a text finds fault with in the line that its label is of: `E2: amount -150`."""
    if not echoed or not _LABEL.match(text):
        return []
    labels = echoed[0].paths
    lines = {path.removeprefix("/args").rpartition("/")[0] for path in labels}
    line = lines.pop() if len(lines) == 1 and echoed[0].whole else ""
    if not _is_line(line):
        return []
    told = (line + join(split(path)[-1]) for path in (*ranked, *by_number(text, place)))
    there = [path for path in told if place.value(path) is not ABSENT]
    return [path for path in dict.fromkeys(there) if "/args" + path not in labels][:1]


def _of_one_line(found: list[str], finding: Finding, text: str, place: Places) -> list[str]:
    """A field that several lines of a list have, of the line that is meant; else the list."""
    if len(found) < 2 or not all(_is_line(path.rpartition("/")[0]) for path in found):
        return found
    told = {*by_number(text, place), *by_breaking(finding.constraint, place)}
    lists = dict.fromkeys(path.rpartition("/")[0].rpartition("/")[0] for path in found)
    return [path for path in found if path in told] or list(lists)


def _is_line(path: str) -> bool:
    return path.rpartition("/")[2].isdigit()


def _by_value(finding: Finding, text: str, place: Places) -> list[str]:
    free = [path for path in place.top if split(path)[-1].lower() in FREE_FORM]
    free = free if len(free) == 1 else []
    if finding.category is Category.SYNTAX and free:
        return free
    got = by_got_type(text, place)
    if got and finding.category is Category.WRONG_TYPE:
        return got
    broken = by_breaking(finding.constraint, place) if finding.constraint else []
    if len(broken) == 1:
        return [whole_list(broken[0], place)]
    if found := by_schema(finding, place):
        return found
    numbers = by_number(text, place) or got
    if len(numbers) == 1:
        return numbers
    if finding.kind is not ErrorKind.VALIDATION or finding.category is Category.BUSINESS_RULE:
        nouns = by_noun(text, place)
        if len(nouns) == 1:
            return [whole_list(nouns[0], place)]
    # A rule of a deployment's own may name no category.
    by_name = {Category.NONE: free, Category.FORMAT_DATE: dated(place)}
    return by_name.get(finding.category, [])


def _marked(text: str, place: Places) -> list[str]:
    """A name that the text marks outright, where the call's arguments are not known."""
    if place.leaves or place.declared:
        return []
    return [join(*name.lstrip("$").split(".")) for name in unknown_names(text)[:1]]


def _missing(finding: Finding, text: str, sure: list[str], place: Places) -> list[str]:
    empty = [path for path in sure if place.value(path) in (ABSENT, None, "")]
    if empty:
        return empty
    by_rule = by_schema(finding, place)
    found = absent(text, place)
    names = {split(path)[-1] for path in found}
    if by_rule and names <= {split(path)[-1] for path in by_rule}:
        return [path for path in by_rule if not names or split(path)[-1] in names]
    if found or place.lacking:
        return found or [join(name) for name in place.lacking]
    nothing = [path for path in place.top if place.value(path) in (None, "")]
    if len(nothing) == 1:
        return nothing
    return sure


_EXTRA: Final = re.compile(
    r"(?::|\bfor) (?P<c>[\w$@:.-]{1,60}(?:, [\w$@.-]{1,60}){0,9})\s*\Z|"
    r"[\"'`‘“«](?P<a>[\w$@.\[\] -]{1,80})[\"'`’”»]|(?<![\w-])--?(?P<b>[A-Za-z][\w-]{0,60})"
)


def _extra(text: str, sure: list[str], place: Places) -> list[str]:
    found = list(_EXTRA.finditer(text.split(" in {", maxsplit=1)[0]))[:10]
    names = [name.lstrip(":$") for m in found for name in (m["a"] or m["b"] or m["c"]).split(", ")]
    for name in names:
        exact = [path for path, _ in place.leaves if split(path)[-1] == name]
        if exact:
            more = [p for n in names[1:] for p in place.top if split(p)[-1] == n]
            return [*deepest(exact)[:1], *more]
    if place.declared and place.leaves:
        unknown = [path for path in place.top if path not in place.declared]
        if len(unknown) == 1:
            return unknown
    if sure:
        return sure
    return [join(names[0].lstrip("$:"))] if names and not place.leaves else []
