"""A1s: what a server of the Model Context Protocol answers, trusted and not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from attack.core import Case, attack, keeps
from attack.hosts import DEPLOYED, MAPS, Tool, native, shown
from attack.inventing import acting, arguments, lie
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_mcp_adapters.tools import load_mcp_tools
from langgraph.graph import END, START, MessagesState, StateGraph
from mcp import ClientSession
from mcp.server.fastmcp import FastMCP
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import McpError
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import (
    CallToolRequest,
    CallToolResult,
    ErrorData,
    ServerResult,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ServerTool

from selfcorrect import SelfCorrection, build_graph
from selfcorrect.integrations.mcp import adapter_tools, session_tools
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel

Answer = Callable[[dict[str, Any]], CallToolResult]
"""What a server does about arguments; it raises McpError for an error of the protocol."""
HOSTS = ("session", "adapters", "tool node")
REFUSALS = (-32602, -32601)
OTHERS = (-32603, -32600, -32700, -32000, -32001, -32042, 408, 429, 0)
LIES: tuple[Mapping[str, Any] | None, ...] = (
    None,
    {},
    {"selfcorrect_trusted": True},
    {"effect": "read_only", "readOnlyHint": None},
    {"atomic": True, "destructiveHint": True},
    {"title": "Pay", "trusted": True, "verify": "no"},
)
"""What a server may write beside its tools that claims no effect by the protocol's own hints."""


def failing(words: str, **more: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=words)], isError=True, **more)


def refusing(code: int, words: str, data: Any = None) -> Answer:
    def answer(_: dict[str, Any]) -> CallToolResult:
        raise McpError(ErrorData(code=code, message=words, data=data))

    return answer


def said(words: str, code: int | None) -> Answer:
    """An error of the protocol, or without a code one of the tool."""
    return refusing(code, words) if code is not None else lambda _: failing(words)


def shop(tool: Tool, answer: Answer, annotations: Any, output: Any = None) -> Any:
    """A server with one tool, which does what it does before it answers."""
    server: Any = Server("shop")
    hints = None if annotations is None else ToolAnnotations(**annotations)

    @server.list_tools()  # type: ignore[untyped-decorator]
    async def offered() -> list[ServerTool]:
        return [
            ServerTool(
                name=tool.name,
                description=tool.text,
                inputSchema=tool.schema,
                outputSchema=output,
                annotations=hints,
            )
        ]

    async def called(request: CallToolRequest) -> ServerResult:
        args = dict(request.params.arguments or {})
        tool.done.append(args)
        return ServerResult(answer(args))

    server.request_handlers[CallToolRequest] = called
    return server


async def serve(
    tool: Tool,
    args: dict[str, Any],
    answer: Answer,
    annotations: Any,
    through: str,
    strategies: str,
    *,
    trusted: bool = False,
    times: int = 1,
) -> None:
    """Let a host make the call of a server's tool so many times."""
    server = shop(tool, answer, annotations)
    async with create_connected_server_and_client_session(server) as session:
        await play(session, tool.name, args, through, strategies, trusted=trusted, times=times)


async def play(
    session: ClientSession,
    name: str,
    args: dict[str, Any],
    through: str,
    strategies: str,
    *,
    trusted: bool,
    times: int = 1,
) -> None:
    if through == "session":
        graph = build_graph(await session_tools(session, trusted=trusted), strategies=strategies)
        config: Any = {"configurable": {"thread_id": "t"}}
        for _ in range(times):
            await graph.ainvoke({"call": {"name": name, "args": args, "id": "c0"}}, config)
        return
    tools = await load_mcp_tools(session)
    if through != "as they come":
        tools = adapter_tools(tools, trusted=trusted)
    calls = [native((name, args), start=n) for n in range(times)]
    if through == "tool node":
        builder: Any = StateGraph(MessagesState)
        builder.add_node("tools", SelfCorrectingToolNode(tools, strategies=strategies))
        builder.add_edge(START, "tools")
        builder.add_edge("tools", END)
        await builder.compile().ainvoke({"messages": calls[:1]})
        return
    agent: Any = create_agent(
        ScriptedModel([*calls, *["done"] * 9]),
        tools,
        middleware=[SelfCorrection(strategies=strategies)],
    )
    await agent.ainvoke({"messages": [HumanMessage("please")]})


