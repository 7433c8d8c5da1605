"""The places of a call: what its arguments hold, and what their schema declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from selfcorrect.model import ABSENT, JSON, JsonObject
from selfcorrect.pointer import get, join, split
from selfcorrect.schema.nested import declared_below
from selfcorrect.text import normal
from selfcorrect.words import word_list

HEADS: Final = frozenset(
    word_list("""
        args arguments argument body query path header headers cookie cookies form data params
        parameters parameter input inputs request requestbody payload kwargs root instance json
        value values $ properties variables spec attributes relationships object member""")
)
"""Containers of the wire that are no part of the call: taken off the front of a path."""

_WHOLES: Final = frozenset(
    word_list("""
        args arguments body query data params parameters input root instance""")
)
MOST: Final = 300
_DEEPEST: Final = 10
_BRANCH: Final = re.compile(
    r"[\[\](){}\s]|\A(?:str|int|float|bool|list|dict|function-.*|literal|tagged-union|nullable|none)\Z"
)


@dataclass(frozen=True)
class Places:
    """Where an argument may stand. All pointers here start below the arguments."""

    arguments: JSON
    schema: JsonObject = field(default_factory=dict)

    @cached_property
    def leaves(self) -> tuple[tuple[str, JSON], ...]:
        """Pointer and value of every place in the call, containers included, in order."""
        found: list[tuple[str, JSON]] = []
        stack: list[tuple[JSON, str, int]] = [(self.arguments, "", 0)]
        while stack and len(found) < MOST:
            value, path, depth = stack.pop()
            if path:
                found.append((path, value))
            if depth > _DEEPEST:
                continue
            if isinstance(value, Mapping):
                items = [(v, path + join(str(k)), depth + 1) for k, v in list(value.items())[:MOST]]
                stack.extend(reversed(items))
            elif isinstance(value, list | tuple):
                items = [(v, path + join(i), depth + 1) for i, v in enumerate(value[:50])]
                stack.extend(reversed(items))
        return tuple(found)

    @cached_property
    def top(self) -> tuple[str, ...]:
        """Pointers of the arguments themselves."""
        return tuple(path for path, _ in self.leaves if path.count("/") == 1)

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """Pointers of the schema's properties; list items share the pointer of their list."""
        return declared_below(self.schema)

    @cached_property
    def lacking(self) -> tuple[str, ...]:
        """Names that the schema requires at its top and the call lacks."""
        names = self.schema.get("required") if isinstance(self.schema, Mapping) else None
        given = self.arguments if isinstance(self.arguments, Mapping) else {}
        if not isinstance(names, list):
            return ()
        return tuple(name for name in names if isinstance(name, str) and name not in given)

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Last token, without case and separators, of every place, with its pointers."""
        index: dict[str, list[str]] = {}
        for path in dict.fromkeys((*(path for path, _ in self.leaves), *self.declared)):
            token = split(path)[-1]
            if not token.isdigit():
                index.setdefault(normal(token), []).append(path)
        return {key: tuple(paths) for key, paths in index.items() if key}

    def value(self, path: str) -> JSON:
        """The argument at a pointer, or `ABSENT`."""
        return get(self.arguments, path)

    def known(self, name: str) -> tuple[str, ...]:
        """Pointers of the places that a name or dotted path in a text means."""
        name = name.strip("-. '\"")
        direct = self.names.get(normal(name), ())
        if direct:
            return outermost(direct)
        tokens = [token for token in re.split(r"[.\[\]/]+", name) if token]
        if len(tokens) > 1:
            found = follow(tokens, self)
            if found is not None and len(found) == len(tokens):
                return (join(*found),)
            return outermost(self.names.get(normal(tokens[-1]), ()))
        return ()


def outermost(paths: Sequence[str]) -> tuple[str, ...]:
    """The pointers that are least deep."""
    depth = min((path.count("/") for path in paths), default=0)
    return tuple(path for path in paths if path.count("/") == depth)


def deepest(paths: Iterable[str]) -> list[str]:
    """The pointers without those that merely contain another."""
    items = list(dict.fromkeys(paths))
    return [p for p in items if not any(other.startswith(p + "/") for other in items)]


def whole_list(path: str, place: Places) -> str:
    """The list instead of one of its plain values."""
    parent, _, last = path.rpartition("/")
    if last.isdigit() and parent and isinstance(place.value(parent), list | tuple):
        value = place.value(path)
        if not isinstance(value, Mapping | list | tuple):
            return parent
    return path


def from_wire(path: str, place: Places) -> str | None:
    """The pointer that a path of the wire means (`/body/items/0/qty`), or None."""
    tokens = list(split(path if path.startswith("/") else "/" + path))
    if tokens[:1] == ["args"]:
        tokens = tokens[1:]
    tokens = [token for token in tokens if token]
    options = [tokens]
    while len(tokens) > 1 and (normal(tokens[0]) in HEADS or tokens[0] == "$"):
        tokens = tokens[1:]
        options.append(tokens)
    for candidate in (*options, *(tokens[start:] for start in range(1, min(len(tokens), 6)))):
        found = follow(candidate, place)
        if found is not None and len(found) == len(candidate):
            return join(*found)
    best = max((follow(candidate, place) or [] for candidate in options), key=len, default=[])
    clean = options[-1]
    if not clean or (len(clean) == 1 and normal(clean[0]) in _WHOLES and not best):
        return None
    if not best:
        return join(*(token for token in clean if not _BRANCH.search(token)))
    start = next(len(o) - len(clean) for o in options if follow(o, place))
    rest = clean[max(0, len(best) - max(0, start)) :]
    inside = place.value(join(*best))
    if isinstance(inside, Mapping | list | tuple) or inside is ABSENT:
        best = [*best, *[token for token in rest if not _BRANCH.search(token)][-1:]]
    return join(*best)


def follow(tokens: Sequence[str], place: Places) -> list[str] | None:
    """As many tokens as lead somewhere in the call or the schema, in the call's own spelling."""
    found: list[str] = []
    value: Any = place.arguments
    for token in tokens:
        if isinstance(value, list | tuple) and token.isdigit():
            found.append(token)
            value = value[int(token)] if len(token) < 7 and int(token) < len(value) else ABSENT
            continue
        own = _key(value, token)
        if own is not None and isinstance(value, Mapping):
            value = value[own]
        else:
            wanted = [normal(t) for t in found if not t.isdigit()] + [normal(token)]
            own = next(
                (
                    split(path)[-1]
                    for path in place.declared
                    if [normal(t) for t in split(path)] == wanted
                ),
                None,
            )
            value = ABSENT
        if own is None:
            break
        found.append(own)
    return found or None


def _key(value: JSON, token: str) -> str | None:
    if not isinstance(value, Mapping):
        return None
    if token in value:
        return token
    wanted = normal(token)
    same = [key for key in value if isinstance(key, str) and normal(key) == wanted]
    return same[0] if wanted and len(same) == 1 else None
