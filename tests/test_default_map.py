"""The default map: which rule decides what, and with which ladder."""

from dataclasses import replace

import pytest
from asked import read_report

from selfcorrect.mapping.ladders import leaves_open
from selfcorrect.mapping.linting import example_finding, lint
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.patterns import compile_pattern, window
from selfcorrect.mapping.registry import built_in_names
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Category, ErrorKind, Finding, Safety
from selfcorrect.tools import ToolSpec

K, C = ErrorKind, Category


@pytest.fixture(scope="module")
def default():
    return load_map("default")


def test_every_rule_of_words_has_an_example_and_wins_it(default):
    words = [placed for placed in default.rules if placed.rule.match]
    assert [placed.id for placed in words if not placed.rule.example] == []
    assert lint(default) == []


def test_every_ladder_is_made_of_built_in_strategies(default):
    for placed in default.rules:
        assert default.ladder(placed.id)
        assert set(default.ladder(placed.id)) <= set(built_in_names())


def test_the_default_map_marks_nothing_sensitive_and_ends_no_run(default):
    assert (default.policy.sensitive, default.policy.terminal, default.policy.allow) == (None,) * 3
    assert default.limits == {}
    assert default.effects == {}


TABLE = [
    # The nine rows that the blog post's table has: error, text → strategy, priority.
    (400, None, "Invalid date format for 'departure_date'", "date-format", "format-date", "high"),
    (400, None, "Missing required parameter 'passengers'", "missing-parameter", None, "high"),
    (400, None, "Value for 'passengers' must be >= 1", "below-minimum", None, "medium"),
    (
        400,
        None,
        "Value for 'class' must be one of ['economy', 'business', 'first']",
        "not-allowed-value",
        "correct-enum",
        "high",
    ),
    # "Low" in the post: here that is left to what no rule of a system speaks of, and this one does.
    (404, None, "Flight for given route not found", "no-route", "adjust-date", "medium"),
    (401, None, "Invalid API Key", "unauthorized", "give-up", "critical"),
    (500, None, "Internal Server Error", "told/internal-server-error", "wait", "medium"),
    (
        None,
        "VALIDATION_ERROR",
        "Parameter 'passengers' has invalid type 'string'",
        "wrong-type",
        "convert-type",
        "high",
    ),
    (
        None,
        "VALIDATION_ERROR",
        "Parameter 'phone' does not match pattern '^\\+1'",
        "wrong-pattern",
        "correct-format",
        "high",
    ),
]


@pytest.mark.parametrize(("status", "code", "text", "rule", "strategy", "priority"), TABLE)
def test_the_rows_of_the_table(default, status, code, text, rule, strategy, priority):
    decided = default.decide(replace(read_report(text, status=status)[0], status=status, code=code))
    assert decided.rule == (rule if "/" in rule else f"default/{rule}")
    assert default.rule(decided.rule).priority == priority
    assert strategy is None or strategy in decided.ladder


