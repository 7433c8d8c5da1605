"""LangChain tools run through their own `invoke`, and nothing that they say is lost."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from langgraph.prebuilt import InjectedState, ToolRuntime
from langgraph.types import Command

from selfcorrect.errors import GraphSetupError, ToolDefinitionError, ToolReportedError
from selfcorrect.tools import ToolSpec, tool_specs


@tool
def plain(x: int, day: dt.date | None = None, at: dt.datetime | None = None) -> Any:
    """Give it back."""
    return {"x": x, "day": day}


@tool
def with_id(x: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Know the call."""
    return f"{x} {tool_call_id}"


@tool
def with_default(x: int, secret: Annotated[str, InjectedToolArg] = "d") -> str:
    """Have one more."""
    return secret


@tool(response_format="content_and_artifact")
def with_artifact(x: int) -> Any:
    """Give two things."""
    return "text", {"raw": x}


@tool
def with_state(x: int, state: Annotated[dict, InjectedState]) -> int:
    """Need a graph."""
    return x


@tool
def with_runtime(x: int, runtime: ToolRuntime) -> int:
    """Need a graph."""
    return x


@tool
async def only_async(x: int) -> int:
    """Wait."""
    return x + 1


@tool
def looks_like_a_call(type: str, count: int = 1) -> str:  # noqa: A002
    """Have unlucky names."""
    return type


@tool
def nothing() -> str:
    """Take nothing."""
    return "done"


@tool
def commands(x: int) -> Any:
    """Steer."""
    return Command(update={"x": x})


@tool
def reports(x: int) -> Any:
    """Report an error as a value."""
    return ToolMessage("it is gone", tool_call_id="1", status="error")


class Subclass(BaseTool):
    name: str = "subclass"
    description: str = "by hand"

    def _run(self, a: int, b: str = "x") -> Any:
        return [a, b]


class Failing(BaseTool):
    name: str = "failing"
    description: str = "fails"

    def _run(self, a: int) -> Any:
        raise ToolException("no such thing")


of_text = Tool(name="of_text", description="d", func=str.upper)
mcp = StructuredTool.from_function(
    lambda **arguments: arguments,
    name="mcp",
    description="from a server",
    args_schema={
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}},
        "required": ["a"],
    },
)


