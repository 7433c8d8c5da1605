"""format-date: every form with one meaning, none with two."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import repair_call
from selfcorrect.model import Category, Finding
from selfcorrect.repairs.format_date import FormatDate

DAY = {"type": "string", "format": "date"}
INSTANT = {"type": "string", "format": "date-time"}
EXACT, INFERRED = "exact", "inferred"


@pytest.mark.parametrize(
    ("value", "safety"),
    [
        ("2026/10/26", EXACT),
        ("2026.10.26", EXACT),
        ("20261026", EXACT),
        (20261026, EXACT),
        (" 2026-10-26 ", EXACT),
        ("2026-10-26T00:00:00", EXACT),
        ("2026-10-26 00:00", EXACT),
        ("Oct 26, 2026", INFERRED),
        ("October 26th, 2026", INFERRED),
        ("Oct. 26 2026", INFERRED),
        ("26 October 2026", INFERRED),
        ("26th of October, 2026", INFERRED),
        ("26-Oct-2026", INFERRED),
        ("26OCT2026", INFERRED),
        ("2026 Oct 26", INFERRED),
        ("Monday, October 26, 2026", INFERRED),
        ("mon 2026-10-26", INFERRED),
        ("10/26/2026", INFERRED),
        ("26/10/2026", INFERRED),
        ("26.10.2026", INFERRED),
        ("26-10-2026", INFERRED),
    ],
)
def test_reads(mend, value, safety):
    assert mend(FormatDate(), DAY, value) == ("2026-10-26", safety)


@pytest.mark.parametrize("value", ["3/3/2026", "03-03-2026"])
def test_both_readings_may_be_the_same_day(mend, value):
    assert mend(FormatDate(), DAY, value) == ("2026-03-03", INFERRED)


@pytest.mark.parametrize(
    "value",
    [
        *("03/04/2026", "3.4.2026", "1-2-2026", "10/11/12", "26/10/26", "10/26/26", "Oct 26, 26"),
        *(
            "October 26",
            "26 Oct",
            "Oct 2026",
            "2026-10",
            "2026",
            "tomorrow",
            "next Friday",
            "today",
        ),
        *("2026-26-10", "2026-13-01", "30 Feb 2026", "2026-02-30", "31/02/2026", "99/99/2026"),
        *("Tuesday, October 26, 2026", "2026/10-26", "2026-10/26", "26102026", "10262026"),
        *("2026-10-26T14:00:00", "2026-10-26T00:00:00Z", "2026-10-26T00:00:01", "1729900800"),
        *("Oct 26, 2026 or Oct 27, 2026", "Oct 26-28, 2026", "2026-10-26 to 2026-10-28"),
        *("\u0662\u0660\u0662\u0666-10-26", "26 Okt 2026", "26 Foo 2026", "", "x" * 10_000_000),
        *("0026/10/26", "-2026-10-26", "2026-W43-1", "2026-299", "in 3 days", "the 26th"),
        *(1729900800, 26102026, 2026.5, True, [], {}, ["2026-10-26"]),
    ],
)
def test_refuses(mend, value):
    assert mend(FormatDate(), DAY, value, required=True) is None


NOW = lambda: datetime(2026, 10, 26, 23, 30, tzinfo=UTC)  # noqa: E731


@pytest.mark.parametrize(
    ("word", "day"), [("today", "26"), ("Tomorrow", "27"), ("yesterday", "25")]
)
def test_relative_days_only_if_asked_for(mend, word, day):
    found = mend(FormatDate(relative=True), DAY, word, now=NOW)
    assert found == (f"2026-10-{day}", INFERRED)


@pytest.mark.parametrize(
    ("value", "after", "safety"),
    [
        ("2026-10-26 14:00:00Z", "2026-10-26T14:00:00Z", EXACT),
        ("2026-10-26T14:00:00+0200", "2026-10-26T14:00:00+02:00", EXACT),
        ("2026-10-26T14:00Z", "2026-10-26T14:00:00Z", EXACT),
        ("2026/10/26 14:00:00 UTC", "2026-10-26T14:00:00Z", EXACT),
        ("20261026T140000Z", "2026-10-26T14:00:00Z", EXACT),
        ("Mon, 26 Oct 2026 14:00:00 GMT", "2026-10-26T14:00:00Z", INFERRED),
        ("Oct 26, 2026 at 2:00 PM UTC", "2026-10-26T14:00:00Z", INFERRED),
    ],
)
def test_reads_instants(mend, value, after, safety):
    assert mend(FormatDate(), INSTANT, value) == (after, safety)


@pytest.mark.parametrize(
    "value",
    [
        "2026-10-26 14:00:00",
        "2026-10-26",
        "03/04/2026 14:00Z",
        "2026-10-26T25:00:00Z",
        "14:00Z",
    ],
)
def test_never_makes_up_a_zone_or_a_time(mend, value):
    assert mend(FormatDate(), INSTANT, value) is None


@pytest.mark.parametrize(
    ("zone", "value", "after"),
    [
        ("Z", "2026-10-26 14:00:00", "2026-10-26T14:00:00Z"),
        ("-05:30", "2026-10-26 14:00", "2026-10-26T14:00:00-05:30"),
        ("Europe/Berlin", "2026-07-01 14:00", "2026-07-01T14:00:00+02:00"),
        ("Europe/Berlin", "2026-12-01 14:00", "2026-12-01T14:00:00+01:00"),
        ("Europe/Berlin", "2026-10-25 02:30", None),
        ("Europe/Berlin", "2026-03-29 02:30", None),
    ],
)
def test_a_zone_that_the_map_gives(mend, zone, value, after):
    found = mend(FormatDate(timezone=zone), INSTANT, value)
    assert found == (after and (after, INFERRED))


@pytest.mark.parametrize(
    "description",
    [
        "Start time in UTC",
        "A GMT timestamp",
        "",
        "Start, local time",
        "UTC or local time",
        "with its UTC offset",
        "such as 2026-01-01T10:00:00Z",
    ],
)
def test_no_zone_is_taken_from_a_description(mend, description):
    told = INSTANT | {"description": description}
    assert mend(FormatDate(), told, "2026-10-26 14:00") is None


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("2026-10-26 14:00:00Z", "2026-10-26T14:00:00Z"),
        ("Oct 26, 2026 14:00 UTC", "2026-10-26T14:00:00Z"),
        ("2026-10-26T14:00+02:00", "2026-10-26T14:00:00+02:00"),
    ],
)
def test_the_default_map_sends_moments_here(value, after):
    tool = {"name": "plan", "parameters": {"properties": {"at": INSTANT}}}
    outcome = repair_call({"name": "plan", "arguments": {"at": value}}, [tool])
    assert [call.args for call in outcome.ready] == [{"at": after}]


def test_a_time_without_a_zone_may_be_all_that_a_function_asks_for():
    from selfcorrect.model import Call, Diagnosis
    from selfcorrect.protocols import RepairContext
    from selfcorrect.tools import ToolSpec

    def plan(at: datetime) -> None: ...

    tool = ToolSpec.from_function(plan)
    call = Call("plan", {"at": "26 Oct 2026, 14:00"})
    given = RepairContext(tool=tool, tools={"plan": tool})
    answer = FormatDate()(call, Diagnosis(tool.violations(call.args)), given)
    assert answer.changes[0].after == "2026-10-26T14:00:00"


PLAIN = {"type": "string"}


def told(**fields):
    return Finding("bad date", ("ValueError",), paths=("/args/x",), **fields)


@pytest.mark.parametrize(
    ("schema", "finding", "after"),
    [
        (PLAIN, told(category=Category.FORMAT_DATE), "2026-10-26"),
        (PLAIN, told(constraint={"format": "date"}), "2026-10-26"),
        (PLAIN, told(captures={"expected": "DD/MM/YYYY"}), "26/10/2026"),
        (PLAIN, told(captures={"expected": "%m-%d-%Y"}), "10-26-2026"),
        (PLAIN | {"description": "as YYYYMMDD"}, told(category=Category.FORMAT_DATE), "20261026"),
        (PLAIN | {"pattern": r"^\d{4}-\d{2}-\d{2}$"}, None, "2026-10-26"),
        (PLAIN | {"pattern": r"^\d{4}/\d{2}/\d{2}$"}, None, "2026/10/26"),
        (PLAIN | {"pattern": r"^\d{2}/\d{2}/\d{4}$"}, None, None),
        (
            PLAIN | {"pattern": r"^\d{2}/\d{2}/\d{4}$", "description": "MM/DD/YYYY"},
            None,
            "10/26/2026",
        ),
        (PLAIN, told(), None),
    ],
)
def test_the_form_is_the_one_that_is_asked_for(mend, schema, finding, after):
    found = mend(FormatDate(), schema, "Oct 26, 2026", finding)
    assert found == (after and (after, INFERRED))


@pytest.mark.parametrize(
    "options", [{"timezone": "Mars/Base"}, {"to": "whenever"}, {"to": "DD-MM"}]
)
def test_options_that_cannot_work(options):
    with pytest.raises(ValueError):
        FormatDate(**options)


FORMS = ["%Y/%m/%d", "%Y.%m.%d", "%B %d, %Y", "%d %b %Y", "%A, %d %B %Y", "%d-%b-%Y"]


@settings(max_examples=40)
@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)), st.sampled_from(FORMS))
def test_any_day_in_any_clear_form(mend, day, form):
    assert mend(FormatDate(), DAY, day.strftime(form))[0] == day.isoformat()


@settings(max_examples=40)
@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)), st.sampled_from(["%d/%m/%Y", "%m/%d/%Y"]))
def test_day_and_month_are_never_guessed(mend, day, form):
    found = mend(FormatDate(), DAY, day.strftime(form))
    if day.day <= 12 and day.day != day.month:
        assert found is None
    else:
        assert found == (day.isoformat(), INFERRED)


@settings(max_examples=40)
@given(st.text(alphabet="0123456789-/.T: ZAPMoctj,", min_size=1, max_size=20).filter(str.strip))
def test_garbage_is_refused_or_a_date(mend, text):
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text) is None:
        found = mend(FormatDate(), DAY, text)
        assert found is None or date.fromisoformat(found[0])
