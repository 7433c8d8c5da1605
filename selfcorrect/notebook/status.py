"""Where a stepper stands, in one word and one sentence, and what can be done there."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from selfcorrect.drawing import label_of
from selfcorrect.notebook.shown import cut
from selfcorrect.notebook.standing import Standing

STATES: Final = {
    "ready": "calm",
    "running": "busy",
    "paused": "calm",
    "breakpoint": "calm",
    "limit": "warn",
    "second": "warn",
    "question": "warn",
    "error": "bad",
    "ok": "good",
    "failed": "bad",
    "past": "past",
}
"""Every state, and the tone in which it is shown."""


def status_of(at: Standing) -> dict[str, str]:
    """The state, its tone, and what is said of it."""
    state, text = _state(at)
    return {"state": state, "tone": STATES[state], "text": cut(text, 300)}


def _state(at: Standing) -> tuple[str, str]:
    here = at.here
    following = _names(here.next)
    if at.running is not None:
        return "running", f"running · {_names(at.running)}"
    if at.raised is not None:
        return "error", f"error in {following}: {at.raised}"
    if at.halt == "second":
        return "second", f"confirm first · next {following}"
    if at.is_past:
        where = f"step {here.number} of {len(at.history) - 1}"
        return "past", f"past · {where} · " + (f"next {following}" if following else "the end")
    if at.asking:
        return "question", "waiting for a person"
    if here.next:
        return _between(at, following)
    failure = at.values.get("failure")
    if isinstance(failure, dict):
        return "failed", f"finished: failed · {failure.get('reason')}"
    return "ok", "finished: ok"


def _between(at: Standing, following: str) -> tuple[str, str]:
    """Why it stands still between two steps."""
    match at.halt:
        case "limit":
            reached = f"limit reached · {at.limit:,} steps in one run"
            return "limit", f"{reached} · next {following}"
        case "breakpoint":
            return "breakpoint", f"paused before {following}"
        case "paused":
            return "paused", f"paused · next {following}"
        case _:
            return "ready", f"ready · next {following}"


def _names(nodes: tuple[str, ...]) -> str:
    """The nodes in words, each with the number of its tasks.

    >>> _names(("select_strategy",)), _names(("a", "b", "c"))
    ('select strategy', 'a, b, c')
    """
    counts = Counter(nodes)
    named = [f"{label_of(node)} ×{n}" if n > 1 else label_of(node) for node, n in counts.items()]
    return ", ".join(named[:6]) + (" …" if len(named) > 6 else "")


def actions_of(at: Standing) -> dict[str, dict[str, Any]]:
    """What can be done here: whether, under which name, and what it does."""
    here, running = at.here, at.running is not None
    idle = not running
    goes_on = idle and bool(here.next) and not at.asking
    label, hint = "Step", f"Run {_names(here.next)}" if here.next else "The run is over"
    if at.raised is not None:
        label, hint = "Retry", f"Run {_names(here.next)} once more"
    elif at.is_past and here.next:
        label, hint = "Fork", f"Run {_names(here.next)} from here, on a new branch"
    undone = "Look at the step before. Runs nothing; what a tool did stays done"
    return {
        "step": _action(label, hint, on=goes_on),
        "run": _action("Run", "Run to a breakpoint, a question, an error or the end", on=goes_on),
        "pause": _action("Pause", "Stop after the node that is running", on=running),
        "back": _action("Back", undone, on=idle and here.parent is not None),
        "edit": _action("Edit & fork", "Change the call or the state here", on=goes_on),
        "answer": _action("Answer", "Answer the question", on=idle and bool(at.asking)),
        "restart": _action("Restart", "Look at the start. Runs nothing", on=idle),
    }


def _action(label: str, hint: str, *, on: bool) -> dict[str, Any]:
    return {"label": label, "hint": hint, "on": on}
