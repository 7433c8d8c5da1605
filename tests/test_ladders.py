"""What a ladder lists first is tried first, only for its own fault."""

import pytest
from kit import DATE, INTEGER, Tool, run, table, with_rules

from selfcorrect import ErrorRule


def rule(name, repair, match=None, words=None):
    options = {"correct-enum": {"synonyms": words}} if words else {}
    return ErrorRule(
        id=name, error="InvalidArgs", match=match, kind="validation", repair=repair, options=options
    )


def walk(schema, args, *rules):
    """Run one call; return the arguments that ran, who changed what, and every answer."""
    tool = Tool(schema=schema)
    out = run(tool, args, strategies=with_rules(*rules))
    changes = [each for event in out["trail"] for each in event.get("changes", ())]
    tried = [each for event in out["trail"] for each in event.get("tried", ())]
    made = [(each["strategy"], each["rule"].split("/")[1], each["path"]) for each in changes]
    return tool.ran, made, tried, out


TIES = table("ladders.txt", "ties")


@pytest.mark.parametrize(("schema", "written", "ladder", "want", "strategy"), TIES)
def test_the_order_of_a_ladder_decides_between_equal_ways(schema, written, ladder, want, strategy):
    ran, made, tried, _ = walk({"q": schema}, {"q": written}, rule("own", ladder))
    assert ran == [{"q": want}]
    assert made == [(strategy, "own", "/args/q")]
    assert [each["strategy"] for each in tried] == [strategy]


IDLE = table("ladders.txt", "idle")


@pytest.mark.parametrize(("schema", "written", "ladder"), IDLE)
def test_what_the_strategies_of_the_pass_came_to_is_told_once(schema, written, ladder):
    ran, made, tried, out = walk({"q": schema}, {"q": written}, rule("own", [*ladder, "ask-human"]))
    assert (ran, made) == ([], [])
    names = [each["strategy"] for each in tried if each["outcome"] == "gave_up"]
    assert names == [", ".join(ladder)]
    for told in (out["failure"]["tried"], out["failure"]["question"]["tried"]):
        assert [each["strategy"] for each in told if each["strategy"] != "ask-human"] == names


def test_a_reason_belongs_to_its_fault():
    schema, args = {"q": INTEGER, "day": DATE}, {"q": "lots", "day": "03/04/2026"}
    ladder = ["convert-type", "format-date", "correct-enum"]
    _, _, tried, _ = walk(schema, args, rule("own", ladder))
    assert [(each["strategy"], each["path"], each["reason"]) for each in tried] == [
        (", ".join(ladder), "/args/q", '"lots" has no form that fits'),
        (", ".join(ladder), "/args/day", '"03/04/2026" is 3 April 2026 or 4 March 2026'),
    ]


TWO = table("ladders.txt", "two")  # fmt: skip


@pytest.mark.parametrize(("schema", "written", "first", "second", "want", "rules"), TWO)
def test_a_ladder_is_tried_only_for_its_own_fault(schema, written, first, second, want, rules):
    ran, made, _, _ = walk(
        {"q": schema, "quantity": schema},
        {"q": written, "quantity": written},
        rule("own", first[0], "`q`", first[1]),
        rule("other", second[0], "`quantity`", second[1]),
    )
    assert ran == ([] if want is None else [dict(zip(("q", "quantity"), want, strict=True))])
    places = {"own": "/args/q", "other": "/args/quantity"}
    assert [(owner, path) for _, owner, path in made] == [(each, places[each]) for each in rules]


def test_what_a_renamed_key_holds_is_read_in_the_same_round():
    _, made, _, out = walk(
        {"q": INTEGER, "departure_date": DATE}, {"q": "5", "departureDate": "Oct 26, 2026"}
    )
    assert [strategy for strategy, _, _ in made][-2:] == ["rename-argument", "format-date"]
    assert out["result"] == "ok"
