"""What every run starts with, whatever an earlier run left on the same thread."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.effects import acts
from selfcorrect.json_forms import call_from_json
from selfcorrect.kernel import memory
from selfcorrect.loop.context import RunContext
from selfcorrect.model import JSON
from selfcorrect.plain import copied, plain
from selfcorrect.state import FORMAT, CorrectionState

BLANK: Final[dict[str, JSON]] = {
    "current": None,
    "original": None,
    "error": None,
    "findings": [],
    "selected": [],
    "changes": [],
    "pending": [],
    "refused": [],
    "tried": [],
    "attempts": [],
    "counts": {},
    "wait": 0.0,
    "barred": None,
    "question": None,
    "stop": None,
}
"""What a node finds of each of these keys where nothing was written; never changed in place."""
_BESIDE = ("request", "messages", "finish_reason", "tool_choice", "task_id")


def started(state: CorrectionState, context: RunContext) -> dict[str, Any]:
    """The keys of the state that a run starts with; the planner adds the call."""
    beside = {key: plain(state.get(key)) for key in _BESIDE if state.get(key) is not None}
    return {
        **_in_doubt_since_the_first_version(state, context),
        "format": FORMAT,
        "run": os.urandom(12).hex(),
        "given": beside | _written(state) | _origin(state, context),
        **copied(BLANK),
    }


def _in_doubt_since_the_first_version(
    state: CorrectionState, context: RunContext
) -> dict[str, JSON]:
    """What version 0.1 left in doubt on this thread: it kept no `lost`, only the attempts.

    Written even if it is empty: what a later run tells of a doubt is no loss of its own.
    """
    if "lost" in state:
        return {}
    from selfcorrect.loop.intents import Intent

    lost: dict[str, JSON] = {}
    for attempt in state.get("attempts") or ():
        call = call_from_json(attempt["call"])
        tool = context.tools.get(call.name)
        if attempt["outcome"] == "unknown" and tool is not None and acts(tool):
            lost |= Intent(state, context, call, tool).remember("").get("lost", {})
    return {"lost": lost}


def _origin(state: CorrectionState, context: RunContext) -> dict[str, JSON]:
    """Where the call comes from, if whoever gives it once more means the same one.

    What a model plans is a new decision each time.
    """
    if context.around is None or (state.get("call") is None and state.get("raw") is None):
        return {}
    said = plain(state.get("messages") or ())
    found = memory.origin(context.thread, context.around, context.step, said)
    return {} if found is None else {"origin": found}


def _written(state: CorrectionState) -> dict[str, JSON]:
    """The text that a call was read from, if a number in it may have a spelling of its own."""
    text = state.get("written") or state.get("raw")
    given = state.get("call")
    if isinstance(given, Mapping):
        texts = (item for item in given.values() if isinstance(item, str))
        text = text or next((item for item in texts if item.lstrip().startswith("{")), None)
    return {"written": text} if isinstance(text, str) and _FRACTION.search(text) else {}


_FRACTION = re.compile(r"\d(?:\.\d|[eE][-+\d])")
"""What only strictly valid JSON can lose of a number; what is not is kept whole anyway."""
