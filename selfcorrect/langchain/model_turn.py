"""One turn of the model: asked for with a valid thread, read, repaired, and asked for again."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.types import Command

from selfcorrect.context import RunContext
from selfcorrect.errors import CorrectionFailed
from selfcorrect.langchain.agent_run import RUN, AgentRun
from selfcorrect.langchain.budget import SPENT, BudgetReachedError
from selfcorrect.langchain.calls import LANGCHAIN, name_and_args, shown_calls, with_calls
from selfcorrect.langchain.ending import (
    BLANK,
    Thread,
    may_end,
    object_to_repeats,
    over_budget,
    why_over,
)
from selfcorrect.langchain.host import Host
from selfcorrect.langchain.model_call import Ask, ask_model
from selfcorrect.langchain.text_calls import read_text_calls
from selfcorrect.langchain.thread import (
    NO_ANSWER,
    feedback_message,
    is_blank,
    valid_thread,
    with_ledger_answers,
)
from selfcorrect.langchain.turn_state import (
    STARTS,
    WORDS,
    Start,
    Starts,
    beside_calls,
    notes_of,
    stop_reason,
    with_executed_calls,
    with_note,
)
from selfcorrect.model import Call, JsonDict
from selfcorrect.nodes.execute import unfit
from selfcorrect.routing import PASSED
from selfcorrect.state import CorrectionState, Update
from selfcorrect.step import Loop, walk_hosted
from selfcorrect.threads.forms import NO_WORDS, ThreadCall
from selfcorrect.threads.history import MALFORMED

MOST_ASKS = 16
"""How often the model is asked in one turn, whatever a policy says."""


async def take_turn(
    request: ModelRequest[Any], ask: Ask, run: AgentRun, host: Host, *, is_async: bool
) -> ExtendedModelResponse[Any]:
    """Ask the model until its turn may stand; return it with its calls readable and repaired.

    Turns that do not stand, and what was said about them, are in prompts only.
    """
    messages = request.state["messages"]
    response: Any = None
    update: JsonDict = {RUN: run}
    if (over := why_over(messages, is_running=messages[-1].id != run.begins)) is None:
        try:
            response = await _take_turn(request, ask, run, host, update, is_async=is_async)
        except BudgetReachedError as error:
            over = over_budget(str(error))
            if host.raises:
                raise CorrectionFailed(over) from None
    if over is not None:
        response = ModelResponse([AIMessage(over)])
        update = {RUN: run, "jump_to": "end"}
    if run.account.bounds:
        update[SPENT] = run.account.state()
    return ExtendedModelResponse(response, Command(update=update))


async def _take_turn(
    request: ModelRequest[Any],
    ask: Ask,
    run: AgentRun,
    host: Host,
    update: JsonDict,
    *,
    is_async: bool,
) -> ModelResponse[Any]:
    """Return the turn; put what else changes in the agent's state into the update."""
    messages: Thread = request.state["messages"]
    tools = [tool for tool in request.tools if isinstance(tool, BaseTool)]
    # A tool that is declared wrongly is refused before the model is paid.
    loop, _ = host.loop_with(tools, is_async=is_async)
    structured = request.response_format
    if isinstance(structured, AutoStrategy):
        structured = ToolStrategy(structured.schema)
    run.structured = tuple(schema.name for schema in getattr(structured, "schema_specs", ()))
    run.names = (*(tool.name for tool in tools), *run.structured)
    scope = host.lasting_scope(request.runtime, get_config().get("configurable") or {})
    thread = await with_ledger_answers(request.messages, loop.context, scope)
    if (new_turn := with_executed_calls(messages)) is not None:
        update["messages"] = [new_turn]
        thread = [new_turn if message.id == new_turn.id else message for message in thread]
    prompt = request.override(messages=valid_thread(thread), tools=_show_tools(request, loop))
    response, turn = await _ask_until_it_stands(prompt, ask, messages, run, loop)
    if turn is None:
        return response
    if is_blank(turn) and run.empty is None:
        turn = _with_text(turn, NO_ANSWER)
    turn, starts = await _repair(turn, messages, run, loop)
    if starts:
        turn = turn if turn.id else turn.model_copy(update={"id": str(uuid4())})
        update[STARTS] = {turn.id: starts}
    turn = with_note(turn, WORDS, run.words_for(turn.tool_calls))
    calls = [call for call in turn.tool_calls if call["name"] not in run.structured]
    run.account.check_calls(calls, messages)
    result = [turn if isinstance(part, AIMessage) else part for part in response.result]
    # No tool answers a malformed call of the structured answer.
    malformed = [call for call in shown_calls(turn) if call.id in notes_of(turn, STARTS)]
    unread = [call for call in malformed if call.name in run.structured]
    result += [LANGCHAIN.answer(None, call, MALFORMED) for call in unread]
    return replace(response, result=result)


