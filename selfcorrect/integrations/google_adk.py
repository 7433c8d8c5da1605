"""google-adk: a plugin that mends calls before ADK looks them up and runs them."""

from __future__ import annotations

from typing import Any, Final
from weakref import finalize

from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.genai.types import FunctionCall, Part

from selfcorrect.forms.access import dumped
from selfcorrect.integrations.menders import Asked, Items, Menders, asked

_PARTS: Final = Items(
    lambda p: p.function_call is not None,
    lambda name, args: Part(function_call=FunctionCall(name=name, args=args)),
    ("function_call", "id"),
    ("function_call", "name"),
    ("function_call", "args"),
    lambda p: [p.text if p.text and not p.thought else dumped(p)],
)


class MendingPlugin(BasePlugin):
    """`App(name=…, root_agent=…, plugins=[MendingPlugin()])`; `options` are those of `Mender`."""

    def __init__(self, name: str = "selfcorrect", **options: Any) -> None:
        super().__init__(name=name)
        self._menders, self._asked = Menders(**options), dict[int, Asked]()

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Note what the model is asked, for as long as this call of it lives."""
        config, event = llm_request.config, callback_context.actions
        # Beside tools the form of the answer may be that of ADK's own tool.
        own = getattr(llm_request.tools_dict.get("set_model_response"), "output_schema", None)
        form = own or config.response_json_schema or config.response_schema
        is_json = config.response_mime_type == "application/json"
        self._asked[id(event)] = asked(_offered(config), config.tool_config, form or is_json)
        finalize(event, self._asked.pop, id(event), None)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Mend what it answers, once it is whole."""
        request, content = self._asked.get(id(callback_context.actions)), llm_response.content
        if request is not None and content and content.parts and not llm_response.partial:
            request = request.ended(llm_response.finish_reason or llm_response.error_code)
            llm_response.content = await self._menders.within(request, content, "parts", _PARTS)

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, **_: Any) -> Any:
        """Mend what comes here unmended, and refuse what cannot be: ADK itself checks no values."""
        request = LlmRequest()
        request.append_tools([tool])
        # What declares nothing was never offered: without a tool there is no such call.
        mender = self._menders.of(_offered(request.config))
        done = await mender.acall({"name": tool.name, "args": tool_args})
        if not done.ready:
            return {"error": done.calls[0].for_model if done.calls else done.detail}
        mended = dict(done.ready[0].args)
        tool_args.clear()
        tool_args.update(mended)
        return None


def _offered(config: Any) -> list[dict[str, Any]]:
    held = [getattr(tool, "function_declarations", None) or () for tool in config.tools or ()]
    return [one.model_dump(mode="json", exclude_none=True) for each in held for one in each]
