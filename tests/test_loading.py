"""Map files: finding them, reading them with every fault, merging them, and reading them anew."""

import os
import sys
import threading
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import selfcorrect
from selfcorrect.errors import MapError
from selfcorrect.limits import Limits
from selfcorrect.mapping import files as map_files
from selfcorrect.mapping.document import MapDocument, MapPolicy
from selfcorrect.mapping.files import MAPS_GROUP, Document
from selfcorrect.mapping.linting import check_map
from selfcorrect.mapping.loading import ENVIRONMENT, load_map, map_names, reload_map, starter_dir
from selfcorrect.mapping.merging import linked, merged_rules, merged_section
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import ErrorKind, Finding, GiveUp, Safety

CODE = """
from __future__ import annotations
from dataclasses import dataclass
from selfcorrect.model import GiveUp

@dataclass(frozen=True, slots=True)
class NearestDate:
    within_days: int = 3
    def __call__(self, call, diagnosis, context):
        return GiveUp(f"nearest {self.within_days}")

def plain(call, diagnosis, context, *, size: int = 1):
    return GiveUp(f"plain {size}")

NUMBER = 3
"""

TRAVEL = """
format  = 1
[use]
nearest-date = "./travel_repairs.py:NearestDate"
plain = "travel_repairs.py:plain"
[policy]
allow     = ["exact", "inferred"]
terminal  = ["auth", "quota", "permanent"]
sensitive = ["amount", "recipient"]
[effects]
"search_*" = "read_only"
[limits]
attempts = 5
per_kind = { rate_limit = 3, auth = 0 }
[[rule]]
id       = "no-flight-on-date"
tool     = "book_*"
error    = ["LookupError", "httpx.HTTPStatusError"]
match    = '(?i)no flight .* on (?P<got>\\d{4}-\\d\\d-\\d\\d)'
kind     = "not_found"
category = "business_rule"
params   = ["departure_date"]
repair   = ["nearest-date", "plain"]
options.nearest-date = { within_days = 5 }
allow    = ["lossy"]
priority = "high"
example  = "LookupError: no flight from LHR to CDG on 2024-10-26"
"""


