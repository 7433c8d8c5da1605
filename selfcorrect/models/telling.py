"""What the model reads of a failure: what is known, what was said, and what to do next.

Four parts, in this order: one sentence about what became of the call, the diagnosis, the words of
the tool as data, and what to do next. The last follows from structure: how the run ended, the
outcome of the last execution, kind and category; it contradicts nothing that the tool said. Text
from outside stands in quotation marks, redacted and bounded, wherever it comes from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Any, Final

from selfcorrect.kernel.requests import NOT_ALLOWED
from selfcorrect.kernel.texts import literal, outside, quoted
from selfcorrect.model import OWN_CHECKS
from selfcorrect.models.advice import ask_again
from selfcorrect.models.describing import (
    KINDS,
    described,
    is_about_the_call,
    is_precondition,
    parameter,
    seconds_shown,
    value_shown,
)
from selfcorrect.protocols import ToolWords
from selfcorrect.report import FailureReport

LONGEST: Final = 1_200
"""Characters of the whole text, at most."""

_MOST: Final = 12
_LONGEST_WORDS: Final = 600
_LONGEST_DIAGNOSIS: Final = 480
_LONGEST_PROPOSAL: Final = 360
_LEAST_WORDS: Final = 160
_LONGEST_WHOLE: Final = 500
_LONGEST_BEFORE: Final = 360
_LONGEST_REASON: Final = 120
_LONGEST_REFUSAL: Final = 240
_READERS: Final = ("convert-type", "correct-format", "format-date", "format-time")
"""Strategies that read a value; what stopped them says what to write instead."""
_READ: Final = ("wrong_type", "format_date", "format_other", "format_pattern")

CORRECT: Final = "Correct the call and call again."
CORRECT_OR_FIRST: Final = (
    "Correct the call and call again; or, if something else has to be done first, one of your "
    "tools does it and the request covers it, call that first."
)
FIRST: Final = (
    "Something else has to be done first: if one of your tools does it and the request covers it, "
    "call that first, then make this call again."
)
ASK_FIRST: Final = "Something else has to be done first: ask the user before you do it."
FROM_THE_USER: Final = "If the conversation does not say the value, ask the user for it."
ONE_OF_TWO: Final = "Ask the user which one is meant."
ANOTHER: Final = "Try another way."
OTHER_WAY: Final = "Try another way: this call cannot succeed."
OTHER_WAY_NOW: Final = "Try another way, or call again later."
CORRECT_OR_OTHER: Final = "Correct the call and call again, or try another way."
WHOLE_AGAIN: Final = "Write the whole call again, shorter if it can be."
CALL_ALONE: Final = "If the call is meant, make it again as a call with nothing around it."
NO_CALL: Final = "Answer without a call."
NOT_NOW: Final = "Try another way, or call again after that."
DO_NOT_REPEAT: Final = "Do not repeat it: nobody knows whether it was done."
PART: Final = "A part may have been done: repeat only what the tool says was not done."
FIND_OUT: Final = "A part may have been done: find out what was done before you repeat any of it."
_FIRST_ONLY: Final = (
    "If something else has to be done first, one of your tools does it and the request covers it, "
    "call that first."
)
WITHOUT_AGAIN: Final[Mapping[str, str]] = {
    CORRECT: "",
    CORRECT_OR_FIRST: _FIRST_ONLY,
    FIRST: _FIRST_ONLY,
    CORRECT_OR_OTHER: ANOTHER,
    OTHER_WAY_NOW: ANOTHER,
    NOT_NOW: ANOTHER,
}
"""What is left of a closing that invites to call again, where a part may have been done."""

_BEFORE_THE_TOOL: Final = "ArgumentDeserializationError"
"""What is raised where arguments could not be made what the tool takes: it was not called."""

_BY_KIND: Final[Mapping[str, str]] = {
    "validation": CORRECT_OR_FIRST,
    "not_found": CORRECT_OR_FIRST,
    "conflict": CORRECT_OR_FIRST,
    "transient": OTHER_WAY_NOW,
    "rate_limit": OTHER_WAY_NOW,
    "timeout": OTHER_WAY_NOW,
    "cancelled": OTHER_WAY_NOW,
    "auth": OTHER_WAY,
    "quota": OTHER_WAY,
    "permanent": OTHER_WAY,
}
_ELSEWHERE: Final = (OTHER_WAY, OTHER_WAY_NOW)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the report.

    Attributes:
        tool_words: Whether the model reads what the tool said.
        said: What somebody wrote for the model: an escalation, a handler's last word.
        words: All that the tool said when it last failed, as far as it is still known.
        unsaid: Pointers of missing values of which nothing in the conversation speaks.
        readings: What a value could mean, where it has several meanings and none was chosen.
        refusal: What a law says of a mend that was not made, in words.
        destroys: Whether the tool destroys something.
        tools: The names of the other tools.
        before: What came before such a call in recorded runs, and how often.
    """

    tool_words: ToolWords = "show"
    said: str | None = None
    words: str | None = None
    unsaid: frozenset[str] = frozenset()
    readings: tuple[str, ...] = ()
    refusal: str = ""
    destroys: bool = False
    tools: frozenset[str] = frozenset()
    before: str | None = None


