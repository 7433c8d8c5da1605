"""One call in every host: each says what became of it, with the trail and any failure."""

from kit import answers_in
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from selfcorrect import SelfCorrection, build_graph
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel, VirtualTime, play, tool_call


def in_play(tools, name, args, **options):
    return play(tools, {"call": {"name": name, "args": args}}, time=VirtualTime(), **options)


def in_graph(tools, name, args, **options):
    return build_graph(tools, **options).invoke({"call": {"name": name, "args": args}})


def in_agent(tools, name, args, **options):
    events = []
    middleware = SelfCorrection(on_trail=events.append, **options)
    model = ScriptedModel([tool_call(name, **args), "done", "done"])
    agent = create_agent(model, tools, middleware=[middleware])
    return report_of(agent.invoke({"messages": [HumanMessage("go")]})["messages"], events)


def in_node(tools, name, args, **options):
    events = []
    node = SelfCorrectingToolNode(tools, on_trail=events.append, **options)
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
    return report_of(graph.invoke({"messages": [tool_call(name, **args)]})["messages"], events)


def report_of(messages, events):
    """Return what a host reports of its one call, whose answer carries the same failure."""
    (answer,) = answers_in(messages)
    assert "failure" not in events[0] or answer.artifact == events[0]["failure"]
    assert "failure" not in events[0] or answer.text == events[0]["failure"]["for_model"]
    return events[0]


IN_AGENTS = (in_agent, in_node)
HOSTS = (in_play, in_graph, *IN_AGENTS)


def malformed(name, text):
    """Return a turn whose only call has arguments that are no JSON."""
    call = {"name": name, "args": text, "id": "c1", "error": "", "type": "invalid_tool_call"}
    return AIMessage("", invalid_tool_calls=[call])
