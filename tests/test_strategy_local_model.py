"""The map `local_model`, on the texts of small models, from a real server that speaks OpenAI."""

from __future__ import annotations

import json
import threading
import urllib.request
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from selfcorrect import ToolSpec, build_graph
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.testing import ScriptedModel

MAP = str(Path(__file__).parents[1] / "strategies" / "local_model.toml")
STRATEGIES = StrategyMap.load(MAP)


@pytest.fixture(scope="module")
def server():
    """Answers a chat completion with the text that the request carries, as llama.cpp does."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            asked = json.loads(self.rfile.read(length))
            content, reason = asked["messages"][-1]["content"], asked["finish_reason"]
            choice = {"message": {"role": "assistant", "content": content}}
            data = json.dumps({"choices": [choice | {"finish_reason": reason}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/v1/chat/completions"
        httpd.shutdown()
        thread.join()


def complete(url, text, finish_reason="stop"):
    """What the model wrote, and why it stopped."""
    asked = {"messages": [{"role": "user", "content": text}], "finish_reason": finish_reason}
    request = urllib.request.Request(url, json.dumps(asked).encode())
    with closing(urllib.request.urlopen(request, timeout=10)) as answer:
        choice = json.load(answer)["choices"][0]
    return choice["message"]["content"], choice["finish_reason"]


class Tools:
    def __init__(self):
        self.booked = []

    def specs(self):
        def find_rooms(
            city: str,
            guests: Annotated[int, Field(ge=1, le=8)] = 1,
            board: Literal["none", "breakfast", "full"] = "none",
        ) -> list:
            """Find rooms in a city."""
            return [city, guests, board]

        def book_room(city: str, guests: Annotated[int, Field(ge=1, le=8)]) -> str:
            """Book a room."""
            self.booked.append((city, guests))
            return "booked"

        return [
            ToolSpec.from_function(find_rooms, effect="read_only"),
            ToolSpec.from_function(book_room, effect="mutating"),
        ]


def run(server, text, finish_reason="stop"):
    tools, model = Tools(), ScriptedModel(script=[])
    raw, reason = complete(server, text, finish_reason)
    graph = build_graph(tools.specs(), strategies=STRATEGIES, model=model)
    out = graph.invoke({"raw": raw, "finish_reason": reason, "request": "Rooms in Rome for two"})
    assert not model.prompts, "no model is asked to mend what it wrote"
    return out, tools


ARGS = '{"city": "Rome", "guests": 2}'
CALL = f'{{"name": "find_rooms", "arguments": {ARGS}}}'
FORMS = {
    "plain": CALL,
    "Hermes": f"<tool_call>\n{CALL}\n</tool_call>",
    "Hermes, not closed": f"<tool_call>\n{CALL}",
    "Mistral": f"[TOOL_CALLS][{CALL}]",
    "Llama": f'<|python_tag|>{{"name": "find_rooms", "parameters": {ARGS}}}<|eom_id|>',
    "a call as code": 'find_rooms(city="Rome", guests=2)',
    "a fence and talk": f"Sure! Here is the call:\n```json\n{CALL[:-1]},}}\n```\nLet me know.",
    "thinking first": f"<think>I need rooms.</think>{CALL}",
    "LangChain": f'{{"action": "find_rooms", "action_input": {ARGS}}}',
    "keys of its own": f'{{"function_name": "find_rooms", "tool_input": {ARGS}}}',
    "arguments as text": json.dumps({"name": "find_rooms", "arguments": ARGS}),
    "Python's quotes": CALL.replace('"', "'"),
    "a number as text": CALL.replace("2", '"2"'),
    "a name nearly right": CALL.replace("find_rooms", "find_room"),
    "a name with its namespace": CALL.replace("find_rooms", "functions.find_rooms"),
    "a key in capitals": CALL.replace("city", "City"),
    "arguments in a wrapper": f'{{"name": "find_rooms", "arguments": {{"parameters": {ARGS}}}}}',
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_the_forms_of_small_models_are_read(server, text):
    out, _ = run(server, text)
    assert out.get("result") == ["Rome", 2, "none"], out.get("failure")


def test_a_made_up_argument_is_never_left_out(server):
    out, _ = run(server, CALL.replace("2}", '2, "reasoning": "cheap"}'))
    assert "result" not in out


def test_a_number_of_a_tool_that_reads_is_clamped(server):
    out, _ = run(server, '{"name": "find_rooms", "arguments": {"city": "Rome", "guests": 40}}')
    assert out["result"] == ["Rome", 8, "none"]


@pytest.mark.parametrize(
    "args",
    [
        '{"city": "Rome", "guests": 40}',
        '{"city": "Rome", "guests": 2, "reasoning": "cheap"}',
        '{"city": "Rome"}',
        '{"city": "Rome", "guests": "many"}',
    ],
)
def test_a_tool_that_changes_something_may_not(server, args):
    out, tools = run(server, f'{{"name": "book_room", "arguments": {args}}}')
    assert out["failure"]["reason"] == "needs_person"
    assert tools.booked == []


@pytest.mark.parametrize(
    ("text", "finish_reason"),
    [
        ('{"name": "book_room", "arguments": {"city": "Ro', "length"),
        ('{"name": "book_room", "arguments": {"city": "Rome", "guests": 1', "length"),
        ("I would rather talk about the weather.", "stop"),
        ('{"name": "cancel_everything", "arguments": {}}', "stop"),
        ("", "stop"),
    ],
)
def test_what_is_no_whole_call_is_reported_and_never_guessed(server, text, finish_reason):
    out, tools = run(server, text, finish_reason)
    assert "failure" in out
    assert tools.booked == []