NOTHING_MORE: Final = Known()


def for_model(report: FailureReport, known: Known = NOTHING_MORE) -> str:
    """What the model reads of a report, in at most `LONGEST` characters.

    >>> missing = {"kind": "validation", "category": "missing_param"}
    >>> missing |= {"paths": ["/args/lines/0/qty"]}
    >>> print(for_model(FailureReport("no_strategy", "", findings=(missing,))))
    The call was not made. `lines[0].qty` is required and missing. Correct the call and call again.
    """
    words = _words(report, known)
    closing = _without_contradiction(_closing(report, known), report, known, said=bool(words))
    proposal = _proposal(report, closing)
    opening = _opening(report, known)
    before = _before(known)
    rest = LONGEST - sum(len(part) + 1 for part in (opening, closing, proposal, before))
    room = min(_LONGEST_DIAGNOSIS, rest - _LEAST_WORDS) if words else rest
    diagnosis = _within(_diagnosis(report, known), room)
    shown = _shown(words, rest - len(diagnosis) - 1)
    parts = (opening, diagnosis, shown, before, closing, proposal)
    return " ".join(part for part in parts if part)


def _before(known: Known) -> str:
    """What mended such a call elsewhere; it may repeat words of the tool."""
    if not known.before or known.tool_words == "hide":
        return ""
    return f"{_cut(known.before, _LONGEST_BEFORE)}."


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


# --- what became of the call ----------------------------------------------------------------------


def _opening(report: FailureReport, known: Known) -> str:
    attempts, last = report.attempts, _last(report)
    if _is_in_doubt(report):
        if last.get("replayed"):
            return "An equal call was begun before, and broke off."
        return "The call failed, and how far it got is not known."
    if report.reason == "unavailable" and report.until:
        once_more = " again" if attempts else ""
        return (
            f"The call was not made{once_more}: its service fails, and rests until {report.until}."
        )
    if report.reason == "no_call":
        alone = ": the text is not a call by itself"
        return f"No call was made{alone * (not _is_forbidden(report))}."
    if report.reason == "escalated" and known.said:
        who = f", severity {report.severity}" if report.severity else ""
        return f"ERROR: the call of {quoted(report.tool or 'the tool', 80)} failed{who}."
    if not attempts:
        again = report.reason == "repeated_failure"
        return f"The call was not made{' again: it failed before in the same way' * again}."
    if not _has_run(report):
        return "The call was not made: the arguments were refused before the tool ran."
    if _is_refused(report):
        return "The tool refused the call."
    if _is_fault(report, known):
        return "The tool failed: there is a fault in the tool itself, not in the call."
    made = sum(not attempt.get("replayed") for attempt in attempts)
    return "The call failed." if made < 2 else f"The call failed; it was tried {made} times."


def _last(report: FailureReport) -> Mapping[str, Any]:
    return report.attempts[-1] if report.attempts else {}


def _is_in_doubt(report: FailureReport) -> bool:
    """Whether the tool may have acted, and must not act twice."""
    unknown = any(attempt.get("outcome") == "unknown" for attempt in report.attempts)
    return report.reason == "unknown_outcome" or unknown


def _is_refused(report: FailureReport) -> bool:
    return report.reason == "refused" or _last(report).get("outcome") == "refused"


def _is_fault(report: FailureReport, known: Known) -> bool:
    """Whether the tool's own code is at fault: an operation failed, and no rule mends that."""
    is_told = _is_refused(report) or _says_how(report, known)
    if not _last(report).get("fault") or is_told or not report.findings:
        return False
    return all(
        finding.get("kind") == "internal" and not finding.get("ladder")
        for finding in report.findings
    )


def _is_forbidden(report: FailureReport) -> bool:
    """Whether the request allowed no call at all."""
    return any(finding.get("code") == NOT_ALLOWED for finding in report.findings)


# --- the diagnosis --------------------------------------------------------------------------------


