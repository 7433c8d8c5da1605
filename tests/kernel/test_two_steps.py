"""What two steps may do one after the other, one step may do: no value drifts away.

The first step reads what stands in a value, or makes one that fits: nobody proposes another.
"""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

import pytest
from asking import RUNS_UNASKED, ask
from oracle import loaded, may_run
from random_calls import made, same
from test_random_pairs import DATES, FORMS, KINDS, RIGHT


def drifted(rng: Random, many: int) -> tuple[int, list[str]]:
    """How many chains were tried, and each that leads where no single step does."""
    schema = rng.choice(KINDS)
    key = rng.choice(["amount", "city", "to"])
    known = {"type": "object", "properties": {key: schema}, "required": [key]}
    tool = made("pay", known, rng.choice(["read_only", "mutating", "destructive", None]))
    right = [each for values in RIGHT.values() for each in values]
    values = [*rng.sample([*FORMS, *right, *DATES], many), *schema.get("enum", ())]

    def may(one: Any, other: Any) -> bool:
        pair = ("pay", {key: one}), ("pay", {key: other})
        return ask(*pair, tool, (tool,))[0] in RUNS_UNASKED

    numbers = range(len(values))
    steps = {n: [m for m in numbers if may(values[n], values[m])] for n in numbers}
    ends = [n for n in numbers if tool.is_valid({key: values[n]})]
    tried, found = 0, []
    for first, middle in steps.items():
        for second in middle:
            for last in steps[second]:
                tried += 1
                is_read = any(same(values[second], each) for each in loaded(values[first]))
                if last not in ends or last in middle or not (is_read or second in ends):
                    continue
                pair = ("pay", {key: values[first]}), ("pay", {key: values[last]})
                if not may_run(*pair, (tool,)):
                    chain = [values[first], values[second], values[last]]
                    found.append(f"{json.dumps(chain, ensure_ascii=False)} of {schema}")
    return tried, found


def test_a_few_chains() -> None:
    found = [each for seed in range(12) for each in drifted(Random(seed), 30)[1]]
    assert not found, "\n".join(found[:20])


@pytest.mark.nightly
def test_many_chains() -> None:
    tried, found = 0, []
    for seed in range(100, 250):
        more, drifts = drifted(Random(seed), 100)
        tried += more
        found += drifts
    sys.stdout.write(f"{len(found)} of {tried} chains drift\n")
    assert not found, "\n".join(found[:40])
