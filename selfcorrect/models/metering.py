"""Counts and bounds the models inside something that is not ours: a fixer that is an agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from selfcorrect.errors import BudgetSpent
from selfcorrect.limits import Limits, spent
from selfcorrect.models.usage import charge


@contextmanager
def metered(counts: dict[str, Any], limits: Limits) -> Iterator[None]:
    """Within this block every LangChain model that is called counts, and is refused beyond limits.

    The refusal is a `BudgetSpent` out of the model's call. Does nothing where LangChain's callbacks
    are not used.

    Args:
        counts: The run's counters; `model_calls`, `tokens` and `cost` grow.
        limits: The run's bounds.
    """
    slot = _slot()
    before = slot.set(_meter(counts, limits))
    try:
        yield
    finally:
        slot.reset(before)


@cache
def _slot() -> ContextVar[Any]:
    """Where LangChain looks for the meter; registered once."""
    from langchain_core.tracers.context import register_configure_hook

    slot: ContextVar[Any] = ContextVar("selfcorrect_meter", default=None)
    register_configure_hook(slot, inheritable=True)
    return slot


def _meter(counts: dict[str, Any], limits: Limits) -> Any:
    from langchain_core.callbacks import BaseCallbackHandler

    class Meter(BaseCallbackHandler):
        """Refuses before a call, counts after it."""

        raise_error = True
        run_inline = True

        def on_chat_model_start(self, *_: Any, **__: Any) -> None:
            for what in ("model_calls", "tokens", "cost"):
                if bound := spent(counts, limits, what):
                    raise BudgetSpent(bound)
            counts["model_calls"] = counts.get("model_calls", 0) + 1

        def on_llm_end(self, response: Any, **_: Any) -> None:
            for row in response.generations:
                for generation in row:
                    charge(counts, getattr(generation, "message", None), limits.prices)

    return Meter()
