"""Asks a model what a text means that no rule can read: whether a call is meant, and which."""

import json
from collections.abc import Mapping

from selfcorrect.model import Change, Changed, GiveUp, JsonDict, Repair, Safety
from selfcorrect.models.port import ModelPort
from selfcorrect.models.prompts import Prompts
from selfcorrect.pointer import ARGS
from selfcorrect.protocols import RepairContext
from selfcorrect.text import bound, quote, release

_MAX_TEXT = 4_000


async def write_call(
    text: str, port: ModelPort, prompts: Prompts, context: RepairContext, rounds: int
) -> Repair:
    """Ask for the call that a text means, at most `rounds` times; the last answer counts too.

    A wrong answer is answered with what is wrong with it: no call, then the name of its tool, then
    its arguments. Only `true` says that a call is meant.
    """
    data = [
        f"text: {json.dumps(bound(text, _MAX_TEXT), ensure_ascii=False)}",
        f"request: {json.dumps(bound(context.request or '', _MAX_TEXT), ensure_ascii=False)}",
        f"tools: {json.dumps(_tools(context), ensure_ascii=False, default=repr)}",
    ]
    prompt = [release(each, 20_000) for each in data]
    for _ in range(rounds):
        answer = await port.ask_json(prompts.write, "\n".join([*prompt, prompts.shape]))
        if answer is not None and answer.get("call_is_meant") is False:
            return GiveUp("the model says that the text means no call")
        problem = _problem(answer, prompts, context)
        if problem is None and answer is not None:
            return Changed(_changes(answer, text))
        prompt += [f"you answered: {quote(answer, 1_000)}", problem or ""]
    return GiveUp("the model writes no call that fits")


def _tools(context: RepairContext) -> JsonDict:
    return {each.name: each.parameters for each in context.tools.values()}


def _problem(answer: JsonDict | None, prompts: Prompts, context: RepairContext) -> str | None:
    """Return what the model is told about its answer, or None where it is a call that fits."""
    if answer is None or answer.get("call_is_meant") is not True:
        return prompts.no_call
    tool = context.tools.get(str(answer.get("name")))
    if tool is None:
        return prompts.no_tool.format(names=", ".join(context.tools))
    args = answer.get("arguments")
    fits = isinstance(args, Mapping) and tool.slot.accepts(args)
    return None if fits else prompts.no_fit.format(name=tool.name)


def _changes(answer: JsonDict, text: str) -> list[Change]:
    parts = {"/name": ("", answer["name"]), ARGS: (text, answer["arguments"])}
    return [
        Change(path, before, after, Safety.MODEL, "a model's answer")
        for path, (before, after) in parts.items()
    ]
