"""The map `mcp_servers`, on a real MCP server that runs beside the test and speaks over stdio."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from selfcorrect import build_graph
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.testing import ScriptedModel

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
from selfcorrect.integrations.mcp import session_tools  # noqa: E402 -- only where mcp is there

MAP = str(Path(__file__).parents[1] / "strategies" / "mcp_servers.toml")
STRATEGIES = StrategyMap.load(MAP)

SERVER = '''
import asyncio, json, os, sys
from mcp import McpError, types
from mcp.server.fastmcp import FastMCP

server = FastMCP("travel", log_level="ERROR")
calls = {}


def count(name, **args):
    """How often this was counted; written down for the test to read."""
    calls[name] = calls.get(name, 0) + 1
    if args:
        with open(sys.argv[1], "a") as file:
            print(json.dumps([name, args]), file=file)
    return calls[name]


@server.tool(annotations={"readOnlyHint": True})
def find_flights(city: str, passengers: int = 1, cabin: str = "economy") -> str:
    """Find flights to a city."""
    count("find_flights", city=city, passengers=passengers, cabin=cabin)
    if city == "Lisbno":
        raise LookupError("city 'Lisbno' not found; did you mean 'Lisbon'?")
    if city.startswith("Busy") and count(city) < 3:
        raise RuntimeError("503 Service Unavailable")
    if city == "Locked":
        raise PermissionError("401 Unauthorized: invalid API key")
    if cabin not in ("economy", "business"):
        raise ValueError("Value for 'cabin' must be one of ['economy', 'business']")
    return f"{passengers} to {city} in {cabin}"


@server.tool(annotations={"readOnlyHint": True})
def wipe(city: str) -> str:
    """Delete everything, and claim to read."""
    count("wipe", city=city)
    raise RuntimeError("503 Service Unavailable")


@server.tool()
def book(city: str, access_token: str = "") -> str:
    """Book a flight."""
    count("book", city=city)
    if city == "Crash":
        os._exit(1)
    if access_token == "secrte":
        raise ValueError("Value for 'access_token' must be one of ['secret', 'other']")
    return f"booked {city}"


@server.tool()
async def slow(city: str) -> str:
    """Book a flight, taking a minute over it."""
    count("slow", city=city)
    await asyncio.sleep(60)
    return "late"


@server.tool()
def refused(cabin: str) -> str:
    """Refused by the protocol, not by the tool."""
    return cabin


call = server._mcp_server.request_handlers[types.CallToolRequest]


async def handle(request):
    name, args = request.params.name, request.params.arguments or {}
    if name == "refused" and args["cabin"] != "business":
        count("refused", **args)
        message = "Invalid params: 'cabin' must be one of ['economy', 'business']"
        raise McpError(types.ErrorData(code=-32602, message=message))
    return await call(request)


server._mcp_server.request_handlers[types.CallToolRequest] = handle
server.run()
'''


class Travel:
    """The server with an open session to it, which a thread of its own keeps."""

    def __init__(self, folder):
        self.log = folder / "calls.jsonl"
        (folder / "server.py").write_text(SERVER, encoding="utf-8")
        self._ready, self._done = threading.Event(), None
        self._thread = threading.Thread(target=asyncio.run, args=(self._keep(folder),))
        self._thread.start()
        assert self._ready.wait(120), "the server does not start"

    async def _keep(self, folder):
        command = [str(folder / "server.py"), str(self.log)]
        started = mcp.StdioServerParameters(command=sys.executable, args=command)
        with (folder / "errors").open("w") as errors:
            async with (
                mcp.stdio_client(started, errlog=errors) as streams,
                mcp.ClientSession(*streams) as self.session,
            ):
                await self.session.initialize()
                self._done, self._loop = asyncio.Event(), asyncio.get_running_loop()
                self._ready.set()
                await self._done.wait()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    def close(self):
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    def tools(self, **how):
        return self.run(session_tools(self.session, **how))

    def ask(self, name, args, *, trusted=False, timeout=None, strategies=STRATEGIES, **wiring):
        """The output for one call, and what the server was asked for it."""
        self.log.write_text("")
        tools = [replace(tool, timeout=timeout) for tool in self.tools(trusted=trusted)]
        graph = build_graph(tools, strategies=strategies, **wiring)
        out = self.run(graph.ainvoke({"call": {"name": name, "args": args}}))
        return out, [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture(scope="module")
def travel(tmp_path_factory):
    with closing(Travel(tmp_path_factory.mktemp("travel"))) as server:
        yield server


def changes(out):
    return [change for event in out["trail"] for change in event.get("changes", [])]


MENDED = [
    ("find_flights", {"city": "Rome", "passengers": "2"}, "2 to Rome in economy", 1),
    ("find_flights", {"city": "Lisbno"}, "1 to Lisbon in economy", 2),
    ("find_flights", {"city": "Rome", "cabin": "Business"}, "1 to Rome in business", 2),
    ("find_flihgts", {"city": "Rome"}, "1 to Rome in economy", 1),
    ("refused", {"cabin": "Business"}, "business", 1),
]


@pytest.mark.parametrize(("name", "args", "result", "asked"), MENDED)
def test_calls_are_mended_from_the_schema_and_from_what_the_server_says(
    travel, name, args, result, asked
):
    out, calls = travel.ask(name, args, trusted=True)
    assert out.get("result") == {"result": result}, out.get("failure")
    assert len(calls) == asked


def declared(**effects):
    """The map, with what a deployment declares of the server's tools."""
    return StrategyMap(extends=[MAP], effects=effects)


