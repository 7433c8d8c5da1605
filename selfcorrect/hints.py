"""What an author probably meant: near matches for names, and numbers that can be meant."""

from __future__ import annotations

from collections.abc import Iterable

from selfcorrect.errors import GraphSetupError

_LONGEST = 200


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names nearest to this one, at most two.

    >>> close_names("fromat-date", ["format-date", "format-time", "wait"])
    ['format-date', 'format-time']
    """
    from difflib import get_close_matches

    names = [item for item in dict.fromkeys(known) if len(item) <= _LONGEST]
    return get_close_matches(name[:_LONGEST], names, n=2)


def near(name: str, known: Iterable[str]) -> str | None:
    """A hint at the known names that this one may have meant, or None.

    >>> near("prioritie", ["priority", "params"])
    "did you mean 'priority'?"
    """
    close = close_names(name, known)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else None


def whole(where: str, name: str, value: object, *, least: int = 0) -> None:
    """Refuse a setting that is no whole number from `least` up.

    Raises:
        GraphSetupError: Where it is something else; it names the setting.

    >>> whole("AutoCorrect", "max_retries", -1)
    Traceback (most recent call last):
    ...
    selfcorrect.errors.GraphSetupError: AutoCorrect: max_retries is a whole number from 0 up, not -1
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise GraphSetupError(
            f"{where}: {name} is a whole number from {least} up, not {value!r:.80}"
        )


def switch(where: str, name: str, value: object) -> None:
    """Refuse a setting that is neither True nor False: `"no"` counts as true in Python.

    Raises:
        GraphSetupError: Where it is something else; it names the setting.

    >>> switch("SelfCorrection", "ask_person", "no")
    Traceback (most recent call last):
    ...
    selfcorrect.errors.GraphSetupError: SelfCorrection: ask_person is True or False, not 'no'
    """
    if not isinstance(value, bool):
        raise GraphSetupError(f"{where}: {name} is True or False, not {value!r:.80}")
