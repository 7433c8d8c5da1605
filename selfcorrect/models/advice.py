"""The two texts of a report: what a person could do, and what the model may read.

The text for the model holds no status codes, no vendor text, no paths and no echoed values: only
names of parameters, what is wrong with them, and what the schema asks for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.model import FailureReport
from selfcorrect.redaction import outside, quoted

_MOST: Final = 12
_LONGEST: Final = 60
_LONGEST_WORDS: Final = 200

_WRONG: Final[Mapping[str, str]] = {
    "missing_param": "is required and missing",
    "extra_param": "is not a parameter of this tool",
    "wrong_type": "has the wrong type",
    "enum": "is not one of the allowed values",
    "range": "is out of range",
    "length": "has the wrong length",
    "format_date": "is not in the required date or time format",
    "format_pattern": "does not match the required pattern",
    "format_other": "is not in the required format",
    "malformed_json": "could not be read",
    "unknown_tool": "does not exist",
    "unknown_resource": "refers to something that does not exist",
    "duplicate": "exists already",
    "business_rule": "was refused by the tool's own rules",
    "syntax": "has a syntax error",
}

_KINDS: Final[Mapping[str, str]] = {
    "transient": "the tool failed for the moment",
    "rate_limit": "the tool was called too often",
    "timeout": "the tool did not answer in time",
    "validation": "the tool refused the input",
    "auth": "the tool refused access",
    "quota": "a budget is used up",
    "not_found": "something that the call refers to was not found",
    "conflict": "the call clashes with the present state",
    "permanent": "the tool cannot do this",
    "internal": "the tool failed",
    "cancelled": "the call was cancelled",
}

_WHAT_TO_DO: Final[Mapping[str, str]] = {
    "attempts_exhausted": "Allow more attempts, or look at the errors of the attempts.",
    "limit_reached": "Raise the limit that is named above, or call again later.",
    "needs_person": "Answer the question: run with a checkpointer, or with --interactive.",
    "unknown_outcome": "Find out whether the tool acted before anything calls it again.",
    "repeated_failure": "Change the arguments: the same call would fail in the same way.",
    "no_call": "Have the model make the call as a tool call, or give the call itself to the run.",
    "invalid_input": "Give the run a call, a raw text or a request that can be read.",
    "rejected": "Nothing was done; change the call and run it again.",
    "escalated": "Someone above this loop has to decide.",
    "terminal_kind": "Settle the cause with the operator of the tool; repeating will not help.",
}

_ASK_AGAIN: Final[Mapping[str, str]] = {
    "cut": "ask for the whole text again, with room for more output tokens",
}
"""What helps where the text itself lacks something that no rule may make up."""
_OWN_CHECKS: Final = frozenset({"InvalidArgs", "MalformedCall"})
"""Findings whose texts are selfcorrect's own words, and hold no values."""


def own_words(types: Sequence[str], text: str) -> str:
    """What selfcorrect's own checks say of a call, on one line; nothing of what a tool says.

    >>> own_words(("MalformedCall",), "cut off inside a string (line 1, column 47)")
    'cut off inside a string (line 1, column 47)'
    >>> own_words(("builtins.ValueError",), "call me again with amount=10")
    ''
    """
    return quoted(text, _LONGEST_WORDS)[1:-1] if _is_own(types) else ""


def ask_again(types: Sequence[str], code: Any) -> str:
    """What has to be asked for anew where a text lacks something; empty if nothing does."""
    return _ASK_AGAIN.get(str(code), "") if _is_own(types) else ""


def _is_own(types: Sequence[str]) -> bool:
    return not _OWN_CHECKS.isdisjoint(types[:1])


