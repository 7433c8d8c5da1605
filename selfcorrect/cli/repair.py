"""`selfcorrect repair`: mend calls from a file, and execute nothing."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from selfcorrect.batch.recorded_calls import JOB
from selfcorrect.cli.batch import IN, OUT, PROCESSES, RESUME, answer_file
from selfcorrect.cli.options import Strategies
from selfcorrect.cli.screen import TEXTS, listed

GIVEN: Final = TEXTS["repair"]["given"]
"""The keys of a line that is read."""
ANSWERED: Final = TEXTS["repair"]["answered"]
"""The keys of a line that is written; those of a reason, and `each`, only where there is one."""
HELP: Final = "\n\n".join(
    (
        listed("A line of IN is an object in JSON; null means absent:", GIVEN),
        listed("A line of OUT:", ANSWERED),
    )
)
"""What `--help` says of the lines."""


def repair(
    jsonl: Annotated[str, IN],
    out: Annotated[str, OUT],
    strategies: Strategies = None,
    no_model: Annotated[  # noqa: ARG001 -- no way to name a model exists yet
        bool, typer.Option("--no-model", help="Ask no model, even if one is configured.")
    ] = False,
    processes: Annotated[int | None, PROCESSES] = None,
    resume: Annotated[bool, RESUME] = False,
) -> None:
    """Mend tool calls without executing them: one answer per line, in order."""
    answer_file(JOB, jsonl, out, strategies, processes, resume=resume)
