"""Secrets in every place and under every quotation in which they are met; plain text stays."""

from __future__ import annotations

import html
import itertools
import json
import random
import time
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.kernel.texts import is_clean, literal, outside, redact
from selfcorrect.loop.masking import Mask, masked
from selfcorrect.policies.safety import SafetyPolicy

CHOSEN = (
    *("password", "Password", "PASSWORD", "passwd", "passphrase", "pwd", "db_password"),
    *("userPassword", "client_secret", "secret", "PGPASSWORD", "spring.datasource.password"),
)
ISSUED = (
    *("token", "access_token", "refreshToken", "api_key", "apiKey", "X-Api-Key", "api-key"),
    *("AWS_SECRET_ACCESS_KEY", "aws_session_token", "private_key", "X-Auth-Token", "session_id"),
    *("PHPSESSID", "JSESSIONID", "credential", "authorization_code"),
)
HEADERS = ("Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "HTTP_AUTHORIZATION")
PLACES = (
    "{name}={secret}",
    "{name}: {secret}",
    '{{"{name}": "{secret}"}}',
    "{{'{name}': '{secret}', 'user': 'ann'}}",
    '{{"{name}":["{secret}"]}}',
    "{name} = '{secret}'",
    "{name} => {secret}",
    "https://example.org/a?user=ann&{name}={secret}&x=1",
    '{{"name": "{name}", "value": "{secret}"}}',
    '{{"key":"{name}","value":"{secret}"}}',
    '{{"value": "{secret}", "name": "{name}"}}',
    '<add key="{name}" value="{secret}"/>',
    '<param name="{name}">{secret}</param>',
    "<{name}>{secret}</{name}>",
    '<ns:{name} Type="text">{secret}</ns:{name}>',
    "<{name}><![CDATA[{secret}]]></{name}>",
    "tool --{name} {secret} --verbose",
    "tool --{name}={secret}",
    "['tool', '--{name}', '{secret}']",
)
HEADER_PLACES = (
    "{name}: {secret}",
    "GET / HTTP/1.1\r\nHost: x\r\n{name}: {secret}\r\nAccept: */*",
    '{{"{name}": "{secret}"}}',
    "{{'{name}': '{secret}'}}",
    "curl -H '{name}: {secret}' https://example.org",
    'curl -H "{name}: {secret}" https://example.org',
    '{{"headers": {{"{name}": ["{secret}"]}}}}',
    '{{"name": "{name}", "value": "{secret}"}}',
    "[('{name}', '{secret}')]",
)
WITH_DIGITS, LETTERS, SIGNS = "hX9tQ2mZ7vB4kW1p", "correcthorsebattery", "p4$s!w0*rd~x"
SCHEMES = ("Bearer", "Basic", "Token", "ApiKey", "Digest", "AWS4-HMAC-SHA256", "Negotiate", "")


def in_json(text: str, depth: int) -> str:
    for _ in range(depth):
        text = json.dumps({"body": text})
    return text


QUOTATIONS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda text: in_json(text, 1),
    "json in json": lambda text: in_json(text, 2),
    "json in json in json": lambda text: in_json(text, 3),
    "json five deep": lambda text: in_json(text, 5),
    "repr": repr,
    "repr of repr": lambda text: repr(repr(text)),
    "html": html.escape,
    "html twice": lambda text: html.escape(html.escape(text)),
    "url": urllib.parse.quote,
    "url, spaces too": urllib.parse.quote_plus,
    "url twice": lambda text: urllib.parse.quote(urllib.parse.quote(text)),
    "json in a url": lambda text: urllib.parse.quote(json.dumps({"a": text})),
    "a url in json": lambda text: json.dumps({"u": urllib.parse.quote(text)}),
    "html in json": lambda text: json.dumps({"page": html.escape(text)}),
    "ascii escapes": lambda text: (
        json.dumps(text).replace('\\"', "\\u0022").replace("=", "\\u003d")
    ),
}


def cases() -> Any:
    for place, name, secret in itertools.product(PLACES, CHOSEN, (WITH_DIGITS, LETTERS, SIGNS)):
        yield place.format(name=name, secret=secret), secret
    for place, name, secret in itertools.product(PLACES, ISSUED, (WITH_DIGITS, LETTERS)):
        sentence = secret == LETTERS and place in ("{name}: {secret}", "{name} => {secret}")
        if not sentence and not ("." in name and "<" in place):
            yield place.format(name=name, secret=secret), secret
    for place, name, scheme in itertools.product(HEADER_PLACES, HEADERS, SCHEMES):
        kind = "sid=" if "Cookie" in name else f"{scheme} ".lstrip()
        yield place.format(name=name, secret=f"{kind}{WITH_DIGITS}"), WITH_DIGITS
        yield place.format(name=name, secret=f"{kind}{LETTERS}"), LETTERS


