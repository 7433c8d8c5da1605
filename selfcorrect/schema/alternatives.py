"""What is wrong with a value that fits none of several alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from selfcorrect.model import JSON
from selfcorrect.schema.closing import Schema

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong with a value.

    Attributes:
        path: Where it is wrong, from the value that is being checked.
        keyword: The keyword of JSON Schema that it breaks.
        value: What the keyword says.
        instance: The value that is wrong.
        schema: The schema that the keyword stands in.
        groups: What is wrong by each alternative; nothing by one that the value fits.
        context: What of that is said together, where the alternatives have nothing in common.
    """

    path: Path
    keyword: str
    value: Any
    instance: JSON
    schema: Schema
    groups: Sequence[Sequence[Violation]] = ()
    context: Sequence[Violation] = ()

    def below(self, path: Path) -> Violation:
        """The same, as seen from further up."""
        return replace(self, path=(*path, *self.path)) if path else self


WHOLE: Final = ("type", "enum", "const", "format")
"""Keywords that only say together what a value should be."""


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


def closest(whole: Violation, groups: Sequence[Sequence[Violation]]) -> Iterator[Violation]:
    """What is wrong according to the alternative that the value resembles most.

    Alternatives of another type come last, then those whose fixed values (a `kind`, an enum)
    differ, then those that miss more arguments, then those with more errors. Where the types, or
    the fixed values, are wrong for every alternative, one error names all of them.

    Args:
        whole: The violation of `anyOf` or `oneOf`, with paths below its own.
        groups: What is wrong by each alternative.
    """
    if len(groups) == 1:
        yield from groups[0]
        return
    same_type = [group for group in groups if not _at(group, (), ("type",))]
    if not same_type:
        yield _all_types(groups)
        return
    if len(same_type) > 1:
        fixed = [{error.path for error in group if _is_fixed(error)} for group in same_type]
        if shared := set.intersection(*fixed):
            yield from (_all_values(same_type, path) for path in sorted(shared, key=str))
            return
        if all(error.keyword == "required" for group in same_type for error in group):
            yield from _missing(whole, same_type)
            return
    best = min(same_type, key=_distance)
    yield from best


def _distance(group: Sequence[Violation]) -> tuple[int, int, int]:
    missing = sum(error.keyword == "required" and len(error.path) <= 1 for error in group)
    return sum(map(_is_fixed, group)), missing, len(group)


def _missing(whole: Violation, groups: Sequence[Sequence[Violation]]) -> Iterator[Violation]:
    """What every alternative misses; or, where they differ, one error that names all of it."""
    shared = set.intersection(*({error.path for error in group} for group in groups))
    if shared:
        yield from (error for error in groups[0] if error.path in shared)
    else:
        missing = tuple(error for group in groups for error in group)
        yield replace(whole, path=(), keyword="anyOf", groups=(), context=missing)


def _is_fixed(error: Violation) -> bool:
    return error.keyword in ("const", "enum") and len(error.path) <= 1


def _at(
    group: Iterable[Violation], path: tuple[str | int, ...], keywords: Sequence[str]
) -> list[Violation]:
    return [e for e in group if e.keyword in keywords and e.path == path]


def _all_types(groups: Sequence[Sequence[Violation]]) -> Violation:
    wrong = [error for group in groups for error in _at(group, (), ("type",))]
    types = dict.fromkeys(each for error in wrong for each in listed(error.value))
    value = list(types) if len(types) > 1 else next(iter(types))
    real = [error.schema for error in wrong if error.value != "null"]
    whole = real[0] if len(real) == 1 else {}
    schema: Schema = {**{name: whole[name] for name in WHOLE if name in whole}, "type": value}
    return Violation((), "type", value, wrong[0].instance, schema)


def _all_values(groups: Sequence[Sequence[Violation]], path: Path) -> Violation:
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
    return Violation(path, "enum", schema["enum"], wrong[0].instance, schema)
