"""Counts of what was learnt: how often it was done, and whether it helped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from selfcorrect.errors import LedgerError
from selfcorrect.loop.context import RunContext
from selfcorrect.model import First
from selfcorrect.recalling.named import schema_mark

if TYPE_CHECKING:
    from selfcorrect.tools import ToolSpec


@lru_cache(maxsize=1_024)
def of_tool(tool: ToolSpec) -> Mapping[str, str]:
    """What a trail says of the tool of an execution, for whoever learns from it."""
    return {"effect": tool.effect, "schema": schema_mark(tool.schema)}


async def retired(first: First, context: RunContext) -> str | None:
    """Why an entry is not done any more, or None."""
    if first.entry is None:
        return None
    found = await _of_store(context, "recall_count", first.entry)
    if found is None or found.in_a_row < context.limits.recall_failures:
        return None
    return f"the entry {first.entry} has failed {found.in_a_row} times in a row: it is retired"


async def count_recalls(
    state: Mapping[str, Any], counts: Mapping[str, Any], context: RunContext
) -> None:
    """Note of everything that was recalled in a run that is over whether it helped.

    It helped if the call that it mended succeeded, or got further: failed with another error.
    """
    attempts = list(state["attempts"])
    for item in counts.get("recalled") or ():
        before, after = attempts[: item["attempt"]], attempts[item["attempt"] :]
        if not after:
            continue
        last = before[-1].get("text") if before else None
        helped = after[0]["outcome"] == "done" or after[0].get("text") != last
        await _of_store(context, "count_recall", item["entry"], helped)


async def _of_store(context: RunContext, method: str, *args: Any) -> Any:
    """Ask the ledger, or memory where the ledger keeps no counts; a broken one changes nothing."""
    ledger: Any = context.ledger
    store = ledger if hasattr(ledger, method) else context.memory
    try:
        return await context.of_store(store, getattr(store, method), *args)
    except LedgerError:
        return None
