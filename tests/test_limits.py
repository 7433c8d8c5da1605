"""Bounds, and the one place that compares with them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from selfcorrect.limits import Limits, spent


@pytest.mark.parametrize(
    ("counts", "what", "key", "is_spent"),
    [
        ({}, "attempts", None, False),
        ({"attempts": 2}, "attempts", None, False),
        ({"attempts": 3}, "attempts", None, True),
        ({"attempts": 3, "allowed_attempts": 5}, "attempts", None, False),
        ({"attempts": 10, "allowed_attempts": 99}, "attempts", None, True),
        ({"model_calls": 4}, "model_calls", None, True),
        ({"tokens": 10**9}, "tokens", None, False),
        ({"seconds": 300.5}, "seconds", None, True),
        ({}, "per_kind", "auth", True),
        ({}, "per_kind", "timeout", False),
        ({"per_strategy": {"clamp": 1}}, "per_strategy", "clamp", True),
    ],
)
def test_spent(counts: dict[str, object], what: str, key: str | None, is_spent: bool) -> None:
    limits = Limits.model_validate({"per_kind": {"auth": 0}, "per_strategy": {"clamp": 1}})
    assert bool(spent(counts, limits, what, key)) is is_spent


def test_a_map_raises_bounds_up_to_the_ceiling_that_code_set() -> None:
    code = Limits(ceiling=6)
    assert code.merged({"attempts": 5}).attempts == 5
    assert code.merged({"attempts": 50, "ceiling": 99}).attempts == 6
    assert code.merged({"ceiling": 99}).ceiling == 6


def test_groups_are_merged_key_by_key() -> None:
    limits = Limits.model_validate({"per_kind": {"auth": 0, "timeout": 1}})
    merged = limits.merged({"per_kind": {"timeout": 4}})
    assert {kind.value: bound for kind, bound in merged.per_kind.items()} == {
        "auth": 0,
        "timeout": 4,
    }


@pytest.mark.parametrize(
    "bad", [{"attempts": 0}, {"wait": -1}, {"atempts": 3}, {"per_kind": {"nope": 1}}]
)
def test_unusable_bounds_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(bad)
