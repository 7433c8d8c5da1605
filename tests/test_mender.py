"""Repairing calls without executing them: one, several of a text, a list, a message."""

import pytest
from kit import table
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from selfcorrect import Mender, ToolSpec, build_graph, repair_call

TOOL = {
    "name": "plant",
    "parameters": {
        "properties": {"flower": {"type": "string"}, "rows": {"type": "integer"}},
        "required": ["flower"],
    },
}
GOOD = {"name": "plant", "args": {"flower": "rose", "rows": 2}}


@pytest.mark.parametrize(
    ("given", "outcome", "args"),
    [
        *table("mender.txt", "ready"),
        ("x" * 2_000_000, "failed", []),
        ({"name": "plant", "args": "x" * 2_000_000}, "ask", []),
    ],
)
def test_only_what_may_run_is_ready(given, outcome, args):
    found = repair_call(given, [TOOL])
    assert found.outcome == outcome
    assert [each.args for each in found.ready] == args
    assert (found.reason is None) == (outcome in ("valid", "repaired"))


def test_a_call_that_may_not_run_tells_how_far_its_repair_came():
    (call,) = repair_call({"name": "plant", "args": {"rows": "2"}}, [TOOL]).calls
    assert (call.args, call.partial) == (None, {"rows": 2})
    (call,) = repair_call(GOOD, [TOOL]).calls
    assert (call.args, call.partial) == (GOOD["args"], None)


def test_a_valid_call_comes_back_as_the_same_object():
    assert repair_call(GOOD, [TOOL]).ready[0].args is GOOD["args"]


CALLED = {"name": "plant", "args": {"flower": "rose", "rows": "2"}, "id": "c1"}


@pytest.mark.parametrize(("fields", "outcome", "count"), table("mender.txt", "messages"))
def test_a_message_of_langchain_is_repaired_as_what_it_holds(fields, outcome, count):
    message = AIMessage(**fields)
    for found in (repair_call(message, [TOOL]), Mender([TOOL]).message(message)):
        assert (found.outcome, len(found.ready)) == (outcome, count)
        assert [each.args for each in found.ready] == [GOOD["args"]] * count


def plant(flower: str, rows: int = 1) -> str:
    """Plant."""
    return flower


@pytest.mark.parametrize("alone", [plant, tool(plant), TOOL, ToolSpec.from_function(plant)])
def test_one_tool_may_stand_alone(alone):
    assert repair_call(CALLED, alone).ready[0].args == GOOD["args"]
    assert build_graph(alone).invoke({"call": {"name": "Plant", "args": {}}})["failure"]


def test_each_call_of_a_message_is_repaired_by_itself():
    texts = ("{'flower': 'rose'}", '{"rows": 2}')
    calls = [
        {"id": text, "type": "function", "function": {"name": "plant", "arguments": text}}
        for text in texts
    ]
    found = Mender([TOOL]).message({"role": "assistant", "tool_calls": calls})
    assert [(each.id, each.args) for each in found.ready] == [(texts[0], {"flower": "rose"})]
    assert found.outcome == "ask"


NO_MESSAGES = dict(table("mender.txt", "no messages"))


@pytest.mark.parametrize("name", NO_MESSAGES)
def test_a_thought_or_the_message_of_another_holds_no_call(name):
    found = Mender([TOOL]).message(NO_MESSAGES[name])
    assert (found.ready, found.reason) == ((), "no_call")


@pytest.mark.parametrize(
    ("text", "args"), [('{"flower": "rose"}', [{"flower": "rose"}]), ("roses", []), ("", [])]
)
def test_the_text_of_a_custom_tool_is_not_dropped(text, args):
    custom = {"id": "c", "type": "custom", "custom": {"name": "plant", "input": text}}
    optional = {**TOOL, "parameters": {**TOOL["parameters"], "required": []}}
    found = Mender([optional]).message({"role": "assistant", "tool_calls": [custom]})
    assert [each.args for each in found.ready] == (args or ([{}] if not text else []))


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
@pytest.mark.parametrize(
    "given",
    table("mender.txt", "cut"),
)
def test_what_may_be_cut_off_at_a_limit_of_tokens_is_not_made(given, reason):
    optional = {**TOOL, "parameters": {**TOOL["parameters"], "required": []}}
    assert not Mender([optional]).call(given, finish_reason=reason).ready
    read = Mender([{**optional, "effect": "read_only"}])
    assert bool(read.call(given, finish_reason=reason).ready) == isinstance(given, dict)
    assert Mender([optional]).call(given, finish_reason="stop").ready


