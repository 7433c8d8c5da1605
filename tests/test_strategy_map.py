"""What a map decides: conditions, order, outcomes, explanations, hostile text, many rules."""

import json
import random
import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.errors import MapError, StrategyNotFound
from selfcorrect.json_forms import finding_from_json, to_json
from selfcorrect.mapping.explanation import Missed
from selfcorrect.mapping.linting import lint
from selfcorrect.mapping.matching import error_names, status_names
from selfcorrect.mapping.patterns import (
    LONGEST_CAPTURE,
    WINDOW,
    PatternError,
    PatternSet,
    compile_pattern,
    has_linear_engine,
    window,
)
from selfcorrect.mapping.registry import strategy
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Category, ErrorKind, Finding, GiveUp, Safety, Source

linear = pytest.mark.skipif(not has_linear_engine(), reason="google-re2 is not installed")


def nothing(call, diagnosis, context):
    return GiveUp("")


def rules(*items, **more):
    return StrategyMap(
        [ErrorRule(**{"id": f"r{n}", "repair": "a"} | item) for n, item in enumerate(items)],
        use={"a": nothing, "b": nothing, "c": nothing},
        **more,
    )


def winner(strategies, finding, tool=None):
    return strategies.decide(finding, tool).rule


HTTP = ("httpx.HTTPStatusError", "httpx.HTTPError", "Exception", "BaseException", "object")


# --- conditions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "finding", "tool", "holds"),
    [
        ({"tool": "book_*"}, Finding(""), "book_flight", True),
        ({"tool": "book_*"}, Finding(""), "rebook_flight", False),
        ({"tool": "book_*"}, Finding(""), None, False),
        ({"tool": ["a", "b?"]}, Finding(""), "bx", True),
        ({"tool": "a[bc]"}, Finding(""), "ac", True),
        ({"tool": "Book"}, Finding(""), "book", False),
        ({"error": "HTTPStatusError"}, Finding("", HTTP), None, True),
        ({"error": "httpx.HTTPStatusError"}, Finding("", HTTP), None, True),
        ({"error": "httpx.HTTPError"}, Finding("", HTTP), None, True),
        ({"error": "StatusError"}, Finding("", HTTP), None, False),
        ({"error": "x.HTTPError"}, Finding("", HTTP), None, False),
        ({"error": "Exception"}, Finding("", HTTP), None, True),
        ({"error": ["KeyError", "HTTPError"]}, Finding("", HTTP), None, True),
        ({"error": "builtins.ValueError"}, Finding("", ("ValueError",)), None, True),
        ({"error": "ValueError"}, Finding("", ("builtins.ValueError",)), None, True),
        ({"error": "Exception"}, Finding(""), None, False),
        ({"status": 404}, Finding("", status=404), None, True),
        ({"status": 404}, Finding("", status="404"), None, True),
        ({"status": "404"}, Finding("", status=404), None, True),
        ({"status": "4xx"}, Finding("", status=404), None, True),
        ({"status": "4xx"}, Finding("", status=503), None, False),
        ({"status": ["5xx", 404]}, Finding("", status=503), None, True),
        ({"status": "23xxx"}, Finding("", status="23505"), None, True),
        ({"status": "23505"}, Finding("", status="23505"), None, True),
        ({"status": "UNAVAILABLE"}, Finding("", status="UNAVAILABLE"), None, True),
        ({"status": "UNxxx"}, Finding("", status="UNABC"), None, False),
        ({"status": "1xx"}, Finding("", status=1), None, False),
        ({"status": 1}, Finding("", status=1), None, True),
        ({"status": "5xx"}, Finding("", status=53), None, False),
        ({"status": "5xx"}, Finding("", status=599_000), None, False),
        ({"status": 404}, Finding(""), None, False),
        ({"code": ["A", "B"]}, Finding("", code="B"), None, True),
        ({"code": "b"}, Finding("", code="B"), None, False),
        ({"code": "B"}, Finding(""), None, False),
        ({"match": "no flight"}, Finding("there is no flight today"), None, True),
        ({"match": "^flight"}, Finding("no flight"), None, False),
        ({"match": "(?i)NO FLIGHT"}, Finding("no flight"), None, True),
        ({"tool": "t", "status": 404, "code": "C"}, Finding("", status=404, code="C"), "t", True),
        ({"tool": "t", "status": 404, "code": "C"}, Finding("", status=404, code="D"), "t", False),
        ({}, Finding("anything"), None, True),
    ],
)
def test_all_conditions_present_must_hold(condition, finding, tool, holds):
    strategies = rules(condition)
    assert winner(strategies, finding, tool) == ("own/r0" if holds else None)
    assert bool(strategies.explain(finding, tool).matches) is holds