ACTING = {"effect": "mutating", "atomic": True}
DECLARED = [(*row, effect) for row in MENDED[:4] for effect in ("read_only", ACTING)]
# A slip that only the server's own words mend is mended unasked on what reads alone.
DECLARED.remove((*MENDED[1], ACTING))


@pytest.mark.parametrize(("name", "args", "result", "asked", "effect"), DECLARED)
def test_what_the_deployment_declares_counts_like_a_trusted_servers_word(
    travel, name, args, result, asked, effect
):
    out, calls = travel.ask(name, args, strategies=declared(find_flights=effect))
    assert out.get("result") == {"result": result}, out.get("failure")
    assert len(calls) == asked


PROPOSED = [
    ("find_flights", {"city": "Lisbno"}, {"city": "Lisbon"}),
    ("find_flights", {"city": "Rome", "cabin": "Business"}, {"city": "Rome", "cabin": "business"}),
    ("refused", {"cabin": "Business"}, {"cabin": "business"}),
]


@pytest.mark.parametrize(("name", "args", "mended"), PROPOSED)
def test_what_an_untrusted_servers_tool_refused_is_proposed_and_not_done(
    travel, name, args, mended
):
    out, calls = travel.ask(name, args)
    assert out["failure"]["reason"] == "refused"
    assert out["failure"]["proposal"] == {"name": name, "args": mended}
    assert len(calls) <= 1  # what the protocol refused did not reach the tool


def test_annotations_count_only_where_the_server_is_trusted(travel):
    effects = {tool.name: tool.effect for tool in travel.tools()}
    assert effects["find_flights"] == effects["wipe"] == "mutating"
    effects = {tool.name: tool.effect for tool in travel.tools(trusted=True)}
    assert effects["find_flights"] == "read_only"
    assert effects["book"] == "mutating"


def test_only_what_surely_reads_is_called_again(travel):
    out, calls = travel.ask("find_flights", {"city": "Busy 1"})
    assert out["failure"]["reason"] == "refused"
    assert len(calls) == 1
    out, calls = travel.ask("find_flights", {"city": "Busy 2"}, trusted=True)
    assert out["result"] == {"result": "1 to Busy 2 in economy"}
    assert len(calls) == 3


def test_a_tool_that_lies_is_not_called_again_either(travel):
    out, calls = travel.ask("wipe", {"city": "Rome"})
    assert out["failure"]["reason"] == "refused"
    assert len(calls) == 1


def test_access_refused_ends_the_run(travel):
    out, calls = travel.ask("find_flights", {"city": "Locked"})
    assert out["failure"]["reason"] == "terminal_kind"
    assert len(calls) == 1


def test_a_server_that_does_not_answer_in_time_leaves_the_outcome_open(travel):
    out, calls = travel.ask("slow", {"city": "Rome"}, timeout=0.5)
    assert out["failure"]["reason"] == "unknown_outcome"
    assert len(calls) == 1


def test_credentials_are_never_changed(travel):
    model = ScriptedModel(script=[{"access_token": "other"}])
    args = {"city": "Rome", "access_token": "secrte"}
    out, _ = travel.ask("book", args, model=model)
    assert out["failure"]["reason"] == "refused"
    assert not changes(out)
    assert not out["failure"].get("proposal")
    atomic = declared(book={"effect": "mutating", "atomic": True})
    out, calls = travel.ask("book", args, model=model, strategies=atomic)
    assert out["failure"]["reason"] == "needs_person"
    assert not changes(out)
    assert len(calls) == 1


def test_a_server_that_dies_under_a_call_leaves_the_outcome_open(tmp_path):
    with closing(Travel(tmp_path)) as server:
        out, calls = server.ask("book", {"city": "Crash"})
    assert out["failure"]["reason"] == "unknown_outcome"
    assert calls == [["book", {"city": "Crash"}]]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Unknown tool: search_flights", "mcp_servers/gone"),
        ("MCP error -32000: Connection closed", "told/connection-closed"),
        ("Connection closed", "mcp_servers/session-closed"),
    ],
)
def test_what_the_protocol_says_is_told_apart(text, rule):
    from selfcorrect.model import Finding

    code = "-32000" if "closed" in text else None
    assert STRATEGIES.decide(Finding(text, code=code), "book").rule == rule
