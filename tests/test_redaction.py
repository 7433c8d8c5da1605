"""Outside text: quoted, bounded, without secrets and without steering characters."""

from __future__ import annotations

import json
import random
import string
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.kernel.texts import outside, quoted, redact

RANDOM = random.Random(7)


def some(size, alphabet=string.ascii_letters + string.digits):
    """Made-up characters, with a letter and a digit for certain."""
    return "".join(RANDOM.choice(alphabet) for _ in range(size - 2)) + "a1"


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
SECRETS = {
    "aws key": "AKIA" + some(18, UPPER)[:16].upper(),
    "github": "ghp_" + some(36),
    "github fine": "github_pat_" + some(60),
    "gitlab": "glpat-" + some(20),
    "slack": "xoxb-" + "-".join([some(12), some(12), some(24)]),
    "stripe": "sk_live_" + some(24),
    "jwt": f"eyJ{some(20)}.eyJ{some(40)}.{some(43)}",
    "openai": "sk-proj-" + some(48),
    "anthropic": "sk-ant-api03-" + some(80),
    "sendgrid": f"SG.{some(22)}.{some(43)}",
    "twilio": "AC" + some(34, HEX)[:32],
    "npm": "npm_" + some(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + some(60),
    "discord": f"M{some(25)}.{some(6)}.{some(38)}",
    "telegram": f"123456789:{some(35)}",
    "google": "AIza" + some(35),
    "hugging face": "hf_" + some(34),
    "square": "sq0csp-" + some(43),
    "mailchimp": some(34, HEX)[:32] + "-us12",
    "artifactory": "AKC" + some(40),
    "azure client": f"ab1{5}Q~{some(33)}",
    "private key": f"-----BEGIN RSA PRIVATE KEY-----\n{some(200)}\n-----END RSA PRIVATE KEY-----",
    "cut private key": f"-----BEGIN PRIVATE KEY-----\n{some(200)}",
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", ["{}", "the key {} is wrong", '{{"a": "{}"}}', "({})", "x={};y"])
def test_secrets_of_a_known_form(kind, around):
    secret = SECRETS[kind]
    for text in (redact(around.format(secret)), outside(around.format(secret))):
        assert secret not in text
        assert secret[8:-4] not in text
        assert "[secret]" in text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://ann:pa55word@db/x", "pa55word"),
        ("redis://:pa55word@cache", "pa55word"),
        ("https://hooks.slack.com/services/T000/B000/XXXXabcd1234", "XXXXabcd1234"),
        ("Authorization: Bearer abcdef123456", "abcdef123456"),
        ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("password=hunter2!", "hunter2!"),
        ("PASSWORD: 'correct horse'", "correct horse"),
        ('{"db_password": "abc"}', '"abc"'),
        (r"{\"password\": \"abc def\"}", "abc def"),
        ("pwd = s3cret", "s3cret"),
        ("api_key=abcd1234efgh", "abcd1234efgh"),
        ("API-Key: abcd1234efgh", "abcd1234efgh"),
        ('"client_secret": "abcd1234efgh"', "abcd1234efgh"),
        ("access_token=abcd1234efgh&x=1", "abcd1234efgh"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX", "wJalrXUtnFEMI"),
        ("DefaultEndpointsProtocol=https;AccountKey=abc123def456==;x", "abc123def456"),
        ("?sv=2020&sig=abc123def456%3D", "abc123def456"),
        ("os.environ['SECRET_KEY'] = 'abc123def456'", "abc123def456"),
    ],
)
def test_secrets_beside_a_name(text, secret):
    assert secret not in redact(text)
    assert secret not in outside(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "departure_date: field required",
        "token: invalid",
        "password: required",
        "KeyError: 'passengers'",
        "duplicate key value violates unique constraint (email)=(ann@example.org)",
        "max_tokens: 4096",
        "see https://example.org/a:b/c@d",
        "missing required argument 'token'",
        "sort key must be one of: name, price",
        "the password is too short",
        "basic economy",
        "task-force-is-a-long-hyphenated-word",
        "Primary key: departure",
        "10:30 to 11:45",
    ],
)
def test_plain_text_stays(text):
    assert redact(text) == text