def test_integers_below_100_are_never_http_statuses():
    for status in range(-1, 100):
        assert status_names(status) == {str(status)}


def test_names_of_hostile_types_are_bounded():
    assert len(error_names(["a." * 100_000] * 10_000)) < 2_000


# --- order ----------------------------------------------------------------------------------------


def test_the_first_match_decides_kind_and_ladder():
    strategies = rules(
        {"match": "flight", "kind": "not_found", "repair": ["a", "b"]},
        {"match": "no", "kind": "conflict", "repair": "c"},
    )
    decided = strategies.decide(Finding("no flight"))
    assert (decided.rule, decided.kind, decided.ladder) == (
        "own/r0",
        ErrorKind.NOT_FOUND,
        ("a", "b"),
    )


def test_priority_comes_before_file_order():
    words = ["low", "medium", "high", "critical", "medium"]
    strategies = rules(*({"priority": word} for word in words))
    assert [rule.id for rule in strategies.rules] == [f"own/r{n}" for n in (3, 2, 1, 4, 0)]


def test_every_match_is_kept_for_explain():
    strategies = rules({"match": "x"}, {"match": "b"}, {"match": "a"}, {"match": "c"}, {})
    explained = strategies.explain(Finding("abc"))
    assert explained.finding.rule == "own/r1"
    assert explained.matches == ("own/r1", "own/r2", "own/r3", "own/r4")


def test_explain_names_the_first_condition_that_failed_of_each_earlier_rule():
    strategies = rules(
        {"tool": "x", "match": "nope"},
        {"error": "KeyError"},
        {"status": 404},
        {"code": "C", "match": "nope"},
        {"match": "nope"},
        {"match": "(?P<hint>yes)"},
        {"match": "nope"},
    )
    explained = strategies.explain(Finding("yes", ("ValueError",), status=400), "t")
    assert explained.missed == tuple(
        Missed(f"own/r{n}", what)
        for n, what in enumerate(["tool", "error", "status", "code", "match"])
    )
    assert explained.finding.captures == {"hint": "yes"}


CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "tool": st.sampled_from(["t", "u", "t*", "*"]),
        "error": st.sampled_from(["E", "m.E", "F", ["E", "F"]]),
        "status": st.sampled_from([404, "4xx", "5xx", ["5xx", 404]]),
        "code": st.sampled_from(["C", ["C", "D"]]),
        "match": st.sampled_from(["a", "a.*b", "b$", "(?i)B", r"\d", "^", "zz"]),
        "priority": st.sampled_from(["low", "high", "medium"]),
    },
)
FINDINGS = st.builds(
    Finding,
    text=st.text("abB1 \n", max_size=8),
    types=st.sampled_from([(), ("m.E", "Exception"), ("F",), ("x.y.F", "m.E")]),
    status=st.sampled_from([None, 404, 500, "404", 7]),
    code=st.sampled_from([None, "C", "D"]),
)


@given(st.lists(CONDITIONS, max_size=40), FINDINGS, st.sampled_from([None, "t", "u", "tt"]))
def test_the_index_finds_what_trying_every_rule_finds(conditions, finding, tool):
    strategies = rules(*conditions)
    explained = strategies.explain(finding, tool)
    assert winner(strategies, finding, tool) == next(iter(explained.matches), None)
    ranks = [rule.rule.rank for rule in strategies.rules]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(conditions)
    best = min((strategies.rule(match).rank for match in explained.matches), default=None)
    assert best is None or strategies.rule(explained.finding.rule).rank == best


