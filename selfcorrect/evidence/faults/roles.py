"""What an argument is by its name: a date, a host, a whole command or query."""

from __future__ import annotations

from typing import Final

from selfcorrect.evidence.faults.place import Places
from selfcorrect.pointer import split
from selfcorrect.text import words_of
from selfcorrect.words import word_list

FREE_FORM: Final = frozenset(
    word_list("""
        command cmd query sql expression expr code script statement argv program filter xpath
        template""")
)
_BESIDE: Final = frozenset({"variables", "timeout", "cwd", "workdir", "env", "shell", "encoding"})
_DATES: Final = frozenset(
    ["date", "datetime", "time", "when", "start", "end", "since", "until", "day", "month"]
)
TOOLS: Final = frozenset({"name", "tool", "service", "command", "action", "operation", "prompt"})


def free_form(place: Places) -> list[str]:
    """The one argument that holds a whole command or query, where there is nothing beside it."""
    names = {path: split(path)[-1].lower() for path in place.top}
    main = [path for path, name in names.items() if name not in _BESIDE]
    if len(main) != 1 or names[main[0]] not in FREE_FORM:
        return []
    return main


def dated(place: Places) -> list[str]:
    """The one argument that is by its name a date: "month must be in 1..12" speaks of a part."""
    found = [path for path in place.top if _DATES & set(words_of(split(path)[-1]))]
    return found if len(found) == 1 else []
