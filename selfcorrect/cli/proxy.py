"""`selfcorrect proxy`: stands between any MCP client and any MCP server, and mends `tools/call`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

import typer

from selfcorrect.cli.options import Strategies
from selfcorrect.cli.screen import refuse
from selfcorrect.errors import MissingExtra

if TYPE_CHECKING:
    from selfcorrect.proxy.serving import Target
    from selfcorrect.proxy.tools import Policy

DEFAULT: Final = "mcp_servers"
"""The map that holds where none was named."""
HELP: Final = """
In a client's configuration, put `selfcorrect proxy --` before the command of the server.

Exit code 0 where the client ended it, or a signal; 1 where the server ended; 2 for wrong usage.
"""


def proxy(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND ARGS…", help="The server, started for each client."),
    ] = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server, over streamable HTTP.")
    ] = None,
    strategies: Strategies = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Believe what the server says its tools do (readOnlyHint …)."),
    ] = False,
    record: Annotated[
        str | None,
        typer.Option(metavar="TRAIL.jsonl", help="Append every run that had to be mended."),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="[HOST:]PORT", help="Serve clients over HTTP; HOST is 127.0.0.1."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Write every call that acts here before it is made."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds that one execution may take.")
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="For the server's environment.")
    ] = None,
    cwd: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where the server's command runs.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(metavar="'K: V'", help="For every request to --url.")
    ] = None,
) -> None:
    """Stand between an MCP client and an MCP server: mend calls of tools, pass the rest on."""
    target = _target(command or [], url, env or [], cwd, header or [])
    address = None if http is None else _address(http)
    policy = _policy(strategies, trust=trust, timeout=timeout, ledger=ledger)
    from selfcorrect.integrations.trails import TrailFile
    from selfcorrect.proxy.serving import Proxy, serve_http, serve_stdio

    made = Proxy(target, policy, TrailFile(_writable(record)) if record else None)
    if address is None:
        raise typer.Exit(serve_stdio(made))
    if find_spec("uvicorn") is None:
        raise MissingExtra("mcp", "proxy --http")
    try:
        raise typer.Exit(serve_http(made, *address))
    except OSError as error:
        refuse(f"--http: {address[0]}:{address[1]} cannot be served: {error.strerror or error}")


def _policy(
    strategies: str | None, *, trust: bool, timeout: float | None, ledger: str | None
) -> Policy:
    from selfcorrect.ledger import SqliteLedger
    from selfcorrect.mapping.loading import ENVIRONMENT, load_map
    from selfcorrect.proxy.tools import Policy

    if timeout is not None and timeout <= 0:
        refuse(f"--timeout: seconds above 0, not {timeout:g}")
    kept = None if ledger is None else SqliteLedger(_writable(ledger))
    known = load_map(strategies or os.environ.get(ENVIRONMENT) or DEFAULT)
    return Policy(known, trust=trust, timeout=timeout, ledger=kept)


def _target(
    command: list[str], url: str | None, env: list[str], cwd: str | None, header: list[str]
) -> Target:
    from selfcorrect.proxy.serving import Target

    if bool(command) is (url is not None):
        refuse("give the server as -- COMMAND ARGS…, or as --url URL, and not both")
    if url is None:
        if header:
            refuse("--header goes with --url")
        _check_command(command[0], cwd)
        return Target(tuple(command), env=dict(_pairs("--env", "=", env)), cwd=cwd)
    if env or cwd is not None:
        refuse("--env and --cwd go with a command")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        refuse(f"--url: an address like https://example.org/mcp, not {url}")
    return Target(url=url, headers=dict(_pairs("--header", ":", header)))


def _check_command(program: str, cwd: str | None) -> None:
    if cwd is not None and not Path(cwd).is_dir():
        refuse(f"--cwd: there is no folder {cwd}")
    here = Path(cwd or ".") / program
    if shutil.which(program) is None and not here.is_file():
        refuse(f"there is no program {program!r}")


def _pairs(option: str, mark: str, given: Iterable[str]) -> Iterable[tuple[str, str]]:
    for each in given:
        name, found, value = each.partition(mark)
        if not found or not name.strip():
            refuse(f"{option}: NAME{mark}VALUE is wanted, not {name!r}")
        yield name.strip(), value.strip() if mark == ":" else value


def _address(given: str) -> tuple[str, int]:
    """Host and port; this machine alone where no host is named."""
    host, _, port = given.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        refuse(f"--http: PORT or HOST:PORT, not {given}")
    return host.strip("[]") or "127.0.0.1", int(port)


def _writable(path: str) -> str:
    if not Path(path).resolve().parent.is_dir():
        refuse(f"{path}: there is no such folder")
    return path