# --- outcomes -------------------------------------------------------------------------------------


def test_an_outcome_that_is_absent_leaves_what_the_evidence_said():
    finding = Finding(
        "busy", kind=ErrorKind.CONFLICT, category=Category.DUPLICATE, constraint={"minimum": 1}
    )
    decided = rules({"match": "busy"}).decide(finding)
    told = replace(finding, rule="own/r0", ladder=("a",))
    assert decided == replace(told, confidence=1.0, witness=Source.RULE)


def test_without_a_match_the_finding_stays_as_it_was():
    finding = Finding("other", kind=ErrorKind.AUTH)
    assert rules({"match": "busy"}).decide(finding) == finding
    earlier = replace(finding, rule="old/x", ladder=("a",), captures={"a": "b"})
    assert rules({"match": "busy"}).decide(earlier) == finding


def test_named_groups_that_took_part_are_the_captures():
    strategies = rules({"match": r"(?:no (?P<hint>\w+)|on (?P<got>\d+))"})
    assert strategies.decide(Finding("on 12")).captures == {"got": "12"}


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"'(?P<param>[\w.]+)' is", "'a.b' is bad", {"paths": ("/args/a/b",)}),
        (r"after (?P<seconds>[\d.]+)", "after 2.5 s", {"retry_after": 2.5}),
        (r"after (?P<seconds>\w+)", "after noon", {"retry_after": None}),
        (r"mean (?P<hint>\w+)", "mean search", {"suggestions": ("search",)}),
        (r">= (?P<minimum>\d+)", ">= 3", {"constraint": {"minimum": 3}}),
        (r"of \[(?P<allowed>[^\]]*)\]", "of ['a', 'b']", {"constraint": {"enum": ["a", "b"]}}),
        (r"expected (?P<expected>\w+)", "expected integer", {"constraint": {"type": "integer"}}),
    ],
)
def test_conventional_groups_fill_in_what_the_evidence_left_open(pattern, text, expected):
    decided = rules({"match": pattern}).decide(Finding(text))
    for name, value in expected.items():
        assert getattr(decided, name) == value


def test_captures_never_overrule_the_evidence():
    strategies = rules(
        {"match": r"(?P<param>\w+) (?P<seconds>\d+) (?P<hint>\w+) (?P<minimum>\d+)", "params": "z"}
    )
    finding = Finding(
        "a 5 b 6",
        paths=("/args/q",),
        retry_after=1.0,
        suggestions=("s",),
        constraint={"maximum": 2},
    )
    decided = strategies.decide(finding)
    assert decided.paths == ("/args/q",)
    assert (decided.retry_after, decided.suggestions) == (1.0, ("s",))
    assert decided.constraint == {"maximum": 2}


def test_params_serve_where_neither_evidence_nor_capture_names_a_place():
    strategies = rules({"match": r"bad(?: (?P<param>\w+))?", "params": ["x.y", "/args/z"]})
    assert strategies.decide(Finding("bad")).paths == ("/args/x/y", "/args/z")
    assert strategies.decide(Finding("bad w")).paths == ("/args/w",)
    assert strategies.decide(Finding("bad", paths=("/name",))).paths == ("/name",)


def test_what_a_map_decides_survives_a_checkpoint():
    strategies = rules({"match": r"(?P<param>\w+) (?P<seconds>\d+)", "kind": "rate_limit"})
    decided = strategies.decide(Finding("a 5"))
    assert finding_from_json(json.loads(json.dumps(to_json(decided)))) == decided


# --- strategies, effects, policy ------------------------------------------------------------------


@strategy("pick", safety=["inferred"])
def pick(call, diagnosis, context, *, first: int = 0):
    return GiveUp(f"pick {first}")


class Picker:
    def __call__(self, call, diagnosis, context):
        return GiveUp("picker")


