"""Attacked as an outsider would: nothing gets through, and what must work does."""

from __future__ import annotations

import sys

import pytest
from attack.core import ATTACKS, CLASSES, KEPT
from attack.runner import run

LEAST = 10


@pytest.mark.parametrize("name", CLASSES)
def test_a_small_dose(name: str) -> None:
    """Two cases of each attack, of slow ones one, and once what must go on working."""
    dose = len(ATTACKS[name]) if name == "D15" else max(LEAST, 2 * len(ATTACKS[name]))
    figures = run(name, dose, seed=1, kept=max(2, len(KEPT[name])))
    assert not figures.broken, figures.told()
    assert not figures.lost, figures.told()


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("name", CLASSES)
def test_a_long_dose(name: str, seed: int) -> None:
    figures = run(name, 200, seed)
    sys.stdout.write(f"{figures.told(by_generator=True)}\n")
    assert not figures.broken, figures.told()
    assert not figures.lost, figures.told()


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_attacked_in_several_ways(name: str) -> None:
    assert len(ATTACKS[name]) >= 3
