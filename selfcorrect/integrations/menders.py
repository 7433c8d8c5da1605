"""What the integrations of other frameworks share: the facts of a request, menders, wrappers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from typing import Any, ClassVar, Final, get_origin

from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter

from selfcorrect.batch.mended import Mended, MendedCall
from selfcorrect.batch.mender import Mender
from selfcorrect.errors import GraphSetupError, SelfCorrectError
from selfcorrect.forms.access import Path, dumped, put
from selfcorrect.forms.endings import is_marked_refused, reasons_said
from selfcorrect.kernel.metadata import is_silent
from selfcorrect.kernel.requests import REFUSED, Request, is_refusal, runs_elsewhere, why_no_call
from selfcorrect.loop.failures import Live
from selfcorrect.loop.setup import tell_left_out
from selfcorrect.model import JSON
from selfcorrect.plain import plain
from selfcorrect.routing import EXECUTE
from selfcorrect.tools import ToolSpec
from selfcorrect.tools.gemini import as_json_schema

_MOST_SETS: Final = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a model, in the words of no framework.

    Attributes:
        tools: The tools that the framework runs, each `{"name", "description", "parameters"}`.
        allows: What it allows its answer to be, and how that ended.
        settled: Names that the framework does not run, and ids of calls that are answered.
    """

    tools: tuple[Mapping[str, Any], ...]
    allows: Request
    settled: frozenset[Any]

    def ended(self, reason: Any = None, *said: Any) -> Asked:
        """The same request, with how its answer ended.

        Args:
            reason: Why the model stopped, in the framework's word.
            said: Objects of the provider that may say so, or mark a refusal.
        """
        told = [] if reason is None else [str(getattr(reason, "value", reason))]
        for each in said:
            told += [REFUSED] if is_marked_refused(each) else []
            told += reasons_said(each)
        # A refusal anywhere counts: nothing of such an answer is to happen.
        why = next(filter(is_refusal, told), next(iter(told), None))
        return replace(self, allows=replace(self.allows, finish_reason=why))


def asked(
    tools: Iterable[Mapping[str, Any]],
    tool_choice: Any = None,
    answer: Any = None,
    settled: Collection[Any] = (),
) -> Asked:
    """A request, from what a framework has of it.

    Args:
        tools: The tools that the framework runs.
        tool_choice: What the request says of calls, in any provider's form.
        answer: The form that the answer is to have: a schema, a type or a response format; True
            where there is one that nobody can check.
        settled: Names and ids of calls that are not the framework's to run.
    """
    allows = Request(plain(tool_choice), None, _form(answer))
    return Asked(tuple(tools), allows, frozenset(settled) - {None})


def _form(answer: Any) -> JSON:
    """A form of an answer as plain JSON, with its schema as JSON Schema."""
    if isinstance(answer, type) or get_origin(answer) is not None:
        try:
            return TypeAdapter(answer).json_schema()
        except (PydanticUserError, PydanticUndefinedAnnotation):
            return True  # there is a form, though nobody can check it
    return plain(as_json_schema(dumped(answer)))


@dataclass(frozen=True, slots=True)
class Items:
    """How a framework writes the parts of an answer; by default as a chat completion does.

    Attributes:
        is_call: Whether a part is a call that the framework would run.
        made: A part of a call that stood in the text: of its name and its arguments.
        id: The way to a call's id.
        name: The way to its tool's name.
        args: The way to its arguments.
        said: What a part says aloud: its texts, and whatever is no text as it is.
    """

    is_call: Callable[[Any], bool]
    made: Callable[[str, dict[str, Any]], Any]
    id: Path = ("id",)
    name: Path = ("function", "name")
    args: Path = ("function", "arguments")
    said: Callable[[Any], Sequence[Any]] = lambda part: [part]


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
        self._known = Live[Mender | None](None, _MOST_SETS)
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

    async def within(self, request: Asked, whole: Any, key: str, items: Items) -> Any:
        """A copy of what holds the parts of an answer under a key, with its calls mended."""
        return put(whole, (key,), await self.answer(request, getattr(whole, key), items))

    async def answer(self, request: Asked, parts: Sequence[Any], items: Items) -> list[Any]:
        """The parts of an answer with every call mended; what cannot be mended stays as it is.

        An answer that makes no calls may have them in its text: they stand after it then. Parts
        are copied where they change, and nothing of them is lost. Where the request allows no call,
        or the provider refused the answer, its calls are left out: the framework would run them.

        Args:
            request: What was asked, and how its answer ended.
            parts: The parts of the answer.
            items: How they are written.
        """
        given = _given(request, parts, items)
        done = await self.of(request.tools).amessage(given, **asdict(request.allows))
        return _taken(done, request, parts, items)

    def answer_now(self, request: Asked, parts: Sequence[Any], items: Items) -> list[Any]:
        """Like `answer`, for a framework that is not async."""
        given = _given(request, parts, items)
        done = self.of(request.tools).message(given, **asdict(request.allows))
        return _taken(done, request, parts, items)


