"""One turn of an agent's model: what is sent, what is kept in the history, what is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from selfcorrect.errors import MissingExtra
from selfcorrect.integrations.chat import OURS, last_person, refusal, rewritten
from selfcorrect.integrations.mending import Conversation, Mended
from selfcorrect.integrations.toolbox import Toolbox
from selfcorrect.loop.context import RunContext
from selfcorrect.model import JSON
from selfcorrect.policies.empty_responses import PLACEHOLDER

try:
    from langchain.agents.middleware.types import (
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
    )
except ImportError as error:
    raise MissingExtra("agent", "SelfCorrection") from error


@dataclass(frozen=True, slots=True)
class Counters:
    """What is counted in one run of an agent: since the last message of the user.

    Attributes:
        run: The id of that message.
        misses: Messages in a row with calls of which none could be made.
        unknown: Messages in a row with a call of a tool that does not exist, and no other name.
        failed: Messages in a row of whose calls none succeeded.
        blank: Empty messages in a row.
        unread: Texts that seemed to hold a call and could not be read.
        held: Calls of the last message that wait for the answers of its other calls.
        spent: What the run has spent of its budget.
    """

    run: str = ""
    misses: int = 0
    unknown: int = 0
    failed: int = 0
    blank: int = 0
    unread: int = 0
    held: Mapping[str, Any] = field(default_factory=dict)
    spent: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, state: Mapping[str, Any], messages: Sequence[BaseMessage]) -> Counters:
        """The counters in an agent's state; those of an earlier run do not count."""
        place = last_person(messages)
        run = "" if place < 0 else messages[place].id or ""
        stored = state.get(OURS)
        if not isinstance(stored, Mapping) or stored.get("run") != run:
            return cls(run)
        return cls(**{name: stored[name] for name in cls.__dataclass_fields__ if name in stored})

    def as_state(self) -> dict[str, JSON]:
        """The counters as plain JSON."""
        return asdict(self)


@dataclass(slots=True)
class Turn:
    """What one turn has come to so far.

    Attributes:
        request: What the agent asks its model.
        box: The tools that are offered.
        context: The context of the checking loop.
        stored: The counters as the agent's state has them.
        has_checkpointer: Whether a question could outlive the node that asks it.
        thread: The conversation's id.
        counters: The counters now.
        messages: The history as it is sent.
        kept: Messages of this turn that stay in the history before its last one.
        renewed: Messages of the history that have changed.
        missed: The calls of the last message that could not be made.
        is_new: Whether the model was not asked yet.
    """

    request: ModelRequest[Any]
    box: Toolbox
    context: RunContext
    stored: Counters
    has_checkpointer: bool
    thread: str
    counters: Counters = field(init=False)
    messages: list[Any] = field(init=False)
    kept: list[Any] = field(default_factory=list)
    renewed: list[Any] = field(default_factory=list)
    missed: list[Mended] = field(default_factory=list)
    is_new: bool = True

    def __post_init__(self) -> None:
        self.counters = self.stored
        self.messages = list(self.request.messages)
        self._count_failures()
        self._attach_held()

    @property
    def conversation(self) -> Conversation:
        """What was said before, the messages that are sent once only left out."""
        told = _settings(self.request)
        choice = getattr(self.request, "tool_choice", None) or told.get("tool_choice")
        messages = [*self.request.messages, *self.kept]
        return Conversation(messages, choice, told.get("response_format"))

    @property
    def run(self) -> str:
        """What tells this run of the agent from every other."""
        return f"{self.thread}|{self.counters.run}"

    @property
    def answers(self) -> list[ToolMessage]:
        """What the tools have answered since the last turn, the last one first."""
        found: list[ToolMessage] = []
        for message in reversed(self.request.messages):
            if not isinstance(message, ToolMessage):
                break
            found.append(message)
        return found

    def count(self, **counters: Any) -> None:
        """Set some of the counters."""
        self.counters = replace(self.counters, **counters)

    def asked(self) -> Any:
        """The request with everything that this turn added to it."""
        changes: dict[str, Any] = {}
        if self.box.shown:
            changes["tools"] = self.box.for_model(self.request.tools)
        if self.renewed or len(self.messages) != len(self.request.messages):
            changes["messages"] = list(self.messages)
        return self.request.override(**changes) if changes else self.request

    def response(self, response: ModelResponse[Any]) -> Any:
        """What the agent is given: the response, with what changes in the agent's state."""
        if not self.kept and not self.renewed and self.counters == self.stored:
            return response
        whole = ModelResponse([*self.kept, *response.result], response.structured_response)
        update: dict[str, Any] = {OURS: self.counters.as_state()}
        if self.renewed:
            update["messages"] = self.renewed
        return ExtendedModelResponse(whole, Command(update=update))

    def ask_for_an_answer(self, message: AIMessage, feedback: str) -> None:
        """Send something in the empty message's place, since providers refuse that, and why."""
        self.messages += [AIMessage(PLACEHOLDER, id=message.id), HumanMessage(feedback)]

    def keep(self, messages: Sequence[Any]) -> None:
        """Send these messages from now on, and keep them in the history."""
        self.kept += messages
        self.messages += messages

    def hold(self, message: AIMessage, calls: Sequence[Mended]) -> None:
        """Keep calls back until their siblings are answered.

        A call that cannot be made is in nobody's way meanwhile: nobody approves or counts it.
        """
        held = {
            "message": message.id,
            "content": message.content if isinstance(message.content, list) else None,
            "kwargs": dict(message.additional_kwargs),
            "calls": [
                {
                    "call": call.call,
                    "given": call.written.given_id,
                    "text": call.text,
                    "note": dict(call.note or {}),
                    "is_answer": call.is_answer,
                }
                for call in calls
            ],
        }
        self.count(held=held)

    def _count_failures(self) -> None:
        if answers := self.answers:
            has_failed = all(answer.status == "error" for answer in answers)
            self.count(failed=self.counters.failed + 1 if has_failed else 0)

    def _attach_held(self) -> None:
        """Put the calls that were kept back where they belong, with their answers."""
        held = self.counters.held
        if not held:
            return
        self.count(held={})
        place = len(self.messages) - len(self.answers) - 1
        message = self.messages[place] if place >= 0 else None
        if not isinstance(message, AIMessage) or message.id != held["message"]:
            return
        names = ("name", "args", "id")
        made: Sequence[Mapping[str, Any]] = message.tool_calls
        own = [(call["id"], {name: call[name] for name in names}) for call in made]
        back = [(item["given"], item["call"]) for item in held["calls"]]
        whole = message.model_copy(update={"additional_kwargs": held["kwargs"]})
        new = rewritten(whole, [*own, *back], content=held["content"])
        self.messages[place] = new
        self.renewed.append(new)
        self.keep([_answer(**item) for item in held["calls"]])


