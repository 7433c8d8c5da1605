"""What these tests share: tools whose effects are seen, agents of a script, a valid history."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from selfcorrect.testing import ScriptedModel

FIND = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["query"],
}
BOOK = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "seats": {"type": "integer", "minimum": 1},
        "cabin": {"type": "string", "enum": ["economy", "business", "first"]},
    },
    "required": ["to", "day", "seats"],
}


class World:
    """Two tools, and everything that they did."""

    def __init__(self) -> None:
        self.done: list[tuple[str, dict[str, Any]]] = []
        self.errors: list[BaseException] = []

    def tool(self, name: str, schema: dict[str, Any], effect: str) -> BaseTool:
        def run(**args: Any) -> str:
            self.done.append((name, args))
            if self.errors:
                raise self.errors.pop(0)
            return f"{name} {json.dumps(args)}"

        return StructuredTool(
            name=name,
            description=f"{name} something",
            args_schema=schema,
            func=run,
            metadata={"effect": effect},
        )

    @property
    def tools(self) -> list[BaseTool]:
        return [
            self.tool("find_flights", FIND, "read_only"),
            self.tool("book_flight", BOOK, "mutating"),
        ]


def clearing(args: str | None) -> tuple[BaseTool, list[str], AIMessage]:
    """A tool that needs no arguments, what it did, and a call of it whose arguments were lost."""
    cleared: list[str] = []

    def clear_all(folder: str = "all") -> str:
        """Clear a folder."""
        cleared.append(folder)
        return "cleared"

    lost = {"name": "clear_all", "args": args, "id": "1", "error": "not JSON"}
    broken = AIMessage("", invalid_tool_calls=[{**lost, "type": "invalid_tool_call"}])
    return StructuredTool.from_function(clear_all), cleared, broken


def calling(*calls: tuple[str, Any], text: Any = "", **more: Any) -> AIMessage:
    """A message that makes calls; arguments that are text could not be parsed."""
    good, bad = [], []
    for number, (name, args) in enumerate(calls):
        call = {"name": name, "args": args, "id": f"c{number}"}
        if isinstance(args, str):
            bad.append({**call, "error": "not JSON", "type": "invalid_tool_call"})
        else:
            good.append({**call, "type": "tool_call"})
    return AIMessage(text, tool_calls=good, invalid_tool_calls=bad, **more)


def agent_of(world: World, script: Sequence[Any], *middleware: Any, **more: Any) -> Any:
    model = ScriptedModel(script=list(script))
    agent = create_agent(model, world.tools, middleware=middleware, **more)
    return agent, model


def run(agent: Any, text: str = "please", config: Any = None) -> list[BaseMessage]:
    out: dict[str, Any] = agent.invoke({"messages": [HumanMessage(text)]}, config)
    check_history(out["messages"])
    return out["messages"]


def check_history(messages: Sequence[BaseMessage]) -> None:
    """What every provider asks of a history."""
    open_ids: set[str] = set()
    answered: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in open_ids, "an answer to no call, or not after it"
            assert message.tool_call_id not in answered, "two answers to one call"
            answered.add(message.tool_call_id)
            continue
        assert open_ids <= answered, "a call without an answer"
        if isinstance(message, AIMessage):
            assert not message.invalid_tool_calls
            open_ids, answered = {str(call["id"]) for call in message.tool_calls}, set()
            assert len(open_ids) == len(message.tool_calls)
            for call in message.tool_calls:
                assert call["id"]
                assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["name"])
                assert isinstance(call["args"], dict)
            assert ids_in_content(message) <= open_ids, "content makes a call that nobody answers"
    assert open_ids <= answered, "the history ends with a call without an answer"


def ids_in_content(message: AIMessage) -> set[str]:
    blocks = message.content if isinstance(message.content, list) else []
    kinds = ("tool_use", "function_call", "tool_call")
    found = {b.get("call_id") or b["id"] for b in blocks if b.get("type") in kinds}
    return found | {call["id"] for call in message.additional_kwargs.get("tool_calls", ())}


def answers(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]
