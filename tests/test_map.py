"""What the maps make of errors, and how maps merge; tables as data."""

import builtins
import json
from dataclasses import dataclass

import pytest
from kit import DATA, table

from selfcorrect.cli.diagnose import explain
from selfcorrect.cli.lint import lint
from selfcorrect.errors import MapError
from selfcorrect.limits import Limits
from selfcorrect.model import ErrorKind, GiveUp, Safety, Wait, own_finding
from selfcorrect.nodes.diagnose import diagnose_fault as diagnose
from selfcorrect.patterns import WINDOW, PatternSet
from selfcorrect.strategy_map.document import ErrorRule
from selfcorrect.strategy_map.registry import BUILT_IN, strategy
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default


def error(text="", *types, status=None, code=None, **more):
    return {"text": text, "types": [*types], "status": status, "code": code, **more}


def mro(cls):
    return [
        f"{each.__module__}.{each.__qualname__}".removeprefix("builtins.") for each in cls.__mro__
    ]


@pytest.fixture(scope="module")
def default():
    return StrategyMap.load()


@pytest.mark.parametrize(
    ("text", "status", "code", "kind", "category", "params", "rungs"), table("map.txt", "seed")
)
def test_each_row_of_the_first_table_is_a_rule(
    default, text, status, code, kind, category, params, rungs
):
    found = diagnose(default, error(text, status=status, code=code))
    assert (found["kind"], found["category"]) == (kind, category)
    assert found["paths"] == [f"/args/{name}" for name in params]
    assert [name for name in found["ladder"] if name in rungs] == rungs


def test_the_first_table_says_which_rule_is_tried_first(default):
    ranks = {
        "critical": ["unauthorized", "unauthorized-text"],
        "high": ["date-format", "missing-parameter", "not-allowed-value", "wrong-type"],
        "medium": ["below-minimum", "server-error"],
        "low": ["no-route", "bad-request"],
    }
    for priority, ids in ranks.items():
        assert {default.rule(f"default/{each}").priority for each in ids} == {priority}


@pytest.mark.parametrize(
    ("status", "kind"),
    [(status, kind) for kind, each in table("map.txt", "statuses") for status in each],
)
def test_a_status_alone_says_the_kind(default, status, kind):
    assert diagnose(default, error("went wrong", status=status))["kind"] == kind


@pytest.mark.parametrize(
    ("text", "code"),
    [("x", "insufficient_quota"), ("daily limit reached", None), ("check your billing", None)],
)
def test_a_used_up_budget_is_no_rate_limit(default, text, code):
    assert diagnose(default, error(text, status=429, code=code))["kind"] == "quota"


@pytest.mark.parametrize(
    ("code", "kind"), [(code, kind) for kind, each in table("map.txt", "codes") for code in each]
)
def test_a_code_alone_says_the_kind(default, code, kind):
    assert diagnose(default, error("went wrong", code=code))["kind"] == kind


@pytest.mark.parametrize(("name", "kind", "category"), table("map.txt", "classes"))
def test_a_class_says_the_kind(default, name, kind, category):
    found = diagnose(default, error("it broke", *mro(getattr(builtins, name))))
    assert (found["kind"], found["category"]) == (kind, category)


def test_a_certificate_is_permanent_and_dns_is_transient(default):
    import socket
    import ssl

    assert diagnose(default, error("x", *mro(ssl.SSLCertVerificationError)))["kind"] == "permanent"
    assert diagnose(default, error("x", *mro(socket.gaierror)))["kind"] == "transient"
    wrapped = error("[SSL: CERTIFICATE_VERIFY_FAILED] failed", "httpx.ConnectError")
    assert diagnose(default, wrapped)["kind"] == "permanent"
    assert diagnose(default, error("x", "httpx.ConnectError"))["kind"] == "transient"


@pytest.mark.parametrize(("kind_of", "code", "kind", "category", "first"), table("map.txt", "own"))
def test_what_the_library_finds_has_a_rule(default, kind_of, code, kind, category, first):
    finding = own_finding(kind_of, code, "`x` must be an integer", "/args/x")
    found = diagnose(default, finding)
    assert (found["kind"], found["category"], found["ladder"][0]) == (kind, category, first)
    assert found["paths"] == ["/args/x"]
    assert found["rule"].startswith("default/")


