"""Four processes, one service that goes down: it is left alone, and found again."""

from __future__ import annotations

import pytest
from effects import outage
from effects.figures import show


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_while_a_service_is_down_four_processes_leave_it_alone(request, tmp_path, store, seconds):
    where = (
        str(tmp_path / "ledger.db") if store == "sqlite" else request.getfixturevalue("postgres")
    )
    seen = outage.campaign(where, tmp_path, processes=4, seconds=seconds)
    up = sum(up for _, up, _ in seen.calls)
    held = seen.reasons.get("unavailable", 0)
    done = seen.reasons["done"]
    show(
        f"{store}, down for {seconds} s: {seen.while_down} executions of at most {seen.bound}; "
        f"{held} calls held back; back after {seen.recovered_after:.2f} s and "
        f"{seen.probes_to_recover} probes; {up / done:.3f} executions a call while it is up"
    )
    assert seen.while_down <= seen.bound
    assert held > seen.while_down
    assert seen.probes_to_recover <= 2
    assert seen.recovered_after < float("inf")
    assert up <= 1.1 * done
    assert seen.reasons.keys() <= {"done", "unavailable", "attempts_exhausted", "limit_reached"}
