"""infer-missing: a model takes missing arguments from the request."""

from __future__ import annotations

from dataclasses import dataclass

from selfcorrect.model import Call, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.models.prompts import MISSING_TASK, ask, questions
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class InferMissing:
    """Asks the model, once for all missing arguments, what the request says of them.

    Not the right tool where nothing is known of the conversation: without a request or messages it
    gives up instead of letting a model invent values.

    Attributes:
        task: What the prompt starts with.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> async def model(prompt, schema):
    ...     return {"passengers": 1}
    >>> schema = {"properties": {"passengers": {"type": "integer"}}, "required": ["passengers"]}
    >>> change = try_strategy(
    ...     InferMissing(), schema, {}, request="a flight for me", ask_model=model).changes[0]
    >>> change.after, change.safety.value
    (1, 'model')
    """

    name = "infer-missing"
    safety = (Safety.MODEL,)
    needs = "model"
    batch = True

    task: str = MISSING_TASK

    async def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Ask for every missing argument among the findings."""
        if not context.request and not context.messages:
            return GiveUp("nothing is known of the conversation, so a value would be invented")
        asked = questions(call, diagnosis, context, missing_only=True)
        return asked if isinstance(asked, GiveUp) else await ask(self.task, call, asked, context)
