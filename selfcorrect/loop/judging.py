"""What the kernel is asked about the changes of a strategy, and what comes of its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from selfcorrect.effects import destroys
from selfcorrect.json_forms import call_from_json, to_json
from selfcorrect.kernel.changes import judge
from selfcorrect.kernel.likeness import tools_like
from selfcorrect.kernel.metadata import ended
from selfcorrect.kernel.requests import tools_named
from selfcorrect.kernel.spellings import Words
from selfcorrect.kernel.verdicts import LAWS, Step, Verdict, worst
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.heard import heard, known
from selfcorrect.loop.repair_context import vouched
from selfcorrect.model import ABSENT, JSON, OWN_CHECKS, Call, Change, Extent, Finding, Safety
from selfcorrect.plain import plain
from selfcorrect.protocols import Effect, RepairContext, Tool
from selfcorrect.schema.keys import names_of
from selfcorrect.schema.slots import slots_of
from selfcorrect.state import CorrectionState
from selfcorrect.text import normal

_OUTER: Final = frozenset({Safety.MODEL, Safety.LEARNED, Safety.LOSSY, Safety.HUMAN})
"""Classes by which a proposer says that a value is none that was written."""
_CARRIED: Final = frozenset({Safety.MODEL, Safety.LEARNED})
"""Classes of values that somebody may have read in what a tool said."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Changes with the classes that the kernel gives them.

    Attributes:
        changes: The changes.
        words: What is wrong with them, for people; empty where nothing is.
        law: The law that they break first, by its name; empty where they break none.
    """

    changes: tuple[Change, ...]
    words: str = ""
    law: str = ""


def judged(
    call: Call,
    new: Call,
    changes: Sequence[Change],
    findings: Sequence[Finding],
    rungs: Mapping[str, Any],
    state: CorrectionState,
    context: RunContext | RepairContext,
    *,
    extents: Sequence[Extent] = (),
) -> Judged:
    """The class of each change of one proposal, computed from the call before and after it.

    Args:
        call: The call before.
        new: The call after.
        changes: What was proposed; the classes are claims.
        findings: What is mended.
        rungs: The strategies of the ladder by name: their options declare words, and code of the
            deployment answers for the values that it made.
        state: The run.
        context: What it runs with.
        extents: Where the calls of a text stand, as their reader says.
    """
    tool = context.tools.get(new.name)
    origins, waived = dict[str, Safety](), dict[str, Safety]()
    for change in changes:
        origin = vouched(rungs.get(change.strategy or ""), change.safety)
        is_outer = change.safety in _OUTER or origin is not None
        if is_outer and change.after is not ABSENT:
            origins[change.path] = origin or change.safety
        if change.safety in (Safety.MODEL, Safety.HUMAN):
            waived[change.path] = change.safety
        if change.path == "/raw" and is_outer:
            origins["/args"] = change.safety
    blamed = [
        path for one in findings if OWN_CHECKS.isdisjoint(one.types[:1]) for path in one.paths
    ]
    schema = tool.schema if tool is not None else {}
    is_outer = not _CARRIED.isdisjoint(origins.values())
    told_by = heard(findings, call.name, state, context.tools) if is_outer else ()
    step = Step(
        written=call,
        runs=new,
        slot=slots_of(schema),
        offered=context.tools,
        offers=lambda name: slots_of(context.tools[name].schema),
        foreign=len({getattr(one, "server", "") for one in context.tools.values()}) > 1,
        wanted=tools_named(state["given"].get("tool_choice")),
        effect=_effect(call, new, state, context),
        declared=bool(getattr(tool, "declared", False)),
        takes=lambda: _takers(new, context),
        topic=names_of(tool).topic if tool is not None else frozenset(),
        origins=origins,
        waived=waived,
        blamed=blamed,
        words=_words(rungs.values()),
        suggested=[value for one in findings for value in _suggested(one)],
        heard=told_by,
        known=known(state, schema) if told_by else (),
        source=_source(state),
        extents=extents,
        ended=ended(state["given"].get("finish_reason")),
        edge=_makes_at_edge(tool, state, context),
        keys=[key for one in rungs.values() for key in _own_keys(one)],
    )
    verdict = judge(step)
    classes = verdict.classes([change.path for change in changes])
    # A person has seen what he changes.
    made = [
        change
        if change.safety is Safety.HUMAN
        else replace(change, safety=worst([change.safety, safety]))
        for change, safety in zip(changes, classes, strict=True)
    ]
    law = next((LAWS[one.law] for one in verdict.reasons if one.words), "")
    return Judged(tuple(made), verdict.words, law)


def _effect(
    call: Call, new: Call, state: CorrectionState, context: RunContext | RepairContext
) -> Effect:
    """What the tool may do that would run; of a name in a text, the one that it spells."""
    if state.get("barred") is not None:
        return "read_only"  # it is only proposed: who makes it decides anew
    tool = context.tools.get(new.name)
    if tool is not None:
        return "destructive" if destroys(tool) else tool.effect
    if call.raw is None:
        return "mutating"
    names, has_same_words = tools_like(new.name, context.tools)
    meant = names if has_same_words and names else context.tools
    effects = {context.tools[one].effect for one in meant}
    return "read_only" if effects == {"read_only"} else "mutating"


def _makes_at_edge(
    tool: Tool | None, state: CorrectionState, context: RunContext | RepairContext
) -> bool:
    """Whether a call beside words is made of a tool that acts."""
    # Of what was said before nobody knows: the call may be quoted from there.
    knows = bool(state["given"].get("messages")) or state["given"].get("request") is not None
    is_safe = tool is not None and (knows or not destroys(tool))
    policy = context.reading if isinstance(context, RepairContext) else context.strategies.reading
    return policy.text == "edge" and is_safe


def _own_keys(strategy: Any) -> Iterable[str]:
    """The keys of a call's parts that a deployment declares."""
    options = ("id_keys", "name_keys", "arguments_keys")
    return (key for option in options for key in getattr(strategy, option, ()))


