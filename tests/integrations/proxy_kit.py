"""What the tests of the proxy share: real servers, the real client, and messages by hand."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TextIO

import psutil
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

HERE = Path(__file__).parent
PROXY = (sys.executable, "-m", "selfcorrect", "proxy")
NPM = Path(os.environ.get("MCP_SERVERS", HERE.parents[1])) / "node_modules/@modelcontextprotocol"
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "hand", "version": "1"},
}


def npm(name: str) -> tuple[str, ...]:
    """The command of a server from npm."""
    found = NPM / name / "dist/index.js"
    if shutil.which("node") is None or not found.exists():
        pytest.skip(
            "needs Node.js and, in the folder MCP_SERVERS: npm install "
            "@modelcontextprotocol/server-filesystem @modelcontextprotocol/server-everything"
        )
    return ("node", str(found))


def shop(log: Path, *more: str) -> tuple[str, ...]:
    return (sys.executable, str(HERE / "proxy_shop.py"), str(log), *more)


def raw_server(log: Path, *more: str) -> tuple[str, ...]:
    return (sys.executable, str(HERE / "proxy_raw_server.py"), str(log), *more)


def lines(log: Path) -> list[Any]:
    """What a server wrote down."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@contextmanager
def nowhere() -> Iterator[TextIO]:
    with Path(os.devnull).open("w") as file:
        yield file


@asynccontextmanager
async def client(*command: str, **callbacks: Any) -> AsyncIterator[ClientSession]:
    """The SDK's client, on a command."""
    given = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
    with nowhere() as quiet:
        async with (
            stdio_client(given, errlog=quiet) as (read, write),
            ClientSession(read, write, **callbacks) as session,
        ):
            await session.initialize()
            yield session


@asynccontextmanager
async def web_client(url: str, **callbacks: Any) -> AsyncIterator[Any]:
    """The SDK's client, at a URL."""
    async with (
        streamable_http_client(url) as (read, write, _),
        ClientSession(read, write, **callbacks) as session,
    ):
        await session.initialize()
        yield session


class Hand:
    """A client of the test's own, which reads and writes bytes."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._ids = iter(range(1, 100_000))

    def write(self, *raw: bytes) -> None:
        self.process.stdin.write(b"".join(line + b"\n" for line in raw))
        self.process.stdin.flush()

    def tell(self, method: str, params: Any = None, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}, **more}
        self.write(json.dumps(message).encode())

    def ask(self, method: str, params: Any = None) -> int:
        own = next(self._ids)
        self.tell(method, params, id=own)
        return own

    def read(self) -> Any:
        return json.loads(self.process.stdout.readline())

    def begin(self, **capabilities: Any) -> None:
        self.ask("initialize", {**INITIALIZE, "capabilities": capabilities})
        self.read()
        self.tell("notifications/initialized")

    def call(self, name: str, args: Any, **more: Any) -> Any:
        self.ask("tools/call", {"name": name, "arguments": args, **more})
        return self.read()

    def close(self) -> int:
        """Close stdin and wait; the exit code."""
        self.process.stdin.close()
        try:
            return self.process.wait(20)
        finally:
            self.process.stdout.close()
            self.errors = self.process.stderr.read().decode()
            self.process.stderr.close()


@contextmanager
def by_hand(*command: str) -> Iterator[Hand]:
    hand = Hand(*command)
    try:
        yield hand
    finally:
        if hand.process.poll() is None:
            hand.close()
        elif not hand.process.stdin.closed:
            for stream in (hand.process.stdin, hand.process.stdout, hand.process.stderr):
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """A proxy over HTTP; its URL."""
    process = subprocess.Popen(
        [*PROXY, "--http", "0", *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        said = process.stderr.readline().decode()
        found = re.search(r"http://\S+", said)
        assert found, said
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@contextmanager
def web_shop(log: Path) -> Iterator[str]:
    """The shop over HTTP; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(shop(log, str(port)), stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_open(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def until(holds: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def servers_of(process: int) -> list[psutil.Process]:
    """The processes that a proxy has started."""
    return psutil.Process(process).children(recursive=True)
