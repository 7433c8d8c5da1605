"""`selfcorrect repair`: mend calls from a file, and execute nothing."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from selfcorrect.batch.recorded_calls import JOB, SHOWN
from selfcorrect.cli.batch import IN, OUT, PROCESSES, RESUME, answer_file
from selfcorrect.cli.options import Strategies
from selfcorrect.cli.screen import listed

GIVEN: Final = {
    "id": "anything; the answer has it too",
    "tools": "the tools on offer, a list: name, description, parameters, effect",
    "raw": "what the model wrote, as text; a line has this or call",
    "call": "a call, a message or a response as an object, or a list of calls",
    "request": "what the user asked for",
    "messages": "the last messages of the conversation, a list",
    "finish_reason": 'why the model stopped; "length": the text is cut',
    "tool_choice": 'what the request said of calls, as its provider has it; "none": no call',
    "answer": "the form that the answer was to have: a JSON Schema, or a response format",
    "error": "what the tool said to this call, which is then not valid as it is",
}
"""The keys of a line that is read."""
ANSWERED: Final = {
    "id": "the line's own",
    "outcome": "valid, repaired, ask (a person has to decide) or failed",
    "calls": "the calls to run, each name and arguments; none if ask or failed",
    "changes": f"what was changed, each {', '.join(SHOWN)}",
    "reason": "why not, in one word, if ask or failed",
    "detail": "the same in a sentence: what is wrong, and where",
    "question": "what a person would have to answer, if ask",
    "model_calls": "how often a model was asked",
    "each": "of several calls that are not all ready: outcome, calls and reason of each",
}
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
