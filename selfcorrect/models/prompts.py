"""What a model is asked, and how its answer is read: one object, only what was asked about.

A prompt has constant size: the parameters at fault with what the schema says of them, the error,
the request and the last few messages, each bounded, each through the redaction of outside text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from selfcorrect import pointer
from selfcorrect.echoes import echoes_of, leaves
from selfcorrect.errors import BudgetSpent, ModelFailed
from selfcorrect.kernel.texts import outside as _outside
from selfcorrect.kernel.texts import quoted, without_folders
from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    Finding,
    GiveUp,
    JsonObject,
    Repair,
    Safety,
)
from selfcorrect.plain import problem
from selfcorrect.protocols import RepairContext, Tool
from selfcorrect.schema.places import Place, fits, is_within, place_of
from selfcorrect.schema.subschema import at, same, shown

_MOST_QUESTIONS: Final = 12
_MOST_MESSAGES: Final = 4
_MOST_TOOLS: Final = 40
_UNKNOWN: Final = "unknown"
_NOT_SHOWN: Final = ("[secret]", "[sensitive]")

MISSING_TASK: Final = (
    "A tool call lacks arguments. Take their values from the request and the messages. "
    'If these do not say a value, answer {"unknown": true}: never make one up.'
)
WRONG_TASK: Final = (
    "A tool call failed because of the arguments below. Say what they should be, as the request "
    'means it. If you cannot know a value, answer {"unknown": true}: never make one up.'
)


@dataclass(frozen=True, slots=True)
class Question:
    """One value that is asked for.

    Attributes:
        key: Its key in the answer.
        path: Where it goes in the call.
        before: What stands there, or `ABSENT`.
        schema: What the answer has to be.
        finding: What is wrong.
        place: The place in the arguments; None for the name of the tool.
    """

    key: str
    path: str
    before: JSON
    schema: JsonObject
    finding: Finding
    place: Place | None = None


def questions(
    call: Call, diagnosis: Diagnosis, context: RepairContext, *, missing_only: bool = False
) -> list[Question] | GiveUp:
    """What to ask so that every finding is dealt with.

    Args:
        call: The call.
        diagnosis: All findings that are to be mended together.
        context: The context of the strategy.
        missing_only: Whether only arguments that are absent may be asked for.
    """
    found: dict[str, Question] = {}
    refusal = GiveUp("there is nothing to ask")
    for finding in diagnosis.findings:
        for path in finding.paths[:_MOST_QUESTIONS] or ("",):
            asked = _question(call, path, finding, context)
            if isinstance(asked, Question) and missing_only and asked.before is not ABSENT:
                asked = GiveUp("a value is there: nothing is missing")
            if isinstance(asked, Question):
                found.setdefault(asked.path, asked)
            elif finding.code == "additionalProperties" and not missing_only:
                refusal = asked
            else:
                return asked
    if not found:
        return refusal
    if len(found) > _MOST_QUESTIONS:
        return GiveUp("too many arguments are at fault to ask about them at once")
    if any(other.startswith(f"{one}/") for one in found for other in found):
        return GiveUp("one of the arguments at fault lies inside another")
    return list(found.values())


def _question(call: Call, path: str, finding: Finding, context: RepairContext) -> Question | GiveUp:
    if path == "/name":
        names = [name for name, tool in context.tools.items() if tool.effect != "destructive"]
        if not names or len(names) > _MOST_TOOLS or call.raw is not None:
            return GiveUp("there are no tools, or too many, to choose from")
        return Question("tool", path, call.name or ABSENT, {"enum": names}, finding)
    alone = Finding(finding.text, finding.types, paths=(path,), constraint=finding.constraint)
    place = place_of(call, alone, context)
    if isinstance(place, GiveUp):
        return place
    if not place.declared:
        return GiveUp("the schema does not know an argument at fault")
    key = ".".join(pointer.split(path)[1:])
    return Question(key, path, place.value, _schema_of(place), finding, place)


def _schema_of(place: Place) -> JsonObject:
    several = {"anyOf": list(place.schemas)}
    return shown(place.schemas[0] if len(place.schemas) == 1 else several, place.tool.schema)


def prompt(task: str, call: Call, asked: Sequence[Question], context: RepairContext) -> str:
    """The question in words, of bounded size."""
    tool = context.tool
    hidden = context.hidden | _marked(call, tool)
    echoes = _echoes(call, hidden)

    def outside(value: JSON, limit: int) -> str:
        return _outside(_without(value, echoes), limit)

    parts = [task, f"Tool: {quoted(call.name, 80)}"]
    if tool is not None and tool.description:
        parts.append(f"What it does: {outside(tool.description, 500)}")
    parts.append("Arguments asked for:")
    for one in asked:
        now = "absent" if one.before is ABSENT else _told(one, hidden, outside)
        error = outside(without_folders(one.finding.text, call.args), 300)
        parts.append(f"- {quoted(one.key, 120)}, now {now}; error: {error}")
    others = _others(call, asked, hidden)
    if others:
        parts.append(f"The other arguments: {outside(others, 1_000)}")
    if context.request:
        parts.append(f"The request: {outside(context.request, 2_000)}")
    parts += [
        f"Message of {_role(message)}: {outside(message.get('content', ''), 600)}"
        for message in list(context.messages)[-_MOST_MESSAGES:]
    ]
    parts.append(f"Today is {context.now().date().isoformat()}.")
    parts.append("Answer with one JSON object that has exactly these keys, and nothing else.")
    return "\n".join(parts)


def _told(one: Question, hidden: frozenset[str], outside: Callable[[JSON, int], str]) -> str:
    is_hidden = one.schema.get("x-sensitive") or any(is_within(p, one.path) for p in hidden)
    return "not shown" if is_hidden or one.path in hidden else outside(one.before, 300)


def _others(call: Call, asked: Iterable[Question], hidden: frozenset[str]) -> dict[str, JSON]:
    """The arguments that are not asked about, without those that hold something sensitive."""
    names = {tokens[1] for one in asked if len(tokens := pointer.split(one.path)) > 1}
    names |= {tokens[1] for path in hidden if len(tokens := pointer.split(path)) > 1}
    return {key: call.args[key] for key in list(call.args)[:50] if key not in names}


def _marked(call: Call, tool: Tool | None) -> frozenset[str]:
    """The arguments that the schema itself marks as sensitive."""
    schema = {} if tool is None else tool.schema
    return frozenset(
        pointer.join("args", key)
        for key in list(call.args)[:50]
        if any(isinstance(s, Mapping) and s.get("x-sensitive") for s in at(schema, [key]) or ())
    )


def _echoes(call: Call, hidden: frozenset[str]) -> tuple[str, ...]:
    """The values that may not be shown, as texts: an error or a message may repeat them."""
    values = ((path, pointer.look(call, path)) for path in hidden)
    return echoes_of(
        leaf for path, value in values if value is not ABSENT for _, leaf in leaves(value, path)
    )


def _without(value: JSON, echoes: Sequence[str]) -> JSON:
    if not echoes:
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    for echo in echoes:
        text = text.replace(echo, "[sensitive]")
    return text


def _role(message: JsonObject) -> str:
    role = message.get("role") or message.get("type")
    return role if role in ("user", "human", "assistant", "ai", "system", "tool") else "someone"


def answer_schema(asked: Sequence[Question]) -> JsonObject:
    """The JSON Schema of the answer: the keys asked for, or the word that nobody knows."""
    return {
        "type": "object",
        "properties": {**{one.key: one.schema for one in asked}, _UNKNOWN: {"type": "boolean"}},
        "additionalProperties": False,
    }


async def ask(task: str, call: Call, asked: Sequence[Question], context: RepairContext) -> Repair:
    """Ask the model once, and turn its answer into changes of class `model`.

    What the model does not know, does not answer in full, or answers beside the question is given
    up; so is a value that does not fit, or that is the one which failed.
    """
    if context.ask_model is None:
        return GiveUp("there is no model to ask")
    try:
        answer = await context.ask_model(prompt(task, call, asked, context), answer_schema(asked))
    except (ModelFailed, BudgetSpent) as error:
        return GiveUp(str(error))
    return read(answer, call, asked, context)


def read(answer: JSON, call: Call, asked: Sequence[Question], context: RepairContext) -> Repair:
    """A model's answer as changes."""
    if not isinstance(answer, Mapping):
        return GiveUp("the model did not answer with an object")
    keys = {one.key for one in asked}
    if answer.get(_UNKNOWN) is True and _UNKNOWN not in keys:
        return GiveUp("the model does not know")
    given = {k: v for k, v in answer.items() if k in keys or (k, v) != (_UNKNOWN, False)}
    if not given.keys() <= keys:
        return GiveUp("the model changed what it was not asked about")
    if given.keys() < keys:
        return GiveUp("the model did not answer everything that it was asked")
    if any(problem(value) is not None for value in given.values()):
        return GiveUp("the model's answer is not plain JSON")
    told = json.dumps(given, ensure_ascii=False)
    if any(word in told for word in _NOT_SHOWN):
        return GiveUp("the model answered with a value that it was not shown")
    changed = [one for one in asked if one.before is ABSENT or not same(one.before, given[one.key])]
    if not all(any(one.finding == each.finding for one in changed) for each in asked):
        return GiveUp("the model repeated the value that failed")
    if (why := _misfit(call, asked, given, context)) is not None:
        return GiveUp(why)
    reason = "the model's answer"
    return Changed(
        [Change(one.path, one.before, given[one.key], Safety.MODEL, reason) for one in changed]
    )


def _misfit(
    call: Call, asked: Sequence[Question], given: JsonObject, context: RepairContext
) -> str | None:
    """Why the answer cannot be used, or None."""
    if any(one.place is None and given[one.key] not in one.schema["enum"] for one in asked):
        return "the model named a tool that is not on offer"
    values = {one.path: given[one.key] for one in asked if one.place is not None}
    tool: Tool | None = context.tool
    if values and (tool is None or not fits(tool, call, values)):
        return "the model's answer does not fit the schema"
    if any(one.place is not None and not one.place.meets(given[one.key]) for one in asked):
        return "the model's answer does not keep to what the error asks for"
    return None
