"""Turns a function's annotations into a JSON Schema, and JSON arguments into what it annotates."""

import inspect
from collections import deque
from collections.abc import Callable, Mapping, Set as AbstractSet
from decimal import Decimal
from functools import partial, wraps
from typing import Any, NamedTuple

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from selfcorrect.errors import ArgumentsError, ToolDefinitionError
from selfcorrect.model import JSON, JsonDict


class Signature(NamedTuple):
    """A function as a tool.

    Attributes:
        parameters: The JSON Schema of its arguments.
        own: The same, as far as its types take more.
        call: The function, of JSON arguments.
        bind: Turns JSON arguments into those of the function.
    """

    parameters: JsonDict
    own: JsonDict
    call: Callable[..., Any]
    bind: Callable[[JsonDict], Any]


def signature_of(fn: Callable[..., Any], name: str) -> Signature:
    """Return a function as a tool.

    Raises:
        ToolDefinitionError: If an annotation has no JSON Schema.
    """
    from pydantic import PydanticUserError, TypeAdapter
    from pydantic_core import ArgsKwargs

    is_plain = inspect.isroutine(fn) or isinstance(fn, partial)
    caller: Any = type(fn).__call__
    target: Any = fn if is_plain else caller.__get__(fn)

    try:
        # Pydantic sees the function's own signature, and calls what returns the values.
        twin: Any = wraps(getattr(target, "func", target))(lambda **named: named)
        twin.__wrapped__ = target
        adapter: TypeAdapter[Any] = TypeAdapter(twin)
        schema = adapter.json_schema()
        own = adapter.json_schema(schema_generator=OwnSchema)
    except (PydanticUserError, NameError, TypeError) as error:
        raise ToolDefinitionError(
            f"tool {name!r}: an annotation has no JSON Schema: {error!s:.300}"
        ) from None
    if schema.get("type") != "object":
        raise ToolDefinitionError(f"tool {name!r} takes positional arguments; name every argument")

    def bind(args: JsonDict) -> Any:
        return bind_with(lambda values: adapter.validate_python(ArgsKwargs((), values)), args)

    call = call_with(fn, bind, fn, is_async=inspect.iscoroutinefunction(target))
    return Signature(schema, own, call, bind)


def call_with(
    fn: Callable[..., Any], bind: Callable[[JsonDict], Any], home: Any, *, is_async: bool
) -> Any:
    """Return a function of JSON arguments; `home` shows where the tool's own code stands."""

    def call(**args: Any) -> Any:
        return fn(**bind(args))

    async def acall(**args: Any) -> Any:
        return await fn(**bind(args))

    wrapped: Any = acall if is_async else call
    wrapped.__wrapped__ = home
    return wrapped


def bind_with(validate: Callable[[JsonDict], Any], args: JsonDict) -> Any:
    """Return what the types of a tool make of its arguments: a model, or values for a function.

    Raises:
        ArgumentsError: If they do not fit, or a type would round a number or drop an item.
    """
    from pydantic import ValidationError

    try:
        value = validate(args)
    except ValidationError as error:
        raise ArgumentsError("; ".join(map(_sentence, error.errors()))) from error
    named = dict(value)
    for name, written in args.items():
        if loss := _loss(written, named.get(name, written)):
            raise ArgumentsError(f"the tool's own type would change `{name}`: {loss}")
    return value


def _sentence(fault: Any) -> str:
    """Say of one argument what a type or an author's validator wants."""
    place, rule = ".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")
    return f"`{place}` is refused: {rule}; it is {fault['input']!r:.80}"


def _loss(written: JSON, value: Any) -> str:
    """Return what a type loses of a value by itself: digits that it cannot hold, equal keys.

    A text may become a date, and an author's validator may change a value: neither is a loss.
    """
    value = getattr(value, "root", value)  # of a RootModel
    if isinstance(written, dict | list) and value is not written:
        pairs = _pairs(written, value)
        is_short = isinstance(value, Mapping) and len(value) < len(written)
        if is_short or pairs is None:
            return f"{written!r:.80} would be {value!r:.80}"
        return next(filter(None, (_loss(*pair) for pair in pairs)), "")
    number: Any = written
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if not is_number or not isinstance(value, int | float | Decimal):
        return ""
    # Numbers of Python are compared exactly, and a decimal number by the digits.
    is_kept = value in (number, Decimal(str(number)))
    return "" if is_kept or float(value) != float(number) else f"{number} would be {value}"


def _pairs(written: Any, value: Any) -> Any:
    """Return pairs of what was written and what was made of it; None where an item is gone."""
    if isinstance(value, AbstractSet):
        # Doubles fall together.
        is_kept = all(any(not _loss(item, kept) for kept in value) for item in written)
        return () if is_kept else None
    if isinstance(written, list):
        return zip(written, value, strict=False) if isinstance(value, _MANY) else ()
    if isinstance(value, Mapping):
        # The type may have turned all keys into others.
        keys = value if value.keys().isdisjoint(written) else written
        pairs = zip(keys, written.values(), strict=False)
        return [(item, value.get(key, item)) for key, item in pairs]
    if len(getattr(value, "model_fields_set", written)) < len(written):
        # Under an alias that is a path the model reads no key of this name.
        return None
    fields = getattr(type(value), "__pydantic_fields__", {})
    aliases = {str(field.validation_alias or name): name for name, field in fields.items()}
    return [(item, getattr(value, aliases.get(key, key), item)) for key, item in written.items()]


_MANY = (list, tuple, deque)


class OwnSchema(GenerateJsonSchema):
    """Gives a time whose offset may be missing a format of its own."""

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return _without_offset(super().datetime_schema(schema), schema)

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return _without_offset(super().time_schema(schema), schema)


def _without_offset(time_schema: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    if schema.get("tz_constraint", "naive") != "naive":
        return time_schema
    return {**time_schema, "format": f"naive-{time_schema['format']}"}
