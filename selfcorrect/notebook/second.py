"""Whether the next step would do something a second time, and what stands in for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfcorrect.json_forms import call_from_json
from selfcorrect.model import Call
from selfcorrect.notebook.history import History
from selfcorrect.notebook.parts import Steppable
from selfcorrect.notebook.replaying import BEGUN, DONE, Executions
from selfcorrect.notebook.shown import cut
from selfcorrect.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class Second:
    """What was done before on this thread.

    Attributes:
        text: What it is, in a sentence.
        needs_word: Whether nothing can stand in for it, so that only a person's word lets it run.
    """

    text: str
    needs_word: bool


def second_execution(
    parts: Steppable, executions: Executions, history: History, values: Mapping[str, Any]
) -> Second | None:
    """What the next step would do a second time; None if it does nothing twice.

    Args:
        parts: The graph.
        executions: What tools did on this thread.
        history: What happened on it, and where one looks.
        values: The state there.
    """
    following = history.here.next
    if parts.is_watched("execute") and "execute" in following:
        pending = _pending(parts, following, values)
        return None if pending is None else _tool(executions, *pending)
    return _nodes(parts, history)


def only_reads(parts: Steppable, following: Sequence[str], values: Mapping[str, Any]) -> bool:
    """Whether what is next is a call of a tool that changes nothing."""
    pending = _pending(parts, following, values)
    return pending is not None and pending[1].effect == "read_only"


def _pending(
    parts: Steppable, following: Sequence[str], values: Mapping[str, Any]
) -> tuple[Call, ToolSpec] | None:
    """The call that is next, and its tool."""
    loop, current = parts.loop, values.get("current")
    if loop is None or "execute" not in following or not isinstance(current, Mapping):
        return None
    if not isinstance(current.get("args"), dict):
        return None
    call = call_from_json(current)
    tool = loop.context.tools.get(call.name)
    return None if tool is None else (call, tool)


def _tool(executions: Executions, call: Call, tool: ToolSpec) -> Second | None:
    stored = executions.stored(call)
    if tool.effect == "read_only" or stored is None:
        return None
    name, effect = cut(call.name, 60), tool.effect.replace("_", " ")
    if stored.status == BEGUN:
        text = f"{name} ({effect}) was begun with these arguments, and nobody knows how it ended"
        return Second(text, needs_word=True)
    came = "succeeded" if stored.status == DONE else "failed"
    text = f"{name} ({effect}) ran with these arguments and {came}: a step replays what it did"
    return Second(text, needs_word=False)


def _nodes(parts: Steppable, history: History) -> Second | None:
    """Nodes that may change something, and already ran on a branch that was left."""
    following = {node for node in history.here.next if not parts.is_harmless(node)}
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
