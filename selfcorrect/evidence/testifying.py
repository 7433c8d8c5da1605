"""The last witness: what is said of an error where the rules of a map leave something open.

It fills what is open, and overrules a rule that hangs on nothing but a phrase where it is surer.
Whatever it says, the ladder is the map's: that of an error whose own code says the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from selfcorrect.model import Category, ErrorKind, Finding, Source
from selfcorrect.ports import LastWitness, Rules, Testimony

_CODES: Final = {
    Category.MISSING_PARAM: "required",
    Category.EXTRA_PARAM: "additionalProperties",
    Category.WRONG_TYPE: "type",
    Category.ENUM: "enum",
    Category.RANGE: "minimum",
    Category.LENGTH: "maxLength",
    Category.FORMAT_DATE: "date_parsing",
    Category.FORMAT_PATTERN: "pattern",
    Category.FORMAT_OTHER: "url_parsing",
    Category.MALFORMED_JSON: "json_invalid",
    Category.SYNTAX: "pattern_regex",
    Category.BUSINESS_RULE: "assertion_error",
    Category.UNKNOWN_TOOL: "-32601",
}
"""A code that says of a validation what is wrong."""
_STATUSES: Final[dict[ErrorKind, int | str]] = {
    ErrorKind.TRANSIENT: 503,
    ErrorKind.RATE_LIMIT: 429,
    ErrorKind.TIMEOUT: 504,
    ErrorKind.VALIDATION: 422,
    ErrorKind.AUTH: 401,
    ErrorKind.QUOTA: 402,
    ErrorKind.NOT_FOUND: 404,
    ErrorKind.CONFLICT: 409,
    ErrorKind.PERMANENT: 501,
    ErrorKind.CANCELLED: 499,
}
"""A status that says what sort of failure it is."""


def last_witness(rules: Rules) -> LastWitness | None:  # noqa: ARG001 -- a map may switch it off
    """The trained witness that comes along, or None: there is none yet."""
    return None


def is_open(finding: Finding, rules: Rules) -> bool:
    """Whether the last witness is asked about a finding that the rules have decided."""
    if finding.witness is Source.STRUCTURE:
        return finding.kind is ErrorKind.VALIDATION and finding.category is Category.NONE
    if finding.witness is Source.NONE:
        return True
    left = finding.category is Category.NONE or rules.rests_on_words(finding.rule)
    return left and finding.confidence < 1.0


def testified(finding: Finding, said: Testimony, rules: Rules, tool: str | None) -> Finding | None:
    """The finding as the last witness has it, or None where what the rules say stands.

    Args:
        finding: As the rules decided it.
        said: What the witness makes of it.
        rules: The map, which gives the ladder.
        tool: The tool that the call names.
    """
    fills = finding.witness is Source.NONE
    if not fills and finding.category is Category.NONE and said.kind is finding.kind:
        fills = said.category is not Category.NONE
    overrules = rules.rests_on_words(finding.rule) and said.confidence > finding.confidence
    if not (fills or overrules):
        return None
    like = rules.decide(_like(said.kind, said.category), tool)
    return replace(
        finding,
        kind=said.kind,
        category=said.category,
        rule=like.rule,
        ladder=like.ladder,
        captures={},
        confidence=said.confidence,
        witness=Source.MODEL,
        spoke=said.spoke,
    )


def _like(kind: ErrorKind, category: Category) -> Finding:
    """An error that says by its own code what the witness says of this one."""
    code = _CODES.get(category) if kind is ErrorKind.VALIDATION else None
    if category is Category.DUPLICATE:
        return Finding("", status="ALREADY_EXISTS", kind=kind, category=category)
    status = None if code else _STATUSES.get(kind)
    return Finding("", status=status, code=code, kind=kind, category=category)
