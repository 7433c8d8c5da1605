"""What people plug in, each in at most twenty lines over documented names."""

from operator import add
from typing import Annotated

from kit import DATE, INTEGER, TEXT, Tool
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from selfcorrect import (
    Change,
    Changed,
    CorrectionState,
    ErrorRule,
    Fix,
    GiveUp,
    Safety,
    StrategyMap,
    build_graph,
    on_error,
    strategy,
)
from selfcorrect.testing import ScriptedModel

CALL = {"call": {"name": "t", "args": {"q": 1}}}


def test_an_own_node_on_an_edge_keeps_state_of_its_own():
    class Audited(CorrectionState, total=False):
        audit: Annotated[list[str], add]

    def note(state, context):
        return {"audit": [change["strategy"] for change in state["changes"]]}

    graph = build_graph(
        [Tool(schema={"day": DATE}).spec],
        on_edge={("validate", "retry"): note},
        state=Audited,
    )
    out = graph.invoke({"call": {"name": "t", "args": {"day": "26 Oct 2026"}}})
    assert (out["result"], out["audit"]) == ("ok", ["format-date"])


def test_a_planner_makes_the_call_of_a_request():
    def plan(state, context):
        number = int(state["given"]["request"].split()[-1])
        call = {"name": "t", "args": {"q": number}}
        return {"outcome": "planned", "current": call, "original": call}

    tool = Tool()
    graph = build_graph([tool.spec], planner=plan)
    assert graph.invoke({"request": "please do it 3"})["result"] == "ok"
    assert tool.ran == [{"q": 3}]


def test_a_strategy_and_a_map_for_one_deployment():
    @strategy("known-customer")
    def known_customer(call, diagnosis, context, *, customers):
        number = customers.get(call.args["name"])
        if number is None:
            return GiveUp("nobody has this name")
        change = Change("/args/name", call.args["name"], number, Safety.INFERRED, "the customer")
        return Changed(change)

    rule = ErrorRule(
        id="customer",
        tool="t",
        match="unknown customer",
        kind="not_found",
        repair=[known_customer, "ask-human"],
        options={"known-customer": {"customers": {"Ann": "C-17"}}},
        priority="critical",
    )
    tool = Tool(LookupError("unknown customer"), schema={"name": TEXT})
    graph = build_graph([tool.spec], strategies=StrategyMap([rule], extends=["default"]))
    assert graph.invoke({"call": {"name": "t", "args": {"name": "Ann"}}})["result"] == "ok"
    assert tool.ran[-1] == {"name": "C-17"}


def test_a_fixer_is_an_agent():
    model = ScriptedModel(['{"q": 5}'])

    def ask_agent(request):
        prompt = f"{request.error}: {request.arguments}, asked: {request.request}"
        return model.invoke(prompt).content

    for fixer in (ask_agent, RunnableLambda(ask_agent), ScriptedModel(['{"q": 5}'])):
        # On a tool that acts a model fills in what is missing, and replaces nothing.
        for effect, args in (("mutating", {}), ("read_only", {"q": "a handful"})):
            model = ScriptedModel(['{"q": 5}'])
            own = ScriptedModel(['{"q": 5}']) if isinstance(fixer, ScriptedModel) else fixer
            tool = Tool(effect=effect, required=["q"], on_error=on_error(invalid_args=Fix(own)))
            given = {"call": {"name": "t", "args": args}, "request": "five"}
            assert build_graph([tool.spec]).invoke(given)["result"] == "ok"
            assert tool.ran == [{"q": 5}]


def test_one_graph_file_and_two_maps_have_two_outcomes(tmp_path, monkeypatch):
    import runpy

    file = tmp_path / "app.py"
    file.write_text(
        "from selfcorrect import build_graph\n"
        "from datetime import date\n"
        "def book(day: date) -> str:\n"
        '    "Book."\n'
        "    return str(day)\n"
        "graph = build_graph([book])\n"
    )
    given = {"call": {"name": "book", "args": {"day": "Oct 26, 2026"}}}
    outs = {}
    for name in ("default", "strict"):
        monkeypatch.setenv("SELFCORRECT_STRATEGIES", name)
        outs[name] = runpy.run_path(str(file))["graph"].invoke(given)
    assert outs["default"]["result"] == "2026-10-26"
    assert outs["strict"]["failure"]["reason"] == "needs_person"


def test_the_compiled_graph_is_a_node_of_somebody_elses_graph():
    tool = Tool(schema={"day": DATE, "q": INTEGER}, effect="mutating")
    outer = StateGraph(CorrectionState)
    outer.add_node("call", build_graph([tool.spec]))
    outer.add_edge(START, "call")
    outer.add_edge("call", END)
    graph = outer.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    given = {"call": {"name": "t", "args": {"day": "03/04/2026", "q": "2"}}}
    chunks = list(graph.stream(given, config, subgraphs=True, stream_mode="updates"))
    seen = {node for _, chunk in chunks for node in chunk}
    assert {"plan", "execute", "diagnose", "repair", "__interrupt__"} <= seen
    out = graph.invoke(Command(resume="2026-04-03"), config)
    assert out["result"] == "ok"
    assert tool.ran == [{"day": "2026-04-03", "q": 2}]