def test_a_ladder_in_python_may_hold_strategies():
    strategies = StrategyMap(
        [
            ErrorRule(id="x", repair=[pick, Picker(), "late"], options={"pick": {"first": 2}}),
            ErrorRule(id="y", repair=pick),
        ],
        use={"late": nothing},
    )
    assert strategies.decide(Finding("")).ladder == ("pick", "picker", "late")
    assert strategies.strategy("own/x", "pick")(None, None, None) == GiveUp("pick 2")
    assert strategies.strategy("own/y", "pick")(None, None, None) == GiveUp("pick 0")
    assert strategies.strategy("own/x", "pick").safety == (Safety.INFERRED,)


def test_two_strategies_of_one_name_on_a_ladder_are_refused():
    with pytest.raises(MapError, match="two strategies on the ladder are named 'picker'"):
        StrategyMap([ErrorRule(id="x", repair=[Picker(), Picker()])])


@pytest.mark.parametrize(
    ("rule", "name"), [("own/r0", "b"), ("own/r9", "a"), (None, "a"), ("", "")]
)
def test_a_strategy_that_is_not_on_the_ladder_is_not_found(rule, name):
    with pytest.raises(StrategyNotFound):
        rules({"repair": "a"}).strategy(rule, name)


def test_use_may_hold_a_class_a_function_or_a_factory():
    strategies = StrategyMap(
        [ErrorRule(id="x", repair=["c", "f", "m"], options={"m": {"n": 1}, "f": {"first": 3}})],
        use={"c": Picker, "f": pick, "m": lambda *, n: lambda c, d, x: GiveUp(str(n))},
    )
    said = [strategies.strategy("own/x", name)(None, None, None) for name in ("c", "f", "m")]
    assert said == [GiveUp("picker"), GiveUp("pick 3"), GiveUp("1")]


def test_a_rule_may_allow_more_classes():
    strategies = rules({"allow": ["lossy"]})
    assert strategies.allowed("own/r0") == {Safety.LOSSY}
    assert strategies.allowed("own/none") == strategies.allowed(None) == frozenset()


def test_effects_by_name_then_by_the_first_glob():
    strategies = rules(
        effects={"get_*": "read_only", "*": "idempotent", "get_and_burn": "destructive"}
    )
    assert strategies.effect_of("get_user") == "read_only"
    assert strategies.effect_of("get_and_burn") == "destructive"
    assert strategies.effect_of("other") == "idempotent"
    assert rules(effects={"a": "mutating"}).effect_of("b") is None


def test_limits_and_policy_are_what_the_map_says():
    strategies = rules(limits={"attempts": 50}, policy={"terminal": ["auth"]})
    assert strategies.limits == {"attempts": 50}
    assert strategies.policy.terminal == (ErrorKind.AUTH,)
    assert strategies.policy.allow is None


def test_rules_can_be_looked_up():
    strategies = rules({"kind": "auth"})
    assert strategies.rule("own/r0").kind is ErrorKind.AUTH
    assert strategies.rule("r0") is None
    assert strategies.rule(None) is None


# --- text that means no good ----------------------------------------------------------------------


def test_only_both_ends_of_a_text_are_read():
    text = "HEAD" + "x" * (WINDOW - 4) + "MIDDLE" + "y" * 100_000 + "z" * (WINDOW - 4) + "TAIL"
    read = window(text)
    assert read.startswith(b"HEAD")
    assert read.endswith(b"TAIL")
    assert b"MIDDLE" not in read
    assert b"100006 characters not read" in read
    assert rules({"match": "MIDDLE"}).decide(Finding(text)).rule is None
    assert rules({"match": "TAIL$"}).decide(Finding(text)).rule == "own/r0"
    assert rules({"match": "x$"}).decide(Finding(text)).rule is None


def test_no_capture_reaches_across_what_was_not_read():
    text = "a'" + "b" * 40_000 + "c" * 100_000 + "d" * 40_000 + "'"
    decided = rules({"match": "(?s)a'(?P<hint>[^']*)'"}).decide(Finding(text))
    assert decided.rule == "own/r0"
    assert decided.captures == {}


