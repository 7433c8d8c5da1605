"""ask-model: asks a chat model for the arguments at fault, or for a call that cannot be read."""

import json
from collections.abc import Mapping
from dataclasses import field
from itertools import islice
from typing import Any

from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonDict,
    Repair,
    Safety,
    frozen,
)
from selfcorrect.models.port import ModelPort
from selfcorrect.models.prompts import Prompts
from selfcorrect.pointer import ARGS, keys_of, look
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.call_object import is_cut
from selfcorrect.text import bound, quote, release
from selfcorrect.tools.spec import ToolSpec

_MOST = 20
"""Arguments of which one question asks."""
_MAX_TEXT = 4_000


@frozen
class AskModel:
    """Ask a model for the arguments at fault; its answer is checked like every other change.

    Attributes:
        model: A model of the strategy's own; left out, the graph's.
        prompts: What the model is told.
        rounds: How often it is asked for a call that cannot be read, and told what is wrong.
    """

    model: Any = None
    prompts: Prompts = field(default_factory=Prompts)
    rounds: int = 3

    async def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        port = context.model
        if self.model is not None:
            port = context.port_of(self.model)
        text: Any = call.args
        if port is not None and isinstance(text, str):
            return await self._write_call(call, port, context)
        faults = islice(zip(diagnosis.params, diagnosis.paths, strict=True), _MOST)
        places = {name: path for name, path in faults if keys_of(path)}
        if port is None or not places or not context.may_pay():
            return GiveUp("there is no model to ask, or the error names no argument")
        named = release(", ".join(places), 2_000)
        system = f"{self.prompts.repair} {self.prompts.answer.format(names=named)}"
        reply = await port.ask_json(system, _prompt(call, diagnosis, context, places))
        changes = [
            _by_model(path, look(call, path), reply[name])
            for name, path in places.items()
            if reply is not None and name in reply
        ]
        return Changed(changes) if changes else GiveUp("the model does not know it either")

    async def _write_call(self, call: Call, port: ModelPort, context: RepairContext) -> Repair:
        """Ask for the call that a text means, at most `rounds` times; the last answer counts too.

        A wrong answer is answered with what is wrong with it: no call, then the name of its tool,
        then its arguments. Whether a call is meant is asked too, and only `true` says so; but not
        where the call names its tool, or the model was made to call one.
        """
        if is_cut(context.finish_reason):
            return GiveUp("the text was cut off at the limit of tokens")
        prompts, tools = self.prompts, context.tools
        if call.name in tools:
            tools = {call.name: tools[call.name]}
        is_meant = bool(call.name) or context.must_call
        write = prompts.write_meant if is_meant else prompts.write
        schemas = {each.name: each.parameters for each in tools.values()}
        prompt = [
            f"text: {quote(bound(str(call.args), _MAX_TEXT), 20_000)}",
            f"request: {quote(bound(context.request or '', _MAX_TEXT), 20_000)}",
            f"tools: {quote(schemas, 20_000)}",
        ]
        shape = prompts.shape_meant if is_meant else prompts.shape
        for _ in range(self.rounds):
            if not context.may_pay():
                break
            reply = await port.ask_json(write, "\n".join([*prompt, shape])) or {}
            ruling = is_meant or reply.get("call_is_meant")
            if ruling is False:
                return GiveUp("the model says that the text means no call")
            problem: str | None = prompts.no_call
            if reply and ruling is True:
                problem = _problem(reply, prompts, tools)
            if problem is None:
                return Changed(_changes(reply, call))
            prompt += [f"you answered: {quote(reply, 1_000)}", problem]
        return GiveUp("the model writes no call that fits")


def _prompt(
    call: Call, diagnosis: Diagnosis, context: RepairContext, places: dict[str, str]
) -> str:
    """Return the data of the prompt; its size does not grow with the conversation."""
    data: JsonDict = {
        "request": bound(context.request or "", _MAX_TEXT),
        "tool": call.name,
        "arguments": call.args,
        "error": bound(diagnosis.text, 1_000),
        "schema": {
            name: context.place(call).at(keys_of(path), call.args).view
            for name, path in places.items()
        },
    }
    return "\n".join(
        release(f"{key}: {json.dumps(item, ensure_ascii=False, default=repr)}", 6_000)
        for key, item in data.items()
    )


def _problem(reply: JsonDict, prompts: Prompts, tools: Mapping[str, ToolSpec]) -> str | None:
    """Return what the model is told about its answer, or None where it is a call that fits."""
    tool = tools.get(str(reply.get("name")))
    if tool is None:
        return prompts.no_tool.format(names=", ".join(tools))
    args = reply.get("arguments")
    fits = isinstance(args, Mapping) and tool.arguments.accepts(args)
    return None if fits else prompts.no_fit.format(name=tool.name)


def _changes(reply: JsonDict, call: Call) -> list[Change]:
    every = [
        _by_model("/name", call.name, reply["name"]),
        _by_model(ARGS, call.args, reply["arguments"]),
    ]
    return [each for each in every if each.after != each.before]


def _by_model(path: str, before: JSON, after: JSON) -> Change:
    return Change(path, before, after, Safety.MODEL, "a model's answer")
