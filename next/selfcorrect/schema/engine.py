"""jsonschema-rs, which checks a JSON Schema, and its errors as plain data.

A reference to another document is never fetched, and patterns are matched in bounded time: a
pattern comes from a tool's server, the text from a model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.model import JSON, JsonDict, JsonObject

_BACKTRACKS: Final = 10_000
"""Steps of a pattern that a linear engine cannot take, such as one that looks ahead."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong.

    Attributes:
        place: The keys of the place.
        keyword: The keyword of JSON Schema.
        value: Its value; for missing and unknown keys their names.
        instance: What was written.
        branches: What is wrong with each alternative of a union.
    """

    place: list[str | int]
    keyword: str
    value: JSON
    instance: JSON
    branches: "Sequence[Sequence[Violation]]" = ()


def compile_schema(schema: JsonObject) -> Any:
    """Return the validator of a schema.

    Raises:
        ValueError: If it is not a usable JSON Schema.
    """
    import jsonschema_rs as library

    plain = dict(schema)
    # A dialect of somebody's own is read as the newest draft.
    if "://json-schema.org/" not in str(plain.get("$schema", "")):
        plain.pop("$schema", None)

    def build(options: Any) -> Any:
        return library.validator_for(
            plain, validate_formats=True, retriever=_refuse, pattern_options=options
        )

    try:
        return build(library.RegexOptions())
    except ValueError:
        try:
            return build(library.FancyRegexOptions(backtrack_limit=_BACKTRACKS))
        except ValueError as error:
            raise ValueError(getattr(error, "message", str(error))) from None


def violations(validator: Any, args: JsonDict) -> Iterator[Violation]:
    """Yield everything that is wrong with arguments."""
    return map(_violation, validator.iter_errors(args))


def _violation(error: Any) -> Violation:
    kind = error.kind
    branches = [list(map(_violation, one)) for one in getattr(kind, "context", ())]
    if [] in branches:
        # More than one alternative fits.
        branches = []
    return Violation(error.instance_path, kind.name, _value(kind), error.instance, branches)


def _value(kind: Any) -> JSON:
    if kind.name == "required":
        return [kind.property]
    if kind.name in ("additionalProperties", "unevaluatedProperties"):
        return kind.unexpected
    for field in _FIELDS:
        if (found := getattr(kind, field, None)) is not None:
            return found[0] if field == "types" and len(found) == 1 else found
    return None


_FIELDS: Final = (
    "types",
    "options",
    "expected_value",
    "limit",
    "format",
    "pattern",
    "multiple_of",
    "schema",
)


def _refuse(uri: str) -> Any:
    raise ValueError(f"a reference to another document is not fetched: {uri}")
