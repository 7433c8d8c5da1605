"""Repair strategies of a deployment whose tools work on files.

`filesystem.toml` brings them along under `[use]`. They look at the disk below one root, and at
nothing else: no link is followed out of it, and no path that leads out of it is ever proposed.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Final

from selfcorrect.model import Call, Change, Changed, Diagnosis, GiveUp, Repair, Safety
from selfcorrect.pointer import join, look
from selfcorrect.protocols import RepairContext
from selfcorrect.text import LONGEST, VALUE_SLIP, distance, misspells, normal, tokens
from selfcorrect.words import singular

_MOST_ENTRIES: Final = 2_000
_DEEPEST: Final = 32
_SHORTEST: Final = 4
_SHORTEST_WORD: Final = 5
"""Shorter words that differ by one letter are often two words: `main` and `mail`."""
_DIGITS: Final = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class NearPath:
    """Takes the file or folder that is there instead of a misspelt one.

    Goes down the path from the root. A part that is not there is replaced where its folder holds
    exactly one entry that is equal but for case and separators, or one slip of the pen away, and
    none that is nearly as near. Numbers in names are never changed. On tools that only read;
    elsewhere it is a proposal for a person.

    Attributes:
        root: The folder below which it looks; or `$NAME`, the environment variable that names it.
            Empty: it gives up.
        arguments: What the argument that holds the path may be called.
    """

    name: ClassVar[str] = "near-path"
    safety: ClassVar[tuple[Safety, ...]] = (Safety.INFERRED, Safety.LOSSY)
    needs: ClassVar[str] = "nothing"

    root: str = "$FILES_ROOT"
    arguments: tuple[str, ...] = ("path", "file_path", "filename", "file", "directory", "source")

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        """Mend the path at fault."""
        root = os.environ.get(self.root[1:], "") if self.root.startswith("$") else self.root
        at, written = self._path(call, diagnosis)
        if not root or written is None:
            return GiveUp("there is no root, or no one path at fault")
        try:
            found = _nearest(Path(root), written)
        except (OSError, ValueError):
            return GiveUp("the disk cannot be read there")
        if found is None or found == written:
            return GiveUp("nothing there is meant with a clear margin")
        reads = context.tool is not None and context.tool.effect == "read_only"
        safety = Safety.INFERRED if reads else Safety.LOSSY
        reason = "the one entry of that folder that is spelt nearly so"
        return Changed(Change(at, written, found, safety, reason))

    def _path(self, call: Call, diagnosis: Diagnosis) -> tuple[str, str | None]:
        at_fault = [path for path in diagnosis.finding.paths if path.startswith("/args/")]
        named = [join("args", name) for name in self.arguments if name in call.args]
        places = [path for path in named if path in at_fault] or (named if not at_fault else [])
        value = look(call, places[0]) if len(places) == 1 else None
        return (places[0], value) if isinstance(value, str) else ("", None)


def _nearest(root: Path, written: str) -> str | None:
    """The path that is there, spelt from the root or absolute as it was; None where it is unclear.

    Raises:
        OSError: If the disk cannot be read.
    """
    pure = PurePosixPath(written)
    absolute = pure.is_absolute()
    if absolute:
        if not pure.is_relative_to(root):
            return None
        pure = pure.relative_to(root)
    if not 0 < len(pure.parts) <= _DEEPEST or ".." in pure.parts or "\0" in written:
        return None
    here, mended = root, PurePosixPath()
    for index, part in enumerate(pure.parts):
        is_last = index == len(pure.parts) - 1
        name = _entry(here, part, needs_folder=not is_last)
        if name is None:
            return None
        here, mended = here / name, mended / name
    return str(root / mended) if absolute else str(mended)


def _entry(folder: Path, name: str, *, needs_folder: bool) -> str | None:
    """The entry of a folder that a name means; links lead out of sight and do not count."""
    names = set(_names(folder, needs_folder=needs_folder))
    if os.path.lexists(folder / name):
        return name if name in names else None
    if len(names) >= _MOST_ENTRIES or not _SHORTEST <= len(name) <= LONGEST:
        return None
    same_numbers = [one for one in names if _DIGITS.findall(one) == _DIGITS.findall(name)]
    equal = [one for one in same_numbers if normal(one) and normal(one) == normal(name)]
    near = equal or [one for one in same_numbers if _is_slip(name, one)]
    if len(near) != 1:
        return None
    rivals = [one for one in same_numbers if distance(name, one, 2) is not None]
    return near[0] if equal or rivals in ([], near) else None


def _is_slip(name: str, other: str) -> bool:
    """Whether two names differ by one slip inside one word, and not in a number."""
    ours, theirs = tokens(name), tokens(other)
    if len(ours) != len(theirs):
        return False
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(pairs) != 1:
        return False
    word, meant = pairs[0]
    if min(len(word), len(meant)) < _SHORTEST_WORD or singular(word) == singular(meant):
        return False
    return misspells(word, meant, VALUE_SLIP) == 1


def _names(folder: Path, *, needs_folder: bool) -> Iterator[str]:
    """The names in a folder, without links, at most so many."""
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= _MOST_ENTRIES:
                return
            if not entry.is_symlink() and (entry.is_dir() or not needs_folder):
                yield entry.name
