"""jsonschema-rs, which checks a JSON Schema, and its errors as plain data.

A reference to another document is never fetched, and patterns are matched in bounded time: a
pattern comes from a tool's server, the text from a model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Any, Final

from selfcorrect.model import JSON, JsonDict, JsonObject


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


class TooLargeError(ValueError):
    """Arguments are larger, or more is wrong with them, than is looked at."""


@dataclass(frozen=True, slots=True)
class Validator:
    """Says whether a value fits a schema.

    Attributes:
        library: The validator of jsonschema-rs.
        longest: The most characters that a value may have; None: any number.
    """

    library: Any
    longest: int | None = None

    def is_valid(self, value: JSON) -> bool:
        """Say whether a value fits.

        Raises:
            ValueError: If it is not JSON, or too long for the patterns of the schema.
        """
        if self.longest and len(dumps(value, ensure_ascii=False)) > self.longest:
            raise TooLargeError(
                f"the arguments have more than {self.longest} characters, too many for the "
                "patterns of this tool's schema"
            )
        return bool(self.library.is_valid(value))

    def violations(self, args: JsonDict) -> Iterator[Violation]:
        """Yield everything that is wrong with arguments."""
        return map(_violation, self.library.iter_errors(args))


def compile_schema(schema: JsonObject) -> Validator:
    """Return the validator of a schema.

    Raises:
        ValueError: If it is not a usable JSON Schema.
    """
    import jsonschema_rs as library

    plain = dict(schema)
    # A dialect of somebody's own is read as the newest draft.
    if "://json-schema.org/" not in str(plain.get("$schema", "")):
        plain.pop("$schema", None)
    longest = None
    if "pattern" in dumps(plain, default=repr):
        from selfcorrect.schema.patterns import longest_text

        longest = longest_text(plain)

    def build(options: Any) -> Any:
        return library.validator_for(
            plain, validate_formats=True, retriever=_refuse, pattern_options=options
        )

    try:
        return Validator(build(library.RegexOptions()), longest)
    except ValueError:
        try:
            return Validator(build(library.FancyRegexOptions(backtrack_limit=_BACKTRACKS)), longest)
        except ValueError as error:
            raise ValueError(getattr(error, "message", str(error))) from None


_BACKTRACKS: Final = 10_000
"""Steps of a pattern that a linear engine cannot take, such as one that looks ahead."""


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