@pytest.mark.parametrize(
    ("text", "rule", "category", "captures"),
    [
        (
            "Invalid date format for 'departure_date'",
            "date-format",
            C.FORMAT_DATE,
            {"param": "departure_date"},
        ),
        (
            "Parameter 'return_date' has invalid date format. Expected YYYY-MM-DD.",
            "date-format-of",
            C.FORMAT_DATE,
            {"param": "return_date"},
        ),
        (
            "Missing required parameter 'passengers'",
            "missing-parameter",
            C.MISSING_PARAM,
            {"param": "passengers"},
        ),
        (
            "missing required parameter: passengers[0].age",
            "missing-parameter",
            C.MISSING_PARAM,
            {"param": "passengers[0].age"},
        ),
        (
            "'origin' is a required property",
            "missing-parameter-of",
            C.MISSING_PARAM,
            {"param": "origin"},
        ),
        (
            "Value for 'passengers' must be >= 1.",
            "below-minimum",
            C.RANGE,
            {"param": "passengers", "minimum": "1"},
        ),
        (
            "Parameter 'price' must be at most 99.50",
            "above-maximum",
            C.RANGE,
            {"param": "price", "maximum": "99.50"},
        ),
        (
            "Value for 'class' must be one of [economy, first]",
            "not-allowed-value",
            C.ENUM,
            {"param": "class", "allowed": "[economy, first]"},
        ),
        (
            "Parameter passengers has invalid type string",
            "wrong-type",
            C.WRONG_TYPE,
            {"param": "passengers", "got": "string"},
        ),
        (
            "Parameter 'x' must be an integer.",
            "wrong-type-of",
            C.WRONG_TYPE,
            {"param": "x", "expected": "integer"},
        ),
        (
            "Parameter 'x' does not match pattern: ^a",
            "wrong-pattern",
            C.FORMAT_PATTERN,
            {"param": "x"},
        ),
        ("Flight for given route not found", "no-route", C.UNKNOWN_RESOURCE, {}),
    ],
)
@pytest.mark.parametrize(
    "types",
    [
        (),
        ("ValueError", "Exception"),
        ("LookupError", "Exception"),
        ("selfcorrect.errors.ToolReportedError", "Exception"),
    ],
)
def test_tools_that_say_it_in_words(default, types, text, rule, category, captures):
    decided = default.decide(Finding(text, types))
    assert (decided.rule, decided.category) == (f"default/{rule}", category)
    assert decided.captures == captures
    if "param" in captures:
        assert len(decided.paths) == 1


def test_what_the_words_say_becomes_a_constraint(default):
    text = "Value for 'class' must be one of ['economy', 'business', 'first']"
    assert default.decide(Finding(text)).constraint == {"enum": ["economy", "business", "first"]}
    assert default.decide(Finding("Value for 'x' must be >= 1")).constraint == {"minimum": 1}
    assert default.decide(Finding("Value for 'x' must be <= 9")).constraint == {"maximum": 9}


KEYWORDS = {
    "required": ("required", C.MISSING_PARAM),
    "dependentRequired": ("required", C.MISSING_PARAM),
    "additionalProperties": ("unknown-argument", C.EXTRA_PARAM),
    "unevaluatedProperties": ("unknown-argument", C.EXTRA_PARAM),
    "propertyNames": ("unknown-argument", C.EXTRA_PARAM),
    "type": ("type", C.WRONG_TYPE),
    "enum": ("enum", C.ENUM),
    "const": ("enum", C.ENUM),
    "format": ("format", C.FORMAT_OTHER),
    "pattern": ("pattern", C.FORMAT_PATTERN),
    "minimum": ("range", C.RANGE),
    "maximum": ("range", C.RANGE),
    "exclusiveMinimum": ("range", C.RANGE),
    "exclusiveMaximum": ("range", C.RANGE),
    "multipleOf": ("range", C.RANGE),
    "minLength": ("length", C.LENGTH),
    "maxLength": ("length", C.LENGTH),
    "minItems": ("length", C.LENGTH),
    "maxItems": ("length", C.LENGTH),
    "uniqueItems": ("items", C.LENGTH),
    "items": ("items", C.LENGTH),
    "prefixItems": ("items", C.LENGTH),
    "unevaluatedItems": ("items", C.LENGTH),
    "contains": ("items", C.LENGTH),
    "minContains": ("items", C.LENGTH),
    "maxContains": ("items", C.LENGTH),
    "minProperties": ("items", C.LENGTH),
    "maxProperties": ("items", C.LENGTH),
    "anyOf": ("alternatives", C.WRONG_TYPE),
    "oneOf": ("alternatives", C.WRONG_TYPE),
    "allOf": ("alternatives", C.WRONG_TYPE),
    "not": ("alternatives", C.WRONG_TYPE),
    "if": ("alternatives", C.WRONG_TYPE),
    "dependentSchemas": ("alternatives", C.WRONG_TYPE),
    "json": ("invalid-args", C.NONE),
}


@pytest.mark.parametrize(("keyword", "expected"), KEYWORDS.items())
def test_every_keyword_of_json_schema_has_its_rule(default, keyword, expected):
    decided = default.decide(
        Finding("argument 'a.b': says something", ("InvalidArgs",), code=keyword), "search"
    )
    assert decided.rule == f"default/{expected[0]}"
    assert (decided.category, decided.kind) == (expected[1], K.VALIDATION)


