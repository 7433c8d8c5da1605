"""`SelfCorrectingToolNode` in graphs built by hand: one task and one answer for each call."""

import asyncio
import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from kit import table
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from selfcorrect.errors import SelfCorrectError
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode, calls_condition

both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
THREAD = {"configurable": {"thread_id": "1"}}


def call(call_id, name="pay", **args):
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def malformed(text, call_id, name="pay"):
    found = {"name": name, "args": text, "id": call_id, "error": "no JSON"}
    return {**found, "type": "invalid_tool_call"}


def turn(*calls, invalid=(), **more):
    return AIMessage("", tool_calls=list(calls), invalid_tool_calls=list(invalid), **more)


def payer():
    ran = []

    def pay(to: str) -> str:
        """Pay somebody."""
        ran.append(to)
        return f"paid {to}"

    return pay, ran


def graph_of(tools, state=MessagesState, *, compiled=(), **options):
    graph = StateGraph(state)
    graph.add_node("tools", SelfCorrectingToolNode(tools, **options))
    graph.add_edge(START, "tools")
    return graph.compile(**dict(compiled))


def play(graph, given, is_async=False, config=None, **more):
    if is_async:
        return asyncio.run(graph.ainvoke(given, config, **more))
    return graph.invoke(given, config, **more)


def answers(messages):
    return {each.tool_call_id: each.text for each in messages if isinstance(each, ToolMessage)}


class Model(BaseModel):
    messages: Annotated[list[Any], add_messages]


@dataclass
class Data:
    messages: Annotated[list[Any], add_messages]


class Chat(TypedDict):
    chat: Annotated[list[Any], operator.add]


FORMS = {
    "a dict": (MessagesState, "messages"),
    "pydantic": (Model, "messages"),
    "a dataclass": (Data, "messages"),
    "another key": (Chat, "chat"),
    "a list": (Annotated[list[Any], add_messages], None),
}


@both
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_the_node_takes_the_forms_of_a_state(form, count, is_async):
    state, key = FORMS[form]
    pay, ran = payer()
    graph = graph_of([pay], state, **({"messages_key": key} if key else {}))
    given = [HumanMessage("x"), turn(*[call(f"c{n}", To="ann") for n in range(count)])]
    out = play(graph, {key: given} if key else given, is_async)
    messages = out[key] if key else out
    assert answers(messages) == {f"c{n}": "paid ann" for n in range(count)}
    assert len(ran) == count == len(messages) - 2


@both
@pytest.mark.parametrize("one", [call("c1", to="ann"), call("c1", to=["ann", "bob"])])
def test_a_call_that_is_sent_to_the_node_is_a_task_of_it(one, is_async):
    pay, ran = payer()
    graph = StateGraph(MessagesState)
    graph.add_node("tools", SelfCorrectingToolNode([pay]))
    graph.add_conditional_edges(START, lambda state: [Send("tools", [one])], ["tools"])
    out = play(graph.compile(), {"messages": [turn(one)]}, is_async)["messages"]
    assert list(answers(out)) == ["c1"]
    assert ran == (["ann"] if one["args"]["to"] == "ann" else [])


@both
@pytest.mark.parametrize("key", ["a", ""])
def test_calls_that_are_sent_together_are_all_made_whatever_their_ids(key, is_async):
    pay, ran = payer()
    sent = [call(key, to="ann"), call(key, to="bob")]
    graph = StateGraph(MessagesState)
    graph.add_node("tools", SelfCorrectingToolNode([pay]))
    graph.add_conditional_edges(START, lambda state: [Send("tools", sent)], ["tools"])
    out = play(graph.compile(), {"messages": [turn(*sent)]}, is_async)["messages"]
    assert [each.tool_call_id for each in out[1:]] == [key, key]
    assert sorted(ran) == ["ann", "bob"]


@both
@pytest.mark.parametrize(("name", "calls", "expected"), table("tool_node.txt", "turns"))
def test_each_call_of_the_thread_has_exactly_one_answer(name, calls, expected, is_async):
    pay, ran = payer()
    valid = [call(*each, **args) for *each, args in calls if isinstance(args, dict)]
    invalid = [malformed(text, key) for key, _, text in calls if isinstance(text, str)]
    message = turn(*valid, invalid=invalid)
    out = play(graph_of([pay]), {"messages": [message]}, is_async)["messages"]
    assert sorted(ran) == expected
    ids = [each["id"] for each in out[0].tool_calls]
    assert [each.tool_call_id for each in out[1:]] == ids
    assert not out[0].invalid_tool_calls
    assert len(set(ids)) == len(ids) == 1 + (name != "malformed alone")


