"""The loops around a set of LangChain tools, built once per set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from langchain_core.tools import BaseTool

from selfcorrect.batch.checking import check_only
from selfcorrect.errors import GraphSetupError, ToolDefinitionError
from selfcorrect.hints import near
from selfcorrect.integrations.mcp import adapter_tools, is_untold
from selfcorrect.ledger import MemoryLedger
from selfcorrect.loop.context import Node, RunContext, Update
from selfcorrect.loop.failures import Live
from selfcorrect.loop.loop import Loop
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import REMEMBERED, assemble, tell_left_out
from selfcorrect.routing import EXECUTE, PASSED
from selfcorrect.state import CorrectionState
from selfcorrect.tools import ToolSpec, tool_specs
from selfcorrect.tools.declarations import effect_of, metadata_of, stated_effect

_MOST_SETS: Final = 64
_MOST_NAMES: Final = 10_000
_SAID: Final = ("timeout", "on_error", "verify", "asks_first")
"""What a declaration may say of a tool, and says by not being None."""


DeclaredTools: TypeAlias = Sequence[ToolSpec | BaseTool | Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Toolbox:
    """One set of tools as its host and as the loops see them.

    Attributes:
        tools: The tools that the host runs, by name.
        elsewhere: Names of tools whose calls are not touched: the provider runs them itself, or
            their schema cannot be used.
        check: Mends calls and executes nothing.
        run: Mends calls and executes them.
        shown: Tools as the model is to see them, by name, where it may not see all of them.
    """

    tools: Mapping[str, BaseTool]
    elsewhere: frozenset[str]
    check: Loop
    run: Loop
    shown: Mapping[str, BaseTool] = field(default_factory=dict)

    def for_model(self, tools: Sequence[Any]) -> list[Any]:
        """The tools of a request, without what no model may see."""
        names = (getattr(tool, "name", None) for tool in tools)
        return [self.shown.get(str(name), tool) for name, tool in zip(names, tools, strict=True)]

    @property
    def specs(self) -> Mapping[str, ToolSpec]:
        """The tools as the loops see them, with the effects that the map declares."""
        return self.check.context.tools


class Toolboxes:
    """The toolboxes of one drop-in, by the tools that are in them; bounded.

    Attributes:
        limits: The bounds of one call's corrections.
        holds_back: Whether calls of a service that fails are held back.
        memory: What all its loops remember of calls that may have been done.
    """

    def __init__(self, options: Options, declared: Mapping[str, ToolSpec] | None = None) -> None:
        # A bad map or setting raises now, not in the middle of a run.
        context = assemble((), options).context
        self.limits, self.holds_back = context.limits, context.breaker is not None
        self.memory = options.memory or MemoryLedger(REMEMBERED)
        self._options = replace(options, memory=self.memory)
        self._declared = declared or {}
        self._boxes = Live[tuple[Sequence[Any], Toolbox] | None](None, _MOST_SETS)
        self._specs = Live[tuple[Any, ToolSpec] | None](None, _MOST_NAMES)

    def of(self, tools: Sequence[Any]) -> Toolbox:
        """The toolbox of these tools.

        Raises:
            ToolDefinitionError: If the effect of one is misspelt.
        """
        key = str([*map(id, tools)])
        if (found := self._boxes.of(key)) is not None:
            return found[1]
        box = self._build(tools)
        # The tools are kept beside their ids: an id is only unique while its object lives.
        self._boxes.keep(key, (tuple(tools), box))
        for name, tool in box.tools.items():
            self._specs.keep(name, (tool, box.specs[name]))
        return box

    def ready(self, name: str, tool: Any) -> ToolSpec | None:
        """The spec of a tool that was seen before, or None."""
        known = self._specs.of(name)
        return known[1] if known is not None and known[0] is tool else None

    def _build(self, tools: Sequence[Any]) -> Toolbox:
        own = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
        elsewhere = frozenset(
            name for tool in tools if isinstance(tool, Mapping) and (name := name_in(tool))
        )
        specs: list[ToolSpec] = []
        _check_names(self._declared, {*own, *elsewhere})
        for name, tool in list(own.items()):
            # A slip in the effect is the author's to mend: left out, the tool would go unguarded.
            effect_of(stated_effect(metadata_of(tool), name), name)
            try:
                spec = tool_specs([_told(tool)])[name]
                specs.append(_declared(spec, self._declared.get(name)))
            except ToolDefinitionError as error:
                # The host can run it all the same, so it goes on as before, unchecked.
                del own[name]
                elsewhere |= {name}
                tell_left_out(name, error)
        return Toolbox(
            own,
            elsewhere,
            assemble(specs, replace(self._options.checking(check_only), before=self._before())),
            assemble(specs, self._options),
            {
                spec.name: own[spec.name].model_copy(update={"args_schema": dict(spec.schema)})
                for spec in specs
                if spec.takes_key is not None and spec.takes_key in own[spec.name].args
            },
        )

    def _before(self) -> Mapping[str, Node]:
        """The guards of the loop that executes nothing: the one that executes asks the last."""
        before = self._options.before or {}
        return {node: _pass if node == EXECUTE else guard for node, guard in before.items()}


def _pass(_state: CorrectionState, _context: RunContext) -> Update:
    return {"outcome": PASSED}


def _declared(spec: ToolSpec, said: ToolSpec | None) -> ToolSpec:
    """The host's tool with what was declared of it."""
    if said is None:
        return spec
    return replace(
        spec if not said.declared else spec.has_effect(said.effect),
        atomic=said.atomic or spec.atomic,
        server=said.server or spec.server,
        **{name: value for name in _SAID if (value := getattr(said, name)) is not None},
    )


def _check_names(declared: Mapping[str, ToolSpec], known: AbstractSet[str]) -> None:
    """Refuse a declaration for a tool that is there under a name that is nearly the same.

    Raises:
        GraphSetupError: If there is one. A tool that is not offered for now is no mistake.
    """
    for name in declared.keys() - known:
        if hint := near(name, known - declared.keys()):
            raise GraphSetupError(f"tools= declares {name!r}, which is no tool here; {hint}")


def _told(tool: BaseTool) -> BaseTool:
    """The tool, without an effect that only its MCP server claims."""
    if not is_untold(tool.metadata or {}):
        return tool
    honest: BaseTool = adapter_tools([tool])[0]
    return honest


def name_in(schema: Mapping[str, Any]) -> str | None:
    """The name of a tool that is given as a provider's own schema."""
    inner = schema.get("function")
    body = inner if isinstance(inner, Mapping) else schema
    name = body.get("name") or schema.get("type")
    return name if isinstance(name, str) else None


def as_tools(tools: Sequence[BaseTool | Callable[..., Any]]) -> list[BaseTool]:
    """LangChain tools, functions turned into them as LangChain does.

    Raises:
        GraphSetupError: If one of them is neither.
    """
    from langchain_core.tools import tool as create_tool

    found: list[BaseTool] = []
    for each in tools:
        if isinstance(each, BaseTool):
            found.append(each)
        elif callable(each):
            made = create_tool(each)
            if not isinstance(made, BaseTool):
                raise GraphSetupError(f"{each!r} cannot be made a tool")
            found.append(made)
        else:
            raise GraphSetupError(f"{each!r} is neither a LangChain tool nor a function")
    return found
