"""How a LangChain tool is read and called: always through its own `invoke` and `ainvoke`."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.errors import GraphSetupError, ToolDefinitionError, ToolReportedError
from selfcorrect.model import JsonObject
from selfcorrect.tools.declarations import KEY_ARGUMENT
from selfcorrect.tools.running import Arguments, AsyncRun, Run

_ONE_TEXT: Final[JsonObject] = {
    "type": "object",
    "properties": {"__arg1": {"type": "string"}},
    "required": ["__arg1"],
}
"""What LangChain sends for its oldest kind of tool, a function of one text."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """A LangChain tool in the parts that a `ToolSpec` is made of.

    Attributes:
        takes_key: Whether it has an injected argument for the idempotency key.
    """

    schema: JsonObject
    takes_key: bool
    run: Run
    arun: AsyncRun


def adapted(tool: Any) -> Adapted:
    """Read a LangChain tool.

    Raises:
        ToolDefinitionError: If it is none, or cannot say what it takes.
    """
    from langchain_core.tools import BaseTool

    if not isinstance(tool, BaseTool):
        raise ToolDefinitionError(
            f"{tool!r} is not a LangChain tool (a Runnable's as_tool() makes one)"
        )
    try:
        schema = _schema(tool)
        call_ids, others, takes_key = _injected(tool)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:300]
        raise ToolDefinitionError(f"tool {tool.name!r} cannot say what it takes: {why}") from error

    def prepared(args: Arguments, call_id: str | None) -> Arguments:
        if others:
            raise GraphSetupError(
                f"tool {tool.name!r} needs {', '.join(others)}, which only LangGraph's ToolNode "
                "injects: run it there, with selfcorrect around it"
            )
        if not call_ids and not _needs_message(tool) and args.get("type") != "tool_call":
            return args
        call_id = call_id or f"call_{uuid.uuid4().hex}"
        return {"type": "tool_call", "name": tool.name, "args": args, "id": call_id}

    def run(args: Arguments, call_id: str | None) -> Any:
        return _value(tool.invoke(prepared(args, call_id)))

    async def arun(args: Arguments, call_id: str | None) -> Any:
        return _value(await tool.ainvoke(prepared(args, call_id)))

    return Adapted(schema, takes_key, run, arun)


def _schema(tool: Any) -> JsonObject:
    from langchain_core.tools import Tool

    if isinstance(tool, Tool) and not tool.args_schema:
        return _ONE_TEXT
    model = tool.tool_call_schema
    if isinstance(model, Mapping):
        schema = dict(model)
    else:
        schema = (getattr(model, "model_json_schema", None) or model.schema)()
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _injected(tool: Any) -> tuple[list[str], list[str], bool]:
    """The parameters that take the call's id, the others, and whether one takes the key."""
    from langchain_core.tools import InjectedToolCallId

    if isinstance(tool.args_schema, dict):
        fields: Mapping[str, Any] = {}
        shown: Any = ()
    else:
        fields = getattr(tool.get_input_schema(), "model_fields", {})
        shown = getattr(tool.tool_call_schema, "model_fields", {})
    hidden = {name: each for name, each in fields.items() if name not in shown}
    call_ids = [
        name
        for name, each in hidden.items()
        for mark in (getattr(each, "annotation", None), *getattr(each, "metadata", ()))
        if mark is InjectedToolCallId or isinstance(mark, InjectedToolCallId)
    ]
    others = [name for name, each in hidden.items() if each.is_required() and name not in call_ids]
    others += [name for name in _injected_by_signature(tool) if name not in fields]
    return call_ids, [name for name in others if name != KEY_ARGUMENT], KEY_ARGUMENT in hidden


def _injected_by_signature(tool: Any) -> list[str]:
    """Parameters such as `runtime: ToolRuntime`, which the schema does not have at all."""
    names = getattr(tool, "_injected_args_keys", ())
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or tool._run  # noqa: SLF001
    parameters = inspect.signature(function).parameters
    return sorted(
        name
        for name in names
        if name not in parameters or parameters[name].default is inspect.Parameter.empty
    )


def _needs_message(tool: Any) -> bool:
    """Whether only a message, the answer to a whole tool call, tells all that the tool says."""
    return bool(
        tool.handle_tool_error
        or tool.handle_validation_error
        or tool.response_format == "content_and_artifact"
    )


def is_async_only(tool: Any) -> bool:
    """Whether a LangChain tool has nothing to call but a coroutine."""
    has_both = hasattr(tool, "func") and hasattr(tool, "coroutine")
    return has_both and tool.func is None and tool.coroutine is not None


def _value(result: Any) -> Any:
    """The tool's value out of what `invoke` returned.

    Raises:
        ToolReportedError: If it is a message that reports an error.
    """
    from langchain_core.messages import ToolMessage

    if not isinstance(result, ToolMessage):
        return result
    if result.status == "error":
        raise ToolReportedError(str(result.text))
    if result.artifact is not None:
        return {"content": result.content, "artifact": result.artifact}
    return result.content
