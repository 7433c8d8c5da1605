"""The MCP proxy between a real client and real servers."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

BOOKING = """
import asyncio, os, sys
from mcp.server.fastmcp import Context, FastMCP

server = FastMCP("booking")

@server.tool()
async def book(to: str, seats: int, ctx: Context) -> str:
    with open(sys.argv[1], "a") as log:
        log.write(f"{to} {seats};")
    await ctx.report_progress(1, 2, "half")
    if to == "wait":
        await asyncio.sleep(60)
    if to == "die":
        os._exit(1)
    server.add_tool(lambda text: text.upper(), "shout")
    await ctx.session.send_tool_list_changed()
    return "booked"

@server.resource("res://a")
def a() -> str:
    return "a resource"

server.run()
"""


@pytest.fixture
def proxied(tmp_path):
    """Returns what a coroutine of a client comes to, and the calls of the server behind it."""
    log = tmp_path / "log"
    log.touch()
    (tmp_path / "server.py").write_text(BOOKING)

    def run(use, *options, server=tmp_path / "server.py", more=(), ask=None):
        command = [sys.executable, str(server), str(log), *more]
        args = ["-m", "selfcorrect", "proxy", *options, "--", *command]
        given = StdioServerParameters(command=sys.executable, args=args, env={**os.environ})

        async def main():
            async with (
                stdio_client(given) as streams,
                ClientSession(*streams, elicitation_callback=ask) as client,
            ):
                await client.initialize()
                return await use(client)

        return asyncio.run(asyncio.wait_for(main(), 60)), log.read_text()

    return run


async def call(client, name="book", **args):
    result = await client.call_tool(name, args)
    return result.content[0].text if not result.isError else f"error: {result.content[0].text}"


def test_calls_are_repaired_and_everything_else_passes(proxied):
    async def use(client):
        progress = []

        async def note(*values):
            progress.append(values)

        await client.call_tool("Book", {"To": "x", "seats": "two"}, progress_callback=note)
        resource = await client.read_resource("res://a")
        texts = await call(client, to="x"), await call(client, "Shout", Text="a")
        return texts, progress, resource.contents[0].text

    ((refusal, shout), *passed), calls = proxied(use)
    assert refusal.startswith("error: The required argument `seats` is missing")
    assert (shout, *passed) == ("A", [(1, 2, "half")], "a resource")
    assert calls == "x 2;"


def test_a_missing_value_is_asked_through_the_client(proxied):
    async def ask(_context, params):
        assert params.requestedSchema["properties"]["seats"]["type"] == "integer"
        return types.ElicitResult(action="accept", content={"seats": 3})

    assert proxied(lambda client: call(client, to="x"), ask=ask) == ("booked", "x 3;")


def test_a_lost_call_ends_the_proxy_and_is_not_repeated_by_the_next_session(proxied, tmp_path):
    async def use(client):
        text = await call(client, to="die", seats=1)
        if "equal call" not in text:
            with pytest.raises(McpError):
                await client.send_ping()
        return text

    texts = [proxied(use, "--ledger", str(tmp_path / "ledger")) for _ in range(2)]
    assert ["An equal call was made before" in text for text, _ in texts] == [False, True]
    assert texts[-1][1] == "die 1;"


def test_a_cancelled_call_is_in_doubt(proxied):
    async def use(client):
        began = asyncio.Event()

        async def note(*_values):
            began.set()

        args = {"to": "wait", "seats": 1}
        lost = asyncio.create_task(client.call_tool("book", args, progress_callback=note))
        await began.wait()
        about = types.CancelledNotificationParams(requestId=1)
        cancelled = types.CancelledNotification(params=about)
        await client.send_notification(types.ClientNotification(cancelled))
        lost.cancel()
        return await call(client, **args)

    text, calls = proxied(use)
    assert ("An equal call was made before" in text, calls) == (True, "wait 1;")


@pytest.mark.parametrize(("pages", "count"), [("pages", 33), ("same", 1)])
def test_the_list_of_tools_is_whole_and_ends(proxied, pages, count):
    async def use(client):
        page = await client.list_tools()
        return len(page.tools), page.nextCursor, await call(client, "a_text", q="1")

    server = Path(__file__).with_name("mcp_server.py")
    assert proxied(use, server=server, more=[pages])[0] == (count, None, "3 rows")
