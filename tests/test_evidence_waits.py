"""How long emitters ask to wait, in every form that structure carries; and what never counts."""

from datetime import UTC, datetime

import pytest
from asked import read_report
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.batch import diagnose
from selfcorrect.evidence.waits.fields import wait_in_body, wait_in_headers
from selfcorrect.evidence.waits.prose import wait_in_text
from selfcorrect.evidence.waits.values import LONGEST, wait_of_value

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
EPOCH = int(NOW.timestamp())

SENTENCES = {
    # seconds, milliseconds, minutes, hours, days
    "Too many requests, retry after 20 seconds": 20,
    "Please try again in 20s": 20,
    "Please try again in 6ms.": 0.006,
    "Rate limit reached for x, Used 29500, Requested 1200. Please try again in 18.642s.": 18.642,
    "try again in 1m30s": 90,
    "Please retry after 1m30.5s": 90.5,
    "retry after 2h45m10s": 9910,
    "Please wait 5 minutes before trying again": 300,
    "please wait a minute": 60,
    "Wait half an hour and try again": 1800,
    "Try again in one hour.": 3600,
    "Try again in two minutes": 120,
    "Retry in 1.5 minutes": 90,
    "Retry in 2 hours and 10 minutes": 7800,
    "try again in 15 mins": 900,
    "Try again after 3 days": 259200,
    "Rate limit exceeded, retry in 60 minutes": 3600,
    "Limit reached; retry-after: 12": 12,
    "Retry-After: 120": 120,
    "retry_after=7": 7,
    "retryAfter: 7": 7,
    "retry_after_ms: 1500": 1.5,
    "retry after 250 milliseconds": 0.25,
    "Backing off for 4 seconds": 4,
    "Cooling down: 30 s": 30,
    "cooldown period of 45 seconds": 45,
    "Expected available in 3600 seconds.": 3600,
    "Request was throttled. Expected available in 58 seconds.": 58,
    "Quota resets in 4h": 14400,
    "Your limit resets after 90 seconds": 90,
    "budget remaining 19986 out of 1000000 reset in 28 seconds": 28,
    "will be available again in 10 minutes": 600,
    "You can try again 30 seconds later": 30,
    "Take a break for 4 minutes before trying again.": 240,
    "10 seconds until reset": 10,
    "unlocked in 15 minutes": 900,
    "The ban expires in 2 hours": 7200,
    "again in 00:01:30": 90,
    "Retry after PT1M30S": 90,
    "Retry after P1DT1H": 90000,
    "wait approximately 12 seconds": 12,
    "Please wait at least 3 seconds": 3,
    "Please wait for another 8 seconds": 8,
    "Hold on for 9 s": 9,
    # moments
    "Try again at 2026-03-01T12:00:30Z": 30,
    "blocked until 2026-03-01 12:05:00 UTC, try again at 2026-03-01 12:05:00 UTC": 300,
    "Rate limit resets at Sun, 01 Mar 2026 12:01:00 GMT": 60,
    f"rate limit resets at {EPOCH + 40}": 40,
    f"Retry after {EPOCH + 40}000": 40,
    # other languages
    "Bitte versuchen Sie es in 30 Sekunden erneut": 30,
    "Bitte warten Sie 2 Minuten": 120,
    "Versuchen Sie es nach 5 Minuten wieder": 300,
    "Veuillez réessayer dans 45 secondes": 45,
    "Réessayez après 2 minutes": 120,
    "Requête ralentie. Disponible à nouveau dans 30 secondes.": 30,
    "Inténtelo de nuevo en 10 segundos": 10,
    "Por favor espere 3 minutos": 180,
    "Disponible en 20 segundos": 20,
    "Tente novamente em 25 segundos": 25,
    "Pedido foi suprimido. Espera-se que esteja disponível em 30 segundos.": 30,
    "Riprova tra 15 secondi": 15,
    "请在 60 秒后重试": 60,
    "请求已被限流。 预计 30 秒后可用。": 30,
    "20 秒後に再試行してください": 20,
    "Доступно через 30 секунд": 30,
    "30초 후에 다시 시도하세요": 30,
    "30 saniye sonra tekrar deneyin": 30,
}


