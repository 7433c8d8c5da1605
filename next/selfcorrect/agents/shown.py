"""A tool that acts runs only as others have seen its call: nothing changes behind them unasked."""

from dataclasses import replace
from typing import Any

from selfcorrect.agents.tool_copy import LISTENER
from selfcorrect.context import RunContext
from selfcorrect.model import JsonDict, call_of
from selfcorrect.nodes.plan import check_call
from selfcorrect.setup import Loop
from selfcorrect.state import CorrectionState, Update, stop_run
from selfcorrect.text import quote


def run_as_shown(loop: Loop) -> Loop:
    """Return the loop in which a call that acts, but that nobody has seen so, is only proposed."""
    name = loop.table.guards.get("execute", "execute")
    node = loop.nodes[name]

    def run(state: CorrectionState, context: RunContext) -> Any:
        stop = _refuse_unseen(state, context)
        return node(state, context) if stop is None else stop

    return replace(loop, nodes={**loop.nodes, name: run})


def _refuse_unseen(state: CorrectionState, context: RunContext) -> Update | None:
    run: Any = LISTENER.get()
    now, seen = state["current"], run.shown or run.request.tool_call
    tool = context.tools.get(now["name"])
    if tool is None or not tool.acts or _is_same(now, {**seen}, context):
        return None
    if check_call(call_of(now), context) is not None:
        # What does not fit is not made either, and says why.
        return None
    if run.is_approved:
        # One answer of a person is for one call: what is changed after it was made is another.
        run.shown, run.is_approved = now, False
        return None
    detail = "The repaired call was not made, because no one has approved it."
    if state["attempts"]:
        detail += f" The tool had refused: {quote(state['attempts'][-1]['text'] or '', 300)}"
    return stop_run("needs_person", detail, proposal=now)


def _is_same(now: JsonDict, seen: JsonDict, context: RunContext) -> bool:
    """Say whether two calls are the same for their tool's own validation."""
    if now["name"] != seen["name"] or not isinstance(seen["args"], dict):
        return False
    # Most calls are made as they were shown.
    is_equal = repr(now["args"]) == repr(seen["args"])
    return is_equal or context.key_of(call_of(now)) == context.key_of(call_of(seen))
