"""What others have seen is what runs: calls are repaired before gates, limits and guards."""

from dataclasses import dataclass

import pytest
from hosts import malformed
from kit import table
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import Change, Changed, GraphSetupError, SelfCorrection, StrategyMap
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.ledger import MemoryLedger
from selfcorrect.testing import ScriptedModel, tool_call

THREAD = {"configurable": {"thread_id": "t"}, "recursion_limit": 200}
APPROVE = Command(resume={"decisions": [{"type": "approve"}]})


WRITTEN = {
    "as it is": tool_call("pay", "c1", to="ann", amount=5),
    "another case": tool_call("Pay", "c1", to="ann", amount=5),
    "a prefix": tool_call("functions.pay", "c1", to="ann", amount=5),
    "a number as text": tool_call("pay", "c1", to="ann", amount="5"),
    "another key": tool_call("pay", "c1", To="ann", amount=5),
    "malformed": malformed("pay", "{'to': 'ann', 'amount': 5,}"),
    "malformed under another name": malformed("Pay", "{'to': 'ann', 'amount': 5,}"),
    "a text": '{"name": "pay", "arguments": {"to": "ann", "amount": 5}}',
    "a text in Python": 'pay("ann", 5)',
}


PAID = {"to": "ann", "amount": 5}


def payer(error=None, effect="mutating", times=99, **more):
    """Return a tool that acts, and what it did."""
    done = []

    def pay(to: str, amount: int) -> str:
        """Pay somebody."""
        done.append((to, amount))
        if error is not None and len(done) <= times:
            raise error
        return "paid"

    pay.metadata = {"effect": effect, **more} if effect else more
    return pay, done


def agent_of(script, tools, middleware=None, *, saver=True, again=False, **options):
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script, again)
    middleware = middleware or [SelfCorrection(**options)]
    saver = InMemorySaver() if saver else None
    return create_agent(model, tools, middleware=middleware, checkpointer=saver)


def ask(agent, config=THREAD):
    return agent.invoke({"messages": [HumanMessage("go")]}, config)


def answers(out):
    return [each for each in out["messages"] if isinstance(each, ToolMessage)]


orders = pytest.mark.parametrize("order", [1, -1], ids=["before us", "behind us"])


@orders
@pytest.mark.parametrize("name", WRITTEN)
def test_a_person_is_asked_about_the_call_that_runs(name, order):
    pay, done = payer()
    middleware = [HumanInTheLoopMiddleware({"pay": True}), SelfCorrection()][::order]
    agent = agent_of([WRITTEN[name], "done"], [pay], middleware)
    (asked,) = ask(agent)["__interrupt__"]
    (request,) = asked.value["action_requests"]
    assert (request["name"], request["args"]) == ("pay", {"to": "ann", "amount": 5})
    assert done == []
    agent.invoke(APPROVE, THREAD)
    assert done == [("ann", 5)]


class Guard(AgentMiddleware):
    """Notes what it sees in the turn and around the call."""

    def __init__(self):
        self.seen = []

    def after_model(self, state, runtime):
        self.seen += [(each["name"], each["args"]) for each in state["messages"][-1].tool_calls]

    def wrap_tool_call(self, request, handler):
        self.seen.append((request.tool_call["name"], request.tool_call["args"]))
        return handler(request)


@orders
@pytest.mark.parametrize("name", WRITTEN)
def test_a_guard_sees_in_the_turn_and_around_the_call_what_runs(name, order):
    pay, done = payer()
    guard = Guard()
    ask(agent_of([WRITTEN[name], "done"], [pay], [guard, SelfCorrection()][::order]))
    assert guard.seen == [("pay", {"to": "ann", "amount": 5})] * 2
    assert done == [("ann", 5)]


@pytest.mark.parametrize(("name", "args", "runs"), table("shown_calls.txt", "edits"))
def test_an_edit_of_a_person_runs_as_it_was_made_or_not_at_all(name, args, runs):
    pay, done = payer()
    # LangChain makes the edit around the call: in front of us.
    middleware = [HumanInTheLoopMiddleware({"pay": True}), SelfCorrection()]
    agent = agent_of([WRITTEN["as it is"], "done"], [pay], middleware)
    ask(agent)
    edit = {"type": "edit", "edited_action": {"name": "pay", "args": args}}
    out = agent.invoke(Command(resume={"decisions": [edit]}), THREAD)
    assert done == [("ann", 5)] * runs
    if not runs:
        report = answers(out)[0].artifact
        assert report["reason"] == "needs_person"
        assert report["proposal"]["args"] == {"to": "ann", "amount": 5}


def at_most_three(call, diagnosis, context):
    return Changed([Change("/args/amount", call.args["amount"], 3, "inferred", "the limit")])


@pytest.mark.parametrize("effect", ["mutating", "read_only"])
def test_a_repair_from_the_error_of_a_tool_that_acts_is_only_proposed(effect):
    rule = {"id": "limit", "match": "at most", "repair": [at_most_three]}
    pay, done = payer(ValueError("amount must be at most 3"), effect, times=1, atomic=True)
    agent = agent_of([WRITTEN["as it is"], "done"], [pay], strategies=StrategyMap([rule]))
    out = ask(agent)
    (answer,) = answers(out)
    if effect == "read_only":
        assert done == [("ann", 5), ("ann", 3)]
        assert out["messages"][1].tool_calls[0]["args"] == {"to": "ann", "amount": 3}
    else:
        assert done == [("ann", 5)]
        assert answer.artifact["proposal"]["args"] == {"to": "ann", "amount": 3}
        assert "at most 3" in answer.text


