"""`selfcorrect diagnose`: what recorded errors mean, and what the map would try."""

from __future__ import annotations

from typing import Annotated, Final

from selfcorrect.batch.recorded_errors import JOB
from selfcorrect.cli.batch import IN, OUT, PROCESSES, RESUME, answer_file
from selfcorrect.cli.options import Strategies
from selfcorrect.cli.screen import listed

GIVEN: Final = {
    "id": "what the answer is known by, if anything",
    "message": "what the error says; must be given",
    "status": "HTTP status, SQLSTATE, gRPC code or exit code",
    "exception": "dotted name of the exception's class",
    "tool": "the tool that failed",
    "schema": "the JSON Schema of its arguments",
    "arguments": "those that it was called with",
}
"""The keys of a line that is read."""
ANSWERED: Final = {
    "id": "the line's own",
    "kind": "what may help: validation, transient, rate_limit, auth …",
    "category": "what is wrong with the input: missing_param, enum, range …",
    "params": "the arguments at fault",
    "constraint": "what was violated, in words of JSON Schema, or null",
    "confidence": "how sure that is, from 0 to 1",
    "witness": "who saw it: structure, rule, model or none",
    "retryable": "whether the same call may succeed when it is repeated",
    "retry_after_s": "seconds that the error asks to wait, or null",
    "rule": "the rule of the map that decided",
    "ladder": "the strategies that it would try, in order",
    "error": "why the line has no answer, in place of all this",
}
"""The keys of a line that is written."""
HELP: Final = "\n\n".join(
    (listed("A line of IN is an object in JSON:", GIVEN), listed("A line of OUT:", ANSWERED))
)
"""What `--help` says of the lines."""


def diagnose(
    jsonl: Annotated[str, IN],
    out: Annotated[str, OUT],
    strategies: Strategies = None,
    processes: Annotated[int | None, PROCESSES] = None,
    resume: Annotated[bool, RESUME] = False,
) -> None:
    """Say of recorded errors what they mean: one answer per line, in order."""
    answer_file(JOB, jsonl, out, strategies, processes, resume=resume)
