"""Names that no tool has, over a whole run of an agent: one policy object for each run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from selfcorrect.loop.failures import Live
from selfcorrect.policies import AutoCorrect, Raise, ToolNotFoundPolicy

_MOST_RUNS: Final = 1_000


class NotFound:
    """Asks the policy of a run about every miss, and tells it of every name that resolves.

    What is counted lies in the agent's state; a run that goes on elsewhere, or from an earlier
    checkpoint, gets a policy that has seen as many misses as the state says.

    Args:
        policy: The template; None: the model is told, however often.
    """

    def __init__(self, policy: ToolNotFoundPolicy | None) -> None:
        self._template = policy or AutoCorrect(max_retries=sys.maxsize)
        self._hears = policy is not None
        self._runs = Live[tuple[ToolNotFoundPolicy, int] | None](None, _MOST_RUNS)

    def decide(
        self,
        run: str,
        before: int,
        missing: Sequence[str],
        available: Sequence[str],
        *,
        found: bool,
    ) -> tuple[int, list[str]]:
        """The misses in a row after a message, and what the model is told of each name in it.

        Args:
            run: What tells this run from others.
            before: Messages in a row, before this one, in which no name resolved.
            missing: The names in the message that no tool has.
            available: The names of the tools.
            found: Whether another name in the message resolved.

        Raises:
            ToolNotFoundError: If the policy ends the run.
        """
        if not missing and not (found and self._hears):
            return 0, []
        policy = self._of(run, before, missing, available)
        if found:
            policy.on_tool_found()
        told: list[str] = []
        for number, name in enumerate(missing):
            # Several misses of one message count once: the others are asked of one that forgets.
            decision = (policy if number == 0 else self._template.fresh()).handle(name, available)
            if isinstance(decision, Raise):
                raise decision.error
            told.append(decision.message)
        if found and missing:
            policy.on_tool_found()
        after = 0 if found else before + 1
        self._runs.keep(run, (policy, after))
        return after, told

    def _of(
        self, run: str, before: int, missing: Sequence[str], available: Sequence[str]
    ) -> ToolNotFoundPolicy:
        known, seen = self._runs.of(run) or (None, 0)
        self._runs.forget(run)
        if known is not None and seen == before:
            return known
        policy = self._template.fresh()
        for _ in range(before):
            policy.handle(missing[0] if missing else "", available)
        return policy
