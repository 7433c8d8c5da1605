"""Tools as selfcorrect sees them: what the model is sent, a check of arguments, one way to run.

Made from Python functions, LangChain tools, or schemas beside a callable.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeAlias

from selfcorrect.errors import GraphSetupError, ToolDefinitionError
from selfcorrect.model import Finding, JsonObject
from selfcorrect.protocols import Effect
from selfcorrect.results import is_error_value
from selfcorrect.schema.checker import Checker
from selfcorrect.tools.declarations import (
    KEY_ARGUMENT,
    effect_of,
    home_of,
    is_async,
    key_argument_of,
    marked,
    marked_inside,
    metadata_of,
    schema_parts,
    sparing,
)
from selfcorrect.tools.making import spec_of
from selfcorrect.tools.pickling import Origin, reduced
from selfcorrect.tools.running import (
    Arguments,
    AsyncRun,
    Run,
    awaited,
    called,
    in_thread,
    own_arguments,
)
from selfcorrect.tools.signatures import signature_of

Verify: TypeAlias = Callable[[JsonObject, str], Any]

_SHORTEST: Final = 0.001


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class ToolSpec:
    """A tool: what is sent to the model, what checks the arguments, and what runs.

    Make one with `from_function`, `from_langchain` or `from_schema`.

    >>> def add(a: int, b: int = 1) -> int:
    ...     return a + b
    >>> tool = ToolSpec.from_function(add, effect="read_only")
    >>> tool
    <ToolSpec add, read_only>
    >>> tool.run({"a": 2})
    3
    >>> [finding.text for finding in tool.violations({"a": "2", "c": 3})]
    ["argument 'a': expected integer, got string", "unknown argument 'c'"]

    Attributes:
        schema: JSON Schema of the arguments, as it is sent to the model. Arguments are checked
            against a stricter copy: an object takes only the keys that are declared for it, unless
            the schema says otherwise (`additionalProperties`, `patternProperties`,
            `unevaluatedProperties`). A key inside an argument may stay, too, where the schema does
            not forbid it, no Python type would lose it, and it cannot be meant for a declared one.
        effect: What calling it does to the world.
        declared: Whether anybody said so; if not, it is taken for mutating.
        is_async: Whether it can only be awaited.
        timeout: Seconds until `TimeoutError`, or None. A sync tool that is late goes on in its
            thread, since nothing can stop it: it may still act.
        on_error: What to do about its errors, if the tool says so itself.
        takes_key: The argument that gets the idempotency key, which the model never sees; None:
            there is none.
        verify: Finds out whether an execution happened that nobody knows the outcome of. Called
            with the arguments and the idempotency key, it returns `Result(value)` if it happened,
            `Outcome.NOT_DONE` if it did not and will not, and None if it cannot tell. Sync or
            async.
        asks_first: Whether it does nothing before it interrupts itself to ask. None: as
            LangGraph's rule for interrupts says, unless it is destructive.
        atomic: Whether it takes one step, so that its refusal means that nothing was done. What
            broke off may have been done all the same.
        home: The top-level package of its code.
        server: Who runs it, as code says (`metadata["server"]`); empty if nobody does. What a tool
            of another server answered may clear a value that an error of this one named.
        fails: Says of a value whether it is an error; None: by the shapes that mean nothing else.
        mends_values: Whether an error that came as a value is mended like one that is raised.
    """

    name: str
    description: str
    schema: JsonObject
    effect: Effect
    declared: bool
    is_async: bool
    timeout: float | None
    on_error: Any | None
    _run: Run
    _arun: AsyncRun | None
    _checker: Checker
    takes_key: str | None = None
    verify: Verify | None = None
    asks_first: bool | None = None
    atomic: bool = False
    home: str = ""
    fails: Callable[[Any], bool] | None = None
    mends_values: bool = False
    server: str = ""
    _origin: Origin | None = None

    def __repr__(self) -> str:
        return f"<ToolSpec {self.name}, {self.effect if self.declared else 'effect undeclared'}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickled as what it was made from, which has to be importable where it is read."""
        made = ("_run", "_arun", "_checker", "_origin")
        names = [each.name for each in fields(self) if each.name not in made]
        kept = {name: getattr(self, name) for name in names}
        return reduced(self, self._origin, self._run, kept)

    def has_effect(self, effect: Effect, *, atomic: bool | None = None) -> ToolSpec:
        """A copy with this effect declared, and what is said of its steps, if anything is."""
        known = effect_of(effect, self.name)[0]
        one_step = self.atomic if atomic is None else atomic
        return replace(self, effect=known, declared=True, atomic=one_step)

    def hiding_key(self) -> ToolSpec:
        """The tool whose parameter `idempotency_key` gets the key, and is seen by no model."""
        known = self.schema.get("properties")
        if self.takes_key is not None or not isinstance(known, dict) or KEY_ARGUMENT not in known:
            return self
        needed = [name for name in self.schema.get("required") or () if name != KEY_ARGUMENT]
        shown = {name: told for name, told in known.items() if name != KEY_ARGUMENT}
        schema = {**self.schema, "properties": shown, "required": needed}
        checker = Checker(schema, self.name, local_times=self._checker.is_typed)
        return replace(self, schema=schema, takes_key=KEY_ARGUMENT, _checker=checker)

    def is_valid(self, args: JsonObject) -> bool:
        """Whether the arguments are plain JSON and fit the schema."""
        if self._checker.is_valid(args):
            return True
        if self._checker.is_typed or not self._checker.opened(self.schema).is_valid(args):
            return False
        return not self.violations(args)

    def violations(self, args: JsonObject) -> tuple[Finding, ...]:
        """Everything that is wrong with the arguments, without kind, category or ladder."""
        found = self._checker.violations(args)
        unknown = any(finding.code == "additionalProperties" for finding in found)
        if not unknown or self._checker.is_typed:
            return found
        from selfcorrect.schema.undeclared import may_stay  # a healthy call needs none of it

        kept = tuple(finding for finding in found if not may_stay(finding, args, self))
        return kept if kept or self._checker.opened(self.schema).is_valid(args) else found

    def count_violations(self, args: JsonObject, most: int) -> int:
        """At how many places arguments are wrong, up to a bound; `violations` may not list all."""
        return self._checker.compile().count(dict(args), most)

    def is_error(self, value: Any) -> bool:
        """Whether a value that the tool returned is an error."""
        if self.fails is None:
            return is_error_value(value)
        try:
            return bool(self.fails(value))
        except Exception:  # what cannot be judged is a value
            return False

    def within(self, seconds: float | None) -> ToolSpec:
        """The tool with a timeout of at most so many seconds, if it can be left in time at all.

        A sync tool without a timeout of its own runs to its end, in the thread of its caller.
        """
        if seconds is None or (self.timeout is None and not self.is_async):
            return self
        if self.timeout is not None and self.timeout <= seconds:
            return self
        return replace(self, timeout=max(_SHORTEST, seconds))

    def compile(self) -> ToolSpec:
        """The tool itself, its schema compiled now instead of at the first check.

        Raises:
            ToolDefinitionError: If the schema is not JSON Schema 2020-12.
        """
        self._checker.compile()
        return self

    def run(self, args: JsonObject, call_id: str | None = None, key: str | None = None) -> Any:
        """Call the tool and return its value. The arguments are not checked here.

        Args:
            args: Plain JSON; the tool gets a copy.
            call_id: The id of the call, for tools that want to know it.
            key: The idempotency key, for tools that take one; by default a new one.

        Raises:
            GraphSetupError: If the tool is async, or has nothing to call.
            ArgumentDeserializationError: If the arguments do not fit the tool's own types.
            ToolReportedError: If the tool returned an error as its value.
            TimeoutError: If it took longer than `timeout`.
        """
        if self.is_async:
            raise GraphSetupError(f"tool {self.name!r} is async: call ainvoke, not invoke")
        own = own_arguments(args, self.takes_key, key)
        return called(functools.partial(self._run, own, call_id), self.timeout, self.name)

    async def arun(
        self, args: JsonObject, call_id: str | None = None, key: str | None = None
    ) -> Any:
        """Call the tool and return its value; a sync tool runs in a thread, in the same context.

        Args and Raises are those of `run`, but that async tools are welcome.
        """
        own = own_arguments(args, self.takes_key, key)
        if self._arun is not None:
            begin = functools.partial(self._arun, own, call_id)
            return await awaited(begin, self.timeout, self.name)
        return await in_thread(functools.partial(self._run, own, call_id), self.timeout, self.name)

    @classmethod
    def from_function(
        cls,
        fn: Callable[..., Any],
        *,
        effect: Effect | None = None,
        on_error: Any | None = None,
        timeout: float | None = None,
        name: str | None = None,
        key_argument: str | None = None,
        verify: Verify | None = None,
        asks_first: bool | None = None,
        atomic: bool = False,
        fails: Callable[[Any], bool] | None = None,
    ) -> ToolSpec:
        """A tool that calls a Python function, sync or async.

        The signature makes the schema: annotations, defaults, `Annotated[…, Field(…)]`, and the
        docstring's first paragraph and Google-style `Args`. The function gets the types that it is
        annotated with.

        Args:
            fn: The function; a bound method or a partial will do.
            effect: What calling it does to the world; by default `fn.metadata["effect"]`, as
                `atomic` and `verify` by the keys of those names.
            on_error: What to do about its errors; by default what `@on_error` says on it.
            timeout: Seconds until `TimeoutError`.
            name: The tool's name, if it is not the function's.
            key_argument: The parameter that gets the idempotency key, hidden from the model; by
                default `idempotency_key`, if there is one.
            verify: Finds out whether an execution in doubt happened; see `ToolSpec`.
            asks_first: Whether it does nothing before it interrupts itself; see `ToolSpec`.
            atomic: Whether it takes one step; see `ToolSpec`.
            fails: Says of a value whether it is an error; see `ToolSpec`.

        Raises:
            ToolDefinitionError: If it cannot be called with named JSON arguments.
        """
        if not callable(fn):
            raise ToolDefinitionError(f"{fn!r} is not a function")
        takes_key = key_argument_of(fn, key_argument)
        read = signature_of(fn, name, takes_key)
        convert = sparing(read.convert, takes_key)

        def run(args: Arguments, _: str | None) -> Any:
            return fn(**convert(args))

        return spec_of(
            cls,
            read.name,
            read.description,
            read.schema,
            run,
            effect=effect,
            on_error=on_error if on_error is not None else marked(fn),
            timeout=timeout,
            is_async=is_async(fn),
            local_times=read.local_times,
            takes_key=takes_key,
            verify=verify,
            asks_first=asks_first,
            atomic=atomic,
            fails=fails,
            home=home_of(fn),
            metadata=metadata_of(fn),
            _origin=Origin(cls.from_function, fn, {"name": name, "key_argument": takes_key}, run),
        )

    @classmethod
    def from_schema(
        cls,
        schema: JsonObject,
        *,
        call: Callable[..., Any] | None = None,
        effect: Effect | None = None,
        on_error: Any | None = None,
        timeout: float | None = None,
        key_argument: str | None = None,
        verify: Verify | None = None,
        asks_first: bool | None = None,
        atomic: bool = False,
        fails: Callable[[Any], bool] | None = None,
    ) -> ToolSpec:
        """A tool from what a model is sent, and something to call.

        Args:
            schema: A tool as OpenAI, Anthropic, Gemini, Bedrock or MCP write it: `{"function":
                {…}}`, or a name, a description and `parameters`, `input_schema` or `inputSchema`.
            call: Called as `call(**args)`, sync or async. None for a tool that is never run: its
                calls can be checked and mended.
            effect: What calling it does to the world; None if unknown. Nothing in the schema is
                taken for it.
            on_error: What to do about its errors.
            timeout: Seconds until `TimeoutError`.
            key_argument: What the idempotency key is passed as; None: it is not passed.
            verify: Finds out whether an execution in doubt happened; see `ToolSpec`.
            asks_first: Whether it does nothing before it interrupts itself; see `ToolSpec`.
            atomic: Whether it takes one step; see `ToolSpec`.
            fails: Says of a value whether it is an error; see `ToolSpec`.

        Raises:
            ToolDefinitionError: If the schema cannot be used.
        """
        name, description, parameters = schema_parts(schema)
        if call is not None and not callable(call):
            raise ToolDefinitionError(f"tool {name!r}: call must be callable, not {call!r}")

        def run(args: Arguments, _: str | None) -> Any:
            if call is None:
                raise GraphSetupError(
                    f"tool {name!r} has nothing to call: give from_schema a call=…"
                )
            return call(**args)

        return spec_of(
            cls,
            name,
            description,
            parameters,
            run,
            effect=effect,
            on_error=on_error,
            timeout=timeout,
            is_async=call is not None and is_async(call),
            takes_key=key_argument,
            verify=verify,
            asks_first=asks_first,
            atomic=atomic,
            fails=fails,
            home=home_of(call),
            metadata={},
            _origin=Origin(cls.from_schema, schema, {"call": call}, run),
        )

    @classmethod
    def from_langchain(
        cls,
        tool: Any,
        *,
        effect: Effect | None = None,
        on_error: Any | None = None,
        timeout: float | None = None,
        verify: Verify | None = None,
        asks_first: bool | None = None,
        atomic: bool = False,
        fails: Callable[[Any], bool] | None = None,
    ) -> ToolSpec:
        """A tool that calls a LangChain tool through its own `invoke` and `ainvoke`.

        Its callbacks, injected arguments and artifacts work as ever. The value is what the tool
        returned, or `{"content": …, "artifact": …}` where it has an artifact. Where LangChain
        insists on a message (an injected tool call id, `handle_tool_error`,
        `handle_validation_error`, `content_and_artifact`) the value is the message's content, and
        LangChain turns what is not text into JSON text. An argument named
        `idempotency_key` gets the idempotency key, and is seen by no model.

        Args:
            tool: A `BaseTool`.
            effect: What calling it does to the world; by default `tool.metadata["effect"]`, as
                `atomic` and `verify` by the keys of those names, unless the metadata are an MCP
                server's annotations: what a server claims counts only where it is trusted, see
                `selfcorrect.integrations.mcp`.
            on_error: What to do about its errors.
            timeout: Seconds until `TimeoutError`.
            verify: Finds out whether an execution in doubt happened; see `ToolSpec`.
            asks_first: Whether it does nothing before it interrupts itself; see `ToolSpec`.
            atomic: Whether it takes one step; see `ToolSpec`.
            fails: Says of a value whether it is an error; see `ToolSpec`.

        Raises:
            ToolDefinitionError: If it is not such a tool, or its schema or effect is unusable.
        """
        from selfcorrect.tools.langchain import adapted, is_async_only

        found = adapted(tool)
        return spec_of(
            cls,
            tool.name,
            tool.description,
            found.schema,
            found.run,
            arun=found.arun,
            effect=effect,
            on_error=on_error if on_error is not None else marked_inside(tool),
            timeout=timeout,
            is_async=is_async_only(tool),
            # pydantic reads the arguments, and takes times without an offset
            local_times=not isinstance(tool.args_schema, dict),
            takes_key=KEY_ARGUMENT if found.takes_key else None,
            verify=verify,
            asks_first=asks_first,
            atomic=atomic,
            fails=fails,
            home=home_of(tool),
            metadata=metadata_of(tool),
            _origin=Origin(cls.from_langchain, tool, {}, found.run),
        ).hiding_key()