def _diagnosis(report: FailureReport, known: Known) -> list[str]:
    tried = () if known.readings else report.tried
    told = [described(finding) + _why_not(tried, finding) for finding in report.findings[:_MOST]]
    told = list(dict.fromkeys(told))
    kind = _last(report).get("kind")
    if not told and kind:
        told = [KINDS.get(str(kind), "")]
    if _is_fault(report, known):
        told = [line for line in told if "`" in line]
    if known.readings:
        told.append(f"it could be {quoted(' or '.join(known.readings), 200)}")
    elif known.refusal:
        told.append(f"an automatic correction was refused: {_cut(known.refusal, _LONGEST_REFUSAL)}")
    if wait := _wait(report):
        told.append(f"it asks not to be called before {seconds_shown(wait)} from now")
    return [f"{line[:1].upper()}{line[1:]}." for line in told if line]


def _wait(report: FailureReport) -> float:
    return max((item.get("retry_after") or 0.0 for item in report.findings), default=0.0)


def _why_not(tried: Sequence[Mapping[str, Any]], finding: Mapping[str, Any]) -> str:
    """Why a value that our own check refused was not read as what it should be, if it is known."""
    paths = list(finding.get("paths") or ())
    is_own = list(finding.get("types") or ())[:1] == ["InvalidArgs"]
    if len(paths) != 1 or not is_own or finding.get("category") not in _READ:
        return ""
    for item in tried:
        stopped = item.get("strategy") in _READERS and item.get("outcome") == "gave_up"
        if stopped and item.get("path") in paths and item.get("reason"):
            return f": {_cut(literal(str(item['reason'])), _LONGEST_REASON)}"
    return ""


def _within(lines: Sequence[str], room: int) -> str:
    """As many lines as there is room for; what is left out is counted."""
    kept: list[str] = []
    for number, line in enumerate(lines):
        more = f"{len(lines) - number} more faults."
        if len(" ".join([*kept, line])) + (len(more) + 1) * (number < len(lines) - 1) > room:
            return " ".join([*kept, more])
        kept.append(line)
    return " ".join(kept)


# --- what was said --------------------------------------------------------------------------------


def _words(report: FailureReport, known: Known) -> list[tuple[str, str]]:
    """Who said what, in the order in which the model reads it.

    What was read out of a long text stands for it; of a short one the model reads all.
    """
    is_told = report.findings or report.attempts or report.reason == "unavailable"
    reason = known.said or ("" if is_told else report.detail)
    said = [("The reason given", reason)] if reason else []
    if known.tool_words == "hide" or (said and report.reason == "escalated"):
        return said
    whole = known.words or ""
    read = [str(item.get("text") or "") for item in (_last(report), *_of_tool(report)[:_MOST])]
    distinct: list[str] = []
    for text in filter(
        str.strip, [whole, *read] if len(whole) <= _LONGEST_WHOLE else [*read, whole]
    ):
        if not any(_holds(other, text) for other in (reason, *distinct)):
            distinct = [*(other for other in distinct if not _holds(text, other)), text]
    who = "The tool said" if _has_run(report) else "The check of the arguments said"
    return [*said, (who, "\n".join(distinct))] if distinct else said


def _holds(text: str, other: str) -> bool:
    return all(line in text for line in other.splitlines())


def _of_tool(report: FailureReport) -> list[Mapping[str, Any]]:
    """The findings in what a tool said."""
    return [item for item in report.findings if OWN_CHECKS.isdisjoint(item.get("types") or ())]


def _has_run(report: FailureReport) -> bool:
    return bool(report.attempts) and _last(report).get("type") != _BEFORE_THE_TOOL