CASES = list(dict.fromkeys(cases()))


@pytest.mark.parametrize("quotation", QUOTATIONS)
def test_no_quotation_hides_a_secret(quotation: str) -> None:
    assert len(CASES) >= 200
    shown = [(redact(QUOTATIONS[quotation](text)), secret) for text, secret in CASES]
    leaked = [
        text for text, secret in shown if any(part in text for part in (secret[:8], secret[-8:]))
    ]
    assert leaked == [], (len(leaked), len(CASES))


def test_what_is_shown_of_outside_text_is_redacted() -> None:
    for text, secret in CASES[::7]:
        assert secret[:8] not in outside(text)
        assert secret[:8] not in literal({"error": text})


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -u ann:pw1!word https://example.org", "pw1!word"),
        ("curl -u 'ann:pwword' https://example.org", "pwword"),
        ("curl --user ann:pwword", "pwword"),
        ("['curl', '-u', 'ann:pwword']", "pwword"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Signature=fe5f80f77d5fa3be&x=1", "fe5f80f77d5fa3be"),
        ("?X-Amz-Security-Token=IQoJb3JpZ2luX2VjEJr", "IQoJb3JpZ2luX2VjEJr"),
        ("?X-Goog-Signature=247a2aa45f169edf4d187d54e7cc46e4", "247a2aa45f169edf"),
        ("https://x.blob.core.windows.net/c?sv=2020&sig=abcDEFghi%2Bjkl%3D", "abcDEFghi"),
        ("?Expires=1&Signature=vjbyPxybdZaNmGa%2ByT272YEAiv4%3D&Key-Pair-Id=K", "vjbyPxybdZaNmGa"),
        ("https://hooks.slack.com/services/T00000000/B00000000/XXXX1234abcd", "XXXX1234abcd"),
        ("https://discord.com/api/webhooks/1234567890/AbC-dEf_123456789", "AbC-dEf_123456789"),
        ("https://discordapp.com/api/v10/webhooks/1234567890/AbCdEf", "1234567890/AbCdEf"),
        ("https://acme.webhook.office.com/webhookb2/8f14e45f@1/IncomingWebhook/x9", "8f14e45f"),
        ("https://hooks.zapier.com/hooks/catch/123456/abcdef1/", "abcdef1"),
        ("https://maker.ifttt.com/trigger/x/with/key/dTq3kRfgH", "dTq3kRfgH"),
        ("https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8/x", "AAHdqTcv"),
        ("https://ann:p%40ss%2Fword9@example.org", "word9"),
        ("Cookie: a=b; sid=Xyz\nAccept: x", "Xyz"),
        ("Authorization: AWS4-HMAC-SHA256 Credential=AK/x, Signature=fe5f80f77d5fa3", "fe5f80f"),
        ("-----BEGIN EC PRIVATE KEY-----\\\\nMHcCA\\\\n-----END EC PRIVATE KEY-----", "MHcCA"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_secrets_that_are_met_daily(text: str, secret: str, depth: int) -> None:
    assert secret not in redact(in_json(text, depth))


@pytest.mark.parametrize(
    "text",
    [
        "password must have 8 letters",
        "password: must have 8 letters",
        "The password is too short",
        "Password: required",
        "password cannot be blank",
        "--password is required",
        "missing option --password",
        'missing required arguments: ["password", "email"]',
        "secret santa",
        "token expired",
        "token: invalid",
        "Unexpected token: identifier",
        "max_tokens: 4096",
        "sort key: departure",
        "cookie: missing",
        "authorization: header missing",
        "Authorization header is required",
        "function signature: add(a, b)",
        "https://docs.github.com/en/webhooks/about-webhooks",
        "docker run -u 1000:1000 image",
        "the cookies of the bakery",
        "100% of 20%3 & more",
    ],
)
@pytest.mark.parametrize("depth", [0, 1])
def test_what_is_said_about_secrets_stays_readable(text: str, depth: int) -> None:
    text = in_json(text, depth)
    assert redact(text) == text


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(CHOSEN),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=40),
    st.integers(0, 4),
)
def test_any_password_in_json_at_any_depth(name: str, secret: str, depth: int) -> None:
    secret = f"zq{secret}"
    shown = redact(in_json(json.dumps({"a": 1, name: secret, "b": 2}), depth))
    assert "[secret]" in shown
    assert "zq" not in shown


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_what_is_redacted_stays_so(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("secret", [WITH_DIGITS, SIGNS, f"ghp_{'aB3d' * 9}"])
def test_keys_are_redacted_like_values(secret: str) -> None:
    announced = f"password={secret}"
    event = {"node": "x", "detail": {"rows": [{announced: 1}]}, announced: 2}
    assert not is_clean(event)
    mask = Mask(None, SafetyPolicy())
    for shown in (mask.event(event), mask.value(event), mask.event({"name": "a", "args": event})):
        assert secret not in json.dumps(shown)
    assert secret not in json.dumps(masked([event], None, None, SafetyPolicy()))


@pytest.mark.parametrize("name", [*CHOSEN, *ISSUED, *HEADERS])
def test_a_key_announces_its_value(name: str) -> None:
    event = {"detail": {"rows": [{name: WITH_DIGITS, "user": "ann"}]}}
    assert not is_clean(event)
    shown = Mask(None, SafetyPolicy()).event(event)
    assert shown == {"detail": {"rows": [{name: "[secret]", "user": "ann"}]}}


HOSTILE = [
    *("key:", "password", "password=", 'password="', "password: a ", "cookie: a ", "cookie:"),
    *("--token ", "authorization: is ", 'value="x" ', 'value="', "%25", "%", "\\", '\\"', "&amp;"),
    *(
        "&",
        "<token ",
        "<",
        "token=%22",
        "//hooks/",
        "//a/",
        "-u a",
        "-u a:",
        '"token", ',
        "secret.",
    ),
    *("sig=", "?sig=abcdefgh&", "token:token_", 'token\\":\\"', "https://hooks.a/", "/with/key/"),
    *("password\\\\\\", "pass'", "<password>a", "secret: a\\", "Cookie: '"),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        best = 1e9
        for _ in range(3):
            started = time.process_time()
            redact(text)
            best = min(best, time.process_time() - started)
        return best

    # Eight times as much: eight times as long if it is linear, 64 times if it is the square.
    assert seconds(160_000) < 24 * max(seconds(20_000), 1e-4)


OTHERWISE = (
    *("IPPublicDetector", "PrivateKeyDetector", "NpmDetector"),
    *("CloudantDetector", "IbmCloudIamDetector", "IbmCosHmacDetector", "SoftlayerDetector"),
)
"""Kinds whose patterns also stand for what is no secret, or is not written as anybody writes it.

`tests/test_secrets.py` has a secret of each.
"""


def test_every_kind_of_detect_secrets_as_it_finds_it_itself() -> None:
    util = pytest.importorskip("detect_secrets.core.plugins.util", reason="needs the extra dev")
    from detect_secrets.plugins.base import RegexBasedDetector

    rng = random.Random(11)
    tried, leaked = 0, []
    for kind in util.get_mapping_from_secret_type_to_class().values():
        if not issubclass(kind, RegexBasedDetector) or kind.__name__ in OTHERWISE:
            continue
        plugin = kind()
        for pattern in plugin.denylist:
            found = _generated(pattern, plugin, rng.randrange(1 << 30))
            for text, secret in found:
                tried += 1
                if secret in redact(text):
                    leaked.append((kind.__name__, pattern.pattern, text, secret))
    assert tried >= 200
    assert leaked == []


def _generated(pattern: Any, plugin: Any, seed: int) -> list[tuple[str, str]]:
    """Texts in which a plugin finds a secret, made from its own pattern, and what it finds."""
    import hypothesis

    kept: list[tuple[str, str]] = []
    ascii_only = st.characters(min_codepoint=32, max_codepoint=126)

    @hypothesis.seed(seed)
    @settings(
        max_examples=40,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @given(st.from_regex(pattern, alphabet=ascii_only))
    def collect(text: str) -> None:
        kept.extend(
            (text, secret)
            for secret in plugin.analyze_string(text)
            if _looks_issued(secret) and _stands_alone(text, secret)
        )

    collect()
    return kept[:20]


def _looks_issued(secret: str) -> bool:
    """Whether it is what a machine issues, and not, as far as the pattern goes, a plain word."""
    has_both = any(c.isdigit() for c in secret) and any(c.isalpha() for c in secret)
    varied = len(set(secret)) > 6 and len(set(secret[len(secret) // 2 :])) > 3
    return len(secret) >= 8 and has_both and varied and not set(secret) & set("\"'")


def _stands_alone(text: str, secret: str) -> bool:
    start = text.index(secret)
    around = text[start - 1 : start] + text[start + len(secret) :][:1]
    return not any(char.isalnum() or char in "_-" for char in around)