def test_a_capture_is_bounded():
    decided = rules({"match": "(?P<hint>b+)"}).decide(Finding("b" * (LONGEST_CAPTURE + 1)))
    assert decided.captures == {}


@pytest.mark.parametrize(
    "text",
    [
        "a\0b c",
        "\ud800b c",
        "b\udfff c",
        "€" * 50_000 + "b c",
        "b c" + "😀" * 70_000,
        "\x1b[31mb c",
    ],
)
def test_any_text_can_be_read(text):
    decided = rules({"match": "(?P<hint>b c|. c)"}).decide(Finding(text))
    assert decided.rule == "own/r0"
    json.dumps(to_json(decided)).encode()


def test_a_window_never_cuts_a_character():
    for text in ("€" * 100_000, "a" + "😀" * 100_000, "ab" + "é" * 100_000):
        window(text).decode("utf-8")


@linear
@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "no flight from " * 700_000,
        "(" * 10_000_000,
        "\ud800" * 5_000_000,
        "a b " * 2_500_000,
        "missing required parameter '" * 300_000,
    ],
    ids=["x", "phrase", "brackets", "surrogates", "words", "half-match"],
)
def test_ten_megabytes_take_no_time(text):
    strategies = StrategyMap(
        [
            ErrorRule(id=f"r{n}", match=f"(?i)no flight .* on {n}|missing .*'{n}", repair="a")
            for n in range(100)
        ],
        use={"a": nothing},
    )
    strategies.decide(Finding("warm"))
    started = time.perf_counter()
    strategies.decide(Finding(text))
    assert time.perf_counter() - started < 0.5  # ten times the target, for a busy machine


# --- patterns -------------------------------------------------------------------------------------


@linear
@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?=x)", "look-ahead"),
        ("(?!x)", "look-ahead"),
        ("(?<=x)y", "look-behind"),
        ("(?<!x)y", "look-behind"),
        (r"(a)\1", "back-references"),
        ("(", "missing )"),
        ("a{2000}", "repetition size"),
        (r"\pL{50}", "too large"),
        ("(?P<a>x)|(?P<a>y)", "two groups are named 'a'"),
        ("x" * 5_000, "longer than"),
    ],
    ids=ascii,
)
def test_a_pattern_that_cannot_run_in_linear_time_is_refused_with_its_rule(pattern, why, capfd):
    with pytest.raises(MapError) as caught:
        rules({"id": "bad", "match": pattern})
    (fault,) = caught.value.faults
    assert (fault.rule, fault.key) == ("bad", "match")
    assert why in fault.message
    assert capfd.readouterr() == ("", "")


@linear
def test_a_pattern_must_be_unicode():
    with pytest.raises(PatternError, match="lone surrogate"):
        compile_pattern("\ud800")


@linear
def test_nested_repetition_is_harmless():
    pattern = compile_pattern("(x+x+)+y")
    started = time.perf_counter()
    assert pattern.captures(b"x" * 65_000) is None
    assert time.perf_counter() - started < 0.5


PATTERNS = st.sampled_from(
    ["a", "b+c", "(?i)AB", "a.*b", "^a", "b$", r"\d+", r"\bab\b", "a|c", "[^a]b", "é", "."]
)


@linear
@given(st.lists(PATTERNS, max_size=12), st.text("abcAB1é \n", max_size=20))
def test_many_patterns_match_as_each_does_alone(sources, text):
    patterns = [compile_pattern(source) for source in sources]
    data = window(text)
    alone = [n for n, pattern in enumerate(patterns) if pattern.captures(data) is not None]
    assert PatternSet(patterns).matching(data) == alone


@linear
def test_half_matches_do_not_drown_the_real_one(capfd):
    patterns = [compile_pattern(rf"(?i)no w{n} .* on (?P<got>\d{{4}})-{n}\b") for n in range(500)]
    text = " ".join(f"no w{n} no w{n}" for n in range(500)) * 5 + " on 2024-77"
    many = PatternSet(patterns)
    started = time.perf_counter()
    assert many.matching(window(text)) == [77]
    assert time.perf_counter() - started < 2
    assert capfd.readouterr() == ("", "")


