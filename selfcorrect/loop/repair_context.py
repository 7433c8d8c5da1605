"""What a strategy gets: the findings that go to it, and what stands beside the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from selfcorrect.echoes import leaves
from selfcorrect.json_forms import call_from_json, change_from_json
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.masking import Mask, has_sensitive
from selfcorrect.model import Attempt, Change, ErrorKind, Finding, Safety
from selfcorrect.protocols import ModelPort, RepairContext, TextPolicy
from selfcorrect.state import CorrectionState

_LAST_MESSAGES = 6
_OURS = ("selfcorrect.repairs.", "selfcorrect.mending.")
_FIRST = RepairContext()


def is_ours(strategy: Any) -> bool:
    """Whether a strategy came along with the library: all of these leave a call as it is."""
    return type(strategy).__module__.startswith(_OURS)


def vouched(strategy: Any, claimed: Safety) -> Safety | None:
    """The class of the values that a strategy answers for, if the deployment brought it along."""
    if strategy is None or not getattr(strategy, "vouches", not is_ours(strategy)):
        return None
    # What an option of a built-in strategy adds, nobody said in this call.
    is_built_in = type(strategy).__module__.startswith("selfcorrect.repairs.")
    return Safety.INFERRED if is_built_in else claimed


def repair_context(
    state: CorrectionState,
    context: RunContext,
    ask_model: ModelPort | None,
    before: RepairContext = _FIRST,
) -> RepairContext:
    """The context of a strategy in this state; `ask_model` is None where none may be asked.

    Refused changes that stood in the one `before` are not read again: there may be thousands.
    """
    given, items = state["given"], state["refused"][len(before.refused) :]
    refused = tuple(map(change_from_json, items))
    return RepairContext(
        tool=context.tools.get(state["current"]["name"]),
        tools=context.tools,
        request=given.get("request"),
        messages=tuple((given.get("messages") or [])[-_LAST_MESSAGES:]),
        finish_reason=given.get("finish_reason"),
        written=given.get("written") or (state["original"] or {}).get("raw"),
        reading=_reading(context),
        read=context.readings.of(state.get("run", "")),
        attempts=tuple(_attempt(item) for item in state["attempts"]),
        refused=before.refused + refused,
        proposals=before.proposals + _proposals(items, refused),
        hidden=_hidden(state, context),
        ask_model=ask_model,
        now=context.time.now,
    )


def together(
    selected: list[dict[str, Any]],
    given: Mapping[str, Any],
    strategy: Callable[[Mapping[str, Any]], Any],
) -> list[dict[str, Any]]:
    """Questions to a model become one: what one strategy covers of another goes to it."""
    if len(selected) < 2 or not (given.get("request") or given.get("messages")):
        return selected
    out = list(selected)
    for item in selected:
        for name in getattr(strategy(item), "covers", ()):
            same = {"strategy": item["strategy"], "rule": item["rule"]}
            out = [each | same if each["strategy"] == name else each for each in out]
    return out


def also(
    selected: Sequence[Mapping[str, Any]],
    item: Mapping[str, Any],
    findings: Sequence[Finding],
    strategy: Callable[[Mapping[str, Any]], Any],
) -> list[Finding]:
    """What else the strategy of an item was selected for."""
    return [
        findings[other["finding"]]
        for other in selected
        if other is not item
        and other["strategy"] == item["strategy"]
        and strategy(other) == strategy(item)
    ]


def _reading(context: RunContext) -> TextPolicy:
    """Which calls in a text are made; where none is, what is read here did not come as a text."""
    policy = context.strategies.reading
    return policy if policy.text != "off" else TextPolicy()


def _proposals(
    items: Sequence[Mapping[str, Any]], refused: Sequence[Change]
) -> tuple[tuple[Change, ...], ...]:
    """The refused changes, those of one answer together; empty where an old state cannot tell."""
    pairs = groupby(zip(items, refused, strict=True), key=lambda pair: pair[0].get("group"))
    return tuple(tuple(one for _, one in ones) for group, ones in pairs if group is not None)


def _hidden(state: CorrectionState, context: RunContext) -> frozenset[str]:
    tool = context.tools.get(state["current"]["name"])
    if not has_sensitive(tool, context.safety):
        return frozenset()
    mask = Mask(tool, context.safety)
    found = {path for path, _ in leaves(state["current"]["args"], "/args") if mask.hides(path)}
    asked = {path for item in state["findings"] for path in item.get("paths") or ()}
    return frozenset(found | {path for path in asked if mask.hides(path)})


def _attempt(item: Mapping[str, Any]) -> Attempt:
    kind = item.get("kind")
    return Attempt(
        item["number"],
        call_from_json(item["call"]),
        item["outcome"],
        item.get("seconds", 0.0),
        item.get("text"),
        ErrorKind(kind) if kind else None,
    )
