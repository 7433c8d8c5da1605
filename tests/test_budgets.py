"""What a run may cost: bounds of an agent, bounds of a graph, and models that fail."""

from collections import Counter
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from kit import answers_in, table
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import (
    GraphSetupError,
    Result as ResultOf,
    SelfCorrection,
    ToolSpec,
    on_error,
)
from selfcorrect.errors import CorrectionFailed
from selfcorrect.policies import (
    AgentBudget,
    Checkpoint,
    Extend,
    Hooks,
    RespondWith,
    Rethrow,
    RetryModel,
    Stop,
)
from selfcorrect.testing import ScriptedModel, VirtualTime, play, tool_call

THREAD = {"configurable": {"thread_id": "1"}}


def make(model, tools, checkpointer=None, **options):
    return create_agent(
        model, tools, middleware=[SelfCorrection(**options)], checkpointer=checkpointer
    )


def tools_of(ran):
    def look(n: int = 0) -> str:
        """Look."""
        ran.append("look")
        if n % 5 == 3:
            raise ValueError(f"no row {n}")
        return f"row {n}"

    def pay(n: int = 0) -> str:
        """Pay."""
        ran.append("pay")
        return f"paid {n}"

    look.metadata = {"effect": "read_only"}
    pay.metadata = {"effect": "mutating"}
    return [look, pay]


def endless(name="look"):
    return ScriptedModel([lambda messages: tool_call(name, n=10 * len(messages))], again=True)


@pytest.mark.parametrize(("bounds", "asked", "ran", "why"), table("budgets.txt", "ends"))
@pytest.mark.parametrize("raises", [False, True])
def test_a_budget_ends_the_run(bounds, asked, ran, why, raises):
    model, done = endless(), []
    failure = "raise" if raises else "report"
    agent = make(model, tools_of(done), budget=AgentBudget(**bounds), on_failure=failure)
    if raises:
        with pytest.raises(CorrectionFailed, match=why):
            agent.invoke({"messages": "x"})
    else:
        out = agent.invoke({"messages": "x"})
        assert why in out["messages"][-1].text
    assert (len(model.prompts), len(done)) == (asked, ran)


def test_tokens_are_estimated_where_the_model_says_none():
    model = endless()
    agent = make(model, tools_of([]), budget=AgentBudget(turns=None, tokens=60))
    assert "tokens, at most 60" in agent.invoke({"messages": "x"})["messages"][-1].text
    assert len(model.prompts) < 6


def test_a_word_of_the_user_begins_another_run():
    model, done = ScriptedModel([tool_call("look"), "one", tool_call("look"), "two"]), []
    agent = make(model, tools_of(done), InMemorySaver(), budget=AgentBudget(turns=2))
    assert agent.invoke({"messages": "x"}, THREAD)["messages"][-1].text == "one"
    assert agent.invoke({"messages": "y"}, THREAD)["messages"][-1].text == "two"


def test_a_budget_is_extended_by_code_and_told_of_once_before():
    asked, told, model = [], [], endless()

    def decide(report):
        asked.append(report)
        return Extend(turns=5) if len(asked) == 1 else Stop()

    hooks = Hooks(on_threshold=lambda *said: told.append(said), threshold=0.6)
    agent = make(model, tools_of([]), budget=AgentBudget(turns=3), on_limit=decide, hooks=hooks)
    agent.invoke({"messages": "x"})
    assert len(model.prompts) == 5
    assert asked[0] == {"limit": "turns", "used": 3, "bound": 3, "detail": "3 turns, at most 3"}
    assert told == [("turns", 2, 3)]


@pytest.mark.parametrize(("answer", "last"), table("budgets.txt", "answers"))
def test_a_run_goes_on_where_it_stopped(answer, last):
    done, saver = [], InMemorySaver()
    script = [tool_call("pay"), tool_call("pay", n=1), "done"]

    def new_agent(items):
        # Another process knows what the checkpoint holds, and nothing else.
        return make(
            ScriptedModel(items),
            tools_of(done),
            saver,
            budget=AgentBudget(turns=2),
            on_limit=lambda report: Checkpoint(),
        )

    out = new_agent(script).invoke({"messages": "x"}, THREAD)
    assert out["__interrupt__"][0].value["limit"] == "turns"
    assert done == ["pay", "pay"]
    out = new_agent(script[2:]).invoke(Command(resume=answer), THREAD)
    assert out["messages"][-1].text == last
    assert done == ["pay", "pay"]


