"""Attacked as an outsider would: nothing gets through, and what must work does."""

from __future__ import annotations

import sys

import pytest
from attack.core import ATTACKS, CLASSES
from attack.runner import run

DOSE = 24
SLOW = {"D15": 12}


@pytest.mark.parametrize("name", CLASSES)
def test_a_small_dose(name: str) -> None:
    figures = run(name, SLOW.get(name, DOSE), seed=1, kept=6)
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
