"""What the integrations of other frameworks share: menders by the tools of a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.batch.mended import Mended, MendedCall
from selfcorrect.batch.mender import Mender
from selfcorrect.errors import GraphSetupError, SelfCorrectError
from selfcorrect.forms.access import Path, put
from selfcorrect.integrations.asked import Asked
from selfcorrect.loop.context import Live
from selfcorrect.loop.setup import tell_left_out
from selfcorrect.routing import EXECUTE
from selfcorrect.tools import ToolSpec

_MOST_SETS: Final = 64


@dataclass(frozen=True, slots=True)
class Items:
    """How a framework writes the parts of an answer.

    Attributes:
        is_call: Whether a part is a call that the framework would run.
        id: The way to a call's id.
        name: The way to its tool's name.
        args: The way to its arguments.
        texts: The texts that a part holds.
        made: A part of a call that stood in the text: of its name and its arguments.
    """

    is_call: Callable[[Any], bool]
    id: Path
    name: Path
    args: Path
    texts: Callable[[Any], Sequence[str]]
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
        self._known = Live[Mender](_MOST_SETS)
        Mender((), **options)
        if EXECUTE in (options.get("before") or ()):
            # What a guard here refuses, the framework would execute as the model wrote it.
            raise GraphSetupError("before={'execute': …}: the framework executes, and asks nobody")

    def of(self, tools: Iterable[Mapping[str, Any]]) -> Mender:
        """The mender of these tools, each `{"name", "description", "parameters"}`."""
        listed = list(tools)
        key = json.dumps(listed, default=str)
        found = self._known.of(key)
        if found is None:
            found = Mender({tool["name"]: _usable(tool) for tool in listed}, **self._options)
            self._known.keep(key, found)
        return found

    async def answer(self, asked: Asked, parts: Sequence[Any], items: Items) -> list[Any]:
        """The parts of an answer with every call mended; what cannot be mended stays as it is.

        An answer that makes no calls may have them in its text: they stand after it then. Parts
        are copied where they change, and nothing of them is lost.

        Args:
            asked: The request, and how its answer ended.
            parts: The parts of the answer.
            items: How they are written.
        """
        mender, given = self._given(asked, parts, items)
        done = None if given is None else await mender.amessage(given, **_facts(asked))
        return _taken(done, asked, parts, items)

    def answer_now(self, asked: Asked, parts: Sequence[Any], items: Items) -> list[Any]:
        """Like `answer`, for a framework that is not async."""
        mender, given = self._given(asked, parts, items)
        done = None if given is None else mender.message(given, **_facts(asked))
        return _taken(done, asked, parts, items)

    def _given(self, asked: Asked, parts: Sequence[Any], items: Items) -> tuple[Mender, Any]:
        """Who mends an answer, and what of it; None where there is nothing to mend."""
        mender = self.of(asked.tools)
        return mender, _given(asked, parts, items) if mender.tools else None


def _facts(asked: Asked) -> dict[str, Any]:
    allows = asked.allows
    return {
        "finish_reason": allows.finish_reason,
        "tool_choice": allows.tool_choice,
        "answer": allows.answer,
    }


def _given(asked: Asked, parts: Sequence[Any], items: Items) -> Any:
    """The calls of an answer as a mender takes them, or all that it says as one text."""
    calls = [part for part in parts if _is_ours(asked, part, items)]
    if calls:
        ways = {"id": items.id, "name": items.name, "args": items.args}
        made = [{key: _at(call, way) for key, way in ways.items()} for call in calls]
        return {"tool_calls": [{**call, "name": call["name"] or ""} for call in made]}
    # Whatever else it says stands around a call, in whichever part that is.
    texts = [text for part in parts for text in items.texts(part) if text.strip()]
    return "\n".join(texts) or None


def _is_ours(asked: Asked, part: Any, items: Items) -> bool:
    """Whether a part is a call for the framework to run, and nobody has answered it yet."""
    if not items.is_call(part):
        return False
    return not {_at(part, items.id), _at(part, items.name)} & asked.settled


def _taken(done: Mended | None, asked: Asked, parts: Sequence[Any], items: Items) -> list[Any]:
    """The parts with what a mender made of them."""
    out = list(parts)
    if done is None:
        return out
    ours = [place for place, part in enumerate(parts) if _is_ours(asked, part, items)]
    # Unless every call has its own answer, nobody knows whose it is: then all stay as they came.
    if ours and len(ours) == len(done.calls):
        for place, call in zip(ours, done.calls, strict=True):
            out[place] = _mended(parts[place], call, items)
    if ours:
        return out
    last = max(place for place, part in enumerate(parts) if "".join(items.texts(part)).strip())
    out[last + 1 : last + 1] = [items.made(call.name, dict(call.args)) for call in done.ready]
    return out


def _mended(part: Any, call: MendedCall, items: Items) -> Any:
    """A copy of a call as it was mended, its arguments in the form in which they came."""
    if call.outcome != "repaired" or call.args is None:
        return part
    came = _at(part, items.args)
    args = json.dumps(call.args, ensure_ascii=False) if isinstance(came, str) else dict(call.args)
    return put(put(part, items.name, call.name), items.args, args)


def _at(part: Any, path: Path) -> Any:
    for key in path:
        part = getattr(part, str(key))
    return part


def _usable(tool: Mapping[str, Any]) -> ToolSpec:
    """The tool, or one of its name that takes anything: its calls are not ours to judge."""
    try:
        return ToolSpec.from_schema(tool).compile()
    except SelfCorrectError as why:
        tell_left_out(tool["name"], why)
        anything = {"type": "object", "additionalProperties": True}
        return ToolSpec.from_schema({"name": tool["name"], "parameters": anything})