@both
@pytest.mark.parametrize("call_id", ["c1", ""])
@pytest.mark.parametrize("order", ["fg", "gf", "g"])
def test_an_answered_call_is_not_executed_whatever_the_ids(order, call_id, is_async):
    ran = []

    def f() -> str:
        """F."""
        ran.append("f")
        return "1"

    def g() -> str:
        """G."""
        ran.append("g")
        return "2"

    thread = [turn(call(call_id, "f"), call(call_id, "g"), call("c2", "f"))]
    said = {"f": "1", "g": "2"}
    thread += [ToolMessage(said[each], name=each, tool_call_id=call_id) for each in order]
    found = play(graph_of([f, g]), {"messages": thread}, is_async)["messages"]
    assert ran == ["f"] * (2 if order == "g" else 1)
    ids = [each["id"] for each in found[0].tool_calls]
    said = {each.tool_call_id: each.text for each in found if isinstance(each, ToolMessage)}
    assert [said[each] for each in ids] == ["1", "2", "1"]
    assert len(said) == len(found) - 1 == 3


@both
def test_the_same_call_in_a_later_message_is_another_one(is_async):
    pay, ran = payer()
    graph = graph_of([pay], Chat, messages_key="chat", compiled={"checkpointer": InMemorySaver()})
    for _ in range(2):
        out = play(graph, {"chat": [turn(call("a", to="ann"))]}, is_async, THREAD)
    assert ran == ["ann", "ann"]
    assert len(out["chat"]) == 4


def asking(log):
    def ask(who: str) -> str:
        """Ask somebody."""
        answer = interrupt(who)
        log.append((who, answer))
        return answer

    return ask


@both
def test_each_question_gets_its_own_answer_and_what_is_done_stays_done(is_async, monkeypatch):
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    log = []
    pay, ran = payer()
    graph = graph_of([asking(log), pay], compiled={"checkpointer": InMemorySaver()})
    calls = [call("a", "ask", Who="ann"), call("p", to="zoe"), call("b", "ask", who="bob")]
    out = play(graph, {"messages": [turn(*calls)]}, is_async, THREAD)
    for name in ("bob", "ann"):
        asked = {each.value: each.id for each in out["__interrupt__"]}
        out = play(graph, Command(resume={asked[name]: f"for {name}"}), is_async, THREAD)
    assert answers(out["messages"]) == {"a": "for ann", "p": "paid zoe", "b": "for bob"}
    assert list(answers(out["messages"])) == ["a", "p", "b"]
    assert (log, ran) == ([("bob", "for bob"), ("ann", "for ann")], ["zoe"])


@both
def test_a_person_is_asked_about_each_call(is_async):
    pay, ran = payer()
    graph = graph_of([pay], ask_person=True, compiled={"checkpointer": InMemorySaver()})
    out = play(graph, {"messages": [turn(call("a"), call("b"))]}, is_async, THREAD)
    names = {"a": "ann", "b": "bob"}
    asked = {each.value["call"]["id"]: each.id for each in out["__interrupt__"]}
    resume = Command(resume={asked[key]: name for key, name in names.items()})
    out = play(graph, resume, is_async, THREAD)["messages"]
    assert answers(out) == {"a": "paid ann", "b": "paid bob"}
    assert sorted(ran) == ["ann", "bob"]


@both
def test_a_call_that_raises_takes_nothing_from_its_siblings(is_async):
    ran, broken = [], [True]

    def read(n: int) -> str:
        """Read something."""
        if n == 1 and broken:
            raise TypeError("a fault")
        ran.append(n)
        return f"got {n}"

    async def aread(n: int) -> str:
        if n == 2:
            await asyncio.sleep(0.02)
        return read(n)

    reading = tool("read", description="Read.")(aread if is_async else read)
    reading.metadata = {"effect": "read_only"}
    options = {"on_failure": "raise", "compiled": {"checkpointer": InMemorySaver()}}
    graph = graph_of([reading], **options)
    given = {"messages": [turn(call("a", "read", n=1), call("b", "read", n=2))]}
    with pytest.raises(TypeError, match="a fault"):
        play(graph, given, is_async, THREAD)
    assert ran == [2]
    broken.clear()
    out = play(graph, None, is_async, THREAD)
    assert answers(out["messages"]) == {"a": "got 1", "b": "got 2"}
    assert ran == [2, 1]


