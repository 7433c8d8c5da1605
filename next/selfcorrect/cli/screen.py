"""What the command line writes: no control character of a tool's or a model's text gets through."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec

from selfcorrect.errors import SelfCorrectError
from selfcorrect.model import JSON, JsonObject, name_place
from selfcorrect.text import clean, quote

show = partial(quote, most=200)
"""Returns a value as JSON, cut where it is long."""


class InputError(SelfCorrectError):
    """What was given on the command line cannot be used; the message says what to do."""


def say(text: str, style: str = "", *, stderr: bool = False) -> None:
    """Write one line, in colour where rich is installed and a terminal shows it."""
    line, stream = _one_line(text), sys.stderr if stderr else sys.stdout
    if style and stream.isatty() and not os.environ.get("NO_COLOR") and find_spec("rich"):
        console = import_module("rich.console").Console(stderr=stderr, highlight=False)
        console.print(line, style=style, markup=False, emoji=False, soft_wrap=True)
    else:
        print(line, file=stream)


def say_json(value: JSON) -> None:
    """Write a value as one line of JSON, all that is no printable ASCII escaped."""
    print(json.dumps(value, default=str).replace("\x7f", r"\u007f"))


def say_table(rows: Iterable[Sequence[str]]) -> None:
    """Write rows with aligned columns."""
    table = [[_one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        say("  ".join(cells).rstrip())


def complain(error: Exception) -> None:
    """Write an error to stderr, with its class where it is not one of the library's own."""
    own = isinstance(error, SelfCorrectError | OSError)
    for line in (str(error) if own else f"{type(error).__name__}: {error}").split("\n"):
        say(f"selfcorrect: {line}", stderr=True)


def describe_change(change: JsonObject) -> str:
    r"""Return one edit of a call as people read it.

    >>> describe_change({"path": "/args/day", "before": "Oct 26, 2026", "after": "2026-10-26",
    ...                  "strategy": "format-date", "safety": "inferred"})
    'day  "Oct 26, 2026" → "2026-10-26"  format-date, inferred'
    """
    before, after = (show(change[key]) if key in change else "" for key in ("before", "after"))
    value = f"{before or '(missing)'} → {after or '(removed)'}"
    place = name_place(change["path"])
    if origin := change.get("moved_from"):
        place = f"{name_place(origin)} → {place}"
        value = after if before in ("", after) else value
    return f"{place}  {value}  {change.get('strategy')}, {change['safety']}"


def _one_line(text: str) -> str:
    return " ".join(clean(text).splitlines())
