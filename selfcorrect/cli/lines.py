"""Files of JSON lines, for commands: what cannot be opened or read ends the command with 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from selfcorrect.batch.files import Source, source, target
from selfcorrect.batch.lines import Line, Raw, dump, parse, read
from selfcorrect.cli.screen import refuse
from selfcorrect.errors import MissingExtra, UnusableFile
from selfcorrect.model import JSON

__all__ = ["Line", "Lines", "Raw", "parse", "read", "reader", "refusing", "write", "writer"]


@contextmanager
def refusing() -> Iterator[None]:
    """End the command where a file cannot be used."""
    try:
        yield
    except (UnusableFile, MissingExtra) as error:
        refuse(str(error))


class Lines:
    """The lines of a file, one at a time, each as what it holds; how far it was read."""

    def __init__(self, given: Source) -> None:
        self._given = given
        self.size = given.size
        self.at = given.at

    def __iter__(self) -> Iterator[Line]:
        for raw in self._given:
            if (line := read(raw)) is not None:
                yield line


@contextmanager
def reader(path: str) -> Iterator[Lines]:
    """The lines of a JSON lines file (`-` is stdin), one at a time; empty lines are left out.

    A file that cannot be opened, or is no text at all, is refused at once, before the first line is
    asked for.
    """
    with refusing(), source(path) as given:
        yield Lines(given)


@contextmanager
def writer(path: str, read_from: str | None = None) -> Iterator[IO[str]]:
    """A text file to write lines to (`-` is stdout); never the one that is being read."""
    with refusing(), target(path, read_from) as stream:
        yield stream


def write(stream: IO[str], value: JSON) -> None:
    """Write one line, and hand it on at once so that a reader can follow."""
    stream.write(dump(value) + "\n")
    stream.flush()