@pytest.fixture
def write(tmp_path):
    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path = path.with_suffix(".py") if text is CODE else path.with_suffix(".toml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / f"{next(iter(files)).replace('__', '/')}.toml"

    return write


@pytest.fixture
def travel(write):
    return write(travel=TRAVEL, travel_repairs=CODE)


def faults(call, *args, **more):
    with pytest.raises(MapError) as caught:
        call(*args, **more)
    return caught.value.faults


def rule(name, **more):
    said = {"id": name, "kind": "auth"} | more
    lines = [f"{key} = {value!r}" for key, value in said.items()]
    return "\n[[rule]]\n" + "\n".join(lines) + "\n"


def ids(strategies):
    return [placed.id for placed in strategies.rules]


# --- a file and Python say the same ---------------------------------------------------------------


def test_a_file_and_python_are_equals(travel):
    from_file = load_map(travel)
    in_python = StrategyMap(
        [
            ErrorRule(
                id="no-flight-on-date",
                tool="book_*",
                error=["LookupError", "httpx.HTTPStatusError"],
                match=r"(?i)no flight .* on (?P<got>\d{4}-\d\d-\d\d)",
                kind="not_found",
                category="business_rule",
                params=["departure_date"],
                repair=["nearest-date", "plain"],
                options={"nearest-date": {"within_days": 5}},
                allow=["lossy"],
                priority="high",
                example="LookupError: no flight from LHR to CDG on 2024-10-26",
            )
        ],
        use={
            "nearest-date": lambda *, within_days=3: (
                lambda call, diagnosis, context: GiveUp(f"nearest {within_days}")
            ),
            "plain": lambda call, diagnosis, context, *, size=1: GiveUp(f"plain {size}"),
        },
        policy=MapPolicy(
            allow=["exact", "inferred"],
            terminal=["auth", "quota", "permanent"],
            sensitive=["amount", "recipient"],
        ),
        effects={"search_*": "read_only"},
        limits={"attempts": 5, "per_kind": {"rate_limit": 3, "auth": 0}},
        name="travel",
    )
    finding = Finding("No flight from A to B on 2024-10-26", ("KeyError", "LookupError"))
    for strategies in (from_file, in_python):
        decided = strategies.decide(finding, "book_flight")
        assert decided.rule == "travel/no-flight-on-date"
        assert decided.kind is ErrorKind.NOT_FOUND
        assert decided.ladder == ("nearest-date", "plain")
        assert decided.captures == {"got": "2024-10-26"}
        assert decided.paths == ("/args/departure_date",)
        said = [
            strategies.strategy(decided.rule, name)(None, None, None) for name in decided.ladder
        ]
        assert said == [GiveUp("nearest 5"), GiveUp("plain 1")]
        assert strategies.allowed(decided.rule) == {Safety.LOSSY}
        assert strategies.effect_of("search_flights") == "read_only"
    assert [placed.rule for placed in from_file.rules] == [
        placed.rule for placed in in_python.rules
    ]
    assert from_file.policy == in_python.policy
    assert from_file.limits == in_python.limits
    assert from_file.effects == in_python.effects
    assert from_file.files == (travel,)
    assert in_python.files == ()
    assert check_map(travel) == []


def test_a_map_stands_for_itself():
    strategies = StrategyMap()
    assert load_map(strategies) is strategies


@pytest.mark.parametrize("source", [3, ["default"], b"default", {"format": 1}])
def test_a_map_is_nothing_else(source):
    (fault,) = faults(load_map, source)
    assert "by name, by path or as a StrategyMap" in fault.message


# --- finding --------------------------------------------------------------------------------------


def test_nobody_named_a_map():
    assert load_map() is load_map()
    assert load_map().rule("default/unknown-error") is not None
    assert load_map("default") is load_map()


def test_the_environment_replaces_the_default_only(write, monkeypatch):
    path = write(mine="format = 1" + rule("x"))
    monkeypatch.setenv(ENVIRONMENT, str(path))
    assert ids(load_map()) == ["mine/x"]
    assert load_map("default").rule("default/unknown-error") is not None
    monkeypatch.setenv(ENVIRONMENT, "")
    assert load_map().rule("default/unknown-error") is not None
    monkeypatch.setenv(ENVIRONMENT, "no-such-map")
    assert "no-such-map" in faults(load_map)[0].message


def test_a_bare_name_never_means_the_working_directory(write, monkeypatch):
    path = write(here="format = 1" + rule("x"))
    monkeypatch.chdir(path.parent)
    (fault,) = faults(load_map, "here")
    assert fault.message == "there is no map named 'here'"
    assert ids(load_map("here.toml")) == ids(load_map("./here.toml")) == ["here/x"]
    assert ids(load_map(Path("here.toml"))) == ["here/x"]


def test_a_map_in_the_working_directory_does_not_hide_the_built_in_one(write, monkeypatch):
    path = write(default="format = 1" + rule("x"))
    monkeypatch.chdir(path.parent)
    assert "default/unknown-error" in ids(StrategyMap.load("default"))


def test_bare_names_mean_built_in_then_starter_then_installed(write, monkeypatch):
    starter = write(
        strategies__default="format = 1" + rule("of-starter"),
        strategies__deployed="format = 1" + rule("of-starter"),
    ).parents[1]
    installed = write(installed="format = 1" + rule("of-package"))
    monkeypatch.setattr(map_files, "starter_dir", lambda: starter)
    real = metadata.entry_points
    entries = [
        metadata.EntryPoint(name, f"{__name__}:INSTALLED", MAPS_GROUP)
        for name in ("packaged", "deployed")
    ]

    def entry_points(**params):
        found = list(real(**params))
        if params["group"] == MAPS_GROUP:
            found += [entry for entry in entries if params.get("name", entry.name) == entry.name]
        return found

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    monkeypatch.setattr(sys.modules[__name__], "INSTALLED", lambda: installed, raising=False)
    assert "default/unknown-error" in ids(StrategyMap.load("default"))
    assert ids(StrategyMap.load("deployed")) == ["deployed/of-starter"]
    assert ids(StrategyMap.load("packaged")) == ["installed/of-package"]
    assert {"default", "deployed", "packaged"} <= set(map_names())
    monkeypatch.setattr(sys.modules[__name__], "INSTALLED", installed.with_name("gone.toml"))
    assert "is not there" in faults(StrategyMap.load, "packaged")[0].message
    monkeypatch.delattr(sys.modules[__name__], "INSTALLED")
    assert "cannot be found: AttributeError" in faults(StrategyMap.load, "packaged")[0].message


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("defualt", "did you mean 'default'?"),
        ("zzzzzz", "./name.toml"),
        ("", "neither the name of a map nor a path"),
        ("..", "neither the name of a map nor a path"),
        ("a b", "neither the name of a map nor a path"),
        ("./no/such.toml", "there is no such file"),
        ("/", "this is no file"),
        ("./" + "x" * 5_000, "cannot be read"),
        ("./\0.toml", "there is no such file"),
        ("./\ud800.toml", "no such file"),
    ],
)
def test_a_map_that_is_not_there(source, words):
    (fault,) = faults(load_map, source)
    assert words in str(fault)