def _given(request: Asked, parts: Sequence[Any], items: Items) -> Any:
    """The calls of an answer as a mender takes them, or all that it says as one text."""
    if not request.tools:
        return ""
    calls = [part for part in parts if _is_ours(request, part, items)]
    if calls:
        ways = {"id": items.id, "name": items.name, "args": items.args}
        made = [{key: _at(call, way) for key, way in ways.items()} for call in calls]
        return {"tool_calls": [{**call, "name": call["name"] or ""} for call in made]}
    # Whatever else it says stands around a call, in whichever part and form that is.
    said = [each for part in parts for each in _said(part, items)]
    return "\n".join(said) if all(isinstance(each, str) for each in said) else ""


def _said(part: Any, items: Items) -> list[Any]:
    return [each for each in items.said(part) if not is_silent(each)]


def _is_ours(request: Asked, part: Any, items: Items) -> bool:
    """Whether a part is a call for the framework to run, and nobody has answered it yet."""
    # What a service has done itself is only told here: the framework must not do it again.
    if not items.is_call(part) or runs_elsewhere(part):
        return False
    return not {_at(part, items.id), _at(part, items.name)} & request.settled


def _taken(done: Mended, request: Asked, parts: Sequence[Any], items: Items) -> list[Any]:
    """The parts with what a mender made of them."""
    out = list(parts)
    ours = [place for place, part in enumerate(parts) if _is_ours(request, part, items)]
    # Unless every call has its own answer, nobody knows whose it is: then all stay as they came.
    if ours and len(ours) == len(done.calls):
        for place, call in zip(ours, done.calls, strict=True):
            out[place] = _mended(parts[place], call, items)
    if ours:
        offered = [tool["name"] for tool in request.tools]
        for place in reversed(ours):
            name = _at(parts[place], items.name)
            if why_no_call(request.allows, names=[name], offered=offered):
                del out[place]
        return out
    if not done.ready:
        return out
    last = max(place for place, part in enumerate(parts) if _said(part, items))
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


class Delegating:
    """Hands everything on to the wrapped object that no subclass defines.

    Stands before the framework's own class among the bases: what that class defines is the wrapped
    object's to answer, too.

    Args:
        wrapped: The object: a model, whose calls `_menders` mend.
        options: Those of `Mender`.
    """

    KEPT: ClassVar[str] = "__"
    """How the names begin that the wrapper's own bases answer."""

    def __init__(self, wrapped: Any, **options: Any) -> None:
        vars(self).update(_menders=Menders(**options), _wrapped=wrapped)

    def __getattribute__(self, name: str) -> Any:
        if _is_own(self, name):
            return object.__getattribute__(self, name)
        return getattr(vars(self)["_wrapped"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        is_wrappeds = not _is_own(self, name) and hasattr(vars(self)["_wrapped"], name)
        if is_wrappeds:
            setattr(vars(self)["_wrapped"], name, value)
        else:
            object.__setattr__(self, name, value)


def _is_own(wrapper: Delegating, name: str) -> bool:
    """Whether the wrapper has this of its own; before it wraps anything, all is."""
    kind, own = type(wrapper), object.__getattribute__(wrapper, "__dict__")
    if name.startswith(kind.KEPT) or name in own or "_wrapped" not in own:
        return True
    changed = takewhile(lambda base: base is not Delegating, kind.__mro__)
    return any(name in vars(base) for base in changed)