def test_the_error_names_its_place_before_the_rule_does(default):
    text = "Missing required parameter 'people.0.age'"
    assert diagnose(default, error(text))["paths"] == ["/args/people/0/age"]
    assert diagnose(default, error(text, paths=["/args/y"]))["paths"] == ["/args/y"]


def test_a_wait_is_read_from_the_text_where_the_error_names_none(default):
    text = "Rate limit reached. Please try again in 20.5s."
    assert diagnose(default, error(text))["retry_after"] == 20.5
    assert diagnose(default, error(text, retry_after=3.0))["retry_after"] == 3.0
    assert diagnose(default, error("boom"))["retry_after"] is None


def test_lossy_changes_run_on_readers_only_where_a_rule_says_so(default):
    lossy = {each.key for each in default.rules if Safety.LOSSY in each.rule.allow}
    assert {"default/range", "default/required", "default/missing-parameter"} <= lossy
    assert "default/enum" not in lossy


def test_built_in_ladders_name_built_in_strategies(default):
    named = {name for ladder in default.ladders.values() for name in ladder}
    named |= {name for each in default.rules for name in each.rule.repair or ()}
    assert named <= set(BUILT_IN)


@pytest.mark.parametrize("name", ["default", "strict", "operator_safe"])
def test_built_in_maps_have_nothing_to_complain_about(name):
    assert lint(StrategyMap.load(name, allow_code=False)) == []


def test_strict_differs_in_its_policy_only(default):
    strict = StrategyMap.load("strict")
    assert strict.policy.allow == (Safety.EXACT,)
    assert strict.policy.terminal == (ErrorKind.AUTH, ErrorKind.QUOTA, ErrorKind.PERMANENT)
    assert strict.limits == {"attempts": 2, "model_calls": 0}
    assert [each.key for each in strict.rules] == [each.key for each in default.rules]
    assert default.policy.allow is None
    assert default.policy.terminal is None
    assert StrategyMap.load("operator_safe").policy.allow == default.policy.allow


# --- conditions ----------------------------------------------------------------------------------

BOOM = error("boom 7", "httpx.HTTPStatusError", "httpx.HTTPError", status=503, code="NO_SEAT")


@pytest.mark.parametrize(("conditions", "holds"), table("map.txt", "conditions"))
def test_all_conditions_of_a_rule_hold(conditions, holds):
    made = StrategyMap([ErrorRule(id="r", kind="quota", **conditions)])
    assert bool(made.matches(BOOM, "book_flight")) is holds
    assert (diagnose(made, BOOM, "book_flight")["kind"] == "quota") is holds


def test_a_429_without_a_wait_can_mean_quota():
    rule = ErrorRule(id="no-wait", status=429, retry_after=False, kind="quota", priority="high")
    made = StrategyMap([rule], extends="default")
    assert diagnose(made, error("slow down", status=429))["kind"] == "quota"
    assert diagnose(made, error("slow down", status=429, retry_after=1.0))["kind"] == "rate_limit"


def test_both_ends_of_a_long_text_are_read_in_linear_time():
    patterns = PatternSet(["^start", "end$", "middle", r"(a*)*b"])
    long = f"start{'a' * WINDOW}middle{'a' * WINDOW}end"
    assert sorted(patterns.matching(long)) == [0, 1]


@pytest.mark.parametrize("text", ["half \ud800 a character", "\udfff" * 100_000, "\x00", "é" * 99])
def test_any_text_can_be_read(default, text):
    assert diagnose(default, error(text, status=503))["rule"] == "default/server-error"
    assert diagnose(default, error(f"Unauthorized {text}"))["kind"] == "auth"


def test_a_long_capture_is_left_out():
    made = StrategyMap([ErrorRule(id="r", match="(?P<first>a+) (?P<second>b*)(?P<none>c)?")])
    assert diagnose(made, error("a" * 5_000 + " bb"))["captures"] == {"second": "bb"}


def test_what_a_map_makes_of_an_error_is_plain_json(default):
    finding = own_finding("InvalidArgs", "type", "`x` must be an integer", "/args/x", "integer")
    found = diagnose(default, finding)
    assert json.loads(json.dumps(found)) == found
    assert {type(found["kind"]), type(found["category"]), *map(type, found["ladder"])} == {str}
    assert "kind" not in finding


# --- order and ladders ---------------------------------------------------------------------------


