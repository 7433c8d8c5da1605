"""ask-human: everything that is needed to decide, and a strict reading of the answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect.json_forms import to_json
from selfcorrect.model import ABSENT, Ask, Call, Change, Changed, Finding, GiveUp, Safety, Terminal
from selfcorrect.pointer import apply
from selfcorrect.reading.answers import read_answer
from selfcorrect.repairs.ask_human import AskHuman
from selfcorrect.testing.conformance import try_rename, try_strategy

SCHEMA = {"properties": {"cabin": {"enum": ["economy", "business"]}, "n": {"type": "integer"}}}
CALL = Call("book", {"cabin": "comfy", "n": 1})
CABIN = Finding("bad cabin", ("E",), paths=("/args/cabin",))


def changed(path, before, after, safety=Safety.LOSSY, strategy="clamp", reason="why"):
    return Change(path, before, after, safety, reason, strategy, "rule")


class TestQuestion:
    def test_says_what_is_wrong_and_what_is_allowed(self):
        ask = try_strategy(AskHuman(), SCHEMA, {"cabin": "comfy"}, CABIN)
        assert isinstance(ask, Ask)
        for part in ('Tool "tool"', 'argument "cabin"', 'now "comfy"', 'The error: "bad cabin"'):
            assert part in ask.question
        assert ask.options == ("economy", "business")

    def test_offers_what_policy_refused_first(self):
        refused = (
            changed("/args/n", 1, 2),
            changed("/args/cabin", "comfy", "business"),
            changed("/args/cabin", "comfy", ABSENT, strategy="drop-extra"),
            changed("/args/klass", "a", ABSENT, Safety.INFERRED, "rename-argument"),
            changed("/args/cabin", ABSENT, "a", Safety.INFERRED, "rename-argument"),
        )
        ask = try_strategy(AskHuman(), SCHEMA, {"cabin": "comfy"}, CABIN, refused=refused)
        assert ask.options[0] == "business"
        assert [item["path"] for item in ask.options[1]] == ["/args/cabin"]
        assert [item["path"] for item in ask.options[2]] == ["/args/klass", "/args/cabin"]
        assert ask.options[3:] == ("economy",)

    def test_of_a_missing_argument(self):
        schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
        ask = try_strategy(AskHuman(), schema, {})
        assert 'argument "n" is missing' in ask.question

    def test_of_an_unknown_tool(self):
        ask = try_rename(AskHuman(), "look", ["search", "book"])
        assert ask.question.endswith("Which tool is meant?")
        assert ask.options == ("search", "book")

    def test_of_an_error_that_names_no_argument(self):
        ask = try_strategy(AskHuman(), SCHEMA, {"n": 1}, Finding("disk full", ("OSError",)))
        assert 'The arguments: {"n": 1}' in ask.question

    def test_is_bounded_and_harmless(self):
        hostile = Finding("\u202e\x1b[2J" * 100_000, ("E",), paths=("/args/cabin",))
        ask = try_strategy(AskHuman(), SCHEMA, {"cabin": "x" * 1_000_000}, hostile)
        assert len(ask.question) < 6_000
        assert ask.question.isprintable()


@pytest.mark.parametrize(
    ("answer", "args"),
    [
        ("business", {"cabin": "business", "n": 1}),
        ({"action": "answer", "value": "business"}, {"cabin": "business", "n": 1}),
        ({"action": "edit", "value": "business"}, {"cabin": "business", "n": 1}),
        ({"action": "answer", "value": None}, {"cabin": None, "n": 1}),
        ({"action": "edit", "args": {"cabin": "x"}}, {"cabin": "x"}),
        (
            {"action": "edit", "arguments": {"cabin": "comfy", "n": True}},
            {"cabin": "comfy", "n": True},
        ),
        ({"action": "edit", "call": {"name": "book", "args": {}}}, {}),
        ({"action": "choose", "choice": 1}, {"cabin": "economy", "n": 1}),
        ({"action": "choose", "choice": "business"}, {"cabin": "business", "n": 1}),
        ({"action": "choose", "choice": 2}, {"n": 1}),
        ({"any": "object"}, {"cabin": {"any": "object"}, "n": 1}),
        (["a"], {"cabin": ["a"], "n": 1}),
    ],
)
def test_an_answer_becomes_changes_of_class_human(answer, args):
    options = ["business", "economy", to_json([changed("/args/cabin", "comfy", ABSENT)])]
    repair = read_answer(answer, CALL, CABIN, options)
    assert isinstance(repair, Changed)
    assert {change.safety for change in repair.changes} == {Safety.HUMAN}
    assert apply(CALL, repair.changes).args == args


@pytest.mark.parametrize(
    "answer", ["reject", " Rejected ", {"action": "cancel"}, {"type": "reject"}]
)
def test_a_rejection_is_never_run_as_a_value(answer):
    assert isinstance(read_answer(answer, CALL, CABIN), Terminal)


@pytest.mark.parametrize("answer", [{"action": "fly"}, {"action": "fly", "value": 1}])
def test_an_unknown_action_is_refused(answer):
    assert isinstance(read_answer(answer, CALL, CABIN), GiveUp)


def test_approve_takes_the_only_option():
    proposal = to_json([changed("/args/n", 1, 2), changed("/args/cabin", "comfy", "business")])
    repair = read_answer({"action": "approve"}, CALL, CABIN, [proposal])
    assert apply(CALL, repair.changes).args == {"cabin": "business", "n": 2}
    assert {change.safety for change in repair.changes} == {Safety.HUMAN}


def test_an_edit_may_name_another_tool():
    answer = {"action": "edit", "call": {"tool": "search", "params": {"n": 2}}}
    after = apply(CALL, read_answer(answer, CALL, CABIN).changes)
    assert (after.name, after.args) == ("search", {"n": 2})


def test_an_edit_replaces_what_could_not_be_read():
    broken = Call("", raw='{"name": "book", "args": {"n": ')
    finding = Finding("cut", ("MalformedCall",), paths=("/raw",))
    answer = {"action": "edit", "call": {"name": "book", "arguments": {"n": 1}}}
    after = apply(broken, read_answer(answer, broken, finding).changes)
    assert (after.name, after.args, after.raw) == ("book", {"n": 1}, None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "rejected"),
        ({"action": "reject"}, "rejected"),
        ({"action": "reject", "reason": "too dear"}, "rejected: too dear"),
        ({"action": "reject", "reason": ["?"]}, "rejected"),
    ],
)
def test_no_is_no(answer, reason):
    assert read_answer(answer, CALL, CABIN) == Terminal(reason)


@pytest.mark.parametrize(
    ("answer", "finding", "options"),
    [
        ({"action": "approve"}, CABIN, []),
        ({"action": "approve"}, CABIN, ["a", "b"]),
        ({"action": "choose"}, CABIN, ["a"]),
        ({"action": "choose", "choice": 1}, CABIN, ["a"]),
        ({"action": "choose", "choice": -1}, CABIN, ["a"]),
        ({"action": "choose", "choice": True}, CABIN, ["a", "b"]),
        ({"action": "choose", "choice": "c"}, CABIN, ["a"]),
        (
            {"action": "choose", "choice": 0},
            CABIN,
            [[{"path": "/args/n", "safety": "?", "reason": ""}]],
        ),
        ({"action": "answer"}, CABIN, ["a"]),
        ({"action": "edit"}, CABIN, ["a"]),
        ({"action": "edit", "args": [1]}, CABIN, []),
        ({"action": "edit", "call": {"x": 1}}, CABIN, []),
        ({"action": "edit", "args": {"cabin": "comfy", "n": 1}}, CABIN, []),
        ("business", Finding("failed", ("E",)), []),
        ("business", Finding("failed", ("E",), paths=("/raw",)), []),
        ("business", Finding("failed", ("E",), paths=("nonsense",)), []),
        (5, Finding("no tool", ("UnknownTool",), paths=("/name",)), []),
    ],
)
def test_what_decides_nothing_is_given_up(answer, finding, options):
    assert isinstance(read_answer(answer, CALL, finding, options), GiveUp)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["action", "value", "args", "call", "choice", "reason", "name", "path"]
            ),
            inner | st.sampled_from(["approve", "edit", "choose", "answer", "reject"]),
            max_size=4,
        )
    ),
    max_leaves=6,
)


@settings(max_examples=80)
@given(JSON, st.lists(JSON, max_size=2))
def test_any_answer_is_read_or_refused(answer, options):
    repair = read_answer(answer, CALL, CABIN, options)
    assert isinstance(repair, Changed | GiveUp | Terminal)
    if isinstance(repair, Changed):
        assert {change.safety for change in repair.changes} == {Safety.HUMAN}
        apply(CALL, repair.changes)