async def _ask_until_it_stands(
    prompt: ModelRequest[Any], ask: Ask, messages: Thread, run: AgentRun, loop: Loop
) -> tuple[ModelResponse[Any], AIMessage | None]:
    """Return the model's last answer, and its turn; no turn where a middleware answers."""
    feedback = run.object_once(object_to_repeats(messages))
    if feedback is not None:
        prompt = prompt.override(messages=[*prompt.messages, feedback_message(feedback)])
    left = MOST_ASKS
    while True:
        left -= 1
        response, turn = await ask_model(prompt, ask, loop.context, run.account)
        if turn is None or response.structured_response is not None:
            return response, turn
        unread = "" if turn.tool_calls else read_text_calls(turn, messages, run, loop.context)
        if not isinstance(unread, str):
            turn, unread = unread, ""
        feedback = _object(turn, unread, run)
        if feedback is None or not left:
            return response, turn
        shown = _with_text(turn, NO_WORDS) if is_blank(turn) else turn
        prompt = prompt.override(messages=[*prompt.messages, shown, feedback_message(feedback)])


def _show_tools(request: ModelRequest[Any], loop: Loop) -> list[BaseTool | JsonDict]:
    """Return the usable tools, and of each the arguments that the runtime does not fill in."""
    shown: list[BaseTool | JsonDict] = []
    for tool in request.tools:
        if not isinstance(tool, BaseTool):
            shown.append(tool)
        elif (spec := loop.context.tools.get(tool.name)) is not None:
            schema = {"args_schema": {**spec.parameters}}
            shown.append(tool.model_copy(update=schema) if spec.takes_key else tool)
    return shown


def _object(turn: AIMessage, unread: str, run: AgentRun) -> str | None:
    """Return what a policy, or what we, have to say against a turn."""
    if is_blank(turn):
        return run.object_once(BLANK) if run.empty is None else run.empty.handle()
    run.objections.discard(BLANK.reason)
    if run.empty is not None:
        run.empty.on_answer()
    if turn.tool_calls:
        return None
    return run.object_once(may_end(stop_reason(turn), unread, run.structured))


async def _repair(
    turn: AIMessage, messages: Thread, run: AgentRun, loop: Loop
) -> tuple[AIMessage, Starts]:
    """Return the turn, repaired without an execution or a person, and what the loop starts from."""
    beside = beside_calls(turn, [*messages, turn])
    calls, unread = shown_calls(turn), notes_of(turn, STARTS)
    starts: Starts = {}
    for at, call in enumerate(calls):
        start = unread.get(call.id)
        if call.name in run.structured:
            continue
        if start is None and loop.context.check_call(Call(call.name, call.args)) is None:
            continue
        written = {"name": call.name, "args": call.args, "id": call.id}
        given = start["given"] if start else {"call": written}
        state = await _walk({**given, **beside}, loop)
        if state is not None:
            calls[at], starts[call.id] = _show(call.id, state)
            if isinstance(state["current"]["args"], dict):
                unread.pop(call.id, None)
    return with_note(with_calls(turn, calls), STARTS, unread), starts


def _with_text(message: AIMessage, text: str) -> AIMessage:
    return message.model_copy(update={"content": text})


def _show(call_id: str, state: JsonDict) -> tuple[ThreadCall, Start]:
    """Return the call as others see it, and what the loop starts from.

    A name that is sure is shown, even where the arguments cannot be repaired: the call fails
    visibly, and a person may complete it.
    """
    current = state["current"]
    shown = name_and_args(current)
    if not isinstance(shown["args"], dict):
        # The arguments could not be read; the loop has their text.
        shown["args"] = {}
    # Nobody was asked: what only asks is tried again where somebody can be.
    tried = [note for note in state["tried"] if note["outcome"] != "asked"]
    kept = {key: state[key] for key in ("original", "changes", "counts")}
    if (stop := state["stop"]) and stop["reason"] in ("escalated", "terminal_kind"):
        # Whoever has ended the call is not asked again.
        kept["stop"] = stop
    given = {"call": {**current, "id": call_id}, "mended": {**kept, "tried": tried}}
    return ThreadCall(call_id, **shown), Start(shown=shown, given=given)


async def _walk(inputs: JsonDict, loop: Loop) -> JsonDict | None:
    """Return the state in which a walk ends that executes nothing; None where it has no call."""
    guards = [name for name, targets in loop.table.routes.items() if PASSED in targets]
    nodes: dict[str, Any] = {**loop.nodes, **dict.fromkeys(guards, _pass)}
    nodes |= {"execute": _stop_before, "report_failure": _hand_over}
    out = await walk_hosted(replace(loop, nodes=nodes), inputs)
    # The result of a handler is not a call, and a change that was rejected is not shown.
    if out["trail"][-1]["node"] not in ("execute", "report_failure"):
        return None
    state: Any = out["result"]
    is_rejected = (state["stop"] or {}).get("reason") == "rejected"
    return None if is_rejected or not state["current"].get("name") else state


def _pass(*_: object) -> Update:
    return {}


def _stop_before(state: CorrectionState, context: RunContext) -> Update:
    """Hand the call over where it would be executed."""
    wrong = unfit(state, context)
    return {"outcome": "done", "result": dict(state)} if wrong is None else wrong


def _hand_over(state: CorrectionState, *_: object) -> Update:
    return {"outcome": "reported", "result": dict(state)}