def test_a_persons_answer_lets_a_tool_that_acts_run_with_other_values():
    pay, done = payer()
    script = [tool_call("Pay", "c1", to="ann"), "done"]
    agent = agent_of(script, [pay], ask_person=True)
    out = ask(agent)
    (turn,) = (each for each in out["messages"] if isinstance(each, AIMessage))
    assert (turn.tool_calls[0]["name"], turn.tool_calls[0]["args"]) == ("pay", {"to": "ann"})
    question = out["__interrupt__"][0].value
    answer = {"action": "answer", "value": "7", "question": question["id"]}
    out = agent.invoke(Command(resume=answer), THREAD)
    assert done == [("ann", 7)]
    assert out["messages"][1].tool_calls[0]["args"] == {"to": "ann", "amount": 7}


@pytest.mark.parametrize("name", [*WRITTEN][1:])
def test_what_the_model_wrote_stays_readable_with_the_changes(name):
    pay, _ = payer()
    records = []
    out = ask(agent_of([WRITTEN[name], "done"], [pay], on_trail=records.append))
    account = answers(out)[0].additional_kwargs["selfcorrect"]
    assert account["changes"] == records[0]["trail"][0]["changes"]
    turn = WRITTEN[name]
    if isinstance(turn, str):
        assert account["written"] in ({"raw": turn}, {"name": "pay", "args": PAID})
    else:
        (call,) = [*turn.tool_calls, *turn.invalid_tool_calls]
        assert account["written"]["name"] == call["name"]
        assert account["written"]["args"] == call["args"]


def test_a_report_tells_what_was_changed_before_others_saw_the_call():
    pay, _ = payer(TimeoutError("no answer"))
    (answer,) = answers(ask(agent_of([WRITTEN["another key"], "done"], [pay])))
    assert answer.artifact["original"]["args"] == {"To": "ann", "amount": 5}
    assert [each["path"] for each in answer.artifact["changes"]] == ["/args/to"]


def test_a_model_that_repairs_is_not_asked_twice_about_one_call():
    pay, done = payer(effect="read_only")
    fixer = ScriptedModel(["I do not know."], again=True)
    one = agent_of([tool_call("pay", "c1", to="ann"), "done"], [pay], model=fixer)
    ask(one)
    once = len(fixer.prompts)
    assert done == []
    assert once <= 4


class AsksTwice(AgentMiddleware):
    """Returns the first of two answers; what is known of the last one is kept."""

    def wrap_model_call(self, request, handler):
        first = handler(request)
        handler(request)
        return first


@pytest.mark.parametrize("text", ["??", '{"path": "/tmp/x', "{path: }"])
def test_an_unreadable_call_does_not_run_with_its_defaults(text):
    done = []

    def purge(path: str = "/") -> str:
        """Delete all below a path."""
        done.append(path)
        return "gone"

    script = [malformed("purge", text), "done", "done", "done"]
    out = ask(agent_of(script, [purge], [AsksTwice(), SelfCorrection()]))
    assert done == []
    assert answers(out)[0].status == "error"


# --- options ------------------------------------------------------------------------------


def test_effects_by_name_or_glob_hold_for_tools_that_declare_none():
    pay, done = payer(ConnectionError("gone"), effect=None, times=1)
    ask(agent_of([WRITTEN["as it is"], "done"], [pay], effects={"pa*": "read_only"}))
    assert len(done) == 2
    pay, done = payer(ConnectionError("gone"), effect=None, times=1)
    ask(agent_of([WRITTEN["as it is"], "done"], [pay]))
    assert len(done) == 1


def test_a_wrong_word_of_a_tool_fails_before_the_model_is_asked():
    pay, _ = payer(effect="read_onyl")
    model = ScriptedModel(["done"])
    with pytest.raises(GraphSetupError, match="read_only"):
        ask(agent_of(model, [pay]))
    assert model.prompts == []
    with pytest.raises(GraphSetupError, match="read_only"):
        SelfCorrectingToolNode([pay])


SCOPES = {"a text": "order 7", "a function": lambda runtime: runtime.context.order}


@dataclass
class Context:
    order: str = "order 7"


@pytest.mark.parametrize("name", SCOPES)
def test_a_scope_stands_in_for_a_thread(name):
    pay, done = payer(TimeoutError("no answer"))
    for _ in range(2):
        model = ScriptedModel([WRITTEN["as it is"], "sorry"])
        ours = SelfCorrection(scope=SCOPES[name], ledger=LEDGERS[name])
        agent = create_agent(model, [pay], middleware=[ours], context_schema=Context)
        agent.invoke({"messages": [HumanMessage("go")]}, context=Context())
    assert len(done) == 1


LEDGERS = {name: MemoryLedger() for name in SCOPES}


# --- bounds -------------------------------------------------------------------------------


def test_sixteen_turns_that_fail_end_the_run_whatever_they_say():
    def look(path: str) -> str:
        """Look."""
        raise FileNotFoundError(f"no file {path}")

    look.metadata = {"effect": "read_only"}
    script = [tool_call("look", path=f"/{n}") for n in range(40)]
    model = ScriptedModel([*script, "never"])
    agent = agent_of(model, [look])
    out = ask(agent)
    assert len(model.prompts) == 16
    assert "16" in out["messages"][-1].text
    # A word of the user's begins anew.
    ask(agent)
    assert len(model.prompts) == 32


def test_a_policy_that_always_asks_is_bounded():
    class Always:
        def fresh(self):
            return self

        def handle(self):
            return "Say something."

        def on_answer(self):
            pass

    model = ScriptedModel([AIMessage("")], again=True)
    ask(agent_of(model, [], on_empty=Always()))
    assert len(model.prompts) <= 16
