"""What a recovery did, said without its values: every value by where it came from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from selfcorrect.kernel.detectors import announces
from selfcorrect.learning.history import History
from selfcorrect.learning.recoveries import Recovery
from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import canonical
from selfcorrect.recalling.binding import Sources, expressions
from selfcorrect.recalling.named import is_named

MOST_STEPS: Final = 3

Slot: TypeAlias = tuple[int, str]
"""The number of a step, or -1 for the failing call, and the name of an argument."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Which tools were called first, and which arguments were changed: all but the values."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]
    edits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """One recovery as it may be said: for each place, every way to say its value.

    A way is the canonical JSON of an expression or of a constant.
    """

    recovery: Recovery
    skeleton: Skeleton
    ways: Mapping[Slot, tuple[str, ...]]


def seen(recovery: Recovery, history: History) -> Seen | None:
    """What a recovery did, or None where a value in it comes from nowhere that may be named."""
    steps, edits = recovery.steps, recovery.edits
    if len(steps) > MOST_STEPS or not (steps or edits):
        return None
    sources = recovery.failure.sources
    ways: dict[Slot, tuple[str, ...]] = {}
    places = [(n, step.arguments, history.schemas.get(step.tool)) for n, step in enumerate(steps)]
    places.append((-1, edits, history.schemas.get(recovery.failure.call.tool)))
    for number, args, schema in places:
        known: Any = (schema or {}).get("properties") or {}
        for name, value in args.items():
            found = tuple(_ways(name, value, sources, known.get(name) or {}))
            if not found:
                return None
            ways[number, name] = found
    called = tuple((step.tool, tuple(sorted(step.arguments))) for step in steps)
    return Seen(recovery, Skeleton(called, tuple(sorted(edits))), ways)


def _ways(name: str, value: JSON, sources: Sources, schema: JsonObject) -> Iterator[str]:
    shown = value if isinstance(value, str) else json.dumps(value, default=str)
    if announces(name, shown):
        return  # a secret is bound to nothing
    for expression in expressions(value, sources, schema):
        yield canonical(expression)
    looks_bound = isinstance(value, str) and not {"{", "}"}.isdisjoint(value)
    if is_named(value, schema) and not looks_bound:
        is_whole = isinstance(value, float) and value.is_integer()
        yield canonical(int(value) if is_whole else value)
