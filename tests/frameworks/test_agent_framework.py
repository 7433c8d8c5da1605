"""The behaviours in agent-framework's own runner."""

import asyncio

import pytest

pytest.importorskip("agent_framework")
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    Message,
    tool,
)
from world import EFFECTS, World, check, each_behaviour, text_of

from selfcorrect.integrations.agent_framework import MendingMiddleware


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A model that writes a script."""

    def __init__(self, world):
        super().__init__()
        self.world = world

    def _inner_get_response(self, *, messages, stream, options, **_):
        if stream:
            return self._build_response_stream(self.pieces(messages))
        return self.whole(messages)

    async def whole(self, messages):
        return ChatResponse(messages=[Message("assistant", self.write(messages))])

    async def pieces(self, messages):
        for content in self.write(messages):
            if content.type == "function_call":
                args = content.arguments
                for at in range(0, len(args), 7):
                    piece = Content.from_function_call(
                        content.call_id, "" if at else content.name, arguments=args[at : at + 7]
                    )
                    yield ChatResponseUpdate(contents=[piece], role="assistant")
            else:
                yield ChatResponseUpdate(contents=[content], role="assistant")

    def write(self, messages):
        contents = messages[-1].contents
        turn = self.world.next_turn(*(c.result or c.text or "" for c in contents))
        if "text" in turn:
            return [Content.from_text(turn["text"])]
        return [
            Content.from_function_call(i, name, arguments=text_of(args))
            for name, args, i in turn["calls"]
        ]


class Gate(FunctionMiddleware):
    """Notes the calls that it lets pass."""

    def __init__(self, world):
        self.world = world

    async def process(self, context, call_next):
        self.world.judge(context.function.name, context.arguments)
        await call_next()


def agent_of(world, *middleware, **options):
    tools = [tool(each, **options) for each in world.tools]
    mending = MendingMiddleware(effects=EFFECTS)
    return Agent(Client(world), tools=tools, middleware=[mending, *middleware])


def run(world, *, stream, gate):
    agent = agent_of(world, *([Gate(world)] if gate else []))

    async def streamed():
        answer = agent.run("go", stream=True)
        async for _ in answer:
            pass
        return await answer.get_final_response()

    world.end = asyncio.run(streamed() if stream else _whole(agent)).text


async def _whole(agent):
    return await agent.run("go")


@each_behaviour({})
def test_behaviour(name):
    check(name, run)


def test_a_healthy_turn_is_the_same_object():
    world = World({"turns": [{"calls": [["pay", {"to": "ann", "amount": 5}, "a"]]}]})
    seen = []

    class Look(ChatMiddleware):
        async def process(self, context, call_next):
            await call_next()
            seen.append(context.result)

    mending = MendingMiddleware(effects=EFFECTS)
    agent = Agent(Client(world), tools=world.tools, middleware=[Look(), mending, Look()])
    asyncio.run(_whole(agent))
    assert seen[0] is seen[1]
    assert seen[2] is seen[3]


def test_a_call_that_a_person_refused_may_be_made_later():
    call = ["pay", {"to": "ann", "amount": "5"}]
    world = World({"turns": [{"calls": [[*call, "a"]]}, {"text": "ok"}, {"calls": [[*call, "b"]]}]})
    agent = agent_of(world, approval_mode="always_require")

    async def talk():
        session = agent.create_session()
        for words, is_approved in (("go", False), ("again", True)):
            answer = await agent.run(words, session=session)
            [request] = answer.user_input_requests
            assert request.function_call.parse_arguments() == {"to": "ann", "amount": 5}
            reply = Message("user", [request.to_function_approval_response(is_approved)])
            await agent.run(reply, session=session)

    asyncio.run(talk())
    assert world.ran == [["pay", {"to": "ann", "amount": 5}]]


def test_a_service_that_keeps_the_thread_gets_only_what_is_new():
    broken, right = {"to": "ann"}, {"to": "ann", "amount": 5}
    turns = [{"calls": [["pay", broken, "a"]]}, {"calls": [["pay", right, "b"]]}]
    world, sent = World({"turns": turns}), []

    class Service(Client):
        async def whole(self, messages):
            sent.append([content.type for message in messages for content in message.contents])
            response = await super().whole(messages)
            response.conversation_id = f"c{len(sent)}"
            return response

    agent = Agent(Service(world), tools=world.tools, middleware=[MendingMiddleware()])
    asyncio.run(_whole(agent))
    assert sent == [["text"], ["function_result"], ["function_result"]]
    assert world.ran == [["pay", right]]
