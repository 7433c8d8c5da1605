"""Asks a model, once, for a call that could not be read."""

from __future__ import annotations

from typing import Any, Final

from selfcorrect.errors import BudgetSpent, ModelFailed
from selfcorrect.model import ABSENT, Call, Change, Changed, GiveUp, JsonObject, Repair, Safety
from selfcorrect.models.fixer import Prompts
from selfcorrect.plain import problem
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.redaction import outside, quoted

_MOST_TOOLS: Final = 12
_CUT: Final = ("length", "max_tokens")


async def ask_for_call(call: Call, context: RepairContext) -> Repair:
    """The call that a text means, as changes of class `model`.

    A text that was cut off is given up: nobody knows what was to come. So is an answer that is no
    valid call of a tool on offer.
    """
    if context.ask_model is None:
        return GiveUp("there is no model to ask")
    if call.raw is None:
        return GiveUp("there is nothing that could not be read")
    if context.finish_reason in _CUT:
        return GiveUp("the text is cut off, and a model would have to make up the rest")
    tools = [tool for tool in context.tools.values() if tool.effect != "destructive"]
    named = context.tools.get(call.name) if call.name else None
    if named is not None:
        tools = [named] if named.effect != "destructive" else []
    if not tools or len(tools) > _MOST_TOOLS:
        return GiveUp("there are no tools, or too many, to choose from")
    try:
        answer = await context.ask_model(_prompt(call, tools, context), _schema(tools))
    except (ModelFailed, BudgetSpent) as error:
        return GiveUp(str(error))
    return _read(answer, call, tools)


def _prompt(call: Call, tools: list[Tool], context: RepairContext) -> str:
    parts = [Prompts().fix, "The tools:"]
    parts += [
        f"- {quoted(tool.name, 80)}: {outside(tool.description, 200)} "
        f"schema: {outside(dict(tool.schema), 1_000)}"
        for tool in tools
    ]
    if context.request:
        parts.append(f"The request: {outside(context.request, 2_000)}")
    what = "arguments of " + quoted(call.name, 80) if call.name else "message"
    parts.append(f"The {what}: {outside(call.raw or '', 4_000)}")
    return "\n".join(parts)


def _schema(tools: list[Tool]) -> JsonObject:
    return {
        "type": "object",
        "properties": {
            "name": {"enum": [tool.name for tool in tools]},
            "arguments": {"type": "object"},
        },
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _read(answer: Any, call: Call, tools: list[Tool]) -> Repair:
    if not isinstance(answer, dict) or not answer.keys() <= {"name", "arguments"}:
        return GiveUp("the model's answer is no call")
    tool = next((each for each in tools if each.name == answer.get("name")), None)
    args = answer.get("arguments")
    if tool is None or not isinstance(args, dict) or problem(args) is not None:
        return GiveUp("the model's answer is no call of a tool on offer")
    if not tool.is_valid(args) or "[secret]" in str(args):
        return GiveUp("the model's answer does not fit the schema")
    reason = "the model's answer"
    changes = [Change("/raw", call.raw, ABSENT, Safety.MODEL, reason)]
    if call.name != tool.name:
        changes.append(Change("/name", call.name or ABSENT, tool.name, Safety.MODEL, reason))
    changes += [
        Change(f"/args/{_token(key)}", ABSENT, value, Safety.MODEL, reason)
        for key, value in args.items()
    ]
    return Changed(changes)


def _token(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
