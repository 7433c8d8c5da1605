"""`classify` and the loop say the same of every error, by status, code, type or text."""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.error
from typing import Any

import httpx
import pytest
from asked import read_report

from selfcorrect import ErrorKind, Finding, StrategyMap, ToolSpec, build_graph, classify
from selfcorrect.mapping.loading import load_map

K = ErrorKind


class ApiError(Exception):
    """What clients of web services raise: a status, a body's code, the response."""

    def __init__(
        self, status: int, text: str = "", code: str | None = None, wait: str | None = None
    ) -> None:
        super().__init__(text or f"HTTP {status}")
        self.status_code, self.code = status, code
        headers = {"retry-after": wait} if wait else {}
        request = httpx.Request("POST", "https://api.example.com/v1/chat")
        self.response = httpx.Response(status, headers=headers, request=request)


class Refused(Exception):
    """What a tool raises of its own."""


def caused(outer: Exception, inner: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


class UsageLimitExceeded(Exception):
    """As pydantic-ai calls it."""


UsageLimitExceeded.__module__ = "pydantic_ai.exceptions"

CERTIFICATE = (
    "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed (_ssl.c:1006)"
)

BUDGETS = {
    "text": ApiError(429, "You exceeded your current quota, please check your plan and billing"),
    "daily": ApiError(429, "Daily limit reached"),
    "monthly": ApiError(403, "Your monthly limit is used up"),
    "code": ApiError(429, "no more", code="insufficient_quota"),
    "without a status": ValueError("monthly quota exceeded"),
    "billing": Refused("billing hard limit reached"),
    "class": UsageLimitExceeded("The next request would exceed the request_limit of 50"),
}
CERTIFICATES = {
    "bare": ssl.SSLCertVerificationError(1, CERTIFICATE),
    "urllib": urllib.error.URLError(ssl.SSLCertVerificationError(1, CERTIFICATE)),
    "httpx": caused(httpx.ConnectError(CERTIFICATE), ssl.SSLCertVerificationError(1, CERTIFICATE)),
    "text": Refused("certificate has expired"),
}
CONNECTIONS = {
    "alert": ssl.SSLError(1, "[SSL: TLSV1_ALERT_INTERNAL_ERROR] tlsv1 alert (_ssl.c:1006)"),
    "version": ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"),
    "eof": ssl.SSLEOFError(8, "EOF occurred in violation of protocol (_ssl.c:1006)"),
    "closed": ssl.SSLZeroReturnError(6, "TLS/SSL connection has been closed (EOF)"),
    "no name": socket.gaierror(-2, "Name or service not known"),
    "no name, on a Mac": socket.gaierror(8, "nodename nor servname provided, or not known"),
    "no name, on Windows": socket.gaierror(11001, "getaddrinfo failed"),
    "no host": socket.herror(1, "Unknown host"),
    "urllib": urllib.error.URLError(socket.gaierror(8, "nodename nor servname provided")),
    "urllib, tls": urllib.error.URLError(ssl.SSLError(1, "[SSL: TLSV1_ALERT] alert")),
    "network": OSError(101, "Network is unreachable"),
    "route": OSError(113, "No route to host"),
    "cut": http.client.IncompleteRead(b""),
    "gone": http.client.RemoteDisconnected("Remote end closed connection without response"),
}
OTHERS: dict[str, Exception] = {
    "limit": ApiError(429),
    "limit with a wait": ApiError(429, "Rate limit reached. Please try again in 6s.", wait="6"),
    "errno": PermissionError(13, "Permission denied"),
    "bare errno": OSError(1, "Operation not permitted"),
    "text": Refused("rate limit exceeded"),
    "nobody knows": KeyError("x"),
}
EVERY = {
    f"{name}: {key}": error
    for name, group in (
        ("budget", BUDGETS),
        ("certificate", CERTIFICATES),
        ("connection", CONNECTIONS),
        ("other", OTHERS),
    )
    for key, error in group.items()
} | {f"status {status}": ApiError(status) for status in range(400, 600, 7)}


def kind_in_the_loop(error: Exception, **options: Any) -> ErrorKind:
    def look() -> None:
        """Look."""
        raise error

    tool = ToolSpec.from_function(look, effect="read_only")
    options = {"limits": {"attempts": 1}, **options}
    out = build_graph([tool], **options).invoke({"call": {"name": "look", "args": {}}})
    diagnosis = next(event for event in out["trail"] if event["node"] == "diagnose")
    return ErrorKind(diagnosis["findings"][0]["kind"])


@pytest.mark.parametrize("name", EVERY)
def test_the_loop_says_the_same(name):
    assert classify(EVERY[name]) is kind_in_the_loop(EVERY[name])


@pytest.mark.parametrize("name", BUDGETS)
def test_a_budget_that_is_used_up(name):
    assert classify(BUDGETS[name]) is K.QUOTA


@pytest.mark.parametrize("name", CERTIFICATES)
def test_an_untrusted_certificate_stays_untrusted(name):
    assert classify(CERTIFICATES[name]) is K.PERMANENT


@pytest.mark.parametrize("name", CONNECTIONS)
def test_numbers_of_openssl_and_the_resolver_are_no_errnos(name):
    assert classify(CONNECTIONS[name]) is K.TRANSIENT


@pytest.mark.parametrize("strategies", [None, "strict", "operator_safe"])
def test_under_any_map(strategies):
    for error in (*BUDGETS.values(), *OTHERS.values()):
        assert classify(error, strategies) is kind_in_the_loop(error, strategies=strategies)


def test_findings_of_ones_own():
    assert classify(Finding("x", code="insufficient_quota", status=429)) is K.QUOTA
    assert classify(Finding("too many requests", status=429)) is K.RATE_LIMIT


class TestBare429:
    """A deployment may take a 429 that names no time for a budget that is used up."""

    MAP = StrategyMap(extends=["default"], policy={"bare_429": "quota"})

    @pytest.mark.parametrize("error", [ApiError(429), ApiError(429, "Rate limit reached")])
    def test_is_a_quota_by_option_only(self, error):
        assert classify(error) is K.RATE_LIMIT
        assert classify(error, self.MAP) is kind_in_the_loop(error, strategies=self.MAP) is K.QUOTA

    @pytest.mark.parametrize(
        "error", [ApiError(429, wait="3"), ApiError(429, "try again in 6s"), ApiError(503)]
    )
    def test_not_where_it_says_when_to_come_back(self, error):
        assert classify(error, self.MAP) is not K.QUOTA

    def test_ends_a_run_where_the_policy_says_so(self):
        def look() -> None:
            """Look."""
            raise ApiError(429)

        tool = ToolSpec.from_function(look, effect="read_only")
        policy = {"bare_429": "quota", "terminal": ["quota"]}
        strategies = StrategyMap(extends=["default"], policy=policy)
        out = build_graph([tool], strategies=strategies).invoke({"call": {"name": "look"}})
        assert out["failure"]["reason"] == "terminal_kind"
        assert len(out["failure"]["attempts"]) == 1

    def test_a_map_that_extends_says_it_for_itself(self):
        own = StrategyMap(extends=["default"], policy={"bare_429": "rate_limit"})
        assert classify(ApiError(429), own) is K.RATE_LIMIT


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("payment method x not found", "unknown_resource"),
        ("Error: payment method credit_card_7 not found", "unknown_resource"),
        ("shipping method 'express' not found", "unknown_resource"),
        ("Unknown payment method 'cheque'", "none"),
        ("delivery command 17 not found", "unknown_resource"),
        ("tool fly not found", "unknown_tool"),
        ("Error: tool fly is not registered", "unknown_tool"),
        ("the method fly does not exist", "unknown_tool"),
        ("method fly not found", "unknown_tool"),
        ("Unknown tool: fly", "unknown_tool"),
    ],
)
def test_a_method_of_something_is_no_tool(text, category):
    strategies = load_map()
    (finding,) = read_report(text)
    assert strategies.decide(finding).category == category
