"""Runs a proxy: over our own stdin and stdout, or as an HTTP server; until one is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from uuid import uuid4

from selfcorrect.model import JSON
from selfcorrect.plain import digest
from selfcorrect.proxy.relay import Relay
from selfcorrect.proxy.remote import Remote
from selfcorrect.proxy.sessions import Sessions
from selfcorrect.proxy.sides import Disconnected, Server, Side, until
from selfcorrect.proxy.stdio import Process, own_pipe
from selfcorrect.proxy.tools import Policy, Tools

LOST: Final = 1
"""The exit code of a proxy whose server ended."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_LEAVE: Final = 5


@dataclass(frozen=True, slots=True)
class Target:
    """The server that a proxy stands before: a command, or a URL.

    Attributes:
        command: The program and its arguments; empty for a URL.
        url: Where the server is; None for a command.
        env: What the environment of the command has beside our own.
        cwd: Where the command runs.
        headers: What goes with every request to the URL.
    """

    command: Sequence[str] = ()
    url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proxy:
    """What a proxy is made of.

    Attributes:
        target: The server that it stands before.
        policy: What holds for every call.
        record: Gets every run that was not simply done, or None.
    """

    target: Target
    policy: Policy
    record: Callable[[Mapping[str, JSON]], None] | None = None

    def relay(self, client: Side) -> Relay:
        """The relay of one client."""
        thread = self._thread(getattr(client, "owner", None))
        tools, to = Tools(self.policy, thread, self.record), self.target
        server: Server = (
            Process(to.command, to.env, to.cwd)
            if to.url is None
            else Remote(to.url, to.headers, tools.schema_of)
        )
        return Relay(client, server, tools)

    def _thread(self, owner: str | None) -> str:
        """Whose calls they are: with a ledger, all that this client ever made of this server."""
        if self.policy.ledger is None:
            return uuid4().hex
        target = self.target
        whose = () if owner is None else (owner,)
        return digest(list(target.command), target.url, target.cwd, *whose)


def serve_stdio(proxy: Proxy) -> int:
    """Serve the one client on stdin and stdout until either side ends.

    Returns:
        The exit code: 0 where the client ended it, or a signal; 1 where the server did.
    """
    with suppress(KeyboardInterrupt):
        return asyncio.run(_stdio(proxy))
    return 0


async def _stdio(proxy: Proxy) -> int:
    client = own_pipe()
    _on_signals(client.inbox.end)
    try:
        was_client = await proxy.relay(client).run()
    except Disconnected as why:
        sys.stderr.write(f"selfcorrect proxy: {why}\n")
        return LOST
    finally:
        await client.close()
    return 0 if was_client else LOST


def serve_http(proxy: Proxy, host: str, port: int) -> int:
    """Serve clients over HTTP until a signal ends it.

    Raises:
        OSError: If the address cannot be served.

    Returns:
        The exit code: 0.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family)
    with listening, suppress(KeyboardInterrupt):
        asyncio.run(_http(proxy, listening, host))
    return 0


async def _http(proxy: Proxy, listening: socket.socket, host: str) -> None:
    import uvicorn

    from selfcorrect.proxy.web import Web

    sessions = Sessions(proxy.relay)
    config = uvicorn.Config(
        Web(sessions, host),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_LEAVE,
    )
    server = uvicorn.Server(config)
    # Signals are ours to take.
    server.capture_signals = nullcontext  # type: ignore[method-assign, assignment]
    _on_signals(partial(setattr, server, "should_exit", True))
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(
        f"selfcorrect proxy: listening on http://{shown}:{listening.getsockname()[1]}/mcp\n"
    )
    sys.stderr.flush()
    sweeping = asyncio.create_task(sessions.sweep())
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await until(lambda: server.should_exit or serving.done())
        await sessions.close()
        await serving
    finally:
        sweeping.cancel()
        await sessions.close()


def _on_signals(work: Callable[[], Any]) -> None:
    """End in order when told to; where signals cannot be waited for, Python's own way holds."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, work)