@pytest.mark.parametrize(
    ("langchain_tool", "args", "value"),
    [
        (plain, {"x": 1, "day": "2024-01-01"}, {"x": 1, "day": dt.date(2024, 1, 1)}),
        (with_id, {"x": 1}, "1 call-7"),
        (with_default, {"x": 1}, "d"),
        (with_artifact, {"x": 2}, {"content": "text", "artifact": {"raw": 2}}),
        (looks_like_a_call, {"type": "tool_call", "count": 3}, "tool_call"),
        (looks_like_a_call, {"type": "other"}, "other"),
        (nothing, {}, "done"),
        (commands, {"x": 1}, Command(update={"x": 1})),
        (Subclass(), {"a": 1}, [1, "x"]),
        (of_text, {"__arg1": "hi"}, "HI"),
        (mcp, {"a": 1}, {"a": 1}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_value_is_the_tools_own(langchain_tool, args, value):
    spec = ToolSpec.from_langchain(langchain_tool)
    assert spec.violations(args) == ()
    assert spec.run(args, "call-7") == value
    assert asyncio.run(spec.arun(args, "call-7")) == value
    assert not spec.is_valid({**args, "unknown": 1})


def test_the_schema_is_what_the_model_is_sent():
    assert ToolSpec.from_langchain(plain).schema["required"] == ["x"]
    for each in (with_id, with_default, with_state, with_runtime):
        assert list(ToolSpec.from_langchain(each).schema["properties"]) == ["x"]
    assert ToolSpec.from_langchain(mcp).schema == mcp.args_schema
    assert ToolSpec.from_langchain(mcp).description == "from a server"


def test_arguments_are_checked_before_pydantic_can_coerce_or_drop_them():
    spec = ToolSpec.from_langchain(plain)
    assert plain.invoke({"x": "1", "extra": 2})["x"] == 1
    texts = [finding.text for finding in spec.violations({"x": "1", "extra": 2})]
    assert texts == ["argument 'x': expected integer, got string", "unknown argument 'extra'"]


def test_a_time_without_offset_is_fine_where_pydantic_reads_it():
    args = {"at": "2024-01-01T10:00:00"}
    assert ToolSpec.from_langchain(plain).is_valid({"x": 1, **args})
    assert not ToolSpec.from_langchain(mcp).is_valid({"a": 1, **args})


def test_a_missing_call_id_is_made_up():
    value = ToolSpec.from_langchain(with_id).run({"x": 1})
    assert value.startswith("1 call_")


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        (True, "no such thing"),
        ("try again", "try again"),
        (lambda error: f"<{error}>", "<no such thing>"),
    ],
)
def test_a_handled_tool_error_is_no_success(handler, text):
    failing = Failing(handle_tool_error=handler)
    assert failing.invoke({"a": 1}) == text
    spec = ToolSpec.from_langchain(failing)
    with pytest.raises(ToolReportedError) as caught:
        spec.run({"a": 1})
    assert str(caught.value) == text
    with pytest.raises(ToolReportedError):
        asyncio.run(spec.arun({"a": 1}))


def test_it_may_be_handled_later_or_not_at_all():
    failing = Failing()
    spec = ToolSpec.from_langchain(failing)
    with pytest.raises(ToolException):
        spec.run({"a": 1})
    failing.handle_tool_error = True
    with pytest.raises(ToolReportedError):
        spec.run({"a": 1})


def test_a_handled_validation_error_is_no_success():
    handled = plain.model_copy(update={"handle_validation_error": "mend it"})
    spec = ToolSpec.from_langchain(handled)
    with pytest.raises(ToolReportedError, match="mend it"):
        spec.run({"x": "one"})
    # LangChain makes a message of it, and JSON text of what is not text.
    assert ToolSpec.from_langchain(Subclass(handle_tool_error=True)).run({"a": 1}) == '[1, "x"]'


def test_an_error_returned_as_a_message_is_raised():
    with pytest.raises(ToolReportedError, match="it is gone"):
        ToolSpec.from_langchain(reports).run({"x": 1})


def test_an_async_only_tool():
    spec = ToolSpec.from_langchain(only_async)
    assert spec.is_async
    assert asyncio.run(spec.arun({"x": 1})) == 2
    with pytest.raises(GraphSetupError, match="ainvoke"):
        spec.run({"x": 1})


@pytest.mark.parametrize(
    ("langchain_tool", "what"), [(with_state, "state"), (with_runtime, "runtime")]
)
def test_what_only_a_graph_injects(langchain_tool, what):
    spec = ToolSpec.from_langchain(langchain_tool)
    assert spec.is_valid({"x": 1})
    with pytest.raises(GraphSetupError, match=f"needs {what}, which only"):
        spec.run({"x": 1})
    with pytest.raises(GraphSetupError, match=f"needs {what}, which only"):
        asyncio.run(spec.arun({"x": 1}))


def test_callbacks_are_called():
    seen = []

    class Watch(BaseCallbackHandler):
        def on_tool_start(self, serialized, input_str, **kwargs):
            seen.append(kwargs["inputs"])

        def on_tool_end(self, output, **kwargs):
            seen.append(output)

    ToolSpec.from_langchain(Subclass(callbacks=[Watch()])).run({"a": 1})
    assert seen == [{"a": 1}, [1, "x"]]


def test_what_a_function_says_of_itself_counts_however_it_is_wrapped():
    from langchain_core.tools import StructuredTool

    def look_up(word: str) -> str:
        """Look a word up."""
        return word

    look_up.metadata = {"effect": "read_only", "verify": look_up}  # type: ignore[attr-defined]
    wrapped = ToolSpec.from_langchain(StructuredTool.from_function(look_up))
    for spec in (ToolSpec.from_function(look_up), wrapped):
        assert (spec.effect, spec.verify) == ("read_only", look_up)
    assert ToolSpec.from_function(look_up, effect="mutating").effect == "mutating"
    own = StructuredTool.from_function(look_up, metadata={"effect": "idempotent"})
    assert ToolSpec.from_langchain(own).effect == "idempotent"
    claimed = StructuredTool.from_function(look_up, metadata={"readOnlyHint": True})
    assert not ToolSpec.from_langchain(claimed).declared
    look_up.metadata = {"effect": "readonly"}  # type: ignore[attr-defined]
    with pytest.raises(ToolDefinitionError, match="did you mean 'read_only'"):
        ToolSpec.from_function(look_up)


def test_the_effect_is_in_the_metadata():
    assert ToolSpec.from_langchain(Subclass(metadata={"effect": "read_only"})).effect == "read_only"
    assert not ToolSpec.from_langchain(Subclass(metadata={"other": 1})).declared
    over = ToolSpec.from_langchain(Subclass(metadata={"effect": "read_only"}), effect="mutating")
    assert over.effect == "mutating"
    with pytest.raises(ToolDefinitionError, match="did you mean 'read_only'"):
        ToolSpec.from_langchain(Subclass(metadata={"effect": "readonly"}))


@pytest.mark.parametrize("what", [5, None, "plain", print, RunnableLambda(str)])
def test_what_is_no_langchain_tool(what):
    with pytest.raises(ToolDefinitionError, match="not a LangChain tool"):
        ToolSpec.from_langchain(what)


def test_lists_take_them_as_they_are():
    specs = tool_specs([plain, mcp])
    assert list(specs) == ["plain", "mcp"]
    with pytest.raises(ToolDefinitionError, match=r"write \[tool\]"):
        tool_specs(plain)
    with pytest.raises(ToolDefinitionError, match="is not a tool"):
        tool_specs([RunnableLambda(str)])


def test_a_function_that_only_langchain_can_call_is_refused():
    def injected(x: int, call_id: Annotated[str, InjectedToolCallId]): ...
    def runtime(x: int, runtime: ToolRuntime): ...

    for function in (injected, runtime):
        with pytest.raises(ToolDefinitionError, match="@tool"):
            ToolSpec.from_function(function)


def test_what_an_mcp_server_writes_beside_its_hints_is_no_effect():
    from langchain_core.tools import StructuredTool

    def wipe(path: str) -> str:
        """Wipe a disk."""
        return path

    claimed = {"readOnlyHint": None, "destructiveHint": None, "effect": "read_only"}
    spec = ToolSpec.from_langchain(StructuredTool.from_function(wipe, metadata=claimed))
    assert (spec.effect, spec.declared) == ("mutating", False)
    stated = ToolSpec.from_langchain(
        StructuredTool.from_function(wipe, metadata={"effect": "destructive"})
    )
    assert stated.effect == "destructive"
