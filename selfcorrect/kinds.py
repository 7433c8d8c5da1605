"""The words for what an error is, what a change may be, and who saw it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class ErrorKind(StrEnum):
    """What sort of failure it is: decides whether repeating or changing the call can help."""

    TRANSIENT = "transient"
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    VALIDATION = "validation"
    AUTH = "auth"
    QUOTA = "quota"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    PERMANENT = "permanent"
    INTERNAL = "internal"
    CANCELLED = "cancelled"


RETRYABLE: Final = frozenset({ErrorKind.TRANSIENT, ErrorKind.RATE_LIMIT, ErrorKind.TIMEOUT})
"""Kinds that may succeed when the same call is simply repeated; only structure and rules say so."""
PASSING: Final = frozenset({ErrorKind.TRANSIENT, ErrorKind.TIMEOUT, ErrorKind.CANCELLED})
"""Kinds after which nobody knows how far a call got."""


class Category(StrEnum):
    """What is wrong with the input: decides what to repair."""

    MISSING_PARAM = "missing_param"
    EXTRA_PARAM = "extra_param"
    WRONG_TYPE = "wrong_type"
    ENUM = "enum"
    RANGE = "range"
    LENGTH = "length"
    FORMAT_DATE = "format_date"
    FORMAT_PATTERN = "format_pattern"
    FORMAT_OTHER = "format_other"
    MALFORMED_JSON = "malformed_json"
    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_RESOURCE = "unknown_resource"
    DUPLICATE = "duplicate"
    BUSINESS_RULE = "business_rule"
    PRECONDITION = "precondition"
    SYNTAX = "syntax"
    NONE = "none"


class Source(StrEnum):
    """Who saw what a finding says: a diagnosis is as sure as its witness."""

    STRUCTURE = "structure"
    """A status, code or class that the error carries, a validator's code, a check of our own."""
    RULE = "rule"
    """A rule of a map."""
    MODEL = "model"
    """The trained witness."""
    NONE = "none"
    """Nobody: it is not known what the error means."""


class Safety(StrEnum):
    """How far a change may be from what was written; the policy says which classes run unasked."""

    EXACT = "exact"
    INFERRED = "inferred"
    LOSSY = "lossy"
    MODEL = "model"
    LEARNED = "learned"
    HUMAN = "human"


class Severity(StrEnum):
    """How urgent an escalation is."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"
