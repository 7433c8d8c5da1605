"""One tool call on its way through the loop, where LangChain's own handler runs the tool."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from inspect import iscoroutinefunction
from json import dumps
from typing import Any, Final, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import interrupt
from pydantic import ValidationError

from selfcorrect.agents.answers import chain_of, error_of, own_message, value_in
from selfcorrect.agents.tool_copy import LISTENER, copy_tool
from selfcorrect.errors import ArgumentsError, CorrectionFailed, EscalationError, ToolReportedError
from selfcorrect.model import JSON, JsonDict, JsonObject
from selfcorrect.report import FailureReport
from selfcorrect.setup import Loop, Options, build_loop
from selfcorrect.tools.run import plain
from selfcorrect.tools.spec import ToolOptions, ToolSpec, collect_tools, metadata_of

_MAX_TOOL_SETS: Final = 64
_CHECKPOINTER: Final = "__pregel_checkpointer"
_DECLARED: Final = ("effect", "atomic", "verify", "receipt", "fails", "timeout")
"""What a function's dict `metadata` may say of its tool."""


@dataclass(eq=False, slots=True)
class ToolRun:
    """One call: what the loop is given, and what LangChain answered.

    Attributes:
        request: The call as the model wrote it.
        handler: LangChain's own, which runs the tool.
        loop: The loop with the tools of the agent.
        given: The input of the loop.
        words: What the model reads where its name means no tool, or None.
        out: What the loop came to.
        made: The call as the tool got it last, or None.
        errors: What the tool's own code raised in the last execution; a handler may call it often.
    """

    request: ToolCallRequest
    handler: Callable[[ToolCallRequest], Any]
    loop: Loop
    given: JsonObject
    words: str | None
    out: JsonDict = field(default_factory=dict)
    made: ToolCall | None = None
    errors: list[BaseException] = field(default_factory=list)
    _answer: Any = None
    _value: JSON = None
    _returned: tuple[Any, ...] = ()

    @contextmanager
    def hosted(self) -> Iterator[None]:
        """Let the tools of the loop run by this call's handler.

        A failure that is raised, but is the model's to read, becomes the output.
        """
        token = LISTENER.set(self)
        try:
            yield
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
            text = (
                value if isinstance(value, str) else dumps(value, ensure_ascii=False, default=str)
            )
        elif text is None or failure.get("tool") in self.loop.context.tools:
            # The policy's words are about a name that no tool has.
            text = failure["for_model"]
        status = "error" if failure else "success"
        name, call_id = call["name"], call["id"]
        return ToolMessage(text, name=name, tool_call_id=call_id, status=status, artifact=failure)

    def record(self) -> JsonDict:
        """Return what became of the call, for a listener."""
        call, trail = self.request.tool_call, self.out["trail"]
        return {
            "tool_call_id": call["id"],
            "call": {"name": call["name"], "args": call["args"]},
            "executed": any("did" in event for event in trail),
            "trail": trail,
            **{key: item for key, item in self.out.items() if key == "failure"},
        }

    def start(self, tool: BaseTool, args: JsonDict) -> Any:
        """Run LangChain's handler with the call as it stands now; return what it returns."""
        self._answer, self._returned, self.errors = None, (), []
        self.made = {**self.request.tool_call, "name": tool.name, "args": args}
        # The tool may change its arguments; what was made stays as it was made.
        own: ToolCall = {**self.made, "args": deepcopy(args)}
        return self.handler(self.request.override(tool_call=own, tool=tool))

    def take(self, answer: Any, *, acts: bool) -> JSON:
        """Keep what the handler answered; return the tool's own value, as the loop reads it.

        Args:
            answer: What the handler answered.
            acts: Whether the tool acts; then no answer of a handler hides what its code raised.

        Raises:
            ToolReportedError: If it is the message of an error.
        """
        message = own_message(answer, self.request.tool_call["id"])
        if message is not None and message is answer:
            is_hidden = acts and bool(self.errors) and not self._returned
            if message.status == "error" or is_hidden:
                raise error_of(message, self.errors)
        self._answer = answer
        own = self._returned[0] if self._returned else message
        is_message = own is message or own_message(own, self.request.tool_call["id"]) is not None
        self._value = value_in(message) if is_message else plain(own)
        return self._value

    def note_value(self, value: Any) -> None:
        """Take note of what the tool's own code returned."""
        is_pair = getattr(self.request.tool, "response_format", "") == "content_and_artifact"
        self._returned = (value[0] if is_pair and isinstance(value, tuple) and value else value,)

    def note_error(self, error: BaseException) -> None:
        """Take note of what the tool's own code raised."""
        self.errors.append(error)


