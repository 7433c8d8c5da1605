"""Long lives on PostgreSQL: memory and connections stay flat, and every query has its index."""

from __future__ import annotations

import pytest
from effects import long_life, many_intents
from effects.figures import show

from selfcorrect.ledger import PostgresLedger


@pytest.mark.parametrize("runs", [3_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_a_worker_holds_no_more_after_all_its_runs(postgres, runs):
    early, late, rate = long_life.live(postgres, runs)
    show(f"{runs:,} runs, {rate:,.0f}/s: at first {early}; at last {late}")
    assert late.connections == early.connections == 1
    assert late.threads <= early.threads
    assert late.files <= early.files
    assert late.megabytes <= early.megabytes + 16


@pytest.mark.parametrize("rows", [50_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_every_query_of_a_big_ledger_has_an_index(postgres, rows):
    many_intents.lay_in(postgres, 0, rows)
    for name, plan in many_intents.plans(postgres).items():
        assert "Index" in plan, name
        assert "Seq Scan" not in plan, name


def test_what_was_settled_long_ago_is_forgotten_and_what_is_in_doubt_is_not(postgres):
    ledger = PostgresLedger(postgres)
    for key, status in (("a", "done"), ("b", "unknown"), ("c", "refused"), ("d", "not_done")):
        ledger.begin(key)
        ledger.settle(key, status, key)
    ledger.begin("e")
    ledger.swap("board", 0, 1)
    ledger.forget(older_than=60)
    assert ledger.begin("a").value == "a"
    assert ledger.look("board").value == 1
    ledger.forget(older_than=-1)
    assert ledger.begin("a") is None
    assert ledger.begin("b").status == "unknown"
    assert ledger.begin("c") is None
    assert ledger.look("board").version == 0
    ledger.close()
