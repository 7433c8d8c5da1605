"""Constraints: what a sentence says the input must be, in the words of JSON Schema."""

import re
from typing import Final

from selfcorrect.model import JsonDict


def constraint_of(sentence: str) -> JsonDict:
    """Return what a sentence demands; empty where it demands nothing that can be read.

    >>> constraint_of("seats must be between 1 and 9"), constraint_of("use one of 'a', 'b'")
    ({'minimum': 1, 'maximum': 9}, {'enum': ['a', 'b']})
    """
    if values := _listed(sentence):
        return {"enum": values}
    if pattern := _PATTERN.search(sentence):
        return {"pattern": pattern[1].rstrip("'\"`.,")}
    if bounds := _bounds(sentence):
        return bounds
    types = (_TYPES.get(found[1].lower()) for found in _TYPE.finditer(sentence))
    name = next(filter(None, types), None)
    return {"type": name} if name else {}


def _listed(text: str) -> list[str]:
    """Return the values of a list that a sentence allows."""
    found = _LIST.search(text)
    if found is None:
        return []
    quoted = _QUOTED.findall(found[1])
    values = quoted or re.split(r"\s*(?:,|\||\bor\b|\band\b)\s*", found[1].strip("[](){}. "))
    words = [each for each in values if each and (quoted or len(each.split()) == 1)]
    return words if len(words) > 1 and len(words) >= len(values) - 1 else []


_LIST: Final = re.compile(
    r"(?i)(?:one of|allowed values?(?: are)?|choose from|(?:valid|supported|possible|accepted) "
    r"(?:\w+ )?(?:are|is)|permitted|possible values|valid options"
    r"|(?:should|must) (?:be )?(?:either )?"
    r"(?=[\[({]?[`'\"‘“])|expected (?=[`'\"‘“]))[^\w\n`'\"‘“\[({]{0,3}([^\n;]{1,400})"
)
_QUOTED: Final = re.compile(r"[`'\"‘“]([^`'\"’”\n]{1,60})[`'\"’”]")
_PATTERN: Final = re.compile(
    r"(?i)(?:pattern|regex|expression|matched by)\b[: ]{0,2}[`'\"/]?(\S{0,200}[\^$\[\\]\S{0,200})"
)
_TYPE: Final = re.compile(
    r"(?i)(?:of type|expected|must be|should be|is not|not) (?:an? )?(?:valid )?[`'\"<]?(\w+)"
)
_NAMES: Final = {
    "string": "str string text",
    "integer": "int integer bigint int32 int64 long",
    "number": "float double number numeric decimal",
    "boolean": "bool boolean",
    "array": "list array tuple sequence set",
    "object": "dict object mapping dictionary map",
    "null": "null none nonetype",
}
"""Types of JSON Schema by their names in programs."""
_TYPES: Final = {each: name for name, words in _NAMES.items() for each in words.split()}


def _bounds(text: str) -> JsonDict:
    """Return the bounds that a sentence sets."""
    if between := _BETWEEN.search(text):
        low, high = _number(between[1]), _number(between[2])
        unit = _unit(between[3] or "", text)
        return {f"min{unit}": low, f"max{unit}": high}
    found: JsonDict = {}
    for side, pattern in _BOUNDS:
        match = pattern.search(text)
        # "greater than or equal to 1" is no exclusive bound.
        if match is None or (found and side.startswith("exclusive")):
            continue
        unit = _unit(match[2] or "", text)
        # JSON Schema has exclusive bounds of numbers only.
        found[(side if unit == "imum" else side[-3:].lower()) + unit] = _number(match[1])
    return found


_N: Final = r"(-?\d+(?:[.,]\d+)?)(?![\d:-])"
_LEAST: Final = (
    r"at least|(?:no|not) (?:less|fewer) than|greater than or equal to|>=|min\w*(?: \w+)?:?"
)
_MOST: Final = (
    r"at most|(?:no|not) (?:more|greater) than|less than or equal to|<=|max\w*(?: \w+)?:?|up to"
)
_BOUNDS: Final = tuple(
    (side, re.compile(rf"(?i)(?:{words}) ?{_N}( \w+)?"))
    for side, words in (
        ("min", _LEAST),
        ("max", _MOST),
        ("exclusiveMin", r"greater than|more than|above|longer than|>"),
        ("exclusiveMax", r"less than|below|shorter than|<"),
    )
)
_BETWEEN: Final = re.compile(
    rf"(?i)(?:between|from|in(?: range)?) \[?{_N}(?: and | to |\.\.|, ?){_N}( \w+)?"
)


def _unit(word: str, text: str) -> str:
    """Return `Items` for items, `Length` for characters, `imum` for anything else."""
    if re.search("item|element|entr", word):
        return "Items"
    return (
        "Length"
        if re.search(r"(?i)char|byte|digit|\blength\b|\blong|short", word + text)
        else "imum"
    )


def _number(text: str) -> int | float:
    value = float(text.replace(",", "."))
    return int(value) if value.is_integer() else value
