"""`on_error`: recovery that lives where the tool lives, asked before the error-strategy map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    Fix,
    GiveUp,
    JsonObject,
    Repair,
    Result,
    Safety,
    frozen,
)
from selfcorrect.models.port import value_of
from selfcorrect.pointer import ARGS
from selfcorrect.protocols import RepairContext
from selfcorrect.reading.call_object import strict_json

if TYPE_CHECKING:
    from selfcorrect.models.fixer import FixRequest

RUNG = "on-error"
"""The name of a handler on a ladder."""
F = TypeVar("F", bound=Callable[..., Any])


@frozen
class InvalidArgs:
    """The arguments do not fit the schema, or cannot be read.

    Attributes:
        raw: The arguments as they came: a text where they could not be read.
        parse_error: What is wrong.
        schema: The schema of the tool's arguments.
    """

    raw: JSON
    parse_error: str
    schema: JsonObject


@frozen
class DeserializationError:
    """The arguments fit the schema, but not the tool's own types; or a fixer's answer is no JSON.

    Attributes:
        raw: What could not be turned into the target.
        target: What it should have become.
        cause: The error.
    """

    raw: JSON
    target: str
    cause: BaseException | None


@frozen
class ExecutionError:
    """The tool ran and failed."""

    args: JsonObject
    cause: BaseException | None


ToolFault = InvalidArgs | DeserializationError | ExecutionError
Decision = Repair | Callable[[Any], Any] | None
"""A repair, or a function of the error that returns one, or None where it does not decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnError:
    """Decides about errors of one tool, or of every tool that has no handler of its own.

    It is for `ToolSpec(on_error=…)` and `build_graph(on_error=…)`; used as a decorator it belongs
    to the function below it. Each argument is a `Repair`, or a function from the error to one.
    """

    invalid_args: Decision = None
    deserialization_error: Decision = None
    execution_error: Decision = None

    def __call__(self, function: F) -> F:
        function.on_error = self  # type: ignore[attr-defined]
        return function

    def decision(self, kind: type[ToolFault]) -> Decision:
        """Return what decides about an error of this class, or None."""
        return getattr(self, _FIELDS[kind])  # type: ignore[no-any-return]


_FIELDS = {
    InvalidArgs: "invalid_args",
    DeserializationError: "deserialization_error",
    ExecutionError: "execution_error",
}


on_error = OnError
"""Makes a handler; the name that stands above a function."""


def default_on_error(handler: OnError | None) -> OnError | None:
    """Set the handler of tools and graphs that have none; return the one before it."""
    before = DEFAULTS.pop(RUNG, None)
    if handler is not None:
        DEFAULTS[RUNG] = handler
    return before


DEFAULTS: dict[str, OnError] = {}
"""The handler of tools and graphs that have none, if there is one; one for the process."""


@frozen
class AskHandler:
    """The rung of a handler: asks it, and calls the fixer that it names."""

    handler: OnError
    kind: type[ToolFault]

    async def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        # A call that succeeds loads nothing of this.
        from selfcorrect.models.fixer import FixRequest

        fault: ToolFault = ExecutionError(call.args, context.error)
        if self.kind is InvalidArgs:
            fault = InvalidArgs(call.args, diagnosis.text, context.schema)
        elif self.kind is DeserializationError:
            fault = DeserializationError(call.args, call.name, context.error)
        given: Any = call.args
        raw = given if isinstance(given, str) else None
        args: JsonObject = {} if isinstance(given, str) else given
        request = FixRequest(args, raw, diagnosis.text, context.schema, context.request)
        return await self._decide(fault, request, context)

    async def _decide(
        self, fault: ToolFault, request: FixRequest, context: RepairContext
    ) -> Repair:
        decision = self.handler.decision(type(fault))
        answer = await value_of(decision(fault)) if callable(decision) else decision
        if answer is None:
            return GiveUp("the handler does not decide")
        if not isinstance(answer, Fix):
            return answer
        return await self._fix(answer, fault, request, context)

    async def _fix(
        self, fix: Fix, fault: ToolFault, request: FixRequest, context: RepairContext
    ) -> Repair:
        from selfcorrect.effects.failure import ending_of
        from selfcorrect.models.fixer import ask_fixer

        last: object = "it gave no arguments"
        for _ in range(min(fix.retries, MAX_RETRIES) + 1):
            try:
                value = await ask_fixer(fix.fixer, request, context)
            except Exception as error:  # any other failure consumes a retry
                if (ending := ending_of(error)) is not None:
                    return ending
                last = error
                continue
            if isinstance(fault, ExecutionError):
                return Result(value)
            args = strict_json(value) if isinstance(value, str) else value
            if isinstance(args, Mapping):
                before = request.raw or dict(request.arguments)
                # A function is the deployment's code; behind anything else a model may answer.
                safety = Safety.MODEL if hasattr(fix.fixer, "invoke") else Safety.INFERRED
                change = Change(ARGS, before, dict(args), safety, "the tool's fixer")
                return Changed(change)
            last = f"{value!r:.80} is no JSON object"
            if isinstance(fault, InvalidArgs) and self.handler.deserialization_error is not None:
                again = DeserializationError(value, "arguments", ValueError(last))
                return await self._decide(again, request, context)
        return GiveUp(f"the fixer failed {fix.retries + 1} times; last: {last}")


MAX_RETRIES = 10
