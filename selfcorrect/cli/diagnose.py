"""`selfcorrect diagnose`: what recorded errors mean, and what the map would try."""

from __future__ import annotations

from typing import Annotated, Final

from selfcorrect.batch.recorded_errors import JOB
from selfcorrect.cli.batch import IN, OUT, PROCESSES, RESUME, answer_file
from selfcorrect.cli.options import Strategies
from selfcorrect.cli.screen import TEXTS, listed

GIVEN: Final = TEXTS["diagnose"]["given"]
"""The keys of a line that is read."""
ANSWERED: Final = TEXTS["diagnose"]["answered"]
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
