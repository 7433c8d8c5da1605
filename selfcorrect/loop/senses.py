"""The senses that come along, each loaded when a run first needs it: a healthy call needs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from selfcorrect.model import JSON, Call, Finding, Repair
from selfcorrect.ports import Beside, ReadCall, Rules, Seen, Senses
from selfcorrect.protocols import Tool


def _read(given: Any, tools: Mapping[str, Tool], beside: Beside, /) -> ReadCall:
    from selfcorrect.reading.reader import read_given

    return read_given(given, tools, beside)


def _witness(
    error: BaseException, call: Call, tool: Tool, home: str, bodies: Sequence[Any] = (), /
) -> Seen:
    from selfcorrect.evidence import read
    from selfcorrect.evidence.outcome import ending_of

    found = read(error, call, tool, bodies=bodies)
    return Seen(found.findings, ending_of(error, home, found.facts), found)


def _interpret(
    findings: Sequence[Finding],
    rules: Rules,
    call: Call,
    tool: Tool | None,
    reading: object = None,
    /,
) -> Sequence[Finding]:
    from selfcorrect.evidence import ErrorReading, decide, read

    known = reading.of(findings) if isinstance(reading, ErrorReading) else None
    return decide(known or read(findings, call, tool), rules)


def _answer(answer: JSON, call: Call, finding: Finding, options: Sequence[JSON]) -> Repair:
    from selfcorrect.reading.answers import read_answer

    return read_answer(answer, call, finding, options)


def _words(error: BaseException) -> str:
    from selfcorrect.evidence.clean import page, sentence, visible
    from selfcorrect.evidence.exceptions import chain, facts, heard
    from selfcorrect.foreign import told

    text = sentence(visible(heard(error).text))
    said = told(lambda: next(filter(None, (facts(each).body for each in chain(error))), ""), "")
    body = visible(said).strip()
    body = page(body) if body.startswith("<") else body  # what helps may stand in any field
    return text if body in text else f"{text}\n{body}"


SENSES: Final = Senses(_read, _witness, _interpret, _answer, _words)
