"""The behaviours of a client of litellm: of its SDK, and streamed of its proxy."""

import asyncio
import json

import pytest

pytest.importorskip("litellm.proxy.utils", reason="pip install 'litellm[proxy]'")
import litellm
from litellm.caching.dual_cache import DualCache
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger
from litellm.llms.custom_llm import CustomLLM
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.utils import ProxyLogging
from litellm.types.utils import ModelResponse, ModelResponseStream
from world import BEHAVIOURS, EFFECTS, World, check, each_behaviour, text_of

from selfcorrect import ToolSpec
from selfcorrect.integrations.litellm import MendingLogger

OTHERWISE = {
    "a sibling of a hopeless call runs once": "it runs at once, beside a text about the other",
}


class Model(CustomLLM):
    """A model that writes a script."""

    def __init__(self, world):
        super().__init__()
        self.world = world

    def write(self, messages):
        turn = self.world.next_turn(*(message.get("content") or "" for message in messages))
        self.text = turn.get("text")
        calls = [
            {"id": i, "type": "function", "function": {"name": name, "arguments": text_of(args)}}
            for name, args, i in turn.get("calls", ())
        ]
        return {"role": "assistant", "content": turn.get("text"), "tool_calls": calls or None}

    async def acompletion(self, messages, **_):
        message = self.write(messages)
        reason = "tool_calls" if message["tool_calls"] else "stop"
        return ModelResponse(choices=[{"message": message, "finish_reason": reason}])

    async def stream(self, messages):
        """Yield an answer as the proxy gets it of its router."""
        message = self.write(messages)
        yield chunk_of({"role": "assistant", "content": message["content"] or ""})
        for index, call in enumerate(message["tool_calls"] or ()):
            args = call["function"]["arguments"]
            head = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            yield chunk_of({"tool_calls": [head]})
            for at in range(0, len(args), 7):
                piece = {"index": index, "function": {"arguments": args[at : at + 7]}}
                yield chunk_of({"tool_calls": [piece]})
        yield chunk_of({}, "tool_calls" if message["tool_calls"] else "stop")


def chunk_of(delta, reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return ModelResponseStream(choices=[choice])


class Gate(CustomGuardrail):
    """Notes the calls that it lets pass."""

    def __init__(self, world):
        super().__init__(guardrail_name="gate", event_hook="post_call", default_on=True)
        self.world = world

    async def async_post_call_success_hook(self, data, user_api_key_dict, response):
        for call in response.choices[0].message.tool_calls or ():
            self.world.judge(call.function.name, json.loads(call.function.arguments))


class Client:
    """Runs the tools that an answer calls, and asks again where the model has not ended the run."""

    def __init__(self, world, *gates):
        self.world, self.model = world, Model(world)
        specs = [ToolSpec.from_function(tool) for tool in world.tools]
        functions = [{"name": spec.name, "parameters": spec.parameters} for spec in specs]
        self.request = {
            "model": "script/any",
            "messages": [{"role": "user", "content": "go"}],
            "tools": [{"type": "function", "function": each} for each in functions],
        }
        litellm.custom_provider_map = [{"provider": "script", "custom_handler": self.model}]
        litellm.callbacks = [MendingLogger(effects=EFFECTS), *gates]
        self.key = UserAPIKeyAuth()
        self.proxy = ProxyLogging(DualCache())

    async def ask(self):
        response = await litellm.acompletion(**self.request)
        more = {"data": self.request, "user_api_key_dict": self.key}
        response = await self.proxy.post_call_success_hook(response=response, **more)
        return response.choices[0].message

    async def ask_stream(self):
        stream = self.model.stream(self.request["messages"])
        more = {"request_data": self.request, "user_api_key_dict": self.key}
        chunks = self.proxy.async_post_call_streaming_iterator_hook(response=stream, **more)
        chunks = [chunk async for chunk in chunks]
        return litellm.stream_chunk_builder(chunks).choices[0].message

    async def run(self, ask):
        messages = self.request["messages"]
        while True:
            message = await ask()
            messages.append(message.model_dump())
            for call in message.tool_calls or ():
                tool = getattr(self.world, call.function.name)
                try:
                    text = tool(**json.loads(call.function.arguments))
                except TimeoutError as error:
                    text = f"Error: {error}"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
            if not message.tool_calls:
                if message.content == self.model.text:
                    return message.content
                messages.append({"role": "user", "content": "try again"})


def run(world, *, stream, gate):
    client = Client(world, *([Gate(world)] if gate else []))
    world.end = asyncio.run(client.run(client.ask_stream if stream else client.ask))


@pytest.fixture(autouse=True)
def _callbacks(monkeypatch):
    monkeypatch.setattr(litellm, "callbacks", [])
    monkeypatch.setattr(litellm, "custom_provider_map", [])


@each_behaviour(OTHERWISE)
def test_behaviour(name):
    check(name, run)


@pytest.mark.parametrize("name", ["healthy", "a text ends the run"])
def test_a_healthy_answer_is_unchanged(name):
    behaviour = World({"turns": BEHAVIOURS[name]["turns"]})
    client, seen = Client(behaviour), []

    class Look(CustomLogger):
        async def async_post_call_success_deployment_hook(self, request_data, response, call_type):
            seen.append(response.model_dump_json())

    litellm.callbacks = [Look(), *litellm.callbacks, Look()]
    asyncio.run(client.ask())
    assert seen[0] == seen[1]


def test_texts_of_a_stream_pass_as_they_come():
    client, steps = Client(World({"turns": []})), []

    async def pieces():
        for text in ("I ", "look"):
            steps.append(f"sent {text}")
            yield chunk_of({"content": text})
        yield chunk_of({}, "stop")

    async def read():
        more = {"request_data": client.request, "user_api_key_dict": client.key}
        stream = client.proxy.async_post_call_streaming_iterator_hook(response=pieces(), **more)
        async for chunk in stream:
            text = chunk.choices[0].delta.content
            steps.append(text)

    asyncio.run(read())
    assert steps == ["sent I ", "I ", "sent look", "look", None]


def test_a_call_that_may_not_run_is_a_text_of_the_stream():
    calls = [["pay", {"to": "ann"}, "a"], ["find", {"query": "x", "n": "2"}, "b"]]
    client = Client(World({"turns": [{"calls": calls}]}))
    message = asyncio.run(client.ask_stream())
    assert "`amount`" in message.content
    [call] = message.tool_calls
    assert (call.id, call.function.name) == ("b", "find")
    assert json.loads(call.function.arguments) == {"query": "x", "n": 2}
