"""JSON Lines files that the commands read and write; `-` is stdin or stdout."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from selfcorrect.cli.screen import InputError, say
from selfcorrect.drawing.text import error_text
from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import JsonDict


def write_lines(options: argparse.Namespace, make: Callable[[str], JsonDict]) -> int:
    """Write a line for each line that is read, in order; return how many are unusable.

    Args:
        options: What the command was given: `jsonl` and `out`.
        make: Makes an output of an input.
    """
    with ExitStack() as files:
        out = _open(options.out, "w", files)

        def take(line: str) -> object:
            output = make(line)
            print(json.dumps(output), file=out, flush=out is sys.stdout)
            return output["detail"] if output.get("reason") == "invalid_input" else None

        return take_lines(options.jsonl, take)


def take_lines(name: str, take: Callable[[str], object]) -> int:
    """Take each line of a file; name those that are unusable, and return how many they are.

    Args:
        name: The file.
        take: Takes a line; what it returns, or raises, is wrong with it.
    """
    failed = 0
    for line, place in read_lines(name):
        try:
            wrong = take(line)
        except json.JSONDecodeError as error:
            wrong = f"the line must be one JSON object: {error.msg} at column {error.colno}"
        except UNUSABLE as error:
            wrong = error_text(error)
        if wrong:
            failed += 1
            say(f"{place}: {wrong}", stderr=True)
    return failed


def read_lines(name: str) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, and the place where it stands.

    Raises:
        InputError: If the file is not text.
    """
    shown = "stdin" if name == "-" else name
    with ExitStack() as files:
        try:
            for number, line in enumerate(_open(name, "r", files), 1):
                if line.strip():
                    yield line, f"{shown}:{number}"
        except UnicodeDecodeError:
            raise InputError(f"{shown}: the file must be UTF-8 text") from None


UNUSABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError),
    SelfCorrectError,
)
"""What reading a line of a file may raise, whatever stands in it."""


def _open(name: str, mode: str, files: ExitStack) -> IO[str]:
    if name == "-":
        return sys.stdin if mode == "r" else sys.stdout
    # Half a character in a line must not end the file.
    return files.enter_context(Path(name).open(mode, encoding="utf-8", errors="surrogatepass"))
