"""`on_error`: recovery that lives where the tool lives, asked before the error-strategy map."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# The whole family of what a handler meets is found here: what it gets, and how it ends in code.
from selfcorrect.errors import EscalationError as EscalationError  # noqa: PLC0414
from selfcorrect.model import JSON, F, JsonObject, Repair, frozen

HANDLER = "on-error"
"""The strategy by which a ladder and the trail name the handler of a tool."""


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
    """The arguments fit the schema, but not the tool's own types; or a fixer's answer is not JSON.

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


on_error = OnError
"""Makes a handler; the name that stands above a function."""


def default_on_error(handler: OnError | None) -> OnError | None:
    """Set the handler of tools and graphs that have none; return the one before it."""
    before = DEFAULTS.pop(HANDLER, None)
    if handler is not None:
        DEFAULTS[HANDLER] = handler
    return before


DEFAULTS: dict[str, OnError] = {}
"""The handler of tools and graphs that have none, if there is one; one for the process."""
