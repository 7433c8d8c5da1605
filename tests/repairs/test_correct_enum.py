"""correct-enum: the value that was meant, never the one that is merely near."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import ABSENT, Finding
from selfcorrect.repairs.correct_enum import CorrectEnum

CABIN = ["economy", "business", "first"]
EXACT, INFERRED = "exact", "inferred"


@pytest.mark.parametrize(
    ("members", "value", "after", "safety"),
    [
        (CABIN, " Business", "business", EXACT),
        (CABIN, "BUSINESS", "business", EXACT),
        (CABIN, "'business'", "business", EXACT),
        (["gluten-free", "vegan"], "Gluten Free", "gluten-free", EXACT),
        (["24 hours", "In-store Pickup"], "in store pickup", "In-store Pickup", EXACT),
        (["five_years", "year"], "fiveYears", "five_years", EXACT),
        (["engage", "release"], "engage\u00a0\u00a0", "engage", EXACT),
        ([1, 2, 3], "2", 2, EXACT),
        (["1", "2"], 2, "2", EXACT),
        (CABIN, "business class", "business", INFERRED),
        (CABIN, "Economy Cabin", "economy", INFERRED),
        (["business class", "first class"], "business", "business class", INFERRED),
        (["Scenic View", "Camping"], "scenic views", "Scenic View", INFERRED),
        (["kilometers", "miles"], "kilometer", "kilometers", INFERRED),
        (["Zurich", "Bern"], "Z\u00fcrich", "Zurich", INFERRED),
        (CABIN, "buisness", "business", INFERRED),
        (CABIN, "econmy", "economy", INFERRED),
        (["colour", "size"], "color", "colour", INFERRED),
        (["grade a", "grade b"], "a", "grade a", INFERRED),
        (["24 hours", "Parking"], "operates 24 hours", "24 hours", INFERRED),
        (["24 hours", "Parking"], "with parking", "Parking", INFERRED),
    ],
)
def test_corrects(mend, members, value, after, safety):
    found = mend(CorrectEnum(), {"enum": members}, value, name="cabin")
    assert found == (after, safety)


@pytest.mark.parametrize(
    ("members", "value"),
    [
        *(
            (CABIN, v)
            for v in ("premium economy", "Premium Economy", "economy plus", "not economy")
        ),
        *(
            (CABIN, v)
            for v in ("non-business", "economy or business", "economy, business", "class")
        ),
        *((CABIN, v) for v in ("coach", "", " ", "e", "eco", "\u0435conomy", "fits", "no")),
        *(
            (CABIN, v)
            for v in ("business" * 10_000, "business" + "\u0301" * 5_000, [], {}, 1.5, True)
        ),
        (["vegan", "gluten-free"], "vegetarian"),
        (["parking", "with parking fee"], "with parking"),
        (["milk", "coffee"], "coffee with milk"),
        (["home & kitchen", "toys"], "Home and Kitchen"),
        (["R and D", "sales"], "R&D"),
        (["driving", "walking"], "drive"),
        (["run", "walk"], "running"),
        (["heat", "cool", "off"], "heating"),
        (["a & b", "a and b"], "A&B"),
        (["ship", "shipped"], "shipping"),
        (["heat", "heat_cool"], "heating"),
        (["male", "other"], "mailing"),
        (["build", "test"], "not building"),
        (["24 hours", "Parking"], "never operates 24 hours"),
        (["ticket", "invoice"], "open ticket"),
        (["open", "closed", "all"], "patent"),
        (["Iraq", "Israel"], "Iran"),
        (["Austria", "Germany"], "Australia"),
        (["Slovenia", "Spain"], "Slovakia"),
        (["male", "other"], "female"),
        (["lock", "status"], "unlock"),
        (["import", "list"], "export"),
        (["close", "open"], "clone"),
        (["C", "Java"], "C++"),
        (["C#", "Java"], "C"),
        (["+1", "0"], "-1"),
        (["-1", "0"], "1"),
        (["1.0", "2.0"], "10"),
        (["v1", "v3"], "v2"),
        (["GPT-4", "other"], "GPT-3"),
        (["a-b", "a_b"], "A B"),
        (["Organic", "Fruits"], "organic fruits"),
        (["first class", "first class suite"], "first"),
        (["9-16", "1-1"], "16-9"),
        (["left right", "up down"], "right left"),
        (["business class", "business lounge"], "business"),
        (["new", "old"], "news"),
        (["desktop", "laptop"], "ecktop"),
        (["type a", "type b"], "type"),
        (["six_months", "year", "five_years"], "past 5 years"),
    ],
)
def test_refuses(mend, members, value):
    assert mend(CorrectEnum(), {"enum": members}, value, name="cabin", required=True) is None


def test_ties_are_named():
    from selfcorrect.testing.conformance import try_strategy

    answer = try_strategy(
        CorrectEnum(), {"properties": {"x": {"enum": ["red a", "red b"]}}}, {"x": "RED_A "}
    )
    assert answer.changes[0].after == "red a"
    answer = try_strategy(
        CorrectEnum(), {"properties": {"x": {"enum": ["a b", "a-b"]}}}, {"x": "AB"}
    )
    assert answer.reason == 'several listed values are equally near: "a b", "a-b"'


def test_what_looks_the_same_after_nfkc_is_not_exact(mend):
    found = mend(CorrectEnum(), {"enum": ["m2", "ha"]}, "m\u00b2")
    assert found in (None, ("m2", INFERRED))


@pytest.mark.parametrize("key", ["coach", "Coach ", "COACH"])
def test_synonyms(mend, key):
    strategy = CorrectEnum(synonyms={"coach": "economy", "deluxe": "gone"})
    assert mend(strategy, {"enum": CABIN}, key) == ("economy", INFERRED)
    assert mend(strategy, {"enum": CABIN}, "deluxe") is None
    assert mend(strategy, {"enum": CABIN}, "coaches") is None


def test_nothing(mend):
    assert mend(CorrectEnum(), {"enum": CABIN}, None) == (ABSENT, EXACT)
    assert mend(CorrectEnum(), {"enum": CABIN}, "None") == (ABSENT, EXACT)
    assert mend(CorrectEnum(), {"enum": [*CABIN, "none"]}, "None") == ("none", EXACT)
    assert mend(CorrectEnum(), {"enum": CABIN}, "None", required=True) is None


def test_values_that_only_the_error_lists(mend):
    told = Finding("bad", ("E",), paths=("/args/x",), constraint={"enum": ["open", "closed"]})
    assert mend(CorrectEnum(), {"type": "string"}, "Open", told) == ("open", EXACT)
    assert mend(CorrectEnum(), {"type": "string"}, "ajar", told) is None


def test_inside_a_list():
    from selfcorrect.testing.conformance import try_strategy

    schema = {"properties": {"x": {"type": "array", "items": {"enum": ["Camping", "Trails"]}}}}
    (change,) = try_strategy(CorrectEnum(), schema, {"x": ["Trails", "camping"]}).changes
    assert (change.path, change.after) == ("/args/x/1", "Camping")


@settings(max_examples=40)
@given(
    st.lists(
        st.text(alphabet="abcde -_12", min_size=1, max_size=8), min_size=1, max_size=5, unique=True
    ),
    st.text(alphabet="abcdeABCDE -_12", max_size=10),
)
def test_exact_only_where_case_and_separators_differ(mend, members, value):
    if value in members:
        return
    found = mend(CorrectEnum(), {"enum": members}, value, required=True)
    if found is None:
        return
    after, safety = found
    assert after in members
    letters = lambda text: "".join(c for c in text.lower() if c.isalnum())  # noqa: E731
    assert safety == INFERRED or letters(after) == letters(value)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("hypertension", "hypotension"),
        ("interstate", "intrastate"),
        ("northwest", "northeast"),
        ("trainee", "trainer"),
        ("infection", "injection"),
        ("debit", "debt"),
        ("amoxicillin", "ampicillin"),
        ("prednisone", "prednisolone"),
    ],
)
def test_another_word_is_no_slip(mend, member, value):
    assert mend(CorrectEnum(), {"enum": [member, "other"]}, value, name="kind") is None
