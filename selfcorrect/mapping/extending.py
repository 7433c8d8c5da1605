"""The files behind a map: reading those that it extends, and finding a rule in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from selfcorrect.errors import MapError, MapFault
from selfcorrect.mapping.files import Document, find_map, read_map


def load(name: str, document: Document, *, run_code: bool) -> Document | MapFault:
    """The map that another one names in `extends`, or what is wrong with that."""
    try:
        return read_map(find_map(name, document.folder, run_code=run_code))
    except MapError as error:
        fault = error.faults[0]
        message = f"{fault.file}: {fault.message}" if fault.file else fault.message
        return document.fault(message, key="extends", hint=fault.hint)


def not_run(documents: Sequence[Document]) -> dict[str, MapFault]:
    """The strategies that maps bring along, of which none was run."""
    used: dict[str, MapFault] = {}
    for document in documents:
        for name, place in document.content.use.items():
            why = f"{place} is not run; its options are checked as far as its source shows them"
            used.setdefault(name, document.fault(why, key=f"use.{name}"))
    return used


def line_of_rule(file: Path, rule: str) -> int:
    """The line of a map's file that names a rule of its own; 1 if none does."""
    named = re.compile(rf"""\s*id\s*=\s*["']{re.escape(rule)}["']""")
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if named.match(line)), 1)
