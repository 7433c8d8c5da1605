"""Puts the parts of a loop together and checks them, before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, get_args

from pydantic import ValidationError

from selfcorrect.context import LiveErrors, Node, RunContext, SyncHost, SystemTime, Time
from selfcorrect.errors import GraphSetupError
from selfcorrect.handlers.handling import Handlers
from selfcorrect.handlers.on_error import as_handler, defaults
from selfcorrect.hints import near
from selfcorrect.ledger import MemoryLedger
from selfcorrect.limits import Limits
from selfcorrect.loading import load_map
from selfcorrect.log import sink
from selfcorrect.model import Safety
from selfcorrect.models.recovery import OnModelError
from selfcorrect.models.telling import ToolWords
from selfcorrect.nodes import NODES
from selfcorrect.policies import Hooks, OnLimit, PolicySource, SafetyPolicy, ToolErrorPolicy
from selfcorrect.protocols import Ledger
from selfcorrect.results import has_error_at, is_error_value
from selfcorrect.routing import ROUTES
from selfcorrect.rules import ToolResults
from selfcorrect.strategy_map import StrategyMap
from selfcorrect.tools import ToolSpec, tool_specs

SLOTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "planner": "plan",
        "executor": "execute",
        "diagnoser": "diagnose",
        "selector": "select_strategy",
        "repairer": "repair",
        "validator": "validate",
        "retrier": "retry",
        "reporter": "report_failure",
    }
)
"""The keyword that replaces each node."""

REMEMBERED: Final = 10_000
"""Intents that a loop without a ledger of the caller's keeps in memory."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that is ready to run: the nodes, what they share, and nodes put on edges.

    Attributes:
        nodes: The eight nodes, by name.
        edges: Nodes of the caller's own, by the edge that they stand on.
        context: What every run starts with; each run gets its own copy.
        forgets: Nothing is checkpointed, even inside a parent that is: nobody can be asked.
    """

    nodes: Mapping[str, Node]
    edges: Mapping[tuple[str, str], Node]
    context: RunContext
    forgets: bool = False

    def start(self, **changes: Any) -> RunContext:
        """The context of one run."""
        emit = sink()
        if emit is None and not changes:
            return self.context
        return replace(self.context, emit=emit, **changes)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a caller may choose; see `build_graph`."""

    tools: Any
    strategies: Any = None
    model: Any = None
    limits: Limits | Mapping[str, Any] | None = None
    policy: ToolErrorPolicy | PolicySource | None = None
    ledger: Ledger | None = None
    on_error: Any = None
    on_failure: str = "report"
    on_edge: Mapping[tuple[str, str], Node] | None = None
    slots: Mapping[str, Node | None] = field(default_factory=dict)
    time: Time | None = None
    on_model_error: OnModelError | None = None
    on_limit: OnLimit | None = None
    hooks: Hooks | None = None
    memory: MemoryLedger | None = None
    tool_words: ToolWords | None = None


def assemble(parts: Parts) -> Loop:
    """Check the parts and put them together.

    Raises:
        GraphSetupError: If a part is unusable; the message names it.
        MapError: If the error-strategy map is unusable.
    """
    if parts.on_failure not in ("report", "raise"):
        raise GraphSetupError(f"on_failure is 'report' or 'raise', not {parts.on_failure!r}")
    strategies = load_map(parts.strategies)
    nodes = _nodes(parts.slots)
    tools = MappingProxyType(_with_effects(tool_specs(parts.tools), strategies))
    context = RunContext(
        tools=tools,
        strategies=strategies,
        limits=_limits(parts.limits, strategies),
        policy=_terminal(parts.policy, strategies, tools),
        safety=_safety(strategies, parts.model),
        ledger=_ledger(parts.ledger),
        model=_model(parts.model),
        host=SyncHost(),
        time=parts.time or SystemTime(),
        errors=LiveErrors(),
        memory=parts.memory or MemoryLedger(REMEMBERED),
        diagnoser=nodes["diagnose"],
        selector=nodes["select_strategy"],
        on_failure=parts.on_failure,
        on_error=_handlers(parts.on_error, tools),
        on_model_error=_callable(parts.on_model_error, "on_model_error"),
        on_limit=_callable(parts.on_limit, "on_limit"),
        hooks=_hooks(parts.hooks),
        tool_words=_tool_words(parts.tool_words, strategies),
    )
    return Loop(nodes, _edges(parts.on_edge), context)


def _nodes(slots: Mapping[str, Node | None]) -> Mapping[str, Node]:
    nodes = dict(NODES)
    for slot, node in slots.items():
        if node is None:
            continue
        if not callable(node):
            raise GraphSetupError(f"{slot} must be callable with (state, context), got {node!r}")
        nodes[SLOTS[slot]] = node
    return MappingProxyType(nodes)


def _edges(on_edge: Mapping[tuple[str, str], Node] | None) -> Mapping[tuple[str, str], Node]:
    if on_edge is not None and not isinstance(on_edge, Mapping):
        raise GraphSetupError(f"on_edge is a mapping of edges to nodes, not {on_edge!r:.80}")
    for edge, node in (on_edge or {}).items():
        source, target = edge if isinstance(edge, tuple) and len(edge) == 2 else (edge, None)
        if source not in ROUTES or target not in ROUTES[source].values():
            known = ", ".join(sorted(f"{s!r}→{t!r}" for s in ROUTES for t in ROUTES[s].values()))
            raise GraphSetupError(f"there is no edge {edge!r}; the edges are {known}")
        if not callable(node):
            raise GraphSetupError(f"the node on edge {edge!r} must be callable, got {node!r}")
    return MappingProxyType(dict(on_edge or {}))


