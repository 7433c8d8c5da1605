"""Turns a function's annotations into a JSON Schema, and JSON arguments into what it annotates."""

import inspect
from collections import deque
from collections.abc import Callable, Mapping, Set as AbstractSet
from decimal import Decimal
from functools import partial, wraps
from typing import Any, Final

from selfcorrect.errors import ArgumentsError, ToolDefinitionError
from selfcorrect.model import JSON, JsonDict


def signature_of(
    fn: Callable[..., Any], name: str
) -> tuple[JsonDict, Callable[..., Any], Callable[[JsonDict], Any]]:
    """Return the schema of a function's arguments, the function as one of JSON, and the way there.

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
    except (PydanticUserError, NameError, TypeError) as error:
        raise ToolDefinitionError(
            f"tool {name!r}: an annotation has no JSON Schema: {error!s:.300}"
        ) from None
    if schema.get("type") != "object":
        raise ToolDefinitionError(f"tool {name!r} takes positional arguments; name every argument")

    def bind(args: JsonDict) -> Any:
        return bind_with(lambda given: adapter.validate_python(ArgsKwargs((), given)), args)

    def call(**args: Any) -> Any:
        return fn(**bind(args))

    async def acall(**args: Any) -> Any:
        return await fn(**bind(args))

    made: Any = acall if inspect.iscoroutinefunction(target) else call
    made.__wrapped__ = fn
    return schema, made, bind


def bind_with(validate: Callable[[JsonDict], Any], args: JsonDict) -> Any:
    """Return what the types of a tool make of its arguments: a model, or values for a function.

    Raises:
        ArgumentsError: If they do not fit, or a type would round a number or drop an item.
    """
    from pydantic import ValidationError

    try:
        made = validate(args)
    except ValidationError as error:
        raise ArgumentsError(f"the arguments do not fit the function: {error}") from error
    named = dict(made)
    for name, written in args.items():
        if loss := _loss(written, named.get(name, written)):
            raise ArgumentsError(f"the tool's own type would change `{name}`: {loss}")
    return made


def _loss(written: JSON, made: Any) -> str:
    """Return what a type does not keep of a value; empty if it keeps all.

    A text that becomes something else, such as a date, is the type's own business.
    """
    if made is written:
        return ""
    made = getattr(made, "root", made)  # of a RootModel
    if isinstance(written, dict | list):
        if (pairs := _pairs(written, made)) is None:
            return f"{written!r:.80} would be {made!r:.80}"
        return next(filter(None, (_loss(*pair) for pair in pairs)), "")
    if type(written) not in (int, float) or not isinstance(made, int | float | Decimal):
        return ""
    # Numbers of Python are compared exactly, and a decimal number by the digits.
    return "" if made in (written, Decimal(str(written))) else f"{written} would be {made}"


def _pairs(written: Any, made: Any) -> Any:
    """Return pairs of what was written and what was made of it; None where something is gone."""
    if isinstance(made, AbstractSet):
        # Doubles fall together.
        is_kept = all(any(not _loss(item, each) for each in made) for item in written)
        return () if is_kept else None
    if isinstance(made, _MANY) and len(made) < len(written):
        return None
    if isinstance(written, list):
        return zip(written, made, strict=False) if isinstance(made, _MANY) else ()
    if isinstance(made, Mapping):
        # The type may have turned all keys into others.
        keys = made if made.keys().isdisjoint(written) else written
        return [
            (item, made.get(key, item)) for key, item in zip(keys, written.values(), strict=False)
        ]
    kind = type(made)
    fields = getattr(kind, "__pydantic_fields__", None) or getattr(kind, "__dataclass_fields__", {})
    names = {
        str(getattr(each, "validation_alias", "") or name): name for name, each in fields.items()
    }
    if fields and len(getattr(made, "model_fields_set", names.keys() & written)) < len(written):
        return None
    return [(item, getattr(made, names.get(key, key), item)) for key, item in written.items()]


_MANY: Final = (list, tuple, deque, Mapping)
