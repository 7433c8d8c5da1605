"""The keywords of JSON Schema as jsonschema is to check them: in bounded time, printing nothing.

Its own keywords print the value they refuse, use Python's patterns, and measure a value against the
same schema again and again where alternatives are nested. The ones here remember.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from referencing import Registry

from selfcorrect.model import JSON
from selfcorrect.schema.alternatives import Errors, Violation, closest, key, listed, violation
from selfcorrect.schema.closing import Schema, same_place, target
from selfcorrect.schema.formats import LOCAL, PATTERN, FormatCheck
from selfcorrect.schema.patterns import compiled

MOST: Final = 200
"""Errors that are looked for."""
SEVERAL: Final = "fits more than one of the alternatives (oneOf)"


class Run:
    """What one check remembers: which value was measured against which schema, and how it went.

    jsonschema hands one object down to every subschema, the format checker; this rides there.
    """

    def __init__(self, root: Schema, formats: Mapping[str, FormatCheck]) -> None:
        self.root = root
        self.formats = formats
        self._errors: dict[tuple[int, int], tuple[Violation, ...]] = {}
        self._keys: dict[int, frozenset[Any]] = {}
        self._alive: list[Any] = []

    def errors(self, validator: Any, schema: Any, instance: JSON) -> tuple[Violation, ...]:
        """What is wrong with a value according to one of its subschemas; paths start there."""
        pair = (id(schema), id(instance))
        if pair not in self._errors:
            self._alive += (schema, instance)
            self._errors[pair] = tuple(islice(validator.descend(instance, schema), MOST))
        return self._errors[pair]

    def fits(self, validator: Any, schema: Any, instance: JSON) -> bool:
        """Whether a value fits one of its subschemas."""
        return not self.errors(validator, schema, instance)

    def without(self, schema: Schema, keyword: str) -> Schema:
        """The schema without a keyword, kept alive, since its id is a key of this memory."""
        rest = {name: value for name, value in schema.items() if name != keyword}
        self._alive.append(rest)
        return rest

    def keys(self, values: list[JSON]) -> frozenset[Any]:
        """The keys of an enum's values."""
        if id(values) not in self._keys:
            self._keys[id(values)] = frozenset(map(key, values))
        return self._keys[id(values)]


def validator_of(schema: Schema, formats: Mapping[str, FormatCheck]) -> Any:
    """A jsonschema validator for one check; what it remembers ends with it."""
    run: Any = Run(schema, formats)
    return _validator_class()(schema, registry=Registry(), format_checker=run)


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    return extend(Draft202012Validator, _KEYWORDS)


def _type(validator: Any, types: Any, instance: JSON, _: Schema) -> Errors:
    if not any(validator.is_type(instance, each) for each in listed(types)):
        yield violation()


def _enum(validator: Any, values: list[JSON], instance: JSON, schema: Schema) -> Errors:
    keys = validator.format_checker.keys(values)
    if key(instance) not in keys and _is_typed(validator, instance, schema):
        yield violation()


def _const(validator: Any, value: JSON, instance: JSON, schema: Schema) -> Errors:
    if key(instance) != key(value) and _is_typed(validator, instance, schema):
        yield violation()


def _is_typed(validator: Any, instance: JSON, schema: Schema) -> bool:
    """Whether the type is right; a value of a wrong type is not reported twice."""
    types = schema.get("type")
    return types is None or any(validator.is_type(instance, each) for each in listed(types))


def _unique_items(validator: Any, unique: bool, instance: JSON, _: Schema) -> Errors:
    if (
        unique
        and validator.is_type(instance, "array")
        and len(set(map(key, instance))) < len(instance)
    ):
        yield violation()


def _multiple_of(validator: Any, factor: float, instance: JSON, _: Schema) -> Errors:
    if validator.is_type(instance, "number") and _exact(instance) % _exact(factor):
        yield violation()


def _exact(number: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _bound(
    kind: str, measure: Callable[[Any], Any] | None, broken: Callable[[Any, Any], bool]
) -> Callable[[Any, Any, JSON, Schema], Errors]:
    def check(validator: Any, bound: Any, instance: JSON, _: Schema) -> Errors:
        if validator.is_type(instance, kind):
            size = measure(instance) if measure else instance
            if broken(size, bound):
                yield violation()

    return check


def _pattern(validator: Any, pattern: str, instance: JSON, _: Schema) -> Errors:
    if validator.is_type(instance, "string") and not compiled(pattern).search(instance):
        yield violation()


def _format(validator: Any, name: str, instance: JSON, _: Schema) -> Errors:
    check = validator.format_checker.formats.get(name)
    if check is not None and validator.is_type(instance, "string") and not check(instance):
        if name.startswith(PATTERN):
            yield violation(validator="pattern", validator_value=name.removeprefix(PATTERN))
        else:
            yield violation(validator_value=name.removeprefix(LOCAL))


def _required(validator: Any, names: list[str], instance: JSON, _: Schema) -> Errors:
    if validator.is_type(instance, "object"):
        yield from (violation(name) for name in names if name not in instance)


def _dependent_required(
    validator: Any, names: Mapping[str, list[str]], instance: JSON, _: Schema
) -> Errors:
    if validator.is_type(instance, "object"):
        for name, needed in names.items():
            if name in instance:
                yield from (violation(each) for each in needed if each not in instance)


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: JSON, _: Schema
) -> Errors:
    if validator.is_type(instance, "object"):
        for pattern, schema in patterns.items():
            search = compiled(pattern).search
            for name, value in instance.items():
                if search(name):
                    yield from validator.descend(value, schema, path=name)


