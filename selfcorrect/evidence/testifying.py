"""The last witness: what is said of an error where the rules of a map leave something open.

It fills what is open, and weighs its word against a rule that hangs on nothing but a phrase.
Whatever it says, the ladder is the map's: that of an error whose own code says the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from selfcorrect.evidence.trained.witness import witness_of
from selfcorrect.mapping.certainty import borne_out
from selfcorrect.model import Category, ErrorKind, Finding, Source
from selfcorrect.ports import LastWitness, Open, Rules, Testimony

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


INPUT: Final = frozenset({ErrorKind.VALIDATION, ErrorKind.NOT_FOUND, ErrorKind.CONFLICT})
"""Kinds whose category a caller needs to know."""
SURE: Final = 1.0
LIKELY: Final = 0.7
"""From which confidence on what the witness says is acted on."""


def last_witness(rules: Rules) -> LastWitness | None:
    """The trained witness that comes along or that a map names; None where one switches it off."""
    weights = rules.trained
    return witness_of(weights) if weights is not None else None


def left_open(finding: Finding, rules: Rules) -> Open | None:
    """What the last witness may say of a finding that the rules decided; None: it is not asked.

    Structure and rules of a deployment's own stand as they are, and so does what the arguments bear
    out. A rule that hangs on more than a phrase keeps its kind.
    """
    unsaid = finding.category is Category.NONE
    if finding.witness is Source.STRUCTURE:
        return Open(False, True) if unsaid and finding.kind is ErrorKind.VALIDATION else None
    if finding.confidence >= SURE or (finding.confidence >= borne_out() and not unsaid):
        return None
    if finding.witness is Source.NONE or rules.rests_on_words(finding.rule):
        return Open(True, True)
    return Open(False, unsaid and finding.kind in INPUT)


def testified(finding: Finding, said: Testimony, rules: Rules, tool: str | None) -> Finding:
    """The finding as the last witness has it.

    Where it says what the rules say, their rule and ladder stand, with the confidence of both.

    Args:
        finding: As the rules decided it.
        said: What the witness makes of it.
        rules: The map, which gives the ladder.
        tool: The tool that the call names.
    """
    if (said.kind, said.category) == (finding.kind, finding.category):
        return replace(finding, confidence=said.confidence)
    like = rules.decide(_like(said.kind, said.category), tool)
    acts = like if said.confidence >= LIKELY else finding  # a guess informs, and tries nothing
    return replace(
        finding,
        kind=said.kind,
        category=said.category,
        rule=acts.rule,
        ladder=acts.ladder,
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