def test_the_starter_is_beside_the_package_or_inside_it(tmp_path, monkeypatch):
    here = starter_dir()
    assert (here / "strategies").is_dir()
    package = tmp_path / "selfcorrect"
    (package / "_starter" / "strategies").mkdir(parents=True)
    monkeypatch.setattr(map_files, "_PACKAGE", package)
    assert starter_dir() == package / "_starter"
    (tmp_path / "pyproject.toml").touch()
    assert starter_dir() == package / "_starter"
    (package / "_starter" / "strategies").rmdir()
    (package / "_starter").rmdir()
    assert starter_dir() == tmp_path
    (tmp_path / "pyproject.toml").unlink()
    assert starter_dir() == package / "_starter"


# --- extends, disable, replaces -------------------------------------------------------------------


def test_own_rules_come_before_those_of_extended_maps(write):
    path = write(
        top="format = 1\nextends = ['left.toml', './right.toml']" + rule("a") + rule("b"),
        left="format = 1\nextends = ['base.toml']" + rule("a"),
        right="format = 1\nextends = ['base.toml']" + rule("a") + rule("h", priority="high"),
        base="format = 1" + rule("a") + rule("l", priority="low"),
    )
    assert ids(load_map(path)) == [
        "right/h",
        "top/a",
        "top/b",
        "left/a",
        "right/a",
        "base/a",
        "base/l",
    ]


def test_a_path_in_extends_starts_at_the_file(write, monkeypatch):
    path = write(
        top="format = 1\nextends = ['sub/low.toml']" + rule("a"),
        sub__low="format = 1\nextends = ['../base.toml']" + rule("a"),
        base="format = 1" + rule("a"),
    )
    monkeypatch.chdir("/")
    assert ids(load_map(path)) == ["top/a", "low/a", "base/a"]


def test_a_python_map_extends_names_and_paths(travel):
    strategies = StrategyMap([ErrorRule(id="x", kind="auth")], extends=["default", str(travel)])
    assert strategies.rule("travel/no-flight-on-date")
    assert strategies.rule("default/unknown-error")
    assert "default/unknown-error" not in ids(StrategyMap([ErrorRule(id="x", kind="auth")]))


