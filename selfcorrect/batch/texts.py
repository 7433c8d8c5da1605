"""Several calls in one text, each taken through a loop of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from selfcorrect.batch.checking import Checked, checked
from selfcorrect.batch.mended import MendedCall
from selfcorrect.json_forms import call_to_json
from selfcorrect.loop.context import RunContext
from selfcorrect.loop.judging import Judged, judged
from selfcorrect.loop.loop import Loop
from selfcorrect.model import Call, Changed, Finding
from selfcorrect.pointer import apply
from selfcorrect.protocols import RepairContext

if TYPE_CHECKING:
    from selfcorrect.repairs.fix_json import FixJson

CALL_SIGNS: Final = re.compile(r"[({<]")
"""A text without one of these holds no call in any format."""
_MALFORMED: Final = Finding("several calls", ("MalformedCall",), code="malformed_json")


@dataclass(frozen=True, slots=True)
class OfText:
    """What became of a text.

    Attributes:
        calls: What became of each call in it.
        whole: What became of the text, where it could not be taken apart.
        model_calls: How often a model was asked.
    """

    calls: tuple[MendedCall, ...] = ()
    whole: MendedCall | None = None
    model_calls: int = 0


async def mend_text(loop: Loop, raw: str, given: Mapping[str, Any], context: RunContext) -> OfText:
    """Mend the call in a text, or all of them; one that may not be read so refuses them all."""
    run = await checked(loop, {"raw": raw, **given}, context)
    if not run.holds_several():
        return _of_one(run)
    reader = _reader(context)
    read = () if reader is None else reader.each(raw, _known(context, given))
    if reader is None or len(read) < 2:
        return _of_one(run)
    found = [_marked(changed, reader, raw, given, context) for changed in read]
    made = [one.changes for one in found]
    if why := _refused(found, raw, context):
        detail = f"the text holds {len(read)} calls, of which one may not be read so: {why}"
        return OfText(whole=replace(run.call(), detail=detail), model_calls=run.model_calls)
    calls = [apply(Call("", raw=raw), changes) for changes in made]
    beside = {**given, "written": raw}
    runs = [await checked(loop, {"call": call_to_json(call), **beside}, context) for call in calls]
    mended = tuple(
        done.call(before, name=call.name, call_id=call.id)
        for done, before, call in zip(runs, made, calls, strict=True)
    )
    return OfText(mended, model_calls=sum(done.model_calls for done in runs))


def _of_one(run: Checked) -> OfText:
    call = run.call()
    if call.args is None and call.partial is None:
        return OfText(whole=call, model_calls=run.model_calls)
    return OfText((call,), model_calls=run.model_calls)


def _reader(context: RunContext) -> FixJson | None:
    """What the map reads malformed calls with, if it lets rules read them."""
    from selfcorrect.repairs.fix_json import FixJson

    finding = context.strategies.decide(_MALFORMED)
    rungs = (context.strategies.strategy(finding.rule or "", name) for name in finding.ladder)
    return next((rung for rung in rungs if isinstance(rung, FixJson)), None)


def _known(context: RunContext, given: Mapping[str, Any]) -> RepairContext:
    return RepairContext(
        tools=context.tools,
        request=given.get("request"),
        finish_reason=given.get("finish_reason"),
        messages=tuple(given.get("messages") or ()),
        reading=context.strategies.reading,
    )


def _marked(
    changed: Changed, reader: FixJson, raw: str, given: Mapping[str, Any], context: RunContext
) -> Judged:
    """The changes that make a text one of its calls, with the class that the kernel gives them."""
    rule = context.strategies.decide(_MALFORMED).rule
    made = [replace(item, strategy=reader.name, rule=rule) for item in changed.changes]
    text, rungs, state = Call("", raw=raw), {reader.name: reader}, {"given": given}
    ask = partial(judged, text, apply(text, made), made, (), rungs, cast("Any", state))
    return ask(context, extents=changed.extents)


def _refused(made: Sequence[Judged], raw: str, context: RunContext) -> str | None:
    """Why the policy does not let these changes run unasked: a run carries one call only."""
    whys: set[str] = set()
    for one in made:
        tool = context.tools.get(apply(Call("", raw=raw), one.changes).name)
        allowed = context.strategies.allowed(one.changes[0].rule)
        refusals = context.safety.refusals(one.changes, context.tools, tool, allowed)
        whys.update(one.words or why for _, why in refusals)
    return "; ".join(sorted(whys)) or None
