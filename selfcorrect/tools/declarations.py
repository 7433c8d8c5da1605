"""What is said of a tool where it is made: its effect, its time, its parameters, its errors."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from selfcorrect.effects import EFFECTS, UNDECLARED
from selfcorrect.errors import ToolDefinitionError
from selfcorrect.hints import near
from selfcorrect.model import JsonObject
from selfcorrect.plain import problem
from selfcorrect.protocols import Effect
from selfcorrect.tools.signatures import Converter

KEY_ARGUMENT: Final = "idempotency_key"
"""A parameter of this name gets the idempotency key, unless the tool names another one."""
ON_ERROR_MARK: Final = "__selfcorrect_on_error__"
"""Where `@on_error` leaves its mark on a tool function."""

_PARAMETER_KEYS: Final = (
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
)
_AROUND: Final = ("function", "toolSpec")
"""What OpenAI and Bedrock put around a tool."""
_LIKE_PARAMETERS: Final = ("param", "arg", "input", "propert", "schema")
"""How other keys begin under which somebody may have written parameters."""
SERVER_HINTS: Final = frozenset(
    {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
)
_NO_PARAMETERS: Final[JsonObject] = {"type": "object", "properties": {}}


def metadata_of(tool: Any) -> dict[str, Any]:
    """What code wrote down of a tool: on the function that it calls, and on itself."""
    found: dict[str, Any] = {}
    for each in (getattr(tool, "coroutine", None), getattr(tool, "func", None), tool):
        metadata = getattr(each, "metadata", None)
        found |= metadata if isinstance(metadata, Mapping) else {}
    return found


def stated(metadata: Mapping[str, Any], key: str) -> Any:
    """What code wrote down under a key; an MCP server may write anything beside its hints."""
    return None if SERVER_HINTS & metadata.keys() else metadata.get(key)


def stated_effect(metadata: Mapping[str, Any], tool: str) -> Any:
    """The effect that code wrote down; an MCP server may write anything beside its hints.

    Raises:
        ToolDefinitionError: If it seems to be written under another key.
    """
    if SERVER_HINTS & metadata.keys():
        return None
    for key, value in metadata.items():
        is_like = isinstance(key, str) and key != "effect" and near(key.lower(), ("effect",))
        if is_like and isinstance(value, str) and near(value.lower(), EFFECTS):
            raise ToolDefinitionError(
                f"tool {tool!r}: its metadata have {key!r}, which is not read; write 'effect': "
                f"{value!r} (one of {', '.join(EFFECTS)})"
            )
    return metadata.get("effect")


def home_of(function: Any) -> str:
    """The top-level package of what is called: a function, an object, or a LangChain tool's own."""
    inner = getattr(function, "func", None) or getattr(function, "coroutine", None) or function
    for _ in range(16):
        inner = getattr(inner, "__wrapped__", None) or getattr(inner, "func", None) or inner
    module = getattr(inner, "__module__", None) or type(inner).__module__
    return str(module).partition(".")[0]


def key_argument_of(fn: Callable[..., Any], named: str | None) -> str | None:
    """The parameter that gets the idempotency key, or None."""
    try:
        known = inspect.signature(fn).parameters
    except (ValueError, TypeError):
        return None  # reading it as a tool says what is wrong
    if named is not None and named not in known:
        raise ToolDefinitionError(f"{fn!r} has no parameter {named!r} for the idempotency key")
    return named or (KEY_ARGUMENT if KEY_ARGUMENT in known else None)


def sparing(convert: Converter, key: str | None) -> Converter:
    """Conversion that leaves the idempotency key as it is."""
    if key is None:
        return convert

    def converted(args: dict[str, Any]) -> dict[str, Any]:
        value = args.pop(key)
        return {**convert(args), key: value}

    return converted


def marked(fn: Any) -> Any | None:
    """What `@on_error` says on a function, also below wrappers, partials and methods."""
    for _ in range(16):
        found = getattr(fn, ON_ERROR_MARK, None)
        if found is not None:
            return found
        fn = getattr(fn, "func", None) or getattr(fn, "__wrapped__", None)
    return None


def marked_inside(tool: Any) -> Any | None:
    """What `@on_error` says on the function of a LangChain tool."""
    functions = (getattr(tool, "func", None), getattr(tool, "coroutine", None))
    return next((mark for fn in functions if (mark := marked(fn)) is not None), None)


def effect_of(effect: Any, tool: str) -> tuple[Effect, bool]:
    """The effect that counts, and whether it was declared."""
    if effect is None:
        return UNDECLARED, False
    if effect not in EFFECTS:
        hint = near(str(effect), EFFECTS) or f"use one of {', '.join(EFFECTS)}"
        raise ToolDefinitionError(f"tool {tool!r}: there is no effect {effect!r}; {hint}")
    return effect, True


def timeout_of(seconds: Any, tool: str) -> float | None:
    """A timeout in seconds, checked."""
    if seconds is None:
        return None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not math.isfinite(seconds) or seconds <= 0:
        raise ToolDefinitionError(f"tool {tool!r}: a timeout is seconds above 0, not {seconds!r}")
    return float(seconds)


def schema_parts(schema: Any) -> tuple[Any, Any, Any]:
    """Name, description and parameters out of the forms that providers use."""
    if not isinstance(schema, Mapping):
        raise ToolDefinitionError(f"a tool's schema is an object, not {schema!r}")
    inner = next((schema[key] for key in _AROUND if isinstance(schema.get(key), Mapping)), None)
    body = schema if inner is None else inner
    if "name" not in body:
        raise ToolDefinitionError(
            "a tool's schema needs a name, a description and parameters (or input_schema, or "
            f"inputSchema); found {', '.join(map(repr, body)) or 'nothing'}"
        )
    key = next((key for key in _PARAMETER_KEYS if body.get(key) is not None), None)
    other = next((key for key in body if key not in _PARAMETER_KEYS and _holds(body, key)), None)
    if key is None and other is not None:
        raise ToolDefinitionError(
            f"tool {body['name']!r}: {other!r} is not read; write its parameters as JSON Schema "
            "under 'parameters': {'type': 'object', 'properties': {…}, 'required': […]}"
        )
    found = _NO_PARAMETERS if key is None else body[key]
    if isinstance(found, Mapping) and set(found) == {"json"}:
        found = found["json"]
    from selfcorrect.tools.gemini import as_json_schema

    return body["name"], body.get("description"), as_json_schema(found)


def _holds(body: Mapping[str, Any], key: Any) -> bool:
    """Whether parameters seem to stand under this key."""
    named = isinstance(key, str) and key.lower().startswith(_LIKE_PARAMETERS)
    return named and bool(body[key]) and isinstance(body[key], Mapping | list)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await."""
    call = getattr(function, "__call__", None)  # noqa: B004 -- an object with an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def refuse_unusable(name: Any, *, atomic: Any, fails: Any, verify: Any) -> None:
    """Refuse declarations that can never be meant.

    Raises:
        ToolDefinitionError: If there is one.
    """
    if not isinstance(name, str) or not name.strip() or problem(name) is not None:
        raise ToolDefinitionError(f"a tool needs a name that is text, not {name!r}")
    if type(atomic) is not bool:
        raise ToolDefinitionError(f"tool {name!r}: atomic is True or False, not {atomic!r}")
    for what, given in (("fails", fails), ("verify", verify)):
        if given is not None and not callable(given):
            raise ToolDefinitionError(f"tool {name!r}: {what} must be callable, not {given!r}")