class State(MessagesState):
    user: str
    count: Annotated[int, operator.add]


@both
@pytest.mark.parametrize("count", [1, 2])
def test_what_tools_get_injected_arrives(count, is_async):
    seen = []

    @tool
    def look(
        q: int,
        user: Annotated[str, InjectedState("user")],
        store: Annotated[Any, InjectedStore()],
        call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime[Any, Any],
    ) -> str:
        """Look."""
        runtime.stream_writer(call_id)
        get_stream_writer()(call_id)
        seen.append((q, user, store.get(("a",), "b").value, runtime.context, runtime.state["user"]))
        return "ok"

    store = InMemoryStore()
    store.put(("a",), "b", {"x": 1})
    graph = graph_of([look], State, compiled={"store": store})
    calls = [call(f"c{n}", "look", q="7") for n in range(count)]
    given = {"messages": [turn(*calls)], "user": "ann", "count": 0}
    more = {"context": {"tenant": "t"}, "stream_mode": "custom"}
    written = play(graph, given, is_async, **more)
    assert seen == [(7, "ann", {"x": 1}, {"tenant": "t"}, "ann")] * count
    assert sorted(written) == sorted([f"c{n}" for n in range(count)] * 2)


@both
@pytest.mark.parametrize("count", [1, 2])
def test_commands_pass(count, is_async):
    @tool(return_direct=True)
    def take(call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Take one."""
        return Command(
            update={"count": 1, "messages": [ToolMessage("taken", tool_call_id=call_id)]}
        )

    graph = graph_of([take], State)
    calls = [call(f"c{n}", "Take") for n in range(count)]
    out = play(graph, {"messages": [turn(*calls)], "count": 0}, is_async)
    assert (out["count"], len(answers(out["messages"]))) == (count, count)


@both
def test_a_command_of_a_call_that_is_done_is_given_again(is_async):
    ran = []

    @tool
    def take(call_id: Annotated[str, InjectedToolCallId]) -> Command:
        """Take one."""
        ran.append(call_id)
        answer = ToolMessage("taken", tool_call_id=call_id)
        return Command(update={"count": 1, "messages": [answer]})

    graph = graph_of([take], State, scope="order-7")
    given = {"messages": [turn(call("c1", "take"), id="m1")], "count": 0}
    outs = [play(graph, given, is_async) for _ in range(2)]
    assert [(out["count"], len(answers(out["messages"]))) for out in outs] == [(1, 1)] * 2
    assert ran == ["c1"]


def test_commands_to_the_parent_graph_are_sent_together():
    @tool
    def hand_over(to: str) -> Command:
        """Hand over."""
        return Command(graph=Command.PARENT, goto=[Send("other", to)])

    met = []
    graph = StateGraph(MessagesState)
    graph.add_node("inner", graph_of([hand_over]), destinations=("other",))
    graph.add_node("other", met.append)
    graph.add_edge(START, "inner")
    calls = [call("a", "hand_over", to="ann"), call("b", "hand_over", to="bob")]
    graph.compile().invoke({"messages": [turn(*calls)]})
    assert sorted(met) == ["ann", "bob"]


ANSWER = ToolMessage("ok", tool_call_id="a")
ROUTES = {
    "a call": ([turn(call("a"))], "tools"),
    "a malformed call": ([turn(invalid=[malformed("??", "a")])], "tools"),
    "a call that is left": ([turn(call("a"), call("b")), ANSWER], "tools"),
    "an answered call": ([turn(call("a")), ANSWER], END),
    "a text": ([HumanMessage("x"), AIMessage("done")], END),
    "nothing": ([], END),
}


@pytest.mark.parametrize("name", ROUTES)
def test_an_open_call_leads_to_the_node(name):
    messages, target = ROUTES[name]
    assert calls_condition(messages) == target
    assert calls_condition({"chat": messages}, "chat") == target
    assert calls_condition(Data(messages)) == target


@pytest.mark.parametrize("options", [{"limit": {}}, {"strategies": "none.toml"}])
def test_mistakes_are_found_when_the_node_is_built(options):
    with pytest.raises(SelfCorrectError):
        SelfCorrectingToolNode([payer()[0]], **options)
