"""No proposal that changes content is called exact or inferred, whoever makes it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from asking import RUNS_UNASKED, ask
from hostile import hostile, hostile_reading
from oracle import may_run
from random_calls import world_of
from respelling import respelled
from spite import STEPS, Draft

CASES_A_WORLD = 12
SHOWN = 12


@dataclass
class Figures:
    """What was tried, and what was let through, by what was done."""

    tried: Counter[str] = field(default_factory=Counter)
    through: list[tuple[str, str]] = field(default_factory=list)

    def add(self, kind: str, said: str, draft: Draft) -> None:
        self.tried[kind] += 1
        written, runs = (draft.written_name, draft.written), (draft.name, draft.runs)
        level, reasons = ask(written, runs, draft.tool, draft.world.tools, **draft.facts)
        if level in RUNS_UNASKED:
            told = [f"{level}: {said}", f"effect {draft.tool.effect}", *map(shown, (written, runs))]
            told += [shown(draft.tool.schema), *reasons]
            self.through.append((kind, "\n    ".join(told)))

    def told(self) -> str:
        bad = Counter(kind for kind, _ in self.through)
        lines = [f"{len(self.through)} of {self.tried.total()} let through"]
        lines += [f"  {kind}: {bad[kind]} of {n}" for kind, n in sorted(self.tried.items())]
        seen: Counter[str] = Counter()
        for kind, told in self.through:
            seen[kind] += 1
            lines += [f"  [{kind}] {told}"] if seen[kind] <= SHOWN else []
        return "\n".join(lines)


def shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def proposals(seed: int) -> Iterator[tuple[str, str, Draft]]:
    """Hostile ones of one world: by chance, and by spite the most alike of four."""
    rng = Random(seed)
    world = world_of(rng)
    for number in range(CASES_A_WORLD):
        tries = 4 if number % 3 == 2 else 1
        is_read = number % 4 == 3
        found = hostile_reading(rng, world) if is_read else hostile(rng, world, tries=tries)
        if found is not None:
            yield found


def attacked(seeds: range, cases: int) -> Figures:
    figures = Figures()
    for seed in seeds:
        for kind, said, draft in proposals(seed):
            figures.add(kind, said, draft)
        if figures.tried.total() >= cases:
            break
    return figures


def test_a_small_dose() -> None:
    figures = attacked(range(1_000), 1_500)
    assert figures.tried.total() >= 1_500
    assert {*figures.tried} >= {step.__name__ for step in STEPS}, "every step found something"
    assert not figures.through, figures.told()


@pytest.mark.nightly
def test_a_long_dose() -> None:
    figures = attacked(range(10_000, 100_000), 120_000)
    sys.stdout.write(f"{figures.told()}\n")
    assert figures.tried.total() >= 100_000
    assert not figures.through, figures.told()


def test_the_oracle_agrees_with_what_was_done() -> None:
    """By construction a step is wrong, and a respelling right: the oracle finds both so."""
    for seed in range(60):
        rng = Random(seed)
        world = world_of(rng)
        for kind, said, draft in proposals(seed):
            pair = (draft.written_name, draft.written), (draft.name, draft.runs)
            assert not may_run(*pair, world.tools), f"{kind}: {said}\n{pair}"
        for times in (1, 2, 3):
            name, written, _ = respelled(rng, world, times)
            pair = (name, written), (world.tool.name, world.args)
            assert may_run(*pair, world.tools), pair
