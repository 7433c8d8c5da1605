"""Listeners to what a run does; they change nothing, and what they raise stays with them."""

import logging
from collections.abc import Callable
from typing import Any, TypeAlias

from selfcorrect.errors import GraphSetupError
from selfcorrect.model import JSON, JsonDict, JsonObject, frozen
from selfcorrect.text import release

Listener: TypeAlias = Callable[..., object]
_LOG = logging.getLogger("selfcorrect")


@frozen
class Hooks:
    """Plain functions that are called as a run goes on. They never recover it, nor break it.

    Attributes:
        on_tool_use: Called with name, arguments and result of each call that succeeds; the result
            of one that escalates is what the model reads.
        on_error: Called once for each call that fails, with its name and its report.
        on_threshold: Called once when a run has used much of a budget, with the budget's name,
            what is used, and the bound.
        threshold: How much is much, as a part of the bound.

    Raises:
        GraphSetupError: If the threshold is not above 0 and at most 1.
    """

    on_tool_use: Listener | None = None
    on_error: Listener | None = None
    on_threshold: Listener | None = None
    threshold: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise GraphSetupError(f"`threshold` must be above 0 and at most 1: {self.threshold!r}")

    def tool_used(self, name: str, args: JsonObject, result: JSON) -> None:
        """Say that a call was answered."""
        _call(self.on_tool_use, name, args, result)

    def failed(self, name: str, report: JsonDict) -> None:
        """Say that a call failed."""
        _call(self.on_error, name, report)

    def pass_threshold(self, budget: str, used: float, bound: float) -> None:
        """Say that a run has used much of a budget."""
        _call(self.on_threshold, budget, used, bound)


def _call(listener: Listener | None, *args: Any) -> None:
    if listener is None:
        return
    try:
        listener(*args)
    except Exception as error:
        name = getattr(listener, "__name__", type(listener).__name__)
        if _LOG.hasHandlers():  # otherwise Python prints it
            _LOG.warning("The listener %s raised %s", name, release(repr(error)))
            _LOG.debug("Its traceback:", exc_info=True)
