"""The model fixer: is a call meant, the loop with its feedback, the last answer, the fallback."""

from __future__ import annotations

import asyncio

import pytest

from selfcorrect.errors import BudgetSpent
from selfcorrect.limits import Limits
from selfcorrect.models.fixer import ModelFixer, Prompts
from selfcorrect.models.port import CountingModel
from selfcorrect.testing import ScriptedModel
from selfcorrect.tools import ToolSpec


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


TOOLS = {"add": ToolSpec.from_function(add)}
GOOD = {"name": "add", "arguments": {"a": 1, "b": 2}}
YES, NO = {"call_is_meant": True}, {"call_is_meant": False}


def fixed(script, choice="required", fallback=None, **options):
    model = ScriptedModel(script)
    other = ModelFixer(fallback.ainvoke) if fallback is not None else None
    fixer = ModelFixer(model.ainvoke, fallback=other, **options)
    return asyncio.run(fixer("please add(1, 2", TOOLS, choice)), model


@pytest.mark.parametrize("choice", ["required", "any", "add"])
def test_where_a_call_was_demanded_nobody_is_asked_whether_one_is_meant(choice):
    done, model = fixed([GOOD], choice)
    assert (done.call.name, done.call.args, done.asked, done.failed) == (
        "add",
        GOOD["arguments"],
        1,
        False,
    )
    assert len(model.prompts) == 1


def test_no_call_is_meant():
    done, model = fixed([NO], None)
    assert (done.call, done.failed, done.original) == (None, False, "please add(1, 2")
    assert len(model.prompts) == 1


@pytest.mark.parametrize("answer", ["eyes", "yes", {"call_is_meant": "yes"}, "", ["x"], {}])
def test_only_a_plain_true_is_a_yes(answer):
    done, model = fixed([answer, GOOD], None)
    assert (done.call, done.failed) == (None, True)
    assert len(model.prompts) == 1


@pytest.mark.parametrize(
    ("bad", "feedback"),
    [
        ("prose", "no_name"),
        ({"arguments": {}}, "no_name"),
        ({"name": 5}, "no_name"),
        ("", "no_name"),
        ({"name": "fly", "arguments": {}}, "unknown_name"),
        ({"name": "add", "arguments": [1, 2]}, "wrong_arguments"),
        ({"name": "add", "arguments": {"a": "x", "b": 2}}, "wrong_arguments"),
        ({"name": "add"}, "wrong_arguments"),
    ],
)
def test_the_feedback_says_what_comes_first(bad, feedback):
    prompts = Prompts(
        no_name="[no_name]", unknown_name="[unknown_name]", wrong_arguments="[wrong_arguments]"
    )
    done, model = fixed([bad, GOOD], prompts=prompts)
    assert done.asked == 2
    told = model.prompts[1][-1].content
    assert told.startswith(f"[{feedback}]")


@pytest.mark.parametrize("retries", [1, 2, 3])
def test_the_last_answer_is_checked(retries):
    done, model = fixed([*["prose"] * (retries - 1), GOOD], max_retries=retries)
    assert done.call is not None
    assert len(model.prompts) == retries


@pytest.mark.parametrize(("retries", "asked"), [(0, 0), (1, 1), (3, 3), (99, 10)])
def test_it_ends(retries, asked):
    done, model = fixed(["prose"] * 99, max_retries=retries)
    assert (done.call, done.failed, done.asked, len(model.prompts)) == (None, True, asked, asked)
    assert done.original == "please add(1, 2"


def test_the_fallback_gets_the_original():
    better = ScriptedModel([GOOD])
    done, _ = fixed(["prose"] * 3, fallback=better)
    assert done.call.args == GOOD["arguments"]
    assert "please add(1, 2" in better.prompts[0][-1].content
    assert len(better.prompts[0]) == 1


def test_a_fallback_that_fails_leaves_the_original_marked():
    done, _ = fixed(["prose"] * 3, fallback=ScriptedModel(["prose"] * 3))
    assert (done.call, done.failed, done.original) == (None, True, "please add(1, 2")


def test_the_conversation_is_kept_and_bounded():
    _, model = fixed(["prose " * 10_000] * 10, max_retries=10)
    assert len(model.prompts[2]) == 5
    assert max(len(prompt) for prompt in model.prompts) <= 9
    assert max(sum(len(m.content) for m in prompt) for prompt in model.prompts) < 40_000


def test_a_budget_ends_it():
    model = ScriptedModel(["prose"] * 9)

    async def invoke(asked, messages, seconds=None):
        return await asked.ainvoke(messages)

    port = CountingModel(model, {}, Limits(model_calls=2), invoke)
    done = asyncio.run(ModelFixer(port.messages)("add", TOOLS, "required"))
    assert (done.failed, done.asked) == (True, 3)
    assert "model calls" in done.reason
    assert len(model.prompts) == 2
    with pytest.raises(BudgetSpent):
        asyncio.run(port.messages("more"))
