"""What a whole run of an agent may cost, and what happens at a bound."""

from dataclasses import fields
from typing import Any, TypeAlias

from selfcorrect.errors import GraphSetupError, unknown_name
from selfcorrect.model import JsonDict, frozen


@frozen
class AgentBudget:
    """Bounds of one run of an agent; None is no bound.

    Attributes:
        turns: How often the model is asked.
        tool_calls: Calls of tools.
        seconds: Time, without what a person takes to answer.
        tokens: Tokens of the model, as far as it says so.
        same_tool: Calls of one tool in a row.
        argument_bytes: Bytes of one call's arguments, as JSON.

    Raises:
        GraphSetupError: If a bound is not a positive number.
    """

    turns: int | None = 8
    tool_calls: int | None = 32
    seconds: float | None = 300.0
    tokens: int | None = None
    same_tool: int | None = None
    argument_bytes: int | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            bound: Any = getattr(self, each.name)
            if bound is not None and not (isinstance(bound, int | float) and bound > 0):
                raise GraphSetupError(f"`{each.name}` must be a positive number: {bound!r}")


BOUNDS = tuple(each.name for each in fields(AgentBudget))


@frozen
class Stop:
    """End the run with its report; this is what happens without a handler."""


@frozen
class Checkpoint:
    """Interrupt the run: it goes on where it stopped with `{"action": "extend", "limits": {…}}`."""


class Extend:
    """Go on with larger bounds: `Extend(turns=20)`.

    Raises:
        GraphSetupError: If a budget has no such bound, or it is not a positive number.
    """

    def __init__(self, **bounds: float) -> None:
        for name in bounds:
            if name not in BOUNDS:
                raise GraphSetupError(unknown_name("bound", name, BOUNDS))
        given: JsonDict = {**bounds}
        AgentBudget(**given)  # refuses what is no bound
        self.bounds = bounds


LimitDecision: TypeAlias = Stop | Extend | Checkpoint