SCHEMA = {
    "type": "object",
    "properties": {
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "mail": {"type": "string", "format": "email"},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "cabin": {"enum": ["economy", "first"]},
        "number": {"type": "integer", "minimum": 1, "maximum": 9},
        "size": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 5},
        "note": {"type": "string", "maxLength": 3},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        "either": {"anyOf": [{"type": "integer"}, {"type": "array"}]},
    },
    "required": ["day"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("args", "rule"),
    [
        ({}, "required"),
        ({"other": 1}, "unknown-argument"),
        ({"day": 3}, "type"),
        ({"day": "soon"}, "format-date"),
        ({"at": "soon"}, "format-time"),
        ({"mail": "nobody"}, "format"),
        ({"code": "abc"}, "pattern"),
        ({"cabin": "class"}, "enum"),
        ({"number": 0}, "range"),
        ({"number": 10}, "range"),
        ({"size": 0}, "range"),
        ({"size": 7}, "range"),
        ({"note": "long"}, "length"),
        ({"tags": []}, "length"),
        ({"tags": ["a", "a"]}, "items"),
        ({"either": "x"}, "type"),
    ],
)
def test_what_our_own_check_says_meets_the_rule_of_its_keyword(default, args, rule):
    spec = ToolSpec.from_schema(
        {"name": "t", "description": "", "parameters": SCHEMA}, call=lambda **_: None
    )
    found = spec.violations({"day": "2024-01-01"} | args if args else {})
    assert [default.decide(item, "t").rule for item in found] in (
        [f"default/{rule}"],
        ["default/alternatives"],
    )


@pytest.mark.parametrize(
    ("types", "code", "rule", "ladder"),
    [
        (("UnknownTool",), "unknown_tool", "unknown-tool", ("rename-tool",)),
        (
            ("MalformedCall",),
            "malformed_json",
            "malformed-json",
            ("fix-json", "ask-model", "give-up"),
        ),
        (
            ("MalformedCall",),
            "wrapped_text",
            "malformed-json",
            ("fix-json", "ask-model", "give-up"),
        ),
        (("MalformedCall",), "several_calls", "malformed-call", ("give-up",)),
        (("MalformedCall",), "no_call", "malformed-call", ("give-up",)),
    ],
)
def test_calls_that_are_none(default, types, code, rule, ladder):
    decided = default.decide(Finding("what it says", types, code=code), "find_hotel")
    assert (decided.rule, decided.ladder) == (f"default/{rule}", ladder)


def test_nobody_is_asked_about_a_tool_that_does_not_exist(default):
    assert not {"ask-model", "ask-human", "infer-missing"} & {
        *default.ladder("default/unknown-tool")
    }


def test_lossy_changes_are_allowed_for_numbers_and_for_missing_values_only(default):
    for placed in default.rules:
        if Safety.LOSSY in placed.rule.allow:
            assert placed.rule.category in (C.RANGE, C.MISSING_PARAM)


STATUS_KINDS = {
    K.TIMEOUT: [408, 504],
    K.TRANSIENT: [425, 500, 502, 503, 529, 599],
    K.PERMANENT: [405, 406, 451, 501, 505, 418],
    K.RATE_LIMIT: [429],
    K.VALIDATION: [400, 413, 414, 415, 416, 422, 428],
    K.QUOTA: [402, 507],
    K.AUTH: [401, 403],
    K.NOT_FOUND: [404, 410],
    K.CONFLICT: [409, 412, 423],
}


@pytest.mark.parametrize(
    ("status", "kind"), [(s, kind) for kind, statuses in STATUS_KINDS.items() for s in statuses]
)
def test_the_kind_of_a_status(default, status, kind):
    (finding,) = read_report("something happened", status=status)
    assert default.decide(finding).kind is kind