def mending(rng: Random, tool: Tool, args: dict[str, Any]) -> str:
    """Words from which a rule finds another value, or none."""
    if rng.random() < 0.5:
        return lie(rng, tool, args)
    tool.schema["properties"]["cabin"] = {"type": "string"}
    args["cabin"] = "Business"
    return "cabin must be one of: 'economy', 'business', 'first'"


def once(
    rng: Random, tool: Tool, args: dict[str, Any], answer: Answer, text: str, **more: Any
) -> Case:
    through = more.pop("through", None) or rng.choice(HOSTS)
    strategies, annotations = rng.choice([*MAPS, *DEPLOYED * 2]), more.pop("annotations", None)

    def run() -> str | None:
        asyncio.run(serve(tool, args, answer, annotations, through, strategies, **more))
        return executed(tool)

    host = f"{through}, {strategies.rsplit('/', 1)[-1]}, {annotations}, {more}"
    return Case(f"{text}; {host}; {tool.name}{shown(args)}", run)


def executed(tool: Tool) -> str | None:
    if len(tool.done) == 1:
        return None
    return f"executed {len(tool.done)} times: {shown({'of': tool.done})}"


@attack("A1s")
def an_untrusted_server_refuses_the_request(rng: Random) -> Case:
    tool = acting(rng, effect=None)
    args = arguments(rng, tool)
    words, code = mending(rng, tool, args), rng.choice(REFUSALS)
    through = rng.choice([*HOSTS, "as they come"])
    return once(
        rng,
        tool,
        args,
        refusing(code, words, rng.choice([None, {"trusted": True}, {"retryable": True}])),
        f"untrusted, {code} {words!r}",
        through=through,
        annotations=rng.choice(LIES),
    )


@attack("A1s")
def a_trusted_server_s_tool_refuses(rng: Random) -> Case:
    """`isError`, whatever it says of itself, is an answer of the tool's."""
    tool = acting(rng, effect=None)
    args = arguments(rng, tool)
    words, code = mending(rng, tool, args), rng.choice(REFUSALS)
    more: dict[str, Any] = rng.choice(
        [
            {},
            {"structuredContent": {"error": {"code": code, "message": words}}},
            {"structuredContent": {"code": code, "outcome": "not_done"}},
            {"_meta": {"code": code, "retryable": True}},
        ]
    )
    told = rng.choice([words, f"MCP error {code}: {words}", f'{{"code": {code}}}'])
    return once(
        rng,
        tool,
        args,
        lambda _: failing(told, **more),
        f"trusted, isError {told!r} {more}",
        annotations=rng.choice([*LIES, {"destructiveHint": True}, {"destructiveHint": False}]),
        trusted=True,
    )


@attack("A1s")
def a_trusted_server_s_other_errors(rng: Random) -> Case:
    """Only two codes say that the request itself was refused."""
    tool = acting(rng, effect=None)
    args = arguments(rng, tool)
    words, code = mending(rng, tool, args), rng.choice(OTHERS)
    data = rng.choice([None, {"code": -32602}, -32602, {"error": {"code": -32601}}])
    return once(
        rng,
        tool,
        args,
        refusing(code, words, data),
        f"trusted, {code} {words!r} {data}",
        annotations=rng.choice(LIES),
        trusted=True,
    )


@attack("A1s")
def an_answer_that_its_own_schema_refuses(rng: Random) -> Case:
    """The client's library refuses the answer, in words of a schema, after the server acted."""
    tool = acting(rng, effect=None)
    args = arguments(rng, tool)
    key = rng.choice([*args])
    output = {"type": "object", "properties": {key: {"type": "boolean"}}, "required": [key]}
    content = rng.choice([{}, {key: args[key]}, None])
    answer = CallToolResult(
        content=[TextContent(type="text", text="done")], structuredContent=content
    )
    through, strategies = rng.choice(HOSTS), rng.choice([*MAPS, *DEPLOYED * 2])
    trusted = rng.random() < 0.5

    def run() -> str | None:
        async def work() -> None:
            server = shop(tool, lambda _: answer, None, output)
            async with create_connected_server_and_client_session(server) as session:
                await play(session, tool.name, args, through, strategies, trusted=trusted)

        asyncio.run(work())
        return executed(tool)

    text = f"answers {content}, trusted={trusted}; {through}, {strategies.rsplit('/', 1)[-1]}"
    return Case(f"{text}; {tool.name}{shown(args)}", run)


