"""A model's turn in any framework: its calls are repaired, and those that may not run are told.

The framework's thread shows what is done, failed or lost. From it `may_run` decides which calls of
tools that act may run, as in every other host. A framework may forget a turn in which a tool
raised, so an adapter remembers the last turns, each behind its thread.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias, Unpack
from uuid import uuid4

from selfcorrect.context import RunContext
from selfcorrect.effects import Outcome
from selfcorrect.effects.again import InProgress, Record, Request, Run, may_run
from selfcorrect.effects.equal import digest
from selfcorrect.ledger.memory import MemoryLedger
from selfcorrect.mender import MendedCall, Mender
from selfcorrect.model import JSON, Call, Effect, JsonDict, JsonObject, T, frozen
from selfcorrect.models.port import value_of
from selfcorrect.nodes.call_once import words_of
from selfcorrect.setup import Options
from selfcorrect.strategy_map.strategy_map import StrategyMap
from selfcorrect.threads.history import read_message
from selfcorrect.threads.past_calls import PastCall, past_calls
from selfcorrect.tools.spec import collect_tools

_MOST_ASKS = 3
"""How often a model is asked in one turn."""
_MOST_MENDERS = 64
_MOST_PLACES, _MOST_TURNS = 10_000, 100
_SIBLING = "This call was not made, because another call of the turn may not run. Make it again."
_IN_TEXT = "A call in a text is not made if its tool has side effects. Make it as a tool call."


@frozen
class JudgedCall:
    """A call of a turn.

    Attributes:
        call: The call, repaired; one that may not run, as far as it was read.
        text: What the model reads of a call that may not run; empty for one that may.
    """

    call: Call
    text: str = ""


@frozen
class Turn:
    """The calls of a model's turn, each once.

    Attributes:
        calls: The calls, in order.
        is_changed: Whether they differ from what the model wrote.
        is_text: Whether they stood in its text.
    """

    calls: tuple[JudgedCall, ...]
    is_changed: bool = False
    is_text: bool = False

    @property
    def objection(self) -> str:
        """What the model reads of the calls that may not run; empty if all may."""
        return "\n".join(judged.text for judged in self.calls if judged.text)

    @property
    def ready(self) -> list[Call]:
        """The calls that may run; of several in one text all or none."""
        if self.is_text and self.objection:
            return []
        return [judged.call for judged in self.calls if not judged.text]

    @property
    def answers(self) -> list[tuple[Call, str]]:
        """The answer to each call where the model is asked for another turn."""
        return [(judged.call, judged.text or _SIBLING) for judged in self.calls]


WrittenCall: TypeAlias = tuple[str, Any, str]
"""A call as a model wrote it: its tool, its arguments and its id."""


class Adapter:
    """Judges the turns of models in a framework. Built once, for any thread and any tools.

    Args:
        effects: What tools do, by name or glob; a tool that is not named has side effects.
        **options: Those of `Mender`; strategies and models must be sync.
    """

    def __init__(
        self, effects: Mapping[str, Effect] | None = None, **options: Unpack[Options]
    ) -> None:
        self._effects = StrategyMap(effects=effects).effects
        self._options = options
        self._mender = lru_cache(_MOST_MENDERS)(self._new_mender)
        self._turns: dict[str, list[list[Call]]] = {}
        # An option that cannot be used is refused here.
        self.mender_of([])

    async def complete(
        self,
        ask: Callable[[list[Any]], Any],
        read: Callable[[T], JsonObject],
        reply: Callable[[T, Turn], Iterable[Any]],
        thread: Iterable[JsonObject],
        tools: Iterable[JsonObject],
    ) -> tuple[T, Turn]:
        """Ask a model until every call of its turn may run; return its last response, judged.

        Args:
            ask: Asks the model, with more messages behind its thread; may be async.
            read: Returns the message of a response, in the form of any provider.
            reply: Returns a turn that may not stand, and what the model reads of it, as messages.
            thread: The messages before it, in the form of one provider.
            tools: What is offered: `{"name", "description", "parameters", "effect"?}`.
        """
        past, mender, more, asks = [*thread], self.mender_of(tools), list[Any](), 0
        while True:
            response = await value_of(ask(more))
            turn = self._judge(read(response), past, mender)
            asks += 1
            if not turn.objection or asks == _MOST_ASKS:
                return response, self._keep(turn, past)
            more += reply(response, turn)

    def judge(
        self, message: JsonObject, thread: Sequence[JsonObject], tools: Iterable[JsonObject]
    ) -> Turn:
        """Judge a turn whose model cannot be asked again; `complete` explains the arguments."""
        return self._keep(self._judge(message, thread, self.mender_of(tools)), thread)

    def _judge(self, message: JsonObject, thread: Sequence[JsonObject], mender: Mender) -> Turn:
        mending, context = mender.message(message, messages=thread), mender.context
        is_text, ledger = isinstance(read_message(message), str), self._ledger_of(thread, context)
        verdicts = (
            _judge_call(call, len(thread), context, ledger, is_text=is_text)
            for call in mending.calls
        )
        judged = tuple(filter(None, verdicts))
        is_other = mending.outcome != "valid" or is_text or len(judged) < len(mending.calls)
        is_other = is_other or any(one.text for one in judged)
        return Turn(judged, bool(judged) and is_other, is_text)

    def _keep(self, turn: Turn, thread: Sequence[JsonObject]) -> Turn:
        *_, place = _places(thread)
        if turn.ready and place:
            if len(self._turns) >= _MOST_PLACES:
                del self._turns[next(iter(self._turns))]
            self._turns[place] = [*self._turns.get(place, ())[-_MOST_TURNS:], turn.ready]
        return turn

    def _ledger_of(self, thread: Sequence[JsonObject], context: RunContext) -> MemoryLedger:
        """Return what became of the calls of tools that act."""
        ledger, past = MemoryLedger(), [*past_calls(thread)]
        for one in (*past, *self._lost_calls(thread, past)):
            tool = context.tools.get(one.name)
            if tool is not None and tool.acts and isinstance(one.args, dict):
                intent = _intent_of(Call(one.name, one.args, one.id), one.at, context)
                ledger.begin(intent, lambda _: Run())
                ledger.settle(intent.key, one.outcome)
        return ledger

    def _lost_calls(
        self, thread: Sequence[JsonObject], past: Sequence[PastCall]
    ) -> Iterator[PastCall]:
        """Yield the calls of turns that were handed on in this thread, and do not stand in it."""
        starts = {one.at for one in past}
        for at, place in zip(range(len(thread)), _places(thread), strict=False):
            turns = self._turns.get(place)
            if turns:
                start = _turn_behind(thread, at, starts)
                ids = {one.id for one in past if one.at == start}
                # A turn that stands in its thread is remembered there.
                turns[:] = [turn for turn in turns if ids.isdisjoint(call.id for call in turn)]
                if start is None:
                    for call in chain(*turns):
                        args = dict(call.args)
                        yield PastCall(call.id or "", call.name, args, at, Outcome.LOST, None)

    def mender_of(self, tools: Iterable[JsonObject]) -> Mender:
        """Return a Mender of tools; the same for equal ones."""
        return self._mender(json.dumps([*tools], sort_keys=True, default=str))

    def _new_mender(self, tools: str) -> Mender:
        specs = collect_tools(json.loads(tools), self._effects).values()
        return Mender(specs, **self._options)


@frozen
class Parts:
    """What a turn consists of in a framework: calls, texts, and what is neither.

    Attributes:
        parts_of: Returns the parts of a response.
        call_of: Returns the call that a part is; None if it is none.
        text_of: Returns what a part says; empty if it is no text.
        say: Returns a part that says something.
        write: Returns a part with this call in place of its own.
        blank: A part that is a call, for those that the model wrote in its text.
    """

    parts_of: Callable[[Any], Sequence[Any]]
    call_of: Callable[[Any], WrittenCall | None]
    text_of: Callable[[Any], str]
    say: Callable[[str], Any]
    write: Callable[[Call, Any], Any]
    blank: Any

    def read(self, response: Any) -> JsonDict:
        """Return a response as a message of a chat."""
        parts = self.parts_of(response)
        calls, text = map(self.call_of, parts), "\n".join(filter(None, map(self.text_of, parts)))
        return message_of(text, filter(None, calls), finish_reason=response.finish_reason)

    def rewrite(self, response: Any, turn: Turn) -> list[Any]:
        """Return the parts with the calls that may run, and a text about the others."""
        ready = {call.id: call for call in turn.ready}
        new = []
        for part in self.parts_of(response):
            if written := self.call_of(part):
                call = ready.pop(written[2], None)
                new += [self.write(call, part)] if call else []
            else:
                new.append(part)
        new += [self.say(turn.objection)] if turn.objection else []
        return [*new, *(self.write(call, self.blank) for call in ready.values())]


def tool_of(name: str, description: str | None, parameters: Any, **more: Any) -> JsonDict:
    """Return a tool as `Adapter` takes it."""
    return {"name": name, "description": description or "", "parameters": parameters, **more}


def message_of(text: str, calls: Iterable[WrittenCall], **more: Any) -> JsonDict:
    """Return a model's turn as a message of a chat; it may have more keys, as `finish_reason`."""
    own = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": args}}
        for name, args, call_id in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": own, **more}


