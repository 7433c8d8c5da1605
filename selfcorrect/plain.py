"""Plain JSON: check that outside data is, and turn results into it.

Everything in a run's state must survive a checkpoint, so what is not plain JSON is refused on the
way in and turned into its nearest plain form on the way out.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Container, Iterator
from contextlib import suppress
from typing import Any, Final

from selfcorrect.foreign import text_of
from selfcorrect.model import JSON, Call
from selfcorrect.pointer import join

DEPTH: Final = 100
"""Deepest nesting of arguments that is carried; far deeper ones crash serialisers."""

_MOST_BITS: Final = 14_000
"""About 4,200 digits; Python refuses to print longer ones, and checkers disagree on them."""

_MOST_VALUES: Final = 2_000_000
"""Values that are looked at; lists that hold one another can stand for many more."""


_NO_NUMBER: Final = "is not a JSON number"


def problem(  # noqa: C901, PLR0912 -- one branch a kind
    value: Any, *, python: bool = False
) -> tuple[str, str] | None:
    """The first place that is not plain JSON, as (JSON Pointer, what is wrong), or None.

    Takes time linear in the size of the value and never recurses. `python`: numbers that only
    Python writes are none, `NaN` and `Infinity`.
    """
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    seen = 1
    while stack:
        item, path = stack.pop()
        kind = type(item)
        if kind is dict or kind is list:
            seen += len(item)
        if seen > _MOST_VALUES:
            return "", f"more than {_MOST_VALUES} values"
        if kind is str:
            if not item.isascii() and _has_surrogate(item):
                return join(*path), "text with a lone surrogate, which is not valid Unicode"
        elif kind is int:
            if item.bit_length() > _MOST_BITS:
                return join(*path), "a number too long to be written"
        elif kind is bool or item is None:
            continue
        elif kind is float:
            if not python and not math.isfinite(item):
                return join(*path), f"{item!r} {_NO_NUMBER}"
        elif len(path) > DEPTH:
            return join(*path[:4]), f"nested deeper than {DEPTH} levels"
        elif kind is dict:
            for key, child in item.items():
                if type(key) is not str:
                    return join(*path), f"an object key of type {type(key).__name__}"
                if not key.isascii() and _has_surrogate(key):
                    return join(*path), "a key with a lone surrogate, which is not valid Unicode"
                if not _is_common(child):
                    stack.append((child, (*path, key)))
        elif kind is list:
            stack.extend(
                (child, (*path, index)) for index, child in enumerate(item) if not _is_common(child)
            )
        else:
            return join(*path), f"a value of type {kind.__name__}, which is not JSON"
    return None


def as_written(args: Any) -> Any:
    """Arguments that hold NaN or Infinity as the text that a host parsed them from, others as is.

    That text is no JSON: it has one answer, whoever parsed it.
    """
    if (wrong := problem(args)) is not None and wrong[1].endswith(_NO_NUMBER):
        with suppress(TypeError, ValueError, RecursionError):  # something else is wrong, too
            return json.dumps(args)
    return args


def _is_common(value: Any) -> bool:
    """Whether this is what most values are: plain at a glance."""
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    return kind is bool or value is None or (kind is int and -(2**63) <= value < 2**63)


def plain(value: Any) -> JSON:
    """The value itself if it is plain JSON, else its nearest plain form.

    Dates become ISO text, sets become lists, dataclasses and pydantic models become objects, and
    what has no form of its own becomes its text. Never raises.
    """
    try:
        if problem(value) is None:
            return value
    except Exception:  # a hostile object may raise from anything it is asked
        return f"<{type(value).__name__}>"
    from pydantic_core import to_json

    if _endless(value):
        return f"<{type(value).__name__}>"
    try:
        converted = json.loads(
            to_json(value, fallback=_as_text, inf_nan_mode="strings", serialize_unknown=True)
        )
        if problem(converted) is None:
            return converted
    except Exception:  # noqa: S110 -- cycles, bytes that are not UTF-8, models that refuse
        pass
    return clean(_as_text(value))


class TwoValues(ValueError):
    """A key of an object in JSON is written with two different values."""


def one_value(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    """The object of these pairs, as `object_pairs_hook`: readers take the first value or the last.

    Raises:
        TwoValues: If a key has two different values; it names them.

    >>> json.loads('{"to": "ann", "to": "ann"}', object_pairs_hook=one_value)
    {'to': 'ann'}
    >>> json.loads('{"to": "ann", "to": "bob"}', object_pairs_hook=one_value)
    Traceback (most recent call last):
    selfcorrect.plain.TwoValues: the key 'to' has two different values, 'ann' and 'bob'
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        for key, value in pairs:
            if (why := two_values("key", key, value, found[key])) is not None:
                raise TwoValues(why)
    return found


