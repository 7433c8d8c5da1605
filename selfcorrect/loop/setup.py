"""Puts the parts of a loop together and checks them, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, get_args

from pydantic import ValidationError

from selfcorrect.errors import GraphSetupError
from selfcorrect.handlers.by_tool import Handlers
from selfcorrect.handlers.handler import as_handler, defaults
from selfcorrect.hints import near
from selfcorrect.ledger import MemoryLedger
from selfcorrect.limits import Limits
from selfcorrect.log import sink, warning
from selfcorrect.loop.context import RunContext, SyncHost, SystemTime
from selfcorrect.loop.failures import Live, LiveErrors
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.nodes import NODES
from selfcorrect.loop.options import Options
from selfcorrect.loop.own_keys import own_keys
from selfcorrect.loop.own_nodes import own_nodes
from selfcorrect.loop.walk import walk_inside
from selfcorrect.mapping.document import ToolResults
from selfcorrect.mapping.loading import load_map
from selfcorrect.mapping.strategy_map import StrategyMap
from selfcorrect.model import Safety
from selfcorrect.policies import Hooks, PolicySource, SafetyPolicy, ToolErrorPolicy
from selfcorrect.policies.retry_budget import Budgets
from selfcorrect.policies.safety import DEFAULT_SURE
from selfcorrect.protocols import Board, ToolWords
from selfcorrect.results import has_error_at, is_error_value
from selfcorrect.tools import ToolSpec, tool_specs

DEFAULTS: Final = Options()
REMEMBERED: Final = 10_000
"""Intents that a loop without a ledger of the caller's keeps in memory."""


def assemble(tools: Any, options: Options = DEFAULTS) -> Loop:
    """Check tools and options, and put the loop together.

    Raises:
        GraphSetupError: If a part is unusable; the message names it.
        MapError: If the error-strategy map is unusable.
    """
    if options.on_failure not in ("report", "raise"):
        raise GraphSetupError(f"on_failure is 'report' or 'raise', not {options.on_failure!r}")
    strategies = load_map(options.strategies)
    own = own_keys(options.state)
    nodes, table = own_nodes(options, own)
    wanted = "ledger must have begin and settle, such as SqliteLedger(path)"
    ledger = _usable(options.ledger, wanted, "begin", "settle")
    memory = options.memory or MemoryLedger(REMEMBERED)
    board: Board | None = ledger if _can(ledger, "look", "swap") else None
    # Undeclared tools take the effect that the map gives them; code that declares one wins.
    offered = {name: _with_effect(tool, strategies) for name, tool in tool_specs(tools).items()}
    tell_undeclared(offered.values())
    specs = MappingProxyType(offered)
    context = RunContext(
        tools=specs,
        strategies=strategies,
        limits=_limits(options.limits, strategies),
        policy=_terminal(options.policy, strategies, specs),
        safety=_safety(strategies, options.model),
        ledger=ledger,
        model=_usable(options.model, "model must be a chat model with invoke", "invoke"),
        host=SyncHost(),
        time=options.time or SystemTime(),
        errors=LiveErrors(),
        heard=Live(None),
        memory=memory,
        budgets=Budgets(board if getattr(ledger, "blocks", True) else None),
        breaker=_breaker(strategies, board or memory),
        on_failure=options.on_failure,
        on_error=_handlers(options.on_error, specs),
        on_model_error=_callable(options.on_model_error, "on_model_error"),
        on_limit=_callable(options.on_limit, "on_limit"),
        hooks=_hooks(options.hooks),
        tool_words=_tool_words(options.tool_words, strategies),
    )
    foreign = frozenset(name for name, node in nodes.items() if node is not NODES.get(name))
    loop = Loop(nodes, table, context, own, foreign)
    context.inner = None if options.is_dry else partial(walk_inside, loop)
    return loop


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


def tell_left_out(name: str, why: Exception) -> None:
    """Warn the log of a tool that cannot be used: its calls run as the model wrote them."""
    if (warn := warning()) is not None:
        warn("selfcorrect.unusable_tool", {"tool": name, "why": str(why)})


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
            wrong = "; ".join(map(_wrong_bound, error.errors(include_url=False)))
            raise GraphSetupError(f"limits are unusable: {wrong}") from error
    if not isinstance(limits, Limits):
        raise GraphSetupError(f"limits must be a Limits or a mapping, not {limits!r}")
    said = {name: getattr(limits, name) for name in limits.model_fields_set}
    return Limits(ceiling=limits.ceiling).merged({**strategies.limits, **said})


def _wrong_bound(fault: Mapping[str, Any]) -> str:
    name, known = ".".join(map(str, fault["loc"])), Limits.model_fields
    if fault["type"] == "extra_forbidden":
        return f"there is no {name!r}; {near(name, known) or 'there are ' + ', '.join(known)}"
    return f"{name}: {fault['msg']}, not {fault['input']!r:.80}"


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
    classes = SafetyPolicy().allow if allow is None else frozenset(allow)
    if model is not None:
        classes |= {Safety.MODEL}
    sure = strategies.policy.sure
    sensitive = tuple(strategies.policy.sensitive or ())
    return SafetyPolicy(classes, sensitive, DEFAULT_SURE if sure is None else sure)


def _usable(given: Any, what: str, *methods: str) -> Any:
    """What the caller gave, if anything, where it can do what is asked of it."""
    if given is not None and not _can(given, *methods):
        raise GraphSetupError(f"{what}, not {given!r:.80}")
    return given


def _callable(given: Any, name: str) -> Any:
    return _usable(given, f"{name} must be callable", "__call__")


def _can(given: Any, *methods: str) -> bool:
    return all(callable(getattr(given, name, None)) for name in methods)


def _breaker(strategies: StrategyMap, board: Board) -> Any:
    if strategies.breaker is None:
        return None
    from selfcorrect.policies.breaker import Breaker

    return Breaker(strategies.breaker, board)


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
