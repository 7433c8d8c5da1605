"""Peers side by side: the same tools, the same broken calls, the same model, one run.

    python -m venv peers && peers/bin/pip install '.[agent]' trustcall pydantic-ai-slim json-repair
    peers/bin/python tests/benchmarks/peers.py

The model is a script: it writes one broken call; shown an error, it writes the right one; then it
says that it is done. So nobody is held back by a weak model, and every further turn is counted.
"""

from __future__ import annotations

import asyncio
import copy
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parents[2]))

from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from selfcorrect import SelfCorrection

ROUNDS = 60
MOST_TURNS = 12

FIND = ("find_flights", {"query": "CDG", "limit": 3})
BOOK = ("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": 2})
FIRST = ("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": 2, "cabin": "business"})
PLAIN = ("find_flights", {"query": "CDG"})
TAGS = ("find_flights", {"query": "CDG", "tags": ["cheap"]})

# What a model writes (arguments that are text were no JSON; a text alone stands in its message),
# and the call that was meant; None where only the model, or a person, can know.
BROKEN: dict[str, tuple[Any, Any]] = {
    "a number as text": (("find_flights", {"query": "CDG", "limit": "3"}), FIND),
    "a whole number as a decimal": (("find_flights", {"query": "CDG", "limit": 3.0}), FIND),
    "null for a default": (("find_flights", {"query": "CDG", "limit": 3, "tags": None}), FIND),
    "one value for a list": (("find_flights", {"query": "CDG", "tags": "cheap"}), TAGS),
    "a list as text": (("find_flights", {"query": "CDG", "tags": '["cheap"]'}), TAGS),
    "a number in words": (("book_flight", {**BOOK[1], "seats": "two"}), BOOK),
    "a date in words": (("book_flight", {**BOOK[1], "day": "Oct 26, 2026"}), BOOK),
    "a date with slashes": (("book_flight", {**BOOK[1], "day": "2026/10/26"}), BOOK),
    "a near value": (("book_flight", {**BOOK[1], "cabin": "Business class"}), FIRST),
    "a value in capitals": (("book_flight", {**BOOK[1], "cabin": "BUSINESS"}), FIRST),
    "a parameter in capitals": (("find_flights", {"Query": "CDG", "limit": 3}), FIND),
    "a parameter misspelt": (("find_flights", {"quere": "CDG", "limit": 3}), FIND),
    "an optional one misspelt": (("find_flights", {"query": "CDG", "limt": 3}), FIND),
    "arguments in arguments": (("find_flights", {"arguments": dict(FIND[1])}), FIND),
    "the tool in camel case": (("findFlights", dict(FIND[1])), FIND),
    "the tool misspelt": (("find_fligths", dict(FIND[1])), FIND),
    "residue in the name": (("find_flights<|channel|>commentary", dict(FIND[1])), FIND),
    "a comma too many": (("find_flights", '{"query": "CDG", "limit": 3,}'), FIND),
    "single quotes": (("find_flights", "{'query': 'CDG', 'limit': 3}"), FIND),
    "a fence": (("find_flights", '```json\n{"query": "CDG", "limit": 3}\n```'), FIND),
    "tags around the call": (
        '<tool_call>{"name": "find_flights", "arguments": {"query": "CDG"}}</tool_call>',
        PLAIN,
    ),
    "a call in code": ("[find_flights(query='CDG', limit=3)]", FIND),
    "a call as JSON text": ('{"name": "find_flights", "arguments": {"query": "CDG"}}', PLAIN),
    "cut inside a text": (("find_flights", '{"query": "CD'), None),
    "half a seat": (("book_flight", {**BOOK[1], "seats": 2.5}), None),
    "an ambiguous date": (("book_flight", {**BOOK[1], "day": "04/05/2026"}), None),
    "a missing argument": (("book_flight", {"to": "CDG", "seats": 2}), None),
    "an unknown tool": (("fly_to_the_moon", {"query": "CDG"}), None),
    "two tools equally near": (("flights", {"query": "CDG"}), None),
}


@dataclass
class World:
    """The tools, and everything that was executed."""

    done: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def functions(self) -> list[Callable[..., Any]]:
        def find_flights(query: str, limit: int = 5, tags: list[str] = []) -> str:  # noqa: B006
            """Find flights."""
            given = {"query": query, "limit": limit, "tags": tags}
            defaults: dict[str, Any] = {"limit": 5, "tags": []}
            self.note("find_flights", given, defaults)
            return f"found {query}"

        def book_flight(
            to: str,
            day: date,
            seats: int,
            cabin: Literal["economy", "business", "first"] = "economy",
        ) -> str:
            """Book a flight."""
            given = {"to": to, "day": str(day), "seats": seats, "cabin": cabin}
            self.note("book_flight", given, {"cabin": "economy"})
            return f"booked {seats} to {to}"

        def read_report(number: int) -> str:
            """Read a report."""
            self.done.append(("read_report", {"number": number}))
            raise PermissionError("access denied: reports are closed")

        return [find_flights, book_flight, read_report]

    def note(self, name: str, given: dict[str, Any], defaults: dict[str, Any]) -> None:
        said = {k: v for k, v in given.items() if k not in defaults or v != defaults[k]}
        self.done.append((name, said))

    def tools(self) -> list[Any]:
        made = [tool(function) for function in self.functions()]
        effects = ("read_only", "mutating", "read_only")
        for each, effect in zip(made, effects, strict=True):
            each.metadata = {"effect": effect}
        return made


