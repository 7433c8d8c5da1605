"""What the words of codes and class names mean: `NoSuchKey`, `rate_limit_exceeded`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, TypeVar

from selfcorrect.model import Category, ErrorKind
from selfcorrect.text import LONGEST, tokens

_K = ErrorKind
_C = Category
T = TypeVar("T")


def _phrases(*rows: tuple[T, str]) -> tuple[tuple[T, tuple[str, ...]], ...]:
    """Each meaning with its phrases, as they stand among whole words."""
    return tuple(
        (meaning, tuple(f" {phrase.strip()} " for phrase in text.split(",")))
        for meaning, text in rows
    )


WORDS: Final = _phrases(
    (
        _K.PERMANENT,
        """certificate, cert, not implemented, unimplemented, unsupported, not supported,
        deprecated, decommissioned, method not allowed""",
    ),
    (
        _K.QUOTA,
        """quota, billing, memory, insufficient funds, payment required, credit, credits,
        insufficient space, insufficient storage, no space, disk full""",
    ),
    (
        _K.RATE_LIMIT,
        """rate limit, ratelimit, rate limited, too many requests, throttle, throttled, throttling,
        slow down, throughput exceeded""",
    ),
    (_K.TIMEOUT, "timeout, timed out, deadline exceeded, time out"),
    (_K.CANCELLED, "cancelled, canceled, interrupted"),
    (
        _K.CONFLICT,
        """already, exists, conflict, duplicate, in use, duplicates, conditional check failed,
        in progress, not empty, precondition, locked, lock, stale, mismatched version""",
    ),
    (
        _K.NOT_FOUND,
        """not found, notfound, no such, does not exist, nonexistent, unknown, not exist, undefined,
        missing resource""",
    ),
    (
        _K.AUTH,
        """unauthorized, unauthorised, unauthenticated, authentication, forbidden, authorization,
        permission, permissions, credential, credentials, token expired, expired token, api key,
        signature, login, auth, not allowed, denied, privilege""",
    ),
    (
        _K.VALIDATION,
        """validation, validator, invalid, bad, malformed, parse, parser, parsing, decode, syntax,
        schema, unprocessable, required, missing, too long, too short, too large, out of range,
        illegal, unexpected, format, usage, overflow, type mismatch, argument, parameter,
        programming, not fitted, conversion, binder, data error, command error, integrity""",
    ),
    (
        _K.TRANSIENT,
        """unavailable, overloaded, connection, connect, network error, dns, unknown host,
        brokers available, servers available, nodes available, host available, deadlock,
        unreachable, temporarily, try again, disconnected, broken pipe""",
    ),
    (_K.INTERNAL, "internal, server error"),
)
"""Words in codes and class names, in order of trust; a phrase is a run of whole words."""

CATEGORY_WORDS: Final = _phrases(
    (_C.UNKNOWN_TOOL, "unknown tool, tool not found, method not found, unknown command"),
    (_C.MALFORMED_JSON, "json decode, invalid json, malformed json, json parse, json error"),
    (
        _C.EXTRA_PARAM,
        """unexpected argument, unknown argument, unknown parameter, extra field,
        unexpected keyword, unknown field, unrecognized, no such option""",
    ),
    (_C.MISSING_PARAM, "missing, required, not null, null violation"),
    (
        _C.DUPLICATE,
        """already, already exist, duplicate, exists, unique, duplicates, path conflict""",
    ),
    (_C.FORMAT_DATE, "date, datetime, timestamp, timezone, time zone"),
    (_C.FORMAT_OTHER, "url, uri, email, uuid, scheme, encoding, unicode, utf, media type"),
    (_C.WRONG_TYPE, "number format"),
    (_C.FORMAT_OTHER, "arn, cidr, hostname, base64, decode, format, binascii"),
    (
        _C.UNKNOWN_RESOURCE,
        """not found, no such, does not exist, nonexistent, non existent, undefined, unknown,
        lookup, gone, foreign key""",
    ),
    (_C.LENGTH, "too long, too short, too large, too many, too few, length, truncation"),
    (_C.RANGE, "range, overflow, underflow, division, out of bounds"),
    (
        _C.WRONG_TYPE,
        """type mismatch, wrong type, invalid type, datatype mismatch, conversion, cast, type error,
        dimensionality""",
    ),
    (_C.ENUM, "enum, choice, choices, picklist, not supported value, option"),
    (
        _C.SYNTAX,
        """syntax, grammar, expression, lexer, xpath, binder, template, grouping, ambiguous, query,
        compile""",
    ),
    (_C.WRONG_TYPE, "type"),
    (_C.FORMAT_OTHER, "parsing"),
)
"""What codes and class names say of the input, in order of trust."""

_MOST: Final = 12


def kind_in(name: str) -> ErrorKind | None:
    """The kind that the words of a name speak for."""
    return _meant(name, WORDS)


def speaks_of(text: str, kinds: Collection[ErrorKind]) -> bool:
    """Whether any phrase of these kinds stands in a text, whatever else it says."""
    words = f" {' '.join(tokens(text))} "
    phrases = (each for kind, some in WORDS if kind in kinds for each in some)
    return any(phrase in words for phrase in phrases)


def category_in(name: str) -> Category | None:
    """What the words of a name say is wrong."""
    return _meant(name, CATEGORY_WORDS)


def spoken_name(name: str) -> str:
    """The words of a code or a dotted class name as a sentence; empty if it is but one word.

    >>> spoken_name("EMAIL_EXISTS"), spoken_name("a.b.AlreadyStartedError"), spoken_name("E42")
    ('email exists', 'already started', '')
    """
    words = list(tokens(name.rpartition(".")[2][:LONGEST]))[:_MOST]
    while words and words[-1] in ("error", "exception", "fault", "err"):
        words.pop()
    return " ".join(words) if len(words) > 1 and not any(map(str.isdigit, words)) else ""


def _meant(name: str, table: Sequence[tuple[T, tuple[str, ...]]]) -> T | None:
    spoken = f" {' '.join(tokens(name[:LONGEST])[:_MOST])} "
    return next(
        (meaning for meaning, words in table if any(phrase in spoken for phrase in words)), None
    )
