"""Tools of the second major version of the MCP SDK, which the extra `mcp` takes, too."""

from __future__ import annotations

import asyncio

from fastmcp import Client, FastMCP

from selfcorrect import build_graph
from selfcorrect.integrations.mcp import session_tools


def shop():
    server = FastMCP("shop")

    @server.tool(annotations={"readOnlyHint": True})
    def price(item: str, count: int = 1) -> float:
        """The price of an item."""
        if item != "lamp":
            raise ValueError(f"there is no item {item!r}")
        return 9.5 * count

    return server


async def calls():
    async with Client(shop()) as client:
        tools = await session_tools(client.session, trusted=True)
        graph = build_graph(tools)
        broken = {"name": "Price", "args": {"item": "lamp", "count": "2"}}
        mended = await graph.ainvoke({"call": broken})
        failed = await graph.ainvoke({"call": {"name": "price", "args": {"item": "x"}}})
        return tools, mended, failed


def test_its_tools_are_checked_and_its_errors_are_known():
    tools, mended, failed = asyncio.run(calls())
    assert [(tool.name, tool.effect) for tool in tools] == [("price", "read_only")]
    assert mended["result"] == {"result": 19.0}
    assert "there is no item" in failed["failure"]["for_model"]
