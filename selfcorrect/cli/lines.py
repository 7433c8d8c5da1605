"""JSON Lines files that the commands read and write; `-` is stdin or stdout."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from selfcorrect.cli.screen import InputError, say
from selfcorrect.drawing.text import error_text
from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import JsonDict


def answer_lines(options: argparse.Namespace, answer: Callable[[str], JsonDict]) -> int:
    """Write the answer to each line that is read, in order; return how many are unusable.

    On a terminal that does not show the answers, a bar shows how far it is.

    Args:
        options: What the command was given: `jsonl` and `out`.
        answer: Takes a line.
    """
    with ExitStack() as files:
        out = _open(options.out, "w", files)

        def take(line: str) -> None:
            print(json.dumps(answer(line)), file=out, flush=out is sys.stdout)

        return take_lines(options.jsonl, take, is_watched=not out.isatty())


def take_lines(name: str, take: Callable[[str], None], *, is_watched: bool = False) -> int:
    """Take each line of a file; name those that are unusable, and return how many they are."""
    failed = 0
    for line, place in read_lines(name, is_watched=is_watched):
        try:
            take(line)
        except UNUSABLE as error:
            failed += 1
            say(f"{place}: {error_text(error)}", stderr=True)
    return failed


def read_lines(name: str, *, is_watched: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, and the place where it stands.

    Args:
        name: The file.
        is_watched: Whether a terminal shows how much of it is read, if rich is installed.

    Raises:
        InputError: If the file is no text.
    """
    shown = "stdin" if name == "-" else name
    with ExitStack() as files:
        try:
            is_shown = is_watched and name != "-" and sys.stderr.isatty() and find_spec("rich")
            file = files.enter_context(_bar(name)) if is_shown else _open(name, "r", files)
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield line, f"{shown}:{number}"
        except UnicodeDecodeError:
            raise InputError(f"{shown}: the file must be UTF-8 text") from None


UNUSABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError),
    SelfCorrectError,
)
"""What reading a line of a file may raise, whatever stands in it."""


def _bar(name: str) -> IO[str]:
    opened: IO[str] = import_module("rich.progress").open(
        name,
        "r",
        encoding="utf-8",
        errors="surrogatepass",
        description="",
        transient=True,
        console=import_module("rich.console").Console(stderr=True),
    )
    return opened


def _open(name: str, mode: str, files: ExitStack) -> IO[str]:
    if name == "-":
        return sys.stdin if mode == "r" else sys.stdout
    # Half a character in a line must not end the file.
    return files.enter_context(Path(name).open(mode, encoding="utf-8", errors="surrogatepass"))
