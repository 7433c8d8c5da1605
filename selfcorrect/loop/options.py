"""What a caller may choose of a loop: one set of options, whatever is built of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict

from selfcorrect.errors import GraphSetupError
from selfcorrect.hints import near

if TYPE_CHECKING:
    from collections.abc import Callable

    from selfcorrect.handlers import OnError
    from selfcorrect.ledger import MemoryLedger
    from selfcorrect.limits import Limits
    from selfcorrect.loop.context import Node, Time
    from selfcorrect.mapping.files import MapSource
    from selfcorrect.mapping.strategy_map import StrategyMap
    from selfcorrect.policies import Hooks, OnLimit, OnModelError, PolicySource, ToolErrorPolicy
    from selfcorrect.protocols import Ledger, ToolWords

    Strategies: TypeAlias = StrategyMap | MapSource | None
    """An error-strategy map: the object, its name or its path."""
    ErrorHandlers: TypeAlias = OnError | Callable[..., Any] | Mapping[str, Any] | None
    """What `on_error(…)` made, a function for every kind of error, or one of both for each tool."""

OnFailure: TypeAlias = Literal["report", "raise"]


class OptionKeywords(TypedDict, total=False):
    """The options as keywords of whatever is built of them; see `build_graph` for each."""

    strategies: Strategies
    model: Any
    limits: Limits | Mapping[str, Any] | None
    policy: ToolErrorPolicy | PolicySource | None
    ledger: Ledger | None
    on_error: ErrorHandlers
    on_failure: OnFailure
    on_model_error: OnModelError | None
    on_limit: OnLimit | None
    hooks: Hooks | None
    tool_words: ToolWords | None
    on_edge: Mapping[tuple[str, str], Node] | None
    before: Mapping[str, Node] | None
    nodes: Mapping[str, Node] | None
    routes: Mapping[str, Mapping[str, str]] | None
    state: type[Any] | None
    planner: Node | None
    executor: Node | None
    diagnoser: Node | None
    selector: Node | None
    repairer: Node | None
    validator: Node | None
    retrier: Node | None
    reporter: Node | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """See `build_graph` for each; what is left out takes its default.

    Attributes:
        time: Where time comes from; None: the real clock.
        is_dry: No other tool is called: calls that come first are only told.
        memory: What is remembered of calls that may have been done; None: a memory of its own.
    """

    strategies: Strategies = None
    model: Any = None
    limits: Limits | Mapping[str, Any] | None = None
    policy: ToolErrorPolicy | PolicySource | None = None
    ledger: Ledger | None = None
    on_error: ErrorHandlers = None
    on_failure: OnFailure = "report"
    on_model_error: OnModelError | None = None
    on_limit: OnLimit | None = None
    hooks: Hooks | None = None
    tool_words: ToolWords | None = None
    on_edge: Mapping[tuple[str, str], Node] | None = None
    before: Mapping[str, Node] | None = None
    nodes: Mapping[str, Node] | None = None
    routes: Mapping[str, Mapping[str, str]] | None = None
    state: type[Any] | None = None
    planner: Node | None = None
    executor: Node | None = None
    diagnoser: Node | None = None
    selector: Node | None = None
    repairer: Node | None = None
    validator: Node | None = None
    retrier: Node | None = None
    reporter: Node | None = None
    time: Time | None = None
    is_dry: bool = False
    memory: MemoryLedger | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """The options of these keywords.

        Raises:
            GraphSetupError: If there is no such option.
        """
        known = [each.name for each in fields(cls)]
        for name in given:
            if name not in known:
                hint = near(name, known) or f"the options are {', '.join(known)}"
                raise GraphSetupError(f"there is no option {name!r}; {hint}")
        return cls(**given)

    @property
    def sees_all(self) -> bool:
        """Whether something has to see every call, the healthy ones too."""
        seen = (self.ledger, self.hooks, self.on_edge, self.before, self.routes, self.own_nodes())
        return any(seen)

    def checking(self, executor: Node) -> Options:
        """The same for a loop that executes nothing: nobody is told, and its caller decides."""
        rest = {name: node for name, node in (self.nodes or {}).items() if name not in _EXECUTES}
        quiet: dict[str, Any] = {"ledger": None, "hooks": None, "on_failure": "report"}
        return replace(self, nodes=rest, executor=executor, is_dry=True, **quiet)

    def own_nodes(self) -> Mapping[str, Node]:
        """The caller's nodes by name, those given by slot too.

        Raises:
            GraphSetupError: If one is given twice.
        """
        found: dict[str, Any] = {}
        by_slot = {slot: node for slot in SLOTS if (node := getattr(self, slot)) is not None}
        for key, node in [*(self.nodes or {}).items(), *by_slot.items()]:
            name = SLOTS.get(key, key)
            if name in found:
                raise GraphSetupError(f"the node {name!r} is given twice, also as {key!r}")
            if not callable(node):
                raise GraphSetupError(f"{key} must be callable with (state, context), got {node!r}")
            found[name] = node
        return found


SLOTS: Final[Mapping[str, str]] = {
    "planner": "plan",
    "executor": "execute",
    "diagnoser": "diagnose",
    "selector": "select_strategy",
    "repairer": "repair",
    "validator": "validate",
    "retrier": "retry",
    "reporter": "report_failure",
}
"""The keyword that replaces each node."""

_EXECUTES: Final = ("executor", "execute")
