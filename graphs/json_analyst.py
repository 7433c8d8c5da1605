"""A JSON analyst: an agent whose tool says, next to the tool, how its errors are handled.

The analyst counts the keys of JSON objects with a tool. Where the tool cannot read a text, a fixer
(a model) escalates with the corrected JSON as the reason; the analyst reads that as the tool's
answer and calls again. Both models are rehearsed here, so that the graph runs without a network;
`make_graph(analyst=…, fixer=…)` takes any chat models.
"""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from selfcorrect import Fix, ToolSpec, build_graph, on_error
from selfcorrect.policies import AgentBudget, Hooks
from selfcorrect.policies.agent_budget import take
from selfcorrect.testing import ScriptedModel, tool_call
from selfcorrect.tools import escalate

BUDGET: Final = AgentBudget(turns=10)
TOOL: Final = "calculate_number_of_keys"
ANALYST: Final = (
    f"Use the tool {TOOL} to count the keys of JSON objects. Where the tool answers with an ERROR, "
    "read it: it holds the corrected JSON. Call again with that. Reply with the number only."
)


class Talk(TypedDict, total=False):
    """What the graph takes and gives: messages in, the answer and the trail of each call out."""

    messages: Annotated[list[AnyMessage], add_messages]
    spent: dict[str, Any]
    trail: list[Any]
    result: str


def key_counter(fixer: Any) -> ToolSpec:
    """The tool, with what is done about its errors beside it."""

    @on_error(execution_error=Fix(fixer, retries=2))
    def calculate_number_of_keys(text: str) -> int:
        """Count the keys at the top of a JSON object.

        Args:
            text: The JSON object.
        """
        keys = re.findall(r'"([^"]+)"\s*:', text)
        if not keys:
            raise ValueError("no valid keys: are they quoted?")
        return len(keys)

    return ToolSpec.from_function(calculate_number_of_keys, effect="read_only")


def make_graph(analyst: Any = None, fixer: Any = None, hooks: Hooks | None = None) -> Any:
    """The agent as a graph; without models of yours, the rehearsed ones play."""
    fixer = fixer if fixer is not None else rehearsed_fixer()
    counter = key_counter(fixer.bind_tools([escalate]))
    corrected = build_graph([counter], hooks=hooks)
    model = (analyst if analyst is not None else rehearsed_analyst()).bind_tools(
        [{"name": TOOL, "description": counter.description, "parameters": dict(counter.schema)}]
    )

    def think(state: Talk) -> Talk:
        spent, why = take(BUDGET, state.get("spent") or {}, turns=1)
        if why is not None:
            return {"messages": [AIMessage(f"Stopped: {why}.")], "result": f"stopped: {why}"}
        answer = model.invoke([SystemMessage(ANALYST), *state["messages"]])
        if not answer.tool_calls:
            return {"messages": [answer], "spent": spent, "result": str(answer.content)}
        return {"messages": [answer], "spent": spent}

    def act(state: Talk) -> Talk:
        told, trail = [], list(state.get("trail") or ())
        for call in _calls(state["messages"]):
            out = corrected.invoke({"call": call, "messages": []})
            trail += out["trail"]
            failure = out.get("failure")
            text = failure["for_model"] if failure else json.dumps(out["result"])
            told.append(ToolMessage(text, tool_call_id=call["id"]))
        return {"messages": [*told], "trail": trail}

    def route(state: Talk) -> str:
        return "act" if _calls(state["messages"]) else END

    builder: Any = StateGraph(Talk)
    builder.add_node("think", think)
    builder.add_node("act", act)
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", route, ["act", END])
    builder.add_edge("act", "think")
    return builder.compile(name="json_analyst")


def _calls(messages: Sequence[AnyMessage]) -> list[Any]:
    last = messages[-1]
    return list(last.tool_calls) if isinstance(last, AIMessage) else []


def rehearsed_analyst() -> ScriptedModel:
    """Plays the analyst: calls the tool with the JSON that it sees, then says the number."""

    def play(messages: list[Any]) -> AIMessage:
        last = str(messages[-1].content)
        if messages[-1].type == "tool" and not last.startswith("ERROR"):
            return AIMessage(last)
        found = re.search(r"data: (\".*\")", last)
        text = json.loads(found[1]) if found else last
        wanted = re.search(r"\{.*\}", text, re.DOTALL)
        return tool_call(TOOL, text=wanted[0] if wanted else text)

    return ScriptedModel([play], again=True)


def rehearsed_fixer() -> ScriptedModel:
    """Plays the fixer: quotes the names, and escalates with what came of it."""

    def play(messages: list[Any]) -> AIMessage:
        found = re.search(r"Arguments: data: (.*)", str(messages[-1].content))
        text = str(json.loads(found[1]).get("text")) if found else "{}"
        pairs = re.findall(r"(\w+)\s*:\s*([^,}]+)", text)
        fixed = json.dumps({name: _value(value.strip()) for name, value in pairs})
        return tool_call("escalate", reason=f"The keys are not quoted. Corrected: {fixed}")

    return ScriptedModel([play], again=True)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


graph = make_graph()


def examples() -> list[dict[str, Any]]:
    """What one can ask: `{"title", "input", "expect"}` each."""
    asked = "How many keys? {name: world, age: 30, active: true}"
    given = {"messages": [{"role": "user", "content": asked}]}
    return [{"title": "keys without quotes", "input": given, "expect": "mended"}]
