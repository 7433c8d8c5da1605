"""The SDK's transports: the client over stdio or streamable HTTP, the server by its command."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import chain
from threading import Thread
from typing import Any
from uuid import uuid4

import anyio
import uvicorn
from mcp import StdioServerParameters, stdio_client
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import INTERNAL_ERROR, JSONRPCMessage
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from selfcorrect.context import LOG
from selfcorrect.model import JsonDict
from selfcorrect.proxy.relay import Connection, Relay, Send
from selfcorrect.proxy.tool_calls import ToolCalls
from selfcorrect.text import quote


def serve_stdio(command: Sequence[str], make: Callable[[], ToolCalls]) -> bool:
    """Serve one client over stdio; say whether it was the client that ended.

    Args:
        command: The command of the server.
        make: Makes what carries the calls of a session.
    """

    async def main() -> bool:
        # The SDK's own reader cannot be left while it waits, so a dead server would not end us.
        queue: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        Thread(target=_read_stdin, args=(queue, loop), daemon=True).start()
        stdin: Any = _lines(queue)
        async with stdio_server(stdin=stdin) as (read, write):
            is_client = await _relay(command, make(), write).run(_messages(read))
            queue.put_nowait("")
            async for _ in read:
                pass
            await write.aclose()
        return is_client

    return anyio.run(main)


def serve_http(command: Sequence[str], make: Callable[[], ToolCalls], address: str) -> None:
    """Serve clients over streamable HTTP, each with a server of its own.

    Args:
        command: The command of the server.
        make: Makes what carries the calls of a session.
        address: `HOST:PORT`.
    """
    host, _, port = address.rpartition(":")
    # A page in a browser must not reach what is for this machine, under a name of its own.
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=host in _LOCAL,
        allowed_hosts=[f"{name}:*" for name in _LOCAL],
        allowed_origins=[f"http://{name}:*" for name in _LOCAL],
    )
    sessions: dict[str, StreamableHTTPServerTransport] = {}

    async def serve(session: str, *, task_status: Any) -> None:
        transport = sessions[session]
        try:
            async with transport.connect() as (read, write):
                task_status.started()
                await _relay(command, make(), write).run(_messages(read))
        except Exception:
            # Other sessions go on.
            LOG.exception("a session of the proxy has failed")
        finally:
            del sessions[session]

    async def main() -> None:
        async with anyio.create_task_group() as tasks:

            async def handle(scope: Any, receive: Any, send: Any) -> None:
                session = dict(scope["headers"]).get(b"mcp-session-id", b"").decode()
                if not session:
                    session = uuid4().hex
                    sessions[session] = StreamableHTTPServerTransport(
                        session, security_settings=security
                    )
                    await tasks.start(serve, session)
                answer = sessions[session].handle_request if session in sessions else _NO_SESSION
                await answer(scope, receive, send)

            config = uvicorn.Config(
                handle,
                host.strip("[]"),
                int(port),
                interface="asgi3",
                lifespan="off",
                log_level="warning",
            )
            await uvicorn.Server(config).serve()
            tasks.cancel_scope.cancel()

    anyio.run(main)


_NO_SESSION = Response("there is no such session", status_code=404)
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


def _relay(command: Sequence[str], calls: ToolCalls, write: Any) -> Relay:
    return Relay(calls, _sender(write), lambda: _connect(command))


@asynccontextmanager
async def _connect(command: Sequence[str]) -> AsyncIterator[Connection]:
    """Start the server; it ends with the context."""
    server = StdioServerParameters(
        command=command[0],
        args=[*command[1:]],
        env=dict(os.environ),
        encoding_error_handler="replace",
    )
    async with stdio_client(server) as (read, write):
        yield _messages(read), _sender(write)


async def _messages(stream: Any) -> AsyncIterator[JsonDict]:
    async for item in stream:
        if not isinstance(item, Exception):
            yield item.message.model_dump(by_alias=True, exclude_none=True)
            continue
        LOG.warning("a line is not a message of MCP: %s", quote(item, 300))
        inputs = (
            [fault["input"] for fault in item.errors()] if isinstance(item, ValidationError) else []
        )
        for part in inputs:
            # Whoever waits for this reply must not wait for ever.
            if isinstance(part, dict) and "id" in part and "method" not in part:
                error = {"code": INTERNAL_ERROR, "message": "the reply is not one of JSON-RPC"}
                yield {"jsonrpc": "2.0", "id": part["id"], "error": error}
                break


_MESSAGE: TypeAdapter[Any] = TypeAdapter(JSONRPCMessage)


def _sender(write: Any) -> Send:
    async def send(message: JsonDict, about: Any) -> None:
        # What JSON cannot hold is refused here; the SDK's writer would die of it.
        text = json.dumps(message, allow_nan=False)
        metadata = ServerMessageMetadata(related_request_id=about) if about is not None else None
        await write.send(SessionMessage(_MESSAGE.validate_json(text), metadata))

    return send


async def _lines(queue: asyncio.Queue[str]) -> AsyncIterator[str]:
    while line := await queue.get():
        yield line


def _read_stdin(queue: asyncio.Queue[str], loop: asyncio.AbstractEventLoop) -> None:
    """Put each line, and an empty text at the end."""
    # When the process ends, this may still wait: then `sys.stdin` must not be locked.
    with os.fdopen(os.dup(0), encoding="utf-8", errors="replace") as stdin, suppress(RuntimeError):
        for line in chain(stdin, [""]):
            loop.call_soon_threadsafe(queue.put_nowait, line)