class HostedLoops:
    """Gives one loop the tools of whatever agent asks; built once for each set of tools.

    Args:
        options: See `Options`.
        ask_person: Whether a question interrupts the agent, where a checkpointer is there.
        on_trail: Called after each call; see `AgentOptions`.
    """

    def __init__(
        self,
        options: Options,
        *,
        ask_person: bool,
        on_trail: Callable[[JsonDict], object] | None,
    ) -> None:
        self._loop = build_loop((), options)
        self._ask_person = ask_person
        self.on_trail = on_trail
        # What is kept holds its tools, so that no other tool can get one of their ids.
        self._kept: dict[tuple[int, ...], tuple[Sequence[BaseTool], Loop]] = {}

    def loop_for(self, request: ToolCallRequest, *, is_async: bool) -> Loop:
        """Return the loop for one call.

        Args:
            request: The call; its runtime names the tools of the agent.
            is_async: Whether the handler is async.
        """
        loop = self.loop_with(_tools_of(request), is_async=is_async)
        config = request.runtime.config.get("configurable") or {}
        if not self._ask_person or config.get(_CHECKPOINTER) is None:
            return loop
        ask = _asker(request.tool_call["id"])
        return replace(loop, context=replace(loop.context, ask=ask))

    def loop_with(self, tools: Sequence[BaseTool], *, is_async: bool = False) -> Loop:
        """Return the loop with these tools."""
        key = (is_async, *map(id, tools))
        if (kept := self._kept.get(key)) is None:
            if len(self._kept) >= _MAX_TOOL_SETS:
                self._kept.clear()
            kept = self._kept[key] = (tools, self._with_tools(tools, is_async=is_async))
        return kept[1]

    def _with_tools(self, tools: Sequence[BaseTool], *, is_async: bool) -> Loop:
        context = self._loop.context
        specs = [_spec_of(tool, is_async=is_async) for tool in tools]
        found = collect_tools(specs, context.map.effects)
        return replace(self._loop, context=replace(context, tools=found))


def _asker(call_id: str | None) -> Callable[[JSON], Any]:
    """Return what asks a person about one call.

    LangGraph runs the call again from its top when the answer is there, so the id that a question
    has in the loop does not last.
    """

    def ask(question: JsonObject) -> Any:
        about = (call_id, question["executions"], question["path"], question["question"])
        lasting = sha256(repr(about).encode("utf-8", "replace")).hexdigest()[:12]
        answer = interrupt({**question, "id": lasting})
        if isinstance(answer, Mapping) and answer.get("question") == lasting:
            return {**answer, "question": question["id"]}
        return answer

    return ask


def _tools_of(request: ToolCallRequest) -> list[BaseTool]:
    tools, own = request.runtime.tools, request.tool
    if own is None or any(each is own for each in tools):
        return tools
    # Another middleware has brought a tool of its own.
    return [*(each for each in tools if each.name != own.name), own]


def _spec_of(tool: BaseTool, *, is_async: bool) -> ToolSpec:
    """Return a tool as the loop takes it: its schema as the model saw it, run by LangChain."""
    schema, copy = tool.tool_call_schema, copy_tool(tool)
    spec = ToolSpec.from_langchain(tool, **_declared(tool))

    def call(**args: Any) -> Any:
        _validate(schema, args)
        with _current() as run:
            return run.take(run.start(copy, args), acts=spec.acts)

    async def acall(**args: Any) -> Any:
        _validate(schema, args)
        with _current() as run:
            return run.take(await run.start(copy, args), acts=spec.acts)

    # A tool that is only async is refused by the loop where the agent is sync.
    is_coroutine = is_async or iscoroutinefunction(spec.call)
    return replace(spec, call=acall if is_coroutine else call)


@contextmanager
def _current() -> Iterator[ToolRun]:
    """Give the run of the present call; what a handler's earlier tries raised stays a cause."""
    run = cast("ToolRun", LISTENER.get())
    try:
        yield run
    except ToolReportedError:
        raise
    except Exception as error:
        chain_of([*(each for each in run.errors if each is not error), error])
        raise


def _validate(schema: Any, args: JsonDict) -> None:
    """Refuse, before the tool is called, what its own types refuse.

    LangChain would answer with a message that does not show whether the tool ran.
    """
    try:
        if hasattr(schema, "model_validate"):
            schema.model_validate(deepcopy(args))
    except ValidationError as error:
        raise ArgumentsError(f"the arguments do not fit the tool: {error}") from error


def _declared(tool: BaseTool) -> ToolOptions:
    """Return what the function behind a tool declares, with the tool's own metadata over it."""
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    said = {**metadata_of(function), **metadata_of(tool)}
    return cast("ToolOptions", {key: said[key] for key in _DECLARED if key in said})