@pytest.mark.parametrize(
    ("files", "circle"),
    [
        ({"a": ["a.toml"]}, "a → a"),
        ({"a": ["b.toml"], "b": ["c.toml"], "c": ["a.toml"]}, "a → b → c → a"),
        ({"a": ["b.toml"], "b": ["c.toml"], "c": ["b.toml"]}, "b → c → b"),
    ],
)
def test_cycles_are_named(write, files, circle):
    path = write(**{name: f"format = 1\nextends = {to}" for name, to in files.items()})
    assert [str(fault) for fault in faults(load_map, path) if circle in str(fault)]


def test_a_missing_map_is_a_fault_of_the_map_that_extends_it(write):
    path = write(top="format = 1\nextends = ['gone.toml', 'defualt']")
    found = faults(load_map, path)
    assert [(fault.file, fault.key) for fault in found] == [(str(path), "extends")] * 2
    assert "did you mean 'default'?" in str(found[0]) + str(found[1])


def test_maps_may_share_a_name(write):
    path = write(codes="format = 1\nextends = ['default']\ndisable = ['codes/own']" + rule("own"))
    loaded = load_map(path)
    assert "codes/own" not in {rule.id for rule in loaded.rules}
    assert "codes/quota" in {rule.id for rule in loaded.rules}


def test_two_rules_of_one_full_name_are_refused(write):
    path = write(
        top="format = 1\nextends = ['a/same.toml', 'b/same.toml']",
        **{
            "a/same": "format = 1" + rule("x") + rule("y"),
            "b/same": "format = 1" + rule("x") + rule("z"),
        },
    )
    (fault,) = faults(load_map, path)
    assert fault.message.endswith("has a rule 'same/x' too")
    assert (fault.rule, fault.key) == ("x", "id")
    assert fault.hint == "rename the rule, or one of the files"


def test_disabled_rules_are_left_out(write):
    path = write(
        top="format = 1\nextends = ['base.toml']\ndisable = ['base/b', 'own']"
        + rule("own")
        + rule("other"),
        base="format = 1" + rule("a") + rule("b"),
    )
    assert ids(load_map(path)) == ["top/other", "base/a"]


def test_a_rule_takes_the_place_of_another_whole(write):
    path = write(
        top="format = 1\nextends = ['base.toml']"
        + rule("mine", replaces="base/b", match="zzz")
        + rule("first"),
        base="format = 1"
        + rule("a")
        + rule("b", match="x", code="C", repair=["give-up"])
        + rule("c"),
    )
    strategies = load_map(path)
    assert ids(strategies) == ["top/first", "base/a", "top/mine", "base/c"]
    mine = strategies.rule("top/mine")
    assert (mine.match, mine.code, mine.repair) == ("zzz", (), ())
    assert strategies.rule("base/b") is None


def test_a_replacement_has_its_own_priority_and_can_be_replaced_and_disabled(write):
    base = "format = 1" + rule("a") + rule("b", priority="high") + rule("c")
    middle = "format = 1\nextends = ['base.toml']" + rule("m", replaces="base/b")
    chain = write(
        top="format = 1\nextends = ['middle.toml']" + rule("t", replaces="middle/m"),
        middle=middle,
        base=base,
    )
    assert ids(load_map(chain)) == ["base/a", "top/t", "base/c"]
    off = write(top="format = 1\nextends = ['middle.toml']\ndisable = ['middle/m']")
    assert ids(load_map(off)) == ["base/b", "base/a", "base/c"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("disable = ['default/unknown-eror']", "did you mean 'default/unknown-error'"),
        ("disable = ['unknown-error']", "there is no rule 'unknown-error'"),
        (rule("x", replaces="default/unknown-eror"), "did you mean 'default/unknown-error'"),
        (rule("x", replaces="x"), "cannot replace itself"),
        (
            rule("x", replaces="default/required") + rule("y", replaces="default/required"),
            "is replaced by 'top/x' already",
        ),
        (rule("x", replaces="y") + rule("y", replaces="x"), "replace each other: top/"),
        (rule("x") + rule("x"), "2 rules of this map have this id"),
    ],
)
def test_references_that_lead_nowhere(write, text, words):
    path = write(top="format = 1\nextends = ['default']\n" + text)
    assert any(words in str(fault) for fault in faults(load_map, path))


