"""The tools that an application hands over, by name."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.tools.builtin import BUILT_IN
from selfcorrect.tools.spec import ToolSpec


def tool_specs(tools: Any) -> dict[str, ToolSpec]:
    """The tools by name, ready for use; anything that can be a tool becomes a `ToolSpec`.

    Args:
        tools: `ToolSpec`s, functions, LangChain tools, tool schemas, and the names of built-in
            tools (`escalate`, `throw_exception`); or a mapping of names to them, which gives
            functions their names.

    Raises:
        ToolDefinitionError: If one of them cannot be used, or two have the same name.
    """
    is_one = isinstance(tools, ToolSpec | str | bytes) or callable(tools) or _is_langchain(tools)
    if is_one or not isinstance(tools, Iterable):
        raise ToolDefinitionError(f"tools must be a list of tools, not {tools!r}: write [tool]")
    if isinstance(tools, Mapping):
        specs = [_named(name, tool) for name, tool in tools.items()]
    else:
        specs = [_as_spec(tool) for each in tools for tool in _several(each)]
    found: dict[str, ToolSpec] = {}
    for spec in specs:
        if spec.name in found:
            raise ToolDefinitionError(f"there are two tools named {spec.name!r}: rename one")
        found[spec.name] = spec.compile()
    return found


def _several(tool: Any) -> Iterable[Any]:
    """The tools that Gemini declares as one; else the tool itself."""
    if isinstance(tool, Mapping):
        for key in ("functionDeclarations", "function_declarations"):
            if isinstance(tool.get(key), list):
                declared: list[Any] = tool[key]
                return declared
    return (tool,)


def _named(name: Any, tool: Any) -> ToolSpec:
    if isinstance(tool, str) or tool is None:
        raise ToolDefinitionError(f"{name!r} is {tool!r}, not a tool: write [tool], not the tool")
    if not isinstance(tool, ToolSpec) and not _is_langchain(tool) and callable(tool):
        return ToolSpec.from_function(tool, name=name)
    spec = _as_spec(tool)
    if spec.name != name:
        raise ToolDefinitionError(f"the tool under {name!r} is named {spec.name!r}: use one name")
    return spec


def _as_spec(tool: Any) -> ToolSpec:
    if isinstance(tool, str) and tool in BUILT_IN:
        return ToolSpec.from_function(BUILT_IN[tool], effect="read_only")
    if isinstance(tool, ToolSpec):
        return tool
    if _is_langchain(tool):
        return ToolSpec.from_langchain(tool)
    if callable(tool):
        return ToolSpec.from_function(tool)
    if isinstance(tool, Mapping):
        return ToolSpec.from_schema(tool)
    raise ToolDefinitionError(
        f"{tool!r} is not a tool: pass a function, a LangChain tool, a ToolSpec or a tool's schema"
    )


def _is_langchain(tool: Any) -> bool:
    """Whether this is a LangChain tool; there is none before its module is loaded."""
    module = sys.modules.get("langchain_core.tools.base")
    return module is not None and isinstance(tool, module.BaseTool)
