"""Calls in the templates of models, whole and damaged: each is read exactly, or told."""

import pytest
from kit import table
from langchain.agents import create_agent

from selfcorrect import Mender, SelfCorrection, ToolSpec
from selfcorrect.testing import ScriptedModel

ARGS = {"query": "the tides", "limit": 3}
TEMPLATES = {name: parts for name, *parts in table("templates.txt", "templates")}
QUOTATIONS = table("templates.txt", "quotations")


def find_rows(query: str, limit: int = 5) -> str:
    """Find rows."""
    raise AssertionError


MENDERS = {
    effect: Mender([ToolSpec.from_function(find_rows, effect=effect)])
    for effect in ("read_only", "mutating")
}


def damage(opening, call, closing):
    """Yield a text whole, and with each part of what can go wrong."""
    yield "whole", opening + call + closing
    yield "opening lost", call + closing
    yield "closing lost", opening + call
    yield "wrapper lost", call
    whole = opening + call + closing
    yield "prefix", whole.replace("find_rows", "functions.find_rows")
    yield "words on the line", f"I will look it up: {whole}"
    yield "words above", f"I will look it up.\n{whole}"
    yield "twice", f"{whole}\n{whole}"


def read(text, effect):
    """Return the arguments of the calls that are ready, and whether the text ends in silence."""
    got = MENDERS[effect].message({"role": "assistant", "content": text})
    return [each.args for each in got.ready], not got.ready and got.reason == "no_call"


@pytest.mark.parametrize("effect", MENDERS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_call_is_read_exactly_or_told(name, effect):
    for what, text in damage(*TEMPLATES[name]):
        made, is_silent = read(text, effect)
        assert all(args == ARGS for args in made), what
        # Words above a call are prose.
        is_prose = what == "words above"
        assert is_prose or not is_silent, what


def test_whole_calls_are_read():
    whole = {name: "".join(parts) for name, parts in TEMPLATES.items()}
    silent = [name for name, text in whole.items() if read(text, "read_only")[0] != [ARGS]]
    # Nothing but its name stands before the object, so `>>>` may be a quotation mark.
    assert silent == ["functionary"]


@pytest.mark.parametrize("text", QUOTATIONS)
def test_a_quotation_is_never_made(text):
    for opening, call, closing in TEMPLATES.values():
        made, _ = read(text.format(f"{opening}{call}{closing}".strip()), "mutating")
        assert made == []


def ask(text):
    """Return what an agent's tool was called with, and how often its model was asked."""
    made = []

    def find_rows(query: str, limit: int = 5) -> str:
        """Find rows."""
        made.append({"query": query, "limit": limit})
        return "two rows"

    find_rows.metadata = {"effect": "read_only"}
    model = ScriptedModel([text, "Two rows."])
    create_agent(model, [find_rows], middleware=[SelfCorrection()]).invoke({"messages": "Tides?"})
    return made, len(model.prompts)


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_agent_ends_in_silence(name):
    for what, text in damage(*TEMPLATES[name]):
        made, asked = ask(text)
        assert all(args == ARGS for args in made)
        assert asked == 2 or "words" in what, what


@pytest.mark.parametrize("text", table("templates.txt", "attempts"))
def test_an_attempt_that_cannot_be_read_is_told(text):
    assert ask(text) == ([], 2)


@pytest.mark.parametrize("text", table("templates.txt", "answers"))
def test_an_answer_ends_the_run(text):
    assert ask(text) == ([], 1)
