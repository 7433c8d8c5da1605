"""What a status means by itself: every cell of the table, and no rule that never decides."""

import pytest
from asked import read_report

from selfcorrect.evidence import classify
from selfcorrect.mapping.loading import load_map
from selfcorrect.model import ErrorKind, Finding

K = ErrorKind

HTTP = {
    K.VALIDATION: [400, 413, 414, 415, 416, 422, 428],
    K.AUTH: [401, 403, 407],
    K.QUOTA: [402, 507],
    K.NOT_FOUND: [404, 410],
    K.PERMANENT: [405, 406, 411, 417, 418, 421, 424, 426, 431, 444, 451, 501, 505],
    K.TIMEOUT: [408, 504],
    K.CONFLICT: [409, 412, 423],
    K.TRANSIENT: [425, 500, 502, 503, 506, 508, 510, 520, 521, 522, 529, 530, 599],
    K.RATE_LIMIT: [429],
}
CELLS = [(status, kind) for kind, statuses in HTTP.items() for status in statuses]

STATES = {
    "08006": K.TRANSIENT,
    "0A000": K.PERMANENT,
    "22P02": K.VALIDATION,
    "23502": K.VALIDATION,
    "23503": K.NOT_FOUND,
    "23505": K.CONFLICT,
    "23514": K.VALIDATION,
    "28P01": K.AUTH,
    "40001": K.TRANSIENT,
    "40P01": K.TRANSIENT,
    "42501": K.AUTH,
    "42601": K.VALIDATION,
    "42703": K.NOT_FOUND,
    "42P01": K.NOT_FOUND,
    "42S02": K.NOT_FOUND,
    "53100": K.QUOTA,
    "53300": K.TRANSIENT,
    "55P03": K.CONFLICT,
    "57014": K.CANCELLED,
    "57P03": K.TRANSIENT,
    "HYT00": K.TIMEOUT,
}

GRPC = {
    "CANCELLED": K.CANCELLED,
    "INVALID_ARGUMENT": K.VALIDATION,
    "DEADLINE_EXCEEDED": K.TIMEOUT,
    "NOT_FOUND": K.NOT_FOUND,
    "ALREADY_EXISTS": K.CONFLICT,
    "PERMISSION_DENIED": K.AUTH,
    "UNAUTHENTICATED": K.AUTH,
    "RESOURCE_EXHAUSTED": K.RATE_LIMIT,
    "FAILED_PRECONDITION": K.CONFLICT,
    "ABORTED": K.CONFLICT,
    "OUT_OF_RANGE": K.VALIDATION,
    "UNIMPLEMENTED": K.PERMANENT,
    "INTERNAL": K.INTERNAL,
    "UNAVAILABLE": K.TRANSIENT,
}


@pytest.fixture(scope="module")
def default():
    return load_map()


@pytest.mark.parametrize(("status", "kind"), CELLS)
def test_the_kind_that_a_status_alone_speaks_for(default, status, kind):
    assert classify(Finding("", status=status)) is kind
    (finding,) = read_report("something happened", status=status)
    assert default.decide(finding).kind is kind


def test_every_other_status_of_a_client_is_permanent_and_of_a_server_transient():
    replies = range(550, 560)  # of mail and file servers
    named = {status for status, _ in CELLS} | {499, 511, 524, *replies}
    assert all(classify(Finding("", status=status)) is K.INTERNAL for status in replies)
    for status in range(400, 600):
        if status not in named:
            expected = K.PERMANENT if status < 500 else K.TRANSIENT
            assert classify(Finding("", status=status)) is expected


@pytest.mark.parametrize(("status", "kind"), [*STATES.items(), *GRPC.items()])
def test_the_kind_of_a_sqlstate_or_a_grpc_code(default, status, kind):
    (finding,) = read_report("something happened", status=status)
    assert default.decide(finding).kind is kind


@pytest.mark.parametrize("status", [0, 1, 99, 200, 204, 301, 600, -4, 10**12])
def test_what_is_no_error_status_says_nothing(status):
    assert classify(Finding("", status=status)) is K.INTERNAL


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Quota exceeded for 'Queries per day'", K.QUOTA),
        ("insufficient_quota: check your billing details", K.QUOTA),
        ("You have reached your monthly limit", K.QUOTA),
        ("Quota exceeded for 'Read requests per minute'", K.RATE_LIMIT),
        ("Too many requests", K.RATE_LIMIT),
        ("Slow down", K.RATE_LIMIT),
    ],
)
def test_429_is_a_rate_limit_unless_the_text_says_that_a_budget_is_used_up(default, text, kind):
    (finding,) = read_report(text, status=429)
    assert default.decide(finding).kind is kind


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (403, "API rate limit exceeded for user", K.RATE_LIMIT),
        (403, "Quota exceeded: free query bytes scanned", K.QUOTA),
        (400, "Request was throttled. Slow down.", K.RATE_LIMIT),
        ("57014", "canceling statement due to statement timeout", K.TIMEOUT),
        ("23503", "Key (id)=(1) is still referenced from table orders", K.CONFLICT),
        ("ABORTED", "Too much contention on these documents", K.TRANSIENT),
        ("08001", "Failed to connect. Incorrect username or password was specified.", K.AUTH),
    ],
)
def test_the_text_refines_what_the_status_says(default, status, text, kind):
    (finding,) = read_report(text, status=status)
    assert default.decide(finding).kind is kind


def test_every_rule_of_the_default_map_that_a_status_alone_meets_decides_one():
    strategies = load_map()
    for placed in strategies.rules:
        rule = placed.rule
        if not placed.id.startswith("default/") or not rule.status:
            continue
        if rule.match or rule.error or rule.code or rule.tool:
            continue
        decided = {strategies.decide(Finding("x", status=one(s))).rule for s in rule.status}
        assert placed.id in decided, placed.id


def one(status):
    """A status that a rule's condition covers."""
    if isinstance(status, str) and status.endswith("xxx"):
        return status[:2] + "9Z9"
    return int(status[0] + "98") if isinstance(status, str) and status.endswith("xx") else status
