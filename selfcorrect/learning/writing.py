"""A learnt map as a file that a person can read, diff and review."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.mapping.rules import ErrorRule


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
    return head + said + "".join([*map(_rule, rules), *map(_table, recalls)])


def _rule(rule: ErrorRule) -> str:
    said = rule.model_dump(mode="json", exclude_defaults=True)
    lines = ["[[rule]]", *(f"{_key(key)} = {toml(value)}" for key, value in said.items())]
    return "\n" + "\n".join(lines) + "\n"


def _table(entry: RecallEntry) -> str:
    lines = [f"[[recall]] # {_comment(entry)}"]
    lines += [f"{key} = {toml(value)}" for key, value in _fields(entry)]
    return "\n" + "\n".join(lines) + "\n"


def _comment(entry: RecallEntry) -> str:
    what = "came before it" if entry.first else "mended it"
    tasks = f"{entry.support} task{'' if entry.support == 1 else 's'}"
    text = f"{entry.told} {what} {entry.came_before}, {tasks}"
    return "".join(char if char.isprintable() else " " for char in text)


def _fields(entry: RecallEntry) -> Iterator[tuple[str, Any]]:
    yield "tool", entry.tool
    yield "error", entry.error
    if entry.schemas is not None:
        yield "schemas", entry.schemas
    if entry.first:
        steps = [{"tool": step.tool, "args": dict(step.args)} for step in entry.first]
        yield "first", [step if step["args"] else {"tool": step["tool"]} for step in steps]
    if entry.edits:
        yield "edits", dict(entry.edits)
    for key in ("support", "runs", "seen", "agreement"):
        yield key, getattr(entry, key)
    if entry.suggest:
        yield "suggest", True
    for key in ("proposed", "example"):
        if getattr(entry, key) is not None:
            yield key, getattr(entry, key)


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