@dataclass
class Script:
    """What the model writes next, by what it was shown."""

    first: Any
    right: Any
    insists: bool = False
    turns: int = 0
    made_right: bool = False

    def next(self, shown_error: bool) -> Any:
        """A call, or a text. `insists`: the same call again and again, three times in all."""
        self.turns += 1
        if self.turns == 1 or (self.insists and self.turns <= 3):
            return self.first
        if shown_error and self.right is not None and not self.made_right:
            self.made_right = True
            return self.right
        return "done"


def message_of(said: Any, number: int) -> AIMessage:
    if isinstance(said, str):
        return AIMessage(said)
    name, args = said
    call = {"name": name, "args": copy.deepcopy(args), "id": f"call_{number}"}
    if isinstance(args, str):
        return AIMessage("", invalid_tool_calls=[{**call, "error": "no JSON"}])
    return AIMessage("", tool_calls=[call])


class Model(BaseChatModel):
    """The script as a LangChain model."""

    script: Any
    patches: bool = False

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last = messages[-1]
        is_error = isinstance(last, ToolMessage) and (
            last.status == "error" or "rror" in str(last.content)
        )
        message = message_of(self.script.next(is_error), self.script.turns)
        if self.patches and self.script.made_right and message.tool_calls:
            message = self.patch(message, messages)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def patch(self, message: AIMessage, messages: list[BaseMessage]) -> AIMessage:
        """The right call in the form in which trustcall asks for corrections."""
        broken = next(each for each in reversed(messages) if isinstance(each, AIMessage))
        patches = [
            {"op": "add", "path": f"/{key}", "value": value}
            for key, value in message.tool_calls[0]["args"].items()
        ]
        args = {
            "json_doc_id": broken.tool_calls[0]["id"] if broken.tool_calls else "call_1",
            "planned_edits": "correct it",
            "patches": patches,
        }
        call = {"name": "PatchFunctionErrors", "args": args, "id": f"patch_{self.script.turns}"}
        return AIMessage("", tool_calls=[call])


@dataclass
class Seen:
    """What one run came to."""

    done: list[tuple[str, dict[str, Any]]]
    turns: int
    died: bool = False
    answered: bool = False


Run = Callable[[], Seen]
Peer = Callable[[Script], Run]
"""Builds everything for a script, and gives what runs it."""
ASK = {"messages": [HumanMessage("Fly me to CDG on 2026-10-26.")]}


def finished(world: World, script: Script, messages: list[BaseMessage]) -> Seen:
    """Answered: somebody was told something, a tool's result or words."""
    told = any(isinstance(message, ToolMessage) for message in messages)
    last = messages[-1]
    words = isinstance(last, AIMessage) and last.text == "done"
    return Seen(world.done, script.turns, answered=told or words or "stop here" in last.text)


def run(world: World, script: Script, graph: Any) -> Run:
    def once() -> Seen:
        try:
            out = graph.invoke(ASK, {"recursion_limit": 2 * MOST_TURNS})
        except Exception:
            return Seen(world.done, script.turns, died=True)
        return finished(world, script, out["messages"])

    return once


def loop(model: Any, node: Any) -> Any:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model(state["messages"])]})
    builder.add_node("tools", node)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition, ["tools", END])
    builder.add_edge("tools", "model")
    return builder.compile()


def tool_node(script: Script) -> Run:
    world = World()
    node = ToolNode(world.tools(), handle_tool_errors=True)
    return run(world, script, loop(Model(script=script).invoke, node))


def json_repair_and_tool_node(script: Script) -> Run:
    import json_repair

    world, model = World(), Model(script=script)

    def ask(messages: Any) -> AIMessage:
        message = model.invoke(messages)
        calls = list(message.tool_calls)
        for broken in message.invalid_tool_calls:
            args = json_repair.loads(broken["args"] or "")
            calls.append({"name": broken["name"], "args": args, "id": broken["id"]})
        good = [call for call in calls if isinstance(call["args"], dict)]
        return AIMessage(message.content, tool_calls=good, id=message.id)

    return run(world, script, loop(ask, ToolNode(world.tools(), handle_tool_errors=True)))


def agent(script: Script, *middleware: Any) -> Run:
    world = World()
    built = create_agent(Model(script=script), world.tools(), middleware=middleware)
    return run(world, script, built)


def tool_retry(script: Script) -> Run:
    return agent(script, ToolRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False))


def ours(script: Script) -> Run:
    return agent(script, SelfCorrection())


