"""How fast errors are read: messages a second, and how long one takes; prints a README table.

    python tests/benchmarks/diagnosis.py [ERRORS.jsonl]

A line of the file is what `selfcorrect diagnose` takes. Without a file, the examples of the default
map's own rules are read. Times are those of the processor, so that other work does not count.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from selfcorrect.batch.lines import Line
from selfcorrect.batch.recorded_errors import answered
from selfcorrect.mapping.linting import example_finding
from selfcorrect.mapping.strategy_map import StrategyMap

REPEATS = 3
LARGE = (64_000, 1_000_000, 10_000_000)
WARM_UP = {
    "message": "the value is not allowed",
    "schema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}},
    "arguments": {"a": "x", "b": 1},
}
"""Loads the schema library, which a service has loaded long before."""


def main() -> None:
    """Read every message a few times and print what it took."""
    start = time.process_time()
    strategies = StrategyMap.load("default")
    loaded = time.process_time() - start
    records = from_file(Path(sys.argv[1])) if len(sys.argv) > 1 else from_map(strategies)
    start = time.process_time()
    answered(Line("first", {"message": "nothing in particular"}), strategies)
    first = time.process_time() - start
    answered(Line("warm-up", WARM_UP), strategies)
    took = sorted(
        seconds for record in records * REPEATS for seconds in [timed(record, strategies)]
    )
    rows = [
        ("messages", f"{len(records):,}"),
        ("messages a second", f"{len(took) / sum(took):,.0f}"),
        ("p50", shown(statistics.median(took))),
        ("p99", shown(took[int(len(took) * 0.99)])),
        ("slowest", shown(took[-1])),
        *((f"a message of {size / 1e6:g} MB", shown(large(size, strategies))) for size in LARGE),
        ("loading the default map, once", shown(loaded)),
        ("the first error, which compiles its patterns", shown(first)),
    ]
    print("| | |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")


def from_file(path: Path) -> list[Mapping[str, Any]]:
    """The records of a JSONL file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def from_map(strategies: StrategyMap) -> list[Mapping[str, Any]]:
    """The examples of the map's rules, as records."""
    found: list[Mapping[str, Any]] = []
    for placed in strategies.rules:
        for example in placed.rule.example:
            finding, _ = example_finding(placed.rule, example)
            found.append(
                {
                    "message": finding.text,
                    "exception": finding.types[0] if finding.types else None,
                    "status": finding.status,
                }
            )
    return found


def timed(record: Mapping[str, Any], strategies: StrategyMap) -> float:
    """The seconds that one message takes, from its text to kind, parameters and ladder."""
    line = Line("line", dict(record))
    start = time.process_time()
    answered(line, strategies)
    return time.process_time() - start


def large(size: int, strategies: StrategyMap) -> float:
    """The median seconds of a message of this many characters: a log with the error at its end."""
    log = "2026-03-01 12:00:00 INFO  worker 7 handled request 1234 in 5 ms\n"
    text = (log * (size // len(log) + 1))[:size] + "\nValueError: page_size must be at most 100"
    record = {"message": text, "arguments": {"page_size": 500, "query": "x"}}
    return statistics.median(timed(record, strategies) for _ in range(5))


def shown(seconds: float) -> str:
    """A duration as a person reads it."""
    return f"{seconds * 1e3:,.2f} ms" if seconds < 1 else f"{seconds:,.2f} s"


if __name__ == "__main__":
    main()
