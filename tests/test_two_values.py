"""Two different values for one key: whoever reads it refuses, and names both."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk

from selfcorrect import Mender
from selfcorrect.batch import repair
from selfcorrect.batch.lines import parse
from selfcorrect.integrations.chat import written_calls
from selfcorrect.loop.masking import Mask
from selfcorrect.models.port import one_object
from selfcorrect.plain import TwoValues, canonical, one_value
from selfcorrect.policies.safety import SafetyPolicy
from selfcorrect.proxy.frames import frames

PAY = {
    "name": "pay",
    "parameters": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["to", "amount"],
    },
}
TWO = '{"to": "ann", "to": "bob", "amount": 5}'
SAME = '{"to": "ann", "to": "ann", "amount": 5}'
BOTH = "the key 'to' has two different values, 'ann' and 'bob'"
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3),
)


def chat(text: str) -> Any:
    function = {"name": "pay", "arguments": text}
    return {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}


def responses(text: str) -> Any:
    call = {"type": "function_call", "call_id": "c", "name": "pay", "arguments": text}
    return {"output": [call]}


WRITTEN = {
    "chat": chat,
    "responses": responses,
    "one function": lambda text: {"function_call": {"name": "pay", "arguments": text}},
    "anthropic": lambda text: {"type": "tool_use", "id": "c", "name": "pay", "input": text},
    "gemini": lambda text: {"functionCall": {"name": "pay", "args": text}},
    "bedrock": lambda text: {"toolUse": {"toolUseId": "c", "name": "pay", "input": text}},
    "langchain": lambda text: {"name": "pay", "args": text, "id": "c", "type": "tool_call"},
    "mcp": lambda text: {"method": "tools/call", "params": {"name": "pay", "arguments": text}},
    "our own": lambda text: {"name": "pay", "args": text},
    "a text": lambda text: f'{{"name": "pay", "arguments": {text}}}',
    "a fenced text": lambda text: f'```json\n{{"name": "pay", "arguments": {text}}}\n```',
}


@pytest.mark.parametrize("form", WRITTEN.values(), ids=WRITTEN)
def test_a_mender_refuses_it_in_every_form(form: Any) -> None:
    done = Mender([PAY]).call(form(TWO))
    assert (done.outcome, done.ready) == ("failed", ())
    assert BOTH in str(done.detail)


@pytest.mark.parametrize("form", WRITTEN.values(), ids=WRITTEN)
def test_the_same_value_twice_is_one(form: Any) -> None:
    done = Mender([PAY]).call(form(SAME))
    assert [call.args for call in done.ready] == [{"to": "ann", "amount": 5}]
    assert {change.safety.value for change in done.changes} <= {"exact"}


@pytest.mark.parametrize(
    "text", ["pay(to='ann', to='bob', amount=5)", "pay(**{'to': 'ann', 'to': 'bob', 'amount': 5})"]
)
def test_a_call_in_code_names_both(text: str) -> None:
    done = Mender([PAY]).call(text)
    assert done.ready == ()
    assert "ann" in str(done.detail)
    assert "bob" in str(done.detail)


@given(st.text(max_size=4), JSON_VALUES, JSON_VALUES)
def test_an_object_is_read_if_each_key_has_one_value(key: str, one: Any, other: Any) -> None:
    text = f"{{{json.dumps(key)}: {json.dumps(one)}, {json.dumps(key)}: {json.dumps(other)}}}"
    if canonical(one) == canonical(other):
        assert json.loads(text, object_pairs_hook=one_value) == {key: one}
    else:
        with pytest.raises(TwoValues):
            json.loads(text, object_pairs_hook=one_value)


def test_true_is_not_one() -> None:
    for text in ('{"a": 1, "a": true}', '{"a": 1, "a": 1.0}', '{"a": 1, "a": 1, "a": 2}'):
        with pytest.raises(TwoValues, match="has two different values, 1 and"):
            json.loads(text, object_pairs_hook=one_value)


def test_a_line_of_a_file() -> None:
    line = f'{{"tools": [{json.dumps(PAY)}], "call": {{"name": "pay", "args": {TWO}}}}}'
    [answer] = repair([line])
    assert BOTH in answer["detail"]
    assert parse(SAME) == {"to": "ann", "amount": 5}


def test_a_models_answer() -> None:
    with pytest.raises(Exception, match="not one JSON object"):
        one_object(TWO)


def test_what_langchain_parsed_is_not_believed() -> None:
    chunk = AIMessageChunk(
        "", tool_call_chunks=[{"name": "pay", "args": TWO, "id": "c", "index": 0}]
    )
    assert chunk.tool_calls[0]["args"]["to"] == "bob"
    kept = AIMessage(
        "",
        tool_calls=[{"name": "pay", "args": {"to": "bob", "amount": 5}, "id": "c"}],
        additional_kwargs={"tool_calls": [{"id": "c", "function": {"arguments": TWO}}]},
    )
    for message in (chunk, kept):
        assert written_calls(message)[0].args == TWO


def test_a_frame_of_a_client() -> None:
    call = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"arguments":{TWO}}}}}'
    for raw in (call, f"[{call}]"):
        [frame] = frames(raw.encode(), checks=True)
        assert frame.fault == BOTH
        assert next(frames(raw.encode())).fault is None
    same = call.replace("bob", "ann").encode()
    [frame] = frames(same, checks=True)
    assert (frame.fault, frame.raw) == (None, same)


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("long", [1, 60])
def test_what_may_not_be_shown_is_not_named(quote: str, long: int, caplog: Any) -> None:
    iban = {"type": "string", "x-sensitive": True}
    schema = {"type": "object", "properties": {"iban": iban, "to": {"type": "string"}}}
    one, other = "DE11" * long, "DE22" * long
    args = json.dumps({"iban": one, "to": "ann"})[:-1] + f', "iban": "{other}"}}'
    text = args.replace('"', quote)
    done = Mender([{"name": "pay", "parameters": schema}]).call({"name": "pay", "args": text})
    told = f"{done.detail} {done.failure} {done.calls[0].for_model} {caplog.text}"
    assert "the key 'iban' has two different values" in told
    assert "DE11" not in told
    assert "DE22" not in told


def test_a_name_is_looked_for_in_linear_time() -> None:
    safety = SafetyPolicy(sensitive=frozenset({"iban"}))
    started = time.process_time()
    for text in ("a" * 500_000, 'a:"' * 100_000, "a:'\\" * 100_000, "a=" * 200_000):
        assert Mask.of({"name": "pay", "raw": text}, None, safety).echoes == ()
    assert time.process_time() - started < 5
