"""The behaviours in google-adk's own runner."""

import asyncio
import json
from functools import wraps

import pytest

pytest.importorskip("google.adk")
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai.types import Content, FunctionCall, FunctionResponse, Part
from world import EFFECTS, World, check, each_behaviour

from selfcorrect.integrations.google_adk import MendingPlugin

NOT_JSON = "a model of ADK writes arguments as an object"
OTHERWISE = {
    "broken JSON is repaired": NOT_JSON,
    "arguments that were cut are never completed": NOT_JSON,
    "streamed, cut": NOT_JSON,
}


class Model(BaseLlm):
    """A model that writes a script."""

    world: object

    async def generate_content_async(self, llm_request, stream=False):
        parts = llm_request.contents[-1].parts
        answers = [part.function_response for part in parts if part.function_response]
        texts = [part.text or "" for part in parts]
        turn = self.world.next_turn(*texts, *(json.dumps(a.response) for a in answers))
        calls = [
            Part(function_call=FunctionCall(id=i, name=name, args=args))
            for name, args, i in turn.get("calls", ())
        ]
        content = Content(
            role="model", parts=[Part(text=turn["text"])] if "text" in turn else calls
        )
        if stream:
            yield LlmResponse(content=content.model_copy(deep=True), partial=True)
        yield LlmResponse(content=content)


class Gate(BasePlugin):
    """Notes the calls that it lets pass."""

    def __init__(self, world):
        super().__init__("gate")
        self.world = world

    async def before_tool_callback(self, *, tool, tool_args, tool_context):
        self.world.judge(tool.name, tool_args)


class Talk:
    """A session with an agent.

    Attributes:
        events: What its runs yield.
    """

    def __init__(self, world, *plugins, tools=None, stream=False):
        tools = tools or list(map(answered, world.tools))
        model = Model(model="script", world=world)
        agent = Agent(name="clerk", model=model, tools=tools)
        mending = MendingPlugin(effects=EFFECTS)
        app = App(name="app", root_agent=agent, plugins=[mending, *plugins])
        self.runner = InMemoryRunner(app=app)
        self.config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
        self.session, self.events = None, []

    async def say(self, *parts):
        place = {"app_name": "app", "user_id": "u"}
        service = self.runner.session_service
        self.session = self.session or await service.create_session(**place)
        async for event in self.runner.run_async(
            user_id="u",
            session_id=self.session.id,
            new_message=Content(role="user", parts=parts or [Part(text="go")]),
            run_config=self.config,
        ):
            self.events.append(event)

    @property
    def parts(self):
        contents = [event.content for event in self.events if event.content]
        return [part for content in contents for part in content.parts or ()]


def run(world, *, stream, gate):
    talk = Talk(world, *([Gate(world)] if gate else []), stream=stream)
    asyncio.run(talk.say())
    world.end = talk.parts[-1].text or ""


def answered(tool):
    """Return a tool whose exception the model reads; ADK ends the run otherwise."""

    @wraps(tool)
    def call(**args):
        try:
            return tool(**args)
        except TimeoutError as error:
            return {"error": str(error)}

    return call


@each_behaviour(OTHERWISE)
def test_behaviour(name):
    check(name, run)


def test_a_healthy_turn_is_the_same_object():
    calls = [["pay", {"to": "ann", "amount": 5}, "a"]]
    world, seen = World({"turns": [{"calls": calls}]}), []

    class Look(BasePlugin):
        async def after_model_callback(self, *, callback_context, llm_response):
            seen.append(llm_response.content)

    class Same(Model):
        async def generate_content_async(self, llm_request, stream=False):
            async for response in super().generate_content_async(llm_request, stream):
                sent.append(response.content)
                yield response

    sent = []
    talk = Talk(world, Look("look"))
    talk.runner.agent.model = Same(model="script", world=world)
    asyncio.run(talk.say())
    assert list(map(id, seen)) == list(map(id, sent))


def test_a_call_that_a_person_refused_may_be_made_later():
    call = ["pay", {"to": "ann", "amount": "5"}]
    turns = [{"calls": [[*call, "a"]]}, {"text": "no"}, {"calls": [[*call, "b"]]}]
    world = World({"turns": turns})
    talk = Talk(world, tools=[FunctionTool(world.pay, require_confirmation=True)])

    async def converse():
        for is_approved in (False, True):
            await talk.say()
            asked = [part.function_call for part in talk.parts if part.function_call]
            assert asked[-1].name == "adk_request_confirmation"
            assert asked[-1].args["originalFunctionCall"]["args"] == {"to": "ann", "amount": 5}
            reply = {"confirmed": is_approved}
            answer = FunctionResponse(id=asked[-1].id, name=asked[-1].name, response=reply)
            await talk.say(Part(function_response=answer))

    asyncio.run(converse())
    assert world.ran == [["pay", {"to": "ann", "amount": 5}]]


def test_a_call_without_an_answer_is_in_doubt():
    call = ["pay", {"to": "ann", "amount": 5}]
    turns = [{"calls": [[*call, None]]}, {"calls": [[*call, None]]}]
    world = World({"turns": turns, "plays": ["timeout"]})
    talk = Talk(world, tools=world.tools)

    async def converse():
        with pytest.raises(TimeoutError):
            await talk.say()
        await talk.say()

    asyncio.run(converse())
    assert len(world.ran) == 1
    assert "nobody knows" in "\n".join(world.read)
