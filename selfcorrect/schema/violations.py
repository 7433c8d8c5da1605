"""Lists everything that is wrong with arguments, in fixed words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from selfcorrect.model import JSON, Finding, JsonObject
from selfcorrect.pointer import join, split
from selfcorrect.schema.alternatives import Violation, listed
from selfcorrect.schema.closing import Schema
from selfcorrect.schema.formats import LOCAL, FormatCheck
from selfcorrect.schema.keywords import MOST, SEVERAL, Run
from selfcorrect.schema.normal_form import unusable

_LONGEST_NAME: Final = 200
_TOO_DEEP: Final = "the arguments are nested too deeply to be checked"
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
    "anyOf": "fits none of the alternatives (anyOf)",
    "oneOf": "fits none of the alternatives (oneOf)",
    "not": "not allowed here",
}
_WHOLE: Final = ("type", "enum", "const", "format")
"""Keywords that only say together what a value should be."""


def violations(
    schema: Schema, args: JsonObject, formats: Mapping[str, FormatCheck]
) -> tuple[Finding, ...]:
    """Everything that is wrong with the arguments, in the order of the schema; at most 200.

    Args:
        schema: A schema that `prepared` made.
        args: Plain JSON.
        formats: The formats to assert.
    """
    try:
        errors = list(islice(Run(schema, formats).descend(args, schema), MOST))
    except RecursionError:
        errors = []
        text = _TOO_DEEP
    else:
        text = "the arguments do not fit the schema"
    found: list[Finding] = []
    for item in map(_finding, errors):
        if item not in found:
            found.append(item)
    return tuple(found) or (Finding(text, ("InvalidArgs",), code="json", paths=("/args",)),)


def not_json(path: str, what: str) -> Finding:
    """The finding for a place that is not JSON at all; `what` says why, without the value."""
    return Finding(
        f"{_subject(path)}: {what}", ("InvalidArgs",), code="json", paths=(f"/args{path}",)
    )


def engine(schema: Schema, formats: Mapping[str, FormatCheck], tool: str) -> Callable[[Any], bool]:
    """Whether arguments fit, answered in Python alone: slower, and for any platform.

    Raises:
        ToolDefinitionError: If this is not JSON Schema 2020-12.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        why = f"it is not JSON Schema 2020-12: {error.message[:300]}"
        raise unusable(tool, why, join(*error.path)) from None

    def fits(args: Any) -> bool:
        try:
            return next(Run(schema, formats).descend(args, schema), None) is None
        except RecursionError:
            return False

    return fits


def _finding(error: Violation) -> Finding:
    path = join("args", *error.path)
    keyword = error.keyword or ""
    value = error.value
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
    if keyword not in _WHOLE:
        return {keyword: value}
    whole = {key: schema[key] for key in _WHOLE if key in schema} | {keyword: value}
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
        return f"{subject}: expected {expected}, got {_type_name(error.instance)}"
    if error.several:
        return f"{subject}: {SEVERAL}"
    words = _WORDS.get(keyword, "does not fit the schema")
    return f"{subject}: {words.format(_printed(value)) if '{0}' in words else words}"


def _subject(path: str) -> str:
    return f"argument {_name(path)}" if path else "the arguments"


def _name(path: str) -> str:
    name = ".".join(split(path))
    return f"'{name[:_LONGEST_NAME]}…'" if len(name) > _LONGEST_NAME else f"'{name}'"


def _printed(bound: Any) -> str:
    huge = isinstance(bound, int) and bound.bit_length() > 2_000
    return "a huge number" if huge else str(bound)


def _type_name(value: JSON) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")
