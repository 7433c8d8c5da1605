"""One tool call on its way through the loop, where LangChain's own handler runs the tool."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from inspect import iscoroutinefunction
from itertools import chain
from typing import Any, TypeAlias, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.prebuilt.tool_node import ToolCallRequest

from selfcorrect.context import run_sync
from selfcorrect.effects.failure import ending_of
from selfcorrect.errors import (
    CorrectionFailed,
    EscalationError,
    NotDone,
)
from selfcorrect.graph import CHECKPOINTER
from selfcorrect.langchain.thread import chain_of, error_of, own_message, text_in, value_in
from selfcorrect.model import JSON, JsonDict, JsonObject
from selfcorrect.models.port import value_of
from selfcorrect.nodes.execute import EXECUTION, change
from selfcorrect.report import FailureReport
from selfcorrect.step import Loop
from selfcorrect.tools.run import plain
from selfcorrect.tools.spec import ToolSpec
from selfcorrect.walk import walk_hosted

LISTENER: ContextVar["ToolRun | None"] = ContextVar("selfcorrect_listener", default=None)
"""The call that is being made: it takes note of what its tool's code comes to."""


def copy_tool(tool: BaseTool) -> BaseTool:
    """Return a tool that shares everything with another one, and tells the listener."""
    copy = object.__new__(_listening(type(tool)))
    # The same fields, not equal ones: a tool may count its calls in itself.
    for name in BaseTool.__slots__:
        object.__setattr__(copy, name, getattr(tool, name))
    return copy


@lru_cache(maxsize=256)
def _listening(kind: type[BaseTool]) -> type[BaseTool]:
    """Return the class whose tools tell the listener."""
    inner, ainner = kind._run, kind._arun  # noqa: SLF001 -- what LangChain has a tool define

    # LangChain looks at the signature: some tools take its config.
    @wraps(inner)
    def run(*args: Any, **options: Any) -> Any:
        with _noted() as values:
            values.append(inner(*args, **options))
        return values[0]

    @wraps(ainner)
    async def arun(*args: Any, **options: Any) -> Any:
        with _noted() as values:
            values.append(await ainner(*args, **options))
        return values[0]

    body = {"_run": run, "_arun": arun, "run": _announced(kind.run), "arun": _announced(kind.arun)}
    body |= {"__module__": kind.__module__, "__doc__": kind.__doc__}
    metaclass: Any = type(kind)
    made: type[BaseTool] = metaclass(kind.__name__, (kind,), body)
    return made


@contextmanager
def _noted() -> Iterator[list[Any]]:
    """Have the present call take note of the value that is put into the list, or of the error."""
    call, values = LISTENER.get(), list[Any]()
    try:
        yield values
    except BaseException as error:
        if call is not None:
            call.errors.append(error)
        raise
    if call is not None:
        call.note_value(values[0])