@pytest.mark.parametrize("limits", [{"turns": -1}, {"turns": "20"}, {"turn": 3}, {1: 2}])
def test_limits_that_are_none_are_asked_for_again(limits):
    saver, options = InMemorySaver(), {"on_limit": lambda _: Checkpoint()}
    agent = make(endless(), tools_of([]), saver, budget=AgentBudget(turns=1), **options)
    agent.invoke({"messages": "x"}, THREAD)
    for turns in (limits, {"turns": 2}):
        out = agent.invoke(Command(resume={"action": "extend", "limits": turns}), THREAD)
    assert out["__interrupt__"][0].value["bound"] == 2


RETRIES = ModelRetryMiddleware(max_retries=6, initial_delay=0, jitter=False)
BOOM = ValueError("boom")


@pytest.mark.parametrize("place", ["handler", "outer", "inner"])
def test_a_request_that_fails_counts(place):
    model = ScriptedModel([BOOM], again=True)
    decide = (lambda _: RetryModel(9, 0)) if place == "handler" else None
    own = SelfCorrection(budget=AgentBudget(turns=2), on_model_error=decide)
    middleware = {"handler": [own], "outer": [RETRIES, own], "inner": [own, RETRIES]}[place]
    agent = create_agent(model, tools_of([]), middleware=middleware)
    agent.invoke({"messages": "x"})
    assert len(model.prompts) == 2


def test_no_wait_passes_the_seconds():
    model = ScriptedModel([BOOM], again=True)
    options = {"on_model_error": lambda _: RetryModel(9, 20)}
    agent = make(model, tools_of([]), budget=AgentBudget(seconds=10), **options)
    assert "seconds, at most 10" in agent.invoke({"messages": "x"})["messages"][-1].text
    assert len(model.prompts) == 1


def test_only_a_word_of_the_user_begins_another_run_in_another_process():
    model, saver = endless(), InMemorySaver()
    agent = make(model, tools_of([]), saver, budget=AgentBudget(turns=2))
    agent.invoke({"messages": "x"}, THREAD, interrupt_after=["tools"])
    note = HumanMessage("note", additional_kwargs={"lc_source": "guard"})
    agent.update_state(THREAD, {"messages": [note]}, as_node="tools")
    agent.invoke(None, THREAD)
    assert len(model.prompts) == 2


@pytest.mark.parametrize("given", [{"turns": 0}, {"seconds": -1}, {"tokens": "many"}])
def test_a_budget_that_is_none_is_refused(given):
    with pytest.raises(GraphSetupError, match="must be a positive number"):
        AgentBudget(**given)
    with pytest.raises(GraphSetupError):
        Extend(**given)


def test_an_option_that_is_no_budget_is_refused():
    with pytest.raises(GraphSetupError, match="did you mean 'turns'"):
        Extend(turn=3)


def test_no_handler_swallows_a_budget():
    model = endless()
    agent = make(
        model,
        tools_of([]),
        budget=AgentBudget(turns=2),
        on_failure="raise",
        on_error=on_error(execution_error=ResultOf("swallowed")),
        on_model_error=lambda error: RespondWith("swallowed"),
    )
    with pytest.raises(CorrectionFailed, match="2 turns"):
        agent.invoke({"messages": "x"})


ITEMS = st.one_of(
    st.sampled_from(["look", "pay"]).flatmap(
        lambda name: st.integers(0, 6).map(lambda n: ("call", name, n))
    ),
    st.tuples(st.just("two"), st.integers(0, 6)),
    st.sampled_from([("text",), ("blank",), ("error",), ("unknown",), ("raw",)]),
)
BOUNDS = st.fixed_dictionaries(
    {
        "turns": st.none() | st.integers(1, 5),
        "tool_calls": st.none() | st.integers(1, 5),
        "same_tool": st.none() | st.integers(1, 4),
        "argument_bytes": st.none() | st.integers(2, 9),
    }
)
DECISIONS = st.lists(st.sampled_from(["stop", "extend", "checkpoint"]), max_size=3)


