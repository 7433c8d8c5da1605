"""Errors within errors: wrapped and chained two to four deep, in bodies, frames, colours, pages."""

import json
from itertools import pairwise

import pytest
from asked import decide, read_error, read_report

from selfcorrect.mapping.loading import load_map
from selfcorrect.model import Call, Category, ErrorKind

K, C = ErrorKind, Category

BODY = {"error": {"code": "invalid_argument", "message": "page_size must be at most 100"}}
IN_A_STRING = {"error": json.dumps({"message": json.dumps(BODY)})}
PASSED_ON = {"status": 502, "message": "Bad Gateway", "upstream": {"body": BODY}}
TRACE = """Traceback (most recent call last):
  File "/app/a.py", line 3, in pay
    connect()
ConnectionRefusedError: [Errno 111] Connection refused

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/b.py", line 9, in run
    raise ValueError("page_size must be at most 100")
ValueError: page_size must be at most 100
"""
JAVA = """java.lang.RuntimeException: call failed
\tat com.shop.Api.call(Api.java:10)
Caused by: java.lang.IllegalArgumentException: page_size must be at most 100
\tat com.shop.Page.of(Page.java:7)
\t... 12 more
"""
PAGE = """<!DOCTYPE html><html><head><title>400 Bad Request</title><style>p{}</style>
<script>var error = "Unauthorized";</script></head>
<body><h1>Bad Request</h1><p>page_size must be at most 100</p></body></html>"""
COLOURED = "\x1b[31m\x1b[1mError:\x1b[0m page_size must be \x1b[33mat most 100\x1b[0m"
LONG = JAVA.replace("\t... 12 more\n", "\tat com.shop.Deep.call(Deep.java:1)\n" * 1500)

SAID = {
    "plain": "page_size must be at most 100",
    "one deep": "ValueError: page_size must be at most 100",
    "two deep": "Error executing tool list: ValueError: page_size must be at most 100",
    "three deep": (
        "ToolException: Error executing tool list: ValueError('page_size must be at most 100')"
    ),
    "four deep": (
        "Tool call failed: ToolException: Error executing tool list: "
        "ValueError('page_size must be at most 100')"
    ),
    "a body": json.dumps(BODY),
    "a body behind a prefix": "HTTP 400: " + json.dumps(BODY),
    "a body as Python prints it": "Error code: 400 - " + repr(BODY),
    "JSON in a string in a body": json.dumps(IN_A_STRING),
    "passed on": json.dumps(PASSED_ON),
    "a list in a body": json.dumps({"errors": ["page_size must be at most 100"]}),
    "a list under message": json.dumps(
        {"statusCode": 400, "message": ["page_size must be at most 100"], "error": "Bad Request"}
    ),
    "details below a summary": json.dumps(
        {"message": "Validation failed", "details": {"page_size": ["must be at most 100"]}}
    ),
    "objects below a field": json.dumps(
        {"error": "Invalid", "details": {"page_size": [{"description": "must be at most 100"}]}}
    ),
    "root cause": json.dumps(
        {
            "error": {
                "type": "search_phase_execution_exception",
                "reason": "all shards failed",
                "root_cause": [{"type": "x", "reason": "page_size must be at most 100"}],
            }
        }
    ),
    "a traceback": TRACE,
    "a stack of Java": JAVA,
    "sixty kilobytes": LONG,
    "colours": COLOURED,
    "a page": PAGE,
    "a tuple of a driver": "(1264, 'page_size must be at most 100')",
    "a state of a driver": "('22003', '[22003] [Vendor][Driver]page_size must be at most 100')",
    "a record": "ApiError(type=USER, name=OUT_OF_RANGE, message='page_size must be at most 100')",
    "braces": "{code: Api.ClientError.Bad} {message: page_size must be at most 100}",
    "a code in front": "OUT_OF_RANGE - page_size must be at most 100",
    "a code behind": "page_size must be at most 100 (OUT_OF_RANGE)",
}


@pytest.fixture(scope="module")
def strategies():
    return load_map()


@pytest.mark.parametrize("text", SAID.values(), ids=SAID)
def test_the_innermost_sentence_decides(strategies, text):
    arguments = {"page_size": 500, "query": "x"}
    (found,) = read_report(text, arguments=arguments)
    found = decide(found, strategies, None, arguments)
    assert (found.kind, found.category, found.params) == (K.VALIDATION, C.RANGE, ("page_size",))


