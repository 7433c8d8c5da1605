"""ask-model: a model says what the arguments at fault should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from selfcorrect.model import Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.models.prompts import WRONG_TASK, ask, questions
from selfcorrect.models.whole_call import ask_for_call
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class AskModel:
    """Asks the model, once for all findings, for the arguments at fault, and for nothing else.

    The answer has to fit the schema and the error, and may not repeat what failed. Where the error
    does not say which argument is at fault, there is nothing to ask.

    Attributes:
        task: What the prompt starts with.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> async def model(prompt, schema):
    ...     return {"mood": "happy"}
    >>> schema = {"properties": {"mood": {"enum": ["happy", "sad"]}}}
    >>> change = try_strategy(AskModel(), schema, {"mood": "cheerful"}, ask_model=model).changes[0]
    >>> change.after, change.safety.value
    ('happy', 'model')
    """

    name: ClassVar[str] = "ask-model"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.MODEL,)
    needs: ClassVar[str] = "model"
    batch: ClassVar[bool] = True
    covers: ClassVar[tuple[str, ...]] = ("infer-missing",)
    """Strategies whose findings it asks about in the same prompt."""

    task: str = WRONG_TASK

    async def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Ask for every argument at fault among the findings."""
        if diagnosis.path == "/raw":
            return await ask_for_call(call, context)
        asked = questions(call, diagnosis, context)
        return asked if isinstance(asked, GiveUp) else await ask(self.task, call, asked, context)
