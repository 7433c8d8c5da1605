"""May this value run? Every class of what was once let through, as a table; nothing of it runs."""

import json
import re

import pytest
from kit import DATE, INTEGER, TEXT, sections, table

from selfcorrect import Mender, StrategyMap, repair_call

NAMESPACE = re.compile(r"\w[.:/]\w")
EFFECTS = [None, "mutating", "destructive"]
ARGS = {"to": "ann", "amount": 5}
PAY = {"to": TEXT, "amount": INTEGER, "note": TEXT}


TABLES = sections("may_not_run.txt")


def words(section):
    return " ".join(TABLES[section]).split()


def values(section):
    """Return the JSON values of a section, which stand side by side."""
    text, found, at = " ".join(TABLES[section]), [], 0
    while at < len(text):
        value, end = json.JSONDecoder().raw_decode(text, at)
        found.append(value)
        at = end + 1
    return found


def tool(properties, effect=None, name="pay", required=None):
    parameters = {"type": "object", "properties": properties}
    parameters["required"] = list(properties) if required is None else required
    about = {"name": name, "description": "", "parameters": parameters}
    return about | ({"effect": effect} if effect else {})


def runs(given, *tools):
    """Return the calls that would run."""
    return repair_call(given, tools).ready


@pytest.fixture(params=EFFECTS, ids=["undeclared", "mutating", "destructive"])
def pay(request):
    return tool(PAY, request.param, required=["to", "amount"])


def test_content_is_not_lifted_from_under_a_word(pay):
    mender = Mender([pay])
    for word in words("content lifted from under a word"):
        for inner in (ARGS, json.dumps(ARGS), [ARGS]):
            assert not mender.call({"name": "pay", "args": {word: inner}}).ready, word
        for beside in ({"to": "ann", word: {"amount": 5}}, {**ARGS, word: {"amount": 6}}):
            assert not mender.call({"name": "pay", "args": beside}).ready, word
        amount = {"to": "ann", "amount": {word: 5}}
        assert word == "value" or not mender.call({"name": "pay", "args": amount}).ready, word


def test_content_around_arguments_is_not_dropped(pay):
    mender = Mender([pay])
    for row in TABLES["content around arguments"]:
        for text in (json.dumps(ARGS), str(ARGS), '{"to": "ann", "amount": "5"}'):
            said = row.replace("{}", text)
            assert not mender.call({"name": "pay", "arguments": said}).ready, said
            for wrapper in ("arguments", "input"):
                assert not mender.call({"name": "pay", "args": {wrapper: said}}).ready, said


def test_content_around_a_call_is_not_dropped(pay):
    mender = Mender([pay])
    call = json.dumps({"name": "pay", "arguments": ARGS})
    for row in TABLES["content around a call"]:
        for text in (
            call,
            "pay(to='ann', amount=5)",
            f"<tool_call>{call}</tool_call>",
            f"```json\n{call}\n```",
        ):
            assert not mender.call(row.replace("{}", text)).ready or row == "My plan:", row


def test_content_beside_a_call_is_not_dropped(pay):
    mender = Mender([pay])
    for row in TABLES["content beside a call"]:
        for call in (
            {"name": "pay", "args": ARGS},
            {"name": "pay", "arguments": {**ARGS, "amount": "5"}},
        ):
            flagged = {**call, **json.loads(row)}
            for given in (
                flagged,
                json.dumps(flagged),
                f"<tool_call>{json.dumps(flagged)}</tool_call>",
            ):
                assert not mender.call(given).ready, given


@pytest.mark.parametrize("effect", EFFECTS)
def test_a_name_is_no_other_tool(effect):
    for pair in words("names of tools"):
        written, offered = pair.split("/", 1)
        finish = [tool(PAY, effect, "finish")]
        # A namespace that every tool shares says nothing: it is another server's beside others.
        for other in (finish,) if NAMESPACE.search(offered) else ([], finish):
            assert not runs(
                {"name": written, "args": ARGS}, tool(PAY, effect, offered, ["to"]), *other
            ), pair


def test_a_key_is_no_other_argument(pay):
    for key in words("names of arguments"):
        assert not runs({"name": "pay", "args": {"to": "ann", key: 5}}, pay), key
        assert not runs({"name": "pay", "args": {**ARGS, key: 5}}, pay), key


