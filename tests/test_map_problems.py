"""What is wrong with a map is said at once: file, rule, key, and what was probably meant."""

import json

import pytest
from kit import DATA, table
from pydantic import ValidationError

from selfcorrect import ErrorRule, MapError, StrategyMap, strategy


@strategy("later")
def later(call, diagnosis, context, *, seconds=1.0):
    return seconds


class Needy:
    def __init__(self, url):
        if not url:
            raise ValueError("url is empty")

    def __call__(self, call, diagnosis, context):
        return None


def bare(call, diagnosis, context):
    return None


RULE = 'format = 1\n[[rule]]\nid = "r"\ntool = "x"\n'
USE = "format = 1\n[use]\n" + "".join(
    f'{name.lower()} = "{__name__}:{name}"\n' for name in ("later", "Needy", "bare")
)
USED = USE + '[[rule]]\nid = "r"\ntool = "x"\n'

BEGINNINGS = {"raw": "", "map": "format = 1\n", "rule": RULE, "code": USED}


def problems_of(path, **options):
    with pytest.raises(MapError) as caught:
        StrategyMap.load(path, **options)
    return caught.value.problems


@pytest.mark.parametrize(("begins", "text", "words"), table("map_problems.txt", "problems"))
def test_a_problem_names_file_rule_key_and_near_match(tmp_path, begins, text, words):
    path = tmp_path / "map.toml"
    path.write_text(BEGINNINGS[begins] + text.replace("{here}", __name__))
    problems = problems_of(path)
    assert len(problems) == 1
    assert "map.toml" in problems[0]
    assert [word for word in words if word not in problems[0]] == []


def test_all_problems_of_a_file_are_said_at_once():
    path = DATA / "maps" / "problems.toml"
    found = "\n".join(problems_of(path))
    for word in (
        "format: is missing", "'nowhere'", "'./gone.toml'", "'default/x'", "'colour'",
        "'./gone.py'",
        "attempts", "'exactly'", "'(?!'", "'knid'", "'wiat'", "rule 1: id", "rule 1: kind",
        "rule 'c': match", "'clmap'",
    ):  # fmt: skip
        assert word in found
    assert len(found.splitlines()) == 15


def test_problems_of_the_maps_below_are_said_too(tmp_path):
    (tmp_path / "top.toml").write_text('format = 1\nextends = "low.toml"\n[limits]\nx = 1')
    (tmp_path / "low.toml").write_text("format = 1\n[limits]\ny = 1")
    top, low = problems_of(tmp_path / "top.toml")
    assert "top.toml" in top
    assert "low.toml" in low


def test_a_circle_names_its_way(tmp_path):
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{name}.toml").write_text(f'format = 1\nextends = "{other}.toml"')
    assert problems_of(tmp_path / "a.toml") == (
        "c.toml: extends: 'a.toml' extends this map: a circle; remove one of them",
    )


def test_two_rules_of_one_name_in_two_maps_are_a_problem(tmp_path):
    path = tmp_path / "default.toml"
    path.write_text('format = 1\nextends = "default"\n[[rule]]\nid = "timeout"\ntool = "x"')
    (problem,) = problems_of(path)
    assert "another rule is 'default/timeout' too; rename one of them or its map" in problem


@pytest.mark.parametrize("source", ["defualt", "./nowhere/map.toml"])
def test_a_missing_map_is_a_problem(source):
    (problem,) = problems_of(source)
    assert source in problem


def test_code_in_a_map_can_be_refused(tmp_path):
    path = tmp_path / "map.toml"
    path.write_text(USED + 'repair = "later"')
    problems = problems_of(path, allow_code=False)
    assert all("map.toml: use: " in each and "allow_code" in each for each in problems)
    assert len(problems) == 3
    assert StrategyMap.load(path).rules


