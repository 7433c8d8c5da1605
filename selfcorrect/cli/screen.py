"""What the command line writes: no control character of a tool's or a model's text gets through."""

import json
import sys

from selfcorrect.drawing.text import error_text
from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import JSON
from selfcorrect.text import clean


class InputError(SelfCorrectError):
    """What was given on the command line cannot be used; the message says what to do."""


def say(text: str, *, stderr: bool = False) -> None:
    """Write one line."""
    print(" ".join(clean(text).splitlines()), file=sys.stderr if stderr else sys.stdout)


def say_json(value: JSON) -> None:
    """Write a value as one line of JSON, with everything but printable ASCII escaped."""
    print(json.dumps(value, default=str).replace("\x7f", r"\u007f"))


def say_lines(text: str) -> None:
    """Write each line of a text."""
    for line in text.splitlines():
        say(line)


def complain(error: Exception) -> None:
    """Write an error to stderr."""
    for line in error_text(error, 10_000).split("\n"):
        say(f"selfcorrect: {line}", stderr=True)
