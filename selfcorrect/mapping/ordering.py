"""The order in which rules are tried: each in its place, unless `before` makes it wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush


def in_order(ids: Sequence[str], before: Mapping[str, Collection[str]]) -> list[str]:
    """The same ids, each in front of those that it has to stand before.

    One that comes too early waits until directly after the last of those that have to stand before
    it; all others keep their order.

    >>> in_order(["a", "b", "c", "d"], {"c": ["a"]})
    ['b', 'c', 'a', 'd']

    Args:
        ids: What is ordered, each once.
        before: What each has to stand before; free of circles.
    """
    place = {name: number for number, name in enumerate(ids)}
    behind = {name: {each for each in before.get(name, ()) if each in place} for name in ids}
    waits = Counter(each for names in behind.values() for each in names)
    free = [place[name] for name in ids if not waits[name]]
    heapify(free)
    ordered = []
    while free:
        name = ids[heappop(free)]
        ordered.append(name)
        for each in behind[name]:
            waits[each] -= 1
            if not waits[each]:
                heappush(free, place[each])
    return ordered


def circles(before: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """The circles that a walk along `before` runs into, each from its first member to itself.

    >>> list(circles({"a": ["b"], "b": ["c"], "c": ["b"]}))
    [['b', 'c', 'b']]
    """
    done: set[str] = set()
    for start in before:
        way: dict[str, None] = {}
        todo = [(start, False)]
        while todo:
            name, left = todo.pop()
            if left:
                done.add(way.popitem()[0])
            elif name in way:
                members = list(way)
                yield [*members[members.index(name) :], name]
            elif name not in done:
                way[name] = None
                todo.append((name, True))
                todo += [(target, False) for target in before.get(name, ())]