def _settings(request: ModelRequest[Any]) -> Mapping[str, Any]:
    """What goes to the provider beside the messages: by the model, bound to it, by the request."""
    model, own = request.model, getattr(request, "model_settings", None)
    each = (getattr(model, "model_kwargs", None), getattr(model, "kwargs", None), own)
    return {key: value for one in each if isinstance(one, Mapping) for key, value in one.items()}


def answer_to(call: Mended) -> ToolMessage:
    """The one answer to a call that is not made."""
    return _answer(call.call, call.text, call.note or {}, is_answer=call.is_answer)


def _answer(
    call: Mapping[str, Any], text: str, note: Mapping[str, Any], *, is_answer: bool, **_: Any
) -> ToolMessage:
    if is_answer:
        return ToolMessage(text, tool_call_id=call["id"], name=call["name"])
    return refusal(call, text, note)


def with_calls(message: AIMessage, calls: Sequence[Mended], content: Any = None) -> AIMessage:
    """A message that makes these calls, noting what was mended."""
    notes = {call.call["id"]: dict(call.note) for call in calls if call.note and call.is_ready}
    if message.id is None:
        message = message.model_copy(update={"id": f"selfcorrect-{uuid4()}"})
    pairs = [(call.written.given_id, call.call) for call in calls]
    return rewritten(message, pairs, content=content, told={"calls": notes} if notes else None)


def response_of(messages: Sequence[BaseMessage], structured: Any = None) -> ModelResponse[Any]:
    """The messages as what a model answered."""
    return ModelResponse([*messages], structured)


def message_of(value: Any) -> AIMessage:
    """What `RespondWith` holds, as the model's answer.

    Raises:
        TypeError: If it is neither a message nor text.
    """
    if isinstance(value, AIMessage):
        return value
    if isinstance(value, str):
        return AIMessage(value)
    wanted = "on_model_error: an agent answers with an AIMessage or text"
    raise TypeError(f"{wanted}, not {type(value).__name__}")


def as_response(response: Any) -> ModelResponse[Any]:
    """What a handler answered, in the form that they have in common."""
    if isinstance(response, AIMessage):
        return ModelResponse([response])
    if isinstance(response, ExtendedModelResponse):
        return response.model_response
    found: ModelResponse[Any] = response
    return found


def replaced(response: ModelResponse[Any], place: int, message: AIMessage) -> ModelResponse[Any]:
    """The response with another message at a place."""
    result = [*response.result[:place], message, *response.result[place + 1 :]]
    return ModelResponse(result, response.structured_response)


def last_ai(messages: Sequence[BaseMessage]) -> tuple[int, AIMessage | None]:
    """The last message of the model, and its place; -1 and None where there is none."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AIMessage):
            return place, message
    return -1, None


def settled_in(messages: Sequence[BaseMessage], response_format: Any) -> frozenset[str]:
    """What is no call of a tool: ids that are answered already, names of structured answers."""
    ids = {each.tool_call_id for each in messages if isinstance(each, ToolMessage)}
    specs = getattr(response_format, "schema_specs", None) or ()
    names = {str(spec.name) for spec in specs}
    schema = getattr(response_format, "schema", None)
    if isinstance(name := getattr(schema, "__name__", None), str):
        names.add(name)
    return frozenset({*ids, *names})
