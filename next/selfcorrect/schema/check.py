"""Checks arguments against the JSON Schema that the model was sent, formats included.

A reference to another document is never fetched, and patterns are matched in bounded time: a
pattern comes from a tool's server, the text from a model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from json import dumps, loads
from typing import Any, Final, Protocol

from selfcorrect.errors import TooLargeError
from selfcorrect.model import JSON, Finding, JsonObject, own_finding
from selfcorrect.pointer import ARGS
from selfcorrect.text import quote


class Validator(Protocol):
    """Says whether a value fits a schema, and what is wrong with it."""

    def is_valid(self, instance: Any) -> bool:
        """Say whether a value fits."""
        ...

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        """Yield everything that is wrong with a value."""
        ...


def check_arguments(args: JSON, validator: Validator) -> list[Finding]:
    """Return what is wrong with arguments: one finding for each place."""
    if not isinstance(args, Mapping):
        text = f"the arguments must be a JSON object; {quote(args)} is not"
        return [own_finding("MalformedCall", "malformed_json", text, ARGS)]
    try:
        data = args if isinstance(args, dict) else dict(args)
        # Most calls are valid, and a yes or no is quick.
        if validator.is_valid(data):
            return []
        from selfcorrect.schema.findings import findings_of

        return findings_of(validator.iter_errors(data))
    except TooLargeError as error:
        return [own_finding("MalformedCall", "too_large", str(error), ARGS)]
    except (ValueError, TypeError, RecursionError) as error:
        text = f"the arguments cannot be read as JSON: {error!s:.100}"
        return [own_finding("MalformedCall", "malformed_json", text, ARGS)]


def compile_schema(schema: JsonObject) -> Validator:
    """Return the validator of a schema.

    Raises:
        ValueError: If it is not a usable JSON Schema.
    """
    plain = dict(schema)
    # A dialect of somebody's own is read as the newest draft.
    if "://json-schema.org/" not in str(plain.get("$schema", "")):
        plain.pop("$schema", None)
    return _compile(dumps(plain, default=str))


@lru_cache(maxsize=512)
def _compile(schema: str) -> Validator:
    import jsonschema_rs as library

    plain, longest = loads(schema), None
    if "pattern" in schema:
        from selfcorrect.schema.patterns import longest_text

        longest = longest_text(plain)

    def build(options: Any) -> Validator:
        made: Validator = library.validator_for(
            plain, validate_formats=True, retriever=_refuse, pattern_options=options
        )
        return made if longest is None else _Bounded(made, longest)

    try:
        return build(library.RegexOptions())
    except ValueError:
        try:
            return build(library.FancyRegexOptions(backtrack_limit=_BACKTRACKS))
        except ValueError as error:
            raise ValueError(getattr(error, "message", str(error))) from None


@dataclass(frozen=True, slots=True)
class _Bounded:
    """A validator that takes values up to a length."""

    whole: Validator
    longest: int

    def is_valid(self, instance: Any) -> bool:
        if len(dumps(instance, ensure_ascii=False)) > self.longest:
            raise TooLargeError(
                f"the arguments have more than {self.longest} characters, too many for the "
                "patterns of this tool's schema"
            )
        return self.whole.is_valid(instance)

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        return self.whole.iter_errors(instance)


_BACKTRACKS: Final = 10_000
"""Steps of a pattern that a linear engine cannot take, such as one that looks ahead."""


def _refuse(uri: str) -> Any:
    raise ValueError(f"a reference to another document is not fetched: {uri}")
