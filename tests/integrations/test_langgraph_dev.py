"""The development server of LangGraph, offline on this machine, driven through its SDK."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

ROOT = Path(__file__).parents[2]
STARTS_WITHIN = 90.0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A running server, in a folder of its own: it writes beside langgraph.json."""
    folder = tmp_path_factory.mktemp("server")
    for name in ("graphs", "strategies"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "langgraph.json", folder)
    port = free_port()
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGSMITH_TRACING": "false",
        # What is not on this machine is not there.
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    log = folder / "log.txt"
    with log.open("wb") as out:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=out)
        try:
            deadline = time.monotonic() + STARTS_WITHIN
            while not is_up(port):
                if server.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(log.read_text(errors="replace")[-4_000:])
                server_waits()
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def is_up(port: int) -> bool:
    import httpx

    try:
        answer = httpx.get(f"http://127.0.0.1:{port}/ok", timeout=5.0, trust_env=False)
    except httpx.HTTPError:
        return False
    return answer.status_code == 200


def server_waits() -> None:
    """Let the server have the processor for a moment."""
    time.sleep(0.2)


def test_thread_run_stream_interrupt_resume_and_history(url: str) -> None:
    async def drive() -> None:
        async with get_client(url=url) as client:
            names = {found["graph_id"] for found in await client.assistants.search(limit=100)}
            assert {"flight_booking", "chat_agent"} <= names

            thread = (await client.threads.create())["thread_id"]
            call = {
                "name": "book_flight",
                "args": {
                    "origin": "LHR",
                    "destination": "CDG",
                    "departure_date": "2024-10-26",
                    "passengers": "2.5",
                },
            }
            nodes: list[str] = []
            async for part in client.runs.stream(
                thread, "flight_booking", input={"call": call}, stream_mode="updates"
            ):
                nodes += list(part.data) if part.event == "updates" else []
            assert nodes[0] == "plan"
            assert nodes[-1] == "__interrupt__"

            state: Any = await client.threads.get_state(thread)
            assert state["next"] == ["repair"]
            assert "passengers" in str(state["tasks"][0]["interrupts"])

            out: Any = await client.runs.wait(thread, "flight_booking", command={"resume": 2})
            assert out["result"]["passengers"] == 2

            history: list[Any] = list(await client.threads.get_history(thread, limit=50))
            assert len(history) > len(nodes)
            assert history[0]["values"]["result"] == out["result"]

    asyncio.run(drive())


def test_a_chat_whose_calls_are_broken(url: str) -> None:
    async def drive() -> None:
        async with get_client(url=url) as client:
            said = {"messages": [{"role": "user", "content": "Order two desk lamps for me."}]}
            thread = (await client.threads.create())["thread_id"]
            out: Any = await client.runs.wait(thread, "chat_agent", input=said)
            assert "2 desk-lamp for 2026-10-26" in out["result"]
            kinds = [message["type"] for message in out["messages"]]
            assert kinds == ["human", "ai", "tool", "ai"]

            said = {"messages": [{"role": "user", "content": "Order 2.5 desk lamps for me."}]}
            out = await client.runs.wait(thread, "chat_agent", input=said)
            assert "quantity" in str(out["__interrupt__"])
            out = await client.runs.wait(thread, "chat_agent", command={"resume": 3})
            assert "3 desk-lamp" in out["result"]

    asyncio.run(drive())