@pytest.mark.parametrize("effect", [None, "read_only"])
@pytest.mark.parametrize("row", TABLES["units"])
def test_another_unit_is_another_value(row, effect):
    description, name, written = row.split("|")
    about = tool({name: {"type": "number", "description": description}}, effect)
    assert not runs({"name": "pay", "args": {name: written}}, about)


@pytest.mark.parametrize("effect", [None, "read_only"])
@pytest.mark.parametrize("row", TABLES["choices"])
def test_a_text_that_says_more_is_no_listed_value(row, effect):
    listed, written = row.split("|")
    choices = [None if each == "null" else each for each in listed.split()]
    assert not runs({"name": "pay", "args": {"q": written}}, tool({"q": {"enum": choices}}, effect))


KINDS = dict(table("may_not_run.txt", "kinds"))


@pytest.mark.parametrize("effect", [None, "read_only"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_without_one_reading_does_not_run(kind, effect):
    mender = Mender([tool({"q": KINDS[kind]}, effect)])
    for written in values(kind):
        for given in (written, {"value": written}, [written]):
            assert not mender.call({"name": "pay", "args": {"q": given}}).ready or (
                given == [written] and KINDS[kind]["type"] == "array"
            ), given


def test_two_readings_in_a_union_are_a_refusal():
    union = {"anyOf": [INTEGER, {"type": "array", "items": INTEGER}]}
    assert not runs({"name": "pay", "args": {"q": "1,234"}}, tool({"q": union}))
    assert runs({"name": "pay", "args": {"q": "7"}}, tool({"q": union}))[0].args == {"q": 7}


EMPTY = ["", "  ", [], {}]
OWN = {**INTEGER, "default": 100}
NULL = table("may_not_run.txt", "null")


@pytest.mark.parametrize("schema", table("may_not_run.txt", "empty"))
@pytest.mark.parametrize("value", EMPTY, ids=map(repr, EMPTY))
@pytest.mark.parametrize("required", [["q"], []])
def test_what_is_empty_is_missing_on_a_tool_that_acts(schema, value, required):
    assert not runs({"name": "pay", "args": {"q": value}}, tool({"q": schema}, required=required))


@pytest.mark.parametrize(("schema", "effect", "args"), NULL)
def test_null_is_left_out_where_an_argument_may_be_absent(schema, effect, args):
    found = runs({"name": "pay", "args": {"q": None}}, tool({"q": schema}, effect, required=[]))
    assert [each.args for each in found] == [args]


def test_null_under_another_spelling_is_null_of_the_argument():
    args = {"Q": None}
    for schema in (OWN, INTEGER):
        found = runs({"name": "pay", "args": args}, tool({"q": schema}, required=[]))
        assert found[0].args == {}
    about = tool({"q_max": {"type": ["integer", "null"]}}, required=[])
    assert runs({"name": "pay", "args": {"Q_MAX": None}}, about)[0].args == {"q_max": None}
    assert not runs({"name": "pay", "args": {"Q_MAX": 5, "Q-max": None}}, about)


def test_a_default_is_another_value_than_one_of_another_type():
    about = tool({"q": {"type": "boolean", "default": True}}, required=[])
    assert runs({"name": "pay", "args": {"q": 1}}, about)[0].args == {"q": True}


SENSITIVE = table("may_not_run.txt", "sensitive")


@pytest.mark.parametrize("effect", [None, "read_only"])
@pytest.mark.parametrize(("amount", "want"), SENSITIVE)
def test_what_the_policy_refuses_of_a_sensitive_argument_is_not_done(amount, want, effect):
    policy = StrategyMap([], extends=["default"], policy={"sensitive": ["amount"]})
    mender = Mender([tool({"to": TEXT, "amount": INTEGER, "at": DATE}, effect)], strategies=policy)
    found = mender.call({"name": "pay", "args": {"to": "ann", "at": "Oct 26, 2026", **amount}})
    if want:
        assert [each.args for each in found.ready] == [{"to": "ann", "at": "2026-10-26", **want}]
        return
    assert found.ready == ()
    # Neither in part: no change of another class touches what only a person changes.
    touched = [
        each for each in found.changes if "amount" in f"{each.path} {each.moved_from}".lower()
    ]
    assert {each.safety for each in touched} <= {"exact"}
