"""What mending a call costs in model calls and tokens: LangGraph's ToolNode loop beside ours.

    python tests/benchmarks/model_cost.py

The same broken calls go through both, with a scripted model that always answers correctly. The call
that the model wrote first is not counted, only what mending it costs. Tokens are what the model is
sent and answers, tools included, in LangChain's approximate count.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from selfcorrect import ToolSpec, build_graph
from selfcorrect.testing import ScriptedModel

REQUEST = "Book a flight from LHR to CDG on 26 October 2026 for the two of us, business class."
RIGHT = {
    "origin": "LHR",
    "destination": "CDG",
    "departure_date": "2026-10-26",
    "passengers": 2,
    "cabin": "business",
}


def _with(**changes: Any) -> dict[str, Any]:
    args = {**RIGHT, **changes}
    return {"name": "book_flight", "args": {k: v for k, v in args.items() if v is not None}}


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a date in words", _with(departure_date="Oct 26, 2026")),
    ("a date with slashes", _with(departure_date="2026/10/26")),
    ("a number in words", _with(passengers="two")),
    ("a value with more words", _with(cabin="business class")),
    ("a misspelt required argument", _with(passengers=None, pasengers=2)),
    ("a misspelt optional argument", _with(cabin=None, cabbin="business")),
    ("arguments inside arguments", {"name": "book_flight", "args": {"arguments": RIGHT}}),
    ("a slip in the tool's name", {"name": "book_fligth", "args": RIGHT}),
    ("text for a number, another spelling", _with(passengers="2", cabin=" Business")),
    ("a missing value that the request says", _with(passengers=None)),
    ("a value that no rule knows", _with(cabin="the nice seats")),
    ("both of these", _with(passengers=None, cabin="the nice seats")),
)


@dataclass
class World:
    """What reached the tool."""

    booked: list[dict[str, Any]] = field(default_factory=list)

    def tools(self) -> list[BaseTool]:
        """The booking, as LangChain sees it."""

        @tool
        def book_flight(
            origin: str,
            destination: str,
            departure_date: date,
            passengers: int,
            cabin: Literal["economy", "business", "first"] = "economy",
        ) -> str:
            """Book seats on a flight between two airports (IATA codes)."""
            given = (origin, destination, departure_date.isoformat(), passengers, cabin)
            self.booked.append(dict(zip(RIGHT, given, strict=True)))
            return "booked"

        @tool
        def search_flights(origin: str, destination: str, departure_date: date) -> str:
            """Search flights between two airports (IATA codes)."""
            return f"{origin} {destination} {departure_date}"

        return [book_flight, search_flights]


@dataclass(frozen=True)
class Cost:
    """What mending one call came to."""

    calls: int
    tokens: int
    outcome: str

    @classmethod
    def of(cls, model: ScriptedModel, answers: Sequence[AnyMessage], world: World) -> Cost:
        """The price of everything that the model was sent and answered."""
        tools = [json.dumps(each) for each in model.bound_tools]
        tokens = sum(
            count_tokens_approximately([*prompt, HumanMessage(" ".join(tools)), answer])
            for prompt, answer in zip(model.prompts, answers, strict=True)
        )
        right = world.booked == [RIGHT]
        outcome = "mended" if right else "WRONG VALUE RAN" if world.booked else "not mended"
        return cls(len(model.prompts), tokens, outcome)


def _message(call: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{**call, "id": "c1", "type": "tool_call"}])


def through_tool_node(call: dict[str, Any]) -> Cost:
    """LangGraph's own loop: the error goes back to the model with the whole conversation."""
    world, answer = World(), _message({"name": "book_flight", "args": RIGHT})
    model = ScriptedModel([answer] * 4)
    bound = model.bind_tools(world.tools())

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    def again(state: MessagesState) -> str:
        last = state["messages"][-1]
        failed = isinstance(last, ToolMessage) and last.status == "error"
        return "model" if failed and len(state["messages"]) < 9 else END

    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", think)
    builder.add_node("tools", ToolNode(world.tools(), handle_tool_errors=True))
    builder.add_edge(START, "tools")
    builder.add_conditional_edges("tools", again, ["model", END])
    builder.add_edge("model", "tools")
    builder.compile().invoke({"messages": [HumanMessage(REQUEST), _message(call)]})
    return Cost.of(model, [answer] * len(model.prompts), world)


def through_selfcorrect(call: dict[str, Any]) -> Cost:
    """Rules first; a model is asked for the arguments at fault, and for nothing else."""
    world = World()
    answers: list[AnyMessage] = []

    def answer(messages: list[Any]) -> AIMessage:
        wanted = {
            key: value for key, value in RIGHT.items() if f'"{key}", now' in messages[-1].content
        }
        answers.append(AIMessage(json.dumps(wanted)))
        return AIMessage(json.dumps(wanted))

    model = ScriptedModel([answer] * 4)
    tools = [ToolSpec.from_langchain(each, effect="mutating") for each in world.tools()]
    build_graph(tools, model=model).invoke({"call": call, "request": REQUEST})
    return Cost.of(model, answers, world)


def main() -> None:
    """Print both, side by side, as the table that the README shows."""
    print("| a call with … | ToolNode loop: calls, tokens | selfcorrect: calls, tokens |")
    print("| --- | --- | --- |")
    sums: dict[str, list[Cost]] = {"loop": [], "ours": []}
    for title, call in CALLS:
        loop, ours = through_tool_node(call), through_selfcorrect(call)
        sums["loop"].append(loop)
        sums["ours"].append(ours)
        print(f"| {title} | {_cell(loop)} | {_cell(ours)} |")
    print(f"| **per mended call** | {_mean(sums['loop'])} | {_mean(sums['ours'])} |")


def _cell(cost: Cost) -> str:
    note = "" if cost.outcome == "mended" else f", {cost.outcome}"
    return f"{cost.calls}, {cost.tokens}{note}"


def _mean(costs: list[Cost]) -> str:
    mended = [cost for cost in costs if cost.outcome == "mended"]
    calls = sum(cost.calls for cost in costs) / max(1, len(mended))
    tokens = sum(cost.tokens for cost in costs) / max(1, len(mended))
    return f"{calls:.2f}, {tokens:.0f} ({len(mended)} of {len(costs)} mended)"


if __name__ == "__main__":
    main()
