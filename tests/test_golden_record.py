"""Behaviour stays as it was recorded: outcomes, changes and diagnoses of thousands of cases.

A change of behaviour that is meant renews the record with `UPDATE_GOLDEN=1`, and its commit
explains the difference.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "record"))

from record import differences, made, store, stored

SHOWN = 5
"""Differences of one group that are printed."""


def report(found: list[tuple[str, str]]) -> str:
    """The first differences of each group, the largest group first."""
    groups: dict[str, list[str]] = {}
    for group, shown in found:
        groups.setdefault(group, []).append(shown)
    parts = [f"{len(found)} entries of the record differ; UPDATE_GOLDEN=1 renews it."]
    for group, items in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        parts += [f"\n{group}: {len(items)}", *items[:SHOWN]]
    return "\n".join(parts)


def test_behaviour_is_as_recorded(tmp_path, caplog):
    with caplog.at_level("CRITICAL", "selfcorrect"):
        now = made(tmp_path)
    assert len(now) > 4_000
    if os.environ.get("UPDATE_GOLDEN") == "1":
        store(now)
    found = list(differences(stored(), now))
    if found:
        pytest.fail(report(found), pytrace=False)


def test_a_difference_is_told_with_what_it_is_about():
    old = {"case": "1", "outcome": "repaired", "changes": [["/args/a", "5", 5, "exact", "x"]]}
    kept = {"a": old, "b": old, "c": old, "d": old}
    now = {"a": old, "b": old | {"outcome": "failed"}, "c": old | {"case": "2"}, "e": old}
    assert [group for group, _ in differences(kept, now)] == [
        "outcome: repaired -> failed",
        "another case than before (its generator changed)",
        "cases that are gone",
        "new cases",
    ]
    told = report([*differences(kept, now)])
    assert 'b\n  outcome: "repaired"\n    -> "failed"' in told


def test_a_record_comes_back_as_it_was_stored(tmp_path, monkeypatch):
    monkeypatch.setattr("record.FILE", tmp_path / "r.gz")
    entry = {"case": "1", "outcome": "repaired"}
    store({"é": entry})
    assert stored() == {"é": entry}
