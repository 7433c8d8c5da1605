"""Whatever comes in whatever order: through the proxy, too, no call is made twice in doubt."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from test_proxy_memory import Bank, Hand

from selfcorrect.ledger import SqliteLedger
from selfcorrect.mapping.loading import load_map
from selfcorrect.proxy.relay import Relay
from selfcorrect.proxy.tools import Policy, Tools

CLIENTS = st.sampled_from(["ann", "bob"])
FINE = {"content": [{"type": "text", "text": "paid"}]}
ENDINGS = {
    "done": FINE,
    "refused": {"isError": True, "content": [{"type": "text", "text": "no"}]},
    "401": {"code": -32603, "message": "HTTP 401"},
    "lost": {"code": -32603, "message": "internal error"},
}
MOST = 3


class Clients(RuleBasedStateMachine):
    """Two clients, sessions of theirs, and what may reach the server at most."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.ledger = SqliteLedger(Path(self.folder.name) / "ledger.db")
        self.open: dict[str, tuple[Hand, Bank, Any]] = {}
        self.lost: set[Any] = set()
        self.refused: dict[Any, int] = {}
        self.barred: set[Any] = set()

    @rule(client=CLIENTS)
    def begins_anew(self, client: str) -> None:
        """The proxy is killed; what was refused is forgotten with the session, no doubt is."""
        if client in self.open:
            self._ends(client)
        self.loop.run_until_complete(self._starts(client))
        for kept in (self.refused, self.barred):
            for key in [one for one in kept if one[0] == client]:
                kept.pop(key) if isinstance(kept, dict) else kept.discard(key)

    @rule(client=CLIENTS, cents=st.sampled_from([5, "5", 6]), ending=st.sampled_from([*ENDINGS]))
    def pays(self, client: str, cents: Any, ending: str) -> None:
        hand, bank, _ = self._session(client)
        bank.says, bank.status = ENDINGS[ending], 401 if ending == "401" else 200
        equal, before = (client, int(cents)), len(bank.made)
        told = self.loop.run_until_complete(hand.calls("pay", cents=cents))
        made = len(bank.made) - before
        is_refused = equal in self.barred or self.refused.get(equal, 0) >= MOST
        may = equal not in self.lost and not is_refused
        assert made == int(may), (equal, ending, told)
        if not made:
            assert told["isError"]
        elif ending == "lost":
            self.lost.add(equal)
        elif ending == "done":
            self._hears(client)
            self.refused.pop(equal, None)
        else:
            self.refused[equal] = self.refused.get(equal, 0) + 1
            if ending == "refused":
                self.barred.add(equal)
            else:
                self.barred.discard(equal)

    @rule(client=CLIENTS)
    def looks(self, client: str) -> None:
        """Another call succeeds."""
        hand, _, _ = self._session(client)
        self.loop.run_until_complete(hand.calls("list_bills"))
        self._hears(client)

    @rule(verdict=st.sampled_from(["done", "not-done", "again"]))
    def a_person_settles(self, verdict: str) -> None:
        """What is settled is in doubt no more."""
        for each in self.ledger.intents(in_doubt=True):
            self.ledger.settle_doubt(each.key, verdict, "eve")
        self.lost.clear()

    def _session(self, client: str) -> tuple[Hand, Bank, Any]:
        if client not in self.open:
            self.begins_anew(client)
        return self.open[client]

    def _hears(self, client: str) -> None:
        self.barred -= {key for key in self.barred if key[0] == client}

    async def _starts(self, client: str) -> None:
        bank = Bank()
        hand = Hand(bank)
        tools = Tools(Policy(load_map("mcp_servers"), ledger=self.ledger), client)
        running = asyncio.create_task(Relay(hand, bank, tools).run())
        self.open[client] = hand, bank, running
        await hand.asks("tools/list")

    def _ends(self, client: str) -> None:
        hand, _, running = self.open.pop(client)
        hand.inbox.end()
        self.loop.run_until_complete(running)

    def teardown(self) -> None:
        for client in [*self.open]:
            self._ends(client)
        self.loop.close()
        self.ledger.close()
        self.folder.cleanup()


Clients.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestClients = Clients.TestCase


@pytest.mark.nightly
class TestClientsLong(Clients.TestCase):  # type: ignore[misc, name-defined]
    """The same, for as long as a night takes."""

    settings = settings(Clients.TestCase.settings, max_examples=1_000)