def _takers(call: Call, context: RunContext | RepairContext) -> list[str]:
    """The tools that take these arguments as they are, or without a nameless key around them."""
    inner = [v for k, v in call.args.items() if not normal(k) and isinstance(v, dict)]
    forms = [call.args, *(inner if len(call.args) == 1 else ())]
    return [name for name, tool in context.tools.items() if any(map(tool.is_valid, forms))]


def owned(
    changes: Sequence[Change], ladder: Sequence[str], item: Mapping[str, Any]
) -> tuple[Change, ...]:
    """Changes in the name of who made them, if he stands on the ladder, and under its rule."""
    return tuple(
        replace(
            change,
            strategy=change.strategy if change.strategy in ladder else item["strategy"],
            rule=item["rule"],
        )
        for change in changes
    )


def is_hidden_loss(claimed: Change, found: Change) -> bool:
    """Whether a change loses something without saying so."""
    return found.safety is Safety.LOSSY and claimed.safety is not Safety.LOSSY


def refused(
    judgement: Judged, whys: Iterable[tuple[Change, str]], group: int
) -> list[dict[str, JSON]]:
    """Refused changes as the state keeps them, those of one answer together."""
    changes, words = judgement.changes, judgement.words
    # What a law says of a change tells more than that its class may not run.
    told = {id(one): (words if one.safety is Safety.LOSSY else "") or why for one, why in whys}
    whole = "belongs to a change that is refused"
    return [to_json(one) | {"why": told.get(id(one), whole), "group": group} for one in changes]


def by_node(
    node: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
    context: RunContext,
) -> tuple[dict[str, JSON], dict[str, JSON] | None]:
    """What a node of the deployment's own made of a call, as a change, and why the run ends."""
    verdict = _judged_node(before, after, context)
    is_lossy = verdict.safety is Safety.LOSSY
    change = {
        "path": "",
        "before": before,
        "after": after,
        "safety": (Safety.LOSSY if is_lossy else Safety.HUMAN).value,
        "reason": f"by the node {node}",
        "strategy": node,
    }
    stop = {"reason": "rejected", "detail": f"{node}: {verdict.words}"}
    return change, stop if is_lossy else None


def _judged_node(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], context: RunContext
) -> Verdict:
    """What the laws say of what a node of the deployment's own made of a call.

    The node answers for the values that it made; what was written and is gone stays lost.
    """
    if not isinstance(before, Mapping) or not isinstance(before.get("args"), dict):
        return Verdict()
    written, runs = call_from_json(before), call_from_json(after)
    tool = context.tools.get(runs.name)
    if written.raw is not None or tool is None:
        return Verdict()
    origins = {"/args": Safety.HUMAN, "/name": Safety.HUMAN}
    slot = slots_of(tool.schema)
    return judge(Step(written, runs, slot, context.tools, tool.effect, origins=origins))


def judged_step(
    made: Call,
    call: Call,
    findings: Sequence[Finding],
    state: CorrectionState,
    context: RunContext,
) -> str:
    """Why a call of another tool, which comes before a call, may not be made; empty if it may."""
    schema = context.tools[made.name].schema
    step = Step(
        written=Call(made.name, {}),
        runs=made,
        slot=slots_of(schema),
        origins={"/args": Safety.LEARNED},
        heard=heard(findings, call.name, state, context.tools),
        known=known(state, schema, plain(call.args)),
    )
    return judge(step).words


def _words(strategies: Iterable[Any]) -> Words:
    """What the options of strategies declare to mean the same."""
    found: dict[str, JSON] = {}
    for one in strategies:
        for option in ("synonyms", "number_words"):
            declared = getattr(one, option, None)
            if isinstance(declared, Mapping):
                found |= declared
    return Words(found)


def _suggested(finding: Finding) -> Sequence[JSON]:
    listed = finding.constraint.get("enum")
    return [*finding.suggestions, *(listed if isinstance(listed, list | tuple) else ())]


def _source(state: CorrectionState) -> str:
    """The text that the call was read from, if it was text."""
    text = state["given"].get("written") or (state.get("original") or {}).get("raw")
    return text if isinstance(text, str) else ""
