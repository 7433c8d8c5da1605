"""Compiles a JSON Schema, formats included, into what checks values against it.

A reference to another document is never fetched, and patterns are matched in bounded time: a
pattern comes from a tool's server, the text from a model.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, time
from functools import lru_cache, partial
from json import dumps, loads
from typing import Any, Protocol

from selfcorrect.errors import TooLargeError
from selfcorrect.model import JsonDict, JsonObject, frozen
from selfcorrect.pointer import parts_of


class Validator(Protocol):
    """Says whether a value fits a schema, and what is wrong with it."""

    def is_valid(self, instance: Any) -> bool:
        """Say whether a value fits."""
        ...

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        """Yield everything that is wrong with a value."""
        ...


def compile_schema(schema: JsonObject, parts: int) -> Validator:
    """Return the validator of a schema.

    Args:
        schema: The schema.
        parts: Parts of its largest place.

    Raises:
        ValueError: If it is not a usable JSON Schema; the message says where.
    """
    return _compile(dumps(schema, default=str), parts)


@lru_cache(maxsize=512)
def _compile(schema: str, parts: int) -> Validator:
    import jsonschema_rs as library

    plain = loads(schema)
    longest, listed = _longest_text(plain), _longest_list(plain)

    def build(options: Any) -> Validator:
        validator: Validator = library.validator_for(
            plain,
            validate_formats=True,
            formats=_FORMATS,
            retriever=_refuse,
            pattern_options=options,
        )
        # A schema without any of these runs through nothing of this file.
        is_costly = longest or parts > _FEW or listed > _MANY
        return _Bounded(validator, longest, parts, listed) if is_costly else validator

    try:
        return build(library.RegexOptions())
    except ValueError:
        try:
            return build(library.FancyRegexOptions(backtrack_limit=_BACKTRACKS))
        except library.ValidationError as error:
            place = ".".join(["$", *map(str, error.instance_path)])
            raise ValueError(f"{place}: {error.message:.200}") from None


@frozen
class _Bounded:
    """A validator of values up to a length, so that its time is bounded."""

    validator: Validator
    longest: int | None
    parts: int
    listed: int

    def is_valid(self, instance: Any) -> bool:
        if self.longest is not None:
            _check_length(instance, self.longest, "patterns")
        return self.validator.is_valid(instance)

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        # An error of each part holds the value.
        _check_length(instance, _MOST_WORK // self.parts, "alternatives")
        if _count_values(instance) > _MOST_WORK // self.listed:
            raise TooLargeError(
                f"the arguments hold too many values for a list of {self.listed} allowed ones"
            )
        return self.validator.iter_errors(instance)


def _check_length(instance: Any, longest: int, why: str) -> None:
    if len(dumps(instance, ensure_ascii=False)) > longest:
        raise TooLargeError(
            f"the arguments have more than {longest} characters, too many for the {why} of this "
            "tool's schema"
        )


def _count_values(value: Any) -> int:
    if isinstance(value, dict):
        value = [*value.values()]
    return 1 + sum(map(_count_values, value)) if isinstance(value, list) else 1


_FEW = 10
_MANY = 1_000
"""Parts and listed values of a schema from which on they are looked at."""
_MOST_WORK = 4_000_000
"""Characters times parts of a pattern or a place, and values times listed ones: what is checked."""
_MOST_PARTS = 10_000
"""Parts of a pattern."""


def _longest_text(schema: JsonObject) -> int | None:
    """Return how many characters may be matched; None where a schema has no pattern.

    Matching takes time in proportion to the text and to the pattern with its counted repeats
    written out, so a large pattern gets a short text.

    Raises:
        ValueError: If a pattern is too large for any text.
    """
    most = max(map(_count_parts, _patterns(schema)), default=0)
    if most > _MOST_PARTS:
        raise ValueError(
            f"a pattern repeats {most} parts, and at most {_MOST_PARTS} are allowed; "
            "use maxLength in place of counted repeats"
        )
    return _MOST_WORK // most if most else None


def _patterns(schema: Any) -> Iterator[str]:
    for part in parts_of(schema):
        if isinstance(pattern := part.get("pattern"), str):
            yield pattern
        by_pattern = part.get("patternProperties")
        yield from by_pattern if isinstance(by_pattern, Mapping) else ()


def _count_parts(pattern: str) -> int:
    """Return how many characters and classes a pattern has once its repeats are written out."""
    groups, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        if token["opening"]:
            groups.append(0)
        elif token["closing"]:
            last = groups.pop() if len(groups) > 1 else 0
            groups[-1] += last
        elif token["least"]:
            times = max(1, int(token["most"] or token["least"]))
            groups[-1] += last * (times - 1)
            last *= times
        elif token["part"]:
            last = 1
            groups[-1] += 1
    return max(1, sum(groups))


_TOKEN = re.compile(
    r"(?s)\{(?P<least>\d+)(?:,(?P<most>\d*))?\}|(?P<opening>\((?:\?[:=!]|\?<[=!])?)|(?P<closing>\))"
    r"|[*+?|^$]|(?P<part>\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|.)"
)


def _longest_list(schema: JsonObject) -> int:
    """Return how many values the longest list of allowed ones has, and at least 1."""
    lists = (part.get("enum") for part in parts_of(schema))
    return max([1, *(len(values) for values in lists if isinstance(values, list))])


def _is_time(cls: type[datetime | time], text: str) -> bool:
    try:
        return _TIME.fullmatch(text) is not None and bool(cls.fromisoformat(text))
    except ValueError:
        return False


_ZONE = r"(?:0\d|1[0-4]):[0-5]\d"
# `09:30-10:00` is a span of hours: behind a hyphen an offset needs seconds before it.
_TIME = re.compile(
    rf"(?:\d{{4}}-\d\d-\d\dT)?\d\d:\d\d"
    rf"(?:(?::\d\d(?:\.\d{{1,9}})?)(?:Z|[+-]{_ZONE})?|Z|\+{_ZONE})?",
    re.ASCII,
)
_FORMATS: JsonDict = {
    "naive-date-time": partial(_is_time, datetime),
    "naive-time": partial(_is_time, time),
}
"""Times whose offset may be missing: those of JSON Schema need one."""
_BACKTRACKS = 10_000
"""Steps of a pattern that a linear engine cannot take, such as one that looks ahead."""


def _refuse(uri: str) -> Any:
    raise ValueError(f"a reference to another document is not fetched: {uri}")