def test_a_file_of_code_that_fails_is_a_problem_and_leaves_nothing_behind(tmp_path):
    (tmp_path / "map.toml").write_text('format = 1\n[use]\nx = "./code.py:X"')
    code = tmp_path / "code.py"
    code.write_text("1 / 0")
    (problem,) = problems_of(tmp_path / "map.toml")
    assert "ZeroDivisionError" in problem
    code.write_text("def X(call, diagnosis, context): ...")
    assert StrategyMap.load(tmp_path / "map.toml").name == "map"


def test_maps_in_python_have_the_same_problems():
    rules = [
        ErrorRule(id="a", tool="x", repair=["wiat"]),
        {"id": "b", "tool": "x", "knid": "auth"},
        ErrorRule(id="c", tool="x", repair=[later], options={"later": {"secs": 1}}),
    ]
    with pytest.raises(MapError) as caught:
        StrategyMap(rules, name="shop", extends="defualt", policy={"alow": ["exact"]})
    found = str(caught.value)
    for word in ("map 'shop': rule 'a'", "'wait'", "rule 'b'", "'kind'", "'secs'", "'default'"):
        assert word in found
    assert "'alow'" in found
    assert len(caught.value.problems) == 5


def test_a_rule_in_python_refuses_a_key_and_a_pattern_at_once():
    for wrong in ({"matc": "x"}, {"match": "(?=x)"}):
        with pytest.raises(ValidationError):
            ErrorRule(id="r", **wrong)


def test_two_strategies_of_one_name_in_a_rule_are_numbered():
    loaded = StrategyMap([ErrorRule(id="r", match="x", repair=[lambda *_: None, lambda *_: 1])])
    assert loaded.rule("own/r").repair == ("lambda", "lambda-2")


def test_an_unknown_strategy_is_a_problem_when_it_is_asked_for():
    with pytest.raises(MapError, match=r"rule 'own/r': wiat: unknown strategy.*'wait'"):
        StrategyMap([ErrorRule(id="r", tool="x")]).strategy("own/r", "wiat")


TABLES = [
    "format",
    "extends",
    "disable",
    "use",
    "policy",
    "effects",
    "reading",
    "limits",
    "ladders",
    "rule",
]
KEYS = [("", key) for key in (*TABLES, "ladders", "rule")]
KEYS += [("rule", key) for key in ErrorRule.model_fields]


@pytest.mark.parametrize(("part", "key"), KEYS)
@pytest.mark.parametrize("value", [3, True, "x", [], [3], [[]], {}, {"x": 3}, {"x": {"y": "z"}}])
def test_whatever_stands_in_a_map_it_loads_or_says_why(tmp_path, part, key, value):
    data = {"id": "r", "tool": "x", key: value} if part else {}
    own = [] if part or key not in ("format", "rule") else [f"{key} = {toml(value)}"]
    lines = own or ["format = 1", *([] if part else [f"{key} = {toml(value)}"])]
    lines += (
        ["[[rule]]", *(f"{name} = {toml(each)}" for name, each in data.items())] if part else []
    )
    path = tmp_path / "map.toml"
    path.write_text("\n".join(lines))
    problems = []
    try:
        StrategyMap.load(path)
    except MapError as error:
        problems += error.problems
    assert all(key in each or "format" in each for each in problems)


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def test_installed_packages_offer_strategies_and_maps(tmp_path, monkeypatch):
    info = tmp_path / "travel-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: travel\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        f"[selfcorrect.strategies]\nlater-on = {__name__}:later\n"
        "[selfcorrect.maps]\nflights = travel_map:PATH\n"
    )
    (tmp_path / "flights.toml").write_text(
        RULE + 'repair = "later-on"\noptions.later-on.seconds = 3'
    )
    (tmp_path / "travel_map.py").write_text(f"PATH = {str(tmp_path / 'flights.toml')!r}")
    monkeypatch.syspath_prepend(tmp_path)
    made = StrategyMap.load("flights")
    assert made.strategy("flights/r", "later-on").repair(None, None, None) == 3