def test_without_the_engine_only_built_in_patterns_run(monkeypatch):
    monkeypatch.setattr("selfcorrect.mapping.patterns.has_linear_engine", lambda: False)
    with pytest.raises(PatternError, match="google-re2 is not installed"):
        compile_pattern("a")
    pattern = compile_pattern(r"(?i)no (?P<hint>\w+)", built_in=True)
    assert pattern.captures("NO fliGHT é".encode()) == {"hint": "fliGHT"}
    assert PatternSet([pattern]).matching(b"no x") == [0]
    with pytest.raises(MapError, match="google-re2 is not installed"):
        rules({"match": "a"})


# --- many rules -----------------------------------------------------------------------------------


def many_rules(number):
    kinds = random.Random(1)
    return [
        ErrorRule(
            id=f"r{n}",
            repair="a",
            kind="validation",
            **[
                {"match": rf"(?i)\bwidget{n} (?P<hint>\w+) must be one of"},
                {"error": f"pkg{n % 97}.Error{n}"},
                {"code": f"CODE_{n}"},
                {"tool": f"tool_{n}_*", "status": 400, "match": f"part {n} is missing"},
            ][kinds.randrange(4)],
        )
        for n in range(number)
    ]


def test_five_thousand_rules_load_and_each_is_found():
    strategies = StrategyMap(many_rules(5_000), use={"a": nothing})
    for number in range(0, 5_000, 97):
        rule = strategies.rule(f"own/r{number}")
        finding = Finding(
            f"widget{number} x must be one of; part {number} is missing",
            rule.error,
            status=400,
            code=rule.code[0] if rule.code else None,
        )
        assert winner(strategies, finding, f"tool_{number}_x") == f"own/r{number}"


@pytest.mark.parametrize(
    "common",
    [
        {"status": 400, "match": "item {n} is wrong"},
        {"error": "ValueError", "code": "C{n}"},
        {"tool": "t{n}_*", "error": "ValueError"},
    ],
    ids=["status", "error", "tool"],
)
def test_thousands_of_rules_that_share_a_condition_stay_cheap(common):
    items = [
        {
            key: value.format(n=n) if isinstance(value, str) else value
            for key, value in common.items()
        }
        for n in range(3_000)
    ]
    strategies = rules(*items)
    finding = Finding("item 2999 is wrong", ("ValueError",), status=400, code="C2999")
    assert winner(strategies, finding, "t2999_x") == "own/r2999"
    started = time.perf_counter()
    for _ in range(20):
        strategies.decide(finding, "t2999_x")
    assert (time.perf_counter() - started) / 20 < 0.005


def test_a_rule_that_says_no_kind_leaves_the_kind_alone():
    """Whether a rule below it says one or the error itself; what the rule says stands."""
    strategies = rules(
        {"tool": "pay*", "repair": "b"},
        {"match": "widget", "kind": "conflict", "category": "duplicate", "repair": "c"},
    )
    decided = strategies.decide(Finding("widget is there"), "pay_bill")
    assert (decided.rule, decided.kind, decided.ladder) == ("own/r0", ErrorKind.CONFLICT, ("b",))
    assert strategies.decide(Finding("widget is there"), "look").rule == "own/r1"
    said = Finding("widget is there", kind=ErrorKind.AUTH)
    assert strategies.decide(said, "pay_bill").kind is ErrorKind.AUTH
    assert strategies.decide(Finding("odd"), "pay_bill").kind is ErrorKind.INTERNAL


def test_a_map_serves_many_threads():
    strategies = StrategyMap(many_rules(200), use={"a": nothing})
    finding = Finding("widget1 x must be one of; part 3 is missing", status=400)
    expected = strategies.decide(finding, "tool_3_x")
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.extend(strategies.decide(finding, "tool_3_x") for _ in range(50))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 400


# --- lint -----------------------------------------------------------------------------------------


