"""What the proxy costs: per healthy call and per mended one, and in memory after 10,000 calls.

    python tests/benchmarks/proxy.py

A server of the standard library stands behind it, so that little else is measured. Processor time
is that of the proxy alone; nothing is asserted.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "integrations"))
from proxy_kit import PROXY, Hand, by_hand, raw_server

ROUNDS = 2_000
CALLS = 10_000
HEALTHY = {"amount": 9.5, "to": "Ann"}
MENDED = {"Amount": "9.5", "to": "Ann"}


def processor(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def measured(hand: Hand, call: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Milliseconds a call: the median of the clock, and the processor time of the process."""
    process = psutil.Process(hand.process.pid)
    for _ in range(50):
        call()
    clock, before = [], processor(process)
    for _ in range(rounds):
        started = time.perf_counter()
        answer = call()
        clock.append(time.perf_counter() - started)
        assert not answer["result"].get("isError"), answer
    return statistics.median(clock) * 1e3, (processor(process) - before) / rounds * 1e3


def costs(log: Path) -> None:
    print(f"{'':34} {'clock ms':>9} {'proxy CPU ms':>13}")
    with by_hand(*raw_server(log)) as hand:
        hand.begin()
        direct, _ = measured(hand, lambda: hand.call("pay", HEALTHY), ROUNDS)
        print(f"{'direct':34} {direct:9.3f} {'':>13}")
    for name, options, args, rounds in (
        ("proxied, healthy", (), HEALTHY, ROUNDS),
        ("proxied, mended", (), MENDED, ROUNDS // 10),
        ("proxied, healthy, with a ledger", ("--ledger", str(log) + ".db"), HEALTHY, ROUNDS // 10),
    ):
        with by_hand(*PROXY, *options, "--", *raw_server(log)) as hand:
            hand.begin()
            clock, own = measured(hand, lambda: hand.call("pay", args), rounds)  # noqa: B023
            print(f"{name:34} {clock:9.3f} {own:13.3f}")


def memory(log: Path) -> None:
    with by_hand(*PROXY, "--", *raw_server(log)) as hand:
        hand.begin()
        process = psutil.Process(hand.process.pid)
        shown = {100, 1_000, CALLS // 2, CALLS}
        for number in range(1, CALLS + 1):
            hand.call("pay", MENDED if number % 10 == 0 else HEALTHY)
            if number in shown:
                size = process.memory_info().rss / 2**20
                print(f"after {number:6,} calls, every tenth mended: {size:6.1f} MiB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        costs(Path(folder) / "log")
        memory(Path(folder) / "log")
