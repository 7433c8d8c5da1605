"""The proxy between both major versions of the SDK, as clients and as servers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from proxy_kit import PROXY, client, is_open, lines, serving, shop, until

OTHER = os.environ.get("MCP_2_PYTHON")
SCRIPT = str(Path(__file__).parent / "proxy_sdk2.py")
NEWEST, HANDSHAKE = "2026-07-28", "2025-11-25"

pytestmark = pytest.mark.skipif(
    OTHER is None,
    reason="needs in MCP_2_PYTHON a Python with the second SDK: pip install 'mcp>=2,<3'",
)


def server(log):
    return (str(OTHER), SCRIPT, "server", str(log))


@contextmanager
def web_server(log):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([*server(log), str(port)], stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_open(port))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def visit(mode, *where):
    """What a client of the second version saw."""
    command = [str(OTHER), SCRIPT, "client", mode, *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(seen, log, version):
    assert seen["version"] == version
    assert seen["book {'city': 'Rome', 'seats': 2}"][1] == {"id": 2, "cabin": "economy"}
    assert seen["Book {'City': 'Zürich', 'seats': 'two'}"][1] == {"id": 2, "cabin": "economy"}
    for asked in ("book {'city': 'Oslo'}", "book {'city': 'Rome', 'seats': 'many'}"):
        assert seen[asked][1] == {"id": 7, "cabin": "economy"}, "a person was asked"
    assert seen["confirm {'times': '2'}"][2] == "2 True", "the server asked, too"
    assert len(seen["asked"]) == 3
    assert seen["progress"] == [1, 2, 3]
    assert seen["terms"] == "no refunds"
    done = [(name, args.get("seats")) for name, args in lines(log)]
    wanted = [("book", 2), ("book", 2), ("book", 7), ("confirm", None), ("find", None), ("book", 7)]
    assert done == wanted, "one execution each"


@pytest.mark.parametrize(("mode", "version"), [("auto", NEWEST), ("legacy", HANDSHAKE)])
def test_the_second_sdk_on_both_sides(tmp_path, mode, version):
    log = tmp_path / "log"
    check(visit(mode, *PROXY, "--trust", "--", *server(log)), log, version)


def test_the_second_sdk_over_http(tmp_path):
    log = tmp_path / "log"
    with web_server(log) as url:
        check(visit("auto", *PROXY, "--trust", "--url", url), log, NEWEST)
        log.unlink()
        with serving("--url", url) as proxied:  # before clients over HTTP stand sessions
            check(visit("auto", proxied), log, HANDSHAKE)


def test_the_first_client_and_the_second_server(tmp_path):
    async def work():
        async with client(*PROXY, "--", *server(tmp_path / "log")) as session:
            answer = await session.call_tool("Book", {"City": "Rome", "seats": "two"})
            assert answer.structuredContent == {"id": 2, "cabin": "economy"}
            answer = await session.call_tool("book", {"city": "Rome"})
            assert "`seats` is required and missing" in answer.content[0].text

    anyio.run(work)
    assert len(lines(tmp_path / "log")) == 1


def test_the_second_client_and_the_first_server(tmp_path):
    code = """
import anyio, json, sys
from mcp import Client, StdioServerParameters
async def visit():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(server) as client:
        answer = await client.call_tool("Book", {"City": "Rome", "seats": "two"})
        print(json.dumps([client.protocol_version, answer.structured_content]))
anyio.run(visit)
"""
    command = [str(OTHER), "-c", code, *PROXY, "--", *shop(tmp_path / "log")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [HANDSHAKE, {"id": 2, "cabin": "economy"}]
