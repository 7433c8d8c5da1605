"""An outage under several processes that share a breaker, and what the service saw of it."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FAILURES, PAUSE = 5, 1.0
WORKER = Path(__file__).with_name("outage_worker.py")


@dataclass(frozen=True)
class Seen:
    """What the service saw: when it was called, whether it was up then, and by whom."""

    calls: list[tuple[float, bool, int]]
    reasons: dict[str, int]
    down: tuple[float, float]
    processes: int

    @property
    def while_down(self) -> int:
        return sum(not up for _, up, _ in self.calls)

    @property
    def bound(self) -> int:
        """Failures of each process until it knows, and one call a pause."""
        start, end = self.down
        return FAILURES * self.processes + int((end - start) / PAUSE) + 1

    @property
    def recovered_after(self) -> float:
        """Seconds from the service's return until every process had called it."""
        firsts = [
            min((at for at, up, who in self.calls if up and who == number and at > self.down[1]),
                default=float("inf"))
            for number in range(self.processes)
        ]  # fmt: skip
        return max(firsts) - self.down[1]

    @property
    def probes_to_recover(self) -> int:
        """Calls after the service's return until one succeeded, that one too."""
        after = [up for at, up, _ in sorted(self.calls) if at > self.down[1] - PAUSE / 20]
        return after.index(True) + 1


def campaign(ledger: str, folder: Path, *, processes: int, seconds: float) -> Seen:
    """Processes that call a service as fast as they can: up, then down, then up again."""
    state = folder / "up"
    state.write_text("1")
    outs = [folder / f"worker-{number}.jsonl" for number in range(processes)]
    lives = [
        subprocess.Popen(
            [sys.executable, str(WORKER), ledger, str(state), str(out), str(number)],
            stdin=subprocess.PIPE,
        )
        for number, out in enumerate(outs)
    ]
    try:
        while not all(out.exists() and out.stat().st_size for out in outs):
            time.sleep(0.05)
            assert all(life.poll() is None for life in lives), "a worker ended too early"
        time.sleep(seconds / 4)
        went = time.time()
        state.write_text("0")
        time.sleep(seconds)
        state.write_text("1")
        back = time.time()
        time.sleep(3 * PAUSE + 2)
    finally:
        for life in lives:
            life.communicate(b"end\n", timeout=60)
    lines = list(itertools.chain.from_iterable(out.read_text().splitlines() for out in outs))
    items = [json.loads(line) for line in lines]
    calls = [(i["at"], i["up"], i["who"]) for i in items if "up" in i]
    reasons: dict[str, int] = {}
    for item in items:
        for reason, count in item.get("reasons", {}).items():
            reasons[reason] = reasons.get(reason, 0) + count
    return Seen(calls, reasons, (went, back), processes)
