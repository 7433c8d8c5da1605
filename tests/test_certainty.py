"""How sure a diagnosis is, who saw it, and what may be done with it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from asked import decide, read_error, read_report

from selfcorrect import ErrorRule, StrategyMap, ToolSpec, build_graph, ports
from selfcorrect.errors import MapError
from selfcorrect.json_forms import finding_from_json, finding_to_json
from selfcorrect.kinds import RETRYABLE
from selfcorrect.loop.progress import is_retryable
from selfcorrect.mapping.certainty import BORNE_OUT, FACTS, MEASURED, measured
from selfcorrect.mapping.linting import lint
from selfcorrect.model import Call, Category, ErrorKind, Finding, Source

DEFAULT = StrategyMap.load("default")
ALONE = StrategyMap(extends="default", policy={"witness": "off"})


class Status(Exception):
    """What an HTTP client raises."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status_code = status


def read(text: str, rules: StrategyMap = DEFAULT, **given: object) -> Finding:
    return decide(read_report(text, **given)[0], rules, None, None, acts=False)


@pytest.mark.parametrize(
    ("text", "given", "witness"),
    [
        ("Too busy", {"status": 503}, Source.STRUCTURE),
        ("duplicate key value", {"status": "23505"}, Source.STRUCTURE),
        ("HTTP 503: too busy", {}, Source.RULE),  # a status in a text may be somebody else's
        ("TimeoutError: it took too long", {}, Source.RULE),
        ("it took too long", {"exception": "TimeoutError"}, Source.STRUCTURE),
        ("Value for 'age' must be at least 18", {}, Source.RULE),
        ("flux capacitor not charged", {}, Source.NONE),
    ],
)
def test_the_witness_is_what_the_diagnosis_hangs_on(text, given, witness):
    found = read(text, ALONE, **given)
    assert found.witness is witness
    assert (found.confidence == measured().get(found.rule, 0.0)) == (witness is not Source.NONE)
    assert found.confidence < 1.0  # only our own check is certain
    assert (found.confidence == 0.0) == (witness is Source.NONE)


def test_what_an_exception_carries_is_structure_and_what_it_quotes_is_not():
    for error, witness in (
        (Status("see below", 404), Source.STRUCTURE),
        (RuntimeError('{"error": {"code": "invalid_api_key", "message": "no"}}'), Source.RULE),
    ):
        found = decide(read_error(error, Call("x"), None)[0], DEFAULT, "x", {})
        assert found.witness is witness


def test_a_rule_of_a_deployment_is_sure():
    own = StrategyMap([ErrorRule(id="late", match="late", kind="timeout")], extends="default")
    found = read("too late", own)
    assert (found.confidence, found.witness) == (1.0, Source.RULE)


@pytest.mark.parametrize(("age", "is_borne_out"), [(17, True), (19, False)])
def test_a_reading_is_surer_where_the_arguments_bear_it_out(age, is_borne_out):
    text = "Value for 'age' must be at least 18"
    given = {"age": age}
    found = decide(read_report(text, arguments=given)[0], ALONE, None, given, acts=False)
    alone = decide(read_report(text)[0], ALONE, None, None, acts=False)
    assert found.witness is alone.witness is Source.RULE
    assert found.confidence == (measured()[BORNE_OUT] if is_borne_out else alone.confidence)
    assert alone.confidence < measured()[BORNE_OUT] < 1.0


def test_our_own_check_is_structure():
    def book(seats: int) -> int:
        return seats

    tool = ToolSpec.from_function(book)
    graph = build_graph([tool])
    out = graph.invoke({"call": {"name": tool.name, "args": {}}})
    shown = next(each["findings"] for each in out["trail"] if each.get("findings"))
    assert [(item["witness"], item["confidence"]) for item in shown] == [("structure", 1.0)]


def test_every_rule_of_the_built_in_maps_was_measured():
    assert set(measured()) == {placed.id for placed in DEFAULT.rules} | {
        BORNE_OUT,
        FACTS,
    }, "measure again: python tests/training/rule_confidence.py MESSAGES… --write"
    assert all(0.0 < sure < 1.0 for sure in measured().values())
    assert MEASURED.read_text(encoding="utf-8").startswith("{\n")


def test_a_finding_comes_back_with_what_it_knows():
    finding = Finding("x", confidence=0.8, witness=Source.MODEL, spoke=(("late", 1.5),))
    assert finding_from_json(json.loads(json.dumps(finding_to_json(finding)))) == finding
    own = finding_from_json({"text": "a node of one's own found this"})
    assert (own.confidence, own.witness) == (1.0, Source.STRUCTURE)


