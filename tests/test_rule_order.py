"""Which rule is tried first: by priority, `before`, the maps that extend others, the file."""

import json
import re
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfcorrect.errors import MapError
from selfcorrect.mapping.linting import check_map, example_finding, lint
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.merging import merged_rules
from selfcorrect.mapping.ordering import circles, in_order
from selfcorrect.mapping.rules import ErrorRule
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Finding

MAPS = Path(__file__).parents[1] / "selfcorrect" / "maps"
STRATEGIES = MAPS.parents[1] / "strategies"


def rule(name, **said):
    said = {"id": name, "kind": "auth", "repair": "give-up"} | said
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())


@pytest.fixture
def write(tmp_path):
    def write(*rules, name="top", **said):
        """One map file: its rules, and what else it says."""
        head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())
        path = tmp_path / f"{name}.toml"
        text = "".join(f"[[rule]]\n{each}" for each in rules)
        path.write_text(f"format = 1\n{head}{text}", encoding="utf-8")
        return path

    return write


def order(path):
    return [placed.id for placed in load_map(path).rules]


def faults(path):
    with pytest.raises(MapError) as caught:
        load_map(path)
    return caught.value.faults


# --- the order itself -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({}, "abcde"),
        ({"a": "e"}, "abcde"),
        ({"c": "a"}, "bcade"),
        ({"e": "a", "c": "b"}, "cbdea"),
        ({"e": "bd"}, "acebd"),
        ({"e": "c", "c": "a"}, "bdeca"),
        ({"e": "x"}, "abcde"),
    ],
)
def test_what_comes_too_early_waits_and_all_else_keeps_its_order(before, expected):
    assert "".join(in_order("abcde", before)) == expected


@st.composite
def orders(draw):
    """Names in order, and what each stands before, without circles."""
    ids = [f"r{n}" for n in range(draw(st.integers(0, 12)))]
    ranks = draw(st.permutations(ids))
    pairs = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)))) if ids else []
    before: dict[str, list[str]] = {}
    for one, other in pairs:
        if ranks.index(one) < ranks.index(other):
            before.setdefault(one, []).append(other)
    return ids, before


@given(orders())
def test_an_order_is_total_keeps_every_before_and_is_stable(drawn):
    ids, before = drawn
    assert not list(circles(before))
    ordered = in_order(ids, before)
    assert sorted(ordered) == sorted(ids)
    place = {name: number for number, name in enumerate(ordered)}
    assert all(place[one] < place[other] for one, others in before.items() for other in others)
    assert in_order(ordered, before) == ordered
    named = {other for others in before.values() for other in others}
    unnamed = [name for name in ids if name not in named]
    assert [name for name in ordered if name not in named] == unnamed


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3)))
def test_a_circle_is_found_where_there_is_one(before):
    found = list(circles(before))
    for circle in found:
        assert circle[0] == circle[-1]
        assert all(other in before[one] for one, other in pairwise(circle))
    assert bool(found) == (len(in_order("abcdef", before)) < 6)


def test_a_long_chain_needs_no_recursion():
    ids = [f"r{n}" for n in range(5_000)]
    before = {f"r{n + 1}": [f"r{n}"] for n in range(4_999)}
    assert list(circles(before)) == []
    assert in_order(ids, before) == ids[::-1]


# --- in maps --------------------------------------------------------------------------------------


def test_a_rule_stands_before_the_one_that_it_names(write):
    write(rule("a"), rule("b"), rule("low", priority="low"), name="left")
    write(rule("c", before="left/a"), rule("d"), name="right")
    path = write(rule("own"), extends=["left.toml", "right.toml"])
    assert order(path) == ["top/own", "left/b", "right/c", "left/a", "right/d", "left/low"]


def test_a_name_without_a_map_means_a_rule_of_the_same_map(write):
    path = write(rule("a"), rule("b"), rule("c", before=["a", "b"]))
    assert order(path) == ["top/c", "top/a", "top/b"]


def test_priority_counts_more_than_before_and_before_more_than_the_file(write):
    path = write(
        rule("low", priority="low"),
        rule("a"),
        rule("high", priority="high", before="low"),
        rule("b", before="a"),
    )
    assert order(path) == ["top/high", "top/b", "top/a", "top/low"]


def test_what_replaces_a_rule_stands_before_what_that_one_stood_before(write):
    write(rule("a"), rule("b"), rule("c", before="a"), name="base")
    path = write(
        rule("mine", replaces="base/c"), rule("yours", replaces="base/a"), extends="base.toml"
    )
    assert order(path) == ["base/b", "top/mine", "top/yours"]


def test_a_replacement_of_another_priority_leaves_its_neighbours_where_they_are(write):
    write(rule("a"), rule("b"), rule("c", before="a"), name="base")
    path = write(rule("mine", replaces="base/a", priority="high"), extends="base.toml")
    assert order(path) == ["top/mine", "base/b", "base/c"]