def test_sections_are_merged_key_by_key_and_the_child_wins(write):
    path = write(
        top="""
format = 1
extends = ["base.toml"]
[policy]
allow = ["exact"]
[effects]
"get_*" = "read_only"
[limits]
attempts = 99
per_kind = { auth = 0 }
""",
        base="""
format = 1
[policy]
allow = ["exact", "inferred"]
terminal = ["auth"]
[effects]
"get_*" = "mutating"
"put_*" = "idempotent"
[limits]
attempts = 2
rounds = 4
per_kind = { auth = 5, timeout = 2 }
""",
    )
    strategies = load_map(path)
    assert strategies.policy == MapPolicy(allow=["exact"], terminal=["auth"])
    assert dict(strategies.effects) == {"get_*": "read_only", "put_*": "idempotent"}
    assert strategies.limits == {
        "attempts": 99,
        "rounds": 4,
        "per_kind": {"auth": 0, "timeout": 2},
    }
    merged = Limits().merged(strategies.limits)
    assert (merged.attempts, merged.rounds, merged.ceiling) == (10, 4, 10)


def document(name, rules_, extends=(), **more):
    content = MapDocument(
        format=1,
        extends=extends,
        rule=[ErrorRule(id=f"r{n}", kind="auth", priority=word) for n, word in enumerate(rules_)],
        **more,
    )
    return Document(name, content, Path())


@given(st.data())
def test_merging_loses_no_rule_and_keeps_every_order(data):
    names = [f"m{n}" for n in range(data.draw(st.integers(1, 6)))]
    maps = {}
    for number, name in enumerate(names):
        later = names[number + 1 :]
        extends = data.draw(st.lists(st.sampled_from(later), unique=True)) if later else []
        words = data.draw(
            st.lists(st.sampled_from(["medium", "medium", "high", "low"]), max_size=4)
        )
        maps[name] = document(name, words, extends)
    documents, wrong = linked(maps["m0"], lambda name, _: maps[name])
    rules, wrong_rules = merged_rules(documents)
    assert wrong == wrong_rules == []
    reached = {item.name for item in documents}
    assert len(documents) == len(reached)
    assert sorted(item.id for item in rules) == sorted(
        f"{name}/{item.id}" for name in reached for item in maps[name].content.rule
    )
    place = {item.name: number for number, item in enumerate(documents)}
    for item in documents:
        assert all(place[item.name] < place[parent] for parent in item.content.extends)
    keys = [
        (item.rule.rank, place[item.source.name], int(item.rule.id.removeprefix("r")))
        for item in rules
    ]
    assert keys == sorted(keys)


SECTION = st.dictionaries(
    st.sampled_from("abc"), st.integers() | st.dictionaries(st.sampled_from("xy"), st.integers())
)


@given(st.lists(SECTION, max_size=4))
def test_merged_sections_lose_no_key_and_the_first_wins(sections):
    merged = merged_section(sections)
    assert set(merged) == {key for section in sections for key in section}
    for key, value in merged.items():
        first = next(section[key] for section in sections if key in section)
        if not isinstance(first, dict):
            assert value == first
        elif isinstance(value, dict):
            assert first.items() <= value.items()


def test_a_long_chain_of_maps_needs_no_recursion():
    maps = {
        f"m{n}": document(f"m{n}", ["medium"], [f"m{n + 1}"] if n < 2_000 else [])
        for n in range(2_001)
    }
    documents, wrong = linked(maps["m0"], lambda name, _: maps[name])
    assert wrong == []
    assert len(documents) == 2_001


