"""Asks a model until it answers: what failed on the way is sent again, then a handler decides."""

from collections.abc import Awaitable, Callable
from typing import Any

from selfcorrect.effects.failure import CONNECTIONS, is_interrupt
from selfcorrect.errors import SelfCorrectError
from selfcorrect.policies.agent import (
    MOST_WAIT,
    ModelErrorHandler,
    RespondWith,
    RetryModel,
)

MOST_ATTEMPTS = 10
"""Calls for one answer that a handler may ask for."""
_WAITS = (0.25, 0.5)
"""Seconds before a request that failed in transport is sent again."""
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses of requests that are sent again."""

Sleep = Callable[[float], Awaitable[None]]


async def ask_until_answered(
    ask: Callable[[], Awaitable[Any]],
    *,
    model: Any,
    decide: ModelErrorHandler | None,
    sleep: Sleep,
    may_repeat: Callable[[], bool] = lambda: True,
) -> Any:
    """Return what a model answers, or what a handler gives in its place.

    A request that failed in transport is sent three times in all, unless the model's own client
    does so. Then the handler decides, at each failure; once all its attempts are made, those of
    transport included, the error is raised as it is.

    Args:
        ask: Asks the model.
        model: The model, for what its client does.
        decide: The handler; without one each error is raised.
        sleep: Waits.
        may_repeat: Whether the request may be sent again: nothing was streamed yet.
    """
    waits = iter(() if _retries_itself(model) else _WAITS)
    asked = decided = 0
    while True:
        asked += 1
        try:
            return await ask()
        except Exception as error:
            if _is_control(error):
                raise
            wait = _wait_after(error, next(waits, None)) if may_repeat() else None
            if wait is None:
                decision = decide(error) if decide else None
                if isinstance(decision, RespondWith):
                    return decision.value
                most = decision.max_attempts if isinstance(decision, RetryModel) else 0
                if asked >= min(most, MOST_ATTEMPTS) or not isinstance(decision, RetryModel):
                    raise
                decided, waits = decided + 1, iter(())
                wait = decision.wait(decided)
            await sleep(wait)


def _retries_itself(model: Any) -> bool:
    """Say whether a model's client sends requests again: ours would multiply with its own."""
    while hasattr(model, "bound"):
        model = model.bound
    # None leaves it to the client, whose default is not zero.
    return getattr(model, "max_retries", 0) != 0


def _wait_after(error: Exception, wait: float | None) -> float | None:
    """Return the seconds to wait after an error of transport, this long or longer, or None."""
    if wait is None:
        return None
    # A model that answers loads nothing of this.
    from selfcorrect.diagnosis.facts import finding_of

    finding = finding_of(error)
    status, least = finding["status"], finding["retry_after"] or 0.0
    is_passing = status in _PASSING if status else _is_connection(error)
    return max(wait, least) if is_passing and least <= MOST_WAIT else None


def _is_control(error: BaseException) -> bool:
    """Say whether an error is LangGraph's control flow or a bound: nobody's to decide about."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_control, error.exceptions))
    is_bound = isinstance(error, SelfCorrectError) or type(error).__name__ == "GraphRecursionError"
    return is_bound or is_interrupt(error)


def _is_connection(error: Exception) -> bool:
    """Say whether a connection failed, and not because an answer was late, or nobody is trusted."""
    names = [base.__name__ for base in type(error).__mro__]
    if any("Timeout" in name or "CertVerification" in name for name in names):
        return False
    is_socket = isinstance(error, OSError) and error.filename is None
    return is_socket or any(name.endswith(CONNECTIONS) for name in names)
