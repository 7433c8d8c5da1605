"""Mends every call of one assistant's message before anybody else sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from selfcorrect.forms.names import usable_name
from selfcorrect.integrations.chat import (
    Written,
    finish_reason,
    last_messages,
    note_of,
    request_of,
    this_run,
    written_calls,
)
from selfcorrect.integrations.tool_calls import CUT, note_on, tokens_of, told
from selfcorrect.integrations.toolbox import Toolbox
from selfcorrect.kernel.requests import Request, why_no_call
from selfcorrect.kernel.texts import outside
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.walk import walk_in
from selfcorrect.model import JSON, Call, Category
from selfcorrect.plain import as_text, as_written
from selfcorrect.schema.equality import call_key

_UNREADABLE: Final = "The call was not done: its arguments are not a JSON object."
_LONGEST: Final = 600
_NO_CALL: Final[Mapping[str, JSON]] = {"reason": "no_call"}
_DECIDED_ANEW: Final = ("refused", "unknown_outcome")
"""After these an equal call is no blind repetition: the model decided, or memory answers it."""
_REPEATED: Final = (
    "The call was not done: it failed before in the same way, and nothing has changed since. "
    "Change it, try something else, or tell the user."
)


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of one call of a message.

    Attributes:
        written: The call as the model wrote it.
        call: The call as `{"name", "args", "id"}`: ready to run, or for the history only.
        is_ready: Whether it may run.
        text: What the model is told, where it may not.
        note: What is noted of it.
        failure: The report, if there is one.
        is_answer: The text is the tool's own answer: a strategy answered in its place.
        tokens: What models that mended it have cost.
    """

    written: Written
    call: dict[str, Any]
    is_ready: bool
    text: str = ""
    note: Mapping[str, JSON] | None = None
    failure: Mapping[str, Any] | None = None
    is_answer: bool = False
    tokens: int = 0

    @property
    def is_unknown(self) -> bool:
        """Whether no tool has the name."""
        findings = (self.failure or {}).get("findings") or ()
        return any(finding.get("category") == Category.UNKNOWN_TOOL for finding in findings)

    @property
    def is_changed(self) -> bool:
        """Whether the message has to be rewritten for it."""
        given = self.written
        return (
            self.call["id"] != given.given_id
            or self.call["name"] != given.name
            or self.call["args"] is not given.args
        )


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the mending of calls may know of the conversation.

    Attributes:
        messages: What was said before.
        tool_choice: What the request says of calls.
        answer: The form that the request asks for.
    """

    messages: Sequence[BaseMessage]
    tool_choice: Any = None
    answer: Any = None

    @property
    def ids(self) -> frozenset[str]:
        """The call ids that are in use."""
        return frozenset(
            call["id"]
            for message in self.messages
            if isinstance(message, AIMessage)
            for call in message.tool_calls
            if call["id"]
        )

    def failed(self) -> Mapping[str, Mapping[str, JSON]]:
        """What is noted of calls of this run that failed for good, with nothing done since."""
        wrong: dict[str, Mapping[str, JSON]] = {}
        for message in this_run(self.messages):
            if not isinstance(message, ToolMessage):
                continue
            note = note_of(message)
            if message.status != "error":
                wrong.clear()
            elif note.get("reason") in _DECIDED_ANEW:
                continue
            elif note.get("executed") and not note.get("retryable") and note.get("key"):
                wrong[str(note["key"])] = note
        return wrong

    def given(self, message: AIMessage) -> dict[str, Any]:
        """What goes with a call into the loop."""
        return {
            "request": request_of(self.messages),
            "messages": last_messages(self.messages),
            **asdict(self.allowed(message)),
        }

    def allowed(self, message: AIMessage) -> Request:
        """What the request allows the message to be, and how it ended."""
        return Request(self.tool_choice, finish_reason(message), self.answer)


async def mended_calls(
    box: Toolbox,
    message: AIMessage,
    conversation: Conversation,
    context: RunContext,
    settled: frozenset[str] = frozenset(),
) -> list[Mended]:
    """Every call of the message that nobody has answered yet, mended where it can be.

    Args:
        box: The tools that were offered.
        message: What the model wrote.
        conversation: What was said before.
        context: The run's context of the checking loop.
        settled: Ids of calls that are answered already, and names that are not tools.
    """
    out: list[Mended] = []
    given: dict[str, Any] | None = None
    failed = conversation.failed()
    allowed = conversation.allowed(message)
    for written in written_calls(message, conversation.ids - settled):
        name = written.name
        if written.given_id in settled or name in settled or name in box.elsewhere:
            out.append(_left_alone(written))
            continue
        if (barred := why_no_call(allowed, names=[name], offered=box.specs)) is not None:
            out.append(refused_call(written, f"The call was not done: {barred}.", _NO_CALL))
            continue
        if _is_fine(box, written):
            mended = Mended(written, _plain(written), is_ready=True)
        elif written.cut:
            mended = refused_call(written, CUT, {"reason": "invalid_input"})
        else:
            given = given or conversation.given(message)
            mended = await mended_call(box, written, given, context)
        out.append(_unless_repeated(mended, failed, box, context))
    return out


def _left_alone(written: Written) -> Mended:
    """A call that is not ours to run or to answer; unless it cannot be read at all."""
    if isinstance(written.args, dict):
        return Mended(written, _plain(written), is_ready=True)
    return refused_call(written, _UNREADABLE, {"reason": "invalid_input"})


def _is_fine(box: Toolbox, written: Written) -> bool:
    spec = box.specs.get(written.name)
    fits = spec is not None and type(written.args) is dict and spec.is_valid(written.args)
    return fits and not written.cut and not written.invalid


async def mended_call(
    box: Toolbox, written: Written, given: Mapping[str, Any], context: RunContext
) -> Mended:
    """One call, taken through the checking loop."""
    # Only a call whose arguments are an object is kept for its turn, and asked about then.
    asked_later = context.asked_later and isinstance(written.args, dict)
    context = replace(context, asked_later=asked_later)
    out = await walk_in(box.check, {"call": written.as_input(), **given}, context)
    return of_walk(written, out)


def of_walk(written: Written, out: Mapping[str, Any]) -> Mended:
    """What the checking loop made of a call."""
    return replace(_walked(written, out), tokens=tokens_of(out))


def _walked(written: Written, out: Mapping[str, Any]) -> Mended:
    note = note_on(out)
    failure = out.get("failure")
    if failure:
        return refused_call(written, told(failure), note, failure)
    result = out["result"]
    if out["trail"][-1]["node"] != "execute":
        text = result if isinstance(result, str) else as_text(result)
        return replace(refused_call(written, text, note), is_answer=True)
    call = {"name": result["call"]["name"], "args": result["call"]["args"], "id": written.id}
    if result["changes"]:
        note["changes"] = result["changes"]
    return Mended(written, call, is_ready=True, note=note)


def _unless_repeated(
    mended: Mended, failed: Mapping[str, Mapping[str, JSON]], box: Toolbox, context: RunContext
) -> Mended:
    """The call, unless it failed before and neither the world nor the time has changed since."""
    if not failed or not mended.is_ready:
        return mended
    name = mended.call["name"]
    key = call_key(Call(name, mended.call["args"]), box.specs.get(name))
    before = failed.get(key)
    if before is None or before.get("until", float("inf")) <= context.time.now().timestamp():
        return mended
    # No more of what was told then: what to do then does not hold now.
    note = {**before, "reason": "repeated_failure", "executed": True}
    wrong = f" What is wrong: {before['wrong']}." if before.get("wrong") else ""
    is_shown = context.tool_words == "show" and before.get("said")
    said = f" The tool said, as {outside(before['said'], _LONGEST)}" if is_shown else ""
    return Mended(
        mended.written, mended.call, is_ready=False, text=_REPEATED + wrong + said, note=note
    )


def _plain(written: Written) -> dict[str, Any]:
    args = as_written(written.args)
    return {"name": written.name, "args": args if isinstance(args, dict) else {}, "id": written.id}


def refused_call(
    written: Written,
    text: str,
    note: Mapping[str, JSON],
    failure: Mapping[str, Any] | None = None,
) -> Mended:
    """A call for the history only: a name that providers take, an object where text was."""
    call = _plain(written)
    call["name"] = usable_name(written.name)
    return Mended(written, call, is_ready=False, text=text, note=note, failure=failure)