def test_a_long_text_that_is_read_again_is_another_value():
    listed = {"name": "sow", "parameters": {"properties": {"rows": {"type": "array"}}}}
    call = {"name": "sow", "args": {"rows": str(list(range(1_000)))}}
    first, second = (repair_call(call, [listed]).ready[0].args for _ in range(2))
    first["rows"].append("more")
    assert second["rows"] == repair_call(call, [listed]).ready[0].args["rows"] == [*range(1_000)]


def test_each_call_has_a_result_of_its_own():
    found = repair_call([GOOD, {"name": "plant", "args": {"rows": "2"}, "id": "c2"}], [TOOL])
    valid, missing = found.calls
    assert (valid.outcome, valid.args, valid.for_model) == ("valid", GOOD["args"], "")
    assert (missing.outcome, missing.args, missing.id) == ("ask", None, "c2")
    assert "`flower`" in missing.for_model
    assert repair_call("Shall I plant roses?", [TOOL]).calls == ()


def test_a_call_inside_of_a_call_of_no_tool_is_the_call():
    given = {"name": "call_tool", "args": {"tool_name": "plant", "args": {"flower": "rose"}}}
    found = repair_call(given, [TOOL])
    assert [(each.name, each.args) for each in found.ready] == [("plant", {"flower": "rose"})]
    assert [each.path for each in found.changes] == ["/name", "/args"]
    given["args"]["when"] = "tomorrow"
    assert repair_call(given, [TOOL]).ready == ()


@pytest.mark.parametrize("name", ["cancel", "do_not_call", "explain_tool", "schedule", "undo"])
def test_a_name_that_says_more_than_a_call_is_no_wrapper(name):
    given = {"name": name, "args": {"tool_name": "plant", "args": {"flower": "rose"}}}
    assert repair_call(given, [TOOL]).ready == ()


def test_no_call_of_an_object_with_several_is_dropped():
    given = {"tool_calls": [GOOD, {"name": "plant", "args": {"flower": "tulip"}}]}
    mender = Mender([TOOL])
    assert mender.call(given).ready == ()
    assert mender.call(given, index=1).ready[0].args == {"flower": "tulip"}


def test_a_name_and_arguments_are_repaired_together():
    found = repair_call({"name": "Plant", "arguments": "{'flower': 'rose'}"}, [TOOL])
    assert [(each.name, each.args) for each in found.ready] == [("plant", {"flower": "rose"})]


@pytest.mark.parametrize(
    "beside", [{"finish_reason": "content_filter"}, {"tool_choice": "none"}, {"refusal": "No."}]
)
def test_what_is_withheld_or_forbidden_is_no_call(beside):
    message = {"content": "plant(flower='rose')", "refusal": beside.pop("refusal", None)}
    assert Mender([TOOL]).message(message, **beside).reason == "no_call"


def test_two_calls_of_a_text_share_no_object():
    mender = Mender([TOOL])
    first, second = (mender.call("plant(flower='rose', rows=2)").ready[0] for _ in range(2))
    assert first == second
    assert first.args is not second.args


@pytest.mark.parametrize(
    "given",
    table("mender.txt", "secrets"),
)
def test_what_a_secret_is_is_not_told_back(given):
    number = {"type": "integer"}
    properties = {"password": number, "apiKey": number, "door": {"enum": ["front", "back"]}}
    found = repair_call(given, [{"name": "open", "parameters": {"properties": properties}}])
    assert found.ready == ()
    assert [
        text for call in found.calls for text in (call.for_model, found.detail) if "xy12" in text
    ] == []


def test_each_call_says_why_it_may_not_run():
    wrong = {"name": "plant", "args": {"flower": "rose", "rows": "many"}}
    found = Mender([TOOL]).call([GOOD, wrong])
    assert [(each.reason, each.detail) for each in found.calls] == [
        (None, None),
        (found.reason, found.detail),
    ]
    assert found.reason == "needs_person"
    assert "`rows`" in found.detail
