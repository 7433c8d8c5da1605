"""Turns a function's annotations into a JSON Schema, and JSON arguments into what it annotates."""

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from selfcorrect.errors import ArgumentsError, ToolDefinitionError
from selfcorrect.model import JsonDict


def signature_of(
    fn: Callable[..., Any], name: str
) -> tuple[JsonDict, Callable[..., Any], Callable[[JsonDict], Any]]:
    """Return the schema of a function's arguments, the function as one of JSON, and the way there.

    Raises:
        ToolDefinitionError: If an annotation has no JSON Schema.
    """
    from pydantic import PydanticUserError, TypeAdapter, ValidationError
    from pydantic_core import ArgsKwargs

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
    return schema, made, bind
