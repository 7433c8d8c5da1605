"""Everything that a person needs to decide, beside the question itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from selfcorrect.kernel.texts import excerpt, safe
from selfcorrect.loop.context import RunContext
from selfcorrect.model import ANSWERS, JSON
from selfcorrect.protocols import Tool
from selfcorrect.state import CorrectionState

_MOST: Final = 20
_LONGEST: Final = 1_000


def details(state: CorrectionState, context: RunContext) -> dict[str, JSON]:
    """The call before and after, what is wrong, what was tried, whether the tool may have acted.

    Values of sensitive fields are in it, since who decides must see them; secrets of known forms
    are not. Nothing of it goes to a model or a log.
    """
    call, original = state["current"], state["original"]
    tool = context.tools.get(str(call.get("name") or ""))
    told: dict[str, JSON] = {
        "call": safe(call),
        "errors": [_text(item.get("text")) for item in state["findings"][:_MOST]],
        "tried": [
            {key: _text(item.get(key)) for key in ("strategy", "outcome", "reason")}
            for item in state["tried"][-_MOST:]
        ],
        "refused": safe(state["refused"][-_MOST:]),
        "executions": len(state["attempts"]),
        "acted": acted(state, tool),
        "answers": list(ANSWERS),
    }
    if tool is not None:
        told["effect"] = tool.effect
    if original != call:
        told["original"] = safe(original)
        made = [*state["changes"], *state["pending"]]
        told["changes"] = safe(made[-_MOST:])
    if request := state["given"].get("request"):
        told["request"] = _text(request)
    return told


def acted(state: Mapping[str, Any], tool: Tool | None) -> str:
    """Whether the tool may already have acted in this run: `no`, `refused` or `maybe`.

    Where it may have, and must not act twice, the run is barred from calling it again.
    """
    if not state["attempts"] or (tool is not None and tool.effect == "read_only"):
        return "no"
    if (barred := state["barred"]) is not None:
        return "refused" if barred["reason"] == "refused" else "maybe"
    harmless = tool is not None and tool.effect == "idempotent"
    return "maybe" if harmless else "no"


def _text(value: Any) -> str:
    return excerpt(str(value or ""), _LONGEST)
