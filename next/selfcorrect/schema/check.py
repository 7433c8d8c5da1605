"""Checks arguments against the JSON Schema that the model was sent, and reports every violation."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.model import JSON, Finding, JsonObject, own_finding
from selfcorrect.pointer import ARGS, pointer
from selfcorrect.schema.engine import Violation, compile_schema, violations
from selfcorrect.schema.slot import Slot, close

_MOST: Final = 200
"""How many findings are made of one call; the others are counted."""


@dataclass(frozen=True)
class Checker:
    """Checks arguments against a schema, formats included.

    Attributes:
        schema: The schema of the arguments.
        tool: The name of the tool, for errors.
    """

    schema: JsonObject
    tool: str = ""

    def check_compiles(self) -> None:
        """Compile the schema.

        Raises:
            ToolDefinitionError: If it is not a usable JSON Schema.
        """
        _ = self._validator

    def findings(self, args: JSON) -> list[Finding]:
        """Return what is wrong with the arguments: one finding for each place."""
        if not isinstance(args, Mapping):
            text = f"the arguments must be a JSON object; {_quote(args)} is not"
            return [own_finding("MalformedCall", "malformed_json", text, ARGS)]
        try:
            data = args if isinstance(args, dict) else dict(args)
            # Most calls are valid, and a yes or no is quick.
            if self._validator.is_valid(data):
                return []
            return _collect(violations(self._validator, data))
        except (ValueError, TypeError, RecursionError) as error:
            text = f"the arguments cannot be read as JSON: {error!s:.100}"
            return [own_finding("MalformedCall", "malformed_json", text, ARGS)]

    @cached_property
    def slot(self) -> Slot:
        """The place of the arguments, for repairs."""
        return Slot.of(self.schema)

    @cached_property
    def _validator(self) -> Any:
        try:
            return compile_schema(close(self.schema))
        except ValueError as error:
            raise ToolDefinitionError(
                f"tool {self.tool!r}: the schema of its arguments is unusable: {error!s:.300}"
            ) from None


def _collect(violations: Iterable[Violation]) -> list[Finding]:
    best: dict[str, tuple[int, Finding]] = {}
    found = (pair for violation in violations for pair in _rank(violation))
    for rank, finding in islice(found, 2 * _MOST):
        path = finding["paths"][0]
        if path not in best or rank < best[path][0]:
            best[path] = (rank, finding)
    findings = [finding for _, finding in best.values()]
    if not findings:
        # The library says no and names no place; what is invalid never passes.
        text = "the arguments do not fit the schema"
        return [own_finding("InvalidArgs", "schema", text, ARGS)]
    more = sum(1 for _ in found) + max(0, len(findings) - _MOST)
    del findings[_MOST:]
    if more:
        findings[-1]["text"] += f"; {more} more problems are not listed"
    return findings


def _rank(violation: Violation) -> Iterator[tuple[int, Finding]]:
    """Yield a violation as findings: one for each missing or unknown key, else one.

    A low rank speaks for its place: a value of the wrong type is not also out of range.
    """
    place, code, value = violation.place, violation.keyword, violation.value
    if code in _OF_KEYS:
        for name in value:
            text = f"{_OF_KEYS[code]} `{_dot([*place, name])}`"
            constraint = code == "required"
            yield 0, own_finding("InvalidArgs", code, text, pointer(*place, name), constraint)
        return
    alternatives = [each for each in violation.branches if not _is_null(each, place)]
    if len(alternatives) == 1 and alternatives[0]:
        for each in alternatives[0]:
            yield from _rank(each)
        return
    wanted = value
    if code in ("anyOf", "oneOf"):
        wanted, value = [_alternative(each, violation) for each in alternatives], None
    if code == "format":
        # "format" alone would send e-mail addresses and dates to one ladder.
        code = f"format.{value}"
    text = f"{_name(place)} {_must(code, wanted)}"
    if code == "type" or alternatives:
        text += f"; {_quote(violation.instance)} is not"
    yield _RANKS.get(code, 3), own_finding("InvalidArgs", code, text, pointer(*place), value)


_OF_KEYS: Final = {
    "required": "missing required argument",
    "additionalProperties": "unknown argument",
    "unevaluatedProperties": "unknown argument",
}
_RANKS: Final = {"type": 0, "enum": 1, "const": 1}


def _is_null(branch: Sequence[Violation], place: Sequence[object]) -> bool:
    return any(
        each.keyword == "type" and each.place == place and each.value == "null" for each in branch
    )


def _alternative(branch: Sequence[Violation], union: Violation) -> str:
    """Say what an alternative of a union wants."""
    for each in branch:
        words = _must(each.keyword, each.value) if each.place == union.place else ""
        if words.startswith("must be ") and each.keyword in ("type", "enum", "const"):
            return words.removeprefix("must be ")
    return _TYPES[_type(union.instance)]


def _must(code: str, value: JSON) -> str:
    if code == "type":
        names = value if isinstance(value, list) else [value]
        # "null" comes last, as people say it.
        ordered = sorted(names, key=lambda name: name == "null")
        return f"must be {' or '.join(_TYPES.get(name, str(name)) for name in ordered)}"
    if code in ("anyOf", "oneOf"):
        unique = list(dict.fromkeys(value))
        return f"must be {' or '.join(unique)}" if unique else "must fit exactly one alternative"
    if code == "enum":
        options = [_quote(item) for item in value[:20]]
        rest = f" or {len(value) - 20} more" if len(value) > 20 else ""
        return f"must be one of {', '.join(options)}{rest}"
    if code.startswith("format."):
        return f"must be {_EXAMPLES.get(value, f'in the format {value}')}"
    words = _SENTENCES.get(code, f"breaks the rule {code!r} of the schema")
    return words.format(value if code == "pattern" else _quote(value))


_TYPES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_SENTENCES: Final = {
    "const": "must be {}",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "pattern": "must match {:.200}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} keys",
    "maxProperties": "must have at most {} keys",
    "uniqueItems": "must not have equal items",
    "falseSchema": "is not allowed",
}
_EXAMPLES: Final = {
    "date": "a date such as 2026-10-26",
    "date-time": "a date and time such as 2026-10-26T09:30:00Z",
    "time": "a time such as 09:30:00Z",
    "duration": "a duration such as P3DT4H",
    "email": "an e-mail address such as ann@example.com",
    "uri": "a URI such as https://example.com/page",
    "uuid": "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "an IPv4 address such as 192.0.2.1",
    "hostname": "a host name such as example.com",
}


def _name(place: Sequence[object]) -> str:
    return f"`{_dot(place)}`" if place else "the arguments object"


def _dot(place: Sequence[object]) -> str:
    return ".".join(map(str, place))[:200]


def _quote(value: JSON) -> str:
    # Only as much of a long text is written as is shown.
    short = value[:60] if isinstance(value, str) else value
    text = json.dumps(short, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 and short == value else f"{text[:59]}…"


def _type(value: JSON) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return "null" if value is None else names.get(type(value), "object")
