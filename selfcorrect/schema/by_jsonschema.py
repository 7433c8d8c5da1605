"""jsonschema: the engine for machines without jsonschema-rs, and for what that cannot do at once.

It finds one violation after the other, and stops when told. What of it would take more than linear
time is replaced: no pattern meets Python's own engine, and no value is measured twice against what
a `$ref` leads to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import Any, Final, TypeAlias

from selfcorrect.model import JSON
from selfcorrect.pointer import join
from selfcorrect.schema.alternatives import Violation, key
from selfcorrect.schema.closing import Schema, target
from selfcorrect.schema.formats import FormatCheck
from selfcorrect.schema.normal_form import unusable
from selfcorrect.schema.patterns import compiled

Errors: TypeAlias = Iterator[Any]
Groups: TypeAlias = Sequence[Sequence[Violation]]

MOST: Final = 1_000
"""Violations that are looked for."""


def check_schema(schema: Schema, tool: str) -> None:
    """Refuse what is not JSON Schema.

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


def counted(root: Schema, formats: Mapping[str, FormatCheck], args: JSON, most: int) -> int:
    """At how many places arguments are wrong, as far as that; what is too deep for the stack is."""
    try:
        return len({tuple(e.path) for e in islice(_errors(root, root, formats, args, most), most)})
    except (RecursionError, ValueError):  # ValueError: a number too long to be put into words
        return 1


def listed(
    root: Schema, formats: Mapping[str, FormatCheck], part: Schema, args: JSON
) -> list[Violation]:
    """What is wrong with arguments, in the order of the schema; bounded.

    Args:
        root: The whole schema, in normal form.
        formats: The formats to assert.
        part: The part of the schema to measure against.
        args: Plain JSON.

    Raises:
        RecursionError: If they are nested too deeply for the stack.
        ValueError: If a number in them is too long to be put into words.
    """
    found = list(islice(_errors(root, part, formats, args), MOST))
    seen: dict[int, Groups] = {}
    return [_violation(error, seen) for error in found]


class _Once:
    """What belongs to one check; it rides where jsonschema keeps its checker of formats."""

    def __init__(self, root: Schema, formats: Mapping[str, FormatCheck], most: int) -> None:
        self.root = root
        self.formats = formats
        self.most = most
        self.led: dict[tuple[int, int], list[Any]] = {}
        self.held: dict[tuple[int, int], bool] = {}
        self.enums: dict[int, frozenset[Any]] = {}


def _errors(
    root: Schema,
    part: Schema,
    formats: Mapping[str, FormatCheck],
    args: JSON,
    most: int = MOST,
) -> Errors:
    once = _Once(root, formats, most)
    errors: Errors = _engine()(part, format_checker=once).iter_errors(args)
    return errors


def _violation(error: Any, seen: dict[int, Groups]) -> Violation:
    path, keyword, schema = tuple(error.relative_path), error.validator, error.schema
    if not isinstance(schema, dict):
        return Violation(path, "not", {}, error.instance, {})
    groups: Groups = ()
    if error.context:
        # Alternatives that a `$ref` leads to again are the same objects: each is read once.
        groups = seen.get(id(error.context[0])) or _groups(error, seen)
        seen[id(error.context[0])] = groups
    elif keyword == "oneOf":
        groups = [[], []]
    value = schema.get(keyword, error.validator_value)
    return Violation(path, keyword, value, error.instance, schema, groups)


def _groups(error: Any, seen: dict[int, Groups]) -> Groups:
    groups: list[list[Violation]] = [[] for _ in error.validator_value]
    for each in error.context:
        groups[each.relative_schema_path[0]].append(_violation(each, seen))
    return groups


def _ref(engine: Any, _: str, value: JSON, schema: Schema) -> Errors:
    once: _Once = engine.format_checker
    led = target(once.root, schema)
    place = id(led), id(value)
    if place not in once.led:
        once.led[place] = list(islice(engine.descend(value, led), once.most))
    for error in once.led[place]:
        # A copy: whoever passes an error on adds to its path.
        yield type(error).create_from(error)


def _any_of(engine: Any, schemas: list[Any], value: JSON, _: Schema) -> Errors:
    context: list[Any] = []
    for place, each in enumerate(schemas):
        found = list(islice(engine.descend(value, each, schema_path=place), MOST))
        if not found:
            return
        context += found
    yield _error(context=context)


def _one_of(engine: Any, schemas: list[Any], value: JSON, schema: Schema) -> Errors:
    fitting = sum(_holds(engine, each, value) for each in schemas)
    if fitting > 1:
        yield _error()
    elif not fitting:
        yield from _any_of(engine, schemas, value, schema)


def _pattern(_: Any, pattern: str, value: JSON, _schema: Schema) -> Errors:
    if isinstance(value, str) and not compiled(pattern).search(value):
        yield _error()


def _format(engine: Any, name: str, value: JSON, _: Schema) -> Errors:
    check = engine.format_checker.formats.get(name)
    if check is not None and isinstance(value, str) and not check(value):
        yield _error()


