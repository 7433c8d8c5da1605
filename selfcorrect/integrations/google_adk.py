"""google-adk: a plugin that mends calls before ADK looks them up and runs them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from google.adk.plugins.base_plugin import BasePlugin
from google.genai.types import FunctionCall, Part

from selfcorrect.integrations.menders import Items, Menders

_MOST: Final = 1_000
_PARTS: Final = Items(
    lambda p: (
        (p.function_call.id, p.function_call.name, p.function_call.args or {})
        if p.function_call
        else None
    ),
    lambda p: None if p.thought else p.text,
    lambda p, name, args: p.model_copy(
        update={"function_call": FunctionCall(id=p.function_call.id, name=name, args=args)}
    ),
    lambda name, args: Part(function_call=FunctionCall(name=name, args=args)),
)


class MendingPlugin(BasePlugin):
    """`App(name=…, root_agent=…, plugins=[MendingPlugin()])`; `options` are those of `Mender`."""

    def __init__(self, name: str = "selfcorrect", **options: Any) -> None:
        super().__init__(name=name)
        self._menders, self._asked = Menders(**options), OrderedDict[tuple[str, str], list[Any]]()

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Note which tools the model is offered."""
        declared = [
            getattr(t, "function_declarations", None) for t in llm_request.config.tools or ()
        ]
        tools = [
            one.model_dump(mode="json", exclude_none=True)
            for each in declared
            for one in each or ()
        ]
        self._asked[callback_context.invocation_id, callback_context.agent_name] = tools
        while len(self._asked) > _MOST:
            self._asked.popitem(last=False)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Mend what it answers, once it is whole."""
        tools = self._asked.get((callback_context.invocation_id, callback_context.agent_name))
        content, reason = llm_response.content, llm_response.finish_reason
        if tools and content and content.parts and not llm_response.partial:
            content.parts = await self._menders.answer(tools, content.parts, _PARTS, reason)

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        """Refuse what could not be mended: ADK itself checks no values."""
        tools = self._asked.get((tool_context.invocation_id, tool_context.agent_name)) or ()
        if not any(each["name"] == tool.name for each in tools):
            return None
        done = await self._menders.of(tools).acall({"name": tool.name, "args": tool_args})
        return None if done.outcome == "valid" else {"error": done.calls[0].for_model}
