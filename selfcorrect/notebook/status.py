"""Where a stepper stands, in one word and one sentence, and what can be done there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from selfcorrect.drawing import label_of
from selfcorrect.notebook.shown import cut

if TYPE_CHECKING:
    from selfcorrect.notebook.stepper import Stepper

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


def status_of(stepper: Stepper) -> dict[str, str]:
    """The state, its tone, and what is said of it."""
    state, text = _state(stepper)
    return {"state": state, "tone": STATES[state], "text": cut(text, 300)}


def _state(stepper: Stepper) -> tuple[str, str]:
    here = stepper.here
    following = _names(here.next)
    if stepper.running is not None:
        return "running", f"running · {_names(stepper.running)}"
    if stepper.raised is not None and stepper.raised[0] == here.number:
        return "error", f"error in {following}: {stepper.raised[1]}"
    if stepper.halt == "second":
        return "second", f"confirm first · next {following}"
    if stepper.is_past:
        where = f"step {here.number} of {len(stepper.history) - 1}"
        return "past", f"past · {where} · " + (f"next {following}" if following else "the end")
    if stepper.asking:
        return "question", "waiting for a person"
    if here.next:
        return _between(stepper, following)
    failure = stepper.values.get("failure")
    if isinstance(failure, dict):
        return "failed", f"finished: failed · {failure.get('reason')}"
    return "ok", "finished: ok"


def _between(stepper: Stepper, following: str) -> tuple[str, str]:
    """Why it stands still between two steps."""
    match stepper.halt:
        case "limit":
            reached = f"limit reached · {stepper.limit:,} steps in one run"
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
    counts: dict[str, int] = {}
    for node in nodes:
        counts[node] = counts.get(node, 0) + 1
    named = [f"{label_of(node)} ×{n}" if n > 1 else label_of(node) for node, n in counts.items()]
    return ", ".join(named[:6]) + (" …" if len(named) > 6 else "")


def actions_of(stepper: Stepper) -> dict[str, dict[str, Any]]:
    """What can be done here: whether, under which name, and what it does."""
    here, running = stepper.here, stepper.running is not None
    idle = not running
    goes_on = idle and bool(here.next) and not stepper.asking
    raised = stepper.raised is not None and stepper.raised[0] == here.number
    label, hint = "Step", f"Run {_names(here.next)}" if here.next else "The run is over"
    if raised:
        label, hint = "Retry", f"Run {_names(here.next)} once more"
    elif stepper.is_past and here.next:
        label, hint = "Fork", f"Run {_names(here.next)} from here, on a new branch"
    undone = "Look at the step before. Runs nothing; what a tool did stays done"
    return {
        "step": _action(label, hint, on=goes_on),
        "run": _action("Run", "Run to a breakpoint, a question, an error or the end", on=goes_on),
        "pause": _action("Pause", "Stop after the node that is running", on=running),
        "back": _action("Back", undone, on=idle and here.parent is not None),
        "edit": _action("Edit & fork", "Change the call or the state here", on=goes_on),
        "answer": _action("Answer", "Answer the question", on=idle and bool(stepper.asking)),
        "restart": _action("Restart", "Look at the start. Runs nothing", on=idle),
    }


def _action(label: str, hint: str, *, on: bool) -> dict[str, Any]:
    return {"label": label, "hint": hint, "on": on}
