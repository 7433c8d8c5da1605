"""What the proxy remembers of calls that a server refused, and of the tools that it listed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from selfcorrect.ledger import MemoryLedger
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
        await self.inbox.put(Come(made({"jsonrpc": "2.0", "id": frame.id, "result": result})))

    async def changes(self, *tools: Any) -> None:
        self.tools = list(tools)
        told = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await self.inbox.put(Come(made(told)))


class Hand:
    """A client by hand."""

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
        return (await asyncio.wait_for(self.got.get(), 60))["result"]

    async def calls(self, name: str, **args: Any) -> Any:
        return await self.asks("tools/call", name=name, arguments=args)


def reason(told: Any) -> Any:
    return told.get("_meta", {}).get("selfcorrect", {}).get("reason")


def with_a_client(work: Any) -> None:
    async def run() -> None:
        bank = Bank()
        hand = Hand(bank)
        relay = Relay(hand, bank, Tools(Policy(load_map("mcp_servers")), "t"))
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