def _enum(engine: Any, values: list[JSON], value: JSON, _: Schema) -> Errors:
    enums = engine.format_checker.enums
    if id(values) not in enums:
        enums[id(values)] = frozenset(map(key, values))
    if key(value) not in enums[id(values)]:
        yield _error()


def _unique_items(_: Any, unique: bool, value: JSON, _schema: Schema) -> Errors:
    if unique and isinstance(value, list) and len(set(map(key, value))) < len(value):
        yield _error()


def _multiple_of(engine: Any, factor: float, value: JSON, _: Schema) -> Errors:
    if engine.is_type(value, "number") and _exact(value) % _exact(factor):
        yield _error()


def _exact(number: Any) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _required(_: Any, names: list[str], value: JSON, _schema: Schema) -> Errors:
    if isinstance(value, dict):
        yield from (_error(name) for name in names if name not in value)


def _dependent_required(_: Any, names: Any, value: JSON, _schema: Schema) -> Errors:
    if isinstance(value, dict):
        needed = [each for name in names if name in value for each in names[name]]
        yield from (_error(each) for each in needed if each not in value)


def _property_names(engine: Any, schema: Any, value: JSON, _: Schema) -> Errors:
    if isinstance(value, dict):
        fits_ = engine.evolve(schema=schema).is_valid
        yield from (_error(name) for name in value if not fits_(name))


def _pattern_properties(engine: Any, schemas: Any, value: JSON, _: Schema) -> Errors:
    if isinstance(value, dict):
        for pattern, schema in schemas.items():
            for name in filter(compiled(pattern).search, value):
                yield from engine.descend(value[name], schema, path=name)


def _additional_properties(engine: Any, allowed: Any, value: JSON, schema: Schema) -> Errors:
    if isinstance(value, dict):
        yield from _rest(engine, allowed, value, _declared(schema, value))


def _unevaluated_properties(engine: Any, allowed: Any, value: JSON, schema: Schema) -> Errors:
    if isinstance(value, dict):
        whole = {name: schema[name] for name in schema if name != "unevaluatedProperties"}
        yield from _rest(engine, allowed, value, _evaluated(engine, whole, value))


def _unevaluated_items(engine: Any, _: Any, value: JSON, schema: Schema) -> Errors:
    if isinstance(value, list) and len(_evaluated(engine, schema, value)) < len(value):
        yield _error()


def _rest(engine: Any, allowed: Any, value: Any, known: set[Any]) -> Errors:
    for name in value:
        if name not in known and allowed is False:
            yield _error(name)
        elif name not in known:
            yield from engine.descend(value[name], allowed, path=name)


def _declared(schema: Schema, value: Mapping[str, JSON]) -> set[Any]:
    """The keys of an object that `properties` and `patternProperties` speak of."""
    patterns = [compiled(pattern).search for pattern in schema.get("patternProperties", ())]
    named = {name for name in schema.get("properties", ()) if name in value}
    return named | {name for name in value if any(search(name) for search in patterns)}


def _evaluated(engine: Any, schema: Any, value: Any) -> set[Any]:
    """The keys or places that a schema which the value fits speaks of, in any of its parts."""
    whole = _OTHERS if isinstance(value, dict) else {"items"}
    if not whole.isdisjoint(schema):
        return set(value if isinstance(value, dict) else range(len(value)))
    inner = [target(engine.format_checker.root, schema)]
    inner += [each for name in _SEVERAL for each in schema.get(name, ())]
    if isinstance(value, dict):
        found = _declared(schema, value)
        inner += [each for n, each in schema.get("dependentSchemas", {}).items() if n in value]
    else:
        found = set(range(min(len(value), len(schema.get("prefixItems", ())))))
        for each in [schema[name] for name in ("contains", "unevaluatedItems") if name in schema]:
            found |= {place for place, item in enumerate(value) if _holds(engine, each, item)}
    if "if" in schema:
        met = _holds(engine, schema["if"], value)
        inner += [schema["if"], schema.get("then")] if met else [schema.get("else")]
    fitting = (each for each in inner if isinstance(each, dict) and _holds(engine, each, value))
    return found.union(*(_evaluated(engine, each, value) for each in fitting))


def _holds(engine: Any, schema: Any, value: JSON) -> bool:
    held = engine.format_checker.held
    place = id(schema), id(value)
    if place not in held:
        held[place] = engine.evolve(schema=schema).is_valid(value)
    return bool(held[place])


_OTHERS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_SEVERAL: Final = ("allOf", "anyOf", "oneOf")
_KEYWORDS: Final = {
    "$ref": _ref,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "pattern": _pattern,
    "format": _format,
    "enum": _enum,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
    "required": _required,
    "dependentRequired": _dependent_required,
    "propertyNames": _property_names,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "unevaluatedProperties": _unevaluated_properties,
    "unevaluatedItems": _unevaluated_items,
}


@cache
def _engine() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(Draft202012Validator, _KEYWORDS)


def _error(*path: str, context: Sequence[Any] = ()) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError("", path=path, context=context)
