"""Whether a place asks for exactly the unit or currency that was written."""

import re
from collections.abc import Mapping

from selfcorrect.lazy import load_table
from selfcorrect.names.dictionary import is_word, stem
from selfcorrect.names.letters import NEGATIONS, words

_TABLE: Mapping[str, list[str]] = load_table("values/units.toml")
_SIGNS = {word: row for row in _TABLE["units"] for word in row.split()}
_UNITS = {word.lower(): row for word, row in _SIGNS.items()}
_ALSO_WORDS, _POINTS = _TABLE["also_words"], _TABLE["points"]
_BREAK = re.compile(
    r"[.,;:()\[\]\n]|\b(?:in|as|how many|(?:number|amount|count) of)\b"
    r"|\b(?=(?:to|from|before|after|between|until)\b)",
    re.IGNORECASE,
)
"""What stands between two phrases: `seconds to wait` are seconds, `from USD` is not a unit."""
_LONE = re.compile(r"(?:\bin |[(\[])(\w+)(?=[.,;:()\[\]\n]|\Z)")
"""A word where a unit may stand: the `wei` of `ETH (wei)`."""
_FILLER = re.compile(r"\b(?:the|us|degrees?|whole|full)\s", re.IGNORECASE)
_CHANGES = NEGATIONS.union(_TABLE["changing"])
_LONGEST = 2_000


def is_asked_for(unit: str, name: str, description: str) -> bool:
    """Say whether a whole phrase asks for this unit, and nothing else changes or contradicts it.

    A phrase is the last word of a name, or what stands in a description between punctuation,
    brackets and words such as "in".

    >>> is_asked_for("km", "distance_km", ""), is_asked_for("nights", "num_nights", "")
    (True, True)
    >>> is_asked_for("$", "x", "Price in USD"), is_asked_for("$", "x", "Price in thousands of USD")
    (True, False)
    """
    meant, (*head, last) = _unit(unit.strip(". ")), words(name) or ("",)
    if meant is None or len(description) > _LONGEST:
        return False
    named, rest = _phrases(description)
    # A lone letter is a variable, and a lone `min` a bound.
    is_unit = bool(head) or (len(last) > 1 and last not in _ALSO_WORDS)
    if is_unit and last not in _POINTS and meant in (_row_of(last), stem(last)):
        named.add(meant)
    elif is_unit:
        head.append(last)
    rest += head
    lone = _LONE.findall(description.lower())
    if not all(_row_of(word) or is_word(word) for word in lone):
        return False
    return named == {meant} and not any(map(_changes, rest))


def _unit(text: str) -> str | None:
    """Return the row of what was written as a unit, or the word where there is none."""
    if len(text) < 3 and text.isalpha():
        # The case of a sign belongs to it: `Mb` is not `MB`, `M` is not a metre.
        return _SIGNS.get(text)
    return _row_of(text.lower()) or (stem(text) if text.islower() else None)


def _row_of(word: str) -> str | None:
    return _UNITS.get(word) or _UNITS.get(stem(word))


def _phrases(text: str) -> tuple[set[str], list[str]]:
    """Return the units that are the whole of a phrase, and the words of all other phrases."""
    named: set[str] = set()
    rest: list[str] = []
    for phrase in _BREAK.split(text):
        unit = _FILLER.sub("", phrase).strip(_QUOTES)
        # The case of a sign belongs to it here too: megabits (`Mb`) are not megabytes.
        row = _SIGNS.get(unit) if len(unit) < 3 else _row_of(unit.lower())
        if row and unit.lower() not in _POINTS and (len(unit) > 1 or not unit.isalpha()):
            named.add(row)
        else:
            rest += _WORD.findall(phrase.lower())
    return named, rest


def _changes(word: str) -> bool:
    """Say whether a word beside the phrase of a unit may change what is asked for."""
    # What is not a word is a number, and a lone letter counts or names something: `USD (k)`.
    is_sign = len(word) == 1 or not word.isalpha()
    is_other = is_sign or not _CHANGES.isdisjoint((word, stem(word))) or _row_of(word) is not None
    return is_other and word not in _ALSO_WORDS


_QUOTES = " \"'`*"
_WORD = re.compile(r"[^\W_]+|[$€£¥₹%]")