@pytest.mark.parametrize(
    ("finding", "rule", "first"),
    [
        (Finding("x", status=429, kind=K.RATE_LIMIT), "statuses/later", "wait"),
        (Finding("Your monthly limit is reached", status=429), "told/quota-text", "give-up"),
        (Finding("x", status=429, code="insufficient_quota"), "codes/quota", "give-up"),
        (Finding("API rate limit exceeded", status=403), "told/rate-limit-text", "wait"),
        (
            Finding("Rate exceeded", status=400, code="ThrottlingException"),
            "codes/rate-limit",
            "wait",
        ),
        (Finding("x", status=423), "statuses/lock-conflict", "wait"),
        (
            Finding("database is locked", ("sqlite3.OperationalError", "Exception")),
            "told/locked",
            "wait",
        ),
        (Finding("x", status="UNAVAILABLE"), "statuses/transient", "wait"),
        (Finding("x", status="57014"), "statuses/cancelled", "give-up"),
        (Finding("x", status="40P01"), "statuses/transient", "wait"),
        (Finding("x", status="55P03"), "statuses/lock-conflict", "wait"),
        (
            Finding("x", ("ConnectionRefusedError", "ConnectionError", "OSError")),
            "classes/transient",
            "wait",
        ),
        (Finding("x", ("TimeoutError", "OSError", "Exception")), "classes/timeout", "wait"),
        (
            Finding("certificate verify failed", ("httpx.ConnectError", "httpx.TransportError")),
            "certificate",
            "give-up",
        ),
        (Finding("x", status=404), "statuses/unknown-resource", "correct-enum"),
        (
            Finding("x", ("ValueError", "Exception"), kind=K.VALIDATION),
            "bad-value",
            "rename-argument",
        ),
        (Finding("x", status=400, kind=K.VALIDATION), "bad-request", "rename-argument"),
        (
            Finding("x", status=400, kind=K.VALIDATION, category=C.ENUM),
            "bad-request",
            "convert-type",
        ),
        (Finding("x", code="VALIDATION_ERROR"), "validation-code", "rename-argument"),
        (Finding("x", ("RuntimeError", "Exception")), "unknown-error", "give-up"),
        (Finding(""), "unknown-error", "give-up"),
        (Finding("x", status=1), "unknown-error", "give-up"),
        (Finding("x", kind=K.TRANSIENT), "unknown-error", "wait"),
    ],
)
def test_other_errors(default, finding, rule, first):
    decided = default.decide(finding)
    full = rule if "/" in rule else f"default/{rule}"
    assert (decided.rule, decided.ladder[0]) == (full, first)


def test_waiting_is_never_tried_before_mending(default):
    for placed in default.rules:
        ladder = default.ladder(placed.id)
        assert leaves_open(placed.rule) or "wait" not in ladder or ladder == ("wait", "give-up")


def test_a_lock_is_a_conflict_that_is_retryable(default):
    for name in ("told/locked", "statuses/lock-conflict"):
        rule = default.rule(name)
        assert (rule.kind, rule.retryable) == (K.CONFLICT, True)


def test_a_wait_that_the_text_names_is_read(default):
    finding = Finding("Too many requests, retry after 20 seconds", status=429)
    assert default.decide(finding).retry_after == 20
    in_minutes = Finding("Too many requests, retry after 20 minutes", status=429)
    assert default.decide(in_minutes).retry_after is None


def test_a_rule_of_ones_own_comes_before_the_default_ones():
    mine = StrategyMap(
        [ErrorRule(id="mine", error="InvalidArgs", code="required", repair="give-up")],
        extends="default",
    )
    finding = Finding("missing required argument 'x'", ("InvalidArgs",), code="required")
    assert mine.decide(finding).rule == "own/mine"
    assert mine.decide(Finding("", status=500)).rule == "statuses/later"


def test_the_default_map_means_the_same_without_google_re2(default, monkeypatch):
    monkeypatch.setattr("selfcorrect.mapping.patterns.has_linear_engine", lambda: False)
    fallback = StrategyMap.load("default")
    for placed in default.rules:
        if placed.rule.match is not None:
            text = window(example_finding(placed.rule, placed.rule.example[0])[0].text)
            pattern = compile_pattern(placed.rule.match, built_in=True)
            assert pattern.captures(text) is not None
        for example in placed.rule.example:
            finding, tool = example_finding(placed.rule, example)
            assert fallback.decide(finding, tool) == default.decide(finding, tool)