def answer_of(call_id: str, value: JSON, status: str = "success") -> JsonDict:
    """Return the answer to a call; its status is `success`, `error`, or `denied` by a gate."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return {"role": "tool", "tool_call_id": call_id, "content": text, "status": status}


def _places(thread: Sequence[JsonObject]) -> Iterator[str]:
    """Yield a name of each beginning of a thread; empty where no user has spoken."""
    place = ""
    yield place
    for message in thread:
        if place or message.get("role") == "user":
            place = digest(place, json.dumps(message, sort_keys=True, default=str))
        yield place


def _turn_behind(thread: Sequence[JsonObject], at: int, starts: Collection[int]) -> int | None:
    """Return where the next calls are, if only the model speaks before them."""
    for place in range(at, len(thread)):
        role = thread[place].get("role", thread[place].get("type"))
        if place in starts or role not in ("assistant", "model", "reasoning"):
            return place if place in starts else None
    return None


def _intent_of(call: Call, at: int, context: RunContext) -> Record:
    state: Any = {"given": {"message_id": at}, "original": None, "run": ""}
    return context.intent_of(state, call)


def _judge_call(
    written: MendedCall, at: int, context: RunContext, ledger: MemoryLedger, *, is_text: bool
) -> JudgedCall | None:
    """Judge a call; None for one that stands in its turn already."""
    if written.args is None:
        return JudgedCall(Call(written.name, {}, written.id), written.for_model)
    call = Call(written.name, written.args, written.id or f"call_{uuid4().hex[:24]}")
    tool = context.tools[call.name]
    if not tool.acts:
        return JudgedCall(call)
    if is_text:
        # It may be a quotation.
        return JudgedCall(call, _IN_TEXT)
    intent = _intent_of(call, at, context)
    request = Request(intent.key, intent.doubt, equal=context.limits.equal)
    verdict = ledger.begin(intent, lambda history: may_run(history, tool.effect, (), request))
    if isinstance(verdict, InProgress):
        return None
    return JudgedCall(call, "" if isinstance(verdict, Run) else words_of(verdict))
