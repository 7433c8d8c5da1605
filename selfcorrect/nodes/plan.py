"""plan: take the call that came in, or ask the model for one."""

from dataclasses import replace
from typing import Any

from selfcorrect.context import RunContext
from selfcorrect.errors import LimitReachedError
from selfcorrect.limits import add_spending, cost_of
from selfcorrect.model import JSON, call_json, own_finding
from selfcorrect.models.port import ModelPort
from selfcorrect.pointer import ARGS, oversize
from selfcorrect.reading.call_object import is_cut, is_forbidden, read_call
from selfcorrect.state import CorrectionState, Update, state_findings, stop_run
from selfcorrect.text import bound


async def plan(state: CorrectionState, context: RunContext) -> Update:
    """Read the call strictly; whatever deviates becomes a finding."""
    if state["stop"] is not None:
        # An earlier walk has ended the call.
        return {"outcome": "stopped", "current": state["call"]}
    if state.get("call") is not None:
        return _take(state["call"], state, context)
    if state.get("raw") is not None:
        return _take(state["raw"], state, context)
    request = state["given"].get("request")
    if request and context.model is not None:
        return await _ask_model(str(request), state, context)
    return stop_run(
        "invalid_input", "Give the run a `call`, a `raw` text, or a `request` and a model."
    )


def _take(written: JSON, state: CorrectionState, context: RunContext) -> Update:
    if (why := oversize(written)) is not None:
        return stop_run("invalid_input", why)
    if is_forbidden(state["given"]):
        return stop_run("no_call", "No call may be made: the provider or the caller forbids it.")
    call, finding = read_call(written, context.offers)
    if (tool := context.tools.get(call.name)) is not None:
        call = replace(call, args=tool.strip(call.args))
    current = call_json(call)
    original = {"raw": written} if isinstance(written, str) else written
    update: Update = {
        "current": current,
        "original": state["original"] or (original if finding else current),
    }
    if finding and not call.name:
        # A call that came in as one loads nothing of this.
        from selfcorrect.nodes.text_finding import text_finding

        is_text = isinstance(written, str)
        finding = text_finding(str(call.args), finding, state, context, is_text=is_text)
        if finding is None:
            return update | stop_run("no_call", "The text holds no call.")
    findings = [finding] if finding else []
    # Perhaps none of the arguments was written yet.
    is_bare = not call.args and is_cut(state["given"].get("finish_reason"))
    if call.name not in context.tools and call.name:
        findings.append(context.unknown_tool(call.name))
    elif is_bare and tool is not None and tool.acts and tool.arguments.properties:
        findings.append(own_finding("MalformedCall", "cut", _CUT_OFF, ARGS))
    if not findings:
        return update | {"outcome": "planned"}
    return update | state_findings("plan", findings) | {"outcome": "found"}


_CUT_OFF = "the message was cut off at the limit of tokens, and the arguments are empty"


async def _ask_model(request: str, state: CorrectionState, context: RunContext) -> Update:
    from selfcorrect.models.prompts import Prompts

    offered = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in context.tools.values()
    ]
    spending = context.spending(state["counts"])
    port = ModelPort(context.model, spending)
    try:
        answer: Any = await port.ask_call(Prompts().plan, bound(request, 20_000), offered)
        if isinstance(answer, dict):
            answer = {key: answer.get(key) for key in ("name", "args", "id")}
        update = _take(answer, state, context)
    except LimitReachedError as error:
        update = stop_run("limit_reached", f"{error}.")
    except Exception as error:
        context.live_part(state["run"]).errors.append(error)
        update = stop_run("unavailable", f"The model failed: {type(error).__name__}.")
    counts = add_spending(state["counts"], spending)
    note = {**update.get("note", {}), "cost": cost_of(counts, state["counts"])}
    return update | {"counts": counts, "note": note}
