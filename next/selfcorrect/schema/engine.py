"""jsonschema-rs, which checks a JSON Schema.

A reference to another document is never fetched, and patterns are matched in bounded time: a
pattern comes from a tool's server, the text from a model.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from json import dumps, loads
from typing import Any, Final, Protocol

from selfcorrect.model import JsonObject


class TooLargeError(ValueError):
    """Arguments are larger, or more is wrong with them, than is looked at."""


class Validator(Protocol):
    """Says whether a value fits a schema, and what is wrong with it."""

    def is_valid(self, instance: Any) -> bool:
        """Say whether a value fits."""
        ...

    def iter_errors(self, instance: Any) -> Iterator[Any]:
        """Yield everything that is wrong with a value."""
        ...


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


_BACKTRACKS: Final = 10_000
"""Steps of a pattern that a linear engine cannot take, such as one that looks ahead."""


def _refuse(uri: str) -> Any:
    raise ValueError(f"a reference to another document is not fetched: {uri}")
