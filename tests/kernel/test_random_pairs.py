"""Where kernel and oracle differ, the kernel is the one that refuses."""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from asking import RUNS_UNASKED, Written, ask
from oracle import may_run
from random_calls import EFFECTS, made

from selfcorrect.tools import ToolSpec

KINDS: tuple[dict[str, Any], ...] = (
    {"type": "integer"},
    {"type": "number", "description": "In US dollars."},
    {"type": "boolean"},
    {"type": "string"},
    {"type": "string", "enum": ["no", "none", "off", "NO"]},
    {"type": "string", "enum": ["v1", "v10", "soft delete", "delete"]},
    {"type": "string", "format": "date"},
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "properties": {"to": {"type": "string"}, "n": {"type": "integer"}}},
    {"type": ["string", "null"]},
)
RIGHT: dict[str, tuple[Any, ...]] = {
    "integer": (0, 1, 5, 10, 12, 100, 2**53 + 1),
    "number": (1, 5.0, 1.5, 3500, 3.5, 0.1),
    "boolean": (True, False),
    "string": ("5", "a", "a, b", "no", "none", "", "null", "A", "2026-10-02", '["a"]'),
    "array": ([], ["a"], ["a", "b"], ["a, b"], ["b", "a"], [5], [5, 1], ["5"]),
    "object": ({}, {"to": "a"}, {"n": 5}, {"to": "a", "n": 5}),
}
DATES = ("2026-10-02", "2026-02-10", "2026-11-02", "2036-11-02", "2026-11-20")
FORMS: tuple[Any, ...] = (
    *(0, 1, 5, 5.0, 10, 1.5, 3.5, True, False, None, "", "5", "5.0", "05", " 5 ", "five", "Five"),
    *("10²", "1e1", "1e400", "1,5", "3,500", "3.500", "3,5", "$5", "5 USD", "€5", "5 or 1", "3..5"),
    *("5%", "-5", "+5", "٥", "9007199254740993", 9007199254740992.0, "0x5", "1_0", "12", "1 2"),
    *("true", "True", "yes", "no", "NO", "off", "none", "None", "null", "nothing", "n/a", "not no"),
    *("v1", "V1", "v1x", "v 1", "v1 0", "v", "delete", "Delete", "soft-delete", "softdelete"),
    *("do not delete", "anything but delete", "delete it", "undelete", "del"),
    *("2026-10-2", "2026/10/02", "10/02/2026", "02.10.2026", "Oct 2, 2026", "2 October 2026"),
    *("October 2026", "2036-11-2", "20261002", "2026-10-02T00:00:00", "2.10.26", "2026-10-02?"),
    *("a", "A", "a, b", "a;b", "[a, b]", "[a", '["a", "b"]', "['a', 'b']", "- a\n- b", "a and b"),
    *("a,", "a,,b", "b, a", ["a"], ["a", "b"], [["a"]], ["a, b"], [5], ["5"], ["5", "1"], [None]),
    *({"value": 5}, {"items": ["a"]}, {"cancelled": 5}, {"value": 5, "unit": "x"}, {"to": "a"}),
    *({"to": "a", "n": "5"}, {"To": "a"}, {"to": "a", "TO": "b"}, '{"to": "a", "n": 5}'),
    *(
        '{"to": "a", "to": "b"}',
        '{"to": "a"} but only if bob agrees',
        "not 5",
        {"type": "integer", "value": 5},
    ),
)
KEYS = ("amount", "amounts", "dry_run", "to", "cc", "start_date", "city")
ODD_KEYS = ("Amount", "amout", "run", "startDate", "date", "end_date", "too", "citi", "refund")


def pairs(rng: Random) -> Iterator[tuple[ToolSpec, Written, Written]]:
    """A tool of a few parameters, and a hundred pairs of what was written and what would run."""
    names = rng.sample(KEYS, rng.randint(1, 3))
    known = {name: rng.choice(KINDS) for name in names}
    needed = [name for name in names if rng.random() < 0.5]
    schema = {"type": "object", "properties": known, "required": needed}
    tool = made("pay", schema, rng.choice(EFFECTS))
    for _ in range(100):
        runs = {name: right(rng, known[name]) for name in names if rng.random() < 0.8}
        if tool.is_valid(runs):
            yield tool, written(rng, tool, runs), ("pay", runs)


def right(rng: Random, schema: dict[str, Any]) -> Any:
    kind = schema["type"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "format" in schema:
        return rng.choice(DATES)
    return rng.choice(RIGHT[kind] if isinstance(kind, str) else (None, *RIGHT[kind[0]]))


def written(rng: Random, tool: ToolSpec, runs: dict[str, Any]) -> Written:
    """The same call with a few keys and values exchanged for others at random."""
    args = {
        rng.choice(ODD_KEYS) if rng.random() < 0.15 else key: (
            rng.choice(FORMS) if rng.random() < 0.7 else value
        )
        for key, value in runs.items()
    }
    if rng.random() < 0.15:
        args[rng.choice((*ODD_KEYS, *KEYS))] = rng.choice(FORMS)
    whole = [args] * 12 + [{"arguments": args}, json.dumps(args), {"order": args}, [args]]
    return rng.choice(["pay"] * 9 + ["Pay", "pay?", "functions.pay"]), rng.choice(whole)


def compared(seeds: range) -> tuple[int, Counter[str], list[str]]:
    """How many pairs, how they were called, and each that the kernel wrongly lets through."""
    counted, wrong = Counter[str](), []
    for seed in seeds:
        for tool, given, runs in pairs(Random(seed)):
            level, reasons = ask(given, runs, tool, (tool,))
            is_let = level in RUNS_UNASKED
            agrees = may_run(given, runs, (tool,)) if is_let else False
            counted[level] += 1
            if is_let and not agrees:
                shown = [level, tool.effect, json.dumps([given, runs], ensure_ascii=False)]
                wrong.append(" ".join([*shown, json.dumps(tool.schema["properties"]), *reasons]))
    return counted.total(), counted, wrong


def verdicts(rng: Random, many: int) -> int:
    """Ask about so many values of each kind, each beside each other one."""
    values = [*FORMS, *DATES, *(each for some in RIGHT.values() for each in some)]
    for kind in KINDS:
        known = {"type": "object", "properties": {"x": kind}, "required": ["x"]}
        tool = made("pay", known, rng.choice(EFFECTS))
        for one, other in itertools.product(rng.sample(values, many), repeat=2):
            ask(("pay", {"x": one}), ("pay", {"x": other}), tool, (tool,))
    return len(KINDS) * many**2


def test_any_pair_has_a_verdict() -> None:
    """Whatever is asked, nothing is raised."""
    assert verdicts(Random(1), 30) == 9_900


@pytest.mark.nightly
def test_all_pairs_have_a_verdict() -> None:
    assert verdicts(Random(2), 120) > 100_000


def test_a_few_pairs() -> None:
    _, _, wrong = compared(range(40))
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.nightly
def test_many_pairs() -> None:
    total, counted, wrong = compared(range(1_000, 3_500))
    sys.stdout.write(f"{len(wrong)} of {total} let through that the oracle refuses; {counted}\n")
    assert total >= 100_000
    assert not wrong, "\n".join(wrong[:40])
