"""repair: one pass over what was selected.

All findings that need no person are mended together; a question to a person is a round of its own.
What a mend brings to light (a renamed argument with a bad value) goes through validate to diagnose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from selfcorrect.effects import acts
from selfcorrect.handlers.by_tool import Exhausted
from selfcorrect.json_forms import (
    call_from_json,
    call_to_json,
    finding_from_json,
    finding_to_json,
    to_json,
)
from selfcorrect.kernel.texts import excerpt
from selfcorrect.limits import spent
from selfcorrect.loop.answers import answered, mended, options_of, who_answered
from selfcorrect.loop.asking import take
from selfcorrect.loop.context import RunContext, Update
from selfcorrect.loop.progress import add, add_to, is_open, is_retryable, stopped, try_key
from selfcorrect.loop.repair_context import also, is_ours, repair_context, together
from selfcorrect.model import (
    JSON,
    OWN_CHECKS,
    Ask,
    Call,
    Changed,
    Diagnosis,
    Escalate,
    Finding,
    First,
    Fix,
    GiveUp,
    Repair,
    Result,
    Retry,
    Safety,
    Terminal,
    Wait,
)
from selfcorrect.plain import clean, own_copy, plain, storable_form
from selfcorrect.policies.safety import words_of
from selfcorrect.protocols import RepairContext
from selfcorrect.state import CorrectionState

_LONGEST: Final = 1_000


async def repair(state: CorrectionState, context: RunContext) -> Update:
    """Run the selected strategies, and those behind them on a ladder where one gives up."""
    first = state["selected"][0] if state["selected"] else None
    if first is not None and first.get("question"):
        # An interrupt re-runs this node from its top, so the question stands before everything.
        answer = context.ask_person(first["question"]) if context.ask_person else None
        return await _answered(state, context, first, answer)
    round_ = _Round(state, context)
    await round_.run()
    return round_.update()


@dataclass
class _Round:
    """What a round has done so far.

    Attributes:
        item: The rung that is being tried.
        group: The findings that it is to mend.
        begun: The call that the round began with.
        since: How many tries stand before the last change.
        given: What the last strategy was given.
        called: How many strategies were called.
    """

    state: CorrectionState
    context: RunContext
    call: Call = field(init=False)
    item: dict[str, Any] = field(default_factory=dict)
    group: list[Finding] = field(default_factory=list)
    begun: Call = field(init=False)
    since: int = 0
    findings: list[Finding] = field(init=False)
    counts: dict[str, Any] = field(init=False)
    changes: list[dict[str, Any]] = field(default_factory=list)
    tried: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(init=False)
    given: RepairContext = field(default_factory=RepairContext)
    settled: set[int] = field(default_factory=set)
    final: dict[str, Any] | None = None
    first: list[JSON] = field(default_factory=list)
    wait: float | None = None
    called: int = 0
    question: dict[str, Any] | None = None
    barred: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.call = self.begun = call_from_json(self.state["current"])
        self.findings = [finding_from_json(item) for item in self.state["findings"]]
        self.refused = [*self.state["refused"]]
        self.counts = dict(self.state["counts"])
        self.barred = self.state["barred"]

    async def run(self) -> None:
        started = self.context.time.monotonic()
        await self._pass(self.state["selected"])
        if self.final is None:
            self.keep_open()
        spent_seconds = max(0.0, self.context.time.monotonic() - started)
        self.counts = add(add(self.counts, "rounds"), "seconds", spent_seconds)
        for kind in sorted({item["kind"] for item in self.state["findings"]}):
            self.counts = add_to(self.counts, "per_kind", kind)

    def keep_open(self) -> None:
        """Drop what is settled: what follows starts from what is open."""
        asked = self.findings[self.question["finding"]] if self.question else None
        self.findings = [f for f in self.findings if id(f) not in self.settled]
        self.settled = set()
        if self.question is not None and asked is not None:
            self.question["finding"] = self.findings.index(asked)

    async def _pass(self, selected: list[dict[str, Any]]) -> None:
        """Try what was selected; where a strategy gives up, those behind it on the ladder."""
        while selected and self.final is None and self.question is None:
            await self._try(together(selected, self.state["given"], self._strategy))
            selected = [
                {**item, "strategy": item["then"][0], "then": item["then"][1:]}
                for item in selected
                if item.get("then") and id(self.findings[item["finding"]]) not in self.settled
            ]

    async def _try(self, selected: list[dict[str, Any]]) -> None:
        before = self.call
        batched: list[Any] = []
        for item in selected:
            finding = self.findings[item["finding"]]
            if not is_open(finding, before, self.call):
                self.settled.add(id(finding))
                continue
            strategy = self._strategy(item)
            group = [finding]
            if getattr(strategy, "batch", False):
                if strategy in batched:
                    continue
                batched.append(strategy)
                group += also(selected, item, self.findings, self._strategy)
            self.item, self.group = item, group
            await self._apply(strategy, item["strategy"])
            if self.final is not None:
                return

    async def _apply(self, strategy: Any, name: str) -> None:
        """Call a strategy, within its bounds, and take what it answers."""
        if bound := spent(self.counts, self.context.limits, "per_strategy", name):
            self.note("skipped", bound)
            return
        counts = {"strategy_calls": self.called}
        if bound := spent(counts, self.context.limits, "strategy_calls"):
            self.stop("limit_reached", bound)
            return
        self.called += 1
        self.counts = add_to(self.counts, "per_strategy", name)
        if self.context.is_handler(name):
            await self._ask_handler()
            return
        answer = await self._ask_strategy(strategy)
        if isinstance(answer, First):
            await self._prepare(answer)
        else:
            self.take(answer)

    async def _prepare(self, first: First) -> None:
        """Make the calls that come first, then what is left to be done to this one."""
        from selfcorrect.loop.preparing import prepared

        done = await prepared(
            first, self.item, self.call, self.group, self.state, self.context, self.counts
        )
        self.counts = done.counts
        self.first += done.shown
        for outcome, reason in done.notes:
            self.note(outcome, reason)
        if done.is_ready and first.then:
            self.change(Changed(first.then))
        elif done.is_ready:
            self._again()

    def _beside(self) -> tuple[Any, ...]:
        """The strategies of an item's ladder that may be called as well: one search for all."""
        own, ladder = self.item["strategy"], self.findings[self.item["finding"]].ladder
        limits = self.context.limits
        return tuple(
            self._strategy({**self.item, "strategy": name})
            for name in ladder
            if name == own or not spent(self.counts, limits, "per_strategy", name)
        )

    def _strategy(self, item: Mapping[str, Any]) -> Any:
        """The strategy with the options of its rule, or those that a person chose instead."""
        chosen = (item.get("options") or {}).get(item["strategy"])
        return self.context.rung(item["rule"], item["strategy"], chosen)

    async def _ask_handler(self) -> None:
        """Let the tool's handler decide about everything that is wrong, and carry it out."""
        from selfcorrect.loop.consulting import consulted

        answer, note = await consulted(self.call, self.group, self.state, self.context, self.counts)
        if isinstance(answer, Exhausted):
            self.note("exhausted", answer.reason)
            self.stop("attempts_exhausted", answer.reason)
            return
        self.take(answer)
        if note:
            last = self.tried[-1]
            last["reason"] = f"{note}: {last['reason']}" if last["reason"] else note

    async def _ask_strategy(self, strategy: Any) -> Repair:
        port = None
        if self.context.model is not None:
            port = self.context.port(self.counts)
        state: Any = {**self.state, "current": call_to_json(self.call), "refused": self.refused}
        given = self.given = repair_context(state, self.context, port, self.given)
        if getattr(strategy, "joins", False):
            given = replace(given, beside=self._beside())
        # A foreign strategy gets a copy: what it does not say in its answer must not happen.
        call = self.call if is_ours(strategy) else own_copy(self.call)
        return await answered(strategy, call, Diagnosis(tuple(self.group)), given, self.context)

    def take(self, answer: Repair) -> None:  # noqa: C901, PLR0912 -- one case for each member
        match answer:
            case Changed(changes) if any(c.safety is Safety.HUMAN for c in changes):
                self.note("failed", "only a person's answer is of class human")
            case Changed():
                self.change(answer)
            case GiveUp(reason, readings):
                told = {clean(words): plain(value) for words, value in readings.items()}
                self.note("gave_up", reason, **({"readings": told} if told else {}))
            case Wait() if not all(is_retryable(f, self.context.strategies) for f in self.group):
                self.note("gave_up", f"repeating does not help: {self.group[0].kind}")
            case Wait(seconds):
                self.note("wait", f"{seconds:g} s")
                self._again(float(seconds))
            case Retry(_, even_if_lost) if self._is_lost and not even_if_lost:
                self.note("gave_up", "nobody knows whether it was done already")
            case Retry(times):
                self._lift()
                self.note("wait", f"{times} further executions")
                executed = self.counts.get("attempts", 0)
                allowed = min(executed + times, self.context.limits.ceiling)
                self.counts.setdefault("allowed_attempts", allowed)
                self._again()
            case Ask(question, options):
                self.note("asked", question)
                about = {key: self.item.get(key) for key in ("finding", "rule", "strategy", "path")}
                said = {
                    "question": excerpt(question, _LONGEST),
                    "options": options_of(options, self.context.limits.argument_bytes),
                }
                self.question = said | about
            case Result() if self._was_executed and not self._by_handler:
                self.note("gave_up", "the tool was called, and did not say that")
            case Result(value):
                self.note("answered", "")
                self.final = {"outcome": "answered", "result": storable_form(value)}
            case Escalate(reason, severity):
                self.note("escalated", reason)
                why = excerpt(reason, _LONGEST)
                self.stop("escalated", self._by(why), severity=severity.value, escalation=why)
            case Terminal(reason):
                self.note("terminal", reason)
                why = excerpt(reason, _LONGEST)
                self.stop("terminal_kind", self._by(why), said=why)
            case Fix() | First():
                who = "an error handler" if isinstance(answer, Fix) else "a strategy of a map"
                self.note("gave_up", f"only {who} can answer so")

    def _by(self, reason: str) -> str:
        """Why the run ends, after the strategy that says so; a handler speaks for itself."""
        return reason if self._by_handler else f"{self.item['strategy']}: {reason}"

    @property
    def _by_handler(self) -> bool:
        return self.context.is_handler(self.item["strategy"])

    @property
    def _was_executed(self) -> bool:
        """Whether a tool that acts was called: no rule turns what it refused into a result."""
        tool = self.context.tools.get(self.call.name)
        return bool(self.state["attempts"]) and (tool is None or acts(tool))

    @property
    def _is_lost(self) -> bool:
        return self.barred is not None and self.barred["reason"] != "refused"

    def _lift(self) -> None:
        """The tool's own handler, or a person, says that the call may be made again."""
        if self._is_lost:
            self.counts["even_if_lost"] = True
        self.barred = None

    def _again(self, seconds: float = 0.0) -> None:
        """The same call is made again, after so many seconds."""
        self.wait = max(self.wait or 0.0, seconds)
        self._settle()

    def change(self, answer: Changed) -> None:
        from selfcorrect.loop.judging import is_hidden_loss, judged, owned, refused

        if self._by_handler and self._is_lost:
            self.note("gave_up", "nobody knows whether it was done already")
            return
        asked, group = self.item, self.group
        ladder = self.findings[asked["finding"]].ladder
        by = {c.strategy for c in answer.changes if c.strategy in ladder}
        item = self.item = {**asked, "strategy": by.pop()} if len(by) == 1 else asked
        made = owned(answer.changes, ladder, item)
        new = mended(self.call, made, group)
        if isinstance(new, str):
            self._not_made(asked, "failed", new)
            return
        tool = self.context.tools.get(new.name)
        names = dict.fromkeys([*ladder, item["strategy"]])
        rungs = {name: self._strategy({**item, "strategy": name}) for name in names}
        state: Any = {**self.state, "barred": self.barred}
        verdict = judged(
            self.call, new, made, group, rungs, state, self.context, extents=answer.extents
        )
        made = verdict.changes
        allowed = self.context.allowed(item["rule"], item["strategy"])
        if any(map(is_hidden_loss, answer.changes, made)):
            allowed -= {Safety.LOSSY}  # a rule allows what its strategy itself calls lossy
        # What is only proposed, or what the tool's own handler decides, may rest on a likely guess.
        mends = [] if self.barred or self._by_handler else group
        refusals = self.context.safety.refusals(made, self.context.tools, tool, allowed, mends)
        if refusals:
            self.refused += refused(verdict, refusals, len(self.refused))
            why = verdict.words or words_of(refusals)
            self._not_made(asked, "refused", why, **({"law": verdict.law} if verdict.law else {}))
            return
        if self._by_handler or any(each.safety is Safety.HUMAN for each in made):
            self._lift()
        self.note("changed", made[0].reason if made else "nothing to change")
        self.call, self.since = new, len(self.tried)
        self.changes += [to_json(change) for change in made]
        self._settle()

    def _not_made(self, asked: dict[str, Any], outcome: str, why: str, **more: JSON) -> None:
        """Note it of the strategy that was asked, too: a change may stand in another's name."""
        self.note(outcome, why, **more)
        name, self.item = self.item["strategy"], asked
        if asked["strategy"] != name:
            self.note("gave_up", f"{name}: {why}")

    def _settle(self) -> None:
        self.settled |= set(map(id, self.group))

    def stop(self, reason: str, detail: str, **more: str) -> None:
        self.final = stopped(reason, clean(detail), **more)

    def note(self, outcome: str, reason: str, **more: JSON) -> None:
        """Write down what came of the strategy that was tried."""
        said, name = excerpt(reason, 500), self.item["strategy"]
        for each in self.group:
            about: dict[str, JSON] = {"rule": each.rule, "strategy": name, "path": each.path}
            about |= {"outcome": outcome, "reason": said, "key": try_key("", each, name)}
            self.tried.append(about | more)

    def update(self) -> Update:
        """What the round came to."""
        # What was tried before the last change counts against the call that the round began with:
        # a digest of the call for each of thousands of changes would take their square.
        begun, now = self.tried[: self.since], self.tried[self.since :]
        for tried, call in ((begun, self.begun), (now, self.call)):
            key = self.context.key_of(call) if tried else ""
            for item in tried:
                item["key"] = key + item["key"]
        out: dict[str, Any] = {
            "current": call_to_json(self.call),
            "findings": [finding_to_json(finding) for finding in self.findings],
            "tried": [*self.state["tried"], *self.tried],
            "refused": self.refused,
            "pending": [*self.state["pending"], *self.changes],
            "question": self.question,
            "barred": self.barred,
            "selected": [],
            "counts": self.counts,
        }
        out |= self.final or {"outcome": self._outcome()}
        if self.wait is not None:
            out["wait"] = self.wait
        shown = [{k: v for k, v in item.items() if k != "key"} for item in self.tried]
        event = {"round": self.counts["rounds"], "tried": shown, "changes": self.changes}
        out["trail"] = [event | ({"first": self.first} if self.first else {})]
        return out

    def _outcome(self) -> str:
        own = all(f.types[:1] and f.types[0] in OWN_CHECKS for f in self.findings)
        if self.changes and self.question is None and own:
            return "changed"
        if self.wait is not None and not self.findings:
            return "changed" if self.changes or self.state["pending"] else "wait"
        return "gave_up"


