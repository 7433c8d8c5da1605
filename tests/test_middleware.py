"""Beside other middleware, in any order: nothing runs that another one stops, and nothing twice."""

import json
from dataclasses import dataclass, field

import pytest
from hosts import malformed
from kit import answers_in
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain.agents.middleware.types import hook_config
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import SelfCorrection
from selfcorrect.ledger import MemoryLedger
from selfcorrect.testing import ScriptedModel, tool_call

THREAD = {"configurable": {"thread_id": "t"}, "recursion_limit": 100}
ARGS = {"to": "ann", "amount": 5}


FORMS = {
    "healthy": tool_call("transfer", "c1", **ARGS),
    "misspelt": tool_call("tranfser", "c1", **ARGS),
    "another case": tool_call("Transfer", "c1", **ARGS),
    "a prefix": tool_call("functions.transfer", "c1", **ARGS),
    "malformed": malformed("transfer", "{'to': 'ann', 'amount': 5,}"),
    "a text": 'transfer(to="ann", amount=5)',
    "edited": tool_call("transfer", "c1", **ARGS),
    "lost": tool_call("transfer", "c1", **ARGS),
}


class Forbid(AgentMiddleware):
    """A guard around tool calls, by the tool's name."""

    def wrap_tool_call(self, request, handler):
        call = request.tool_call
        if call["name"] == "transfer":
            return ToolMessage("forbidden", tool_call_id=call["id"], status="error")
        return handler(request)


class Drop(AgentMiddleware):
    """A guard behind the model: it answers calls of a tool in its place."""

    @hook_config(can_jump_to=["model"])
    def after_model(self, state, runtime):
        calls = state["messages"][-1].tool_calls
        wrong = [each for each in calls if each["name"] == "transfer"]
        answers = [ToolMessage("no", tool_call_id=each["id"], status="error") for each in wrong]
        return {"messages": answers, "jump_to": "model"} if answers else None


class Edit(AgentMiddleware):
    """Changes the amount of every transfer, around the call."""

    def wrap_tool_call(self, request, handler):
        call = request.tool_call
        if call["name"] == "transfer":
            request = request.override(tool_call={**call, "args": {**call["args"], "amount": 7}})
        return handler(request)


class Flaky(Exception):
    """What a model's provider raises once."""


@dataclass
class Other:
    """Another middleware: how it is made, whether it stops the call, and how a person answers."""

    make: object
    stops: bool = False
    answer: object = None
    script: list = field(default_factory=list)


def gate(mode):
    return lambda: HumanInTheLoopMiddleware({"transfer": True}, interrupt_mode=mode)


BEFORE = tool_call("transfer", "c0", to="bob", amount=1)
EDITED = {"type": "edit", "edited_action": {"name": "transfer", "args": {**ARGS, "amount": 7}}}
OTHERS = {
    "approved": Other(gate("batched"), answer={"type": "approve"}),
    "approved one by one": Other(gate("per_call"), answer={"type": "approve"}),
    "rejected": Other(gate("batched"), stops=True, answer={"type": "reject"}),
    "unanswered": Other(gate("per_call"), stops=True),
    "edited by a person": Other(gate("batched"), answer=EDITED),
    "a limit of calls": Other(
        lambda: ToolCallLimitMiddleware(
            tool_name="transfer", run_limit=1, exit_behavior="continue"
        ),
        stops=True,
        script=[BEFORE],
    ),
    "a limit of turns": Other(lambda: ModelCallLimitMiddleware(run_limit=3)),
    "retried": Other(lambda: ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)),
    "a model retried": Other(
        lambda: ModelRetryMiddleware(max_retries=2, initial_delay=0, jitter=False),
        script=[Flaky("busy")],
    ),
    "a summary": Other(
        lambda: SummarizationMiddleware(
            ScriptedModel(["They talked."], again=True),
            trigger=("messages", 3),
            keep=("messages", 1),
        )
    ),
    "forbidden": Other(Forbid, stops=True),
    "dropped": Other(Drop, stops=True),
}


def run(other, form, first):
    """Run an agent; return what it did, its ledger, its thread and its prompts."""
    made, ledger = [], MemoryLedger()

    def transfer(to: str, amount: int) -> str:
        """Transfer money."""
        made.append({"to": to, "amount": amount})
        if form == "lost" and to == "ann":
            raise TimeoutError("no answer")
        return "done"

    transfer.metadata = {"effect": "mutating"}
    ours = SelfCorrection(ledger=ledger)
    middleware = [other.make(), ours] if first else [ours, other.make()]
    if form == "edited":
        middleware.append(Edit())
    model = ScriptedModel([*other.script, FORMS[form], "ok", "ok", "ok"])
    agent = create_agent(model, [transfer], middleware=middleware, checkpointer=InMemorySaver())
    out = agent.invoke({"messages": [HumanMessage("Transfer 5 to ann")]}, THREAD)
    if "__interrupt__" in out and other.answer is not None:
        (asked,) = out["__interrupt__"]
        is_batch = "action_requests" in asked.value
        answer = {"decisions": [other.answer]} if is_batch else other.answer
        out = agent.invoke(Command(resume={asked.id: answer}), THREAD)
    return made, ledger, out["messages"], model.prompts, len(other.script)


@pytest.mark.parametrize("first", [True, False], ids=["before us", "behind us"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", OTHERS)
def test_nothing_runs_that_another_stops_and_nothing_twice(name, form, first):
    other = OTHERS[name]
    made, ledger, thread, prompts, before = run(other, form, first)
    ann = [each for each in made if each["to"] == "ann"]
    assert len(ann) == (0 if other.stops else 1), made
    # The ledger holds what ran.
    held = [json.loads(each.about) for each in ledger.records() if each.status in ("done", "lost")]
    assert sorted(map(repr, held)) == sorted(map(repr, made))
    # Every call has one answer, but for one about which nobody has answered yet.
    calls = [each["id"] for m in thread if isinstance(m, AIMessage) for each in m.tool_calls]
    answers = [each.tool_call_id for each in answers_in(thread)]
    assert sorted(answers) == sorted(calls) or (name == "unanswered" and set(answers) <= {*calls})
    # The agent's own turns: one with the call, one behind it; ours is one more at most.
    assert len(prompts) <= before + 3
