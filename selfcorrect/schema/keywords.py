"""The keywords of JSON Schema, as they are checked where arguments do not fit.

In bounded time: patterns are automata, and a value is measured against the same schema once only,
however deeply alternatives are nested.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any, Final, TypeAlias

from selfcorrect.model import JSON
from selfcorrect.schema.alternatives import Errors, Violation, closest, key, listed, violation
from selfcorrect.schema.closing import Schema, same_place, target
from selfcorrect.schema.formats import LOCAL, PATTERN, FormatCheck
from selfcorrect.schema.patterns import compiled

MOST: Final = 200
"""Errors that are looked for."""
SEVERAL: Final = "fits more than one of the alternatives (oneOf)"


class Run:
    """One check: what is wrong, and which value was measured against which schema already.

    Args:
        root: A schema in normal form.
        formats: The formats to assert.
    """

    def __init__(self, root: Schema, formats: Mapping[str, FormatCheck]) -> None:
        self.root = root
        self.formats = formats
        self._errors: dict[tuple[int, int], tuple[Violation, ...]] = {}
        self._keys: dict[int, frozenset[Any]] = {}
        self._alive: list[Any] = []

    def descend(self, instance: JSON, schema: Any, path: str | int | None = None) -> Errors:
        """What is wrong with a value, as it is found.

        Args:
            instance: The value.
            schema: The root, or a schema in it.
            path: The step that led to the value, if one did.
        """
        if schema is False:
            yield violation(keyword="not", value={}, instance=instance, schema=False)
        if not isinstance(schema, dict):
            return
        for keyword, value in schema.items():
            check = _KEYWORDS.get(keyword)
            if check is None:
                continue
            for error in check(self, value, instance, schema):
                error.fill(keyword, value, instance, schema)
                if path is not None:
                    error.path.appendleft(path)
                yield error

    def errors(self, schema: Any, instance: JSON) -> tuple[Violation, ...]:
        """What is wrong with a value according to one of its subschemas; paths start there."""
        pair = (id(schema), id(instance))
        if pair not in self._errors:
            self._alive += (schema, instance)
            self._errors[pair] = tuple(islice(self.descend(instance, schema), MOST))
        return self._errors[pair]

    def fits(self, schema: Any, instance: JSON) -> bool:
        """Whether a value fits one of its subschemas."""
        return not self.errors(schema, instance)

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


def _is_type(instance: JSON, kind: str) -> bool:
    """Whether a value is of a type of JSON Schema; 5.0 is an integer."""
    if isinstance(instance, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(instance, float):
        return instance.is_integer()
    return isinstance(instance, _TYPES[kind])


_TYPES: Final[Mapping[str, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


Keyword: TypeAlias = Callable[[Run, Any, JSON, Schema], Errors]
"""A check: its run, what the keyword says, the value, and the schema that the keyword is in."""


def _ref(run: Run, _ref: str, instance: JSON, schema: Schema) -> Errors:
    yield from run.descend(instance, target(run.root, schema))


def _type(_run: Run, types: Any, instance: JSON, _: Schema) -> Errors:
    if not any(_is_type(instance, each) for each in listed(types)):
        yield violation()


def _enum(run: Run, values: list[JSON], instance: JSON, schema: Schema) -> Errors:
    keys = run.keys(values)
    if key(instance) not in keys and _is_typed(instance, schema):
        yield violation()


def _const(_run: Run, value: JSON, instance: JSON, schema: Schema) -> Errors:
    if key(instance) != key(value) and _is_typed(instance, schema):
        yield violation()


def _is_typed(instance: JSON, schema: Schema) -> bool:
    """Whether the type is right; a value of a wrong type is not reported twice."""
    types = schema.get("type")
    return types is None or any(_is_type(instance, each) for each in listed(types))


def _unique_items(_run: Run, unique: bool, instance: JSON, _: Schema) -> Errors:
    if unique and _is_type(instance, "array") and len(set(map(key, instance))) < len(instance):
        yield violation()


def _multiple_of(_run: Run, factor: float, instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "number") and _exact(instance) % _exact(factor):
        yield violation()


def _exact(number: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _bound(
    kind: str, measure: Callable[[Any], Any] | None, broken: Callable[[Any, Any], bool]
) -> Callable[[Any, Any, JSON, Schema], Errors]:
    def check(_run: Run, bound: Any, instance: JSON, _: Schema) -> Errors:
        if _is_type(instance, kind):
            size = measure(instance) if measure else instance
            if broken(size, bound):
                yield violation()

    return check


def _pattern(_run: Run, pattern: str, instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "string") and not compiled(pattern).search(instance):
        yield violation()


def _format(run: Run, name: str, instance: JSON, _: Schema) -> Errors:
    check = run.formats.get(name)
    if check is not None and _is_type(instance, "string") and not check(instance):
        if name.startswith(PATTERN):
            yield violation(keyword="pattern", value=name.removeprefix(PATTERN))
        else:
            yield violation(value=name.removeprefix(LOCAL))


def _required(_run: Run, names: list[str], instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "object"):
        yield from (violation(name) for name in names if name not in instance)


def _dependent_required(
    _run: Run, names: Mapping[str, list[str]], instance: JSON, _: Schema
) -> Errors:
    if _is_type(instance, "object"):
        for name, needed in names.items():
            if name in instance:
                yield from (violation(each) for each in needed if each not in instance)


def _properties(run: Run, schemas: Mapping[str, Any], instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "object"):
        for name, schema in schemas.items():
            if name in instance:
                yield from run.descend(instance[name], schema, path=name)


def _pattern_properties(run: Run, patterns: Mapping[str, Any], instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "object"):
        for pattern, schema in patterns.items():
            search = compiled(pattern).search
            for name, value in instance.items():
                if search(name):
                    yield from run.descend(value, schema, path=name)


def _additional_properties(run: Run, allowed: Any, instance: JSON, schema: Schema) -> Errors:
    if _is_type(instance, "object"):
        declared = _declared_here(schema, instance)
        for name in instance:
            if name not in declared:
                if allowed is False:
                    yield _unknown(name)
                else:
                    yield from run.descend(instance[name], allowed, path=name)


def _unknown(name: str) -> Violation:
    return violation(name, keyword="additionalProperties", value=False)


def _declared_here(schema: Schema, instance: Mapping[str, JSON]) -> set[str]:
    """The keys of an object that `properties` and `patternProperties` speak of."""
    declared = {name for name in schema.get("properties", ()) if name in instance}
    for pattern in schema.get("patternProperties", ()):
        declared |= {name for name in instance if compiled(pattern).search(name)}
    return declared


def _property_names(run: Run, schema: Any, instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "object"):
        yield from (violation(name) for name in instance if not run.fits(schema, name))


def _unevaluated_properties(run: Run, allowed: Any, instance: JSON, schema: Schema) -> Errors:
    if not _is_type(instance, "object"):
        return
    rest = run.without(schema, "unevaluatedProperties")
    evaluated = _evaluated(run, rest, instance)
    unknown = [name for name in instance if name not in evaluated]
    if allowed is not False:
        for name in unknown:
            yield from run.descend(instance[name], allowed, path=name)
        return
    if not unknown:
        return
    # Where an alternative failed, the keys that it declares are not unknown: what made it fail is
    # reported already.
    fits = run.fits(rest, instance)
    declaring = [each.get("properties", {}) for each in same_place(run.root, schema)]
    for name in unknown:
        schemas = [properties[name] for properties in declaring if name in properties]
        groups = [run.errors(each, instance[name]) for each in schemas]
        if not groups or (fits and not all(groups)):
            yield _unknown(name)
        elif fits:
            for error in closest(groups, schemas):
                error.path.appendleft(name)
                yield error


def _evaluated(run: Run, schema: Any, instance: Mapping[str, JSON]) -> set[str]:
    """The keys of an object that a schema which it fits speaks of, in any of its parts."""
    if not isinstance(schema, dict):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    found = _declared_here(schema, instance)
    inner = [target(run.root, schema), *schema.get("allOf", ())]
    inner += [each for name, each in schema.get("dependentSchemas", {}).items() if name in instance]
    inner += [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if "if" in schema:
        holds = run.fits(schema["if"], instance)
        inner += [schema["if"], schema.get("then")] if holds else [schema.get("else")]
    for each in inner:
        if isinstance(each, dict) and run.fits(each, instance):
            found |= _evaluated(run, each, instance)
    return found


def _prefix_items(run: Run, schemas: list[Any], instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "array"):
        for index, (item, schema) in enumerate(zip(instance, schemas, strict=False)):
            yield from run.descend(item, schema, path=index)


def _items(run: Run, items: Any, instance: JSON, schema: Schema) -> Errors:
    if not _is_type(instance, "array"):
        return
    first = len(schema.get("prefixItems", ()))
    if items is False and len(instance) > first:
        yield violation()
    elif items is not False:
        for index, item in enumerate(instance[first:], first):
            yield from run.descend(item, items, path=index)


def _unevaluated_items(run: Run, _: Any, instance: JSON, schema: Schema) -> Errors:
    if _is_type(instance, "array"):
        evaluated = _evaluated_items(run, schema, instance)
        if any(index not in evaluated for index in range(len(instance))):
            yield violation()


def _evaluated_items(run: Run, schema: Any, instance: list[JSON]) -> set[int]:
    """The items of a list that a schema which it fits speaks of, in any of its parts."""
    if not isinstance(schema, dict):
        return set()
    if "items" in schema:
        return set(range(len(instance)))
    found = set(range(len(schema.get("prefixItems", ()))))
    for keyword in schema.keys() & {"contains", "unevaluatedItems"}:
        found |= {n for n, item in enumerate(instance) if run.fits(schema[keyword], item)}
    inner = [target(run.root, schema)]
    if "if" in schema:
        holds = run.fits(schema["if"], instance)
        inner += [schema["if"], schema.get("then")] if holds else [schema.get("else")]
    for keyword in schema.keys() & {"allOf", "anyOf", "oneOf"}:
        inner += [each for each in schema[keyword] if run.fits(each, instance)]
    return found.union(*(_evaluated_items(run, each, instance) for each in inner))


def _all_of(run: Run, schemas: list[Any], instance: JSON, _: Schema) -> Errors:
    for schema in schemas:
        yield from run.descend(instance, schema)


def _dependent_schemas(run: Run, schemas: Mapping[str, Any], instance: JSON, _: Schema) -> Errors:
    if _is_type(instance, "object"):
        for name, schema in schemas.items():
            if name in instance:
                yield from run.descend(instance, schema)


def _any_of(run: Run, schemas: list[Any], instance: JSON, _: Schema) -> Errors:
    groups = []
    for schema in schemas:
        groups.append(run.errors(schema, instance))
        if not groups[-1]:
            return
    yield from closest(groups, schemas)


def _one_of(run: Run, schemas: list[Any], instance: JSON, _: Schema) -> Errors:
    groups = [run.errors(schema, instance) for schema in schemas]
    fitting = groups.count(())
    if fitting > 1:
        yield violation(several=True)
    elif not fitting:
        yield from closest(groups, schemas)


def _not(run: Run, schema: Any, instance: JSON, _: Schema) -> Errors:
    if run.fits(schema, instance):
        yield violation()


def _if(run: Run, condition: Any, instance: JSON, schema: Schema) -> Errors:
    holds = run.fits(condition, instance)
    yield from run.descend(instance, schema.get("then" if holds else "else", True))


def _contains(run: Run, wanted: Any, instance: JSON, schema: Schema) -> Errors:
    if not _is_type(instance, "array"):
        return
    count = sum(run.fits(wanted, item) for item in instance)
    least = schema.get("minContains", 1)
    if count < least:
        keyword = "minContains" if "minContains" in schema and count else "contains"
        yield violation(keyword=keyword, value=schema[keyword])
    elif count > schema.get("maxContains", count):
        yield violation(keyword="maxContains", value=schema["maxContains"])


_KEYWORDS: Final[Mapping[str, Keyword]] = {
    "$ref": _ref,
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
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "unevaluatedProperties": _unevaluated_properties,
    "dependentSchemas": _dependent_schemas,
    "prefixItems": _prefix_items,
    "items": _items,
    "unevaluatedItems": _unevaluated_items,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "contains": _contains,
}