async def _answered(
    state: CorrectionState, context: RunContext, item: Mapping[str, Any], answer: Any
) -> Update:
    """The round of a person's answer."""
    round_ = _Round(state, context)
    finding = round_.findings[item["finding"]]
    repair_ = context.senses.answer(
        answer, round_.call, finding, tuple(item["question"].get("options") or ())
    )
    round_.item, round_.group = dict(item), [finding]
    if not isinstance(repair_, GiveUp):
        await take(context, item["question"], answer)
    whole = isinstance(answer, Mapping) and answer.get("action") == "edit" and "value" not in answer
    match repair_:
        case Terminal(reason):
            round_.note("rejected", reason)
            round_.stop("rejected", reason)
        case Changed():
            if whole:  # who edits the whole call has seen all: what is still wrong, the check finds
                round_.group = round_.findings
            round_.change(repair_)
        case GiveUp(reason):
            round_.note("unusable", reason)
            round_.question = {**item["question"], "problem": reason}  # it is asked again
        case _:
            round_.take(repair_)
    if round_.changes:
        round_.keep_open()
    round_.counts = add(round_.counts, "rounds")
    update = round_.update()
    update["trail"][-1] |= who_answered(answer)
    if "id" in item["question"] and not isinstance(repair_, GiveUp):
        update["trail"][-1]["answered"] = item["question"]["id"]
    return update
