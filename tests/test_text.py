"""What leaves the library: without secrets, control characters and letters that nobody sees."""

import json

import pytest
import re2
from hypothesis import given, strategies as st
from kit import sections, table

from selfcorrect.integrations.logs import add_secret_form
from selfcorrect.text import bound, clean, own_forms, redact, redact_json, release

SECRETS = table("secrets.txt", "secrets")
ORDINARY = table("secrets.txt", "ordinary")


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_no_secret_leaves_in_any_wrapping(text, secret):
    wrapped = [
        text,
        f"login failed: {text} was refused",
        json.dumps({"error": text}),
        repr((text,)),
    ]
    wrapped += [f"{text}\n{text}"]
    assert [each for each in wrapped if secret in release(each)] == []


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_line_leaves_as_it_is(text):
    assert release(text) == text


@given(st.lists(st.sampled_from([each for each, _ in SECRETS] + ORDINARY), max_size=4))
def test_what_is_redacted_once_stays_as_it_is(parts):
    once = release(" ".join(parts), 10_000)
    assert release(once, 10_000) == once


@given(st.text(), st.integers(1, 50))
def test_what_leaves_is_bounded_and_visible(text, most):
    shown = release(text, most)
    assert len(shown) <= most
    assert clean(shown) == shown
    assert bound(shown, most) == shown


@pytest.mark.parametrize("sign", "\x1b\x07\x9b\u202e\u200b\u2066\u3164\ufe0f\u034f\U000e0041\ud800")
def test_a_letter_that_nobody_sees_is_taken_out(sign):
    assert release(f"no seat{sign} left") == "no seat left"


def test_json_is_redacted_by_its_keys_too():
    value = {"password": "abc", "paths": ["/args/redis:~1~1:pa55@h"], "n": [1, None, "ok"]}
    shown = redact_json(value)
    assert shown["password"] == "[secret]"
    assert "pa55" not in shown["paths"][0]
    assert shown["n"] == value["n"]
    assert redact_json({"a": ["b"]}) == {"a": ["b"]}


def test_a_deployment_adds_forms_of_its_own():
    try:
        add_secret_form(r"\bACME-\d+\b")
        assert redact("key of ACME-12 lost") == "key of [secret] lost"
        with pytest.raises(re2.error):
            add_secret_form("(")
    finally:
        own_forms.clear()


def test_the_data_is_not_lost():
    assert {name: len(rows) for name, rows in sections("secrets.txt").items()}["secrets"] > 40
