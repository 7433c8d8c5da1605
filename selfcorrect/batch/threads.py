"""Earlier calls of a conversation, so written that every provider takes the conversation again.

What was well-formed stays as it was written, wrong or not: it is what the model remembers. A call
whose arguments are no JSON object, or that names no tool, makes a provider refuse every further
request; it is read where it can be, and else has no arguments and a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from selfcorrect.batch.checking import checked
from selfcorrect.batch.mended import Mended, MendedCall
from selfcorrect.forms import langchain
from selfcorrect.forms.access import get
from selfcorrect.forms.answers import answer_of, answered, named, with_answers
from selfcorrect.forms.calls import Slot, slots
from selfcorrect.forms.names import is_usable, usable_name
from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.verdicts import Step
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.loop import Loop
from selfcorrect.model import ABSENT, Call, Change, JsonObject, edit
from selfcorrect.plain import as_text, as_written
from selfcorrect.protocols import Tool
from selfcorrect.reading.strict import strict_json
from selfcorrect.schema.slots import slots_of

_UNANSWERED: Final = "No answer is known: the call could not be read as it was written."


async def mended_thread(loop: Loop, messages: Sequence[Any], context: RunContext) -> Mended:
    """Mend the malformed and nameless calls of a conversation; no model is asked."""
    thread = Thread(loop, replace(context, model=None), messages)
    for place, message in enumerate(messages):
        if langchain.is_answer(message):
            await thread.take_langchain(place, message)
        else:
            for slot in slots([message]):
                await thread.take(place, slot)
    return thread.done()


class Thread:
    """A conversation on its way to one that can go on."""

    def __init__(self, loop: Loop, context: RunContext, messages: Sequence[Any]) -> None:
        self._loop = loop
        self._context = context
        self._given = messages
        self._new = list(messages)
        self._calls: list[MendedCall] = []
        self._names: dict[Any, str] = {}
        self._answered = {found for each in messages for found in answered(each)}
        self._said = {
            get(each, "tool_call_id"): name
            for each in messages
            if isinstance(name := get(each, "name"), str) and name.strip()
        }
        self._missing: dict[int, list[Any]] = {}

    async def take(self, place: int, slot: Slot) -> None:
        """Take one call of a message of JSON, or of an SDK."""
        call = await self._usable(slot.name, slot.arguments, slot.id, slot.form.writes == "text")
        if call is None:
            return
        (whole,) = slot.written_into([self._new[place]], call.name, call.args or {})
        self._new[place] = whole
        make = answer_of(slot.form)
        if make is not None and self._is_unanswered(place, slot.id):
            self._missing.setdefault(place, []).append(make(slot.id, call.name, _UNANSWERED))

    async def take_langchain(self, place: int, message: Any) -> None:
        """Take a message of LangChain, whose calls are in up to three places."""
        made: list[tuple[str | None, dict[str, Any]]] = []
        is_new = langchain.has_broken_copy(message)
        for old in (*message.tool_calls, *message.invalid_tool_calls):
            name, args, call_id = old.get("name"), old.get("args"), old.get("id")
            call = await self._usable(name or "", args, call_id, is_text=False)
            kept = {"name": name, "args": args, "id": call_id}
            if call is not None:
                is_new = True
                kept |= {"name": call.name, "args": dict(call.args or {})}
                if self._is_unanswered(place, call_id):
                    answer = langchain.answer(str(call_id), call.name, _UNANSWERED)
                    self._missing.setdefault(place, []).append(answer)
            made.append((call_id, kept))
        if is_new:
            self._new[place] = langchain.rewritten(message, made)

    def done(self) -> Mended:
        """The conversation as it can go on, the very same where nothing was wrong."""
        if all(new is old for new, old in zip(self._new, self._given, strict=True)):
            return Mended("valid", self._given)
        renamed = [named(each, self._names) for each in self._new]
        for place in sorted(self._missing, reverse=True):
            following = place + 1
            while following < len(renamed) and _is_answer(renamed[following]):
                following += 1
            renamed = with_answers(renamed, following, self._missing[place])
        changes = tuple(change for call in self._calls for change in call.changes)
        return Mended("repaired", renamed, tuple(self._calls), changes)

    def _is_unanswered(self, place: int, call_id: Any) -> bool:
        """Whether a call of a message that is not the last one waits for its answer for ever."""
        is_over = place < len(self._given) - 1
        return is_over and isinstance(call_id, str) and call_id not in self._answered

    async def _usable(self, name: str, args: Any, call_id: Any, is_text: bool) -> MendedCall | None:
        """The call as providers take it; None where they take it as it is."""
        has_name = is_usable(name) or name in self._context.tools
        args = as_written(args)
        read = _read(args)
        is_object = isinstance(args, Mapping) or (is_text and isinstance(args, str))
        if has_name and read is not None and is_object:
            return None
        run = await checked(
            self._loop, {"call": {"name": name, "args": args, "id": str(call_id)}}, self._context
        )
        found = run.call()
        if not has_name and name.strip() and found.args is not None:
            own = found.name
        else:
            own = name if has_name else usable_name(name.strip() or self._said.get(call_id) or "")
        new = read
        if new is None:
            new = found.args if found.args is not None else found.partial or {}
        if own != name and call_id is not None:
            self._names[call_id] = own
        call = MendedCall(own, new, call_id, "repaired")
        call = replace(call, changes=_changes(name, args, call, self._context.tools))
        self._calls.append(call)
        return call


def _read(args: Any) -> JsonObject | None:
    """The arguments, if they are an object or strictly valid JSON of one."""
    if args is None or isinstance(args, Mapping):
        return args or {}
    found = strict_json(args) if isinstance(args, str) else None
    return found.value if found is not None and isinstance(found.value, dict) else None


def _changes(
    name: str, args: Any, made: MendedCall, tools: Mapping[str, Tool]
) -> tuple[Change, ...]:
    """What was changed of a call, in the classes that the kernel gives."""
    raw = None if isinstance(args, Mapping) else as_text(args or "")
    written, runs = (
        Call(name, args if raw is None else {}, raw=raw),
        Call(made.name, made.args or {}),
    )
    changes = []
    if made.name != name:
        changes.append(edit("/name", name or ABSENT, made.name, "a name that providers take"))
    if raw is not None:
        changes.append(edit("/args", args, made.args, "arguments that providers take"))
    tool = tools.get(made.name)
    slot = slots_of(tool.schema if tool is not None else {})
    step = Step(written, runs, slot, tools, tool.effect if tool is not None else "mutating")
    classes = judge(step).classes([each.path for each in changes])
    return tuple(replace(each, safety=one) for each, one in zip(changes, classes, strict=True))


def _is_answer(message: Any) -> bool:
    """Whether a message is nothing but answers of tools, in messages of their own."""
    own = get(message, "role") == "tool" or get(message, "type") == "tool"
    return own or get(message, "type") in ("function_call", "function_call_output")