# --- code -----------------------------------------------------------------------------------------


def test_code_is_refused_where_it_is_not_allowed(travel):
    found = faults(load_map, travel, allow_code=False)
    assert {fault.key for fault in found} == {"use.nearest-date", "use.plain"}
    assert all("code is not allowed here" in fault.message for fault in found)
    assert faults(StrategyMap, extends=[str(travel)], allow_code=False)
    assert load_map("default", allow_code=False)


def test_code_runs_under_a_name_of_its_own_and_leaves_nothing_behind(travel):
    before = set(sys.modules)
    strategies = load_map(travel)
    added = set(sys.modules) - before
    assert "travel_repairs" not in sys.modules
    assert all(name.startswith("_selfcorrect_use_") for name in added)
    assert [path.name for path in travel.parent.iterdir() if path.is_dir()] == []
    nearest = strategies.strategy("travel/no-flight-on-date", "nearest-date")
    assert type(nearest) is type(load_map(travel).strategy(nearest_rule(), "nearest-date"))


def nearest_rule():
    return "travel/no-flight-on-date"


def test_changed_code_is_read_anew(travel):
    assert load_map(travel).strategy(nearest_rule(), "plain")(None, None, None) == GiveUp("plain 1")
    code = travel.with_name("travel_repairs.py")
    code.write_text(code.read_text().replace("plain {size}", "PLAIN {size}"))
    assert load_map(travel).strategy(nearest_rule(), "plain")(None, None, None) == GiveUp("PLAIN 1")


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("./travel_repairs.py:NearestDat", "did you mean 'NearestDate'?"),
        ("./gone.py:X", "No such file"),
        ("./travel_repairs.py", "should be written as './file.py:Object'"),
        ("travel_repairs:NearestDate", "should be written as './file.py:Object'"),
        ("./travel_repairs.py:NUMBER", "cannot be called"),
        ("./broken.py:X", "broken.py:2: ZeroDivisionError"),
        ("./syntax.py:X", "syntax.py:1: SyntaxError"),
        ("./leaves.py:X", "leaves.py:1: SystemExit"),
        ("./bytes.py:X", "bytes.py"),
    ],
)
def test_code_that_cannot_be_used_is_a_fault_of_the_map(travel, reference, words):
    folder = travel.parent
    (folder / "broken.py").write_text("x = 1\n1 / 0\n")
    (folder / "syntax.py").write_text("def\n")
    (folder / "leaves.py").write_text("raise SystemExit(3)\n")
    (folder / "bytes.py").write_bytes(b"\0\xff")
    travel.write_text(f'format = 1\n[use]\nx = "{reference}"\n' + rule("r", repair=["x"]))
    (fault,) = faults(load_map, travel)
    assert (fault.file, fault.key) == (str(travel), "use.x")
    assert words in str(fault)
    assert not [name for name in sys.modules if name in ("broken", "syntax", "leaves", "bytes")]


def test_a_child_swaps_the_strategy_of_a_name(write, travel):
    path = write(
        child='format = 1\nextends = ["travel.toml"]\n[use]\n'
        'plain = "./travel_repairs.py:NearestDate"'
    )
    plain = load_map(path).strategy(nearest_rule(), "plain")
    assert plain(None, None, None) == GiveUp("nearest 3")


# --- every fault of a file ------------------------------------------------------------------------


