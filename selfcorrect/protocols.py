"""What a strategy sees, and what can be swapped: a node, a ledger, a clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from selfcorrect.effects.again import Record, Verdict
from selfcorrect.errors import LimitReachedError
from selfcorrect.limits import Spending
from selfcorrect.model import JSON, OWN, Call, Diagnosis, JsonObject, acts, frozen
from selfcorrect.models.port import ModelPort
from selfcorrect.names.letters import same_words
from selfcorrect.schema.place import Place

if TYPE_CHECKING:
    from selfcorrect.tools.spec import ToolSpec


@frozen
class RepairContext:
    """What a strategy sees beside the call and its diagnosis.

    Attributes:
        schema: The schema of the tool's arguments; empty for an unknown tool.
        tools: The tools that are offered, by name.
        effect: The effect of the tool; empty for an unknown tool.
        request: What the user asked for.
        messages: The conversation, if the host passed it.
        finish_reason: Why the model stopped writing, if the host knows.
        reading: How far a text may deviate from a call: `whole`, `edge` or `off`.
        index: Which of several calls of a text is meant, from 0; None: it must be the only one.
        attempts: Executions so far.
        model: Asks the model; None where there is none.
        error: The exception that the tool raised, if it ran; `RemoteError` after a resume.
        read: Returns the calls of a text, as `selfcorrect.reading.choose.read_text` does; None
            outside a run.
        must_call: Whether the model was made to call a tool, so that its text means a call.
        spending: What calls of models cost in this run, and may cost.
    """

    schema: JsonObject = field(default_factory=dict)
    tools: "Mapping[str, ToolSpec]" = field(default_factory=dict)
    effect: str = ""
    request: str | None = None
    messages: Sequence[JSON] = ()
    finish_reason: str | None = None
    reading: Literal["whole", "edge", "off"] = "whole"
    index: int | None = None
    attempts: int = 0
    model: ModelPort | None = None
    error: BaseException | None = None
    read: Any = None
    must_call: bool = False
    spending: Spending = field(default_factory=Spending)

    def port_of(self, model: Any) -> ModelPort:
        """Return the way to a model of the strategy's own; what it costs is counted too."""
        return ModelPort(model, self.spending)

    def may_pay(self) -> bool:
        """Say whether the run may pay for one more call of a model."""
        try:
            self.spending.check()
        except LimitReachedError:
            return False
        return True

    def trust(self, diagnosis: Diagnosis) -> Diagnosis:
        """Return what may make a value: an error's words only for tools that read."""
        if not acts(self.effect) or not OWN.isdisjoint(diagnosis.types):
            return diagnosis
        return replace(diagnosis, text="", constraint={}, captures={})

    def place(self, call: Call) -> Place:
        """Return the place of the arguments of a call."""
        tool = self.tools.get(call.name)
        return tool.arguments if tool else Place.of(self.schema)


Node = Callable[[Any, Any], Any]
"""`(state, context) -> update`, sync or async; see `CorrectionState` and `RunContext`."""


def tools_named(name: str, tools: "Mapping[str, ToolSpec]") -> "list[ToolSpec]":
    """Return the tools that have a name, whatever its case and separators."""
    return [tool for own, tool in tools.items() if name == own or same_words(name, own)]


@runtime_checkable
class ChatModel(Protocol):
    """What is needed of a chat model: LangChain's have it, and what is used like one."""

    def invoke(self, input: Any, /) -> Any:  # noqa: A002
        """Answer a list of messages."""
        ...


@runtime_checkable
class Ledger(Protocol):
    """Remembers calls of tools that act. Every method is atomic, and durable when it returns.

    Attributes:
        blocks: Whether a method may wait for a disk or a network.
    """

    blocks: bool

    def begin(self, intent: Record, decide: Callable[[Sequence[Record]], Verdict]) -> Verdict:
        """Ask `decide` about what is known of the intent's keys; write the intent if it may run.

        Nobody else may begin a call with one of these keys meanwhile.
        """
        ...

    def settle(self, key: str, status: str, value: JSON = None, by: str | None = None) -> None:
        """Write what became of a call that was begun; `by` names the person who found out."""

    def records(self, *, doubts: bool = False) -> list[Record]:
        """Return what is remembered, oldest first; with `doubts` only what may have been done."""
        ...


class Clock(Protocol):
    """Tells time and waits."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Wait in sync code."""

    async def asleep(self, seconds: float, /) -> None:
        """Wait in async code."""
