"""repair: one round.

All findings that need no person are mended together; a question to a person is a round of its own.

What a mend brings to light (a renamed argument with a bad value) goes through the same
diagnose and select_strategy nodes, inside the round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from selfcorrect.answers import options_of, usable_answer
from selfcorrect.context import RunContext, Update
from selfcorrect.errors import is_control_flow
from selfcorrect.handlers.handling import ON_ERROR, Consultation, Exhausted, consult, error_of
from selfcorrect.json_forms import (
    call_from_json,
    call_to_json,
    finding_from_json,
    finding_to_json,
    to_json,
)
from selfcorrect.limits import remaining, spent
from selfcorrect.model import (
    ABSENT,
    Ask,
    Call,
    Changed,
    Diagnosis,
    Escalate,
    Finding,
    Fix,
    GiveUp,
    Repair,
    Result,
    Retry,
    Safety,
    Terminal,
    Wait,
)
from selfcorrect.models.metering import metered
from selfcorrect.plain import as_text, clean, own_copy, plain, problem, storable
from selfcorrect.pointer import apply, look
from selfcorrect.progress import add, add_to, call_key, is_open, is_retryable, try_key
from selfcorrect.redaction import redact
from selfcorrect.registry import is_built_in
from selfcorrect.repair_context import repair_context
from selfcorrect.repairs.ask_human import read_answer
from selfcorrect.state import CorrectionState

_LONGEST: Final = 1_000
_MOST_PASSES: Final = 16
"""Passes of one round; each follows up on what the one before brought to light."""


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Run the selected strategies and, in the same round, what follows from their changes."""
    first = state["selected"][0] if state["selected"] else None
    if first is not None and first.get("question"):
        # An interrupt re-runs this node from its top, so the question stands before everything.
        answer = context.ask_person(first["question"]) if context.ask_person else None
        return _answered(state, context, first, answer)
    round_ = _Round(state, context)
    await round_.run()
    return round_.update()


