"""ask-model: asks a chat model for the arguments at fault, or for a call that cannot be read."""

import json
from dataclasses import field
from itertools import islice
from typing import Any

from selfcorrect.model import (
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
from selfcorrect.models.prompts import Prompts
from selfcorrect.pointer import keys_of, look
from selfcorrect.protocols import RepairContext
from selfcorrect.text import bound, release

_MOST = 20
"""Arguments of which one question asks."""


@frozen
class AskModel:
    """Ask a model for the arguments at fault; its answer is checked like every other change.

    Attributes:
        model: A model of the strategy's own; left out, the graph's.
        prompts: What the model is told.
        rounds: How often it is asked for a call that cannot be read, and told what is wrong; at
            least once.

    Raises:
        ValueError: If there is no round.
    """

    model: Any = None
    prompts: Prompts = field(default_factory=Prompts)
    rounds: int = 3

    def __post_init__(self) -> None:
        if not self.rounds >= 1:
            raise ValueError(f"rounds must be at least 1: {self.rounds!r}")

    async def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        port = context.model
        if self.model is not None:
            port = context.port_of(self.model)
        text: Any = call.args
        if port is not None and isinstance(text, str):
            from selfcorrect.repairs.call_writer import write_call

            return await write_call(call, port, self.prompts, context, self.rounds)
        faults = islice(zip(diagnosis.params, diagnosis.paths, strict=True), _MOST)
        places = {name: path for name, path in faults if keys_of(path)}
        if port is None or not places or not context.may_pay():
            return GiveUp("there is no model to ask, or the error names no argument")
        named = release(", ".join(places), 2_000)
        system = f"{self.prompts.repair} {self.prompts.answer.format(names=named)}"
        answer = await port.ask_json(system, _prompt(call, diagnosis, context, places))
        changes = [
            Change(path, look(call, path), answer[name], Safety.MODEL, "a model's answer")
            for name, path in places.items()
            if answer is not None and name in answer
        ]
        return Changed(changes) if changes else GiveUp("the model does not know it either")


def _prompt(
    call: Call, diagnosis: Diagnosis, context: RepairContext, places: dict[str, str]
) -> str:
    """Return the data of the prompt; its size does not grow with the conversation."""
    data: JsonDict = {
        "request": bound(context.request or "", 4_000),
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
