"""An error's own sentence decides; what stands behind it makes no call repeatable."""

import pytest
from asked import decide, read_report

from selfcorrect import StrategyMap
from selfcorrect.evidence.clean import openings
from selfcorrect.kinds import RETRYABLE

RULES = StrategyMap.load("default")
OWN = [
    ("No such user: bob", {"user": "bob"}),
    ("Value for 'quantity' must be at least 1 piece", {"quantity": 0}),
    ("Value for 'class' must be one of ['economy', 'first']", {"class": "x"}),
    ("missing 1 required positional argument: 'reason'", {"note": "x"}),
    ("prod with this sku already exists", {"sku": "A-1"}),
    ("permission denied for table users", {"table": "users"}),
    ("invalid literal for int() with base 10: 'x'", {"seats": "x"}),
    ("You must open the ticket first", {"ticket": "T-1"}),
]
BEHIND = [
    "HTTP 503 Service Unavailable",
    "429 Too Many Requests",
    "Please retry in 30 seconds.",
    "The operation timed out earlier.",
]


def read(text, arguments, *, acts):
    found = read_report(text, arguments=arguments)[0]
    return decide(found, RULES, None, arguments, acts=acts)


@pytest.mark.parametrize("acts", [False, True])
@pytest.mark.parametrize("join", [". ", "\n", "\n\n"])
@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize(("own", "arguments"), OWN)
def test_what_stands_behind_an_error_makes_it_neither_repeatable_nor_a_wait(
    own, arguments, behind, join, acts
):
    alone = read(own, arguments, acts=acts)
    found = read(f"{own}{join}{behind}", arguments, acts=acts)
    assert found.kind is alone.kind
    assert found.kind not in RETRYABLE
    assert found.retry_after is None


@pytest.mark.parametrize("acts", [False, True])
@pytest.mark.parametrize(
    "join", ["{}. 1. {}", "{}1. {}", "{} 1. {}", "{}.1. {}", "{} [{}]", '{} "{}"']
)
@pytest.mark.parametrize("status", [*BEHIND[:2], "status 503", "HTTP 429"])
@pytest.mark.parametrize(("own", "arguments"), OWN)
def test_a_status_behind_an_ordinal_or_a_quote_makes_nothing_repeatable(
    own, arguments, status, join, acts
):
    found = read(join.format(own, status), arguments, acts=acts)
    assert found.kind not in RETRYABLE


@pytest.mark.parametrize("own", ["Import failed", "The import of invoices failed", "Bad date"])
@pytest.mark.parametrize("behind", ["HTTP 503 Service Unavailable", "502 Bad Gateway"])
def test_a_status_behind_a_sentence_makes_no_call_repeatable(own, behind):
    assert read(f"{own}. {behind}", {"file": "a.csv"}, acts=True).kind not in RETRYABLE


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("svn: E170013: Unable to connect to a repository at URL 'file:///srv/none'", 1),
        ("Could not connect to sqlite:///srv/none.db", None),
        ('500 Error: command "HLEO" not recognized', 500),
        ("502 Command not implemented", 502),
        ("Premature end of data in tag b line 1", None),
    ],
)
def test_a_missing_file_and_an_unknown_command_are_not_repeated(text, status):
    found = decide(read_report(text, status=status)[0], RULES, None, {"a": 1})
    assert found.kind not in RETRYABLE


@pytest.mark.parametrize(
    "text",
    [
        "Unable to connect to svn://svn.example.org/r",
        "500 Internal Server Error",
        "Premature close",
    ],
)
def test_a_server_that_broke_off_is_asked_again(text):
    assert decide(read_report(text)[0], RULES, None, {"a": 1}).kind in RETRYABLE


def test_the_own_sentence_may_say_that_it_is_temporary():
    found = read("Too many requests. Please retry in 30 seconds.", {}, acts=True)
    assert (found.kind, found.retry_after) == ("rate_limit", 30.0)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Error: no such file", "Error: no such file"),
        ("See below:\nno such file\nmore", "See below:\nno such file"),
        ("The file, e.g. a.txt, is gone. Bye", "The file, e.g. a.txt, is gone."),
        ("The service answered: 1. 503 Bad", "The service answered: 1. 503 Bad"),
        ("There is no such user 1. 503 Bad", "There is no such user"),
        ('There is no such user "HTTP 503"', "There is no such user"),
        ("The number of items (500) is too high", "The number of items (500) is too high"),
        ("顧客が見つかりません。後で", "顧客が見つかりません。"),
    ],
)
def test_where_the_first_sentence_ends(text, first):
    assert next(openings(text)) == first


@pytest.mark.parametrize(
    "text",
    [
        "You must open the ticket first",
        "the doors must be locked before the engine can start",
        "The order cannot be shipped until the payment is confirmed",
        "the invoice has to be approved before it is sent",
    ],
)
def test_something_else_first_is_a_precondition(text):
    found = read(text, {"order": "A-1"}, acts=True)
    assert (found.kind, found.category) == ("conflict", "precondition")


def test_a_word_alone_is_no_matter_of_access():
    assert read("Unknown token fast", {"speed": "fast"}, acts=False).kind != "auth"
