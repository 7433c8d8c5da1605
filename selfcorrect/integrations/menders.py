"""What the integrations of other frameworks share: menders by the tools of a request."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, TypeAlias
from uuid import uuid4

from selfcorrect.batch.mended import Mended
from selfcorrect.batch.mender import Mender
from selfcorrect.errors import GraphSetupError, SelfCorrectError
from selfcorrect.loop.setup import tell_left_out
from selfcorrect.routing import EXECUTE
from selfcorrect.tools import ToolSpec

_MOST_SETS: Final = 64

Written: TypeAlias = tuple[Any, str | None, Any]
"""Id, name and arguments of a call as a model wrote it."""


@dataclass(frozen=True, slots=True)
class Items:
    """How a framework writes the parts of an answer.

    Attributes:
        call: The call that a part is, or None.
        text: The text that a part is, or None.
        changed: A part with another name and other arguments.
        made: A part of a call that stood in the text: of its name and its arguments.
    """

    call: Callable[[Any], Written | None]
    text: Callable[[Any], str | None]
    changed: Callable[[Any, str, dict[str, Any]], Any]
    made: Callable[[str, dict[str, Any]], Any]


class Menders:
    """Menders for the tools of each request, built once per set; safe for threads.

    Args:
        options: Those of `Mender`.

    Raises:
        GraphSetupError: If an option is unusable.
        MapError: If the map is unusable.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._known: OrderedDict[str, Mender] = OrderedDict()
        self._lock = Lock()
        Mender((), **options)
        if EXECUTE in (options.get("before") or ()):
            # What a guard here refuses, the framework would execute as the model wrote it.
            raise GraphSetupError("before={'execute': …}: the framework executes, and asks nobody")

    def of(self, tools: Iterable[Mapping[str, Any]]) -> Mender:
        """The mender of these tools, each `{"name", "description", "parameters"}`."""
        listed = list(tools)
        key = json.dumps(listed, default=str)
        with self._lock:
            found = self._known.get(key)
        if found is None:
            found = Mender({tool["name"]: _usable(tool) for tool in listed}, **self._options)
            with self._lock:
                self._known[key] = found
                while len(self._known) > _MOST_SETS:
                    self._known.popitem(last=False)
        return found

    async def answer(
        self,
        tools: Iterable[Mapping[str, Any]],
        parts: Sequence[Any],
        items: Items,
        finish_reason: Any = None,
    ) -> list[Any]:
        """The parts of an answer with every call mended; what cannot be mended stays as it is.

        An answer that makes no calls may have them in its text.

        Args:
            tools: The tools of the request.
            parts: The parts of the answer.
            items: How they are written.
            finish_reason: Why the model stopped.
        """
        mender, given = self.of(tools), _given(parts, items)
        if given is None or not mender.tools:
            return list(parts)
        return _taken(
            await mender.amessage(given, finish_reason=_said(finish_reason)), parts, items
        )

    def answer_now(
        self, tools: Iterable[Mapping[str, Any]], parts: Sequence[Any], items: Items
    ) -> list[Any]:
        """Like `answer`, for a framework that is not async."""
        mender, given = self.of(tools), _given(parts, items)
        if given is None or not mender.tools:
            return list(parts)
        return _taken(mender.message(given), parts, items)


def new_id() -> str:
    """An id for a call that stood in a text."""
    return f"call_{uuid4().hex[:24]}"


def _given(parts: Sequence[Any], items: Items) -> Any:
    """The calls of an answer as a mender takes them, or its one text."""
    calls = [call for part in parts if (call := items.call(part)) is not None]
    if calls:
        made = [{"id": id_, "name": name or "", "args": args} for id_, name, args in calls]
        return {"tool_calls": made}
    texts = [text for part in parts if (text := items.text(part)) and text.strip()]
    return texts[0] if len(texts) == 1 else None


def _taken(done: Mended, parts: Sequence[Any], items: Items) -> list[Any]:
    """The parts with what a mender made of them."""
    out: list[Any] = []
    calls, moved = iter(done.calls), isinstance(done.value, str) and bool(done.ready)
    for part in parts:
        if items.call(part) is not None:
            call = next(calls)
            args = None if call.outcome != "repaired" else call.args
            out.append(part if args is None else items.changed(part, call.name, dict(args)))
        elif moved and (items.text(part) or "").strip():
            out += [items.made(call.name, dict(call.args)) for call in done.ready]
        else:
            out.append(part)
    return out


def _said(reason: Any) -> str | None:
    return None if reason is None else str(getattr(reason, "value", reason))


def _usable(tool: Mapping[str, Any]) -> ToolSpec:
    """The tool, or one of its name that takes anything: its calls are not ours to judge."""
    try:
        return ToolSpec.from_schema(tool).compile()
    except SelfCorrectError as why:
        tell_left_out(tool["name"], why)
        anything = {"type": "object", "additionalProperties": True}
        return ToolSpec.from_schema({"name": tool["name"], "parameters": anything})
