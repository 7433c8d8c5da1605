"""Which answer belongs to which call of a thread, and which id each call gets. Knows no form."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice, takewhile
from typing import TypeAlias

from selfcorrect.model import frozen

_LONGEST = 40
LOST = "The answer to this call is missing. Nobody knows whether the call was made."
MALFORMED = "This call was not made: its arguments are not a JSON object."
"""What stands in the place of an answer that is missing."""


Entry: TypeAlias = tuple[str, ...] | str | None
"""What pairing sees of a message: the ids of its calls, empty where one has none; the id of the
call that it answers; or None, if it neither calls nor answers."""


@frozen
class Step:
    """One message of a valid thread.

    Attributes:
        at: Where the message stands in the given thread; None for an answer that is missing.
        ids: The ids of its calls, or the id of the call that it answers.
        call: Of an answer: where its call stands, as place of the message and index in it.
    """

    at: int | None
    ids: tuple[str, ...] = ()
    call: tuple[int, int] | None = None


Names: TypeAlias = Callable[[int, tuple[int, int]], bool]
"""Whether the answer at a place names the tool of a call."""


def pair(entries: Sequence[Entry], names: Names = lambda *_: False) -> list[Step]:
    """Return the thread in which each call has an id of its own and one answer directly behind it.

    An answer belongs to the nearest turn before it that has a call with its id and no answer yet.
    Of several such calls in it, the first one whose tool the answer names is meant, else the first
    one. An answer to no call is left out.

    >>> [step.ids for step in pair([("a",), ("a",), "a"])]
    [('a',), ('a',), ('a_2',), ('a_2',)]
    """
    answers, ids = _find_answers(entries, names), _own_ids(entries)
    steps: list[Step] = []
    for at, entry in enumerate(entries):
        if isinstance(entry, str):
            continue
        own = ids.get(at, ())
        steps.append(Step(at, own))
        steps += (
            Step(answers.get((at, index)), (call_id,), (at, index))
            for index, call_id in enumerate(own)
        )
    return steps


_MOST_COMPARED = 100
"""How many calls with one id an answer is compared with."""


def _find_answers(entries: Sequence[Entry], names: Names) -> dict[tuple[int, int], int]:
    """Return where the answer of each answered call stands, by place and index of the call."""
    waiting: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    found: dict[tuple[int, int], int] = {}
    for at, entry in enumerate(entries):
        if isinstance(entry, tuple):
            # Of calls that share an id, the last message comes first, and in it the first call.
            for index in reversed(range(len(entry))):
                waiting[entry[index]].append((at, index))
        elif entry is not None and waiting[entry]:
            found[_take_named(waiting[entry], at, names)] = at
    return found


def _take_named(waiting: list[tuple[int, int]], at: int, names: Names) -> tuple[int, int]:
    """Take the call that an answer belongs to out of a list; the nearest turn stands last."""
    near = islice(reversed(waiting), _MOST_COMPARED)
    turn = takewhile(lambda each: each[0] == waiting[-1][0], near)
    back = next((back for back, each in enumerate(turn) if names(at, each)), 0)
    return waiting.pop(-1 - back)


def _own_ids(entries: Sequence[Entry]) -> dict[int, tuple[str, ...]]:
    """Return the ids by place: an id that is empty or used before is replaced by a new one."""
    calling = {at: entry for at, entry in enumerate(entries) if isinstance(entry, tuple)}
    taken = {call_id for ids in calling.values() for call_id in ids}
    used: set[str] = set()
    numbers: defaultdict[str, int] = defaultdict(lambda: 1)

    def own(call_id: str) -> str:
        made, stem = call_id, call_id[:_LONGEST] or "call"
        while not made or made in used or (made in taken and made != call_id):
            numbers[stem] += 1
            made = f"{stem}_{numbers[stem]}"
        used.add(made)
        return made

    return {at: tuple(map(own, ids)) for at, ids in calling.items()}
