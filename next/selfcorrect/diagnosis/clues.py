"""Clues: all that one error shows, gathered once, before anybody decides what it is."""

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from selfcorrect.diagnosis.body import Body, Fault, body_of
from selfcorrect.diagnosis.demands import constraint_of, wait_in_fields, wait_in_words
from selfcorrect.diagnosis.parameters import MARK, Blame, Masked, Places, blame, mask, places_of
from selfcorrect.diagnosis.sentence import Sentence, plain, sentence_of
from selfcorrect.model import JSON, RETRYABLE, ErrorKind, Finding, JsonDict, JsonObject

FAULTLESS: Final = RETRYABLE | {ErrorKind.QUOTA, ErrorKind.CANCELLED, ErrorKind.INTERNAL}
"""Kinds of errors for which no argument is at fault: they have no category."""
_READ: Final = 2_000
"""Characters of a sentence that are searched."""


@dataclass(frozen=True, slots=True)
class Clues:
    """What an error shows.

    Attributes:
        sentence: The error's own sentence, with the values of the call masked.
        spoken: The same as the tool said it.
        faults: The faults that a body lists.
        places: The arguments of the call and of the schema.
        blame: The arguments at fault.
        status: The status that the exception carries, or its body says.
        codes: Codes: the exception's, the body's, those before the sentence.
        classes: Classes of exceptions, also those that the text names.
        constraint: What the sentence demands.
        wait: Seconds that the exception, or a field of its body, asks to wait.
        spoken_wait: Seconds that only words ask to wait.
        hints: Kinds and categories that the map's hints say.
    """

    sentence: Sentence
    spoken: str
    faults: tuple[Fault, ...]
    places: Places
    blame: Blame
    status: int | str | None
    codes: tuple[str, ...]
    classes: tuple[str, ...]
    constraint: JsonDict
    wait: float | None
    spoken_wait: float | None
    hints: tuple[tuple[str, str], ...] = field(default=())


def clues_of(finding: Finding, args: JSON = None, schema: JsonObject | None = None) -> Clues:
    """Gather what an error of a call shows."""
    text = plain(finding.get("text", ""))
    body = body_of(text)
    fault = body.faults[0] if body.faults else Fault(text)
    places = places_of(args, schema)
    masked = mask(plain(fault.sentence), places)
    sentence = sentence_of(masked.text)
    spoken = _unmask(sentence.text, fault.sentence)
    codes = dict.fromkeys(_codes(finding, body, f"{sentence.front} {spoken}"))
    own = Masked(sentence.text[:_READ], masked.quoted, masked.bare)
    wait = finding.get("retry_after")
    return Clues(
        sentence=sentence,
        spoken=spoken,
        faults=body.faults,
        places=places,
        blame=blame(body.faults, own, places),
        status=_status(finding, body, spoken),
        codes=tuple(codes)[:6],
        classes=tuple(dict.fromkeys((*finding.get("types", ()), *sentence.classes))),
        constraint=finding.get("constraint") or constraint_of(spoken[:_READ]),
        wait=wait_in_fields(body.fields) if wait is None else wait,
        spoken_wait=wait_in_words(sentence.text[:_READ] + " " + sentence.behind[:200]),
    )


def _status(finding: Finding, body: Body, spoken: str) -> int | str | None:
    """Return the status; where only an exit code is known, body or sentence may say one."""
    status = finding.get("status")
    if status is not None and not (isinstance(status, int) and abs(status) < 100):
        return status
    said = _STATUS.search(spoken[:_READ])
    return body.status or (int(said[1]) if said else status)


_STATUS: Final = re.compile(r"(?i)\b(?:error|status|code)[ :=(]{1,3}([45]\d\d)\b")


def _codes(finding: Finding, body: Body, text: str) -> Iterator[str]:
    yield from filter(None, (finding.get("code"), *(fault.code for fault in body.faults[:3])))
    for pattern in _CODES:
        for found in list(pattern.finditer(text[:_READ]))[:2]:
            code = found[1]
            if code.isdecimal() and found[0].startswith("[Errno"):
                code = errno.errorcode.get(int(code), code)
            # Many words in capitals begin with an E.
            if pattern is not _ERRNO or code in _ERRNOS:
                yield code


_ERRNO: Final = re.compile(r"\b(E[A-Z]{3,14})(?=[:,\s]|$)", re.MULTILINE)
_ERRNOS: Final = frozenset({*errno.errorcode.values(), "ENOTFOUND", "ESOCKETTIMEDOUT", "EAI_AGAIN"})
_CODES: Final = (
    _ERRNO,
    *(
        re.compile(code, re.MULTILINE)
        for code in (
            r"\[Errno (\d{1,4})\]",
            r"\(([A-Z][a-z]\w{3,60}(?:\.\w{1,60})?)\)(?= when)",
            r"(?:^|[\[(])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?=[\]):]|$)",
            r"(?i)\b(?:error|code|sqlstate)[ :=\[(]{1,3}(-?\d{4,5}|[A-Z]{1,40}\d{3,5}|\d\w{4})\b",
        )
    ),
)


def _unmask(sentence: str, said: str) -> str:
    """Put the values back into a sentence."""
    first, *parts = sentence.split(MARK)
    start = said.find(first)
    end = start + len(first)
    for part in parts:
        end = said.find(part, end + 1) + len(part) if part else end + 1
        if start < 0 or end < start:
            return sentence.replace(MARK, "…")
    return (
        said[start:end]
        if parts and parts[-1]
        else sentence.replace(MARK, "…")
        if parts
        else sentence
    )
