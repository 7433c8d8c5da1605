"""Was this call made before? The two keys that answer it; nobody else makes one.

*Identity* is that of a call which was begun or done: its origin, its id, what it asks. *Doubt* is
shared by all that ask the same of one thread or task, whatever their ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from selfcorrect.model import JSON
from selfcorrect.plain import digest

Task: TypeAlias = tuple[str, str]
"""A task of a host's graph: the superstep that it belongs to, and its node with an id."""

_MODEL: Final = frozenset({"ai", "assistant"})
_MOST: Final = 63
"""Other supersteps whose branches are remembered."""


def identity(origin: JSON, call_id: str | None, equal: str) -> str:
    """The key of one call: who asks again with the same key gets what is remembered.

    Args:
        origin: The task; else what `origin` says.
        call_id: What its caller, or its model, names it.
        equal: The same for calls that ask the same.
    """
    return digest(origin, call_id, equal)


def doubt(thread: str | None, task: JSON, step: str | None, turn: JSON, equal: str) -> str:
    """The key that equal calls share; empty where nothing says that two of them are one matter.

    Args:
        thread: The conversation or job.
        task: What stands in for it.
        step: The step of a host's graph, which stands in for either.
        turn: The last message of a person, for a tool that nobody declared.
        equal: The same for calls that ask the same.
    """
    # The numbers stand in ledgers; the id of a call, which was 2, joins no runs any more.
    places: tuple[tuple[int, JSON], ...] = ((0, thread), (1, task), (3, step))
    place = next(([kind, each] for kind, each in places if each is not None), None)
    return "" if place is None else digest(place, turn, equal)


def origin(
    thread: str | None, around: Iterable[Task], step: str | None, messages: Iterable[Any]
) -> JSON:
    """Where a call without a task comes from, the same if its host makes it once more.

    Args:
        thread: The conversation or job.
        around: The tasks of graphs around this one: of each its node counts, not its run.
        step: The outermost of them, for a host without a thread.
        messages: What was said before; one that counts its ids anew says more in each.

    Returns:
        None where nothing outlives the run.
    """
    if thread is None:
        return None if step is None else [3, step]
    return [0, thread, [task.partition(":")[0] for _, task in around], message_of(messages)]


def tasks_around(namespace: str, supersteps: Mapping[str, Any]) -> tuple[Task, ...]:
    """The tasks of graphs around this one, the outermost first, each with its graph's superstep.

    >>> tasks_around("shop:3f|1|pay:9c|execute:77", {"": "a", "shop:3f|1": "b"})
    (('a', 'shop:3f'), ('b', 'pay:9c'))
    """
    parts = namespace.split("|")[:-1]
    steps = (str(supersteps.get("|".join(parts[:place]))) for place in range(len(parts)))
    return tuple(pair for pair in zip(steps, parts, strict=True) if not pair[1].isdigit())


def branch(known: Mapping[str, list[str]], task: Task) -> tuple[dict[str, list[str]], int]:
    """Which of the branches of a fan-out that make equal calls this one is.

    A branch that is tried again is the one that it was. Where all are made once more, in a
    superstep of another run, whoever comes first is the first: they ask the same.
    """
    superstep, name = task
    tasks = known.get(superstep, [])
    tasks = tasks if name in tasks else [*tasks, name]
    kept = [item for item in known.items() if item[0] != superstep][-_MOST:]
    return {**dict(kept), superstep: tasks}, tasks.index(name)


def message_of(messages: Iterable[Any]) -> JSON:
    """The last message of a model, by its id, else by its place; None where there is none."""
    found: JSON = None
    for place, message in enumerate(messages):
        told = message if isinstance(message, Mapping) else getattr(message, "__dict__", {})
        if _MODEL & {told.get("type"), told.get("role")}:
            found = told.get("id") or place
    return found
