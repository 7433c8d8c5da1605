"""Write the words of `names.dictionary`: `python make_words.py WORDS [MORE...] > words.bin`.

Each file holds one word a line; a line that begins with "#" is a comment. With MORE the words of
WORDS are left out, and only those of the other lists are written that one slip would make of them:
that is `rare.bin`. The lists that are in use are named in NOTICE.
"""

import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

SHORTEST = 5
"""Letters of a word below which nothing is a slip of it."""


def read(path: str) -> set[str]:
    """Return the words of a list."""
    found = {line.strip() for line in Path(path).read_text("utf-8").splitlines()}
    return {word for word in found if word.isascii() and word.isalpha() and word.islower()}


def rare(words: set[str], more: set[str]) -> Iterator[str]:
    """Yield the words of other lists that are one edit inside a word of the list."""
    slips = {slip for word in words if len(word) >= SHORTEST for slip in edits(word)}
    for word in more - words:
        if len(word) >= SHORTEST and not slips.isdisjoint(edits(word)):
            yield word


def edits(word: str) -> Iterator[str]:
    """Yield what a word shares with each word that is one edit inside it."""
    for at in range(1, len(word)):
        yield f"{word[:at]}+{word[at:]}"
    for at in range(1, len(word) - 1):
        yield f"{word[:at]}+{word[at + 1 :]}"
    for at in range(1, len(word) - 2):
        yield f"{word[:at]}{''.join(sorted(word[at : at + 2]))}~{word[at + 2 :]}"


def pack(words: Iterable[str]) -> bytes:
    """Return the words in order, one a line, compressed; the same bytes for the same words."""
    return zlib.compress("\n".join(["", *sorted(words), ""]).encode(), 9)


if __name__ == "__main__":
    known, *others = map(read, sys.argv[1:])
    chosen = rare(known, set().union(*others)) if others else known
    sys.stdout.buffer.write(pack(chosen))
