"""A learnt map as a file that a person can read, diff and review."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.mapping.rules import ErrorRule

_COUNTED: Final = ("support", "runs", "seen", "agreement")


def as_toml(
    entries: Sequence[RecallEntry | ErrorRule], *, extends: Sequence[str] = ("default",)
) -> str:
    """The map file that holds these entries, a table each.

    >>> entry = RecallEntry(tool="write", error="No file '{args.file}'",
    ...     first=[{"tool": "touch", "args": {"file": "{args.file}"}}], support=2, runs=3, seen=4)
    >>> print("[[recall]]" + as_toml([entry]).partition("[[recall]]")[2])
    [[recall]] # touch(file={args.file}) came before it in 3 of 4 runs, 2 tasks
    tool = "write"
    error = "No file '{args.file}'"
    first = [{ tool = "touch", args = { file = "{args.file}" } }]
    support = 2
    runs = 3
    seen = 4
    agreement = 0.0
    <BLANKLINE>
    """
    head = files("selfcorrect.learning").joinpath("head.toml").read_text("utf-8")
    said = f"extends = {toml(list(extends))}\n"
    rules = [entry for entry in entries if isinstance(entry, ErrorRule)]
    recalls = [entry for entry in entries if isinstance(entry, RecallEntry)]
    tables = [
        _table("[[rule]]", rule.model_dump(mode="json", exclude_defaults=True).items())
        for rule in rules
    ]
    tables += [_table(f"[[recall]] # {_comment(each)}", _fields(each)) for each in recalls]
    return head + said + "".join(tables)


def _table(head: str, fields: Iterable[tuple[str, Any]]) -> str:
    lines = [head, *(f"{_key(key)} = {toml(value)}" for key, value in fields)]
    return "\n" + "\n".join(lines) + "\n"


def _comment(entry: RecallEntry) -> str:
    what = "came before it" if entry.first else "mended it"
    tasks = f"{entry.support} task{'' if entry.support == 1 else 's'}"
    text = f"{entry.told} {what} {entry.came_before}, {tasks}"
    return "".join(char if char.isprintable() else " " for char in text)


def _fields(entry: RecallEntry) -> Iterator[tuple[str, Any]]:
    """What is written of an entry; how often it was seen always is."""
    said = entry.model_dump(mode="json", exclude_defaults=True)
    for key in RecallEntry.model_fields:
        if key in said or key in _COUNTED:
            yield key, getattr(entry, key) if key in _COUNTED else said[key]


def toml(value: Any) -> str:
    """A JSON value in TOML, on one line."""
    if isinstance(value, Mapping):
        items = ", ".join(f"{_key(key)} = {toml(item)}" for key, item in value.items())
        return f"{{ {items} }}" if items else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)


def _key(key: str) -> str:
    bare = key.replace("_", "").replace("-", "")
    return key if bare.isascii() and bare.isalnum() else _text(key)


def _text(text: str) -> str:
    r"""A basic string; what JSON leaves bare and TOML does not allow is escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
