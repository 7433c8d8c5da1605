"""What a file of answers holds already, after the process that wrote it has died."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selfcorrect.batch.files import BROKEN, is_packed, source, target
from selfcorrect.batch.lines import Raw, read
from selfcorrect.errors import UnusableFile


def answered_before(
    path: str, given: Iterator[Raw], outcome_of: Callable[[Mapping[str, Any]], str]
) -> Counter[str]:
    """Skip the lines that a file answers, and take its half-written end off.

    Args:
        path: The file of answers; there may be none yet.
        given: The lines that were to be answered, without empty ones; stands at the first that is
            not answered afterwards.
        outcome_of: Says what an answer came to.

    Returns:
        How many answers came to what.

    Raises:
        UnusableFile: If the file holds anything but answers to these lines, in their order.
    """
    outcomes: Counter[str] = Counter()
    if path == "-":
        raise UnusableFile("what went to standard output cannot be resumed: name a file")
    if not Path(path).exists() or not Path(path).stat().st_size:
        return outcomes
    with _sound_part(path) as keep:
        for raw, answer in _answers(path):
            line = next(given, None)
            if line is None:
                raise UnusableFile(f"{raw.where}: answers more lines than there are")
            held = read(line, python=True)
            if (held.id if held is not None else None) != answer.get("id"):
                raise UnusableFile(
                    f"{raw.where}: is no answer to {line.where}, whose id "
                    "is another; resume with the file that was being read"
                )
            outcomes[outcome_of(answer)] += 1
            keep(raw.content)
    return outcomes


def _answers(path: str) -> Iterator[tuple[Raw, Mapping[str, Any]]]:
    """The whole lines of a file of answers; only the end of it may be broken."""
    try:
        with source(path) as lines:
            for raw in lines:
                line = read(raw) if raw.content.endswith(b"\n") else None
                if line is None or not isinstance(line.value, Mapping):
                    _be_the_last(raw, lines)
                    return
                yield raw, line.value
    except UnusableFile as error:
        if not isinstance(error.__cause__, BROKEN):
            raise


def _be_the_last(raw: Raw, lines: Iterable[Raw]) -> None:
    if next(iter(lines), None) is not None:
        raise UnusableFile(f"{raw.where}: is no answer; this file cannot be resumed")


@contextmanager
def _sound_part(path: str) -> Iterator[Callable[[bytes], object]]:
    """Leave of a file only what is kept of its lines, once all of them are known to be right."""
    if not is_packed(path):
        kept = 0

        def count(content: bytes) -> None:
            nonlocal kept
            kept += len(content)

        yield count
        os.truncate(path, kept)
        return
    # What is packed cannot be cut in its middle: it is packed anew.
    known = Path(path)
    copy = known.with_suffix(f".resuming{known.suffix}")
    with target(str(copy)) as stream:
        yield lambda content: stream.write(content.decode())
    copy.replace(known)