def _additional_properties(validator: Any, allowed: Any, instance: JSON, schema: Schema) -> Errors:
    if validator.is_type(instance, "object"):
        declared = _declared_here(schema, instance)
        for name in instance:
            if name not in declared:
                if allowed is False:
                    yield _unknown(name)
                else:
                    yield from validator.descend(instance[name], allowed, path=name)


def _unknown(name: str) -> Violation:
    return violation(name, validator="additionalProperties", validator_value=False)


def _declared_here(schema: Schema, instance: Mapping[str, JSON]) -> set[str]:
    """The keys of an object that `properties` and `patternProperties` speak of."""
    declared = {name for name in schema.get("properties", ()) if name in instance}
    for pattern in schema.get("patternProperties", ()):
        declared |= {name for name in instance if compiled(pattern).search(name)}
    return declared


def _property_names(validator: Any, schema: Any, instance: JSON, _: Schema) -> Errors:
    if validator.is_type(instance, "object"):
        run = validator.format_checker
        yield from (violation(name) for name in instance if not run.fits(validator, schema, name))


def _unevaluated_properties(validator: Any, allowed: Any, instance: JSON, schema: Schema) -> Errors:
    if not validator.is_type(instance, "object"):
        return
    run: Run = validator.format_checker
    rest = run.without(schema, "unevaluatedProperties")
    evaluated = _evaluated(validator, rest, instance)
    unknown = [name for name in instance if name not in evaluated]
    if allowed is not False:
        for name in unknown:
            yield from validator.descend(instance[name], allowed, path=name)
        return
    if not unknown:
        return
    # Where an alternative failed, the keys that it declares are not unknown: what made it fail is
    # reported already.
    fits = run.fits(validator, rest, instance)
    declaring = [each.get("properties", {}) for each in same_place(run.root, schema)]
    for name in unknown:
        schemas = [properties[name] for properties in declaring if name in properties]
        groups = [run.errors(validator, each, instance[name]) for each in schemas]
        if not groups or (fits and not all(groups)):
            yield _unknown(name)
        elif fits:
            for error in closest(groups, schemas):
                error.path.appendleft(name)
                yield error


def _evaluated(validator: Any, schema: Any, instance: Mapping[str, JSON]) -> set[str]:
    """The keys of an object that a schema which it fits speaks of, in any of its parts."""
    if not isinstance(schema, dict):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    run: Run = validator.format_checker
    found = _declared_here(schema, instance)
    inner = [target(run.root, schema), *schema.get("allOf", ())]
    inner += [each for name, each in schema.get("dependentSchemas", {}).items() if name in instance]
    inner += [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if "if" in schema:
        holds = run.fits(validator, schema["if"], instance)
        inner += [schema["if"], schema.get("then")] if holds else [schema.get("else")]
    for each in inner:
        if isinstance(each, dict) and run.fits(validator, each, instance):
            found |= _evaluated(validator, each, instance)
    return found


def _any_of(validator: Any, schemas: list[Any], instance: JSON, _: Schema) -> Errors:
    run: Run = validator.format_checker
    groups = []
    for schema in schemas:
        groups.append(run.errors(validator, schema, instance))
        if not groups[-1]:
            return
    yield from closest(groups, schemas)


def _one_of(validator: Any, schemas: list[Any], instance: JSON, _: Schema) -> Errors:
    run: Run = validator.format_checker
    groups = [run.errors(validator, schema, instance) for schema in schemas]
    fitting = groups.count(())
    if fitting > 1:
        yield violation(message=SEVERAL)
    elif not fitting:
        yield from closest(groups, schemas)


def _not(validator: Any, schema: Any, instance: JSON, _: Schema) -> Errors:
    if validator.format_checker.fits(validator, schema, instance):
        yield violation()


def _if(validator: Any, condition: Any, instance: JSON, schema: Schema) -> Errors:
    holds = validator.format_checker.fits(validator, condition, instance)
    yield from validator.descend(instance, schema.get("then" if holds else "else", True))


def _contains(validator: Any, wanted: Any, instance: JSON, schema: Schema) -> Errors:
    if not validator.is_type(instance, "array"):
        return
    run: Run = validator.format_checker
    count = sum(run.fits(validator, wanted, item) for item in instance)
    least = schema.get("minContains", 1)
    if count < least:
        keyword = "minContains" if "minContains" in schema and count else "contains"
        yield violation(validator=keyword, validator_value=schema[keyword])
    elif count > schema.get("maxContains", count):
        yield violation(validator="maxContains", validator_value=schema["maxContains"])


_KEYWORDS: Final[Mapping[str, Any]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
    "minimum": _bound("number", None, operator.lt),
    "maximum": _bound("number", None, operator.gt),
    "exclusiveMinimum": _bound("number", None, operator.le),
    "exclusiveMaximum": _bound("number", None, operator.ge),
    "minLength": _bound("string", len, operator.lt),
    "maxLength": _bound("string", len, operator.gt),
    "minItems": _bound("array", len, operator.lt),
    "maxItems": _bound("array", len, operator.gt),
    "minProperties": _bound("object", len, operator.lt),
    "maxProperties": _bound("object", len, operator.gt),
    "pattern": _pattern,
    "format": _format,
    "required": _required,
    "dependentRequired": _dependent_required,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "unevaluatedProperties": _unevaluated_properties,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "contains": _contains,
}
