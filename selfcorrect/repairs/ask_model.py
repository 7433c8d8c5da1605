"""ask-model: a model says what the arguments at fault should be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from selfcorrect.errors import GraphSetupError
from selfcorrect.hints import whole
from selfcorrect.model import JSON, Call, Diagnosis, GiveUp, JsonObject, Repair, Safety
from selfcorrect.models.prompts import WRONG_TASK, ask, questions
from selfcorrect.models.whole_call import Prompts, ask_for_call
from selfcorrect.protocols import RepairContext


@dataclass(frozen=True, slots=True)
class AskModel:
    """Asks the model, once for all findings, for the arguments at fault, and for nothing else.

    The answer has to fit the schema and the error, and may not repeat what failed. Where the error
    does not say which argument is at fault, there is nothing to ask.

    A call that could not be read it asks for as a whole: told what is wrong with its answer, the
    model is asked again. What it cannot write is left as it was, for the next rung of the ladder.

    Attributes:
        task: What the prompt about arguments starts with.
        rounds: How often the model is asked for a whole call, ten times at most. Each counts in
            `Limits.model_calls`.
        model: Asked in place of the run's own model, such as a better one on the next rung; counted
            and bounded like that one, and asked only where the run has one.
        prompts: The texts about a whole call.

    Raises:
        GraphSetupError: If an option can never be meant.

    >>> from selfcorrect.testing.conformance import try_strategy
    >>> async def model(prompt, schema):
    ...     return {"mood": "happy"}
    >>> schema = {"properties": {"mood": {"enum": ["happy", "sad"]}}}
    >>> change = try_strategy(AskModel(), schema, {"mood": "cheerful"}, ask_model=model).changes[0]
    >>> change.after, change.safety.value
    ('happy', 'model')
    """

    name = "ask-model"
    safety = (Safety.MODEL,)
    needs = "model"
    batch = True
    covers = ("infer-missing",)
    """Strategies whose findings it asks about in the same prompt."""

    task: str = WRONG_TASK
    rounds: int = 3
    model: Any = None
    prompts: Prompts = field(default_factory=Prompts)

    def __post_init__(self) -> None:
        """Refuse what can never be meant."""
        whole("ask-model", "rounds", self.rounds, least=1)
        if self.model is not None and not callable(getattr(self.model, "invoke", None)):
            raise GraphSetupError(
                f"ask-model: model must be a chat model with invoke, not {self.model!r:.80}"
            )

    async def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Ask for every argument at fault among the findings, or for the call as a whole."""
        context = self._asking(context)
        if diagnosis.path == "/raw":
            return await ask_for_call(call, context, self.rounds, self.prompts)
        asked = questions(call, diagnosis, context)
        return asked if isinstance(asked, GiveUp) else await ask(self.task, call, asked, context)

    def _asking(self, context: RepairContext) -> RepairContext:
        """The context, with this strategy's own model in place of the run's."""
        port = context.ask_model
        if port is None or self.model is None:
            return context

        async def other(prompt: str, schema: JsonObject, model: Any = None) -> JSON:
            return await port(prompt, schema, self.model if model is None else model)

        return replace(context, ask_model=other)
