"""format-time: the same time of day in another spelling."""

from __future__ import annotations

import re
from datetime import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import selfcorrect
from selfcorrect.repairs.format_time import FormatTime

FULL = {"type": "string", "format": "time"}
SHORT = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}
LONG = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$"}
EXACT, INFERRED = "exact", "inferred"


@pytest.mark.parametrize(
    ("schema", "value", "after", "safety"),
    [
        (LONG, "10:00AM", "10:00:00", INFERRED),
        (LONG, "10:00", "10:00:00", EXACT),
        (SHORT, "9:30", "09:30", EXACT),
        (SHORT, "2 pm", "14:00", INFERRED),
        (SHORT, "2:30 P.M.", "14:30", INFERRED),
        (SHORT, "12:30 AM", "00:30", INFERRED),
        (SHORT, "12 pm", "12:00", INFERRED),
        (SHORT, "10:00:00", "10:00", EXACT),
        (FULL, "14:30Z", "14:30:00Z", EXACT),
        (FULL, "2:30 PM UTC", "14:30:00Z", INFERRED),
        (FULL, "14:30+0200", "14:30:00+02:00", EXACT),
        ({"type": "string", "pattern": "^[0-9]{2}:[0-9]{2} [AP]M$"}, "14:30", "02:30 PM", EXACT),
    ],
)
def test_reads(mend, schema, value, after, safety):
    assert mend(FormatTime(), schema, value) == (after, safety)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        *((SHORT, v) for v in ("13:00 PM", "0 am", "24:00", "25:00", "9:5", "1000", "10", "10:")),
        *((SHORT, v) for v in ("14h30", "noon", "midnight")),
        *((SHORT, v) for v in ("half past ten", "10:00:30", "10-00", "10:00 or 11:00", "soon", 10)),
        *((SHORT, v) for v in ("10:00Z", "\u0661\u0660:00", "x" * 100_000, "10:00 EST")),
        *((FULL, v) for v in ("10:00AM", "10:00:00", "noon", "10:00 EST", "10:00:00+99:00")),
        ({"type": "integer"}, "10:00"),
    ],
)
def test_refuses(mend, schema, value):
    assert mend(FormatTime(), schema, value) is None


def test_an_offset_that_the_map_gives(mend):
    assert mend(FormatTime(timezone="+02:00"), FULL, "10:00AM") == ("10:00:00+02:00", INFERRED)
    with pytest.raises(ValueError):
        FormatTime(timezone="CET")


@pytest.mark.parametrize("said", ["Opening time (UTC)", "Local time, not UTC"])
def test_no_offset_is_taken_from_a_description(mend, said):
    assert mend(FormatTime(), FULL | {"description": said}, "10:00AM") is None


@settings(max_examples=40)
@given(
    st.times().map(lambda t: t.replace(microsecond=0)), st.sampled_from(["%H:%M:%S", "%I:%M:%S %p"])
)
def test_any_time_keeps_its_value(mend, clock, form):
    text = clock.strftime(form)
    found = mend(FormatTime(timezone="Z"), FULL, text)
    assert found is not None
    assert time.fromisoformat(found[0].removesuffix("Z")) == clock


def test_no_spelling_follows_the_locale_of_the_process():
    package = Path(selfcorrect.__file__).parent
    found = [
        f"{file.name}: {form}"
        for file in package.rglob("*.py")
        for form in re.findall(r"%-?[aAbBhpcxX]\b", file.read_text(encoding="utf-8"))
    ]
    assert found == []
