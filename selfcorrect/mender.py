"""`Mender` and `repair_call`: repair calls without executing them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, field, replace
from typing import Any, Unpack

from selfcorrect.context import RunContext
from selfcorrect.errors import refuse_unknown
from selfcorrect.limits import cost_of
from selfcorrect.model import JSON, Call, Change, JsonDict, JsonObject, change_of, frozen
from selfcorrect.reading.call_object import strict_json
from selfcorrect.reading.choose import Chosen
from selfcorrect.setup import Options, build_loop, show_options
from selfcorrect.step import walk
from selfcorrect.tools.spec import collect_tools

_OUTCOMES = ("valid", "repaired", "ask", "failed")
"""From the best to the worst."""


@frozen
class _Report:
    """What became of one or more calls.

    Attributes:
        outcome: `valid` (nothing to do), `repaired`, `ask` (a person has to decide) or `failed`.
        changes: What was changed, in order, with strategy, rule and safety class.
        failure: The report of a call that may not run, else None.
        cost: What calls of models have cost: `model_calls`, `tokens`.
    """

    _: KW_ONLY
    outcome: str
    changes: tuple[Change, ...] = ()
    failure: JsonObject | None = None
    cost: JsonObject = field(default_factory=dict)

    @property
    def reason(self) -> str | None:
        """Why the call may not run; a reason of `FailureReport`."""
        return self.failure["reason"] if self.failure else None

    @property
    def detail(self) -> str | None:
        """The same in a sentence."""
        return self.failure["detail"] if self.failure else None

    @property
    def for_model(self) -> str:
        """What the model reads of a call that may not run; empty for one that may."""
        return self.failure["for_model"] if self.failure else ""


@frozen
class MendedCall(_Report):
    """What became of one call.

    Attributes:
        name: The tool's name; as it was written, where no tool is meant.
        args: The arguments that may run, or None.
        id: The id of the call, where one was written.
    """

    name: str
    args: JsonObject | None
    id: str | None

    @property
    def partial(self) -> JSON:
        """How far the repair of the arguments came, where they may not run."""
        call = self.failure.get("call") if self.failure else None
        return call.get("args", call.get("raw")) if call else None


@frozen
class Mending(_Report):
    """What became of one or more calls that were repaired without executing them.

    The outcome is the worst of the calls'; `failed` where there is none.

    Attributes:
        calls: What became of each call, in order.
        ready: The calls that may run now. Of several in one text, all may run or none.
        value: The call as JSON; a list where several came.
    """

    calls: tuple[MendedCall, ...] = ()
    ready: tuple[Call, ...] = ()
    value: JSON = None


class Mender:
    """Repairs the calls that models write, and executes nothing. Built once, for any thread.

    It does not know what a tool answers, nor whether a call was made before: `build_graph` and
    `SelfCorrection` do.

    Args:
        tools: Functions, LangChain tools, schemas or `ToolSpec`s; none of them is called.
        **options: See `Options`.

    Raises:
        GraphSetupError: If a tool or an option is unusable.
        MapError: If the map is unusable.

    >>> tool = {"name": "double", "parameters": {"properties": {"n": {"type": "integer"}}}}
    >>> Mender([tool]).call({"name": "Double", "args": {"n": "21"}}).ready
    (Call(name='double', args={'n': 21}, id=None),)
    """

    @show_options(Options)
    def __init__(self, tools: Iterable[Any], **options: Unpack[Options]) -> None:
        specs = [replace(tool, call=None) for tool in collect_tools(tools, {}).values()]
        self._loop = build_loop(specs, options)

    @property
    def context(self) -> RunContext:
        """What its runs may use: the tools, the map, the bounds."""
        return self._loop.context

    def call(self, given: JSON, **beside: JSON) -> Mending:
        """Repair a call. Of several in one text, all may run or none; of a list, each by itself.

        Args:
            given: The call as an object, a list of them, the text that a model wrote, or a message
                of LangChain; see `message`.
            **beside: What is known beside it: `request`, `messages`, `finish_reason`.
        """
        inputs = self._inputs(given, beside)
        return _join([walk(self._loop, one) for one in inputs], inputs)

    def message(self, message: Any, **beside: JSON) -> Mending:
        """Repair the calls of an assistant's message, whatever its form; each by itself.

        The forms are those of `history`. A message without a call is read as text. What a
        provider says of the end of the message counts as `finish_reason`.
        """
        from selfcorrect.threads.history import message_in, read_message, stop_reason_of

        if not isinstance(message, Mapping):
            return self.call(message, **beside)
        message = message_in(message)
        return self.call(
            read_message(message), **{"finish_reason": stop_reason_of(message), **beside}
        )

    def history(self, messages: Sequence[Any], form: str | None = None) -> Mending:
        """Make a thread valid: `value` is the thread, `changes` say what was wrong.

        Ids become unique, arguments objects, and names and ids such as the API takes. Directly
        behind each turn stands one answer to each of its calls: a missing one says that nobody
        knows what became of the call. Answers with other ids belong to the open calls of their
        turn where there are as many; any other answer to no call is left out. Halves of characters
        and blank texts are replaced. The call changes nothing in place, and a valid thread is
        returned as it is.

        Args:
            messages: Messages of OpenAI (chat, responses), Anthropic, Gemini, Mistral or LangChain.
            form: `chat`, `responses`, `anthropic`, `gemini` or `mistral`; without it, the thread
                itself shows it. Mistral's is that of OpenAI's chat, with other ids.

        Raises:
            GraphSetupError: If the form is unknown.
        """
        from selfcorrect.threads.forms import FORMS, ProviderForm
        from selfcorrect.threads.history import make_valid

        own: ProviderForm | None = None
        if form is not None:
            refuse_unknown("form", [form], FORMS)
            own = FORMS[form]
        elif not all(isinstance(message, dict) for message in messages):
            from selfcorrect.langchain.calls import LANGCHAIN

            own = LANGCHAIN
        thread = make_valid(messages, own)
        outcome = "repaired" if thread.changes else "valid"
        calls = [
            MendedCall(call.name, call.args, call.id, outcome="valid") for call in thread.calls
        ]
        return Mending(tuple(calls), outcome=outcome, changes=thread.changes, value=thread.messages)

    def _inputs(self, written: Any, beside: JsonObject) -> list[JsonObject]:
        """Return what a run takes for each call."""
        if hasattr(written, "invalid_tool_calls"):
            from selfcorrect.threads.history import stop_reason_of

            beside = {"finish_reason": stop_reason_of(written.response_metadata), **beside}
            written = [*written.tool_calls, *written.invalid_tool_calls] or written.text
        if isinstance(written, list):
            return [
                {"raw" if isinstance(item, str) else "call": item, **beside} for item in written
            ]
        if not isinstance(written, str):
            return [{"call": written, **beside}]
        one = {"raw": written, **beside}
        if isinstance(strict_json(written), dict):
            return [one]
        chosen = self._loop.context.read(written, beside.get("finish_reason"))
        count = len(chosen.calls) if isinstance(chosen, Chosen) else 1
        return [{**one, "index": index} for index in range(count)] if count > 1 else [one]


@show_options(Options)
def repair_call(given: JSON, tools: Iterable[Any], **options: Unpack[Options]) -> Mending:
    """Repair one call or message; see `Mender`, which is built once for many calls."""
    return Mender(tools, **options).call(given)


def _result(out: JsonObject, start: JsonObject) -> tuple[MendedCall, JSON]:
    """Return what a run of a loop that only checks came to, and the call as JSON."""
    cost = _sum(event.get("cost", {}) for event in out["trail"])
    failure = out.get("failure")
    events = [failure] if failure else out["trail"]
    changes = tuple(change_of(item) for event in events for item in event.get("changes", ()))
    if failure:
        outcome = "ask" if failure["reason"] == "needs_person" else "failed"
        call, args, value = failure.get("call") or {}, None, failure.get("original")
    else:
        outcome = "repaired" if changes else "valid"
        call = value = out["result"]
        args, original = call["args"], start.get("call")
        if not changes and isinstance(original, dict) and original.get("args") == args:
            # What is valid comes back as the same object.
            args = original["args"]
    name, call_id = call.get("name", ""), call.get("id")
    mended = MendedCall(
        name, args, call_id, outcome=outcome, changes=changes, failure=failure, cost=cost
    )
    return mended, value


def _sum(costs: Iterable[JsonObject]) -> JsonObject:
    costs = [*costs]
    return {name: sum(cost.get(name, 0) for cost in costs) for name in cost_of({}, {})}


def _join(outs: list[JsonDict], inputs: list[JsonObject]) -> Mending:
    """Return what became of all calls: the worst outcome, and its reason."""
    if not outs:
        return Mending(outcome="valid", value=[])
    calls, values = zip(*map(_result, outs, inputs), strict=True)
    worst = max(calls, key=lambda call: _OUTCOMES.index(call.outcome))
    is_held = "index" in inputs[0] and worst.args is None
    ready = [Call(call.name, call.args, call.id) for call in calls if call.args is not None]
    return Mending(
        () if worst.reason == "no_call" else calls,
        outcome=worst.outcome,
        ready=() if is_held else tuple(ready),
        changes=tuple(change for call in calls for change in call.changes),
        value=values[0] if len(values) == 1 else list(values),
        failure=worst.failure,
        cost=_sum(call.cost for call in calls),
    )
