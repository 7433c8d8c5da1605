"""The MCP proxy between a real client and real servers."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

SERVERS = Path(__file__).parent
BOOKING = """
import asyncio, os, sys
from mcp.server.fastmcp import Context, FastMCP

server = FastMCP("booking")

def note(text):
    with open(sys.argv[1], "a") as log:
        log.write(text + ";")

@server.tool()
def book(to: str, seats: int) -> str:
    note(f"{to} {seats}")
    return "booked"

@server.tool()
async def wait(seconds: int, ctx: Context) -> str:
    note("wait")
    await ctx.report_progress(1, 2, "half")
    await asyncio.sleep(seconds)
    return "waited"

@server.tool()
def die() -> None:
    note("die")
    os._exit(1)

@server.tool()
async def grow(ctx: Context) -> str:
    server.add_tool(lambda n: str(n), "later")
    await ctx.session.send_tool_list_changed()
    return "grown"

@server.resource("res://a")
def a() -> str:
    return "a resource"

server.run()
"""


@pytest.fixture
def proxied(tmp_path):
    (tmp_path / "server.py").write_text(BOOKING)
    log = tmp_path / "log"
    log.touch()

    @asynccontextmanager
    async def open_client(*options, server=(), ask=None):
        command = server or (str(tmp_path / "server.py"), str(log))
        args = ["-m", "selfcorrect", "proxy", *options, "--", sys.executable, *command]
        given = StdioServerParameters(command=sys.executable, args=args, env={**os.environ})
        async with (
            stdio_client(given) as streams,
            ClientSession(*streams, elicitation_callback=ask) as session,
        ):
            await session.initialize()
            yield session

    open_client.log = log
    return open_client


def words(result):
    return result.isError, result.content[0].text


def test_calls_are_repaired_and_everything_else_passes(proxied):
    async def main():
        progress = []

        async def on_progress(*values):
            progress.append(values)

        async with proxied() as client:
            assert words(await client.call_tool("Book", {"To": "x", "seats": "two"}))[1] == "booked"
            is_error, text = words(await client.call_tool("book", {"to": "x"}))
            assert is_error
            assert "`seats`" in text
            await client.call_tool("wait", {"seconds": "0"}, progress_callback=on_progress)
            await client.call_tool("grow")
            tools = (await client.list_tools()).tools
            assert words(await client.call_tool("Later", {"n": 3})) == (False, "3")
            resource = await client.read_resource("res://a")
            return progress, tools[-1].name, resource.contents[0].text

    assert asyncio.run(main()) == ([(1, 2, "half")], "later", "a resource")
    assert proxied.log.read_text() == "x 2;wait;"


def test_a_missing_value_is_asked_through_the_client(proxied):
    async def ask(_context, params):
        assert params.requestedSchema["properties"]["seats"]["type"] == "integer"
        return types.ElicitResult(action="accept", content={"seats": 3})

    async def main():
        async with proxied(ask=ask) as client:
            return words(await client.call_tool("book", {"to": "x"}))

    assert asyncio.run(main()) == (False, "booked")
    assert proxied.log.read_text() == "x 3;"


def test_a_lost_call_is_not_repeated_by_the_next_session(proxied, tmp_path):
    async def main():
        for _ in range(2):
            async with proxied("--ledger", str(tmp_path / "ledger")) as client:
                is_error, text = words(await client.call_tool("die"))
                assert is_error
                assert "nobody knows" in text.lower()
        # The last server lives, and the first one has ended its proxy.

    asyncio.run(main())
    assert proxied.log.read_text() == "die;"


def test_a_cancelled_call_ends_at_the_server_and_a_dead_server_ends_the_proxy(proxied):
    async def main():
        async with proxied() as client:
            call = asyncio.create_task(client.call_tool("wait", {"seconds": 60}))
            while "wait" not in proxied.log.read_text():
                await asyncio.sleep(0.01)
            about = types.CancelledNotificationParams(requestId=1)
            note = types.CancelledNotification(params=about)
            await client.send_notification(types.ClientNotification(note))
            assert words(await client.call_tool("wait", {"seconds": 60}))[0]
            call.cancel()
            await client.call_tool("die")
            with pytest.raises(McpError):
                await client.send_ping()

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("pages", ["pages", "same"])
def test_the_list_of_tools_is_whole_and_ends(proxied, pages):
    async def main():
        server = (str(SERVERS / "mcp_server.py"), str(proxied.log), pages)
        async with proxied(server=server) as client:
            page = await client.list_tools()
            return (
                len(page.tools),
                page.nextCursor,
                words(await client.call_tool("a_text", {"q": "1"})),
            )

    assert asyncio.run(main()) == (33 if pages == "pages" else 1, None, (False, "3 rows"))