def test_nobody_waits_for_a_disabled_rule_and_it_waits_for_nobody(write):
    write(rule("a"), rule("b"), rule("c", before="b"), rule("d", before="a"), name="base")
    path = write(extends="base.toml", disable=["base/a", "base/c"])
    assert order(path) == ["base/b", "base/d"]


def test_a_built_in_map_may_name_a_rule_of_one_that_is_not_asked_for():
    alone = load_map("words")
    assert {placed.source.name for placed in alone.rules} == {"words"}
    assert any("codes/" in name for placed in alone.rules for name in placed.rule.before)


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "message", "hint"),
    [
        ([rule("a", before="default/requird")], "is no rule 'default/requird'", "default/required"),
        ([rule("a", before="bb"), rule("bbb")], "is no rule 'bb'", "did you mean"),
        ([rule("a", before="a")], "stand before each other: top/a → top/a", None),
        ([rule("a", before="b"), rule("b", before="a")], "top/a → top/b → top/a", None),
        (
            [rule("a", before="default/wrong-type")],
            "'default/wrong-type' comes first: its priority is high, not medium",
            'write priority = "high" too',
        ),
        (
            [rule("a", before="b", priority="low"), rule("b")],
            "'top/b' comes first: its priority is medium, not low",
            'write priority = "medium" too',
        ),
    ],
)
def test_what_before_may_not_say(write, rules, message, hint):
    path = write(*rules, extends="default")
    (fault,) = faults(path)
    assert (fault.file, fault.rule, fault.key) == (str(path), "a", "before")
    assert message in fault.message
    assert fault.hint == hint or hint in fault.hint


def test_rules_that_replace_each_others_neighbours_may_make_a_circle(write):
    write(rule("a"), rule("b", before="a"), name="base")
    path = write(rule("mine", replaces="base/a", before="base/b"), extends="base.toml")
    assert "top/mine → base/b → top/mine" in str(faults(path)[0])


def test_a_number_says_what_to_write_instead(write):
    (fault,) = faults(write(rule("a", priority=-102.21)))
    assert (fault.rule, fault.key) == ("a", "priority")
    assert "critical, high, medium, low, not -102.21" in fault.message
    assert 'before = "map/rule"' in fault.message


# --- check places a rule --------------------------------------------------------------------------


def placed(path):
    return [(f.rule, f.message, f.hint) for f in check_map(path) if f.key == "example"]


def applied(path, hint):
    """The map with the line written that a hint names, into its last rule."""
    lines = hint.removeprefix("write ").replace(" and ", "\n")
    text = re.sub(r"(?m)^before = .*\n", "", path.read_text(encoding="utf-8"))
    path.write_text(f"{text}{lines}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("rules", "winner", "line"),
    [
        ([rule("any", match="no")], "top/any", 'write before = "any"'),
        (
            [rule("any", match="no", priority="high")],
            "top/any",
            'write priority = "high" and before = "any"',
        ),
        (
            [rule("any", match="flight"), rule("sort", match="no")],
            "top/any",
            'write before = ["any", "sort"]',
        ),
    ],
)
def test_check_names_the_neighbour_and_the_line_that_places_a_new_rule(write, rules, winner, line):
    path = write(*rules, rule("new", match="no flight", example="no flight"))
    ((name, message, hint),) = placed(path)
    assert (name, hint) == ("new", line)
    assert f"is decided by {winner!r}" in message
    applied(path, line)
    assert placed(path) == []


def test_a_rule_that_a_built_in_one_overrules_is_told_the_word_to_write(write):
    example = "ValueError: Invalid date for 'x'"
    path = write(rule("new", match="Invalid date for .x", example=example), extends="default")
    ((_, message, hint),) = placed(path)
    assert "is decided by 'default/date-format'" in message
    assert hint == 'write priority = "high"'
    applied(path, hint)
    assert placed(path) == []


def test_one_line_places_a_rule_before_all_that_take_its_examples(write):
    rules = [rule(name, match=name) for name in "abc"]
    new = rule("new", match="[abc]{2}", example=["ab", "ba", "bb", "cc"], before="c")
    path = write(*rules, new)
    assert {hint for _, _, hint in placed(path)} == {'write before = ["c", "a", "b"]'}
    applied(path, 'write before = ["c", "a", "b"]')
    assert placed(path) == []


def test_where_both_match_the_others_example_check_asks_to_narrow_one(write):
    path = write(
        rule("any", match="no", example="no flight"),
        rule("new", match="flight", example="no flight at all"),
    )
    ((name, message, hint),) = placed(path)
    assert "is decided by 'top/any'" in message
    assert (name, hint) == (
        "new",
        "narrow one of them: this rule matches its example 'no flight' too",
    )


def test_a_map_that_overrules_what_it_extends_is_told_so_and_not_to_move(write):
    write(rule("any", match="no", example="no flight"), name="base")
    path = write(rule("mine", match="flight", example="a flight"), extends="base.toml")
    assert placed(path) == []
    assert overruled(path) == [("note", "mine", "it decides examples of base/any")]


