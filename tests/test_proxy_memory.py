"""What the proxy remembers of calls that a server refused, and of the tools that it listed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from selfcorrect.ledger import MemoryLedger
from selfcorrect.loop.context import SystemTime
from selfcorrect.mapping.loading import load_map
from selfcorrect.proxy.frames import made
from selfcorrect.proxy.relay import Relay
from selfcorrect.proxy.serving import Proxy, Target
from selfcorrect.proxy.sessions import Session
from selfcorrect.proxy.sides import Come, Inbox
from selfcorrect.proxy.tools import Policy, Tools

TIMES = 25
PAY = {
    "name": "pay",
    "inputSchema": {"type": "object", "properties": {"cents": {"type": "integer"}}},
}
LOOK = {"name": "list_bills", "inputSchema": {"type": "object"}}
LATER = {
    "name": "pay",
    "inputSchema": {
        "type": "object",
        "properties": {
            "cents": {"type": "integer"},
            "mode": {"enum": ["delete"], "default": "delete"},
        },
        "required": ["mode"],
    },
}


class Bank:
    """A server whose tools answer as they are told."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self.tools: list[Any] = [PAY, LOOK]
        self.made: list[Any] = []
        self.says: Any = {"isError": True, "content": [{"type": "text", "text": "401 no"}]}
        self.status = 200

    async def start(self) -> None:
        return

    async def close(self) -> None:
        return

    async def ending(self) -> str:
        return "over"

    async def send(self, frame: Any, related: Any = None) -> None:
        del related
        if frame.method == "tools/list":
            await self._answer(frame, {"tools": self.tools})
        elif frame.method == "tools/call":
            self.made.append((frame.params["name"], frame.params.get("arguments")))
            fine = {"content": [{"type": "text", "text": "a bill"}]}
            await self._answer(frame, fine if frame.params["name"] == "list_bills" else self.says)

    async def _answer(self, frame: Any, result: Any) -> None:
        told = {"error": result} if "code" in result else {"result": result}
        answer = made({"jsonrpc": "2.0", "id": frame.id, **told})
        await self.inbox.put(Come(replace(answer, status=self.status if "error" in told else 200)))

    async def changes(self, *tools: Any) -> None:
        self.tools = list(tools)
        told = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await self.inbox.put(Come(made(told)))


class Clock:
    now = 1e6


class Hand:
    """A client by hand."""

    tools: Tools

    def __init__(self, bank: Bank) -> None:
        self.inbox, self.got = Inbox(), asyncio.Queue[Any]()
        self.bank, self.number = bank, 0

    async def send(self, frame: Any, related: Any = None) -> None:
        del related
        if frame.is_answer:
            await self.got.put(json.loads(frame.raw))

    async def asks(self, method: str, **params: Any) -> Any:
        self.number += 1
        asked = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        await self.inbox.put(Come(made(asked)))
        told = await asyncio.wait_for(self.got.get(), 60)
        return told.get("result") or told["error"]

    async def calls(self, name: str, **args: Any) -> Any:
        return await self.asks("tools/call", name=name, arguments=args)


def reason(told: Any) -> Any:
    return told.get("_meta", {}).get("selfcorrect", {}).get("reason")


def with_a_client(work: Any) -> None:
    async def run() -> None:
        bank = Bank()
        hand = Hand(bank)
        hand.tools = Tools(Policy(load_map("mcp_servers")), "t")
        relay = Relay(hand, bank, hand.tools)
        running = asyncio.create_task(relay.run())
        await hand.asks("tools/list")
        await work(hand, bank)
        hand.inbox.end()
        await running

    asyncio.run(run())


def test_a_refused_call_of_a_tool_that_acts_is_made_once_until_something_else_is_known():
    async def work(hand: Hand, bank: Bank) -> None:
        for _ in range(TIMES):
            assert (await hand.calls("pay", cents=5))["isError"]
        assert reason(await hand.calls("pay", cents="5")) == "refused", "the same in other letters"
        assert bank.made == [("pay", {"cents": 5})]
        await hand.calls("pay", cents=6)
        assert bank.made[-1] == ("pay", {"cents": 6}), "a corrected call is made"
        await hand.calls("list_bills")
        await hand.calls("pay", cents=5)
        assert bank.made.count(("pay", {"cents": 5})) == 2, "another call has succeeded"
        for _ in range(TIMES):
            await hand.calls("list_bills")
            await hand.calls("pay", cents=5)
        assert bank.made.count(("pay", {"cents": 5})) == 3, "within bounds"

    with_a_client(work)


REFUSALS = [
    ({"code": -32602, "message": "bad"}, 200),
    ({"code": -32601, "message": "no such tool"}, 200),
    *(({"code": -32603, "message": f"HTTP {each}"}, each) for each in (400, 401, 403, 409, 422)),
]


def refusing(told: Any, status: int, work: Any) -> None:
    async def refused(hand: Hand, bank: Bank) -> None:
        bank.says, bank.status = told, status
        await work(hand, bank)

    with_a_client(refused)