def trustcall_then_run(script: Script) -> Run:
    """trustcall corrects calls; it is handed the functions' schemas and runs no tools itself."""
    from trustcall import create_extractor

    world = World()
    functions = {function.__name__: function for function in world.functions()}
    model = Model(script=script, patches=True)
    extractor = create_extractor(model, tools=list(functions.values()), tool_choice="any")
    tools = {each.name: each for each in world.tools()}

    def once() -> Seen:
        try:
            out = extractor.invoke(ASK)
            calls = [call for message in out["messages"] for call in message.tool_calls]
            results = [tools[call["name"]].invoke(call["args"]) for call in calls]
        except Exception:
            return Seen(world.done, script.turns, died=True)
        return Seen(world.done, script.turns, answered=bool(results))

    return once


def pydantic_ai_agent(script: Script) -> Run:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    world = World()

    def write(messages: list[Any], _info: Any) -> ModelResponse:
        last = messages[-1]
        parts = last.parts if isinstance(last, ModelRequest) else []
        said = script.next(any(getattr(part, "retry", None) is not None for part in parts))
        if isinstance(said, str):
            return ModelResponse(parts=[TextPart(said)])
        args = said[1] if isinstance(said[1], str) else copy.deepcopy(said[1])
        return ModelResponse(parts=[ToolCallPart(said[0], args, f"call_{script.turns}")])

    built = Agent(FunctionModel(write), tools=world.functions(), retries=2)

    def once() -> Seen:
        try:
            out = asyncio.run(built.run("Fly me to CDG on 2026-10-26."))
        except Exception:
            return Seen(world.done, script.turns, died=True)
        return Seen(world.done, script.turns, answered=bool(world.done) or out.output == "done")

    return once


PEERS: dict[str, tuple[Peer, str]] = {
    "selfcorrect (SelfCorrection)": (ours, "selfcorrect"),
    "ToolNode(handle_tool_errors=True)": (tool_node, "langgraph"),
    "create_agent + ToolRetryMiddleware": (tool_retry, "langchain"),
    "json-repair + ToolNode": (json_repair_and_tool_node, "json-repair"),
    "pydantic-ai": (pydantic_ai_agent, "pydantic-ai-slim"),
    "trustcall, then the tools": (trustcall_then_run, "trustcall"),
}


@dataclass
class Row:
    """One peer's figures."""

    mended: int = 0
    turns: int = 0
    wrong: int = 0
    silent: int = 0
    died: int = 0
    permanent: int = 0


def measured(peer: Peer) -> Row:
    row = Row()
    least = healthy_turns(peer)
    for said, wanted in BROKEN.values():
        script = Script(said, wanted or BOOK)
        seen = peer(script)()
        row.mended += wanted is not None and seen.done == [wanted] and seen.turns <= least
        row.turns += max(0, seen.turns - least)
        row.wrong += wrong_in(seen.done, wanted or BOOK)
        row.silent += not seen.answered and not seen.died
        row.died += seen.died
    insisting = Script(("read_report", {"number": 1}), None, insists=True)
    row.permanent = len(peer(insisting)().done)
    return row


def wrong_in(done: list[tuple[str, dict[str, Any]]], meant: Any) -> int:
    """Executions of anything but the call that was meant, and of that one more than once."""
    return sum(call != meant for call in done) + max(0, done.count(meant) - 1)


def healthy_turns(peer: Peer) -> int:
    script = Script(FIND, None)
    return peer(script)().turns


def healthy_runs() -> dict[str, float]:
    """Milliseconds of a run in which nothing is wrong: the fastest, all peers in turns."""
    scripts = {name: Script(FIND, None) for name in PEERS}
    runs = {name: peer(scripts[name]) for name, (peer, _) in PEERS.items()}
    best = dict.fromkeys(PEERS, float("inf"))
    for _ in range(ROUNDS):
        for name, once in runs.items():
            scripts[name].turns = 0
            started = time.perf_counter()
            once()
            best[name] = min(best[name], (time.perf_counter() - started) * 1e3)
    return best


def main() -> None:
    warnings.simplefilter("ignore")
    mendable = sum(wanted is not None for _, wanted in BROKEN.values())
    rows = {name: measured(peer) for name, (peer, _) in PEERS.items()}
    fastest = healthy_runs()
    heads = [
        f"mended without a model (of {mendable})",
        "further model turns",
        "wrong executions",
        "silent ends",
        "runs that died",
        "executions of a permanent error",
        "healthy run, fastest, ms",
    ]
    print(f"| | {' | '.join(heads)} |")
    print(f"| --- |{' ---: |' * len(heads)}")
    for name, row in rows.items():
        cells = [row.mended, row.turns, row.wrong, row.silent, row.died, row.permanent]
        package = PEERS[name][1]
        try:
            label = name if package == "selfcorrect" else f"{name} ({package} {version(package)})"
        except Exception:
            label = name
        print(f"| {label} | {' | '.join(map(str, cells))} | {fastest[name]:.1f} |")


if __name__ == "__main__":
    main()