def overruled(path):
    return [
        (getattr(fault, "level", ""), fault.rule, fault.message)
        for fault in check_map(path)
        if fault.key == "match"
    ]


BASE = {
    "full": {"match": "quota", "kind": "quota", "example": "quota exceeded"},
    "slow": {
        "match": r"quota.* per minute.* (?P<seconds>\d+)",
        "kind": "rate_limit",
        "before": "full",
        "example": "quota of 5 calls per minute: wait 20",
    },
    "taken": {
        "match": "already",
        "kind": "conflict",
        "category": "duplicate",
        "example": "already there",
    },
}


@pytest.mark.parametrize(
    ("mine", "told"),
    [
        # another cure for the same error is what extending is for
        ({"match": "quota exceeded", "kind": "quota"}, [("note", "base/full")]),
        (
            {"match": "already", "category": "duplicate", "kind": "conflict"},
            [("note", "base/taken")],
        ),
        # too broad: a limit per minute is over soon, and its wait is not read any more
        (
            {"match": "quota", "kind": "quota"},
            [
                ("warning", "base/slow (not rate_limit, without its <seconds>)"),
                ("note", "base/full"),
            ],
        ),
        ({"match": "alre", "kind": "conflict"}, [("warning", "base/taken (not duplicate)")]),
        # meant: an example says so
        (
            {"match": "already", "kind": "auth", "example": "already signed in"},
            [("note", "base/taken")],
        ),
        ({"match": "already", "kind": "auth"}, [("warning", "base/taken (not conflict, not dup")]),
    ],
)
def test_a_rule_that_takes_an_error_for_something_else_is_warned_about(write, mine, told):
    write(*(rule(name, **keys) for name, keys in BASE.items()), name="base")
    path = write(rule("mine", **{"priority": "high", **mine}), extends="base.toml")
    found = overruled(path)
    assert [level for level, _, _ in found] == [level for level, _ in told]
    for (_, name, message), (_, expected) in zip(found, told, strict=True):
        assert name == "mine"
        assert message.startswith(f"it decides examples of {expected}")


def test_a_shadow_over_a_built_in_rule_is_warned_about(write):
    broad = rule("broad", match="(?i)request", kind="permanent", priority="critical")
    found = overruled(write(broad, extends="default"))
    assert [level for level, _, _ in found] == ["warning", "note"][: len(found)]
    assert "told/" in found[0][2] or "words/" in found[0][2]


def test_a_rule_that_wins_its_examples_is_told_nothing():
    strategies = StrategyMap(
        [
            ErrorRule(id="new", match="no flight", kind="auth", example="no flight"),
            ErrorRule(id="any", match="no", kind="auth", example="no"),
        ]
    )
    assert [fault for fault in lint(strategies) if fault.key == "example"] == []


# --- the maps that ship ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def default():
    return load_map("default")


@pytest.mark.parametrize("path", [*MAPS.glob("*.toml"), *STRATEGIES.glob("*.toml")], ids=str)
def test_no_number_orders_a_rule_of_ours(path):
    assert not re.search(r"(?m)^priority = [^\"]", path.read_text(encoding="utf-8"))


def neighbours(default):
    by_id = {rule.id: rule for rule in default.rules}
    for rule in default.rules:
        for name in rule.rule.before:
            yield rule, name, by_id[name if "/" in name else f"{rule.source.name}/{name}"]


def test_every_before_is_needed(default):
    """Without it the other rule would come first."""
    for rule, name, other in neighbours(default):
        kept = tuple(each for each in rule.rule.before if each != name)
        without = rule.rule.model_copy(update={"before": kept})
        content = rule.source.content.model_copy(
            update={
                "rule": tuple(
                    without if each is rule.rule else each for each in rule.source.content.rule
                )
            }
        )
        documents = [
            replace(item, content=content) if item is rule.source else item
            for item in default.documents
        ]
        merged, wrong = merged_rules(documents)
        assert not wrong
        ids = [each.id for each in merged]
        assert ids.index(other.id) < ids.index(rule.id), (rule.id, name)


def test_every_before_is_about_an_error_that_meets_both(default):
    for rule, name, other in neighbours(default):
        assert any(
            {rule.id, other.id} <= set(default.explain(finding, tool).matches)
            for finding, tool in met_by_both(rule.rule, other.rule)
        ), (rule.id, name)


def met_by_both(one, other):
    """Errors that say what an example of each says, with the conditions of either."""
    for mine, theirs in product(one.example or ("x",), other.example or ("x",)):
        (first, tool), (second, other_tool) = (
            example_finding(one, mine),
            example_finding(other, theirs),
        )
        both = [first.text, second.text]
        texts = [*both, *(sign.join(way) for sign in " \n" for way in (both, both[::-1]))]
        types = tuple(dict.fromkeys((*first.types, *second.types)))
        statuses = {first.status, second.status, *one.status, *other.status}
        for text, status, code in product(texts, statuses, {first.code, second.code}):
            yield Finding(text, types, status, code), tool or other_tool
