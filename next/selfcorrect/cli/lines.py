"""JSON Lines files that the commands read and write; `-` is stdin or stdout."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from selfcorrect.cli.screen import InputError
from selfcorrect.model import JsonDict


def answer_lines(
    options: argparse.Namespace, answer: Callable[[str, str], JsonDict | None]
) -> None:
    """Write the answer to each line that is read, in order, in constant memory.

    Args:
        options: What the command was given: `jsonl` and `out`.
        answer: Takes a line and the place where it stands; None writes nothing.
    """
    with ExitStack() as files:
        out = _open(options.out, "w", files)
        for line, place in read_lines(options.jsonl):
            if (made := answer(line, place)) is not None:
                print(json.dumps(made), file=out, flush=out is sys.stdout)


def read_lines(name: str) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, and the place where it stands.

    Raises:
        InputError: If the file is no text.
    """
    shown = "stdin" if name == "-" else name
    with ExitStack() as files:
        try:
            for number, line in enumerate(_open(name, "r", files), 1):
                if line.strip():
                    yield line, f"{shown}:{number}"
        except UnicodeDecodeError:
            raise InputError(f"{shown}: the file must be UTF-8 text") from None


def _open(name: str, mode: str, files: ExitStack) -> IO[str]:
    if name == "-":
        return sys.stdin if mode == "r" else sys.stdout
    # Half a character in a line must not end the file.
    return files.enter_context(Path(name).open(mode, encoding="utf-8", errors="surrogatepass"))