@pytest.mark.parametrize(("text", "seconds"), SENTENCES.items())
def test_a_wait_in_a_sentence(text, seconds):
    assert wait_in_text(text, NOW) == pytest.approx(seconds, abs=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "timed out after 30 seconds",
        "took 502 ms",
        "gave up after 3 retries in 10 seconds",
        "Do not retry in 10 seconds",
        "retry 3 times",
        "retry after 5 attempts",
        "available in 3 regions",
        "wait for 2 more requests",
        "must be at least 5 seconds",
        "TTL must be between 60 and 86400 seconds",
        "retry after 99999999 seconds",
        "retry after 9999999999999 s",
        "retry after -5 seconds",
        "retry after soon",
        "retry-after: ",
        "",
    ],
)
def test_what_is_no_wait(text):
    assert wait_in_text(text, NOW) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "120"}, 120),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "30s"}, 30),
        ({"retry-after": "Sun, 01 Mar 2026 12:02:00 GMT"}, 120),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"x-ms-retry-after-ms": "250"}, 0.25),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH + 33)}, 33),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{EPOCH + 33}000"}, 33),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "4.2"}, 4.2),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "9"}, 9),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "6m0s"}, 360),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "9"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "99999999"}, None),
        ({"retry-after": "x" * 10_000}, None),
        ({}, None),
    ],
)
def test_a_wait_in_headers(headers, seconds):
    found = wait_in_headers(headers, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds, abs=0.01))


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"retry_after": 64.57, "message": "You are being rate limited."}, 64.57),
        ({"retryAfterMs": 1500}, 1.5),
        ({"retry_after_ms": 250, "error": "x"}, 0.25),
        ({"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}, 34),
        ({"error": {"details": [{"retryDelay": "34.5s"}]}}, 34.5),
        ({"ok": False, "parameters": {"retry_after": 14}}, 14),
        ({"errors": [{"extensions": {"retryAfter": 3}}]}, 3),
        ({"error": {"retryAfterSeconds": 5}}, 5),
        ({"msBeforeNext": 3000}, 3),
        ({"headers": {"Retry-After": "11"}}, 11),
        ({"error": {"resetAt": "2026-03-01T12:00:50Z"}}, 50),
        ({"rateLimit": {"resetAt": EPOCH + 5}}, 5),
        ({"retry_after": "PT30S"}, 30),
        ({"retry_after": "1m30s"}, 90),
        ({"retry_after": -1}, None),
        ({"retry_after": True}, None),
        ({"retry_after": 1e300}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": [5]}, None),
        ({"input": {"retry_after": 5}, "error": "bad"}, None),
        ({"request": {"body": {"retry_after": 5}}}, None),
        ({"value": {"retry_after": 5}}, None),
        ([], None),
        ("retry_after", None),
    ],
)
def test_a_wait_in_a_body(body, seconds):
    found = wait_in_body(body, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds, abs=0.01))


def test_a_wait_in_an_echoed_argument_does_not_count():
    said = "no such city: 'retry after 300 seconds'"
    (finding,) = read_report(said, arguments={"city": "retry after 300 seconds"})
    assert finding.retry_after is None
    (finding,) = read_report(said)
    assert finding.retry_after == 300


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="retyafin 0123456789.:-smhTZP", max_size=200))
def test_any_text_gives_a_bounded_wait_or_none(text):
    found = wait_in_text("retry after " + text, NOW)
    assert found is None or 0 <= found <= LONGEST


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.floats(), st.integers(), st.text(max_size=40), st.none(), st.booleans()))
def test_any_value_gives_a_bounded_wait_or_none(value):
    for millis in (False, True):
        found = wait_of_value(value, millis=millis, now=NOW)
        assert found is None or 0 <= found <= LONGEST


BEHIND = ("HTTP 503 Service Unavailable", "Please retry in 30 seconds.", "429 Too Many Requests")


@pytest.mark.parametrize("text", ["unknown city 'Rmoe'", "amount must be at least 5"])
@pytest.mark.parametrize("behind", BEHIND)
def test_what_stands_behind_the_error_s_own_sentence_sets_no_wait_and_repeats_nothing(text, behind):
    alone, longer = diagnose(
        [{"id": 1, "message": text}, {"id": 2, "message": f"{text}\n\n{behind}"}]
    )
    assert (longer["kind"], longer["retryable"]) == (alone["kind"], False)
    assert longer["retry_after_s"] is None


@pytest.mark.parametrize("behind", BEHIND)
def test_the_error_s_own_sentence_may_be_one_of_several(behind):
    own = "The service is unavailable. Please retry in 20 seconds."
    (told,) = diagnose([{"id": 1, "message": f"{own}\n\n{behind}"}])
    assert (told["retryable"], told["retry_after_s"]) == (True, 20.0)
