"""Time of a ledger's begin, settle, replay and doubts at 10⁴, 10⁶ and 10⁷ intents in PostgreSQL.

    python tests/benchmarks/ledger_size.py [ROWS…]

The server is one of its own, with fsync off: what grows with the number of rows is the point here,
not what a disk takes to sync.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from effects import many_intents
from postgres import Server, binaries

from selfcorrect.ledger import PostgresLedger


def main(counts: list[int]) -> None:
    place = binaries()
    if place is None:
        raise SystemExit("no PostgreSQL server is installed")
    server = Server(place)
    try:
        server.start()
        dsn, before = server.dsn(server.create()), 0
        print(f"{'rows':>12} {'begin':>9} {'settle':>9} {'replay':>9} {'doubts':>9}   µs, median")
        for count in counts:
            many_intents.lay_in(dsn, before, count)
            before = count
            found = many_intents.times(dsn)
            shown = " ".join(
                f"{found[name]:9.0f}" for name in ("begin", "settle", "replay", "doubts")
            )
            print(f"{count:12,} {shown}", flush=True)
        for name, plan in many_intents.plans(dsn).items():
            print(f"{name}: {plan.splitlines()[0].strip()} / {plan.splitlines()[-1].strip()}")
        ledger, started = PostgresLedger(dsn), time.perf_counter()
        ledger.forget(older_than=90 * 86_400 - 100)
        print(f"forget of what is older than 90 days: {time.perf_counter() - started:.2f} s")
    finally:
        server.remove()


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [10_000, 1_000_000, 10_000_000])
