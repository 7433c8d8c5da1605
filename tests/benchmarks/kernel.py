"""What the kernel's judgement of a changed call costs, and how it grows with the call.

    python tests/benchmarks/kernel.py

Times are those of the processor, the least of several rounds. Nothing is asserted.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from house import micros

from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.verdicts import Step
from selfcorrect.model import Call, Safety
from selfcorrect.schema.slots import slots_of

TARGET = 60
SIZES = (10, 100, 1_000, 10_000)
TEXT, COUNT = {"type": "string"}, {"type": "integer"}
BOOKING = {
    "type": "object",
    "properties": {
        "origin": TEXT,
        "destination": TEXT,
        "day": {"type": "string", "format": "date"},
        "seats": COUNT,
        "cabin": {"enum": ["economy", "business", "first"]},
        "note": TEXT,
    },
    "required": ["origin", "destination", "day", "seats"],
}
BOOKED: dict[str, Any] = {"origin": "LHR", "destination": "CDG", "day": "2026-10-26"}
BOOKED |= {"seats": 2, "cabin": "economy", "note": "window"}
CHANGES: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "nothing changed": ({}, {}),
    "a number and a listed value": ({"seats": "2", "cabin": "Economy"}, {}),
    "a date and a renamed key": ({"day": "26 Oct 2026", "Origin": "LHR"}, {"origin": None}),
    "two renamed keys": ({"Origin": "LHR", "dest": "CDG"}, {"origin": None, "destination": None}),
    "a word that is content": ({"refund": {"seats": 2}}, {"seats": None}),
}
"""What was written instead, and which keys were not."""


def booking(instead: Mapping[str, Any], without: Mapping[str, Any]) -> Step:
    """A call of six fields, written otherwise at two of them."""
    written = {key: value for key, value in BOOKED.items() if key not in without} | instead
    return step(BOOKING, written, BOOKED)


def step(schema: Mapping[str, Any], written: Any, runs: Mapping[str, Any]) -> Step:
    """A change of one call."""
    return Step(Call("book", written), Call("book", runs), slots_of(dict(schema)), ["book"])


def wide(fields: int, *, changed: int = 2) -> Step:
    """A flat call with so many fields, some of them numbers written as texts."""
    names = [f"field_{number}" for number in range(fields)]
    runs = dict.fromkeys(names, 7)
    written = runs | dict.fromkeys(names[:changed], "7")
    return step({"type": "object", "properties": dict.fromkeys(names, COUNT)}, written, runs)


def renamed(keys: int) -> Step:
    """A call whose keys were all written in another case."""
    names = [f"field_{number}" for number in range(keys)]
    runs = {name: number for number, name in enumerate(names)}
    written = {f"Field{number}": number for number in range(keys)}
    return step({"type": "object", "properties": dict.fromkeys(names, COUNT)}, written, runs)


def listed(items: int) -> Step:
    """A list of objects, two of them with a number written as text."""
    item = {"type": "object", "properties": {"sku": TEXT, "count": COUNT}}
    runs = {"lines": [{"sku": f"A{number}", "count": number} for number in range(items)]}
    lines: list[dict[str, Any]] = [dict(each) for each in runs["lines"]]
    for line in lines[:2]:
        line["count"] = str(line["count"])
    schema = {"type": "object", "properties": {"lines": {"type": "array", "items": item}}}
    return step(schema, {"lines": lines}, runs)


def told(title: str, steps: Mapping[Any, Step]) -> dict[Any, float]:
    """Print what each judgement costs, and its class."""
    found = micros({str(name): lambda one=one: judge(one) for name, one in steps.items()})
    print(f"\n{title}")
    for name, one in steps.items():
        print(f"  {name!s:<32}{found[str(name)]:>12,.1f} µs  {judge(one).safety.value}")
    return found


def growth(title: str, steps: Mapping[int, Step]) -> None:
    """Print costs by size, and what ten times the size costs more: 10 where that is linear."""
    found = list(told(title, steps).values())
    ratios = (f"{more / less:.1f}" for less, more in itertools.pairwise(found))
    print(f"  ten times the size: {', '.join(ratios)} x (10)")


def main() -> None:
    assert judge(booking(*CHANGES["a number and a listed value"])).safety is Safety.EXACT
    found = told(
        "a call of six fields", {name: booking(*change) for name, change in CHANGES.items()}
    )
    changed = found["a number and a listed value"]
    change = CHANGES["a number and a listed value"]
    # A schema is remembered by its identity: here each call has a schema of its own.
    (first,) = micros({"first": lambda: judge(booking(*change))}).values()
    print(f"  the first call of a tool {first:>19,.1f} µs")
    print(f"  two changes ÷ target {changed / TARGET:>20.2f} x (≤ 1: {TARGET} µs)")
    growth("fields of a flat call, two changed", {size: wide(size) for size in SIZES})
    growth("fields, nothing changed", {size: wide(size, changed=0) for size in SIZES})
    growth("items of a list, two changed", {size: listed(size) for size in SIZES})
    growth("keys in another case", {size: renamed(size) for size in (20, 200, 2_000)})


if __name__ == "__main__":
    main()
