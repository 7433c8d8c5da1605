"""The two libraries that check a JSON Schema, behind one face.

`jsonschema-rs` is fast; `jsonschema` stands in where there is no wheel of it, or where it refuses
a schema that the other takes. Neither fetches a remote reference, and both match patterns in
bounded time: a pattern comes from a tool's server, the text from a model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.model import JSON, JsonDict, JsonObject
from selfcorrect.schema.places import target

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


def compiled(schema: JsonObject) -> "_Fast | _Thorough":
    """Return what checks a schema.

    Raises:
        ValueError: If no library takes the schema.
    """
    try:
        return _Fast(schema)
    except (ImportError, ValueError) as error:
        try:
            return _Thorough(schema)
        except ValueError as other:
            reason = other if isinstance(error, ImportError) else error
            raise ValueError(getattr(reason, "message", str(reason))) from None


class _Fast:
    """Checks with jsonschema-rs."""

    def __init__(self, schema: JsonObject) -> None:
        import jsonschema_rs as library

        def build(options: Any) -> Any:
            return library.validator_for(
                dict(schema), validate_formats=True, retriever=_refuse, pattern_options=options
            )

        try:
            self._validator = build(library.RegexOptions())
        except ValueError:
            self._validator = build(library.FancyRegexOptions(backtrack_limit=_BACKTRACKS))

    def is_valid(self, args: JsonDict) -> bool:
        return bool(self._validator.is_valid(args))

    def violations(self, args: JsonDict) -> Iterator[Violation]:
        return map(self._violation, self._validator.iter_errors(args))

    def _violation(self, error: Any) -> Violation:
        kind = error.kind
        branches = [[self._violation(each) for each in one] for one in getattr(kind, "context", ())]
        # Where an alternative has no error, more than one fits.
        unions = [] if [] in branches else branches
        return Violation(error.instance_path, kind.name, _value(kind), error.instance, unions)


def _value(kind: Any) -> JSON:
    """Return the one field of an error's kind; each kind names it in its own way."""
    field = next(iter(type(kind).__match_args__), "")
    value: JSON = getattr(kind, field, None)
    if field in ("context", "error", "message"):
        return None
    if field == "property":
        return [value]
    return value[0] if value and field == "types" and len(value) == 1 else value


def _refuse(uri: str) -> Any:
    raise ValueError(f"a reference to another document is not fetched: {uri}")


class _Thorough:
    """Checks with jsonschema."""

    def __init__(self, schema: JsonObject) -> None:
        from jsonschema import SchemaError, validators
        from referencing import Registry

        if reason := next(_unusable(schema, schema), None):
            raise ValueError(reason)
        base = validators.validator_for(schema, default=validators.Draft202012Validator)
        try:
            base.check_schema(schema)
        except SchemaError as error:
            raise ValueError(error.message) from None
        kind = validators.extend(base, {"pattern": _match})
        self._validator = kind(schema, registry=Registry(), format_checker=base.FORMAT_CHECKER)

    def is_valid(self, args: JsonDict) -> bool:
        return bool(self._validator.is_valid(args))

    def violations(self, args: JsonDict) -> Iterator[Violation]:
        return map(self._violation, self._validator.iter_errors(args))

    def _violation(self, error: Any) -> Violation:
        keyword, value = error.validator or "falseSchema", error.validator_value
        if keyword == "required":
            value = [name for name in value if name not in error.instance]
        elif keyword == "additionalProperties":
            known = error.schema.get("properties", ())
            value = [name for name in error.instance if name not in known]
        elif keyword == "unevaluatedProperties":
            # The library says which ones in prose alone.
            keyword = "unevaluated"
        branches: dict[int, list[Violation]] = {}
        if keyword in ("anyOf", "oneOf"):
            for each in error.context:
                branches.setdefault(each.schema_path[0], []).append(self._violation(each))
        place = list(error.absolute_path)
        return Violation(place, keyword, value, error.instance, list(branches.values()))


def _unusable(schema: Any, root: JsonObject) -> Iterator[str]:
    """Yield what this library would do without a bound, or only find out while it checks."""
    if isinstance(schema, list):
        for item in schema:
            yield from _unusable(item, root)
    if not isinstance(schema, Mapping):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and target(root, reference) is None:
        yield f"the reference {reference!r} leads nowhere"
    if isinstance(schema.get("patternProperties"), Mapping):
        yield '"patternProperties" needs the package jsonschema-rs'
    for item in schema.values():
        yield from _unusable(item, root)


def _match(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    import re2
    from jsonschema import ValidationError

    if validator.is_type(instance, "string"):
        try:
            options = re2.Options()
            options.log_errors = False
            fits = re2.search(pattern, instance, options)
        except re2.error:
            # A pattern that looks ahead has no bound here; the tool itself checks it.
            return
        if not fits:
            yield ValidationError(f"{instance!r:.60} does not match {pattern!r}")
