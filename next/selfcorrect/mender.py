"""`Mender` and `repair_call`: repair calls without executing them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack

from selfcorrect.model import JSON, Call, Change, JsonObject, call_of, change_of
from selfcorrect.reading.call_object import strict_json
from selfcorrect.reading.choose import Chosen, read_text
from selfcorrect.setup import Options, build_loop
from selfcorrect.tools.spec import collect_tools
from selfcorrect.walk import awalk, walk

_OUTCOMES: Final = ("valid", "repaired", "ask", "failed")
"""From the best to the worst."""


@dataclass(frozen=True, slots=True)
class Mending:
    """What became of a call that was repaired without executing it.

    Attributes:
        outcome: `valid` (nothing to do), `repaired`, `ask` (a person has to decide) or `failed`.
        calls: The calls; one that may not run stands as it came.
        ready: The calls that may run now.
        changes: What was changed, in order, with strategy, rule and safety class.
        value: The call as JSON; a list where several came.
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
        """Repair a call. Of several in one text, all may run or none; of a list, each by itself.

        Args:
            given: The call as an object, a list of them, or the text that a model wrote.
            **beside: What is known beside it: `request`, `messages`, `finish_reason`.
        """
        inputs = self._inputs(given, beside)
        return _join([_mending(walk(self._loop, each), each.get("call")) for each in inputs], given)

    async def acall(self, given: JSON, **beside: JSON) -> Mending:
        """Like `call`, for models and strategies that are async."""
        inputs = self._inputs(given, beside)
        return _join(
            [_mending(await awalk(self._loop, each), each.get("call")) for each in inputs], given
        )

    def message(self, message: JsonObject, **beside: JSON) -> Mending:
        """Repair the calls of an assistant's message in OpenAI's form; each by itself."""
        return self.call(message.get("tool_calls") or message.get("content") or "", **beside)

    def _inputs(self, given: JSON, beside: JsonObject) -> list[JsonObject]:
        """Return what a run takes for each call."""
        if isinstance(given, list):
            return [{"raw" if isinstance(each, str) else "call": each, **beside} for each in given]
        if not isinstance(given, str):
            return [{"call": given, **beside}]
        one = {"raw": given, **beside}
        count = _count_calls(given, self._loop.context.offers)
        return [{**one, "index": index} for index in range(count)] if count > 1 else [one]


def repair_call(given: JSON, tools: Iterable[Any], **options: Unpack[Options]) -> Mending:
    """Repair one call; see `Mender`, which is built once for many calls."""
    return Mender(tools, **options).call(given)


def _count_calls(text: str, offers: Callable[[str], bool]) -> int:
    if isinstance(strict_json(text), dict):
        return 1
    chosen = read_text(text, offers)
    return len(chosen.calls) if isinstance(chosen, Chosen) else 1


def _mending(out: JsonObject, given: JSON) -> Mending:
    """Return what a run of a loop that only checks came to."""
    if (failure := out.get("failure")) is not None:
        outcome = "ask" if failure["reason"] == "needs_person" else "failed"
        changes = tuple(map(change_of, failure["changes"]))
        # A call whose arguments could not be read is none that a caller could look at.
        call = failure.get("call") or {}
        calls = (call_of(call),) if isinstance(call.get("args"), dict) else ()
        reason, detail = failure["reason"], failure["detail"]
        return Mending(
            outcome, calls, (), changes, failure.get("original"), reason, detail, failure
        )
    changes = tuple(change_of(each) for event in out["trail"] for each in event.get("changes", ()))
    call = call_of(out["result"])
    if not changes and isinstance(given, dict) and given.get("args") == call.args:
        # What is valid comes back as the same object.
        call = replace(call, args=given["args"])
    return Mending("repaired" if changes else "valid", (call,), (call,), changes, out["result"])


def _join(found: list[Mending], given: JSON) -> Mending:
    """Return what became of all calls: the worst outcome, and its reason."""
    if len(found) == 1:
        return found[0]
    if not found:
        return Mending("valid", value=[])
    worst = max(found, key=lambda each: _OUTCOMES.index(each.outcome))
    is_held = isinstance(given, str) and worst.outcome not in ("valid", "repaired")
    return replace(
        worst,
        calls=tuple(call for each in found for call in each.calls),
        ready=() if is_held else tuple(call for each in found for call in each.ready),
        changes=tuple(change for each in found for change in each.changes),
        value=[each.value for each in found],
    )