def test_the_whole_is_a_json_literal():
    text = 'a "quoted" \\ line\nand another\ttab'
    label, _, literal = outside(text).partition(" ")
    assert label == "data:"
    assert json.loads(literal) == text


@pytest.mark.parametrize(
    "char",
    [
        "\x00",
        "\x1b",
        "\x7f",
        "\x9b",
        "\u200b",
        "\u202e",
        "\u2066",
        "\u2028",
        "\ufeff",
        "\U000e0041",
    ],
)
def test_characters_that_steer_are_escaped(char):
    shown = outside(f"a{char}b")
    assert char not in shown
    assert json.loads(shown.removeprefix("data: ")) == f"a{char}b"


@pytest.mark.parametrize("text", ["Z\u00fcrich", "\u6771\u4eac", "\u0645\u0631\u062d\u0628\u0627"])
def test_letters_of_any_script_stay_legible(text):
    assert outside(text) == f'data: "{text}"'


def test_lone_surrogates_can_be_printed():
    shown = outside("a\ud800b")
    assert shown == r'data: "a\ud800b"'
    shown.encode()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        ({"a": [1, True]}, '{"a": [1, true]}'),
        ({"token": "abcd1234efgh"}, '{"token": "[secret]"}'),
        ({"a": object()}, '{"a": "<object>"}'),
        ([float("nan")], "[NaN]"),
    ],
)
def test_other_values(value, shown):
    assert outside(value) == f"data: {shown}"


def test_values_without_an_end():
    circle = []
    circle.append(circle)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert outside(circle) == 'data: "<list>"'
    assert outside(deep).startswith("data: ")
    deep.clear()


@settings(max_examples=150)
@given(st.text(max_size=400), st.integers(1, 100))
def test_bounded_and_printable_for_any_text(text, limit):
    shown = outside(text, limit)
    assert len(json.loads(shown.removeprefix("data: "))) <= limit + 40
    assert shown.isprintable() or all(
        unicodedata.category(c) == "Zs" for c in shown if not c.isprintable()
    )


@settings(max_examples=60)
@given(st.sampled_from(sorted(SECRETS)), st.integers(0, 120), st.integers(1, 120))
def test_a_cut_never_shows_half_of_a_secret(kind, before, limit):
    secret = SECRETS[kind]
    shown = outside("." * before + secret + "." * 500, limit)
    assert secret[4:20] not in shown


def test_both_ends_are_shown():
    shown = quoted("start" + "x" * 10_000 + "end", 60)
    assert shown.startswith('"start')
    assert shown.endswith('end"')


HOSTILE = [
    *("-----BEGIN PRIVATE KEY-----" * 40_000, "eyJ" * 300_000, "eyJ-" * 250_000, "://" * 300_000),
    *(
        "://a:" * 200_000,
        "password=" * 100_000,
        "key:" * 250_000,
        "secret" * 150_000,
        "sk-" * 300_000,
    ),
    *(
        "a.b." * 250_000,
        "token token_" * 90_000,
        "M" * 1_000_000,
        "bearer " * 150_000,
        "\\" * 1_000_000,
    ),
    *('password="' * 100_000, "\u202e" * 1_000_000, "AC" + "0" * 1_000_000, "_" * 1_000_000),
    *("api_key " * 100_000, "1" * 1_000_000, "xox" * 300_000, "hv" * 400_000, "-us1" * 250_000),
]


def test_hostile_texts_take_linear_time():
    started = time.perf_counter()
    for text in HOSTILE:
        outside(text)
        quoted(text, 100)
    assert time.perf_counter() - started < 5


def test_redaction_itself_is_linear():
    started = time.perf_counter()
    for text in HOSTILE:
        redact(text[:50_000])
    assert time.perf_counter() - started < 5
