"""Calls that a model writes in the text of its message instead of making them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from langchain_core.messages import AIMessage

from selfcorrect.batch.texts import CALL_SIGNS
from selfcorrect.forms.langchain import is_words
from selfcorrect.integrations.chat import Written, new_id
from selfcorrect.integrations.mending import (
    Conversation,
    Mended,
    mended_call,
    of_walk,
    refused_call,
)
from selfcorrect.integrations.toolbox import Toolbox
from selfcorrect.kernel.standing import said_beside
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.judging import Judged, judged
from selfcorrect.loop.walk import walk_in
from selfcorrect.model import Call, Finding, Safety, edit
from selfcorrect.reading.allowing import why_not_allowed
from selfcorrect.reading.contract import Candidate, Offered
from selfcorrect.reading.outcome import Reading
from selfcorrect.reading.quoting import MADE, why_not_made
from selfcorrect.reading.texts import read_calls
from selfcorrect.state import CorrectionState

_LONGEST_TEXT: Final = 200_000
_MARKUP: Final = re.compile(
    r"<\|?(?:\w{1,20}:)?(?:(?:tool|function)_(?:calls?|use|code)|invoke)\b|<function\s*="
    r"|\[TOOL_CALLS?\]|<\|[\w ]{1,40}\|>|```tool_"
)
"""What chat templates put around calls; nobody writes it to a reader."""
_STARTS_AS_CALL: Final = re.compile(r"\s*[\[{<]")
_DOUBTED: Final = (
    "The call was not done: it stood in the text of the message. If it is to be done, make it as a "
    "tool call; if it was only talked about, answer the user."
)
_REPEATED: Final = (
    "The call was not done again: it was made before. Use its answer, or tell the user."
)
_UNREAD: Final = "it could not be read without guessing"


async def calls_in_text(
    box: Toolbox, message: AIMessage, conversation: Conversation, context: RunContext
) -> tuple[list[Mended], str]:
    """The calls that a message makes in its text, and its words around them.

    No calls where it is an answer to the user. Which calls are made says the map's `[reading]`; of
    one that is not, and would run as it stands, the model is told that it was not done. What
    repeats a call that was made, or somebody else's words, is no call.
    """
    text = str(message.text)
    policy = context.strategies.reading
    is_read = policy.text != "off" and box.specs and len(text) <= _LONGEST_TEXT
    if not is_read or not CALL_SIGNS.search(text) or not is_words(message.content):
        return [], text
    given = conversation.given(message)
    reason, request = given["finish_reason"], given["request"]
    reading = read_calls(
        text, box.specs, finish_reason=reason, request=request, policy=policy, in_context=True
    )
    if why_not_allowed(reading, conversation.allowed(message), box.specs) is not None:
        return [], text
    is_marked = _MARKUP.search(text) is not None
    why = why_not_made(reading, box.specs, conversation.messages, request)
    if why is not None:
        told_again = is_marked and why == MADE
        return [_held(call, _REPEATED) for call in reading.calls if told_again], text
    if reading.doubted:
        offered = Offered(box.specs)
        is_whole = all(_is_whole(call, offered) for call in reading.doubted)
        return [_held(call, _DOUBTED) for call in reading.doubted if is_whole], text
    if reading.refusal is not None:
        is_sure = is_marked or not reading.wordy
        if not _seems_meant(text, reading.refusal, is_sure=is_sure, is_marked=is_marked):
            return [], text
        out = await walk_in(box.check, {"raw": text, **given}, context)
        return [of_walk(Written("", text, new_id(), None), out)], text
    facts = {"given": {"messages": conversation.messages, **given}}
    judge = partial(_safety, text, reading, cast("Any", facts), context)
    mended = [await _made(box, call, judge(call), given, context) for call in reading.calls]
    return mended, said_beside(reading.text, reading.calls) if reading.wordy else ""


def _seems_meant(text: str, refusal: Finding, *, is_sure: bool, is_marked: bool) -> bool:
    """Whether a text that was refused seems to hold a call all the same."""
    if refusal.code == "no_call":
        return is_marked and ("{" in text or "</" in text)
    return is_sure or (refusal.code == "cut" and _STARTS_AS_CALL.match(text) is not None)


def _is_whole(call: Candidate, offered: Offered) -> bool:
    """Whether it would run as it stands: nobody talks like that by accident."""
    tool = offered.meant(call.name)
    return tool is not None and call.args is not None and tool.is_valid(call.args)


def _safety(
    text: str, reading: Reading, facts: CorrectionState, context: RunContext, call: Candidate
) -> Judged:
    """How certain it is that a text makes a call, as the kernel sees it."""
    change = edit("/args", {}, call.call.args, "the text was read")
    before = Call("", raw=text)
    ask = partial(judged, before, call.call, [change], (), {}, facts, context)
    return ask(extents=reading.written)


async def _made(
    box: Toolbox, call: Candidate, found: Judged, given: Mapping[str, Any], context: RunContext
) -> Mended:
    written, safety = _written(call), found.changes[0].safety
    if safety not in context.safety.allow or safety is Safety.LOSSY:
        words = f"The call was not done: {found.words or _UNREAD}."
        return refused_call(written, words, {"reason": "rejected"})
    done = await mended_call(box, written, given, context)
    said = [{"path": "", "reason": each.what, "safety": safety.value} for each in call.deviations]
    noted = (done.note or {}).get("changes") or []
    return replace(done, note={**(done.note or {}), "changes": [*said, *noted]})


def _held(call: Candidate, why: str) -> Mended:
    return refused_call(_written(call), why, {"reason": "no_call"})


def _written(call: Candidate) -> Written:
    return Written(call.name, dict(call.args or {}), call.id or new_id(), None)