def _with_effects(tools: dict[str, ToolSpec], strategies: StrategyMap) -> dict[str, ToolSpec]:
    """Undeclared tools take the effect that the map gives them; code that declares one wins."""
    out = {name: _with_effect(tool, strategies) for name, tool in tools.items()}
    tell_undeclared(out.values())
    return out


def tell_undeclared(tools: Iterable[ToolSpec]) -> None:
    """Tell the log once of each tool whose effect nobody declared, with the line that does."""
    names = [tool.name for tool in tools if not tool.declared and tool.name not in _TOLD]
    emit = sink() if names else None
    if emit is None:
        return
    for name in names[: max(0, REMEMBERED - len(_TOLD))]:
        _TOLD.add(name)
        emit(
            "selfcorrect.undeclared_effect",
            {"tool": name, "taken_for": "mutating", "declare": f'[effects] "{name}" = "read_only"'},
        )


_TOLD: Final[set[str]] = set()


def _with_effect(tool: ToolSpec, strategies: StrategyMap) -> ToolSpec:
    tool = _with_results(tool, strategies.results_of(tool.name))
    effect = strategies.effect_of(tool.name)
    if effect is None or (tool.declared and tool.effect != effect):
        return tool
    return tool.has_effect(effect, atomic=tool.atomic or strategies.is_atomic(tool.name))


def _with_results(tool: ToolSpec, told: ToolResults | None) -> ToolSpec:
    """What the code says of a tool's values comes before the map."""
    if told is None:
        return tool
    fails = tool.fails
    if fails is None:
        shapes = is_error_value if told.errors == "shapes" else None
        fails = partial(has_error_at, where=told.where, otherwise=shapes)
    return replace(tool, fails=fails, mends_values=told.mend)


def _limits(limits: Limits | Mapping[str, Any] | None, strategies: StrategyMap) -> Limits:
    """The map's limits, under the ceiling that code sets; limits from code win, key by key."""
    if limits is None:
        return Limits().merged(strategies.limits)
    if isinstance(limits, Mapping):
        try:
            limits = Limits.model_validate(dict(limits))
        except ValidationError as error:
            known = ", ".join(Limits.model_fields)
            raise GraphSetupError(f"limits are unusable ({known} exist): {error}") from error
    if not isinstance(limits, Limits):
        raise GraphSetupError(f"limits must be a Limits or a mapping, not {limits!r}")
    said = {name: getattr(limits, name) for name in limits.model_fields_set}
    return Limits(ceiling=limits.ceiling).merged({**strategies.limits, **said})


def _terminal(
    policy: ToolErrorPolicy | PolicySource | None, strategies: StrategyMap, tools: Iterable[str]
) -> ToolErrorPolicy | PolicySource:
    """Code and map add up: what either ends a run for, ends it; a source is asked per run."""
    if isinstance(policy, PolicySource):
        return policy
    policy = policy if policy is not None else ToolErrorPolicy()
    if not isinstance(policy, ToolErrorPolicy):
        raise GraphSetupError(f"policy must be a ToolErrorPolicy or PolicySource, not {policy!r}")
    return policy.joined(ToolErrorPolicy.of_map(strategies.policy), tools)


def _safety(strategies: StrategyMap, model: Any) -> SafetyPolicy:
    allow = strategies.policy.allow
    classes = SafetyPolicy().allow if allow is None else frozenset(Safety(item) for item in allow)
    if model is not None:
        classes |= {Safety.MODEL}
    return SafetyPolicy(classes, tuple(strategies.policy.sensitive or ()))


def _ledger(ledger: Any) -> Any:
    wanted = ("begin", "settle")
    if ledger is not None and not all(callable(getattr(ledger, name, None)) for name in wanted):
        raise GraphSetupError(
            f"ledger must have begin and settle, such as SqliteLedger(path), not {ledger!r:.80}"
        )
    return ledger


def _callable(given: Any, name: str) -> Any:
    if given is not None and not callable(given):
        raise GraphSetupError(f"{name} must be callable, not {given!r:.80}")
    return given


def _hooks(hooks: Any) -> Hooks | None:
    if hooks is not None and not isinstance(hooks, Hooks):
        raise GraphSetupError(f"hooks must be Hooks(…), not {hooks!r:.80}")
    return hooks


def _handlers(given: Any, tools: Mapping[str, ToolSpec]) -> Handlers:
    """The tools' own handlers, then the graph's (one, or one by tool), then the defaults."""
    per_tool = {}
    graph = None
    if isinstance(given, Mapping):
        for name, handler in given.items():
            if name not in tools:
                hint = near(str(name), tools) or f"the tools are {', '.join(tools)}"
                raise GraphSetupError(f"on_error names {name!r}, which is no tool; {hint}")
            per_tool[name] = as_handler(handler, f"on_error of {name!r}")
    else:
        graph = as_handler(given, "build_graph")
    for name, tool in tools.items():
        if tool.on_error is not None:
            per_tool[name] = as_handler(tool.on_error, f"tool {name!r}")
    return Handlers({k: v for k, v in per_tool.items() if v is not None}, graph, defaults())


def _tool_words(given: ToolWords | None, strategies: StrategyMap) -> ToolWords:
    """What the code says, else the map, else that they are shown."""
    if given not in (None, *get_args(ToolWords)):
        raise GraphSetupError(f"tool_words is 'show' or 'hide', not {given!r:.80}")
    return given or strategies.policy.tool_words or "show"


def _model(model: Any) -> Any:
    if model is not None and not callable(getattr(model, "invoke", None)):
        raise GraphSetupError(f"model must be a chat model with invoke, not {model!r}")
    return model


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling this gives something to await."""
    call = getattr(function, "__call__", None)  # noqa: B004 -- objects with an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
