"""A provider's error that hands back the model's call is read and mended, instead of repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents_kit import World, agent_of, answers, calling, check_history, run
from langchain_core.messages import AIMessage

from selfcorrect import SelfCorrection, ToolSpec, build_graph, on_error
from selfcorrect.model import Fix
from selfcorrect.models.held import held_call
from selfcorrect.models.transport import wait_before
from selfcorrect.testing import ScriptedModel

FOUND = ("find_flights", {"query": "CDG", "limit": 3})
BOOKED = ("book_flight", {"to": "CDG", "day": "2026-10-26", "seats": 2})


class BadRequestError(Exception):
    """As the SDKs of providers raise it: with the body, or the `error` in it."""

    status_code = 400

    def __init__(self, text: str, body: Any = None) -> None:
        super().__init__(text)
        self.body = body


class ResponseError(Exception):
    """As Ollama's client raises it."""

    def __init__(self, error: str, status_code: int) -> None:
        super().__init__(f"{error} (status code: {status_code})")
        self.error, self.status_code = error, status_code


def failed(generation: str) -> dict[str, Any]:
    return {
        "message": "Failed to call a function. Please adjust your prompt.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": generation,
    }


def groq(generation: str) -> Exception:
    body = {"error": failed(generation)}
    return BadRequestError(f"Error code: 400 - {body}", body)


def groq_through_openai(generation: str) -> Exception:
    return BadRequestError("Error code: 400", failed(generation))


def groq_as_text(generation: str) -> Exception:
    return BadRequestError(f"GroqException - {json.dumps({'error': failed(generation)})}")


def groq_as_repr(generation: str) -> Exception:
    return BadRequestError(f"Error code: 400 - { ({'error': failed(generation)}) }")


def ollama(generation: str) -> Exception:
    raw = f"error parsing tool call: raw='{generation}', err=invalid character 's' after key"
    return ResponseError(raw, 500)


def wrapped(generation: str) -> Exception:
    outer = RuntimeError("the model failed")
    outer.__cause__ = groq(generation)
    return outer


PROVIDERS = [groq, groq_through_openai, groq_as_text, groq_as_repr, ollama, wrapped]
by_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda each: each.__name__)

READABLE = [
    '<function=find_flights={"query": "CDG", "limit": 3}</function>',
    '<function=find_flights{"query": "CDG", "limit": 3}</function>',
    '<function=find_flights>{"query": "CDG", "limit": "3"}</function>',
    '<tool_call>{"name": "find_flights", "arguments": {"query": "CDG", "limit": 3}}</tool_call>',
    '{"name": "find_flights", "arguments": {"query": "CDG", "limit": "3",}}',
    '{"tool_calls": [{"name": "find_flights", "parameters": {"query": "CDG", "limit": 3}}]}',
]


@by_provider
def test_what_the_model_wrote_is_found(provider: Any) -> None:
    for text in READABLE:
        assert held_call(provider(text)) == text
    assert wait_before(provider(READABLE[0]), 1) is None


@pytest.mark.parametrize(
    "error",
    [
        BadRequestError("Error code: 400", {"error": {"message": "bad"}}),
        BadRequestError("Error code: 400", {"failed_generation": None}),
        BadRequestError("Error code: 400", {"failed_generation": " "}),
        BadRequestError("{'failed_generation': open('x')}"),
        BadRequestError("{" * 100_000 + "failed_generation"),
        ResponseError("model 'x' not found", 404),
        ValueError("raw='x'"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_other_errors_hold_nothing(error: Exception) -> None:
    assert held_call(error) is None
    agent, model = agent_of(World(), [error, "done"], SelfCorrection())
    with pytest.raises(type(error)):
        run(agent)
    assert len(model.prompts) == 1


@by_provider
@pytest.mark.parametrize("text", READABLE)
def test_the_call_is_made_and_the_model_is_not_asked_again(provider: Any, text: str) -> None:
    world = World()
    agent, model = agent_of(world, [provider(text), "done"], SelfCorrection())
    messages = run(agent)
    assert (world.done, len(model.prompts)) == ([FOUND], 2)
    assert [answer.status for answer in answers(messages)] == ["success"]
    assert messages[-1].text == "done"


def test_also_of_a_tool_that_acts_where_the_text_is_the_call() -> None:
    world = World()
    text = f"<function=book_flight={json.dumps(BOOKED[1])}</function>"
    agent, _ = agent_of(world, [groq(text), "done"], SelfCorrection())
    run(agent)
    assert world.done == [BOOKED]


@pytest.mark.parametrize(
    "text",
    [
        '{"query": "CDG", "limit": 3}',
        '<function=find_flights={"query": "CD',
        "<function=find_flights={}</function>",
        '<function=fly_to_the_moon={"query": "CDG"}</function>',
        "I would look for flights.",
    ],
)
@by_provider
def test_what_cannot_be_read_is_never_made_up(provider: Any, text: str) -> None:
    world = World()
    agent, model = agent_of(world, [provider(text), calling(FOUND), "done"], SelfCorrection())
    messages = run(agent)
    assert (world.done, len(model.prompts)) == ([FOUND], 3)
    assert messages[-1].text == "done"
    check_history(model.prompts[1][1:])
    assert "not" in model.prompts[1][-1].text


@by_provider
def test_a_model_that_never_does_better_ends_within_its_bounds(provider: Any) -> None:
    errors = [provider("nonsense") for _ in range(20)]
    agent, model = agent_of(World(), errors, SelfCorrection(max_misses=2))
    with pytest.raises(type(errors[0])):
        run(agent)
    assert len(model.prompts) == 3


def look(city: str, days: int = 1) -> str:
    """Look up the weather."""
    return f"{city} {days}"


LOOK = ToolSpec.from_function(look, effect="read_only")


@by_provider
def test_a_planned_call_is_read_too(provider: Any) -> None:
    text = '<function=look={"city": "Oslo", "days": "2"}</function>'
    model = ScriptedModel([provider(text)])
    out = build_graph([LOOK], model=model).invoke({"request": "the weather in Oslo"})
    assert (out["result"], len(model.prompts)) == ("Oslo 2", 1)


def test_a_fixers_call_is_never_taken_for_its_answer() -> None:
    fixer = ScriptedModel([groq("<function=look={}</function>"), AIMessage("sunny")])

    def broken(city: str) -> str:
        """Look up the weather."""
        raise ValueError("no")

    handler = on_error(execution_error=Fix(fixer, retries=1))
    tool = ToolSpec.from_function(broken, effect="read_only", on_error=handler)
    out = build_graph([tool]).invoke({"call": {"name": "broken", "args": {"city": "Oslo"}}})
    assert (out["result"], len(fixer.prompts)) == ("sunny", 2)
