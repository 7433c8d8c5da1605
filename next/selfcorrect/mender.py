"""`Mender` and `repair_call`: repair calls without executing them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from selfcorrect.model import JSON, Call, Change, JsonObject, call_of, change_of
from selfcorrect.setup import Options, build_loop
from selfcorrect.tools.spec import collect_tools
from selfcorrect.walk import awalk, walk


@dataclass(frozen=True, slots=True)
class Mending:
    """What became of a call that was repaired without executing it.

    Attributes:
        outcome: `valid` (nothing to do), `repaired`, `ask` (a person has to decide) or `failed`.
        calls: The calls; one that may not run stands as it came.
        ready: The calls that may run now.
        changes: What was changed, in order, with strategy, rule and safety class.
        value: The call as JSON.
        reason: Why not, where the outcome is `ask` or `failed`; a reason of `FailureReport`.
        detail: The same in a sentence.
        failure: The whole report, where there is one.
    """

    outcome: str
    calls: tuple[Call, ...] = ()
    ready: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    value: JSON = None
    reason: str | None = None
    detail: str | None = None
    failure: JsonObject | None = None


class Mender:
    """Repairs the calls that models write, and executes nothing. Built once, for any thread.

    It does not know what a tool answers, nor whether a call was made before: `build_graph` and
    `SelfCorrection` do.

    Args:
        tools: Functions, LangChain tools, schemas or `ToolSpec`s; none of them is called.
        **options: See `Options`.

    Raises:
        GraphSetupError: If a tool or an option is unusable.
        MapError: If the map is unusable.

    >>> tool = {"name": "double", "parameters": {"properties": {"n": {"type": "integer"}}}}
    >>> Mender([tool]).call({"name": "Double", "args": {"n": "21"}}).ready
    (Call(name='double', args={'n': 21}, id=None),)
    """

    def __init__(self, tools: Iterable[Any], **options: Unpack[Options]) -> None:
        specs = [replace(each, call=None) for each in collect_tools(tools, {}).values()]
        self._loop = build_loop(specs, options)

    def call(self, given: JSON, **beside: JSON) -> Mending:
        """Repair one call.

        Args:
            given: The call as an object, or the text that a model wrote.
            **beside: What is known beside it: `request`, `messages`, `finish_reason`.
        """
        return _mending(walk(self._loop, _input(given, beside)), given)

    async def acall(self, given: JSON, **beside: JSON) -> Mending:
        """Like `call`, for models and strategies that are async."""
        return _mending(await awalk(self._loop, _input(given, beside)), given)


def repair_call(given: JSON, tools: Iterable[Any], **options: Unpack[Options]) -> Mending:
    """Repair one call; see `Mender`, which is built once for many calls."""
    return Mender(tools, **options).call(given)


def _input(given: JSON, beside: JsonObject) -> JsonObject:
    return {"raw" if isinstance(given, str) else "call": given, **beside}


def _mending(out: JsonObject, given: JSON) -> Mending:
    """Return what a run of a loop that only checks came to."""
    if (failure := out.get("failure")) is not None:
        outcome = "ask" if failure["reason"] == "needs_person" else "failed"
        changes = tuple(map(change_of, failure["changes"]))
        # A call whose arguments could not be read is none that a caller could look at.
        call = failure.get("call") or {}
        calls = (call_of(call),) if isinstance(call.get("args"), dict) else ()
        reason, detail = failure["reason"], failure["detail"]
        return Mending(outcome, calls, (), changes, given, reason, detail, failure)
    changes = tuple(change_of(each) for event in out["trail"] for each in event.get("changes", ()))
    call = call_of(out["result"])
    return Mending("repaired" if changes else "valid", (call,), (call,), changes, out["result"])