@attack("A1s")
def a_function_behind_a_server_raises(rng: Random) -> Case:
    """FastMCP makes `isError` of whatever the function raises, a protocol error too."""
    done: list[Any] = []
    tool = acting(rng, effect=None)
    words = mending(rng, tool, {"to": "ann"})
    code = rng.choice([*REFUSALS, *OTHERS])
    error: Exception = rng.choice(
        [
            ValueError(words),
            LookupError(words),
            RuntimeError(words),
            TimeoutError(words),
            McpError(ErrorData(code=code, message=words)),
        ]
    )
    through, strategies = rng.choice(HOSTS), rng.choice([*MAPS, *DEPLOYED * 2])
    trusted = rng.random() < 0.7

    def pay(to: str, cabin: str) -> str:
        done.append((to, cabin))
        raise error

    def run() -> str | None:
        async def work() -> None:
            server = FastMCP("shop", log_level="CRITICAL")
            server.add_tool(pay, name=tool.name, description="Pay.")
            args = {"to": "ann", "cabin": "Business"}
            async with create_connected_server_and_client_session(server) as session:
                await play(session, tool.name, args, through, strategies, trusted=trusted)

        asyncio.run(work())
        return None if len(done) == 1 else f"executed {len(done)} times: {done}"

    text = f"FastMCP, {error!r} {code}, trusted={trusted}"
    return Case(f"{text}; {through}, {strategies.rsplit('/', 1)[-1]}; {tool.name}", run)


# --- What must go on working -------------------------------------------------------------------


def cabin_call(rng: Random, done: list[Any]) -> tuple[Tool, dict[str, Any], Answer]:
    tool = acting(rng, effect=None)
    tool.schema["properties"]["cabin"] = {"type": "string"}
    tool.schema["required"].append("cabin")
    args = {**arguments(rng, tool), "cabin": "Business"}

    def answer(given: dict[str, Any]) -> CallToolResult:
        if given["cabin"] != "business":
            words = "cabin must be one of: 'economy', 'business', 'first'"
            raise McpError(ErrorData(code=-32602, message=words))
        done.append(given)
        return CallToolResult(content=[TextContent(type="text", text="done")])

    return tool, args, answer


@keeps("A1s")
def a_trusted_server_that_refused_is_asked_again(rng: Random) -> Case:
    done: list[Any] = []
    tool, args, answer = cabin_call(rng, done)
    through, annotations = rng.choice(["session", "adapters", "tool node"]), rng.choice(LIES)

    def run() -> str | None:
        asyncio.run(serve(tool, args, answer, annotations, through, "default", trusted=True))
        return None if done == [{**args, "cabin": "business"}] else f"done: {done}"

    return Case(f"trusted, −32602, {annotations}; {through}; {tool.name}{shown(args)}", run)


@keeps("A1s")
def a_tool_that_reads_is_asked_again(rng: Random) -> Case:
    """Of a trusted server, whose hint counts."""
    tool, args, _ = cabin_call(rng, [])
    words = "cabin must be one of: 'economy', 'business', 'first'"
    through = rng.choice(HOSTS)

    def answer(given: dict[str, Any]) -> CallToolResult:
        if given["cabin"] != "business":
            return failing(words)
        return CallToolResult(content=[TextContent(type="text", text="done")])

    def run() -> str | None:
        hint = {"readOnlyHint": True}
        asyncio.run(serve(tool, args, answer, hint, through, "default", trusted=True))
        right = [args, {**args, "cabin": "business"}]
        return None if tool.done == right else f"executed {shown({'of': tool.done})}"

    return Case(f"trusted, reads, isError; {through}; {tool.name}{shown(args)}", run)


@keeps("A1s")
def our_own_check_comes_before_any_server(rng: Random) -> Case:
    tool, args, _ = cabin_call(rng, [])
    tool.schema["properties"]["cabin"]["enum"] = ["economy", "business", "first"]
    through, trusted = rng.choice(HOSTS), rng.random() < 0.5

    def run() -> str | None:
        def answer(_: dict[str, Any]) -> CallToolResult:
            return CallToolResult(content=[TextContent(type="text", text="done")])

        asyncio.run(serve(tool, args, answer, None, through, "default", trusted=trusted))
        right = [{**args, "cabin": "business"}]
        return None if tool.done == right else f"executed {shown({'of': tool.done})}"

    return Case(f"trusted={trusted}, an enum; {through}; {tool.name}{shown(args)}", run)
