"""Laws of single values: what decides which listed value, time or unit is meant."""

import re

import pytest
from hypothesis import given, settings, strategies as st
from kit import INTEGER, TEXT

from selfcorrect.model import ABSENT, Safety
from selfcorrect.names.letters import letters, words
from selfcorrect.repairs.arguments import repair_arguments
from selfcorrect.schema.place import Place
from selfcorrect.values import choices, dates, units
from selfcorrect.values.primitives import EVERY
from selfcorrect.values.readings import Permission

ALLOW = Permission(EVERY, frozenset({Safety.EXACT, Safety.INFERRED}))


def read(schema, written, name="q"):
    """Read one value of a tool that acts; nothing where it is not read."""
    place = Place.of({"properties": {name: schema}, "required": [name]})
    found = repair_arguments({name: written}, place, ALLOW)
    return ABSENT if found.problems else found.args[name]


FEW = settings(
    max_examples=150, deadline=None, derandomize=True, report_multiple_bugs=False, database=None
)
LISTED = st.sampled_from(
    ["include", "exclude", "business", "premium economy", "user account", "archive", "monthly"]
)


@FEW
@given(LISTED, LISTED, st.integers(0, 20), st.sampled_from("aeinrst"), st.integers(0, 3))
def letters_decide_nothing(meant, other, at, letter, way):
    """No listed value that a tool which acts gets differs from the written one in letters."""
    at %= len(meant)
    rest = ["", letter + meant[at:], letter + meant[at + 1 :], meant[at] + meant[at:]][way]
    written = meant[:at] + (rest or meant[at + 1 :])
    value = read({"enum": sorted({meant, other})}, written)
    is_same = value is not ABSENT and letters(value) == letters(written)
    shorter = value is not ABSENT and {*words(value)} <= {*words(written)}
    longer = value is not ABSENT and {*words(written)} <= {*words(value)}
    assert value is ABSENT or is_same or shorter or longer, (written, value)


HOUR = st.tuples(st.integers(0, 23), st.integers(0, 59))


@FEW
@given(HOUR, HOUR, st.sampled_from(["{:02}:{:02}", "{}:{:02}"]), st.sampled_from(["-", " -"]))
def no_span_is_an_offset(start, end, form, mark):
    """What stands behind a hyphen is no offset where the time before it has no seconds."""
    for behind in ("{:02}:{:02}", "{:02}{:02}"):
        span = form.format(*start) + mark + behind.format(*end)
        assert read({**TEXT, "format": "time"}, span) is ABSENT, span
        for day in ("2026-10-26 ", "2026-10-26T", "Oct 26, 2026 at "):
            assert read({**TEXT, "format": "date-time"}, day + span) is ABSENT, span


UNIT = st.sampled_from(["USD", "km", "seconds", "percent", "kilograms", "euros", "GB"])
BESIDE = st.sampled_from(["thousand", "total", "or miles", "per hour", "2", "equivalent", "k", "-"])


@FEW
@given(UNIT, BESIDE, st.sampled_from(["{}", "Size in {}", "Size ({})", "Size, {}"]), st.booleans())
def a_whole_phrase_is_the_unit(unit, beside, form, is_first):
    """A unit is read where a phrase is that unit, and not where the phrase says more."""
    phrase = f"{beside} {unit}" if is_first else f"{unit} {beside}"
    plain, more = ({**INTEGER, "description": form.format(each)} for each in (unit, phrase))
    assert read(plain, f"5 {unit}") == 5
    assert read(more, f"5 {unit}") is ABSENT, more


LAWS = [
    (
        letters_decide_nothing,
        *(choices, "_by_words"),
        lambda original: lambda text, place: original(text, place) or choices._by_slip(text, place),
    ),
    (
        letters_decide_nothing,
        *(choices, "_says_more"),
        lambda _original: lambda more, less, _idle: choices._is_slip(*map(" ".join, (more, less))),
    ),
    (
        no_span_is_an_offset,
        *(dates, "_ZONE"),
        lambda _original: re.compile(r" ?([+-]\d\d:?\d\d)\Z"),
    ),
    (
        a_whole_phrase_is_the_unit,
        *(units, "_phrases"),
        lambda _original: (
            lambda text: ({row for row in map(units._row_of, re.split(r"\W+", text)) if row}, [])
        ),
    ),
    (a_whole_phrase_is_the_unit, units, "_FILLER", lambda _original: re.compile(r"\S+\s")),
]


@pytest.mark.parametrize("law", dict.fromkeys(law for law, *_ in LAWS))
def test_a_law_holds(law):
    law()


@pytest.mark.parametrize(("law", "owner", "name", "make"), LAWS)
def test_a_law_falls_with_its_primitive(law, owner, name, make, monkeypatch):
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    with pytest.raises(AssertionError):
        law()
