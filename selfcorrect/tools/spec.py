"""`ToolSpec`: a tool's name, schema, effect and callable, made from whatever the user has."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from selfcorrect.errors import TooLargeError, ToolDefinitionError, unknown_name
from selfcorrect.handlers import OnError
from selfcorrect.model import (
    EFFECTS,
    JSON,
    UNDECLARED,
    Effect,
    Finding,
    JsonDict,
    JsonObject,
    acts,
    own_finding,
)
from selfcorrect.names.letters import same_words
from selfcorrect.pointer import ARGS
from selfcorrect.schema.place import Place
from selfcorrect.text import quote

if TYPE_CHECKING:
    from selfcorrect.strategy_map.document import ToolEffect


class ToolOptions(TypedDict, total=False):
    """What may be declared of a tool; the keys are fields of `ToolSpec`."""

    name: str | None
    effect: Effect | None
    atomic: bool
    verify: Callable[..., Any] | None
    receipt: str | Callable[[Any], Any] | None
    on_error: OnError | None
    fails: Callable[[Any], bool] | None
    timeout: float | None


@dataclass(frozen=True)
class ToolSpec:
    """One tool.

    Attributes:
        name: What the model calls it.
        description: What the model reads about it.
        parameters: The JSON Schema of its arguments, as the model is sent it.
        call: Runs the tool; sync or async; takes keywords. None: the tool is only checked, and
            its caller runs it.
        effect: What a call does to the world.
        declared: Whether somebody said so; an undeclared tool counts as one that acts.
        atomic: Whether the tool takes one step, so that a refusal means that nothing was done.
        timeout: Seconds that one execution may take; None: no bound.
        on_error: Decides about this tool's errors before the map does.
        verify: Finds out whether a lost call was done.
        receipt: The key of a result, or a function of it, that shows that the call was done.
        fails: Says of a returned value whether it is an error.
        home: The top-level package of the tool's own code.
        own: The schema of its own Python types, where they take more than `parameters` says.
        bind: Turns JSON arguments into the values that its function gets, or raises; None: only
            the schema is known.
        takes_key: Whether it has the argument `idempotency_key`, which the runtime fills in: one
            key for all executions of a call. No model sees it.
    """

    name: str
    description: str
    parameters: JsonObject
    call: Callable[..., Any] | None = None
    _: KW_ONLY
    effect: Effect = UNDECLARED
    declared: bool = False
    atomic: bool = False
    timeout: float | None = None
    on_error: OnError | None = None
    verify: Callable[..., Any] | None = None
    receipt: str | Callable[[Any], Any] | None = None
    fails: Callable[[Any], bool] | None = None
    home: str = ""
    own: JsonObject | None = None
    bind: Callable[[JsonDict], Any] | None = None
    takes_key: bool = False

    def __post_init__(self) -> None:
        if self.effect not in EFFECTS:
            sentence = unknown_name("effect", self.effect, EFFECTS)
            raise ToolDefinitionError(f"tool {self.name!r}: {sentence}")
        if self.timeout is not None and self.timeout <= 0:
            raise ToolDefinitionError(
                f"tool {self.name!r}: the timeout must be more than 0 seconds"
            )

    @cached_property
    def acts(self) -> bool:
        """Whether one call more than meant would change something."""
        return acts(self.effect)

    @cached_property
    def arguments(self) -> Place:
        """The schema of the arguments as places.

        Raises:
            ToolDefinitionError: If the schema is unusable.
        """
        try:
            place = Place.of(_without_key(self.own or self.parameters))
            _ = place.validator  # compiles the schema
        except (ValueError, TypeError, RecursionError) as error:
            raise ToolDefinitionError(
                f"tool {self.name!r}: the schema of its arguments is unusable: {error!s:.400}"
            ) from None
        return place

    @classmethod
    def from_function(cls, fn: Callable[..., Any], **options: Unpack[ToolOptions]) -> ToolSpec:
        """Make a tool of a function; annotations become the schema, the docstring its description.

        A dict `metadata` on the function may hold its options, such as `effect` and `atomic`.
        """
        from selfcorrect.tools.function import signature_of

        name = str(options.get("name") or getattr(fn, "__name__", type(fn).__name__))
        signature = signature_of(fn, name)
        schema = {
            "name": name,
            "description": inspect.getdoc(fn),
            "parameters": signature.parameters,
        }
        spec = cls.from_schema(schema, signature.call, **_with_metadata(fn, options))
        return replace(spec, own=signature.own, bind=signature.bind)

    @classmethod
    def from_langchain(cls, tool: Any, **options: Unpack[ToolOptions]) -> ToolSpec:
        """Make a tool of a LangChain tool; its `metadata` may hold options, such as `effect`."""
        from selfcorrect.tools.function import OwnSchema, bind_with, call_with

        shown, own, bind = tool.tool_call_schema, None, None
        if not isinstance(shown, dict):
            own = shown.model_json_schema(schema_generator=OwnSchema)
            # What a model is sent lacks the author's validators; what is injected is not there yet.
            whole = (
                getattr(tool.args_schema, "model_fields", {}).keys() == shown.model_fields.keys()
            )
            model = tool.args_schema if whole else shown
            bind = partial(bind_with, model.model_validate)
            shown = shown.model_json_schema()
        schema = {"name": tool.name, "description": tool.description, "parameters": shown}
        # With these handlers LangChain returns an error as if it were a result.
        silent = {"handle_tool_error": False, "handle_validation_error": False}
        quiet = tool.model_copy(update=silent)

        def wrap(args: JsonDict) -> JsonDict:
            if bind is not None:
                bind(deepcopy(args))
            # Arguments alone may look like a call, and LangChain would run what they say.
            return {"input": {"type": "tool_call", "name": tool.name, "args": args, "id": None}}

        function, coroutine = (getattr(tool, name, None) for name in ("func", "coroutine"))
        is_async = bool(coroutine and not function)
        invoke = quiet.ainvoke if is_async else quiet.invoke
        call = call_with(invoke, wrap, function or coroutine or type(tool), is_async=is_async)
        spec = cls.from_schema(schema, call, **_with_metadata(tool, options))
        return replace(spec, own=own, bind=bind)

    @classmethod
    def from_schema(
        cls,
        schema: JsonObject,
        call: Callable[..., Any] | None = None,
        **options: Unpack[ToolOptions],
    ) -> ToolSpec:
        """Make a tool of the JSON that a model is sent, in the form of any provider or of MCP.

        An `effect` may stand in it.
        """
        inner = schema.get("function", schema)
        name = options.pop("name", None) or inner.get("name")
        if not isinstance(name, str) or not name:
            raise ToolDefinitionError(f'a tool needs a "name": {schema!r:.80}')
        parameters = next((inner[key] for key in _PARAMETERS if inner.get(key)), _NO_PARAMETERS)
        shown = _without_key(parameters)
        effect: Any = options.pop("effect", None) or inner.get("effect")
        more: Any = options
        return cls(
            name,
            inner.get("description") or "",
            shown,
            call,
            effect=effect or UNDECLARED,
            declared=effect is not None,
            home=_home_of(call),
            takes_key=shown is not parameters,
            **more,
        )

    def is_valid(self, args: JSON) -> bool:
        """Say whether arguments fit the schema as they stand."""
        return self.arguments.accepts(self.strip(args))

    def findings(self, args: JSON) -> list[Finding]:
        """Return what is wrong with the arguments: one finding for each place."""
        args = self.strip(args)
        if not isinstance(args, Mapping):
            text = f"the arguments must be a JSON object; {quote(args)} is not"
            return [own_finding("MalformedCall", "malformed_json", text, ARGS)]
        try:
            data = args if isinstance(args, dict) else dict(args)
            # Most calls are valid, and a yes or no is quick.
            if self.arguments.validator.is_valid(data):
                return []
            from selfcorrect.schema.findings import findings_of

            return findings_of(data, self.arguments)
        except TooLargeError as error:
            return [own_finding("MalformedCall", "too_large", str(error), ARGS)]
        except (ValueError, TypeError, RecursionError) as error:
            text = f"the arguments cannot be read as JSON: {error!s:.100}"
            return [own_finding("MalformedCall", "malformed_json", text, ARGS)]

    def strip(self, args: Any) -> Any:
        """Return arguments without the key that only the runtime fills in."""
        if not self.takes_key or not isinstance(args, Mapping):
            return args
        return {name: item for name, item in args.items() if not same_words(name, KEY)}

    def fill(self, args: JsonObject, key: str = "0" * 32) -> JsonObject:
        """Return arguments as the tool gets them, with the runtime's key in place of any other."""
        return {**self.strip(args), KEY: key} if self.takes_key else args


