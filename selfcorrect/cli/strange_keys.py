"""Keys of lines that nobody reads: a slip of the pen is told where it stands, a column once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import typer

from selfcorrect.batch.lines import clip, dump
from selfcorrect.hints import close_names

_MOST: Final = 20
"""Keys of a file that are named; further ones are counted, up to a bound of their own."""
_MOST_COUNTED: Final = 10_000
_LONGEST: Final = 60


class StrangeKeys:
    """Tells on stderr of keys that are not read; nothing fails for them.

    One that is nearly a known key which its line lacks is told at once, at its first line. All
    others are told in one line at the end: data may have columns of its own.

    Args:
        known: The keys that are read.
        silent: Further keys that are no news, and never what was meant.
    """

    def __init__(self, known: Iterable[str], silent: Iterable[str] = ()) -> None:
        self._meant = frozenset(known)
        self._known = self._meant.union(silent)
        self._seen: set[str] = set()
        self._told = 0
        self._others: list[str] = []

    def see(self, where: str, keys: Iterable[str]) -> None:
        """Look at the keys of one line."""
        found = list(keys)
        for key in found:
            if key in self._known or key in self._seen or len(self._seen) >= _MOST_COUNTED:
                continue
            self._seen.add(key)
            near = close_names(key, sorted(self._meant.difference(found)))
            if near and self._told < _MOST:
                self._told += 1
                say(f"{where}: unknown key {_shown(key)}: did you mean {_shown(near[0])}?")
            else:
                self._others.append(key)

    def tell(self) -> None:
        """Name what else was not read, in one line."""
        if self._others:
            more = len(self._others) - _MOST
            named = ", ".join(map(_shown, self._others[:_MOST]))
            say(f"keys that are not read: {named}{f' and {more:,} more' if more > 0 else ''}")


@contextmanager
def strange_keys(known: Iterable[str], silent: Iterable[str] = ()) -> Iterator[StrangeKeys]:
    """Look out for strange keys, and name at the end what was not told on the way."""
    found = StrangeKeys(known, silent)
    yield found
    found.tell()


def _shown(key: str) -> str:
    return dump(clip(key, _LONGEST))


def say(text: str) -> None:
    """Warn on stderr."""
    typer.echo(f"warning: {text}", err=True)