@dataclass
class _Round:
    """What a round has done so far."""

    state: CorrectionState
    context: RunContext
    call: Call = field(init=False)
    begun: str = ""
    findings: list[Finding] = field(init=False)
    counts: dict[str, Any] = field(init=False)
    changes: list[dict[str, Any]] = field(default_factory=list)
    tried: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    settled: set[int] = field(default_factory=set)
    final: dict[str, Any] | None = None
    wait: float | None = None
    used: dict[str, int] = field(default_factory=dict)
    question: dict[str, Any] | None = None
    barred: dict[str, Any] | None = None
    _keyed: tuple[Call | None, str] = (None, "")

    def __post_init__(self) -> None:
        self.call = call_from_json(self.state["current"])
        self.findings = [finding_from_json(item) for item in self.state["findings"]]
        self.counts = dict(self.state["counts"])
        self.barred = self.state.get("barred")

    def _key(self) -> str:
        """Marks what was tried against the call as it is now."""
        if self.call is not self._keyed[0]:
            self._keyed = (self.call, call_key(self.call, self.context.tools.get(self.call.name)))
        return self._keyed[1]

    async def run(self) -> None:
        started = self.context.time.monotonic()
        selected = self.state["selected"]
        for _ in range(_MOST_PASSES):
            if self._beyond("findings", len(self.findings)):
                break
            await self._pass(selected)
            if self.final is not None:
                break
            if self.question is not None:
                self._keep_open()
                break
            selected = await self._follow_up()
            if not selected:
                break
        spent_seconds = max(0.0, self.context.time.monotonic() - started)
        self.counts = add(add(self.counts, "rounds"), "seconds", spent_seconds)
        for kind in sorted({item["kind"] for item in self.state["findings"]}):
            self.counts = add_to(self.counts, "per_kind", kind)

    def _beyond(self, what: str, more: int) -> bool:
        """End the round, and with it the run, where it would use more than it may."""
        self.used[what] = self.used.get(what, 0) + more
        bound = spent({what: self.used[what] - 1}, self.context.limits, what)
        if bound is not None:
            self.stop("limit_reached", bound)
        return bound is not None

    def _keep_open(self) -> None:
        """Drop what is settled, so that the question's round starts from what is open."""
        asked = self.findings[self.question["finding"]] if self.question else None
        self.findings = [f for i, f in enumerate(self.findings) if i not in self.settled]
        self.settled = set()
        if self.question is not None and asked is not None:
            self.question["finding"] = self.findings.index(asked)

    async def _pass(self, selected: list[dict[str, Any]]) -> None:
        before, self.begun = self.call, self._key()
        batched: list[Any] = []
        selected = self._together(selected)
        for item in selected:
            index = item["finding"]
            finding = self.findings[index]
            if not is_open(finding, before, self.call):
                self.settled.add(index)
                continue
            if item["strategy"] in batched:
                continue
            if item["strategy"] == ON_ERROR:
                batched.append(ON_ERROR)
                await self._ask_handler(item, [self.findings[o["finding"]] for o in selected])
                if self.final is not None:
                    return
                continue
            strategy = self._strategy(item)
            group = [finding]
            if getattr(strategy, "batch", False):
                if strategy in batched:
                    continue
                batched.append(strategy)
                group += self._others(selected, item, strategy)
            await self._apply(strategy, item, group)
            if self.final is not None:
                return

    async def _apply(self, strategy: Any, item: dict[str, Any], group: list[Finding]) -> None:
        """Call a strategy, within its bounds, and take what it answers."""
        if bound := spent(self.counts, self.context.limits, "per_strategy", item["strategy"]):
            self.note(item, group, "skipped", bound)
            return
        if self._beyond("strategy_calls", 1):
            return
        self.counts = add_to(self.counts, "per_strategy", item["strategy"])
        beside = self._beside(item) if getattr(strategy, "joins", False) else ()
        self.take(item, group, await self._ask_strategy(strategy, Diagnosis(tuple(group)), beside))

    def _others(
        self, selected: list[dict[str, Any]], item: Mapping[str, Any], strategy: Any
    ) -> list[Finding]:
        """What else this strategy was selected for."""
        return [
            self.findings[other["finding"]]
            for other in selected
            if other is not item
            and other["strategy"] == item["strategy"]
            and self._strategy(other) == strategy
        ]

    def _beside(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """The strategies of an item's ladder that may be called as well: one search for all."""
        own, ladder = item["strategy"], self.findings[item["finding"]].ladder
        limits = self.context.limits
        return tuple(
            self._strategy({**item, "strategy": name})
            for name in ladder
            if name == own
            or (name != ON_ERROR and not spent(self.counts, limits, "per_strategy", name))
        )

    def _strategy(self, item: Mapping[str, Any]) -> Any:
        """The strategy with the options of its rule."""
        return self.context.strategies.strategy(item["rule"] or "", item["strategy"])

    def _together(self, selected: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Questions to a model become one: what one strategy covers of another goes to it."""
        given = self.state["given"]
        if len(selected) < 2 or not (given.get("request") or given.get("messages")):
            return selected
        out = list(selected)
        for item in selected:
            if item["strategy"] == ON_ERROR:
                continue
            for name in getattr(self._strategy(item), "covers", ()):
                same = {"strategy": item["strategy"], "rule": item["rule"]}
                out = [each | same if each["strategy"] == name else each for each in out]
        return out

    async def _ask_handler(self, item: dict[str, Any], group: list[Finding]) -> None:
        """Let the tool's handler decide about everything that is wrong, and carry it out."""
        ctx, name = self.context, self.call.name
        handler, tool = ctx.on_error.of(name), ctx.tools.get(name)
        if handler is None or tool is None:
            self.note(item, group, "gave_up", "there is no handler any more")
            return
        attempts = self.state.get("attempts") or ()
        ours = group[0].types[:1] in (("InvalidArgs",), ("MalformedCall",))
        raised = ctx.errors.of(self.state["run"])
        told = group[0].types[0].rpartition(".")[2] if group[0].types else "Exception"
        type_name = None if ours else (attempts[-1].get("type") if attempts else None) or told
        cause = raised[-1] if raised and type_name is not None else None
        port = ctx.port(self.counts)
        error = error_of(self.call, group, tool, cause, type_name)
        kind = type(error).__name__
        asked = Consultation(
            own_copy(self.call),
            error,
            tool,
            self.state["given"].get("request"),
            ctx.host,
            port.messages,
            fixes=self.counts.get("fixes", {}).get(kind, 0),
            executed=self.counts.get("attempts", 0),
            allowed=self.counts.get("allowed_attempts"),
            seconds=remaining(self.counts, ctx.limits),
            meter=partial(metered, self.counts, ctx.limits),
        )
        handled, asks = await consult(handler, asked)
        for _ in range(asks):
            self.counts = add_to(self.counts, "fixes", kind)
        if handled.raised is not None:
            ctx.errors.add(self.state["run"], handled.raised)
        if isinstance(handled.answer, Exhausted):
            self.note(item, group, "exhausted", handled.answer.reason)
            self.stop("attempts_exhausted", handled.answer.reason)
            return
        self.take(item, group, usable_answer(handled.answer))
        if handled.note:
            last = self.tried[-1]
            last["reason"] = f"{handled.note}: {last['reason']}" if last["reason"] else handled.note

    async def _ask_strategy(
        self, strategy: Any, diagnosis: Diagnosis, beside: tuple[Any, ...]
    ) -> Repair:
        port = None
        if self.context.model is not None:
            port = self.context.port(self.counts)
        state = {**self.state, "current": call_to_json(self.call), "refused": self._all_refused()}
        given = repair_context(state, self.context, port)  # type: ignore[arg-type]
        given = replace(given, beside=beside) if beside else given
        # A foreign strategy gets a copy: what it does not say in its answer must not happen.
        call = self.call if is_built_in(strategy) else own_copy(self.call)
        try:
            answer = await self.context.host.call(strategy, call, diagnosis, given)
        except Exception as error:
            if is_control_flow(error):
                raise
            return GiveUp(f"raised {type(error).__name__}: {as_text(error)[:200]}")
        return usable_answer(answer)

    def take(  # noqa: C901 -- one case for each member of the union
        self, item: dict[str, Any], group: list[Finding], answer: Repair
    ) -> None:
        match answer:
            case Changed(changes) if any(c.safety is Safety.HUMAN for c in changes):
                self.note(item, group, "failed", "only a person's answer is of class human")
            case Changed():
                self.change(item, group, answer)
            case GiveUp(reason):
                self.note(item, group, "gave_up", reason)
            case Wait() if not all(is_retryable(f, self.context.strategies) for f in group):
                self.note(item, group, "gave_up", f"repeating does not help: {group[0].kind}")
            case Wait(seconds):
                self.note(item, group, "wait", f"{seconds:g} s")
                self.wait = max(self.wait or 0.0, float(seconds))
                self._settle(group)
            case Retry(_, even_if_lost) if self._is_lost and not even_if_lost:
                self.note(item, group, "gave_up", "nobody knows whether it was done already")
            case Retry(times):
                self._lift()
                self.note(item, group, "wait", f"{times} further executions")
                executed = self.counts.get("attempts", 0)
                allowed = min(executed + times, self.context.limits.ceiling)
                self.counts.setdefault("allowed_attempts", allowed)
                self.wait = max(self.wait or 0.0, 0.0)
                self._settle(group)
            case Ask(question, options):
                self.note(item, group, "asked", question)
                index = item["finding"]
                keys = {key: item.get(key) for key in ("rule", "strategy", "path")}
                self.question = {
                    "question": clean(question),
                    "options": plain(options_of(options)),
                    "finding": index,
                } | keys
            case Result(value):
                self.note(item, group, "answered", "")
                result = plain(value)
                result = result if storable(result) else as_text(result)
                self.final = {"outcome": "answered", "result": result}
            case Escalate(reason, severity):
                self.note(item, group, "escalated", reason)
                said = clean(redact(reason[:_LONGEST]))
                level = severity.value
                self.stop("escalated", _by(item, said), severity=level, escalation=said)
            case Terminal(reason):
                self.note(item, group, "terminal", reason)
                said = clean(redact(reason[:_LONGEST]))
                self.stop("terminal_kind", _by(item, said), said=said)
            case Fix():
                self.note(item, group, "gave_up", "a fixer can be given by an error handler only")

    @property
    def _is_lost(self) -> bool:
        return self.barred is not None and self.barred["reason"] != "refused"

    def _lift(self) -> None:
        """The tool's own handler, or a person, says that the call may be made again."""
        if self._is_lost:
            self.counts["even_if_lost"] = True
        self.barred = None

    def change(self, item: dict[str, Any], group: list[Finding], answer: Changed) -> None:
        if item["strategy"] == ON_ERROR and self._is_lost:
            self.note(item, group, "gave_up", "nobody knows whether it was done already")
            return
        ladder = self.findings[item["finding"]].ladder
        by = {c.strategy for c in answer.changes if c.strategy in ladder}
        asked, item = item, {**item, "strategy": by.pop()} if len(by) == 1 else item
        made = tuple(
            replace(change, strategy=item["strategy"], rule=item["rule"])
            for change in answer.changes
        )
        new = _mended(self.call, made, group)
        if isinstance(new, str):
            self._not_made(asked, item, group, "failed", new)
            return
        tool = self.context.tools.get(new.name)
        refusals = self.context.safety.refusals(
            made, self.context.tools, tool, self.context.allowed(item["rule"], item["strategy"])
        )
        if refusals:
            whys = {id(change): why for change, why in refusals}
            whole, group_id = "belongs to a change that is refused", len(self._all_refused())
            self.refused += [
                to_json(change) | {"why": whys.get(id(change), whole), "group": group_id}
                for change in made
            ]
            why = "; ".join(sorted({why for _, why in refusals}))
            self._not_made(asked, item, group, "refused", why)
            return
        if item["strategy"] == ON_ERROR or any(each.safety is Safety.HUMAN for each in made):
            self._lift()
        self.note(item, group, "changed", made[0].reason if made else "nothing to change")
        self.call = new
        self.changes += [to_json(change) for change in made]
        self._settle(group)

    def _not_made(
        self,
        asked: dict[str, Any],
        item: dict[str, Any],
        group: list[Finding],
        outcome: str,
        why: str,
    ) -> None:
        """Note it of the strategy that was asked, too: a change may stand in another's name."""
        self.note(item, group, outcome, why)
        if asked["strategy"] != item["strategy"]:
            self.note(asked, group, "gave_up", f"{item['strategy']}: {why}")

    async def _follow_up(self) -> list[dict[str, Any]]:
        """What to do next in this round: new violations after a change, next rungs after none."""
        ctx = self.context
        tool = ctx.tools.get(self.call.name)
        findings = [f for i, f in enumerate(self.findings) if i not in self.settled]
        if self.changes and tool is not None and self.call.raw is None:
            new = tool.violations(self.call.args)
            kept = [f for f in findings if f.types[:1] not in (("InvalidArgs",), ("UnknownTool",))]
            findings = [ctx.strategies.decide(f, tool.name) for f in new] + kept
        self.findings, self.settled = findings, set()
        if not findings:
            return []
        update = await self.context.host.call(ctx.selector, self._state_now(findings), ctx)
        if update.get("outcome") != "selected":
            return []
        selected: list[dict[str, Any]] = update["selected"]
        return [] if any(item.get("question") for item in selected) else selected

    def _state_now(self, findings: list[Finding]) -> dict[str, Any]:
        return {
            **self.state,
            "current": call_to_json(self.call),
            "findings": [finding_to_json(finding) for finding in findings],
            "tried": [*(self.state.get("tried") or ()), *self.tried],
            "refused": self._all_refused(),
            "counts": self.counts,
        }

    def _all_refused(self) -> list[dict[str, Any]]:
        return [*(self.state.get("refused") or ()), *self.refused]

    def _settle(self, group: list[Finding]) -> None:
        ours = set(map(id, group))
        self.settled |= {i for i, finding in enumerate(self.findings) if id(finding) in ours}

    def stop(self, reason: str, detail: str, **more: str) -> None:
        stop = {"reason": reason, "detail": clean(detail), **more}
        self.final = {"outcome": "stopped", "stop": stop}

    def note(self, item: dict[str, Any], group: list[Finding], outcome: str, reason: str) -> None:
        # A change is counted against the call of its pass: a digest of the call for every one of
        # thousands of changes would take their square.
        key = (self.begun if outcome == "changed" else "") or self._key()
        self.tried += [
            {
                "rule": finding.rule,
                "strategy": item["strategy"],
                "path": finding.path,
                "outcome": outcome,
                "reason": clean(reason[:500]),
                "key": try_key(key, finding, item["strategy"]),
            }
            for finding in group
        ]

    def update(self) -> Update:
        """What the round came to."""
        out: dict[str, Any] = {
            "current": call_to_json(self.call),
            "findings": [finding_to_json(finding) for finding in self.findings],
            "tried": [*(self.state.get("tried") or ()), *self.tried],
            "refused": self._all_refused(),
            "pending": [*(self.state.get("pending") or ()), *self.changes],
            "question": self.question,
            "barred": self.barred,
            "selected": [],
            "counts": self.counts,
        }
        out |= self.final or {"outcome": self._outcome()}
        if self.wait is not None:
            out["wait"] = self.wait
        shown = [{k: v for k, v in item.items() if k != "key"} for item in self.tried]
        out["trail"] = [{"round": self.counts["rounds"], "tried": shown, "changes": self.changes}]
        return out

    def _outcome(self) -> str:
        schema_only = all(f.types[:1] == ("InvalidArgs",) for f in self.findings)
        if self.changes and self.question is None and (schema_only or not self.findings):
            return "changed"
        if self.changes:
            return "changed" if not self.findings else "gave_up"
        if self.wait is not None and not self.findings:
            return "changed" if self.state.get("pending") else "wait"
        return "gave_up"


def _by(item: Mapping[str, Any], reason: str) -> str:
    """Why the run ends, after the strategy that says so; a handler speaks for itself."""
    return reason if item["strategy"] == ON_ERROR else f"{item['strategy']}: {reason}"


def _mended(call: Call, changes: tuple[Any, ...], group: list[Finding]) -> Call | str:
    """The call after these changes, or why they cannot be made."""
    if not changes:
        return "changed nothing"
    now = call
    for change in changes:
        if look(now, change.path) != change.before:
            return f"{change.path} is not what the strategy took it for"
        if not storable(change.after):
            return f"{change.path}: a number of more than 64 bits"
        if change.after is not ABSENT and (wrong := problem(change.after)) is not None:
            return f"{change.path}: {wrong[1]}"
        if change.safety is Safety.MODEL and not _within(change.path, group):
            return f"the model changed {change.path}, which it was not asked about"
        try:
            now = apply(now, (change,))
        except (LookupError, ValueError) as error:
            return str(error)
    args: Any = now.args
    if not isinstance(args, Mapping):
        return "the arguments would no longer be an object"
    return now


def _within(path: str, group: list[Finding]) -> bool:
    """Whether a model was asked about this place; of a call that cannot be read, about all."""
    if any(place == "/raw" for item in group for place in item.paths):
        return True
    return any(
        path == place or path.startswith(place + "/") for item in group for place in item.paths
    )


def _answered(
    state: CorrectionState, context: RunContext, item: Mapping[str, Any], answer: Any
) -> Update:
    """The round of a person's answer."""
    round_ = _Round(state, context)
    finding = round_.findings[item["finding"]]
    repair_ = read_answer(
        answer, round_.call, finding, tuple(item["question"].get("options") or ())
    )
    chosen = dict(item)
    whole = isinstance(answer, Mapping) and answer.get("action") == "edit" and "value" not in answer
    match repair_:
        case Terminal(reason):
            round_.note(chosen, [finding], "rejected", reason)
            round_.stop("rejected", reason)
        case Changed():
            # Who edits the whole call has seen all of it: what is still wrong, the check finds.
            round_.change(chosen, round_.findings if whole else [finding], repair_)
        case GiveUp(reason):
            round_.note(chosen, [finding], "gave_up", reason)
        case _:
            round_.take(chosen, [finding], repair_)
    if round_.changes:
        round_.findings = [f for i, f in enumerate(round_.findings) if i not in round_.settled]
    round_.counts = add(round_.counts, "rounds")
    return round_.update()