@pytest.mark.parametrize(("sure", "runs"), [(0.0, 2), (0.7, 2), (0.995, 1), (1.0, 1)])
def test_an_unsure_diagnosis_only_informs(sure, runs, monkeypatch):
    called = []

    def find(word: str) -> str:
        called.append(word)
        if word == "Fast":
            raise ValueError("Value for 'word' must be one of ['fast', 'slowly']")
        return word

    tool = ToolSpec.from_function(find, effect="read_only")
    rules = StrategyMap(extends="default", policy={"sure": sure})
    out = build_graph([tool], strategies=rules).invoke(
        {"call": {"name": "find", "args": {"word": "Fast"}}}
    )
    assert len(called) == runs
    if runs == 1:
        refused = [each for event in out["trail"] for each in event.get("tried", ())]
        assert any("not sure enough" in each["reason"] for each in refused)
        assert "word" in out["failure"]["for_model"]


def test_sure_is_a_share_and_the_more_specific_map_says_it():
    for wrong in (1.1, -0.1, "high", True):
        with pytest.raises(MapError, match="sure"):
            StrategyMap(policy={"sure": wrong})
    assert StrategyMap(extends="strict", policy={"sure": 0.9}).policy.sure == 0.9
    told = [
        fault for fault in lint(StrategyMap(policy={"sure": 0.3})) if fault.key == "policy.sure"
    ]
    assert [fault.level for fault in told] == ["warning"]
    assert not [f for f in lint(StrategyMap(policy={"sure": 0.5})) if f.key == "policy.sure"]


@pytest.fixture
def says(monkeypatch):
    """Puts a last witness in place, and returns what it was asked."""

    def put(testimony: ports.Testimony | None) -> list[tuple[Finding, ports.Open]]:
        asked: list[tuple[Finding, ports.Open]] = []

        def witness(part, decided, free, /):
            asked.append((decided, free))
            if testimony is None:
                raise RuntimeError("a mistake of the witness")
            return testimony

        monkeypatch.setattr("selfcorrect.evidence.deciding.last_witness", lambda rules: witness)
        return asked

    return put


DATE = ports.Testimony(ErrorKind.VALIDATION, Category.FORMAT_DATE, 0.8, (("capacitor", 2.0),))


def test_the_last_witness_fills_what_rules_leave_open(says):
    says(DATE)
    found = read("flux capacitor not charged")
    assert (found.kind, found.category) == (ErrorKind.VALIDATION, Category.FORMAT_DATE)
    assert (found.witness, found.confidence, found.spoke) == (Source.MODEL, 0.8, DATE.spoke)
    assert found.ladder[0] == "format-date"
    assert DEFAULT.strategy(found.rule, found.ladder[0])


@pytest.mark.parametrize("kind", ErrorKind)
@pytest.mark.parametrize("category", Category)
def test_whatever_it_says_has_a_ladder_of_the_map(says, kind, category):
    says(ports.Testimony(kind, category, 0.9))
    found = read("flux capacitor not charged")
    assert (found.kind, found.rule is not None) == (kind, True)
    assert all(DEFAULT.strategy(found.rule, name) for name in found.ladder)
    assert is_retryable(found, DEFAULT) == (kind in RETRYABLE)


def test_where_it_says_what_a_rule_says_the_rule_stands(says):
    text = "the age must be at least 18"
    rule = read(text, ALONE)
    says(ports.Testimony(rule.kind, rule.category, 0.97))
    assert read(text) == replace(rule, confidence=0.97)


def test_it_may_overrule_a_phrase_and_is_only_heard_about_facts(says):
    asked = says(ports.Testimony(ErrorKind.QUOTA, Category.NONE, 0.9))
    assert read("Value for 'age' must be at least 18").witness is Source.MODEL
    read("HTTP 503: too busy")
    assert [free for _, free in asked] == [(True, True), (False, False)]


def test_it_is_never_asked_where_structure_or_a_rule_of_ones_own_speaks(says):
    asked = says(DATE)
    assert read("Too busy", status=503).witness is Source.STRUCTURE
    own = StrategyMap([ErrorRule(id="late", match="late", kind="timeout")], extends="default")
    assert read("too late", own).kind is ErrorKind.TIMEOUT
    assert not asked


def test_of_a_status_that_says_no_more_than_invalid_it_may_say_the_category_alone(says):
    asked = says(DATE)
    found = read("flux capacitor not charged", status=422)
    assert [free for _, free in asked] == [(False, True)]
    assert (found.kind, found.category) == (ErrorKind.VALIDATION, Category.FORMAT_DATE)


def test_its_mistakes_are_harmless(says):
    says(None)
    assert read("flux capacitor not charged").witness is Source.NONE