def _announced(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool's method that tells the present call its arguments before it begins."""

    def run(self: Any, tool_input: Any, *args: Any, **options: Any) -> Any:
        if (call := LISTENER.get()) is not None:
            call.note_call(tool_input)
        return method(self, tool_input, *args, **options)

    return run


Handler: TypeAlias = Callable[[ToolCallRequest], Any]
"""LangChain's own way to run a tool; in async code it gives an awaitable."""


@dataclass(eq=False, slots=True)
class ToolRun:
    """One call: what the loop is given, and what LangChain answered.

    Attributes:
        request: The call as it came to the tools.
        handler: LangChain's own, which runs the tool.
        loop: The loop with the tools of the agent.
        graph: The same as a graph that asks persons, or None.
        given: The input of the loop.
        words: What the model reads where its name means no tool, or None.
        out: What the loop came to.
        made: The call as the tool got it last, or None.
        errors: What the tool's own code raised in the last execution; a handler may call it often.
        shown: The call as others have seen it: a tool that acts runs with nothing else.
        is_approved: Whether a person has answered for the call as it stands now.
    """

    request: ToolCallRequest
    handler: Handler
    loop: Loop
    graph: Any
    given: JsonObject
    words: str | None
    out: JsonDict = field(default_factory=dict)
    made: ToolCall | None = None
    errors: list[BaseException] = field(default_factory=list)
    shown: JsonObject | None = None
    is_approved: bool = False
    _answer: Any = None
    _value: JSON = None
    _returned: tuple[Any, ...] = ()

    async def walk(self) -> None:
        """Run the loop, in which this call's handler runs the tools.

        A failure that is raised, but is the model's to read, becomes the output.
        """
        config = self.request.runtime.config
        token = LISTENER.set(self)
        try:
            if self.graph is None or (config.get("configurable") or {}).get(CHECKPOINTER) is None:
                self.out = await walk_hosted(self.loop, self.given)
            else:
                is_async = self.loop.context.is_async
                invoke = self.graph.ainvoke if is_async else self.graph.invoke
                self.out = await value_of(invoke(self.given, config))
        except CorrectionFailed as error:
            report = cast("FailureReport", error.report)
            # What the model did wrong before any tool ran, the model is told; so is an escalation.
            has_ended = bool(report.attempts) or report.reason == "terminal_kind"
            if has_ended and not isinstance(error, EscalationError):
                raise
            self.out = {"failure": report.to_json(), "trail": []}
        finally:
            LISTENER.reset(token)

    def answer(self) -> Any:
        """Return what LangChain is answered: the tool's own message where its call succeeded."""
        call, failure, text = self.request.tool_call, self.out.get("failure"), self.words
        if failure is None:
            value = self.out["result"]
            if self._answer is not None and value == self._value:
                return self._answer
            for kept in filter(None, (each.get("answer") for each in self.out["trail"])):
                return _SERIALIZER.loads_typed((kept["kind"], b64decode(kept["data"])))
            text = text_in(value)
        elif text is None or failure.get("tool") in self.loop.context.tools:
            # The policy's words are about a name that no tool has.
            text = failure["for_model"]
        status = "error" if failure else "success"
        name, call_id = call["name"], call["id"]
        return ToolMessage(text, name=name, tool_call_id=call_id, status=status, artifact=failure)

    @property
    def mended(self) -> JsonDict:
        """What the turn of the model has repaired; empty where it has repaired nothing."""
        return self.given.get("mended") or {}

    @property
    def written(self) -> JsonDict:
        """The call as the model wrote it."""
        call = self.request.tool_call
        return self.mended.get("original") or {"name": call["name"], "args": call["args"]}

    @property
    def changes(self) -> list[JsonDict]:
        """What was changed, before others saw the call and behind them."""
        made = (event.get("changes", ()) for event in self.out["trail"])
        return [*self.mended.get("changes", ()), *chain.from_iterable(made)]

    def record(self) -> JsonDict:
        """Return what became of the call, for a listener."""
        call, trail = {**self.request.tool_call, **self.written}, self.out["trail"]
        if trail and self.mended:
            trail = [{**trail[0], "changes": self.mended["changes"]}, *trail[1:]]
        return {
            "tool_call_id": self.request.tool_call["id"],
            "call": {"name": call["name"], "args": call["args"]},
            "executed": any("did" in event for event in trail),
            "trail": trail,
            **{key: item for key, item in self.out.items() if key == "failure"},
        }

    async def make(self, tool: BaseTool, args: JsonDict) -> JSON:
        """Run LangChain's handler with the call as it stands now; return the tool's own value.

        Raises:
            ToolReportedError: If the handler answers with the message of an error.
            Exception: What the handler raises; what its earlier tries raised stays a cause.
        """
        self._answer, self._returned, self.errors = None, (), []
        # The tool may change its arguments; what was made stays as it was made.
        made = deepcopy(self.loop.context.tools[tool.name].strip(args))
        self.made = {**self.request.tool_call, "name": tool.name, "args": made}
        own: ToolCall = {**self.made, "args": args}
        try:
            answer = await value_of(self.handler(self.request.override(tool_call=own, tool=tool)))
        except Exception as error:
            gravest = chain_of([*(each for each in self.errors if each is not error), error])
            if gravest is error or gravest is None:
                raise
            raise gravest from error
        return self._read(answer, acts=self.loop.context.tools[tool.name].acts)

    def _read(self, answer: Any, *, acts: bool) -> JSON:
        """Keep what the handler answered; return the tool's own value, as the loop reads it."""
        message = own_message(answer, self.request.tool_call["id"])
        if message is not None and message is answer:
            # Of a tool that acts, no answer of a handler hides what its code raised.
            is_hidden = acts and bool(self.errors) and not self._returned
            if message.status == "error" or is_hidden:
                raise error_of(message, self.errors)
        self._answer = answer
        own = self._returned[0] if self._returned else message
        is_message = own is message or own_message(own, self.request.tool_call["id"]) is not None
        self._value = value_in(message) if is_message else plain(own)
        return self._value

    def note_call(self, args: Any) -> None:
        """Have the ledger hold what is made, where another middleware has edited the call.

        Raises:
            NotDone: If the edited call may not run.
            BaseException: What an earlier try raised that ends the run, or may have been done.
        """
        execution = EXECUTION.get()
        for error in self.errors:
            # A handler that tries again knows nothing of doubts.
            if ending_of(error) or (execution is not None and not isinstance(error, NotDone)):
                raise error
        if execution is None or self.made is None or not isinstance(args, dict):
            return
        # What LangChain injects is no argument.
        known = {
            *self.loop.context.tools[self.made["name"]].arguments.properties,
            *self.made["args"],
        }
        own = {name: item for name, item in args.items() if name in known}
        try:
            if change(execution, own):
                self.made = {**self.made, "args": own}
        except NotDone as error:
            self.errors.append(error)
            raise

    def dump_answer(self) -> JSON:
        """Return the answer as JSON where it is more than a text; else None."""
        answer = self._answer
        is_text = isinstance(answer, ToolMessage) and isinstance(answer.content, str)
        if answer is None or (is_text and answer.artifact is None):
            return None
        kind, data = _SERIALIZER.dumps_typed(answer)
        return {"kind": kind, "data": b64encode(data).decode()}

    def note_value(self, value: Any) -> None:
        """Take note of what the tool's own code returned."""
        is_pair = getattr(self.request.tool, "response_format", "") == "content_and_artifact"
        self._returned = (value[0] if is_pair and isinstance(value, tuple) and value else value,)


_SERIALIZER = JsonPlusSerializer()


def spec_of(tool: BaseTool, *, is_async: bool) -> ToolSpec:
    """Return a tool as the loop takes it: its schema as the model saw it, run by LangChain."""
    copy = copy_tool(tool)
    spec = ToolSpec.from_langchain(tool)
    # LangChain would answer with a message that does not show whether the tool ran.
    check = spec.bind or dict

    async def acall(**args: Any) -> Any:
        check(deepcopy(args))
        return await cast("ToolRun", LISTENER.get()).make(copy, args)

    def call(**args: Any) -> Any:
        return run_sync(acall(**args))

    # A tool that is only async is refused by the loop where the agent is sync.
    is_coroutine = is_async or iscoroutinefunction(spec.call)
    return replace(spec, call=acall if is_coroutine else call)