def test_the_first_match_decides_and_the_next_ones_complete():
    made = StrategyMap(
        [
            ErrorRule(
                id="low", match="x", priority="low", kind="timeout", category="enum", params="a.0"
            ),
            ErrorRule(id="second", match="x", kind="quota"),
            ErrorRule(id="third", match="x", kind="auth", category="range"),
            ErrorRule(id="first", match="x", priority="high", repair=["wait"]),
        ]
    )
    found = diagnose(made, error("x"))
    assert [each.key for each in made.rules] == ["own/first", "own/second", "own/third", "own/low"]
    assert (found["rule"], found["kind"], found["category"]) == ("own/first", "quota", "range")
    assert (found["paths"], found["ladder"]) == (["/args/a/0"], ["wait"])


def test_the_ladder_is_the_rules_then_the_categorys_then_the_kinds():
    made = StrategyMap(
        [
            ErrorRule(id="rule", code="a", kind="quota", category="enum", repair="wait"),
            ErrorRule(id="empty", code="b", kind="quota", category="enum", repair=[]),
            ErrorRule(id="category", code="c", kind="quota", category="enum"),
            ErrorRule(id="kind", code="d", kind="quota", category="range"),
            ErrorRule(id="nothing", code="e", kind="auth"),
        ],
        ladders={"enum": "clamp", "quota": ["give-up"]},
    )
    ladders = [diagnose(made, error("x", code=code))["ladder"] for code in "abcde"]
    assert ladders == [["wait"], [], ["clamp"], ["give-up"], []]


def test_a_rule_of_yours_comes_first_and_another_can_be_disabled():
    rule = ErrorRule(id="mine", error="ValueError", kind="conflict", priority="low")
    made = StrategyMap([rule], extends=["default"], disable=["default/bad-request"], name="shop")
    assert diagnose(made, error("x", "ValueError"))["rule"] == "shop/mine"
    assert "default/bad-request" not in [each.key for each in made.rules]
    assert diagnose(made, error("x", status=400))["rule"] == "default/client-error"


@pytest.fixture
def files(tmp_path):
    def write(**maps):
        for name, text in maps.items():
            (tmp_path / f"{name}.toml").write_text(f"format = 1\n{text}")
        return tmp_path

    return write


def test_maps_merge_key_by_key_and_the_nearest_wins():
    made = StrategyMap.load(DATA / "maps" / "top.toml")
    assert made.name == "top"
    assert made.policy.allow == (Safety.EXACT,)
    assert made.policy.sensitive == ("amount",)
    assert made.limits == {"attempts": 5, "rounds": 2, "per_kind": {"auth": 0, "quota": 1}}
    assert Limits(**made.limits).attempts == 5
    assert made.effects["get_*"].effect == "read_only"
    assert made.effects["book_*"].atomic
    assert (made.reading.text, made.reading.prose) == ("edge", "ask")
    assert dict(made.ladders) == {"enum": ("clamp",), "range": ("wait",)}
    assert [each.key for each in made.rules] == ["right/of-right", "base/of-base"]


def test_a_bare_name_is_never_a_file_of_the_working_directory(files, monkeypatch):
    monkeypatch.chdir(files(strict="", mine='[[rule]]\nid = "r"\ncode = "C"'))
    assert len(StrategyMap.load("strict").rules) > 10
    assert [each.key for each in StrategyMap.load("mine.toml").rules] == ["mine/r"]
    with pytest.raises(MapError, match=r"unknown map 'mine'.*write './mine.toml' for a file"):
        StrategyMap.load("mine")


def test_the_environment_replaces_the_default_that_nobody_chose(files, monkeypatch):
    monkeypatch.delenv("SELFCORRECT_STRATEGIES", raising=False)
    assert load_default().name == "default"
    assert load_default() is load_default()
    monkeypatch.setenv("SELFCORRECT_STRATEGIES", str(files(ours="") / "ours.toml"))
    assert load_default().name == "ours"
    assert StrategyMap.load("default").name == "default"
    monkeypatch.setenv("SELFCORRECT_STRATEGIES", "strict")
    assert load_default().name == "strict"


# --- strategies ----------------------------------------------------------------------------------


@strategy("later", needs="model")
def later(call, diagnosis, context, *, seconds=1.0):
    return Wait(seconds)


@strategy("no")
@dataclass(frozen=True)
class Refuse:
    reason: str = "no"

    def __call__(self, call, diagnosis, context):
        return GiveUp(self.reason)


