"""One worker of a queue, with tools whose effects are rows; it is killed at any moment."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import psycopg

from selfcorrect import Result, ToolSpec
from selfcorrect.effects import Outcome

ROOT = Path(__file__).parents[2]
LATENCY = float(os.environ.get("LATENCY", "0.02"))
EFFECTS = """
CREATE TABLE IF NOT EXISTS effects (
    kind TEXT, item INTEGER, key TEXT, pid INTEGER, at TIMESTAMPTZ DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS effects_key ON effects (key)
"""


def graph_file() -> Any:
    spec = spec_from_file_location("worker_graph", ROOT / "graphs" / "worker.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Effects:
    """Tools whose effects are committed rows, in the middle of a call."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._own = threading.local()

    def _rows(self) -> Any:
        if not hasattr(self._own, "rows"):
            self._own.rows = psycopg.connect(self._dsn, autocommit=True)
        return self._own.rows

    def _act(self, kind: str, item: int, key: str = "") -> str:
        time.sleep(LATENCY / 2)
        self._rows().execute(
            "INSERT INTO effects (kind, item, key, pid) VALUES (%s, %s, %s, %s)",
            (kind, item, key, os.getpid()),
        )
        time.sleep(LATENCY / 2)
        return f"{kind} {item}"

    def pay(self, item: int, amount: float, idempotency_key: str) -> str:
        """Pay; it can be found out whether it was done."""
        return self._act("pay", item, idempotency_key)

    def paid(self, args: Mapping[str, Any], key: str) -> Any:
        found = self._rows().execute("SELECT 1 FROM effects WHERE key = %s", (key,)).fetchone()
        return Result(f"pay {args['item']}") if found else Outcome.NOT_DONE

    def send(self, item: int, to: str) -> str:
        """Send; nobody can find out whether it was done."""
        return self._act("send", item)

    def look(self, item: int, limit: int = 3) -> str:
        """Look."""
        return self._act("look", item)

    def tools(self) -> list[ToolSpec]:
        return [
            ToolSpec.from_function(self.pay, effect="mutating", verify=self.paid),
            ToolSpec.from_function(self.send, effect="mutating"),
            ToolSpec.from_function(self.look, effect="read_only"),
        ]


def job(number: int) -> dict[str, Any]:
    """A job: each of three tools, each call with something to mend."""
    call = [
        {"name": "pay", "args": {"item": str(number), "amount": "9.50"}},
        {"name": "send", "args": {"item": f"{number}", "to": "ann"}},
        {"name": "lok", "args": {"item": f"{number}", "limit": "two"}},
    ][number % 3]
    return {"thread": f"job-{number}", "call": {**call, "id": "c"}}


def main(dsn: str) -> None:
    worker = graph_file()
    over = Effects(dsn).tools()
    limits = {"heartbeat_timeout": timedelta(seconds=3), "dequeue_timeout": timedelta(seconds=1)}

    def make(**wiring: Any) -> Any:
        if os.environ.get("CHECKPOINTS") == "0":
            wiring.pop("checkpointer")
        return worker.make_graph(over=over, **wiring)

    asyncio.run(worker.work(dsn, make, **limits))


if __name__ == "__main__":
    main(sys.argv[1])
