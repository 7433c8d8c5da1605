"""Whether the next step would do something a second time, and what stands in for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfcorrect.json_forms import call_from_json
from selfcorrect.model import Call
from selfcorrect.notebook.replaying import BEGUN, DONE
from selfcorrect.notebook.shown import cut
from selfcorrect.tools import ToolSpec

if TYPE_CHECKING:
    from selfcorrect.notebook.stepper import Stepper


@dataclass(frozen=True, slots=True)
class Second:
    """What was done before on this thread.

    Attributes:
        text: What it is, in a sentence.
        needs_word: Whether nothing can stand in for it, so that only a person's word lets it run.
    """

    text: str
    needs_word: bool


def second_execution(stepper: Stepper) -> Second | None:
    """What the next step would do a second time; None if it does nothing twice."""
    if stepper.parts.is_watched("execute") and "execute" in stepper.here.next:
        return _tool(stepper)
    return _nodes(stepper)


def only_reads(stepper: Stepper) -> bool:
    """Whether what is next is a call of a tool that changes nothing."""
    pending = _pending(stepper)
    return pending is not None and pending[1].effect == "read_only"


def _pending(stepper: Stepper) -> tuple[Call, ToolSpec] | None:
    """The call that is next, and its tool."""
    loop, current = stepper.parts.loop, stepper.values.get("current")
    if loop is None or "execute" not in stepper.here.next or not isinstance(current, Mapping):
        return None
    if not isinstance(current.get("args"), dict):
        return None
    call = call_from_json(current)
    tool = loop.context.tools.get(call.name)
    return None if tool is None else (call, tool)


def _tool(stepper: Stepper) -> Second | None:
    pending = _pending(stepper)
    if pending is None:
        return None
    call, tool = pending
    stored = stepper.executions.stored(call)
    if tool.effect == "read_only" or stored is None:
        return None
    name, effect = cut(call.name, 60), tool.effect.replace("_", " ")
    if stored.status == BEGUN:
        text = f"{name} ({effect}) was begun with these arguments, and nobody knows how it ended"
        return Second(text, needs_word=True)
    came = "succeeded" if stored.status == DONE else "failed"
    text = f"{name} ({effect}) ran with these arguments and {came}: a step replays what it did"
    return Second(text, needs_word=False)


def _nodes(stepper: Stepper) -> Second | None:
    """Nodes that may change something, and already ran on a branch that was left."""
    history, parts = stepper.history, stepper.parts
    following = {node for node in stepper.here.next if not parts.is_harmless(node)}
    if not following:
        return None
    line = set(history.line())
    if len(line) == len(history):
        return None
    ran = {
        node
        for moment in history.moments
        if moment.number not in line and moment.frame.kind == "step"
        for node in moment.frame.nodes
    }
    again = sorted(following & ran)
    if not again:
        return None
    names = ", ".join(cut(name, 60) for name in again)
    text = f"{names} ran before on this thread, and nobody declared it read only"
    return Second(text, needs_word=True)
