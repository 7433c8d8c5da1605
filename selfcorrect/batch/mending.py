"""Mends every call in a value for itself, whatever its form, and puts it back there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from selfcorrect.batch.checking import checked
from selfcorrect.batch.mended import WORSE, Mended, MendedCall
from selfcorrect.batch.texts import CALL_SIGNS, mend_text
from selfcorrect.batch.written import WANTED, One, Unusable, Written, cut_off, written
from selfcorrect.forms.texts import call_id
from selfcorrect.json_forms import finding_to_json, to_json
from selfcorrect.kernel.metadata import ended
from selfcorrect.kernel.requests import NOT_ALLOWED, Request, is_refusal, why_no_call
from selfcorrect.kernel.standing import said_beside
from selfcorrect.loop.context import RunContext, run_sync
from selfcorrect.loop.loop import Loop
from selfcorrect.model import Call, Category, ErrorKind, Finding, JsonObject
from selfcorrect.reading.strict import strict_json
from selfcorrect.reading.texts import read_calls
from selfcorrect.report import FailureReport
from selfcorrect.tools import ToolSpec


def mend(loop: Loop, value: Any, beside: Mapping[str, Any]) -> Mended:
    """`repair_call` on a checking loop that was built before."""
    return run_sync(Mending(loop, loop.start(), must_call=True).mended(value, beside))


@dataclass(frozen=True, slots=True)
class Mending:
    """The mending of one value.

    Attributes:
        loop: A loop that only checks.
        context: What its runs use.
        is_quick: Nobody has to see a call that fits as it stands.
        must_call: What is handed over is meant to be a call, and not what a model answered.
    """

    loop: Loop
    context: RunContext
    is_quick: bool = False
    must_call: bool = False

    async def mended(self, value: Any, beside: Mapping[str, Any]) -> Mended:
        """What became of the calls in a value; what holds none has failed if it `must_call`."""
        try:
            found = written(value)
        except Unusable as error:
            return _whole(value, _unusable(error))
        if is_refusal(found.finish_reason):
            beside = {**beside, "finish_reason": found.finish_reason}
        elif found.finish_reason is not None:
            beside = {"finish_reason": found.finish_reason, **beside}
        if found.text is not None:
            return await self._text(value, found, beside)
        told = (beside.get(key) for key in ("tool_choice", "finish_reason", "answer"))
        request, offered = Request(*told), self.context.tools
        calls: list[MendedCall] = []
        model_calls = 0
        for place, one in enumerate(found.calls):
            is_last = place == len(found.calls) - 1
            known = _before_last(beside, is_last=is_last)
            barred = why_no_call(request, names=[one.name], offered=offered) is not None
            call, asked = await self._one(one, known, cut=found.cut and is_last, barred=barred)
            calls.append(call)
            model_calls += asked
        return _together(value, found, calls, model_calls)

    async def _one(
        self, one: One, beside: Mapping[str, Any], *, cut: bool, barred: bool
    ) -> tuple[MendedCall, int]:
        """What became of one call, and how often a model was asked."""
        if cut and not barred:
            return replace(_unusable(cut_off()), name=one.name, id=one.id), 0
        spec = self.context.tools.get(one.name)
        if one.status is not None:
            beside = {"finish_reason": one.status, **beside}
        strays = spec is not None and self._says_more(one, spec)
        args = None if strays or barred else self._fitting(one, spec, beside.get("finish_reason"))
        if args is not None:
            return MendedCall(one.name, args, one.id), 0
        given = {**one.beside, **one.given} if strays else one.given
        run = await checked(self.loop, {"call": given, **beside}, self.context)
        call = run.call(name=one.name, call_id=one.id)
        if call.outcome == "valid" and isinstance(one.args, dict):
            # The run had a copy of its own; who gave a valid call gets back the same arguments.
            call = replace(call, args=one.args)
        return call, run.model_calls

    def _says_more(self, one: One, spec: ToolSpec) -> bool:
        """Whether what stands beside the arguments is one of them, or may have a meaning.

        What a provider adds to its own form means nothing; what is handed over as a call, a model
        may have written whole.
        """
        from selfcorrect.kernel.metadata import left_out

        if not one.beside:
            return False
        if not _parameters(spec).isdisjoint(one.beside):
            return True
        is_providers = one.is_marked and not self.must_call
        return not is_providers and left_out(one.beside, ()) is not None

    def _fitting(self, one: One, spec: ToolSpec | None, reason: str | None) -> JsonObject | None:
        """The arguments of a call that fits as it stands, and that nothing else has to see."""
        if spec is None or not one.is_whole or not self.is_quick:
            return None
        if ended(reason) is False:
            return None
        args = one.args
        if isinstance(args, str):
            read = strict_json(args)
            args = None if read is None else read.value
        return args if type(args) is dict and spec.is_valid(args) else None

    async def _text(self, value: Any, found: Written, beside: Mapping[str, Any]) -> Mended:
        if not self.must_call and (found.is_said or not CALL_SIGNS.search(found.text or "")):
            return Mended("valid", value)
        text = await mend_text(self.loop, found.text or "", beside, self.context)
        if text.whole is None:
            if not isinstance(value, str) and (left := self._left(found.text or "", beside)):
                found = replace(found, back=partial(found.back, left=left))
            calls = text.calls if isinstance(value, str) else _identified(found, text.calls)
            done = _together(value, found, calls, text.model_calls)
            # A text that is a call belongs where calls are, even where nothing was wrong in it.
            moved = not isinstance(value, str) and done.outcome == "valid"
            return replace(done, value=found.back(done.ready)) if moved else done
        if text.whole.reason != "no_call":
            return replace(_whole(value, text.whole), model_calls=text.model_calls)
        if not self.must_call:
            return Mended("valid", value, model_calls=text.model_calls)
        findings = (text.whole.failure or {}).get("findings") or ()
        is_allowed = all(finding.get("code") != NOT_ALLOWED for finding in findings)
        if not isinstance(value, str) and is_allowed:
            detail = f"the {type(value).__name__} holds no call: {WANTED}"
            return _whole(value, replace(text.whole, detail=detail))
        return _whole(value, text.whole)

    def _left(self, text: str, beside: Mapping[str, Any]) -> str:
        """The words that stand around the calls of a message's text: they stay in it."""
        read = read_calls(
            text,
            self.context.tools,
            finish_reason=beside.get("finish_reason"),
            request=beside.get("request"),
            policy=self.context.strategies.reading,
            in_context=bool(beside.get("messages")),
        )
        return said_beside(read.text, read.calls) if read.wordy else ""


