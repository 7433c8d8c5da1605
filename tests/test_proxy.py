"""The MCP proxy between a real client and real servers, with the SDK's version 1 or 2."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pytest
from kit import table

pytest.importorskip("mcp")

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

RAW = Path(__file__).with_name("mcp_server.py")
BOOKING = """
import asyncio, json, os, sys
try:
    from mcp.server.mcpserver import Context, MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as Server

server = Server("booking")

@server.tool()
async def book(to: str, seats: int, ctx: Context) -> str:
    with open(sys.argv[1], "a") as log:
        log.write(json.dumps({"to": to, "seats": seats}) + "\\n")
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


@contextmanager
def serving(command):
    """Serve a proxy over HTTP at a free port; give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host, port = free.getsockname()
    at = command.index("--")
    with subprocess.Popen([*command[:at], "--http", f"{host}:{port}", *command[at:]]) as process:
        for _ in range(600):
            with suppress(OSError), socket.create_connection((host, port)):
                break
            time.sleep(0.05)
        yield f"http://{host}:{port}/mcp"
        process.terminate()


@pytest.fixture
def proxied(tmp_path):
    """Returns what a coroutine of a client comes to, and the calls of the server behind it."""
    log = tmp_path / "log"
    log.touch()
    (tmp_path / "server.py").write_text(BOOKING)

    def run(use, *options, server=tmp_path / "server.py", more=(), ask=None, http=False):
        command = ["-m", "selfcorrect", "proxy", *options, "--", sys.executable, str(server)]
        command = [sys.executable, *command, str(log), *more]

        async def main(connect):
            async with (
                connect as streams,
                ClientSession(*streams[:2], elicitation_callback=ask) as client,
            ):
                await client.initialize()
                return await asyncio.wait_for(use(client), 60)

        with serving(command) if http else nullcontext() as address:
            first, *args = command
            stdio = StdioServerParameters(command=first, args=args, env={**os.environ})
            connect = streamable_http_client(address) if http else stdio_client(stdio)
            out = asyncio.run(main(connect))
        return out, [json.loads(line) for line in log.read_text().splitlines()]

    return run


async def call(client, name="book", **args):
    """Return what a call came to, as the protocol writes it."""
    result = (await client.call_tool(name, args)).model_dump(by_alias=True)
    text = result["content"][0]["text"]
    return f"error: {text}" if result.get("isError") else text


@pytest.mark.parametrize("http", [False, True])
def test_broken_calls_are_repaired_and_made_once(proxied, http):
    rows = table("mcp.txt", "broken calls")

    async def use(client):
        return [await call(client, name, **args) for name, args, _ in rows]

    texts, calls = proxied(use, http=http)
    assert texts == ["booked"] * len(rows)
    assert calls == [args for *_, args in rows]


def test_broken_calls_of_another_server_are_repaired_and_made_once(proxied):
    rows = table("mcp.txt", "broken calls of a raw server")

    async def use(client):
        return [await call(client, name, **args) for name, args, _ in rows]

    texts, calls = proxied(use, server=RAW, more=["all"])
    assert texts == ["3 rows"] * len(rows)
    assert calls == [args for *_, args in rows]


def test_everything_but_calls_passes_unchanged(proxied):
    async def use(client):
        progress = []

        async def note(*values):
            progress.append(values)

        args = {"to": "x", "seats": 2}
        await client.call_tool("book", args, progress_callback=note)
        resource = await client.read_resource("res://a")
        texts = await call(client, to="x"), await call(client, "Shout", Text="a")
        return texts, progress, resource.contents[0].text

    ((refusal, shout), *passed), calls = proxied(use)
    assert refusal.startswith("error: The required argument `seats` is missing")
    assert (shout, *passed) == ("A", [(1, 2, "half")], "a resource")
    assert calls == [{"to": "x", "seats": 2}]


def test_a_missing_value_is_asked_through_the_client(proxied):
    async def ask(_context, params):
        schema = params.model_dump(by_alias=True)["requestedSchema"]
        assert schema["properties"]["seats"]["type"] == "integer"
        return types.ElicitResult(action="accept", content={"seats": 3})

    found = proxied(lambda client: call(client, to="x"), ask=ask)
    assert found == ("booked", [{"to": "x", "seats": 3}])


def test_a_lost_call_ends_the_proxy_and_is_not_repeated_by_the_next_session(proxied, tmp_path):
    async def use(client):
        text = await call(client, to="die", seats=1)
        if "equal call" not in text:
            with pytest.raises(Exception, match=r"(?i)closed"):
                await client.send_ping()
        return text

    texts = [proxied(use, "--ledger", str(tmp_path / "ledger")) for _ in range(2)]
    assert ["An equal call was made before" in text for text, _ in texts] == [False, True]
    assert texts[-1][1] == [{"to": "die", "seats": 1}]


def test_a_cancelled_call_is_in_doubt(proxied):
    async def use(client):
        began = asyncio.Event()

        async def note(*_values):
            began.set()

        args = {"to": "wait", "seats": 1}
        lost = asyncio.create_task(client.call_tool("book", args, progress_callback=note))
        await began.wait()
        lost.cancel()
        about = types.CancelledNotificationParams(requestId=1)
        cancelled = types.CancelledNotification(params=about)
        # In version 2 it is a union of the notifications.
        is_class = isinstance(types.ClientNotification, type)
        wrapped = types.ClientNotification(cancelled) if is_class else cancelled
        await client.send_notification(wrapped)
        return await call(client, **args)

    text, calls = proxied(use)
    assert "An equal call was made before" in text
    assert calls == [{"to": "wait", "seats": 1}]


def test_a_session_that_ended_is_opened_anew_once(proxied):
    async def use(client):
        return [
            await call(client, name, q=1) for name in ("a_text", "expires", "a_text", "no_session")
        ]

    texts, calls = proxied(use, server=RAW, more=["all"])
    assert texts[:3] == ["3 rows", "done", "3 rows"]
    assert "no such row" in texts[3]
    assert calls == [{"q": 1}] * 6


@pytest.mark.parametrize(("options", "held"), [((), False), (("--trust",), True)])
def test_the_hints_of_a_trusted_server_count(proxied, options, held):
    async def use(client):
        return [await call(client, "deletes", q=1) for _ in range(2)]

    (first, second), calls = proxied(use, *options, server=RAW, more=["all"])
    assert (first, "Run one more?" in second) == ("done", held)
    assert len(calls) == 2 - held


@pytest.mark.parametrize(("pages", "count"), [("pages", 34), ("same", 1)])
def test_the_list_of_tools_is_whole_and_ends(proxied, pages, count):
    async def use(client):
        page = (await client.list_tools()).model_dump(by_alias=True)
        return len(page["tools"]), page.get("nextCursor"), await call(client, "a_text", q="1")

    assert proxied(use, server=RAW, more=[pages])[0] == (count, None, "3 rows")
