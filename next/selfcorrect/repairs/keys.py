"""Which argument each unknown key of an object means: one joint assignment."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from selfcorrect.model import JSON, Safety
from selfcorrect.names import near_letters, words
from selfcorrect.schema.slot import Slot

_MANY: Final = 200
"""Unknown keys beyond which only equal words are compared."""
_PLAIN: Final = re.compile(r"[^\W\d][\w.\- ]*")


@dataclass(frozen=True, slots=True)
class Assignment:
    """What unknown keys mean.

    Attributes:
        names: By key, the argument that it means.
        safety: By key, how sure that is.
        ties: By key, the arguments that it may mean as well as another key, or another argument.
    """

    names: dict[str, str] = field(default_factory=dict)
    safety: dict[str, Safety] = field(default_factory=dict)
    ties: dict[str, list[str]] = field(default_factory=dict)


def assign_keys(
    unknown: Mapping[str, JSON],
    free: Mapping[str, Slot],
    synonyms: Mapping[str, str],
    reads: Callable[[JSON, Slot], bool],
) -> Assignment:
    """Assign unknown keys to arguments under which nothing stands, the surest likeness first.

    Two keys for one argument are a tie and mean none, and so are two arguments for one key.

    Args:
        unknown: The unknown keys with their values.
        free: The arguments that are not there, by name.
        synonyms: Arguments by the other names that they go by.
        reads: Whether a value can be read as what an argument wants.
    """
    found = Assignment()
    keys = [key for key in unknown if _PLAIN.fullmatch(key)]
    by_words: dict[str, list[str]] = {}
    for name in free:
        by_words.setdefault(_joined(name), []).append(name)
    near = keys if len(keys) <= _MANY else ()
    tiers = (
        (Safety.INFERRED, {key: [synonyms[key]] for key in keys if key in synonyms}),
        (Safety.EXACT, {key: by_words.get(_joined(key), []) for key in keys}),
        (
            Safety.INFERRED,
            {key: [name for name in free if near_letters(key, name)] for key in near},
        ),
    )
    for safety, alike in tiers:
        taken = {*found.names.values(), *(name for names in found.ties.values() for name in names)}
        pairs = [
            (key, name)
            for key, names in alike.items()
            if key not in found.names and key not in found.ties
            for name in names
            if name in free and name not in taken and reads(unknown[key], free[name])
        ]
        _assign(pairs, safety, found)
    return found


def _joined(name: str) -> str:
    return "".join(words(name)) or name


def _assign(pairs: Iterable[tuple[str, str]], safety: Safety, found: Assignment) -> None:
    """Take the pairs that have no rival; note the others as ties."""
    by_key: dict[str, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for key, name in pairs:
        by_key.setdefault(key, []).append(name)
        by_name.setdefault(name, []).append(key)
    for key, names in by_key.items():
        if len(names) == 1 and len(by_name[names[0]]) == 1:
            found.names[key], found.safety[key] = names[0], safety
        else:
            found.ties[key] = names
