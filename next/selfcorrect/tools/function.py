"""Turns a function's annotations into a JSON Schema, and JSON arguments into what it annotates."""

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NamedTuple

from selfcorrect.errors import ArgumentsError, ToolDefinitionError
from selfcorrect.model import JsonDict


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
    from pydantic import PydanticUserError, TypeAdapter, ValidationError
    from pydantic_core import ArgsKwargs

    from selfcorrect.tools.own_schema import OwnSchema

    is_plain = inspect.isroutine(fn) or isinstance(fn, partial)
    caller: Any = type(fn).__call__
    target: Any = fn if is_plain else caller.__get__(fn)

    def values(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    try:
        # Pydantic sees the function's own signature, and calls what returns the values.
        twin: Any = wraps(getattr(target, "func", target))(values)
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
        try:
            return adapter.validate_python(ArgsKwargs((), args))
        except ValidationError as error:
            raise ArgumentsError(f"the arguments do not fit the function: {error}") from error

    def call(**args: Any) -> Any:
        positional, named = bind(args)
        return fn(*positional, **named)

    async def acall(**args: Any) -> Any:
        positional, named = bind(args)
        return await fn(*positional, **named)

    made: Any = acall if inspect.iscoroutinefunction(target) else call
    made.__wrapped__ = fn
    return Signature(schema, own, made, bind)