def found(strategies):
    return [(fault.rule, fault.key, fault.level) for fault in lint(strategies)]


def test_a_sound_map_has_no_faults():
    strategies = rules(
        {"error": "LookupError", "match": "no flight", "example": "KeyError: no flight today"},
        {"tool": "x_*", "status": "5xx", "code": "C", "match": "a", "example": "a"},
        {"example": ["anything", "RuntimeError: else"]},
    )
    assert lint(strategies) == []


def test_an_example_that_another_rule_wins_is_an_error():
    strategies = rules({"match": "flight"}, {"match": "no", "example": "no flight"})
    (fault,) = lint(strategies)
    assert (fault.rule, fault.key, fault.level) == ("r1", "example", "error")
    assert "is decided by 'own/r0'" in fault.message


def test_an_example_that_its_own_rule_does_not_match_is_an_error():
    (fault,) = lint(rules({"match": "flight", "example": "hotel"}))
    assert "does not match its own example" in fault.message


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ({}, {"status": 404}),
        ({"status": "4xx"}, {"status": 404}),
        ({"status": [404, 410]}, {"status": 404, "match": "x"}),
        ({"tool": "book_*"}, {"tool": "book_flight"}),
        ({"tool": "*"}, {"tool": "x_*"}),
        ({"error": "HTTPError"}, {"error": "httpx.HTTPError", "code": "C"}),
        ({"match": "x"}, {"match": "x", "tool": "t"}),
        ({"code": ["A", "B"]}, {"code": "B"}),
    ],
)
def test_a_rule_that_can_never_be_reached(general, special):
    assert found(rules(general, special)) == [("r1", "id", "error")]
    assert found(rules(special, general)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"status": 404}, {"status": [404, 405]}),
        ({"tool": "a*"}, {"tool": "*"}),
        ({"match": "x"}, {"match": "xx"}),
        ({"error": "httpx.HTTPError"}, {"error": "HTTPError"}),
        ({"tool": "t"}, {}),
    ],
)
def test_a_rule_that_can_still_be_reached(one, other):
    assert found(rules(one, other)) == []


def test_a_ladder_that_ends_in_nothing():
    @strategy("guess", safety=["inferred"])
    def guess(call, diagnosis, context):
        return GiveUp("")

    @strategy("ask", needs="model", safety=["model"])
    def ask(call, diagnosis, context):
        return GiveUp("")

    strict = {"policy": {"allow": ["exact"]}, "limits": {"model_calls": 0}}
    one = [ErrorRule(id="x", repair=[guess, ask])]
    assert found(StrategyMap(one, **strict)) == [("x", "repair", "warning")]
    assert found(StrategyMap(one)) == []
    assert found(StrategyMap([ErrorRule(id="x", kind="validation")])) == [
        ("x", "repair", "warning")
    ]
    assert found(StrategyMap([ErrorRule(id="x", kind="auth")])) == []


def test_options_that_hold_themselves_stop_nobody():
    endless = []
    endless.append(endless)
    rule = ErrorRule(id="x", repair="odd", options={"odd": {"value": endless}})
    use = {"odd": lambda call, diagnosis, context, *, value: GiveUp("")}
    assert lint(StrategyMap([rule], use=use)) == []


def test_a_secret_in_a_map_is_found_and_not_repeated():
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # made up
    strategies = StrategyMap(
        [ErrorRule(id="x", repair=[pick], example=f"token {secret} expired")],
    )
    (fault,) = lint(strategies)
    assert (fault.rule, fault.key) == ("x", "example")
    assert secret not in str(fault)


def test_what_a_map_lets_run_holds_for_the_rules_of_the_maps_it_extends():
    own = ErrorRule(id="own", match="x", repair="clamp", allow="lossy")
    strict = StrategyMap([own], extends="default", policy={"allow": ["exact"]})
    assert strict.allowed("own/own") == {Safety.LOSSY}
    assert strict.allowed("default/range") == frozenset()
    assert StrategyMap.load("default").allowed("default/range") == {Safety.LOSSY}
