"""What nodes may use beside the state: the parts of a graph, and its host."""

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from selfcorrect.effects.again import Record
from selfcorrect.errors import GraphSetupError, near_name
from selfcorrect.handlers import DEFAULTS, HANDLER, OnError
from selfcorrect.limits import Limits, Spending
from selfcorrect.model import (
    JSON,
    Call,
    Change,
    Finding,
    JsonObject,
    Safety,
    T,
    frozen,
    name_place,
    own_finding,
)
from selfcorrect.policies.run import Hooks, PolicySource, SafetyPolicy, ToolErrorPolicy
from selfcorrect.protocols import Clock, Ledger, tools_named
from selfcorrect.state import CorrectionState, Update, state_findings
from selfcorrect.strategy_map.registry import BoundStrategy
from selfcorrect.strategy_map.strategy_map import StrategyMap
from selfcorrect.text import clean, quote, release, text_of
from selfcorrect.tools.spec import ToolSpec

if TYPE_CHECKING:
    from selfcorrect.reading.choose import Chosen, Unreadable
    from selfcorrect.reading.text_call import TextCall
    from selfcorrect.repairs.fixer import AskHandler

MAX_LIVE_RUNS = 1_000
MAX_TEXTS = 8
LOG = logging.getLogger("selfcorrect")


def has_readers(level: int = logging.ERROR) -> bool:
    """Say whether an application reads lines of a level: through structlog, or the stdlib."""
    structlog = sys.modules.get("structlog")
    if structlog is not None and structlog.is_configured():
        return True
    return LOG.isEnabledFor(level) and LOG.hasHandlers()


class SystemTime:
    """The clock of the system."""

    monotonic = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)
    asleep = staticmethod(asyncio.sleep)


@dataclass(slots=True)
class Live:
    """What no checkpoint can hold of one run.

    Attributes:
        policy: The kinds that end it; a run keeps those that it started with.
        errors: The exceptions of its tool.
    """

    policy: ToolErrorPolicy
    errors: list[Exception] = field(default_factory=list)