class ToolError(Exception):
    """What a tool's host raises."""


def chained(*errors):
    """Each error raised from the next."""
    for outer, inner in pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


BAD = ValueError("page_size must be at most 100")
CHAINS = {
    "alone": BAD,
    "two": chained(ToolError("tool failed"), BAD),
    "three": chained(ToolError("tool failed"), ToolError("inner"), BAD),
    "four": chained(ToolError("a"), ToolError("b"), ToolError("c"), BAD),
    "group": ExceptionGroup("several", [BAD]),
    "group in a chain": chained(ToolError("tool failed"), ExceptionGroup("several", [BAD])),
    "as an argument": ToolError("tool failed", BAD),
}


@pytest.mark.parametrize("error", CHAINS.values(), ids=CHAINS)
def test_a_chain_of_exceptions_is_followed(strategies, error):
    arguments = {"page_size": 500, "query": "x"}
    (found,) = read_error(error, Call("list", arguments), None)
    found = decide(found, strategies, None, arguments)
    assert (found.kind, found.category, found.params) == (K.VALIDATION, C.RANGE, ("page_size",))


def test_a_ring_of_causes_ends():
    first, second = ToolError("a"), ToolError("b")
    first.__cause__, second.__cause__ = second, first
    assert len(read_error(first, Call("x", {}), None)) == 1


def test_a_group_gives_a_finding_for_each_of_its_errors(strategies):
    error = ExceptionGroup("two", [ValueError("age is required"), TimeoutError("timed out")])
    found = [decide(f, strategies, None, {}) for f in read_error(error, Call("x", {}), None)]
    assert [item.kind for item in found] == [K.VALIDATION, K.TIMEOUT]


class Hostile(Exception):
    """Every attribute raises, and so does its text."""

    def __getattribute__(self, name):
        raise RuntimeError(name)

    def __str__(self):
        raise RuntimeError


def test_an_exception_that_raises_when_it_is_looked_at_is_still_read():
    assert read_error(Hostile(), Call("x", {}), None)


@pytest.mark.parametrize(
    ("text", "types", "kind", "category"),
    [
        (
            "(550, b'5.1.1 No such user')",
            ("smtplib.SMTPDataError",),
            K.NOT_FOUND,
            "unknown_resource",
        ),
        ("(552, b'5.3.4 Message too big')", ("smtplib.SMTPDataError",), K.VALIDATION, "length"),
        ("(535, b'5.7.8 not accepted')", ("smtplib.SMTPException",), K.AUTH, "none"),
        ("(452, b'4.2.2 mailbox')", ("smtplib.SMTPDataError",), K.QUOTA, "none"),
        ("(451, b'4.3.0 later')", ("smtplib.SMTPDataError",), K.TRANSIENT, "none"),
        ("501 5.1.3 Bad syntax", ("smtplib.SMTPDataError",), K.VALIDATION, "format_other"),
        ("530 Login incorrect.", ("ftplib.error_perm",), K.AUTH, "none"),
        ("421 Too busy", ("ftplib.error_temp",), K.TRANSIENT, "none"),
        ("502 Command not implemented.", ("ftplib.error_perm",), K.PERMANENT, "none"),
        (
            "550 /x: No such file or directory",
            ("ftplib.error_perm",),
            K.NOT_FOUND,
            "unknown_resource",
        ),
    ],
)
def test_replies_of_mail_and_file_servers(strategies, text, types, kind, category):
    (found,) = read_report(text, exception=types[0], arguments={"to": "a@b.c", "path": "/x"})
    found = decide(found, strategies, None, {"to": "a@b.c", "path": "/x"})
    assert (found.kind, found.category.value) == (kind, category)


@pytest.mark.parametrize(
    ("message", "blamed"),
    [
        ("limit must be one of 1, 2", ("limit",)),
        ("'limit' should be one of: 1, 2", ("limit",)),
        ("amount must be one of 1, 2", ()),
        ("amount must be positive", ()),
    ],
)
def test_a_parameter_is_blamed_that_the_text_names_and_no_other(message, blamed):
    arguments = {"query": "lamps", "limit": 3}
    (found,) = read_report(message, exception="ValueError", arguments=arguments)
    assert decide(found, load_map(), None, arguments).params == blamed
