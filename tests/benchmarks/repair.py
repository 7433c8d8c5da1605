"""What mending costs, side by side with json-repair and pydantic's lax mode, in one run.

    python tests/benchmarks/repair.py [CALLS]

The targets are printed beside the figures; nothing is asserted. Times are of the processor, so
that other work on the machine disturbs them least; the batch is timed by the clock.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

import json_repair
import psutil
from pydantic import BaseModel

from selfcorrect.batch.checking import repair_loop
from selfcorrect.batch.mending import mend
from selfcorrect.reading.contract import JsonRead
from selfcorrect.reading.tolerant_json import read_json
from selfcorrect.tools import ToolSpec

ROUNDS = 9
TEXT = {"type": "string"}
BOOK = {
    "name": "book_flight",
    "description": "Book a flight.",
    "parameters": {
        "type": "object",
        "properties": {
            "origin": TEXT,
            "destination": TEXT,
            "date": {"type": "string", "format": "date"},
            "passengers": {"type": "integer", "minimum": 1},
            "cabin": {"type": "string", "enum": ["economy", "business", "first"]},
            "refundable": {"type": "boolean"},
        },
        "required": ["origin", "destination", "date", "passengers"],
    },
}
HEALTHY = {
    "origin": "LHR",
    "destination": "CDG",
    "date": "2026-10-02",
    "passengers": 2,
    "cabin": "business",
    "refundable": True,
}
SIX = {**HEALTHY, "passengers": "2", "refundable": "true"}

FOUR = {"origin": ["LHR"], "destination": ["CDG"], "date": "2026/10/02", "passengers": "many"}
FOUR |= {"cabin": "Business", "refundable": "maybe"}


class Booking(BaseModel):
    """The same tool as a pydantic model, whose lax mode converts what it can."""

    origin: str
    destination: str
    date: date
    passengers: int
    cabin: Literal["economy", "business", "first"] = "economy"
    refundable: bool = False


def medians(work: dict[str, Callable[[], Any]], goal: float = 0.02) -> dict[str, float]:
    """Median microseconds of each piece of work, measured in turns of some milliseconds."""
    times: dict[str, list[float]] = {name: [] for name in work}
    repeats = {}
    for name, function in work.items():
        function()
        started = time.process_time()
        function()
        repeats[name] = max(1, int(goal / max(1e-6, time.process_time() - started)))
    for _ in range(ROUNDS):
        for name, function in work.items():
            started = time.process_time()
            for _ in range(repeats[name]):
                function()
            times[name].append((time.process_time() - started) / repeats[name] * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def broken_json(size: int) -> dict[str, str]:
    """Texts of about this many characters, broken in the ways that models break JSON."""
    rows = [
        {"id": n, "name": f"item {n}", "tags": ["red", "new"], "ok": n % 2 == 0, "note": None}
        for n in range(max(1, size // 75))
    ]
    text = json.dumps({"rows": rows})
    return {
        "trailing commas": text.replace("]", ",]").replace("}", ",}"),
        "Python dict": repr({"rows": rows}),
        "keys without quotes": text.replace('"id"', "id").replace('"name"', "name"),
        "a missing closer": text[:-1],
        "comments": text.replace('"ok"', '/* fine */ "ok"'),
    }


def against_json_repair() -> None:
    print("broken JSON                    size     ours  json-repair   ratio")
    for size in (200, 2_000, 20_000):
        ratios = []
        for name, text in broken_json(size).items():
            assert isinstance(read_json(text), JsonRead), (name, text[:100])
            figures = medians(
                {"ours": lambda t=text: read_json(t), "theirs": lambda t=text: json_repair.loads(t)}
            )
            ratios.append(figures["ours"] / figures["theirs"])
            print(
                f"  {name:<26}{len(text):>7}{figures['ours']:>9.0f}{figures['theirs']:>10.0f} µs"
                f"{ratios[-1]:>8.2f}"
            )
        target = "≤ 0.25" if size == 20_000 else "< 1"
        print(f"  worst at {size:<6}{max(ratios):>47.2f}  (target {target})")


def end_to_end() -> None:
    loop = repair_loop([ToolSpec.from_schema(BOOK)])
    args = json.dumps(SIX)
    raw = f"<tool_call>{{'name': 'book_flight', 'arguments': {HEALTHY!r}}}</tool_call>"
    cases = {
        "healthy call": {"name": "book_flight", "args": HEALTHY},
        "six fields, two of them wrong": {"name": "book_flight", "args": SIX},
        "six fields wrong, two of them for good": {"name": "book_flight", "args": FOUR},
        "six fields as broken text": {"name": "book_flight", "args": f"{args[:-1]},}}"},
        "a call in a tag, as a Python dict": raw,
    }
    for case in cases.values():
        assert mend(loop, case, {}).outcome in ("valid", "repaired", "ask")
    work: dict[str, Callable[[], Any]] = {
        name: (lambda c=case: mend(loop, c, {})) for name, case in cases.items()
    }
    work["pydantic lax, two of six wrong"] = lambda: Booking.model_validate(SIX)
    work["json-repair + pydantic lax"] = lambda: Booking.model_validate(
        json_repair.loads(f"{args[:-1]},}}")
    )
    print("\nend to end, nothing executed")
    for name, value in medians(work).items():
        print(f"  {name:<40}{value:>9.0f} µs")
    print("  (target for the six fields ≤ 200 µs)")


def search() -> None:
    """The search end to end, as arguments and schemas grow; warmed up before."""
    words = [f"{a}{b}{c}" for a in "bdfgklmn" for b in ("ane", "oru", "ilo") for c in NOUNS]
    many = tool_of(dict.fromkeys(words[:200], TEXT))
    unknown = dict.fromkeys(words[200:400], "x")
    whole = {"type": "integer"}
    row = {"type": "object", "properties": {"a": whole, "b": TEXT}, "required": ["a"]}
    cases = {"200 unknown keys, 200 properties": (many, unknown)}
    for size in (10_000, 100_000, 1_000_000):
        listed = tool_of({"x": {"type": "array", "items": whole}, "y": whole})
        cases[f"a list of {size:>9,} characters"] = listed, {"x": [1] * (size // 3), "y": "5"}
        cases["the same as a text"] = listed, {"x": json.dumps([1] * (size // 3)), "y": 5}
        rows = tool_of({"rows": {"type": "array", "items": row}})
        given = [{"a": 1, "b": "x" * 80} for _ in range(size // 100)] + [{"a": "2", "b": "x"}]
        cases[f"rows of  {size:>9,} characters"] = rows, {"rows": given}
        print_search(cases)
        cases = {}
    print("  (targets: 200 keys <= 300 ms; ten times the size, ten times the time)")


def tool_of(properties: dict[str, Any]) -> ToolSpec:
    return ToolSpec.from_schema({"name": "t", "parameters": {"properties": properties}})


NOUNS = ("bit", "cup", "dot", "fan", "gum", "hat", "ink", "jar", "kit", "log", "mat", "net")
NOUNS += ("oak", "pan", "rug", "sun", "tin")


def print_search(cases: dict[str, tuple[ToolSpec, dict[str, Any]]]) -> None:
    for name, (tool, args) in cases.items():
        whole = partial(mend, repair_loop([tool]), {"name": "t", "args": args}, {})
        figures = medians({"all": whole})
        print(f"  {name:<40}{figures['all'] / 1e3:>9.1f} ms")


def lines(count: int) -> Iterator[str]:
    """Calls as the batch command reads them: healthy, wrong values, broken text, code."""
    code = "[book_flight(origin='LHR', destination='CDG', date='2026-10-02', passengers={})]"
    for n in range(count):
        line: dict[str, Any] = {"id": n, "tools": [BOOK]}
        match n % 4:
            case 0:
                line["call"] = {"name": "book_flight", "arguments": HEALTHY}
            case 1:
                line["call"] = {"name": "book_flight", "arguments": {**SIX, "passengers": str(n)}}
            case 2:
                line["raw"] = f"<tool_call>{{'name': 'book_flight', 'arguments': {HEALTHY}}}"
            case _:
                line["raw"] = code.format(n)
        yield json.dumps(line) + "\n"


def batch(count: int) -> None:
    print(f"\nbatch of {count} calls by `selfcorrect repair`")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        for size in (count // 10, count):
            with source.open("w", encoding="utf-8") as stream:
                stream.writelines(lines(size))
            for processes in (1, 2):
                seconds, peak = run(source, target, processes)
                print(
                    f"  {size:>7} lines, {processes} process(es) {seconds:>8.1f} s"
                    f"{size / seconds:>9.0f} calls/s{peak / 1e6:>8.0f} MB at most"
                )
    print("  (memory must not grow with the number of lines)")


def run(source: Path, target: Path, processes: int) -> tuple[float, int]:
    """Seconds of one batch, and the most memory that its processes held together."""
    command = [sys.executable, "-m", "selfcorrect", "repair", "--no-model"]
    command += ["--jsonl", str(source), "--out", str(target), "--processes", str(processes)]
    started, peak = time.perf_counter(), 0
    with subprocess.Popen(command, env={**os.environ}) as child:
        whole = psutil.Process(child.pid)
        while child.poll() is None:
            peak = max(peak, memory(whole))
            time.sleep(0.05)
    return time.perf_counter() - started, peak


def memory(process: psutil.Process) -> int:
    try:
        return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])
    except psutil.Error:
        return 0


def main() -> None:
    against_json_repair()
    end_to_end()
    print("\nthe search, end to end")
    search()
    batch(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)


if __name__ == "__main__":
    main()
