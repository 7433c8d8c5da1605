"""correct-format: normal forms that are certain, and nothing made up."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.model import Finding
from selfcorrect.repairs.correct_format import CorrectFormat


def of(name):
    return {"type": "string", "format": name}


def like(pattern):
    return {"type": "string", "pattern": pattern}


ID = "123e4567-e89b-12d3-a456-426614174000"
E164 = r"^\+[1-9]\d{1,14}$"
US_PHONE = r"^\d{3}-\d{3}-\d{4}$"


@pytest.mark.parametrize(
    ("schema", "value", "after", "safety"),
    [
        (of("email"), " ann@example.org ", "ann@example.org", "exact"),
        (of("email"), "<ann@example.org>", "ann@example.org", "exact"),
        (of("email"), "mailto:ann@example.org", "ann@example.org", "exact"),
        (of("email"), "ann@example.org.", "ann@example.org", "exact"),
        (of("email"), "Ann Lee <ann@example.org>", "ann@example.org", "inferred"),
        (of("uuid"), f"{{{ID}}}", ID, "exact"),
        (of("uuid"), f"urn:uuid:{ID}", ID, "exact"),
        (of("uuid"), ID.replace("-", ""), ID, "exact"),
        (of("uuid"), f" {ID.upper()}", ID, "exact"),
        (of("uri"), " https://example.org/a ", "https://example.org/a", "exact"),
        (of("uri"), "<https://example.org>", "https://example.org", "exact"),
        (of("ipv4"), "10.0.0.1\n", "10.0.0.1", "exact"),
        (of("ipv6"), "[::1]", "::1", "exact"),
        (like("^[A-Z]{3}$"), "lhr", "LHR", "inferred"),
        (like("^[A-Z]{3}$"), " lhr ", "LHR", "inferred"),
        (like("^[A-Z]{3}$"), " LHR ", "LHR", "exact"),
        (like("^[a-z]{3}$"), "LHR", "lhr", "exact"),
        (like(r"^[A-Z]{2}\d{4}$"), "ba 0123", "BA0123", "inferred"),
        (like(r"^[A-Z]{2}\d{4}$"), "BA 0123", "BA0123", "exact"),
        (like(r"^[a-z]+$"), "Oslo", "oslo", "inferred"),
        (like(US_PHONE), "5551234567", "555-123-4567", "inferred"),
        (like(US_PHONE), "(555) 123-4567", "555-123-4567", "inferred"),
        (like(r"^\d{10}$"), "555-123-4567", "5551234567", "exact"),
        (like(r"^\d{4} \d{4}$"), "12345678", "1234 5678", "inferred"),
        (like(US_PHONE), "555-1234567", "555-123-4567", "inferred"),
        (like(r"^\d{6}$"), "12-34-56", "123456", "exact"),
        (like(E164), "+1 (555) 123-4567", "+15551234567", "exact"),
        (like(E164), "tel:+44 20 7946 0958", "+442079460958", "exact"),
    ],
)
def test_corrects(mend, schema, value, after, safety):
    assert mend(CorrectFormat(), schema, value) == (after, safety)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        *((of("email"), v) for v in ("ann at example dot org", "ann", "a@b@c", "a b@c.org")),
        *((of("email"), v) for v in ("a@b.org, c@d.org", "mailto:a@b.org?subject=x", 5)),
        *((of("uuid"), v) for v in (ID[:-1], ID + "0", "not-a-uuid", "g" * 32, "\uff11" * 32)),
        *((of("uri"), v) for v in ("example.org", "www.example.org", "https://a b", "//a")),
        *((of("ipv4"), v) for v in ("010.0.0.1", "256.1.1.1", "1.2.3", "10,0,0,1")),
        *(
            (like(US_PHONE), v)
            for v in ("555123456", "1-555-123-4567", "\u0665" * 10, "-5551234567")
        ),
        *((like(E164), v) for v in ("(555) 123-4567", "0044 20 7946 0958", "+44 (0)20 7946 0958")),
        *((like(E164), v) for v in ("+1 555 123 4567 ext 5", "+0 555 1234")),
        (like("^[a-z0-9]+$"), "john.smith"),
        (like("^[a-z0-9]+$"), "my file-1"),
        (like("^([A-Z]{3}|[a-z]{3})$"), "aBc"),
        (like("^[A-Z]{3}$"), "London"),
        *((like("^[A-Z]{1,5}$"), v) for v in ("Ford", "Coke", "Goa", " Goa ", "Tesla", "In")),
        *((like("^[A-Z/]{1,9}$"), v) for v in ("any", "none", "tbd", "n/a", "N/a", "unknown")),
        *((like("^[a-z]+$"), v) for v in ("ANY", "TBD", "N.A.")),
        (like("^[A-Z]{3}$"), "x" * 1_000_000),
        (like(r"^(\d+)+$"), "1" * 2_000 + "x"),
        (like(r"^\d{3}$"), "-5 1 2"),
        (like(r"^\d{3}-\d{3}$"), "12-3456"),
        (like(r"^\d{4}-\d{2}-\d{2}$"), "03/04/2026"),
        (like(r"^\d{2}/\d{2}/\d{4}$"), "2026-10-26"),
        (like(r"^\d{2}-\d{2}-\d{4}$"), "03/04/2026"),
        (like(r"^\d{8}$"), "2026-10-26"),
    ],
)
def test_refuses(mend, schema, value):
    assert mend(CorrectFormat(), schema, value) is None


def test_a_format_that_only_the_error_tells_is_refused(mend):
    told = Finding("bad id", ("E",), paths=("/args/x",), constraint={"format": "uuid"})
    assert mend(CorrectFormat(), {"type": "string"}, ID.replace("-", ""), told) is None


@settings(max_examples=40)
@given(st.uuids(), st.sampled_from(["{{{}}}", "urn:uuid:{}", " {}", "<{}>", "({})"]))
def test_any_uuid_keeps_its_value(mend, value, form):
    assert UUID(mend(CorrectFormat(), of("uuid"), form.format(value))[0]) == value


@settings(max_examples=40)
@given(st.text(alphabet="0123456789-() +.x", min_size=1, max_size=16))
def test_the_digits_of_a_number_stay_as_they_are(mend, text):
    if not (len(text) == 12 and text[3] == text[7] == "-"):
        found = mend(CorrectFormat(), like(US_PHONE), text, required=True)
        digits = lambda value: [c for c in value if c.isdigit()]  # noqa: E731
        assert found is None or digits(found[0]) == digits(text)
