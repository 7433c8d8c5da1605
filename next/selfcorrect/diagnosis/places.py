"""Places: the arguments of a call and of its schema by dotted path, and their values in a text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.model import JSON, JsonObject

MARK: Final = "\ue000"
"""Stands for a value of the call in a text; a character that no message has."""
_QUOTES: Final = tuple("\"'`‘’“”«»")
_DEPTH: Final = 5
_MOST: Final = 200
_SHORT: Final = 3
"""Characters that a word needs to count as an argument's value where it is not quoted."""
_LONG: Final = 200


@dataclass(frozen=True, slots=True)
class Places:
    """Where an argument may be at fault.

    Attributes:
        values: Values of the call by dotted path, containers included.
        keys: The keys of each known path.
        declared: Arguments that the schema has.
        required: Arguments that the schema requires.
        by_name: Paths by their plain name, and by the plain name of their last key.
    """

    values: Mapping[str, JSON]
    keys: Mapping[str, tuple[str, ...]]
    declared: tuple[str, ...]
    required: tuple[str, ...]
    by_name: Mapping[str, tuple[str, ...]]

    @property
    def top(self) -> tuple[str, ...]:
        """The arguments of the call that stand in no other."""
        return tuple(path for path in self.values if len(self.keys[path]) == 1)

    def named(self, name: str) -> tuple[str, ...]:
        """Return the paths that a name may mean, whatever its case and separators."""
        return self.by_name.get(plain_name(name), ())


def places_of(args: JSON, schema: JsonObject | None) -> Places:
    """List the arguments of a call and of a schema."""
    found = dict(_values(args, (), 0))
    properties = (schema or {}).get("properties")
    required = (schema or {}).get("required")
    declared = tuple(map(str, properties)) if isinstance(properties, Mapping) else ()
    keys = {".".join(path): path for path in found} | {each: (each,) for each in declared}
    names: dict[str, tuple[str, ...]] = {}
    for path, parts in keys.items():
        for name in {plain_name(path), plain_name(parts[-1])}:
            names[name] = (*names.get(name, ()), path)
    return Places(
        {".".join(path): value for path, value in found.items()},
        keys,
        declared,
        tuple(map(str, required)) if isinstance(required, list) else (),
        names,
    )


def plain_name(name: str) -> str:
    """Return a name without case and separators.

    >>> plain_name("departure_date") == plain_name("departureDate")
    True
    """
    return re.sub(r"[^\w.]|_", "", name).strip(".").casefold()


def _values(node: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], JSON]]:
    if isinstance(node, list | tuple):
        node = dict(enumerate(node))
    if isinstance(node, Mapping) and depth < _DEPTH:
        for key, value in list(node.items())[:_MOST]:
            inner = (*path, str(key))
            yield inner, value
            yield from _values(value, inner, depth + 1)


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with `MARK` in place of each value of the call.

    Attributes:
        text: The text; what a value says is not what the tool says.
        quoted: Paths whose value the text has in quotes.
        bare: Paths whose value the text has without.
    """

    text: str
    quoted: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()


def mask(text: str, places: Places) -> Masked:
    """Mark the values of the call in a text, the longest first."""
    quoted: list[str] = []
    bare: list[str] = []
    spelt = sorted(
        ((_spelling(value), path) for path, value in places.values.items()),
        key=lambda pair: -len(pair[0]),
    )
    for value, path in spelt:
        if not value or value not in text:
            continue
        whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
        found = whole.search(text)
        if found is None:
            continue
        is_quoted = text[found.start() - 1 : found.start()] in _QUOTES
        if is_quoted or len(value) >= _SHORT or value.lstrip("-").isdigit():
            (quoted if is_quoted else bare).append(path)
            # A value that is an argument's name too may stand for the name elsewhere.
            text = whole.sub(MARK, text, count=1 if places.named(value) else 0)
    return Masked(text, tuple(quoted), tuple(bare))


def _spelling(value: JSON) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    return str(value).strip()[:_LONG]