@frozen
class RunContext:
    """The parts of a graph, and how the run is hosted.

    Attributes:
        tools: The tools by name.
        map: The error-strategy map.
        limits: The bounds of a run.
        safety: Which changes run unasked.
        terminal: Which kinds of error end a run, beside those of the map.
        ledger: Remembers calls of tools that act.
        model: A chat model, or None.
        on_error: The handler of tools that have none of their own, or handlers by tool.
        on_model_error: Decides about each failure of a model, or None.
        raises: Whether a failed run raises instead of reporting.
        hooks: Listeners, or None.
        tool_words: Whether the model reads the words of a tool: `show` or `hide`.
        clock: Tells time and waits.
        live: What no checkpoint can hold of runs that have not ended, by run.
        unwritten: Executions whose outcome could not be written into the ledger.
        is_async: Whether the run is hosted by async code.
        ask: Asks a person, awaited in async code; None where no person is available.
        keep: Returns what the ledger keeps of a value for a replay; None: the value itself.
        thread: The host's thread, or None.
        task: The host's name for the present step, which is the same each time that it is run
            again; None where it has none.
        scope: What stands in for thread and task where several graphs run for one purpose.
        texts: What was read in the last texts, by text and by why the model stopped.
    """

    _: KW_ONLY
    tools: Mapping[str, ToolSpec]
    map: StrategyMap
    limits: Limits
    safety: SafetyPolicy
    terminal: ToolErrorPolicy | PolicySource
    ledger: Ledger
    model: Any
    on_error: OnError | Mapping[str, OnError] | None
    on_model_error: Callable[[Exception], Any] | None
    raises: bool
    hooks: Hooks | None
    tool_words: str
    clock: Clock
    live: dict[str, Live] = field(default_factory=dict)
    unwritten: set[str] = field(default_factory=set)
    is_async: bool = False
    ask: Callable[[JSON], Any] | None = None
    keep: Callable[[JSON], JSON] | None = None
    thread: str | None = None
    task: str | None = None
    scope: str | None = None
    texts: "dict[tuple[str, str | None], Chosen | Unreadable | None]" = field(default_factory=dict)

    def read(self, text: str, finish_reason: str | None) -> "Chosen | Unreadable | None":
        """Return the calls of a text; a long one is read once for all who ask."""
        from selfcorrect.reading.choose import read_text
        from selfcorrect.repairs.fix_json import call_keys

        key = text, finish_reason
        if key not in self.texts:
            if len(self.texts) >= MAX_TEXTS:
                self.texts.clear()
            keys = call_keys(placed.rule.options for placed in self.map.rules)
            self.texts[key] = read_text(text, self.offers, finish_reason, keys)
        return self.texts[key]

    def spending(self, counts: JsonObject) -> Spending:
        """Return what models cost, beside what is counted already."""
        return Spending(
            is_async=self.is_async,
            decide=self.on_model_error,
            sleep=self.sleep,
            now=self.clock.monotonic,
            limits=self.limits,
            counts=counts,
        )

    async def sleep(self, seconds: float) -> None:
        """Wait as the host allows."""
        if self.is_async:
            await self.clock.asleep(seconds)
        else:
            self.clock.sleep(seconds)

    async def use_ledger(self, method: Callable[..., T], *args: Any) -> T:
        """Call a method of the ledger; one that waits for a disk must not stop an event loop."""
        if not (self.is_async and self.ledger.blocks):
            return method(*args)
        task = asyncio.ensure_future(asyncio.to_thread(method, *args))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # The thread cannot be stopped: what it writes must be known before the run is left.
            await asyncio.wait({task})
            raise

    def offers(self, name: str) -> bool:
        """Say whether a name is a tool's, whatever its case and separators."""
        return name in self.tools or bool(tools_named(name, self.tools))

    def may_act(self, calls: "Iterable[TextCall]") -> bool:
        """Say whether one of these calls means a tool that acts, or an unknown tool."""
        meant = [tools_named(call.name, self.tools) for call in calls]
        return not all(meant) or any(tool.acts for tools in meant for tool in tools)

    def check_call(self, call: Call) -> Update | None:
        """Return what is wrong with a call that does not fit its tool, or None.

        Pays nothing and asks nobody.
        """
        tool = self.tools.get(call.name)
        if tool is None:
            return state_findings("plan", [self.unknown_tool(call.name)])
        findings = tool.findings(call.args)
        return state_findings("schema", findings) if findings else None

    def unknown_tool(self, name: str) -> Finding:
        """Return the finding about a name that no tool has."""
        text = release(f"there is no tool {name[:80]!r}{near_name(name, self.tools)}")
        return own_finding("UnknownTool", "unknown_tool", text, "/name")

    def key_of(self, call: Call) -> str:
        """Return the text that is equal for equal calls."""
        from selfcorrect.effects.equal import call_key

        if (tool := self.tools.get(call.name)) is None:
            return call_key(call, None)
        return call_key(replace(call, args=tool.fill(call.args)), tool.arguments, tool.bind)

    def intent_of(self, state: CorrectionState, call: Call) -> Record:
        """Return the record that the ledger gets before a tool is called."""
        from selfcorrect.effects.equal import digest, theme_key

        beside, key, tool = state["given"], self.key_of(call), self.tools[call.name]
        call = replace(call, args=tool.strip(call.args))
        # Ids are of any type, and 0 is one.
        home = [name for name in (self.thread, beside.get("task_id")) if name not in (None, "")]
        # Without thread and task nothing outlives the run.
        scope = [*home, self.scope or state["run"]][0]
        # Whoever edits the call in a checkpoint makes no other one of it.
        original = state["original"]
        own_id = (original.get("id") if isinstance(original, Mapping) else None) or call.id
        stands = [home or scope, beside.get("message_id"), beside.get("index"), own_id]
        return Record(
            digest("identity", *stands, key),
            digest("doubt", scope, key),
            call.name,
            about=quote(dict(call.args), 500),
            theme=theme_key(scope, call, tool.arguments),
            thread=clean(text_of([*home, ""][0])),
            call_id=clean(call.id or ""),
            request=release(text_of(beside.get("request") or ""), 500),
        )

    def live_part(self, run: str) -> Live:
        """Return what no checkpoint can hold of a run; made anew where it was lost."""
        if run not in self.live:
            # A run that waits for a person for ever must not keep its exceptions for ever.
            if len(self.live) >= MAX_LIVE_RUNS:
                self.live.pop(next(iter(self.live)))
            source = self.terminal
            policy = source.current if isinstance(source, PolicySource) else source
            self.live[run] = Live(policy)
        return self.live[run]

    def terminal_reason(self, state: CorrectionState, findings: Iterable[Finding]) -> str | None:
        """Say why one of these findings ends the run at once, or return None."""
        policy, of_map = self.live_part(state["run"]).policy, self.map.policy.terminal or ()
        tool = state["current"].get("name", "")
        for kind in (finding["kind"] for finding in findings):
            if kind in of_map or policy.classifies_terminal(kind, tool):
                return f"An error of kind {kind} ends the run."
        return None

    def refusal_of(
        self, changes: Iterable[Change], call: Call, state: CorrectionState
    ) -> str | None:
        """Say why one of these changes may not run unasked, or return None.

        Args:
            changes: The changes.
            call: The call with the changes made.
            state: The state of the run.
        """
        tool = self.tools.get(call.name)
        for change in changes:
            safety, by_rule = self.safety, self.map.rule(change.rule).allow
            if change.strategy == HANDLER and self.map.policy.allow is None:
                # Who gives a tool a fixer consents to what it answers.
                safety = replace(safety, allow=safety.allow | {Safety.MODEL})
            why = safety.refusal(change, tool, by_rule)
            if why is None and change.safety is Safety.MODEL:
                why = self._model_refusal(change, tool, state)
            if why is not None:
                return why
        return None

    def _model_refusal(
        self, change: Change, tool: ToolSpec | None, state: CorrectionState
    ) -> str | None:
        """Say why a model may not make a change, or return None."""
        from selfcorrect.policies.taint import is_tainted, replaces

        beside = state["given"]
        untrusted = [str(error["text"]) for error in (*state["findings"], *state["attempts"])]
        words = map(_words_of_user, beside.get("messages") or ())
        schema = tool.parameters if tool else {}
        trusted = [state["original"], schema, beside.get("request"), *words]
        if is_tainted(change, untrusted, trusted):
            return "the model took the value from an error's text"
        is_bound = Safety.MODEL not in self.map.rule(change.rule).allow
        if tool is not None and tool.acts and is_bound and replaces(change, tool.arguments):
            return f"the model wrote another value at `{name_place(change.path)}`"
        return None

    def strategy_for(self, state: CorrectionState, rule: str | None, name: str) -> BoundStrategy:
        """Return a strategy of the map, or the rung of the tool's handler."""
        handler = self.handler_of(state) if name == HANDLER else None
        return BoundStrategy(handler) if handler else self.map.strategy(rule, name)

    def handler_of(self, state: CorrectionState) -> "AskHandler | None":
        """Return the handler that decides about the findings of a state, or None."""
        tool = self.tools.get(state["current"].get("name", ""))
        kind = _FAULTS.get(state["source"])
        if tool is None or kind is None:
            return None
        if any(name.endswith(".ArgumentsError") for name in state["findings"][0]["types"]):
            kind = "deserialization_error"
        of_graph = self.on_error
        if isinstance(of_graph, Mapping):
            of_graph = of_graph.get(tool.name)
        handler = tool.on_error or of_graph or DEFAULTS.get(HANDLER)
        # Handlers are whole: where the first one does not know the kind, no other is asked.
        if handler is None or getattr(handler, kind) is None:
            return None
        from selfcorrect.repairs.fixer import AskHandler

        return AskHandler(handler, kind)


def _words_of_user(message: Any) -> JSON:
    """Return what a message says, if it is the user's own; messages are LangChain's, or dicts."""
    of = message.get if isinstance(message, Mapping) else partial(getattr, message)
    is_own = (of("role", None) or of("type", None)) in ("user", "human")
    # Other middleware speaks in the user's name.
    is_other = "lc_source" in (of("additional_kwargs", None) or {})
    return of("content", "") if is_own and not is_other else ""


_FAULTS = {"plan": "invalid_args", "schema": "invalid_args", "tool": "execution_error"}
"""The field of a handler that decides, by who found what is wrong."""


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, without an event loop.

    Raises:
        GraphSetupError: If it waits: something in it is async.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    # It has asked an event loop for something, and there is none.
    coroutine.close()
    raise GraphSetupError("a node, strategy or model is async: use ainvoke, or aplay")
