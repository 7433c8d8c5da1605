"""JSON Lines files that the commands read and write; `-` is stdin or stdout."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from selfcorrect.cli.screen import InputError, say
from selfcorrect.drawing.text import error_text
from selfcorrect.errors import SelfCorrectError


def take_lines(name: str, take: Callable[[str], object]) -> int:
    """Take each line of a file; name those that are unusable, and return how many they are.

    Args:
        name: The file.
        take: Takes a line; what it raises is wrong with it.
    """
    failed = 0
    for line, place in read_lines(name):
        try:
            take(line)
        except UNUSABLE as error:
            failed += 1
            say(f"{place}: {why_unusable(error)}", stderr=True)
    return failed


def why_unusable(error: Exception) -> str:
    """Return what is wrong with a line."""
    if isinstance(error, json.JSONDecodeError):
        return f"the line must be one JSON object: {error}"
    return error_text(error, 500)


def read_lines(name: str) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, and the place where it stands.

    Raises:
        InputError: If the file is not text.
    """
    shown = "stdin" if name == "-" else name
    with ExitStack() as files:
        try:
            for number, line in enumerate(open_file(name, "r", files), 1):
                if line.strip():
                    yield line, f"{shown}:{number}"
        except UnicodeDecodeError:
            raise InputError(f"{shown}: the file must be UTF-8 text") from None


UNUSABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError),
    SelfCorrectError,
)
"""What reading a line of a file may raise, whatever stands in it."""


def open_file(name: str, mode: str, files: ExitStack) -> IO[str]:
    """Open a file of the command line, until the stack is left."""
    if name == "-":
        return sys.stdin if mode == "r" else sys.stdout
    # Half a character in a line must not end the file.
    return files.enter_context(Path(name).open(mode, encoding="utf-8", errors="surrogatepass"))