def _shown(words: Sequence[tuple[str, str]], room: int) -> str:
    """The words as data, in no more than `room` characters together."""
    parts: list[str] = []
    for number, (who, text) in enumerate(words):
        left = room - sum(len(part) + 1 for part in parts)
        parts.append(_fitting(who, text, min(_LONGEST_WORDS, left // (len(words) - number))))
    return " ".join(filter(None, parts))


def _fitting(who: str, text: str, room: int) -> str:
    """One text as data; its escapes make it longer than it is."""
    limit = room - len(who) - 12
    while limit > 8:
        shown = f"{who}, as {outside(text, limit)}"
        if len(shown) <= room:
            return shown
        limit -= max(16, (len(shown) - room) // 2)
    return ""


# --- what to do next ------------------------------------------------------------------------------


def _closing(report: FailureReport, known: Known) -> str:
    if _is_in_doubt(report):
        return FIND_OUT if _names_a_way(report, known) else DO_NOT_REPEAT
    if any(ask_again(item.get("types") or (), item.get("code")) for item in report.findings):
        return WHOLE_AGAIN
    if report.reason == "no_call":
        return NO_CALL if _is_forbidden(report) else CALL_ALONE
    if report.reason == "unavailable":
        return NOT_NOW
    if known.readings:
        return ONE_OF_TWO
    if any(not known.unsaid.isdisjoint(item.get("paths") or ()) for item in report.findings):
        return FROM_THE_USER
    if report.reason == "escalated":
        return CORRECT
    if report.reason == "rejected" or _is_fault(report, known):
        return OTHER_WAY
    each = list(dict.fromkeys(_next(item, report, known) for item in report.findings))
    if not each:
        return _BY_KIND.get(str(_last(report).get("kind")), CORRECT_OR_OTHER)
    return next((item for item in each if item in _ELSEWHERE), each[0])


def _without_contradiction(closing: str, report: FailureReport, known: Known, *, said: bool) -> str:
    """The closing, without what speaks against the tool's words or is more than anybody knows.

    `refused` stands at an attempt of a tool that acts: nobody knows what it did before it refused.
    """
    if _last(report).get("outcome") == "refused" and closing in WITHOUT_AGAIN:
        return f"{WITHOUT_AGAIN[closing]} {PART if said else FIND_OUT}".lstrip()
    if report.reason == "rejected" or closing not in (*_ELSEWHERE, CORRECT_OR_OTHER):
        return closing
    if _wait(report):
        return NOT_NOW
    return ANOTHER if closing == OTHER_WAY and _says_how(report, known) else closing


def _says_how(report: FailureReport, known: Known) -> bool:
    """Whether the tool's words may hold how to go on; of an object's fields nobody knows."""
    return "{" in (known.words or "") or _names_a_way(report, known)


def _names_a_way(report: FailureReport, known: Known) -> bool:
    """Whether the tool's words hold a wait, an alternative, a constraint or another tool's name."""
    keys = ("retry_after", "suggestions", "constraint")
    named = known.tools.intersection(re.findall(r"[\w.-]*\w", known.words or ""))
    return bool(named) or any(item.get(key) for item in _of_tool(report) for key in keys)


def _next(finding: Mapping[str, Any], report: FailureReport, known: Known) -> str:
    """What this finding alone leaves to be done."""
    category = str(finding.get("category"))
    if is_precondition(finding):
        return ASK_FIRST if known.destroys else FIRST
    if not is_about_the_call(finding) or category == "none":
        found = _by_kind(finding, report)
    else:
        is_open = {"business_rule": True, "unknown_resource": not finding.get("suggestions")}
        found = CORRECT_OR_FIRST if is_open.get(category) else CORRECT
    is_known = category == "none" and is_about_the_call(finding) and finding.get("paths")
    return CORRECT if found == CORRECT_OR_FIRST and (known.destroys or is_known) else found


def _by_kind(finding: Mapping[str, Any], report: FailureReport) -> str:
    """A kind that only the error's text speaks for is no reason to give up."""
    found = _BY_KIND.get(str(finding.get("kind")), CORRECT_OR_OTHER)
    certain = finding.get("witness") == "structure" or report.reason == "terminal_kind"
    if (found == OTHER_WAY and not certain) or (found == CORRECT_OR_OTHER and _is_refused(report)):
        return CORRECT_OR_FIRST
    return found


# --- the mended call ------------------------------------------------------------------------------


def _proposal(report: FailureReport, closing: str) -> str:
    """The mended call as JSON; what it changes, where it is too long or hides values."""
    proposal, in_part = report.proposal, closing.endswith((PART, FIND_OUT))
    if not proposal or not (in_part or closing.startswith("Correct the call")):
        return ""
    call: dict[str, Any] = {"name": proposal.get("name"), "args": proposal.get("args") or {}}
    shown = literal(call, _LONGEST_PROPOSAL)
    if not _hides(shown) and _is_json(shown):
        # What may have been done in part is not offered as ready.
        lead = "Mended, if nothing was done and" if in_part else "Ready to be made, if"
        return f"{lead} it is what is meant: {shown}"
    changed = _changed((report.call or {}).get("args") or {}, call["args"])
    lines = accumulate(changed, "{}, {}".format)
    told = [*takewhile(lambda line: len(line) <= _LONGEST_PROPOSAL - 40, lines)]
    return f"What would change, if it is what is meant: {told[-1]}" if told else ""


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for key, value in after.items():
        shown = value_shown(value)
        if (key not in before or before[key] != value) and not _hides(shown):
            yield f"{parameter(f'/args/{key}')} = {shown}"


def _hides(shown: str) -> bool:
    return "[secret]" in shown or "[sensitive]" in shown


def _is_json(shown: str) -> bool:
    try:
        return isinstance(json.loads(shown), dict)
    except ValueError:
        return False