def test_every_fault_of_a_file_is_reported_in_one_run(write):
    path = write(
        bad="""
format = 1
extends = ["defualt"]
disable = ["nothing"]
extend = ["x"]
[use]
Wrong = "./x.py:Y"
[policy]
alow = ["exact"]
terminal = ["aut"]
[effects]
x = "readonly"
[limits]
attemps = 3
ceiling = 99
[[rule]]
id = "one"
match = "(?=x)"
kid = "auth"
kind = "validaton"
repair = ["give-upp", "plain"]
options.plan = { x = 1 }
[[rule]]
id = "two"
status = ["40x"]
priority = "urgent"
repair = ["plain"]
options.plain = { siz = 1 }
[[rule]]
kind = "auth"
[[rule]]
id = "empty"
status = 404
""",
        x=CODE,
    )
    found = {(fault.rule, fault.key): str(fault) for fault in faults(load_map, path)}
    expected = {
        (None, "extends"): "did you mean 'default'?",
        (None, "extend"): "did you mean 'extends'?",
        (None, "policy.alow"): "did you mean 'allow'?",
        (None, "policy.terminal"): "did you mean 'auth'?",
        (None, "effects.x"): "did you mean 'read_only'?",
        (None, "limits"): "the ceiling is set in code",
        ("one", "match"): "look-ahead",
        ("one", "kid"): "did you mean 'kind'",
        ("one", "kind"): "did you mean 'validation'?",
        ("one", "repair"): "there is no repair strategy named",
        ("one", "options.plan"): "not on the ladder",
        ("two", "status"): "a class of statuses",
        ("two", "priority"): "'critical', 'high', 'medium', 'low'",
        ("#3", "id"): "is missing",
        ("empty", None): "says nothing",
    }
    for place, words in expected.items():
        assert words in found.get(place, ""), (place, found)
    assert all(fault.file == str(path) for fault in faults(load_map, path))


def test_a_typo_in_an_option_names_file_rule_key_and_what_was_meant(travel):
    travel.write_text(TRAVEL.replace("within_days = 5", "within_day = 5"))
    (fault,) = faults(load_map, travel)
    assert (fault.file, fault.rule, fault.key) == (
        str(travel),
        "no-flight-on-date",
        "options.nearest-date.within_day",
    )
    assert fault.hint == "did you mean 'within_days'?"


def test_an_option_of_the_wrong_type_is_a_fault(travel):
    travel.write_text(TRAVEL.replace("within_days = 5", "within_days = 'five'"))
    (fault,) = faults(load_map, travel)
    assert "should be int" in fault.message


def test_an_unknown_strategy_has_a_near_match(write):
    path = write(x="format = 1" + rule("r", repair=["clmap"]))
    (fault,) = faults(load_map, path)
    assert (fault.rule, fault.key) == ("r", "repair")
    assert "'clamp'" in fault.hint


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"format = 1\nextends = \n", "line 2"),
        (b"format = 1\nformat = 1\n", "line 2"),
        (b"", "format"),
        (b"format = 2\n", "format"),
        (b"format = 1\nx = " + b"[" * 100_000, "nested too deeply"),
        (b"format = 1\nx = " + b"9" * 10_000 + b"\n", "not TOML"),
        (b"\xff\xfe", "not UTF-8, at byte 0"),
        (b"\0", "not TOML"),
        (b"format = 1\nrule = 3\n", "[[rule]]"),
        (b"format = 1\nrule = [3]\n", "#1"),
        (b"format = 1\nlimits = 3\n", "limits"),
        (b"format = 1\nuse = []\n", "use"),
    ],
)
def test_files_that_are_no_maps(tmp_path, data, words):
    path = tmp_path / "x.toml"
    path.write_bytes(data)
    found = faults(load_map, path)
    assert all(fault.file == str(path) for fault in found)
    assert any(words in str(fault) for fault in found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.binary(max_size=60)
    | st.text("formatxidrule=[]{}\"'.\n 1#", max_size=80).map(str.encode)
    | st.integers(0, len(TRAVEL)).map(lambda end: TRAVEL[:end].encode())
)
def test_any_bytes_make_a_map_or_a_map_error(tmp_path, data):
    path = tmp_path / "x.toml"
    path.write_bytes(data)
    (tmp_path / "travel_repairs.py").write_text(CODE)
    found: object = ()
    try:
        found = load_map(path)
    except MapError as error:
        found = error.faults
    assert found


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xef\xbb\xbf" + ("format = 1" + rule("a")).replace("\n", "\r\n").encode())
    assert ids(load_map(path)) == ["x/a"]