def _home_of(call: Any) -> str:
    """Return the top-level package of the code behind a callable."""
    function = inspect.unwrap(call) if callable(call) else call
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__module__", None) or "").partition(".")[0]


KEY = "idempotency_key"
_PARAMETERS = ("parameters", "input_schema", "inputSchema")
_NO_PARAMETERS = {"type": "object", "properties": {}}


def _without_key(parameters: JsonObject) -> JsonObject:
    """Return the schema without the argument that the runtime fills in."""
    described = parameters.get("properties")
    if not isinstance(described, Mapping) or KEY not in described:
        return parameters
    properties = {name: schema for name, schema in described.items() if name != KEY}
    required = [name for name in parameters.get("required", ()) if name != KEY]
    return {**parameters, "properties": properties, "required": required}


MCP_HINTS = frozenset(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"))
"""Keys of metadata that show that an MCP server wrote it; its word does not declare anything."""


def collect_tools(tools: Any, effects: Mapping[str, ToolEffect]) -> dict[str, ToolSpec]:
    """Return tools by name; a map's effects count for tools that declare none.

    Args:
        tools: `ToolSpec`s, functions, LangChain tools, schemas, or names of built-in tools; or
            one of them.
        effects: Globs of names; the first that matches counts.

    Raises:
        ToolDefinitionError: If something is not a tool, its schema is unusable, or two tools have
            one name.
    """
    specs: dict[str, ToolSpec] = {}
    # A schema, a text and a LangChain tool are iterable too.
    is_one = isinstance(tools, Mapping | str) or hasattr(tools, "tool_call_schema")
    for item in tools if isinstance(tools, Iterable) and not is_one else [tools]:
        spec = _spec_of(item)
        for pattern, entry in effects.items():
            if not spec.declared and fnmatchcase(spec.name, pattern):
                spec = replace(spec, effect=entry.effect, atomic=entry.atomic, declared=True)
        if spec.name in specs:
            raise ToolDefinitionError(f"two tools are named {spec.name!r}; rename one of them")
        _ = spec.arguments  # compiles the schema
        specs[spec.name] = spec
    return specs


def is_usable(spec: ToolSpec) -> bool:
    """Say whether the schema of a tool can be read; warn where it cannot.

    One odd schema of a server takes away its own tool, never the others of the server.
    """
    try:
        _ = spec.arguments
    except ToolDefinitionError as error:
        warnings.warn(f"left out: {error}", RuntimeWarning, stacklevel=3)
        return False
    return True


def _spec_of(item: Any) -> ToolSpec:
    if isinstance(item, ToolSpec):
        return item
    if isinstance(item, Mapping):
        return ToolSpec.from_schema(item)
    if hasattr(item, "tool_call_schema"):
        return ToolSpec.from_langchain(item)
    if callable(item):
        return ToolSpec.from_function(item)
    if isinstance(item, str):
        from selfcorrect.tools.built_in import BUILT_IN

        if item in BUILT_IN:
            return ToolSpec.from_function(BUILT_IN[item])
        raise ToolDefinitionError(unknown_name("built-in tool", item, BUILT_IN))
    raise ToolDefinitionError(
        f"not a tool: {item!r:.80}; give a function, a LangChain tool, a schema or a ToolSpec"
    )


_DECLARED = ("effect", "atomic", "verify", "receipt", "fails", "timeout")
"""What a dict `metadata` may say of a tool."""


def _with_metadata(tool: Any, options: ToolOptions) -> ToolOptions:
    """Return the options, with what the tool, or the function behind it, says behind them."""
    merged: Any = {}
    for home in (getattr(tool, "func", None), getattr(tool, "coroutine", None), tool):
        metadata = getattr(home, "metadata", None)
        if isinstance(metadata, Mapping) and MCP_HINTS.isdisjoint(metadata):
            merged |= {key: metadata[key] for key in _DECLARED if key in metadata}
        if isinstance(handler := getattr(home, "on_error", None), OnError):
            merged["on_error"] = handler
    merged |= {key: item for key, item in options.items() if item is not None}
    return merged  # type: ignore[no-any-return]
