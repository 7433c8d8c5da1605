"""What a text only talks about is not called: weighed, thought, quoted, told, or an example."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import time

import pytest

from selfcorrect.reading.texts import read_calls
from selfcorrect.tools import ToolSpec, tool_specs

TEXT = {"type": "string"}
TOOLS = tool_specs(
    [
        ToolSpec.from_schema(
            {
                "name": "get_weather",
                "description": "",
                "parameters": {"type": "object", "properties": {"city": TEXT}, "required": ["city"]},
            }
        ),
        ToolSpec.from_schema({"name": "ping", "description": "", "parameters": {"type": "object", "properties": {}}}),
    ]
)  # fmt: skip
CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
OSLO = [("get_weather", {"city": "Oslo"})]


def calls(text, tools=TOOLS):
    return [
        (call.name.removeprefix("functions."), dict(call.args))
        for call in read_calls(text, tools).calls
    ]


TALK = [
    "I could call get_weather(city='Oslo').",
    "You might use `get_weather(city='Oslo')` for that.",
    "For example, get_weather(city='Oslo') returns the weather.",
    "If you want, I can run get_weather(city='Oslo').",
    "Should I call get_weather(city='Oslo')?",
    "Do you want me to run `ping()`?",
    "You can call get_weather(city='Oslo') yourself.",
    "I already called get_weather(city='Oslo').",
    "After calling get_weather(city='Oslo') I know that it is 5 degrees.",
    "The result of get_weather(city='Oslo') is 5.",
    "get_weather(city='Oslo') -> 5 degrees",
    "`get_weather(city='Oslo')` failed with: no such city",
    "assert get_weather(city='Oslo') == 5",
    "The docs say: `get_weather(city='Oslo')` asks a service.",
    "The user said \"call get_weather(city='Oslo')\" but I will not.",
    '> get_weather(city="Oslo")\n\nYou wrote that; it is wrong.',
    "# Usage:\n    get_weather(city='Oslo')",
    f"Example:\n```json\n{CALL}\n```\nReplace Oslo by your city.",
    f"Earlier I used {CALL} and got 5 degrees.",
    f"You could send {CALL} to the server.",
    f"<tool_response>{CALL}</tool_response>",
    'The tool answered {"name": "get_weather", "result": {"temp": 5}}',
    '"get_weather" needs {"city": "Oslo"} as arguments.',
    'Tools: {"type": "function", "function": {"name": "get_weather", "description": "d", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}',
    "<get_weather> is the tool I need; <city> is its argument.",
    "[get_weather] is offered, and so is [ping].",
]  # fmt: skip
THOUGHTS = [
    "<think>I could call get_weather(city='Oslo')</think>I do not know.",
    f"<think>\n{CALL}\n</think>\n\nThe weather is fine.",
    f"<think>maybe <tool_call>{CALL}</tool_call></think> No, I have enough.",
    f"<thinking>{CALL}</thinking>",
    f"<|im_start|>assistant\n<think>\n{CALL}</think>Done.",
    f"[THINK]{CALL}[/THINK]Done.",
    f"<|START_THINKING|>{CALL}<|END_THINKING|>Done.",
    f"\u25c1think\u25b7{CALL}\u25c1/think\u25b7Done.",
    f"<|channel|>analysis<|message|>We could call functions.get_weather with {CALL}<|end|><|start|>assistant<|channel|>final<|message|>It is 5 degrees.",
    f"I may need {CALL} </think> The weather is nice.",
    f"<think>never ends <tool_call>{CALL}</tool_call>",
    f"Well. <think>{CALL}</think> No.",
]  # fmt: skip


AMONG_WORDS = [
    "I will call get_weather(city='Oslo').",
    "The call is `get_weather(city='Oslo')`.",
    "1. get_weather(city='Oslo')",
    "result = get_weather(city='Oslo')",
    f"I could ask, but I know what to do:\n<tool_call>{CALL}</tool_call>",
    f"If in doubt, look it up. {CALL}",
    "If in doubt, look it up.\n\nget_weather(city='Oslo')",
]  # fmt: skip


@pytest.mark.parametrize("text", TALK + THOUGHTS + AMONG_WORDS)
def test_what_is_only_talked_about_is_not_called(text):
    reading = read_calls(text, TOOLS)
    assert reading.calls == ()
    assert reading.refusal is not None


MADE = [
    f"<think>get_weather(city='Rome') or Oslo?</think>\n<tool_call>{CALL}</tool_call>",
    f"<think>An unclosed {{ and a \" in {{'name': 'get_weather', 'arguments': </think>{CALL}",
    f"<think>a</think><think>b</think>{CALL}",
    f"or Rome: get_weather(city='Rome')?</think>{CALL}",
    '<|channel|>analysis<|message|>Rome or Oslo?<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
]  # fmt: skip


@pytest.mark.parametrize("text", MADE)
def test_what_is_called_is_called_whatever_was_thought_before(text):
    assert calls(text) == OSLO


def test_a_mark_inside_an_argument_is_part_of_it():
    for city in ("</think>", "<think>", "if not, for example", "[THINK] x", "I could"):
        for text in (
            "{'name': 'get_weather', 'arguments': {'city': 'CITY'},}",
            "[get_weather(city='CITY'), ping()]",
            "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'CITY'}}</tool_call>",
        ):
            found = calls(text.replace("CITY", city))
            assert found[0] == ("get_weather", {"city": city})
            assert len(found) == (2 if "ping" in text else 1)


def test_nothing_in_the_arguments_of_a_call_that_cannot_be_read_is_called():
    inner = '{"name": "ping", "arguments": {}}'
    for text in (
        f"get_weather(city=oops, note='{inner}')",
        f"get_weather(city='it's ({inner}",
        f'<invoke name="get_weather"><parameter name="city">x</parameter>{inner}</invoke>',
        f'<tool_call>{{"name": "get_weather", "arguments": {{"city": oops}}}}</tool_call>\n{inner}',
    ):
        assert calls(text) == [], text


def test_no_call_of_several_is_lost_in_silence():
    for text in (
        "get_weather(city='it's', days='x'y)\nping()",
        f"<tool_call>{{'name': 'get_weather', 'arguments': {{'city': oops}}}}</tool_call>\nand\n{CALL}",
        "<invoke name='get_weather'><parameter name='city'>x</parameter></parameter></invoke><invoke name='ping'></invoke>",
    ):
        assert calls(text) in ([], [("ping", {})][:0]), text


@pytest.mark.parametrize(
    "part",
    ["<think>", "</think>", "<think></think>", "<think>ping()</think>", "ping() ", "if ping() ", "<|end|>",
     "<city>", "<get_weather><city>", "<invoke><name>ping</name>", "> ping()\n", "could: ping()\n"],
)  # fmt: skip
def test_hostile_text_takes_linear_time(part):
    small, large = (part * (size // len(part)) for size in (2_000, 40_000))
    short = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(2)) < 0.5 + 80 * short


def seconds(text):
    started = time.perf_counter()
    read_calls(text, TOOLS)
    return time.perf_counter() - started