def test_what_is_no_file_is_not_read(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    assert "this is no file" in str(faults(load_map, tmp_path / "folder.toml")[0])
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.toml")
        assert "this is no file" in str(faults(load_map, tmp_path / "pipe.toml")[0])


def test_a_file_that_is_far_too_large_is_not_read(tmp_path):
    path = tmp_path / "x.toml"
    with path.open("wb") as file:
        file.truncate(map_files.LARGEST_FILE + 1)
    assert "larger than" in str(faults(load_map, path)[0])


def test_a_python_map_reports_its_faults_too():
    found = faults(
        StrategyMap,
        [ErrorRule(id="x", repair="no-such")],
        use={"Bad": print, "text": "./x.py:Y"},
        limits={"attempts": 0},
        effects={"a": "b"},
    )
    assert {fault.key for fault in found} >= {"repair", "use.Bad", "limits.attempts", "effects.a"}


# --- reading anew ---------------------------------------------------------------------------------


def test_a_changed_file_is_taken(write):
    path = write(x="format = 1" + rule("a"))
    old = load_map(path)
    path.write_text("format = 1" + rule("b"))
    new, error = reload_map(old, path)
    assert error is None
    assert (ids(old), ids(new)) == (["x/a"], ["x/b"])


@pytest.mark.parametrize("end", range(0, len(TRAVEL), 7))
def test_a_half_written_file_keeps_the_old_map_and_says_so(travel, end):
    old = load_map(travel)
    text = TRAVEL[:end]
    travel.write_text(text)
    new, error = reload_map(old, travel)
    if error is None:
        # Cut between two lines, where what is left is a whole map.
        assert text.endswith("\n")
        assert new is not old
    else:
        assert new is old
        assert all(fault.file == str(travel) for fault in error.faults)


def test_a_number_that_was_cut_is_not_taken_for_another(write):
    path = write(x="format = 1" + rule("a") + "[limits]\nattempts = 10\n")
    old = load_map(path)
    path.write_text("format = 1" + rule("a") + "[limits]\nattempts = 1")
    new, error = reload_map(old, path)
    assert new is old
    assert "half-written" in str(error)


@pytest.mark.parametrize("data", [b"", b"\xff\n", b"format = 1\nextends = [\n", b"format = 9\n"])
def test_a_corrupted_file_keeps_the_old_map(write, data):
    path = write(x="format = 1" + rule("a"))
    old = load_map(path)
    path.write_bytes(data)
    new, error = reload_map(old, path)
    assert new is old
    assert str(path) in str(error)


def test_a_file_that_is_gone_keeps_the_old_map(write):
    path = write(x="format = 1" + rule("a"))
    old = load_map(path)
    path.unlink()
    assert reload_map(old, path)[0] is old


def test_maps_are_loaded_from_several_threads(travel):
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(
                load_map(travel).strategy(nearest_rule(), "nearest-date")(None, None, None)
            )
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [GiveUp("nearest 5")] * 8


def test_check_reports_what_keeps_a_map_from_loading(write):
    path = write(x="format = 1" + rule("a", repair=["no-such"]))
    assert [fault.key for fault in check_map(path)] == ["repair"]


def test_reading_a_map_imports_only_the_strategies_whose_options_it_checks():
    import subprocess

    code = (
        "import sys; from selfcorrect.mapping.loading import load_map; load_map();"
        "print([m for m in sys.modules if m.startswith('selfcorrect.repairs.')])"
    )
    root = Path(selfcorrect.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    given = {name for rule in load_map().rules for name in rule.rule.options}
    modules = [f"selfcorrect.repairs.{name.replace('-', '_')}" for name in sorted(given)]
    assert done.stdout.strip() == str(modules)
    assert len(modules) < 3