def loaded(value: JSON) -> JSON:
    """The value of a text that is strictly valid JSON; any other value as it is.

    Two values for one key are no value: whichever ran, the other would be lost.
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value, object_pairs_hook=one_value)
    except (ValueError, RecursionError):
        return value


def equal(one: JSON, other: JSON) -> bool:
    """Whether two values are one JSON value; `True` is not 1, and 5 is not 5.0."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        return one.keys() == other.keys() and all(equal(v, other[k]) for k, v in one.items())
    if kind is list:
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def two_values(what: str, key: str, one: JSON, other: JSON) -> str | None:
    """That a key has two different values, and which; None where they are the same."""
    texts = canonical(one), canonical(other)
    if texts[0] == texts[1]:
        return None
    # The beginning of a value that may not be shown would not be known as one.
    short = (text if len(text) <= 40 else f"{len(text)} characters" for text in texts)
    # In single quotes, as the key: a sentence is quoted once more where it is told.
    first, second = (text.replace('"', "'") for text in short)
    return f"the {what} {key[:40]!r} has two different values, {first} and {second}"


INVISIBLE: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
"""Control, bidirectional and invisible characters, halves of pairs, what is private: a class.

Tabs and ends of lines are not in it.
"""


def clean(text: str) -> str:
    """The text with lone surrogates made visible, so that it can be stored and printed."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def copied(value: Any) -> Any:
    """A copy of plain JSON that shares no object or list with it; other values as they are."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def own_copy(call: Call) -> Call:
    """The same call, whose arguments nobody else holds."""
    return Call(call.name, copied(call.args), call.id, call.raw)


def is_one_of(value: JSON, words: Container[str]) -> bool:
    """Whether a value from outside is one of these texts; a list or an object is none.

    >>> is_one_of("text", {"text"}), is_one_of([0], {"text"})
    (True, False)
    """
    return isinstance(value, str) and value in words


def storable(value: JSON) -> bool:
    """Whether every whole number fits into 64 bits, which is what checkpoints can hold."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            if not -(2**63) <= item < 2**64:
                return False
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return True


def storable_form(value: Any) -> JSON:
    """A result as JSON; as text, where a checkpoint could not hold it."""
    result = plain(value)
    return result if storable(result) else as_text(result)


def _endless(value: Any) -> bool:
    """Whether something in the value may never end, or be too much to look at."""
    stack, seen = [value], 0
    while stack:
        item = stack.pop()
        seen += 1
        if isinstance(item, Iterator) or seen > _MOST_VALUES:
            return True
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            stack.extend(item) if seen + len(stack) < _MOST_VALUES else stack.append(iter(()))
    return False


def as_text(value: Any) -> str:
    """What `str` says of a value, whatever it raises; safe to store."""
    return clean(_as_text(value))


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def canonical(value: JSON) -> str:
    """The same text for equal JSON values: sorted keys, no spaces."""
    return _CANONICAL.encode(value)


def digest(*values: JSON) -> str:
    """A short stable hash of JSON values."""
    return hashlib.sha256(canonical(list(values)).encode()).hexdigest()[:24]


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _as_text(value: Any) -> str:
    text = text_of(value)
    return f"<{type(value).__name__}>" if text is None else text
