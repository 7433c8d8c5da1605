"""Lists everything that is wrong with arguments, in fixed words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypeAlias

from selfcorrect.kernel.texts import spelled
from selfcorrect.model import JSON, Finding, JsonObject, distinct
from selfcorrect.pointer import join, split
from selfcorrect.schema.alternatives import WHOLE, Violation, closest, listed
from selfcorrect.schema.closing import WORDS, Schema, same_place
from selfcorrect.schema.formats import LOCAL, PATTERN
from selfcorrect.schema.subschema import has_type, type_of

Part: TypeAlias = Callable[[Any, JSON], Sequence[Violation]]
"""What is wrong with a value by a part of the schema."""

_MOST: Final = 1_000
_LONGEST_NAME: Final = 200
_WORDS: Final[Mapping[str, str]] = {
    "enum": "not one of the allowed values",
    "const": "not the required value",
    "pattern": "does not match the required pattern",
    "format": "not a valid {0}",
    "minimum": "less than the minimum {0}",
    "maximum": "greater than the maximum {0}",
    "exclusiveMinimum": "not greater than {0}",
    "exclusiveMaximum": "not less than {0}",
    "multipleOf": "not a multiple of {0}",
    "minLength": "shorter than {0}",
    "maxLength": "longer than {0}",
    "minItems": "fewer than {0} items",
    "maxItems": "more than {0} items",
    "minProperties": "fewer than {0} properties",
    "maxProperties": "more than {0} properties",
    "uniqueItems": "items are not unique",
    "contains": "none of the items is what is required",
    "minContains": "too few of the items are what is required",
    "maxContains": "too many of the items are what is required",
    "items": "more items than allowed",
    "unevaluatedItems": "more items than allowed",
    "propertyNames": "the name is not allowed",
    "oneOf": "fits more than one of the alternatives (oneOf)",
    "not": "not allowed here",
}


def violations(root: Schema, args: JSON, part: Part) -> tuple[Finding, ...]:
    """Everything that is wrong with arguments, in the order of the schema; at most 1,000 findings.

    Args:
        root: A schema that `prepared` made.
        args: Plain JSON that does not fit it.
        part: Asks the engine about a part of the schema, or the whole.
    """
    settled = _Settling(root, part).settled(part(root, args))
    found = distinct(map(_finding, islice(settled, _MOST)))
    return tuple(found) or (unlisted("the arguments do not fit the schema"),)


def unlisted(why: str) -> Finding:
    """The finding where nobody can say more than that the whole does not fit."""
    return Finding(why, ("InvalidArgs",), code="json", paths=("/args",))


def not_json(path: str, what: str) -> Finding:
    """The finding for a place that is not JSON at all; `what` says why, without the value."""
    return Finding(
        f"{_subject(path)}: {what}", ("InvalidArgs",), code="json", paths=(f"/args{path}",)
    )


class _Settling:
    """Takes out what only follows from other violations, and chooses among alternatives."""

    def __init__(self, root: Schema, part: Part) -> None:
        self._root = root
        self._part = part
        self._chosen: dict[int, list[Violation]] = {}

    def settled(self, wrong: Sequence[Violation]) -> Iterator[Violation]:
        for each in wrong:
            match each.keyword:
                case "enum" | "const" if not _is_typed(each):
                    continue
                case "format" if each.value.startswith(PATTERN):
                    yield replace(each, keyword="pattern", value=each.value.removeprefix(PATTERN))
                case "format":
                    yield replace(each, value=each.value.removeprefix(LOCAL))
                case "contains" if "minContains" in each.schema:
                    yield replace(each, keyword="minContains", value=each.schema["minContains"])
                case "anyOf" | "oneOf" if all(each.groups):
                    yield from (error.below(each.path) for error in self._closest(each))
                case "unevaluatedProperties":
                    yield from (error.below(each.path) for error in self._unevaluated(each, wrong))
                case _:
                    yield each

    def _closest(self, error: Violation) -> list[Violation]:
        if id(error.groups) not in self._chosen:
            groups = [[*islice(self.settled(group), _MOST)] for group in error.groups]
            self._chosen[id(error.groups)] = [*closest(error, groups)]
        return self._chosen[id(error.groups)]

    def _unevaluated(self, error: Violation, wrong: Sequence[Violation]) -> Iterator[Violation]:
        """What is wrong with a key that no alternative speaks of which the object fits.

        Where an alternative failed, the keys that it speaks of are not unknown: what made it fail
        is reported already.
        """
        *place, name = error.path
        value = error.instance[name]
        if error.value is not False:
            yield from self.settled(self._part(error.value, value))
            return
        members = [each for each in same_place(self._root, error.schema) if each != error.schema]
        declaring = [each.get("properties", {}) for each in (error.schema, *members)]
        schemas = [properties[name] for properties in declaring if name in properties]
        same = (error.keyword, False)
        others = (each for each in wrong if (each.keyword, each.value) != same)
        is_spoken_of = schemas or any(not WORDS.isdisjoint(each) for each in members)
        if is_spoken_of and any(each.path[: len(place)] == tuple(place) for each in others):
            return
        groups = [[*self.settled(self._part(each, value))] for each in schemas]
        if groups and all(groups):
            yield from closest(error, groups)
        else:
            yield replace(error, path=(), keyword="additionalProperties")


def _is_typed(error: Violation) -> bool:
    """Whether the type is right; a value of a wrong type is not reported twice."""
    types = error.schema.get("type")
    return types is None or has_type(error.instance, listed(types))


def _finding(error: Violation) -> Finding:
    path = join("args", *error.path)
    keyword, value = error.keyword, error.value
    paths: tuple[str, ...] = (path,)
    if error.context:
        paths = tuple(dict.fromkeys(path + join(*each.path) for each in error.context))
    return Finding(
        _text(keyword, value, error, [each.removeprefix("/args") for each in paths]),
        ("InvalidArgs",),
        code=keyword,
        paths=paths,
        constraint=_constraint(keyword, value, error.schema),
    )


def _constraint(keyword: str, value: Any, schema: Any) -> JsonObject:
    if keyword in ("items", "unevaluatedItems"):
        return {"maxItems": len(schema.get("prefixItems", ()))}
    if keyword not in WHOLE:
        return {keyword: value}
    whole = {key: schema[key] for key in WHOLE if key in schema} | {keyword: value}
    if "format" in whole:
        whole["format"] = whole["format"].removeprefix(LOCAL)
    return whole


def _text(keyword: str, value: Any, error: Violation, paths: Sequence[str]) -> str:
    subject = _subject(paths[0])
    if keyword in ("required", "dependentRequired"):
        return f"missing required {subject}"
    if len(paths) > 1:
        return f"missing one of these required arguments: {', '.join(map(_name, paths))}"
    if keyword == "additionalProperties":
        return f"unknown {subject}"
    if keyword == "type":
        expected = " or ".join(listed(value))
        return f"{subject}: expected {expected}, got {type_of(error.instance)}"
    words = _WORDS.get(keyword, "does not fit the schema")
    return f"{subject}: {words.format(_printed(value)) if '{0}' in words else words}"


def _subject(path: str) -> str:
    return f"argument {_name(path)}" if path else "the arguments"


def _name(path: str) -> str:
    name = spelled(split(path))
    return f"'{name[:_LONGEST_NAME]}…'" if len(name) > _LONGEST_NAME else f"'{name}'"


def _printed(bound: Any) -> str:
    huge = isinstance(bound, int) and bound.bit_length() > 2_000
    return "a huge number" if huge else str(bound)
