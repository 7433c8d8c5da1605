"""Parameters that a text speaks of without naming them: by number, noun, or the rule they break."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sized
from typing import Any, Final

from selfcorrect.evidence.faults.place import Places, deepest
from selfcorrect.evidence.keywords import TYPES, category_of_constraint
from selfcorrect.model import JSON, Category, Finding
from selfcorrect.pointer import split
from selfcorrect.text import words_of
from selfcorrect.words import singular, word_list

_NUMBER: Final = re.compile(r"(?<![\w.-])-?\d{1,18}(?:\.\d{1,12})?(?!\w|\.\d)")
_ZERO: Final = re.compile(r"\bzero\b", re.IGNORECASE)
_SUFFIXES: Final = frozenset(
    word_list("""
        id name key identifier arn uri url path number code ref uuid slug file str list""")
)


def by_schema(finding: Finding, place: Places) -> list[str]:
    """Places that do not fit the schema: those wrong in the finding's own way, or the only one."""
    wrong = _violations(place)
    same = [item for item in wrong if _about(item) is finding.category]
    paths = [item.paths[0] for item in same or wrong if item.paths]
    paths = [path.removeprefix("/args") for path in dict.fromkeys(paths)]
    return paths if same or len(paths) == 1 else []


def category_by_schema(path: str, place: Places) -> Category | None:
    """What the schema itself finds wrong at a place, if it is one thing."""
    found = {_about(item) for item in _violations(place) if item.path == "/args" + path}
    return found.pop() if len(found) == 1 else None


def _violations(place: Places) -> tuple[Finding, ...]:
    if not place.schema or not isinstance(place.arguments, Mapping):
        return ()
    from selfcorrect.schema.checker import Checker

    try:
        return Checker(dict(place.schema), "tool").violations(dict(place.arguments))
    except Exception:
        return ()


def _about(violation: Finding) -> Category | None:
    keyword = "enum" if violation.code == "const" else violation.code
    return category_of_constraint({keyword or "": violation.constraint.get("format")})


def by_number(text: str, place: Places) -> list[str]:
    """Places that hold a number which stands in the text, where only one place holds it."""
    wanted: dict[float, list[str]] = {}
    for path, value in place.leaves:
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18:
            wanted.setdefault(float(value), []).append(path)
    found: list[str] = []
    for match in list(_NUMBER.finditer(_ZERO.sub("0", text)))[:100]:
        paths = wanted.get(float(match[0]), [])
        if len(paths) == 1:
            found.append(paths[0])
    return list(dict.fromkeys(found))


_GOT: Final = re.compile(
    r"\b(?:got|received|not|found|input of type:?|has type|was|of type|but|actual:?|given:?"
    r"|for [^\s:]{1,8}:)[ :]{0,2}(?:an? )?['\"`<(]*(?:class )?['\"]?"
    r"(NoneType|None|null|undefined|nil|dict|dictionary|object|list|array|tuple|str|string|int"
    r"|integer|float|number|bool|boolean)\b",
    re.IGNORECASE,
)
_FITS: Final[dict[str, Callable[[Any], bool]]] = {
    "null": lambda v: v is None,
    "object": lambda v: isinstance(v, Mapping),
    "array": lambda v: isinstance(v, list | tuple),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
}


def by_got_type(text: str, place: Places) -> list[str]:
    """The one argument of the type that the text says it got: "not 'NoneType'", "got list"."""
    for match in list(_GOT.finditer(text[:1000]))[:5]:
        fits = _FITS[TYPES.get(match[1].lower(), "null")]
        found = [path for path in place.top if fits(place.value(path))]
        if len(found) == 1:
            return found
    return []


def by_noun(text: str, place: Places) -> list[str]:
    """Places whose name, without `_id` and the like, is a word of the text: "order not found"."""
    glued = {word.lower() for word in re.findall(r"[A-Za-z]+", text[:2000])}
    spoken = {*map(singular, glued)}
    scores: dict[str, float] = {}
    for path, value in place.leaves:
        if isinstance(value, Mapping):
            continue
        tokens = words_of(split(path)[-1])
        core = [token for token in tokens if token not in _SUFFIXES] or tokens
        hits = sum(token in spoken for token in core)
        if core and ("".join(core) in glued or hits == len(core)):
            scores[path] = len(core)
    best = max(scores.values(), default=0)
    return deepest(path for path, score in scores.items() if score == best)


def by_breaking(constraint: Mapping[str, JSON], place: Places) -> list[str]:
    """Places whose value breaks the constraint."""
    return deepest(
        path
        for path, value in place.leaves
        if any(_breaks(key, bound, value) for key, bound in constraint.items())
    )


def _breaks(key: str, bound: JSON, value: JSON) -> bool:
    limit = isinstance(bound, int | float) and not isinstance(bound, bool)
    if limit and isinstance(value, int | float) and not isinstance(value, bool):
        return _exceeds(key, bound, value)
    if limit and isinstance(value, str | list | tuple | Mapping):
        return _missized(key, bound, value)
    if key == "type" and isinstance(bound, str) and not isinstance(value, Mapping):
        return bound in _FITS.keys() - {"null", "object"} and not _FITS[bound](value)
    if key == "enum" and isinstance(bound, list) and isinstance(value, str):
        close = any(isinstance(item, str) and item.casefold() == value.casefold() for item in bound)
        return close and value not in bound
    return False


def _exceeds(key: str, bound: float, value: float) -> bool:
    if key == "multipleOf":
        try:
            return bool(bound) and abs(value / bound - round(value / bound)) > 1e-9
        except (OverflowError, ValueError):  # beyond what a float holds, infinite, no number
            return False
    tests = {
        "minimum": value < bound,
        "maximum": value > bound,
        "exclusiveMinimum": value <= bound,
        "exclusiveMaximum": value >= bound,
    }
    return tests.get(key, False)


def _missized(key: str, bound: float, value: Sized) -> bool:
    for name, kind in (("Length", str), ("Items", list | tuple), ("Properties", Mapping)):
        if key.endswith(name) and isinstance(value, kind):
            return len(value) < bound if key.startswith("min") else len(value) > bound
    return False
