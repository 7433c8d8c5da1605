"""JSON analyst: an agent whose tool escalates what it cannot read, and calls again corrected.

The tool's errors go to a fixer, a model that escalates with the corrected JSON as its reason. The
analyst reads that as the tool's answer, and calls again. `selfcorrect run json_analyst` plays
`EXAMPLES` with rehearsed models; `make_graph` takes any chat models.
"""

import re
from typing import Any, TypedDict

from langchain.agents import create_agent
from langgraph.graph import END, START, StateGraph

from selfcorrect import Fix, SelfCorrection, on_error
from selfcorrect.testing import ScriptedModel, tool_call
from selfcorrect.tools.built_in import escalate

PROMPT = (
    "Count the keys of JSON objects with the tool count_keys. If it answers with an ERROR, read "
    "it: it holds the corrected JSON. Call again with that. Reply with the number only."
)
WRITTEN = "{name: world, age: 30, active: true}"
CORRECTED = '{"name": "world", "age": 30, "active": true}'


class Analysis(TypedDict, total=False):
    """A request goes in; the answer and the steps of every call come out."""

    request: str
    result: str
    trail: list[Any]


def make_tool(fixer: Any) -> Any:
    """Return the tool; what is done about its errors stands beside it."""

    @on_error(execution_error=Fix(fixer, retries=2))
    def count_keys(text: str) -> int:
        """Count the keys of a JSON object, given as text."""
        keys = re.findall(r'"([^"]+)"\s*:', text)
        if not keys:
            raise ValueError("no valid keys: are they quoted?")
        return len(keys)

    return count_keys


def make_graph(
    *, model: Any = None, fixer: Any = None, checkpointer: Any = None, **options: Any
) -> Any:
    """Return the agent as a graph; `options` are those of `SelfCorrection`."""

    def analyse(state: Analysis) -> Analysis:
        trail: list[Any] = []
        middleware = SelfCorrection(
            on_trail=lambda each: trail.extend(each["trail"]),
            effects={"count_keys": "read_only"},
            **options,
        )
        tool = make_tool((fixer or rehearse_fixer()).bind_tools([escalate]))
        analyst = model or rehearse_analyst()
        agent: Any = create_agent(analyst, [tool], system_prompt=PROMPT, middleware=[middleware])
        out = agent.invoke({"messages": [("user", state["request"])]})
        return {"result": out["messages"][-1].text, "trail": trail}

    builder = StateGraph(Analysis).add_node("analyse", analyse)
    builder.add_edge(START, "analyse").add_edge("analyse", END)
    return builder.compile(checkpointer, name="json_analyst")


def rehearse_analyst() -> ScriptedModel:
    """Return a model that calls with what was written, then with what it was told, then answers."""
    return ScriptedModel([tool_call("count_keys", text=WRITTEN), _call_again, _say_number])


def rehearse_fixer() -> ScriptedModel:
    """Return a model that escalates with the corrected JSON."""
    reason = f"The keys are not quoted. Corrected: {CORRECTED}"
    return ScriptedModel([tool_call("escalate", reason=reason, severity="MEDIUM")])


def _call_again(messages: list[Any]) -> Any:
    found = re.search(r"\{.*\}", messages[-1].text)
    return tool_call("count_keys", text=found[0] if found else "")


def _say_number(messages: list[Any]) -> str:
    return str(messages[-1].text)


graph = make_graph()

EXAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    ("keys without quotes; the tool escalates", "result", {"request": f"How many keys? {WRITTEN}"}),
]