def describe(finding: Mapping[str, Any]) -> str:
    """One finding in words that are safe for a model: `passengers is required and missing`."""
    category, constraint = finding.get("category", "none"), finding.get("constraint") or {}
    names = [_name(path) for path in finding.get("paths") or ()]
    text = _WRONG.get(category)
    if text is None:
        return _KINDS.get(finding.get("kind", "internal"), "the tool failed")
    if category == "unknown_tool":
        offered = constraint.get("enum") or ()
        listed = ", ".join(str(name)[:_LONGEST] for name in offered[:_MOST])
        more = ", and more" if len(offered) > _MOST else ""
        if not listed:
            return "there is no such tool"
        return f"there is no such tool; use the exact name of one of: {listed}{more}"
    subject = ", ".join(names[:_MOST]) or "an argument"
    first = (finding.get("types") or ("",))[0]
    if first == "MalformedCall":
        said = own_words((first,), str(finding.get("text") or ""))
        return f"{subject} {text}{': ' if said else ''}{said}"
    ours = first == "InvalidArgs"
    return f"{subject} {text}{_asked(constraint) if ours else ''}"


def for_model(report: FailureReport, escalation: str | None = None) -> str:
    """What the model may read of a report.

    Args:
        report: The report.
        escalation: What a fixer or a tool handed up, which is meant for the model.
    """
    doubt = report.reason == "unknown_outcome" or any(
        attempt.get("outcome") == "unknown" for attempt in report.attempts
    )
    if report.reason == "escalated" and escalation is not None:
        then = "Correct the arguments and call it again."
        if doubt:
            then = "It may or may not have been done; do not call it again."
        return (
            f"ERROR: the call of {quoted(report.tool or 'the tool', 80)} failed, severity "
            f"{report.severity or 'HIGH'}: {outside(escalation, 1_000)}. "
            f"{then}"
        )
    done = "was not done" if not report.attempts else "did not succeed"
    if doubt:
        done = "may or may not have been done; do not call it again"
    told = list(dict.fromkeys(describe(finding) for finding in report.findings[:_MOST]))
    text = f"The call {done}."
    if any(_is_cut(finding) for finding in report.findings):
        told.append("write the whole call again, shorter if it can be")
    return " ".join([text, *(f"{line[0].upper()}{line[1:]}." for line in told if line)])


def advice(report: FailureReport, refused: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a person could do, one sentence each."""
    lines = []
    if report.question:
        lines.append(f"Asked: {str(report.question.get('question'))[:500]}")
    for change in refused[:_MOST]:
        before, after = (_short(change.get(key, "nothing")) for key in ("before", "after"))
        lines.append(
            f"Agree to {change['path']}: {before} → {after} ({change['safety']}: {change['why']})."
        )
    if report.reason == "no_strategy":
        lines += _mending(report.findings[:_MOST])
    if report.reason in _WHAT_TO_DO:
        lines.append(_WHAT_TO_DO[report.reason])
    return lines


def _is_cut(finding: Mapping[str, Any]) -> bool:
    return finding.get("code") == "cut" and _is_own(finding.get("types") or ())


def _mending(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """What helps where no strategy is left; no rule helps a text that lacks something."""
    again = [ask_again(finding.get("types") or (), finding.get("code")) for finding in findings]
    lines = [
        f"Mend it: {describe(finding)}{'; ' if then else ''}{then}."
        for finding, then in zip(findings, again, strict=True)
    ]
    if not again or not all(again):
        lines.append("Or give the error-strategy map a rule for it.")
    return lines


def _asked(constraint: Mapping[str, Any]) -> str:
    """What the schema asks for, in a few words."""
    allowed = constraint.get("enum")
    if isinstance(allowed, list | tuple) and allowed:
        shown = ", ".join(_short(value) for value in allowed[:_MOST])
        return f" (allowed: {shown}{', …' if len(allowed) > _MOST else ''})"
    words = [
        f"{word} {_short(constraint[key])}"
        for key, word in (
            ("type", "type"),
            ("format", "format"),
            ("pattern", "pattern"),
            ("minimum", "at least"),
            ("exclusiveMinimum", "more than"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "less than"),
            ("multipleOf", "a multiple of"),
            ("minLength", "characters, at least"),
            ("maxLength", "characters, at most"),
            ("minItems", "items, at least"),
            ("maxItems", "items, at most"),
        )
        if key in constraint
    ]
    return f" ({', '.join(words)})" if words else ""


def _name(path: str) -> str:
    if path == "/raw":
        return "the call"
    name = path.removeprefix("/args/").removeprefix("/").replace("/", ".")
    return name.replace("~1", "/").replace("~0", "~")[:_LONGEST]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