def item_of(kind, *rest):
    if kind == "call":
        return tool_call(rest[0], n=rest[1])
    if kind == "two":
        calls = [
            {"name": name, "args": {"n": rest[0]}, "id": f"{name}{rest[0]}"}
            for name in ("look", "pay")
        ]
        return AIMessage("", tool_calls=calls)
    return {
        "text": "an answer",
        "blank": "",
        "error": ConnectionResetError("reset"),
        "unknown": tool_call("loook_at", n=1),
        "raw": '<tool_call>{"name": "look", "arguments": {"n": 1',
    }[kind]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ITEMS, max_size=12), BOUNDS, DECISIONS)
def test_no_stream_of_answers_passes_the_budget_of_an_agent(items, bounds, decisions):
    model, done, reports = ScriptedModel([item_of(*each) for each in items]), [], []
    limits, most = {**bounds}, {**bounds}

    def decide(report):
        reports.append(report)
        kind = decisions[len(reports) - 1] if len(reports) <= len(decisions) else "stop"
        if kind == "stop":
            return Stop()
        most[report["limit"]] = report["bound"] + 1
        return (
            Extend(**{report["limit"]: report["bound"] + 1}) if kind == "extend" else Checkpoint()
        )

    agent = make(
        model,
        tools_of(done),
        InMemorySaver(),
        budget=AgentBudget(seconds=None, **limits),
        on_limit=decide,
        on_model_error=lambda error: RespondWith("sorry"),
    )
    sent = {"messages": [HumanMessage("go")]}
    for _ in range(len(decisions) + 2):
        out = agent.invoke(sent, {**THREAD, "recursion_limit": 200})
        if "__interrupt__" not in out:
            break
        limit = out["__interrupt__"][0].value["limit"]
        sent = Command(resume={"action": "extend", "limits": {limit: most[limit]}})
    assert "__interrupt__" not in out
    assert most["tool_calls"] is None or len(done) <= most["tool_calls"]
    if most["same_tool"] is not None:
        # In the order of the thread: calls of one turn run side by side.
        names = [each.name for each in answers_in(out["messages"])]
        rows = [len(list(row)) for _, row in groupby(names)]
        assert max(rows, default=0) <= most["same_tool"]
    # A turn is asked again where it stopped; what a tool has done is not done again.
    assert Counter(done)["pay"] <= sum(1 for each in items if each[0] in ("call", "two"))


REPAIRS = st.sampled_from(
    ['{"q": 5}', '{"q": "x"}', "no json", "", ConnectionResetError("x"), OSError("y")]
)
HANDLERS = st.sampled_from(
    [None, lambda _: Rethrow(), lambda _: RetryModel(9, 1.0), lambda _: RespondWith('{"q": 7}')]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(REPAIRS, max_size=8), HANDLERS, st.integers(0, 5), st.integers(1, 40))
def test_no_stream_of_answers_passes_the_limits_of_a_graph(answers, decide, calls, seconds):
    model, time, ran = ScriptedModel(answers), VirtualTime(), []
    schema = {"type": "object", "properties": {"q": {"type": "integer"}}, "required": ["q"]}
    tool = ToolSpec.from_schema(
        {"name": "t", "description": "t", "parameters": schema},
        lambda **args: ran.append(args) or "ok",
        effect="read_only",
    )
    out = play(
        [tool],
        {"call": {"name": "t", "args": {}}, "request": "five"},
        model=model,
        time=time,
        on_model_error=decide,
        limits={"model_calls": calls, "seconds": seconds},
    )
    assert len(model.prompts) <= calls
    assert sum(time.slept) <= seconds
    assert len(ran) <= 1
    assert bool(ran) is ("result" in out)