def _identified(found: Written, calls: Sequence[MendedCall]) -> list[MendedCall]:
    """Calls of a message's text: their answers need the id under which they stand there."""
    return [
        replace(call, id=call.id or call_id(found.text or "", place))
        for place, call in enumerate(calls)
    ]


def _before_last(beside: Mapping[str, Any], *, is_last: bool) -> Mapping[str, Any]:
    """What goes with a call: only the last one can have been cut off."""
    reason = beside.get("finish_reason")
    if is_last or not isinstance(reason, str) or ended(reason) is not False:
        return beside
    if is_refusal(reason):
        return beside  # what is refused is refused as a whole
    return {key: value for key, value in beside.items() if key != "finish_reason"}


def _parameters(spec: ToolSpec) -> set[str]:
    known = spec.schema.get("properties")
    return set(known) if isinstance(known, Mapping) else set()


def _together(value: Any, found: Written, calls: Sequence[MendedCall], model_calls: int) -> Mended:
    """What became of several calls, and of all of them as the worst did."""
    together = found.text is not None
    worst = max(calls, key=lambda call: WORSE.index(call.outcome))
    done = Mended(
        worst.outcome,
        value,
        tuple(calls),
        tuple(change for call in calls for change in call.changes),
        worst.reason,
        worst.detail,
        worst.failure,
        model_calls,
        together,
    )
    new = [
        Call(call.name, call.args, call.id)
        if call.outcome == "repaired" and call.args is not None
        else None
        for call in calls
    ]
    if together:
        new = [*done.ready] if done.outcome == "repaired" else []
    return replace(done, value=found.back(new)) if any(new) else done


def _whole(value: Any, call: MendedCall) -> Mended:
    """What became of a value in which no call could be told from another."""
    return Mended(
        call.outcome, value, (), call.changes, call.reason, call.detail, call.failure, together=True
    )


def _unusable(error: Unusable) -> MendedCall:
    """The report on what is neither a call nor a text."""
    from selfcorrect.models.advice import advice
    from selfcorrect.models.telling import for_model

    detail = str(error)
    kind, category = ErrorKind.VALIDATION, Category.MALFORMED_JSON
    cut = Finding(
        detail, ("MalformedCall",), code="cut", paths=("/raw",), kind=kind, category=category
    )
    findings = (finding_to_json(cut),) if error.cut else ()
    report = FailureReport("invalid_input", detail, findings=findings)
    told = replace(report, advice=tuple(advice(report, ())), for_model=for_model(report))
    failure = to_json(told)
    return MendedCall(
        "", None, None, "failed", (), told.for_model, None, "invalid_input", detail, failure
    )
