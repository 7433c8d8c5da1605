"""Puts the parts of a graph together: options in, a `Loop` out, mistakes raised early."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, TypedDict, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from selfcorrect.context import RunContext, SystemTime
from selfcorrect.errors import GraphSetupError, unknown_name
from selfcorrect.handlers import OnError
from selfcorrect.lazy import load_table
from selfcorrect.ledger.memory import MemoryLedger
from selfcorrect.limits import Limits
from selfcorrect.model import F, JsonDict, JsonObject, Safety
from selfcorrect.nodes.execute import unfit
from selfcorrect.policies.run import (
    DEFAULT_CLASSES,
    Hooks,
    PolicySource,
    SafetyPolicy,
    ToolErrorPolicy,
)
from selfcorrect.protocols import ChatModel, Clock, Ledger, Node
from selfcorrect.routing import build_table, edge_name
from selfcorrect.state import STATE_KEYS, CorrectionState
from selfcorrect.step import Loop, load_node
from selfcorrect.strategy_map.load import reason_of
from selfcorrect.strategy_map.merge import nearest
from selfcorrect.strategy_map.strategy_map import StrategyMap, load_default
from selfcorrect.tools.spec import collect_tools

NODE_OPTIONS: Mapping[str, str] = load_table("routing.toml")["options"]
"""The built-in nodes, by the option that takes their place."""


class Options(TypedDict, total=False):
    """What `build_graph`, `Mender` and `play` take.

    Attributes:
        strategies: An error-strategy map, the name of one (`"strict"`) or the path of a TOML file.
        model: A LangChain chat model, asked only where rules end.
        limits: Bounds of one run.
        policy: Kinds of error that end a run, beside those of the map.
        ledger: Remembers calls of tools that act; the default forgets with the graph.
        on_error: Decides about errors of tools without a handler of their own; or handlers by
            tool.
        on_model_error: Decides about each failure of a model; see `policies.RetryModel`.
        on_failure: `"report"` ends a failed run with `failure`; `"raise"` raises.
        hooks: Listeners: they see every use of a tool and every failure, and change nothing.
        tool_words: `"hide"` keeps a tool's own words from the model, never the diagnosis.
        on_edge: Nodes by the edge that they stand on: `{("validate", "retry"): approve}`.
        before: Guards by node: `{"execute": gate}` is passed by every way into `execute`. They, and
            nodes on edges, may return None: they let pass.
        nodes: Nodes of your own by name; a built-in name replaces that node.
        routes: Targets by outcome, by node, over the default table.
        state: A subclass of `CorrectionState` with keys of your own.
        planner: Takes the place of `plan`; likewise the other seven nodes.
    """

    strategies: StrategyMap | str | Path | None
    model: Any
    limits: Limits | JsonObject | None
    policy: ToolErrorPolicy | PolicySource | None
    ledger: Ledger | None
    on_error: OnError | Mapping[str, OnError] | None
    on_model_error: Callable[[Exception], Any] | None
    on_failure: Literal["report", "raise"]
    hooks: Hooks | None
    tool_words: Literal["show", "hide"]
    on_edge: Mapping[tuple[str, str], Node] | None
    before: Mapping[str, Node] | None
    nodes: Mapping[str, Node] | None
    routes: Mapping[str, Mapping[str, str]] | None
    state: type[CorrectionState] | None
    planner: Node | None
    executor: Node | None
    diagnoser: Node | None
    selector: Node | None
    repairer: Node | None
    validator: Node | None
    retrier: Node | None
    reporter: Node | None


def show_options(options: Any) -> Callable[[F], F]:
    """Write the keys of a TypedDict into a signature: notebooks complete what they see there."""
    shown = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in options.__annotations__.items()
    ]

    def write(function: Any) -> Any:
        old = signature(function)
        *own, _ = old.parameters.values()
        function.__signature__ = old.replace(parameters=[*own, *shown])
        return function

    return write


def check_options(values: JsonObject, options: Any = Options) -> JsonDict:
    """Return the options that have a value; None counts as left out.

    Raises:
        GraphSetupError: If an option is unknown, or is not what its annotation says.
    """
    # TypedDict keywords are checked by type checkers only, so a typo is caught here.
    table, kinds = load_table("options.toml"), options.__annotations__
    for name, value in values.items():
        if name not in kinds:
            instead = table["elsewhere"].get(name)
            unknown = unknown_name("option", name, kinds)
            raise GraphSetupError(f"{name}: {instead}" if instead else unknown)
        if value is not None and not _fits(name, value, kinds[name]):
            wanted = table["must_be"].get(name) or table["must_be"]["node"]
            raise GraphSetupError(f"{name}: must be {wanted}, not {value!r:.80}")
    return {name: value for name, value in values.items() if value is not None}


def _fits(name: str, value: Any, kind: Any) -> bool:
    """Say whether a value is what the annotation of its option says."""
    if name == "state":
        return isinstance(value, type) and get_type_hints(value).keys() >= STATE_KEYS
    try:
        _adapter(ChatModel if name == "model" else kind).validate_python(value, strict=True)
    except ValidationError:
        return False
    # A class has the methods of its objects.
    return not isinstance(value, type)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=ConfigDict(arbitrary_types_allowed=True))


def build_loop(
    tools: Iterable[Any], options: Mapping[str, Any], clock: Clock | None = None
) -> Loop:
    """Build a loop.

    Raises:
        GraphSetupError: If a tool, an option, a node or a route is unusable.
        MapError: If the map is unusable.
    """
    options = check_options(options)
    state = options.get("state", CorrectionState)
    hints = get_type_hints(state, include_extras=True)
    own_keys = {key: hint for key, hint in hints.items() if key not in STATE_KEYS}
    parts = [options.get(name, {}) for name in ("nodes", "routes", "before", "on_edge")]
    context = _context(tools, options, clock)
    return Loop(build_table(*parts), _nodes(options), context, state, own_keys)


def _nodes(options: JsonObject) -> dict[str, Node]:
    nodes: dict[str, Node] = {node: load_node(node) for node in NODE_OPTIONS.values()}
    nodes |= options.get("nodes", {})
    nodes |= {node: options[option] for option, node in NODE_OPTIONS.items() if option in options}
    for node, guard in options.get("before", {}).items():
        nodes[f"before_{node}"] = _check_first(guard) if node == "execute" else guard
    for edge, own in options.get("on_edge", {}).items():
        nodes[edge_name(*edge)] = own
    return nodes


def _check_first(guard: Node) -> Node:
    """Return a guard that is asked only about a call that can be made."""

    def guard_of_valid(state: CorrectionState, context: RunContext) -> Any:
        wrong = unfit(state, context)
        return guard(state, context) if wrong is None else wrong

    return guard_of_valid


def _context(tools: Iterable[Any], options: JsonObject, clock: Clock | None) -> RunContext:
    rules = options.get("strategies")
    if not isinstance(rules, StrategyMap):
        rules = load_default() if rules is None else StrategyMap.load(rules)
    classes = DEFAULT_CLASSES
    if rules.policy.allow is not None:
        classes = frozenset(rules.policy.allow)
    elif "model" in options:
        # Passing a model is consent to its changes, unless the map says which classes run.
        classes |= {Safety.MODEL}
    return RunContext(
        tools=collect_tools(tools, rules.effects),
        map=rules,
        limits=_limits(options.get("limits", {}), rules),
        safety=SafetyPolicy(classes, tuple(rules.policy.sensitive or ())),
        terminal=options.get("policy") or ToolErrorPolicy(),
        ledger=options.get("ledger") or MemoryLedger(),
        model=options.get("model"),
        on_error=options.get("on_error"),
        on_model_error=options.get("on_model_error"),
        raises=options.get("on_failure") == "raise",
        hooks=options.get("hooks"),
        tool_words=options.get("tool_words", "show"),
        clock=clock or SystemTime(),
    )


def _limits(limits: Limits | JsonObject, rules: StrategyMap) -> Limits:
    """Return the bounds: the caller's over the map's over the defaults."""
    if isinstance(limits, Limits):
        return limits
    try:
        return Limits.model_validate(nearest([limits, rules.limits]))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ("limits", *fault["loc"])
        where = ": ".join(map(str, place))
        raise GraphSetupError(f"{where}: {reason_of(fault, place)}") from None
