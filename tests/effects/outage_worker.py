"""One process that calls a service as fast as it can, until its standard input says `end`."""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from selfcorrect import StrategyMap, ToolSpec
from selfcorrect.ledger import PostgresLedger, SqliteLedger
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk

where, state, out, who = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
FAILURES, PAUSE = 5, 1.0


def main() -> None:
    ledger = PostgresLedger(where) if "://" in where else SqliteLedger(where)
    stream = out.open("a", buffering=1)

    def act(item: str) -> str:
        """Ask the service."""
        up = state.read_text() == "1"
        stream.write(json.dumps({"at": time.time(), "up": up, "who": who}) + "\n")
        time.sleep(0.002)
        if not up:
            raise ConnectionError("the service does not answer")
        return item

    strategies = StrategyMap(
        extends="default", breaker={"failures": FAILURES, "pause": PAUSE}, limits={"wait": 0}
    )
    tool = ToolSpec.from_function(act, effect="read_only")
    loop = assemble([tool], Options(strategies=strategies, ledger=ledger))
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), ended.set()), daemon=True).start()
    reasons: Counter[str] = Counter()
    for number in itertools.count():
        if ended.is_set():
            break
        call = {"name": "act", "args": {"item": f"{who}-{number}"}, "id": "c"}
        result = walk(loop, {"call": call, "task_id": f"{who}-{number}"})
        reasons[result["failure"]["reason"] if "failure" in result else "done"] += 1
        time.sleep(0.005)
    stream.write(json.dumps({"reasons": reasons}) + "\n")
    stream.close()
    ledger.close()


main()