@pytest.mark.parametrize(("told", "status"), REFUSALS)
@pytest.mark.parametrize("cents", [5, "5"])
def test_a_refusal_by_the_protocol_is_bounded_as_one_by_the_tool(told, status, cents):
    async def work(hand: Hand, bank: Bank) -> None:
        for _ in range(TIMES):
            assert "code" in (told := await hand.calls("pay", cents=cents)) or told["isError"]
        assert bank.made == [("pay", {"cents": 5})] * 3, "a new decision, within bounds"
        await hand.calls("pay", cents=6)
        assert bank.made[-1] == ("pay", {"cents": 6}), "a corrected call is made"
        for _ in range(TIMES):
            await hand.calls("list_bills")
            await hand.calls("pay", cents=cents)
        assert bank.made.count(("pay", {"cents": 5})) == 3, "within bounds"

    refusing(told, status, work)


@pytest.mark.parametrize("told", ["isError", {"code": -32603, "message": "HTTP 401"}])
def test_what_was_refused_too_often_rests_and_is_a_new_call_then(told, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(SystemTime, "monotonic", lambda _: clock.now)

    async def work(hand: Hand, bank: Bank) -> None:
        bank.says, bank.status = (bank.says, 200) if told == "isError" else (told, 401)
        for turn in range(1, 4):
            for _ in range(TIMES):
                await hand.calls("list_bills")
                await hand.calls("pay", cents=5)
            assert bank.made.count(("pay", {"cents": 5})) == 3 * turn
            clock.now += 15 * 60

    with_a_client(work)


@pytest.mark.parametrize(
    "broken", [{}, {"inputSchema": None}, {"inputSchema": {"properties": {"a": {"type": "x"}}}}]
)
def test_a_tool_without_a_usable_schema_is_remembered_too(broken):
    async def work(hand: Hand, bank: Bank) -> None:
        bank.tools = [{"name": "pay", **broken}, LOOK]
        await hand.asks("tools/list")
        for _ in range(TIMES):
            assert (await hand.calls("pay", cents=5))["isError"]
        assert bank.made == [("pay", {"cents": 5})]
        bank.says = {"content": []}
        assert await hand.calls("pay", cents="6") == bank.says
        assert bank.made[-1] == ("pay", {"cents": "6"})

    with_a_client(work)


def test_a_person_who_speaks_opens_what_was_refused_too_often():
    async def work(hand: Hand, bank: Bank) -> None:
        for _ in range(TIMES):
            await hand.calls("pay", cents=5)
        hand.tools.hear_person()
        await hand.calls("pay", cents=5)
        assert bank.made.count(("pay", {"cents": 5})) == 4

    refusing({"code": -32603, "message": "HTTP 401"}, 401, work)


def test_success_ends_the_count_of_refusals():
    async def work(hand: Hand, bank: Bank) -> None:
        for round_ in range(4):
            bank.says = {"code": -32603, "message": "HTTP 401"}
            await hand.calls("pay", cents=5)
            await hand.calls("pay", cents=5)
            bank.says = {"content": []}
            assert await hand.calls("pay", cents=5) == bank.says
            assert len(bank.made) == 3 * (round_ + 1)

    refusing({"code": -32603, "message": "HTTP 401"}, 401, work)


def test_a_call_that_fails_in_the_same_way_is_bounded_on_tools_that_read():
    async def work(hand: Hand, bank: Bank) -> None:
        bank.tools = [{**LOOK, "name": "list_all"}]
        bank.says["content"][0]["text"] = "401 Unauthorized: bad token"
        await hand.asks("tools/list")
        for _ in range(TIMES):
            assert (await hand.calls("list_all"))["isError"]
        assert len(bank.made) <= 6

    with_a_client(work)


@pytest.mark.parametrize("tools", [[LATER], [{**PAY, "name": "pays"}], []])
def test_a_call_is_mended_by_the_tools_that_this_client_was_told_of(tools):
    async def work(hand: Hand, bank: Bank) -> None:
        bank.says = {"content": []}
        await hand.calls("pay", cents="5")
        assert bank.made == [("pay", {"cents": 5})]
        await bank.changes(*tools)
        told = await hand.calls("pay", cents="6")
        assert "the server has changed" in told["content"][-1]["text"]
        assert len(bank.made) == 1
        await hand.asks("tools/list")
        if tools == [LATER]:
            await hand.calls("pay", cents="6", mode="delete")
            assert bank.made[-1] == ("pay", {"cents": 6, "mode": "delete"})

    with_a_client(work)


def test_a_doubt_over_http_is_that_of_the_client_that_made_the_call():
    policy = Policy(load_map("mcp_servers"), ledger=MemoryLedger())
    proxy = Proxy(Target(("server",)), policy)

    def thread(said: str | None) -> str:
        return proxy.relay(Session(said)).tools.thread

    assert thread("Bearer ann") == thread("Bearer ann") != thread("Bearer bob")
    assert thread(None) != thread(None)
    assert "ann" not in thread("Bearer ann")