def run(made, rule, name):
    return made.strategy(rule, name).repair(None, None, None)


def test_rules_in_python_hold_functions_classes_and_objects():
    made = StrategyMap(
        [
            ErrorRule(
                id="a",
                code="a",
                repair=[later, Refuse, "wait"],
                options={"later": {"seconds": 4}, "no": {"reason": "full"}},
            ),
            ErrorRule(id="b", code="b", repair=later),
            ErrorRule(id="c", code="c", repair=Refuse("made")),
            ErrorRule(id="d", code="d", repair=["other", "fixed"]),
        ],
        use={"other": later, "fixed": f"{__name__}:Refuse"},
    )
    assert diagnose(made, error("x", code="a"))["ladder"] == ["later", "no", "wait"]
    assert made.rule("own/a").repair == ("later", "no", "wait")
    assert run(made, "own/a", "later") == Wait(4)
    assert run(made, "own/a", "no") == GiveUp("full")
    assert run(made, "own/b", "later") == Wait(1.0)
    assert run(made, "own/c", "no") == GiveUp("made")
    assert run(made, "own/d", "other") == Wait(1.0)
    assert run(made, "own/d", "fixed") == GiveUp("no")
    bound = made.strategy("own/a", "later")
    assert bound.needs == "model"
    assert made.strategy("own/a", "later") is bound


def test_options_may_hold_functions():
    @strategy("with-function")
    def repair(call, diagnosis, context, *, choose):
        return Wait(choose())

    rule = ErrorRule(
        id="r", code="C", repair=repair, options={"with-function": {"choose": lambda: 9}}
    )
    assert run(StrategyMap([rule]), "own/r", "with-function") == Wait(9)


def test_strategies_without_a_mark_are_called_by_their_names():
    class NearestDate:
        def __call__(self, call, diagnosis, context):
            return GiveUp("none")

    def next_seat(call, diagnosis, context):
        return GiveUp("none")

    made = StrategyMap([ErrorRule(id="r", match=".", repair=[NearestDate, next_seat])])
    assert diagnose(made, error("x"))["ladder"] == ["nearest-date", "next-seat"]


def test_a_map_brings_code_along_in_a_file_beside_it(files):
    folder = files(
        shop="""
            [use]
            later = "./shop_repairs.py:Later"
            [[rule]]
            id = "r"
            code = "C"
            repair = "later"
            options.later = { seconds = 5 }
        """
    )
    (folder / "shop_repairs.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from selfcorrect.model import Wait\n"
        "@dataclass(frozen=True)\n"
        "class Later:\n"
        "    seconds: float = 1\n"
        "    def __call__(self, call, diagnosis, context):\n"
        "        return Wait(self.seconds)\n"
    )
    (folder / "below").mkdir()
    (folder / "below" / "deep.toml").write_text('format = 1\nextends = "../shop.toml"\n')
    made = StrategyMap.load(folder / "below" / "deep.toml")
    assert run(made, "shop/r", "later") == Wait(5)


# --- words for people ----------------------------------------------------------------------------


def told(loaded, found):
    return dict(
        line.split(maxsplit=1) for line in explain(loaded, found).splitlines() if " " in line
    )


def test_explain_says_what_decides_and_what_else_matches(default):
    facts = told(default, error("Value for 'n' must be >= 1", "ValueError", status=400))
    assert facts["rule"] == "default/below-minimum"
    assert (facts["kind"], facts["category"]) == ("validation", "range")
    assert (facts["params"], facts["captures"]) == ('["n"]', '{"minimum": "1", "param": "n"}')
    assert facts["ladder"] == '["convert-type", "clamp", "ask-model", "ask-human"]'
    assert "default/bad-request" in facts["matches"]
    facts = told(default, error(status=503, retry_after=2.0))
    assert (facts["retryable"], facts["retry_after_s"]) == ("true", "2.0")
    assert told(default, error("boom")).keys().isdisjoint({"rule", "constraint"})


@pytest.mark.parametrize(("rule", "words"), table("map.txt", "lint"))
def test_lint_names_what_is_probably_wrong(rule, words):
    found = lint(StrategyMap([ErrorRule(id="r", **rule)], extends="default"))
    assert bool(found) is bool(words)
    assert all(word in found[0] for word in words)
