"""Messages that list several violations as lines: "a: must be …", "… at b", pydantic's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from selfcorrect.model import Finding
from selfcorrect.pointer import join
from selfcorrect.words import word_list

_MOST: Final = 50
_LONGEST: Final = 2_000
_PATH: Final = r"[A-Za-z_$@][\w$@-]{0,80}(?:(?:\.|/|\[|\]|->|\s?→\s?)[\w$@'\"-]{0,80}){0,24}"
_PATH_ONLY: Final = re.compile(rf"\A(?:{_PATH}|\d[\w.]{{0,80}})\Z")
_COUNT: Final = re.compile(r"(?:\A|: )\d{1,6} validation errors? (?:for|in) ")
_DETAIL: Final = re.compile(
    r"\s*[\[(]type=([\w.]{1,80})(?:(?:, |; ).{0,2000})?[\])]\s*\Z"
    r"|\s*\(type=([\w.]{1,80})[^)\n]{0,400}\)\s*\Z"
)
_COLON: Final = re.compile(
    rf"\A[-*•✖✗×\s]{{0,6}}(?:\d{{1,3}}[.)] )?[`'\"]?({_PATH})[`'\"]?\s?(?::|->|=>|-|–|—) (?=\S)"
)
_AT: Final = re.compile(rf"\A(.{{3,600}}?) at (?:path )?[`'\"]?({_PATH})[`'\"]?\.?\Z")
_BELOW: Final = re.compile(rf"\A\s*(?:(?:→|->|↳) at|(?:Path|Field|At|Location):) \.?({_PATH})\s*\Z")
_LEAD: Final = re.compile(
    rf"\A(?:.{{0,60}} )?at path:? [`'\"]?({_PATH})[`'\"]? (?:--?|–|—|:) (?=\S)", re.IGNORECASE
)
_VARIABLE: Final = re.compile(
    rf"\bvariable [\"'`]?\$?\w{{1,80}}[\"'`]? .{{0,600}}? at (?:path )?[\"'`]({_PATH})[\"'`]",
    re.IGNORECASE,
)
"""GraphQL: the place inside a variable."""
_PRINTED: Final = re.compile(
    r"\n+Failed validating ['\"](\w{1,40})['\"](?s:.*?)\nOn \w{1,20}((?:\[[^\]\n]{1,100}\]){0,20}):"
)
"""jsonschema: the keyword and the place behind the sentence, before schema and instance."""
_OF_KEYS: Final = ("required", "additionalProperties", "unevaluatedProperties")
_BULLET: Final = re.compile(r"\A\s*[-*•✖✗×]\s*")
_DULL: Final = frozenset(
    word_list("""
        error errors message detail details warning reason code status type cause note hint info
        usage fatal line position context value name exception description http https summary
        title file traceback caused npm git""")
)


def read(text: str, known: frozenset[str]) -> tuple[Finding, ...]:
    """A finding per line that names a place; nothing if the text is no such list.

    Args:
        text: A cleaned message.
        known: Names of the arguments and of the schema's properties. "a: …" and, where any are
            known, "… at a" count only for them: a shop closes at ten.
    """
    if (match := _PRINTED.search(text)) is not None:  # what is printed behind it must not speak
        place = () if match[1] in _OF_KEYS else (pointer(match[2]),)
        return (Finding(text[: match.start()], code=match[1], paths=place),)
    lines = [line for line in text.split("\n") if line.strip()][:200]
    found = tuple(_pydantic(lines)) or tuple(_below(lines)) or tuple(_placed(lines))
    if found:
        return found[:_MOST]
    ats = [_AT.match(line.strip()) for line in lines]
    if all(match and (not known or _is_known(match[2], known)) for match in ats):
        return tuple(Finding(each[1], paths=(pointer(each[2]),)) for each in ats if each)
    return tuple(_colons(lines, known))[:_MOST]


def pointer(path: str) -> str:
    """The JSON Pointer of a dotted or bracketed path: `items[1].qty`, `a/b`, `$.a`, `body → x`."""
    tokens = re.split(r"[.\[\]/'\"]+|->|\s?→\s?", path.lstrip("$#"))
    return join(*[token for token in tokens if token])


def _pydantic(lines: list[str]) -> Iterator[Finding]:
    start = next((i for i, line in enumerate(lines[:6]) if _COUNT.search(line.strip())), None)
    if start is None:
        return
    path: str | None = None
    for line in lines[start + 1 :]:
        place = (pointer(path),) if path and _PATH_ONLY.match(path) else ()
        if not line[0].isspace():
            path = line.strip()
        elif (match := _DETAIL.search(line)) is not None:
            code = match[1] or match[2]
            yield Finding(line[: match.start()].strip(), code=code, paths=place)
            path = path if line.startswith("    ") else None
        elif path is not None and not line.strip().startswith(("For further", "[type=")):
            yield Finding(line.strip(), paths=place)
            path = None


def _below(lines: list[str]) -> Iterator[Finding]:
    """Violations with their place on the line below: `→ at a`, `Path: .a`."""
    for before, line in pairwise(lines):
        if (match := _BELOW.match(line)) is not None:
            yield Finding(_BULLET.sub("", before).strip(), paths=(pointer(match[1]),))


def _placed(lines: list[str]) -> Iterator[Finding]:
    """One violation with its place before it: `At path: a -- …`, or in a variable of GraphQL."""
    if 0 < len(lines) <= 8 and (match := _LEAD.match(lines[0])) is not None:
        yield Finding("\n".join([lines[0][match.end() :], *lines[1:]]), paths=(pointer(match[1]),))
    elif 0 < len(lines) <= 8 and (match := _VARIABLE.search(lines[0][:_LONGEST])) is not None:
        yield Finding("\n".join(lines), paths=(pointer(match[1]),))


def _colons(lines: list[str], known: frozenset[str]) -> Iterator[Finding]:
    if len(lines) > 40:
        return
    matches = [_COLON.match(line) for line in lines]
    for line, match in zip(lines, matches, strict=True):
        if match is None:
            continue
        if match[1].lower() not in _DULL and _is_known(match[1], known):
            yield Finding(line[match.end() :].strip(), paths=(pointer(match[1]),))


def _is_known(path: str, known: frozenset[str]) -> bool:
    tokens = re.split(r"[.\[/]", path)
    return any(token in known for token in (tokens[0], tokens[-1], path))
