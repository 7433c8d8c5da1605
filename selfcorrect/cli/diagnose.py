"""`selfcorrect diagnose`: what recorded errors mean, and what the map would try."""

from __future__ import annotations

from typing import Annotated

from selfcorrect.batch.recorded_errors import JOB
from selfcorrect.cli.batch import IN, OUT, PROCESSES, RESUME, STRATEGIES, answer_file


def diagnose(
    jsonl: Annotated[str, IN],
    out: Annotated[str, OUT],
    strategies: Annotated[str | None, STRATEGIES] = None,
    processes: Annotated[int | None, PROCESSES] = None,
    resume: Annotated[bool, RESUME] = False,
) -> None:
    """Say of recorded errors what they mean: one answer per line, in order."""
    answer_file(JOB, jsonl, out, strategies, processes, resume=resume)
