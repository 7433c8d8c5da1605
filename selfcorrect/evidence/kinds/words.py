"""What the words of codes and class names mean: `NoSuchKey`, `rate_limit_exceeded`."""

from __future__ import annotations

from typing import Final

from selfcorrect.model import Category, ErrorKind
from selfcorrect.text import LONGEST, tokens

_K = ErrorKind
_C = Category

WORDS: Final[tuple[tuple[ErrorKind, tuple[str, ...]], ...]] = (
    (_K.PERMANENT, ("certificate", "cert", "not implemented", "unimplemented", "unsupported")),
    (_K.PERMANENT, ("not supported", "deprecated", "decommissioned", "method not allowed")),
    (
        _K.QUOTA,
        (
            "quota",
            "billing",
            "out of memory",
            "memory",
            "insufficient funds",
            "payment required",
            "credit",
            "credits",
            "insufficient space",
            "insufficient storage",
            "no space",
            "disk full",
        ),
    ),
    (_K.RATE_LIMIT, ("rate limit", "ratelimit", "rate limited", "too many requests", "throttle")),
    (_K.RATE_LIMIT, ("throttled", "throttling", "slow down", "throughput exceeded")),
    (_K.TIMEOUT, ("timeout", "timed out", "deadline exceeded", "time out")),
    (_K.CANCELLED, ("cancelled", "canceled", "interrupted")),
    (_K.CONFLICT, ("already exists", "already", "exists", "conflict", "duplicate", "in use")),
    (_K.CONFLICT, ("duplicates", "conditional check failed", "in progress", "not empty")),
    (_K.CONFLICT, ("precondition", "locked", "lock", "stale", "mismatched version")),
    (_K.NOT_FOUND, ("not found", "notfound", "no such", "does not exist", "nonexistent")),
    (_K.NOT_FOUND, ("unknown", "not exist", "undefined", "missing resource")),
    (_K.AUTH, ("unauthorized", "unauthorised", "unauthenticated", "authentication", "forbidden")),
    (_K.AUTH, ("authorization", "permission", "permissions", "access denied", "credential")),
    (_K.AUTH, ("credentials", "token expired", "expired token", "api key", "signature")),
    (_K.AUTH, ("login", "auth", "not allowed", "denied", "privilege")),
    (_K.VALIDATION, ("validation", "validator", "invalid", "bad request", "malformed", "parse")),
    (_K.VALIDATION, ("parser", "parsing", "decode", "syntax", "schema", "bad", "unprocessable")),
    (_K.VALIDATION, ("required", "missing", "too long", "too short", "too large", "out of range")),
    (
        _K.VALIDATION,
        ("illegal", "unexpected", "format", "usage", "overflow", "type mismatch", "argument"),
    ),
    (
        _K.VALIDATION,
        (
            "parameter",
            "programming",
            "not fitted",
            "conversion",
            "binder",
            "data error",
            "command error",
            "integrity",
            "number format",
        ),
    ),
    (
        _K.TRANSIENT,
        ("unavailable", "overloaded", "connection", "connect", "network error", "dns"),
    ),
    (_K.TRANSIENT, ("brokers available", "servers available", "nodes available", "host available")),
    (_K.TRANSIENT, ("deadlock", "deadlock detected", "service unavailable", "unknown host")),
    (_K.TRANSIENT, ("unreachable", "temporarily", "try again", "disconnected", "broken pipe")),
    (_K.INTERNAL, ("internal", "server error", "unexpected error")),
)
"""Words in codes and class names, in order of trust; a phrase is a run of whole words."""

CATEGORY_WORDS: Final[tuple[tuple[Category, tuple[str, ...]], ...]] = (
    (_C.UNKNOWN_TOOL, ("unknown tool", "tool not found", "method not found", "unknown command")),
    (
        _C.MALFORMED_JSON,
        ("json decode", "invalid json", "malformed json", "json parse", "json error"),
    ),
    (
        _C.EXTRA_PARAM,
        ("unexpected argument", "unknown argument", "unknown parameter", "extra field"),
    ),
    (_C.EXTRA_PARAM, ("unexpected keyword", "unknown field", "unrecognized", "no such option")),
    (_C.MISSING_PARAM, ("missing", "required", "not null", "null violation")),
    (_C.DUPLICATE, ("already exists", "already exist", "duplicate", "exists", "unique violation")),
    (_C.DUPLICATE, ("unique", "already owned", "already", "duplicates", "path conflict")),
    (_C.FORMAT_DATE, ("date", "datetime", "timestamp", "timezone", "time zone", "date time")),
    (
        _C.FORMAT_OTHER,
        ("url", "uri", "email", "uuid", "scheme", "encoding", "unicode", "utf", "media type"),
    ),
    (_C.WRONG_TYPE, ("number format",)),
    (_C.FORMAT_OTHER, ("arn", "cidr", "hostname", "base64", "decode", "format", "binascii")),
    (
        _C.UNKNOWN_RESOURCE,
        ("not found", "no such", "does not exist", "nonexistent", "non existent"),
    ),
    (_C.UNKNOWN_RESOURCE, ("undefined", "unknown", "lookup", "gone", "foreign key")),
    (
        _C.LENGTH,
        ("too long", "too short", "too large", "too many", "too few", "length", "truncation"),
    ),
    (_C.RANGE, ("out of range", "range", "overflow", "underflow", "division", "out of bounds")),
    (
        _C.WRONG_TYPE,
        ("type mismatch", "wrong type", "invalid type", "datatype mismatch", "conversion"),
    ),
    (_C.WRONG_TYPE, ("cast", "type error", "dimensionality", "number format")),
    (_C.ENUM, ("enum", "choice", "choices", "picklist", "not supported value", "option")),
    (_C.SYNTAX, ("syntax", "grammar", "expression", "lexer", "xpath", "binder", "template")),
    (_C.SYNTAX, ("grouping", "ambiguous", "query", "compile")),
    (_C.WRONG_TYPE, ("type",)),
    (_C.FORMAT_OTHER, ("parsing",)),
)
"""What codes and class names say of the input, in order of trust."""

_MOST: Final = 12


def kind_in(name: str) -> ErrorKind | None:
    """The kind that the words of a name speak for."""
    text = _spoken(name)
    for kind, phrases in WORDS:
        if any(f" {phrase} " in text for phrase in phrases):
            return kind
    return None


def category_in(name: str) -> Category | None:
    """What the words of a name say is wrong."""
    text = _spoken(name)
    for category, phrases in CATEGORY_WORDS:
        if any(f" {phrase} " in text for phrase in phrases):
            return category
    return None


def spoken_name(name: str) -> str:
    """The words of a code or a dotted class name as a sentence; empty if it is but one word.

    >>> spoken_name("EMAIL_EXISTS"), spoken_name("a.b.AlreadyStartedError"), spoken_name("E42")
    ('email exists', 'already started', '')
    """
    words = list(tokens(name.rpartition(".")[2][:LONGEST]))[:_MOST]
    while words and words[-1] in ("error", "exception", "fault", "err"):
        words.pop()
    return " ".join(words) if len(words) > 1 and not any(map(str.isdigit, words)) else ""


def _spoken(name: str) -> str:
    return f" {' '.join(tokens(name[:LONGEST])[:_MOST])} "
