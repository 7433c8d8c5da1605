"""Tools that are really executed, in every host that the library has, and what they did."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Self

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph

from selfcorrect import SelfCorrection, ToolSpec, build_graph
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel

ROOT = Path(__file__).parents[2]
MAPS = sorted(
    str(path)
    for folder in ("selfcorrect/maps", "strategies")
    for path in (ROOT / folder).glob("*.toml")
)
DEPLOYED = [m for m in MAPS if "/strategies/" in m or m.endswith("default.toml")]
ACTING = ("mutating", "destructive", None)
Body = Callable[[dict[str, Any]], Any]


class Tool:
    """A tool of any schema, its effect, and the arguments of each execution."""

    def __init__(
        self,
        name: str,
        properties: Mapping[str, Any],
        *,
        required: Sequence[str] | None = None,
        effect: str | None = "mutating",
        body: Body | None = None,
        atomic: bool = False,
        text: str = "",
    ) -> None:
        self.name, self.effect, self.body, self.atomic = name, effect, body, atomic
        self.schema = {
            "type": "object",
            "properties": dict(properties),
            "required": list(properties if required is None else required),
        }
        self.text = text or f"{name.replace('_', ' ')}."
        self.done: list[dict[str, Any]] = []

    def call(self, **args: Any) -> Any:
        self.done.append(args)
        return "done" if self.body is None else self.body(args)

    async def acall(self, **args: Any) -> Any:
        return self.call(**args)

    def spec(self, *, is_async: bool = False, **more: Any) -> ToolSpec:
        given = {"name": self.name, "description": self.text, "parameters": self.schema}
        if self.atomic:
            more["atomic"] = True
        run = self.acall if is_async else self.call
        return ToolSpec.from_schema(given, call=run, effect=self.effect, **more)  # type: ignore[arg-type]

    def langchain(self, **more: Any) -> StructuredTool:
        metadata: dict[str, Any] = {"effect": self.effect} if self.effect else {}
        if self.atomic:
            metadata["atomic"] = True
        return StructuredTool(
            name=self.name,
            description=self.text,
            args_schema=self.schema,
            func=self.call,
            coroutine=self.acall,
            metadata=metadata,
            **more,
        )


def shown(call: Mapping[str, Any] | str) -> str:
    return call if isinstance(call, str) else json.dumps(call, ensure_ascii=False)


def native(*calls: tuple[str, Any], text: Any = "", start: int = 0, **more: Any) -> AIMessage:
    """A message of a model with calls; arguments that are text could not be parsed."""
    good, bad = [], []
    for number, (name, args) in enumerate(calls, start):
        call = {"name": name, "args": args, "id": f"c{number}"}
        if isinstance(args, str):
            bad.append({**call, "error": "not JSON", "type": "invalid_tool_call"})
        else:
            good.append({**call, "type": "tool_call"})
    return AIMessage(text, tool_calls=good, invalid_tool_calls=bad, **more)


def in_graph(tools: Sequence[Tool], given: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    graph = build_graph([tool.spec() for tool in tools], **more)
    return dict(graph.invoke(dict(given)))


def in_async_graph(tools: Sequence[Tool], given: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    graph = build_graph([tool.spec(is_async=True) for tool in tools], **more)
    return dict(asyncio.run(graph.ainvoke(dict(given))))


def in_agent(
    tools: Sequence[Tool],
    script: Sequence[Any],
    *,
    user: str = "please",
    before: Sequence[BaseMessage] = (),
    agent: Mapping[str, Any] | None = None,
    **more: Any,
) -> tuple[list[BaseMessage], ScriptedModel]:
    """An agent of a script; after it, the model only ever says that it is done."""
    model = ScriptedModel([*script, *["That is all."] * 12])
    middleware = [SelfCorrection(**more)]
    built = create_agent(
        model, [tool.langchain() for tool in tools], middleware=middleware, **(agent or {})
    )
    out = built.invoke({"messages": [*before, HumanMessage(user)]})
    return out["messages"], model


def in_node(tools: Sequence[Tool], message: AIMessage, **more: Any) -> list[BaseMessage]:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", SelfCorrectingToolNode([t.langchain() for t in tools], **more))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    return list(builder.compile().invoke({"messages": [message]})["messages"])


HOSTS = ("graph", "async graph", "agent", "tool node")


def play(host: str, tools: Sequence[Tool], name: str, args: dict[str, Any], **more: Any) -> Any:
    """One native call in one host; what came out, for whoever wants to look."""
    call = {"name": name, "args": args, "id": "c0"}
    if host == "graph":
        return in_graph(tools, {"call": call}, **more)
    if host == "async graph":
        return in_async_graph(tools, {"call": call}, **more)
    if host == "agent":
        return in_agent(tools, [native((name, args))], **more)[0]
    return in_node(tools, native((name, args)), **more)


def told(messages: Sequence[BaseMessage]) -> str:
    """What the tools' answers say."""
    return "\n".join(m.text for m in messages if isinstance(m, ToolMessage))


class Log(logging.Handler):
    """Everything that the library logs, formatted."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{self.format(record)} {record.__dict__}")

    def __enter__(self) -> Self:
        logger = logging.getLogger("selfcorrect")
        self._before = logger.level, logger.propagate
        logger.addHandler(self)
        logger.setLevel(1)
        logger.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        logger = logging.getLogger("selfcorrect")
        logger.removeHandler(self)
        logger.level, logger.propagate = self._before

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def pick(rng: Random, *of: Any) -> Any:
    return rng.choice(of)
