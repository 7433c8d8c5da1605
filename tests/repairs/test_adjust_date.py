"""adjust-date: the nearest date on offer, never the past, never one of two."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import Changed, Finding
from selfcorrect.repairs.adjust_date import AdjustDate
from selfcorrect.testing.conformance import try_strategy

SCHEMA = {"properties": {"day": {"type": "string", "format": "date"}}}


def moved(day, offered, today="2026-10-20", suggestions=(), **options):
    told = Finding("nothing on that day", paths=("/args/day",), suggestions=suggestions)
    hook = None if offered is None else (lambda _call: offered)
    now = datetime.fromisoformat(today).replace(tzinfo=UTC)
    strategy = AdjustDate(available=hook, **options)
    answer = try_strategy(strategy, SCHEMA, {"day": day}, told, now=lambda: now)
    if not isinstance(answer, Changed):
        return None
    assert answer.changes[0].safety == "lossy"
    return answer.changes[0].after


@pytest.mark.parametrize(
    ("offered", "after"),
    [
        (["2026-10-27", "2026-10-29"], "2026-10-27"),
        ([date(2026, 10, 24)], "2026-10-24"),
        ([datetime(2026, 10, 28, 9, 30)], "2026-10-28"),  # noqa: DTZ001
        (["2026-10-26", "2026-10-28"], "2026-10-28"),
        (["2026-10-25", "2026-10-27"], None),
        (["2026-11-26"], None),
        (["soon", None, 5, "10/27/2026"], None),
        ([], None),
    ],
)
def test_the_nearest(offered, after):
    assert moved("2026-10-26", offered) == after


def test_never_into_the_past():
    assert moved("2026-10-26", ["2026-10-24"], today="2026-10-25") is None
    assert moved("2026-10-26", ["2026-10-24", "2026-10-29"], today="2026-10-25") == "2026-10-29"


def test_how_far():
    assert moved("2026-10-26", ["2026-11-02"]) is None
    assert moved("2026-10-26", ["2026-11-02"], within_days=7) == "2026-11-02"


def test_without_a_hook_only_what_the_error_suggests():
    assert moved("2026-10-26", None) is None
    assert moved("2026-10-26", None, suggestions=("2026-10-27",)) == "2026-10-27"


@pytest.mark.parametrize("value", ["Oct 26, 2026", "2026/10/26", "", 5, None, ["2026-10-26"]])
def test_what_is_no_iso_date_is_not_moved(value):
    assert moved(value, ["2026-10-27"]) is None


DAYS = st.dates(date(2026, 10, 1), date(2026, 10, 31))


@settings(max_examples=40)
@given(DAYS, st.sets(DAYS, max_size=5))
def test_nothing_on_offer_is_nearer(day, offered):
    found = moved(day.isoformat(), sorted(offered), today="2026-10-01", within_days=5)
    rest = [abs(one - day) for one in offered if one != day and abs(one - day) <= timedelta(5)]
    if found is None:
        assert len(rest) != 1
    else:
        assert date.fromisoformat(found) in offered
        assert abs(date.fromisoformat(found) - day) == min(rest)
