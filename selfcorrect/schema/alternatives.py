"""What is wrong with a value that fits none of several alternatives."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from selfcorrect.model import ABSENT, JSON
from selfcorrect.schema.closing import Schema


@dataclass(slots=True, eq=False)
class Violation:
    """One thing that is wrong with a value.

    Attributes:
        path: Where it is wrong, from the value that is being checked.
        keyword: The keyword of JSON Schema that it breaks.
        value: What the keyword says.
        instance: The value that is wrong.
        schema: The schema that the keyword stands in. What a check leaves out of these four,
            whoever called it fills in.
        context: What is wrong by each alternative, where they have nothing in common.
        several: Whether it fits more than one alternative where it may fit one.
    """

    path: deque[str | int] = field(default_factory=deque)
    keyword: str | None = None
    value: Any = ABSENT
    instance: Any = ABSENT
    schema: Any = ABSENT
    context: Sequence[Violation] = ()
    several: bool = False

    def fill(self, keyword: str, value: Any, instance: JSON, schema: Any) -> None:
        """Say where it was found, as far as it does not say so itself."""
        if self.keyword is None:
            self.keyword = keyword
        if self.value is ABSENT:
            self.value = value
        if self.instance is ABSENT:
            self.instance = instance
        if self.schema is ABSENT:
            self.schema = schema


Errors: TypeAlias = Iterator[Violation]

WHOLE: Final = ("type", "enum", "const", "format")
"""Keywords that only say together what a value should be."""


def violation(*path: str | int, **fields: Any) -> Violation:
    """An error at a place below the value."""
    return Violation(deque(path), **fields)


def again(error: Violation) -> Violation:
    """A copy, whose path grows on its own."""
    return replace(error, path=deque(error.path))


def key(value: JSON) -> Any:
    """Equal for equal JSON values, and only for these: 1 is 1.0 but not true."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return frozenset((name, key(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(map(key, value))
    return value


def listed(types: Any) -> Sequence[str]:
    """The types that a `type` keyword names: one or a list of them."""
    return (types,) if isinstance(types, str) else types


def closest(groups: Sequence[Sequence[Violation]], schemas: Sequence[Any]) -> Errors:
    """What is wrong according to the alternative that the value resembles most.

    Alternatives of another type come last, then those whose fixed values (a `kind`, an enum)
    differ, then those that miss more arguments, then those with more errors. Where the types, or
    the fixed values, are wrong for every alternative, one error names all of them.
    """
    if len(groups) == 1:
        yield from map(again, groups[0])
        return
    same_type = [group for group in groups if not _at(group, (), ("type",))]
    if not same_type:
        yield _all_types(groups)
        return
    if len(same_type) > 1:
        fixed = [{tuple(e.path) for e in group if _is_fixed(e)} for group in same_type]
        if shared := set.intersection(*fixed):
            yield from (_all_values(same_type, path) for path in sorted(shared, key=str))
            return
        if all(error.keyword == "required" for group in same_type for error in group):
            yield from _missing(same_type, schemas)
            return
    best = min(same_type, key=_distance)
    yield from map(again, best)


def _distance(group: Sequence[Violation]) -> tuple[int, int, int]:
    missing = sum(error.keyword == "required" and len(error.path) <= 1 for error in group)
    return sum(map(_is_fixed, group)), missing, len(group)


def _missing(groups: Sequence[Sequence[Violation]], schemas: Sequence[Any]) -> Errors:
    """What every alternative misses; or, where they differ, one error that names all of it."""
    paths = [{tuple(error.path) for error in group} for group in groups]
    if shared := set.intersection(*paths):
        yield from (again(error) for error in groups[0] if tuple(error.path) in shared)
    else:
        missing = [again(error) for group in groups for error in group]
        yield violation(keyword="anyOf", value=list(schemas), context=missing)


def _is_fixed(error: Violation) -> bool:
    return error.keyword in ("const", "enum") and len(error.path) <= 1


def _at(
    group: Iterable[Violation], path: tuple[str | int, ...], keywords: Sequence[str]
) -> list[Violation]:
    return [e for e in group if e.keyword in keywords and tuple(e.path) == path]


def _all_types(groups: Sequence[Sequence[Violation]]) -> Violation:
    wrong = [error for group in groups for error in _at(group, (), ("type",))]
    types = dict.fromkeys(each for error in wrong for each in listed(error.value))
    value = list(types) if len(types) > 1 else next(iter(types))
    real = [error.schema for error in wrong if error.value != "null"]
    whole = real[0] if len(real) == 1 else {}
    schema = {**{name: whole[name] for name in WHOLE if name in whole}, "type": value}
    return violation(keyword="type", value=value, instance=wrong[0].instance, schema=schema)


def _all_values(groups: Sequence[Sequence[Violation]], path: tuple[str | int, ...]) -> Violation:
    wrong = [error for group in groups for error in _at(group, path, ("const", "enum"))]
    values = {
        key(value): value
        for error in wrong
        for value in (error.value if error.keyword == "enum" else [error.value])
    }
    schema: Schema = {"enum": list(values.values())}
    types = [error.schema.get("type") for error in wrong]
    if types[0] is not None and all(each == types[0] for each in types):
        schema["type"] = types[0]
    return violation(
        *path,
        keyword="enum",
        value=schema["enum"],
        instance=wrong[0].instance,
        schema=schema,
    )
