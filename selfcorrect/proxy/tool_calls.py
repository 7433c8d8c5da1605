"""The policy of the proxy: a call of a tool is carried through the loop, and asks the client."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from uuid import uuid4

from selfcorrect.errors import ToolDefinitionError
from selfcorrect.integrations.mcp import list_pages, served_tool
from selfcorrect.model import JSON, JsonDict, JsonObject, name_place
from selfcorrect.pointer import keys_of
from selfcorrect.protocols import Ledger
from selfcorrect.reading.call_object import strict_json
from selfcorrect.schema.place import Place
from selfcorrect.setup import build_loop
from selfcorrect.step import Loop, awalk
from selfcorrect.text import quote, text_of
from selfcorrect.tools.spec import ToolSpec, is_usable

_MANY = 1_000_000
"""Equal calls of a tool that acts: a client may poll, so their number is no fault."""
_PRIMITIVE = {"string", "number", "integer", "boolean"}


SendParams: TypeAlias = Callable[[JsonObject], Awaitable[JsonDict]]
"""Sends the parameters of a request, and returns its result."""


@dataclass
class CallHost:
    """What one call may use.

    Attributes:
        params: The parameters of the call as the client sent them.
        send: Sends the parameters of a call to the server, and returns its result.
        ask: Sends the parameters of an elicitation to the client; None where it has none.
        result: The last result of the server that is not an error.
    """

    params: JsonObject
    send: SendParams
    ask: SendParams | None
    result: JsonDict | None = None


_HOST: ContextVar[CallHost] = ContextVar("selfcorrect_proxy_host")


class ToolCalls:
    """Carries calls of the tools that a server lists.

    Args:
        ledger: Remembers calls of tools that act.
        scope: What the ledger remembers them for.
        trust: Whether the annotations of the server count as effects.
    """

    def __init__(self, ledger: Ledger, scope: str, *, trust: bool) -> None:
        self._options = {"ledger": ledger, "limits": {"equal": _MANY, "seconds": None}}
        self._scope = scope
        self._trust = trust
        self._loop: Loop | None = None
        self._names = Counter[str]()

    @property
    def is_loaded(self) -> bool:
        """Whether the tools of the server are known."""
        return self._loop is not None

    def forget(self) -> None:
        """Forget the tools: the server says that they have changed."""
        self._loop = None

    async def load(self, page_at: Callable[[str | None], Awaitable[JsonDict]]) -> list[JsonDict]:
        """Take the tools of all pages, and return them as they are listed."""
        tools = await list_pages(page_at)
        objects = [tool for tool in tools if isinstance(tool, dict)]
        self._names = Counter(str(tool.get("name")) for tool in objects)
        self._loop = build_loop(self._specs(objects), self._options)
        return tools

    def _specs(self, tools: Iterable[JsonDict]) -> Iterable[ToolSpec]:
        for tool in tools:
            # Nobody knows which of two tools of one name the server means.
            if self._names[str(tool.get("name"))] > 1:
                continue
            try:
                spec = served_tool(tool, _send, trust=self._trust)
            except (ToolDefinitionError, LookupError, TypeError, AttributeError):
                continue
            if is_usable(spec):
                yield spec

    async def answer(self, host: CallHost) -> JsonDict:
        """Return the result of a call: the server's own, or what the model reads of its failure."""
        loop, params, ask = self._loop, host.params, host.ask
        tools = loop.context.tools if loop else {}
        name = params.get("name")
        is_other = not isinstance(name, str) or (name in self._names and name not in tools)
        if loop is None or is_other:
            # A tool whose schema cannot be read is the server's to check.
            return await host.send(params)
        _HOST.set(host)
        context = loop.context
        if ask is not None:
            context = replace(context, ask=lambda question: _ask(question, tools, ask))
        # A client may use an id twice; each of its requests is a call of its own.
        args = params.get("arguments")
        call = {"name": name, "args": {} if args is None else args, "id": uuid4().hex}
        given = {"call": call, "task_id": self._scope}
        out = await awalk(replace(loop, context=context), given)
        if failure := out.get("failure"):
            return {**_text(failure["for_model"]), "isError": True}
        return _text(text_of(out["result"])) if host.result is None else host.result


async def _send(name: str, args: JsonDict) -> JsonDict:
    host = _HOST.get()
    host.result = None
    result = await host.send({**host.params, "name": name, "arguments": args})
    if not result.get("isError"):
        host.result = result
    return result


def _text(text: str) -> JsonDict:
    return {"content": [{"type": "text", "text": text}]}


async def _ask(question: Any, tools: Any, ask: SendParams) -> JSON:
    """Ask the client's user; return the answer as `people.answers` reads it."""
    tool, keys = tools.get(question["call"]["name"]), keys_of(question["path"])
    place = tool.arguments.at(keys) if tool and keys else Place({})
    name = keys[-1] if keys else "answer"
    labels = [f"{n}: {_label(option)}" for n, option in enumerate(question["options"], 1)]
    if labels:
        field_schema: JsonDict = {"type": "string", "enum": labels}
    elif question["path"]:
        field_schema = _field(place)
    else:
        field_schema = {"type": "boolean", "title": "Run the call as it stands?"}
    text = "\n".join(filter(None, (question["question"], question.get("problem"))))
    schema = {"type": "object", "properties": {name: field_schema}, "required": [name]}
    reply = await ask({"message": text, "requestedSchema": schema})
    value = (reply.get("content") or {}).get(name)
    if reply.get("action") != "accept" or value is None:
        return {"action": "reject", "reason": "no answer was given", "question": question["id"]}
    if labels:
        answer = {"action": "choose", "choice": labels.index(value) if value in labels else value}
    elif question["path"]:
        answer = {"action": "answer", "value": _read(value, place)}
    else:
        answer = {"action": "approve" if value is True else "reject"}
    return {**answer, "question": question["id"]}


def _label(option: Any) -> str:
    if isinstance(option, dict) and "changes" in option:
        changes = option["changes"]
        return ", ".join(f"{name_place(item['path'])} = {quote(item['after'])}" for item in changes)
    return quote(option)


def _field(place: Place) -> JsonDict:
    """Return the schema of one field; elicitation has no lists and no objects.

    Listed values are options of the question, and a server's words are not shown.
    """
    is_simple = len(place.types) == 1 and place.types <= _PRIMITIVE
    name = "".join(place.types) if is_simple else "string"
    hint = {} if place.takes(name) else {"title": "as JSON"}
    return {**hint, "type": name}


def _read(value: JSON, place: Place) -> JSON:
    """Return what a text stands for where the place takes no text."""
    is_json = isinstance(value, str) and not place.takes("string")
    return strict_json(str(value)) if is_json else value
