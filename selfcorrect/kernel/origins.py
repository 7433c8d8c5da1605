"""Where a value comes from that nobody wrote: law 3, and the taint of what tools say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final
from unicodedata import normalize

from selfcorrect.kernel.verdicts import Step, touches
from selfcorrect.model import JSON, Safety
from selfcorrect.plain import loaded
from selfcorrect.pointer import join, split
from selfcorrect.text import spelling

_SHORTEST: Final = 4
"""Letters of a value that can be told from others: shorter ones stand in any text."""
_SURE: Final = 8
"""Letters and digits that are one value, however they are parted: `DE00 6666 7777`."""
_DEPTH: Final = 8
_GROUPS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SIGNS: Final = re.compile(r"[\W_]+")


def about(known: Mapping[str, Safety], place: str) -> Safety | None:
    """What is said of a place, or of what it stands in."""
    if not known:
        return None
    tokens = split(place)
    found = (known.get(join(*tokens[:n])) for n in range(len(tokens), 0, -1))
    return next((one for one in found if one is not None), None)


def taint(step: Step, value: JSON, field: str) -> str:
    """What a value came in through, if nobody else said it; empty if it may run.

    A model's answer and a learnt binding may carry such a value on; it stays the tool's.
    """
    heard = [(one, [(*each, _plain(each[1])) for each in _values(one.said)]) for one in step.heard]
    written = json.dumps(step.written.args, ensure_ascii=False)
    known = [*map(_plain, (*step.known, written, step.written.raw or "", step.source))]
    for name, text in _values(value, field) if heard else ():
        meant = _plain(text)
        saying = [pair for pair in heard if any(_holds(each[2], meant) for each in pair[1])]
        if not saying or any(_holds(one, meant, whole=meant.isascii()) for one in known):
            continue
        # Whoever sent the error chooses what is read next: his own results clear nothing.
        against = [one.server for one, _ in heard if one.kind == "error"]
        against += [one.server for one, _ in saying if one.kind == "past"]
        is_clear = any(
            inner == text and (len(text) >= _SHORTEST or spelling(key) == spelling(name) != "")
            for one, said in saying
            if one.kind == "result"
            if all(one.server and other and one.server != other for other in against)
            for key, inner, _ in said
        )
        if not is_clear:
            by_error = any(one.kind != "result" for one, _ in saying)
            return "an error's text" if by_error else "the text of a result"
    return ""


def _values(value: JSON, field: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, str]]:
    """The values in what was said, each behind its field; those in JSON texts, too."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, key, depth)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _values(inner, field, depth)
    elif isinstance(value, str):
        yield field, value
        if depth and (inner := loaded(value)) is not value:
            yield from _values(inner, field, depth - 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        text = json.dumps(value).removesuffix(".0")
        if len(text) >= _SHORTEST:
            yield field, text


def _plain(text: str) -> str:
    """The words of a text, without case and signs, as one reads them on a page."""
    text = normalize("NFKC", _UNSEEN.sub("", unescape(text)))
    return _SIGNS.sub(" ", _GROUPS.sub("", text.casefold())).strip()


def _holds(text: str, value: str, *, whole: bool = False) -> bool:
    """Whether a text says a value; a short one, a number and a `whole` one as words of its own."""
    if len(value) < 2:
        return False
    joined = value.replace(" ", "")
    if len(joined) >= _SURE and joined in text.replace(" ", ""):
        return True
    if whole or len(value) < _SHORTEST or joined.isdecimal():
        return f" {value} " in f" {text} "
    return value in text


def is_blamed(step: Step, place: str) -> bool:
    """Whether the error of an execution names this very value."""
    return any(touches(place, one) for one in step.blamed)
