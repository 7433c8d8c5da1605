"""What happened on a thread, branches included, and the head: the place one looks at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from selfcorrect.drawing import END, START, Shape, label_of
from selfcorrect.drawing.svg import Marks
from selfcorrect.errors import GraphSetupError
from selfcorrect.kernel.texts import visible
from selfcorrect.notebook.frame import Frame

_MOST_CHANGES: Final = 200


@dataclass(slots=True)
class Moment:
    """One item of the timeline.

    Attributes:
        number: Its place in the history; what a person goes to.
        checkpoint: LangGraph's id, or None for what left no checkpoint: a node that raised.
        parent: The number of the moment that it follows.
        next: The nodes that run after it, one per task.
        frame: What is shown of it.
        used: The stored execution that stood in for a tool in it, if one did.
    """

    number: int
    checkpoint: str | None
    parent: int | None
    next: tuple[str, ...]
    frame: Frame
    used: int | None = None


@dataclass(slots=True)
class History:
    """All moments of a thread in the order in which they happened, and the head among them."""

    moments: list[Moment] = field(default_factory=list)
    head: int = 0
    _by_checkpoint: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.moments)

    def add(
        self,
        frame: Frame,
        *,
        checkpoint: str | None = None,
        parent: int | None = None,
        following: Sequence[str] = (),
    ) -> Moment:
        """Add a moment; one with a checkpoint becomes the head."""
        number = len(self.moments)
        frame.id, frame.parent = str(number), None if parent is None else str(parent)
        frame.next = tuple(following)
        moment = Moment(number, checkpoint, parent, tuple(following), frame)
        self.moments.append(moment)
        if checkpoint is not None:
            self._by_checkpoint[checkpoint] = number
            self.head = number
        return moment

    def alias(self, checkpoint: str, number: int | None) -> None:
        """A checkpoint that is no moment of its own stands for another one, or for the start."""
        self._by_checkpoint[checkpoint] = -1 if number is None else number

    def knows(self, checkpoint: str | None) -> bool:
        """Whether a checkpoint was met before; None, before every start, always was."""
        return checkpoint is None or checkpoint in self._by_checkpoint

    def of_checkpoint(self, checkpoint: str | None) -> Moment | None:
        """The moment of a checkpoint, if it is known."""
        number = self._by_checkpoint.get(checkpoint or "", -1)
        return None if number < 0 else self.moments[number]

    @property
    def here(self) -> Moment:
        """The moment at the head."""
        return self.moments[self.head]

    @property
    def tip(self) -> Moment:
        """The latest moment that has a checkpoint: where the thread itself stands."""
        return next(m for m in reversed(self.moments) if m.checkpoint is not None)

    def moment(self, number: int | str | None) -> Moment:
        """The moment of a number; for what left no checkpoint, the one that it came from.

        Raises:
            GraphSetupError: If there is none.
        """
        try:
            place = int(number) if number is not None else -1
            found = self.moments[place] if place >= 0 else None
        except (IndexError, ValueError):
            found = None
        if found is None:
            raise GraphSetupError(f"there is no moment {number!r:.40}")
        if found.checkpoint is None and found.parent is not None:
            return self.moments[found.parent]
        return found

    def before(self, node: str) -> Moment:
        """The last moment of this branch after which a node ran or runs.

        Raises:
            GraphSetupError: If there is none.
        """
        for number in reversed(self.line()):
            if node in self.moments[number].next:
                return self.moments[number]
        raise GraphSetupError(
            f"{node!r:.80} is next nowhere on this branch up to here:"
            f" run(until={node!r:.80}) goes on to it"
        )

    def line(self) -> list[int]:
        """The numbers from the start to the head: its branch."""
        line: list[int] = []
        at: int | None = self.head
        while at is not None:
            line.append(at)
            at = self.moments[at].parent
        return line[::-1]

    def changes(self) -> list[dict[str, str]]:
        """All changes of the call on this branch, in order, but for those that were refused."""
        frames = (self.moments[number].frame for number in self.line())
        found = (change for frame in frames for change in frame.changes)
        return list(islice((each for each in found if not each["refused"]), _MOST_CHANGES))

    def seconds(self) -> float | None:
        """How long the steps of this branch took together, where anybody knows."""
        took = [self.moments[number].frame.seconds for number in self.line()]
        known = [each for each in took if each is not None]
        return round(sum(known), 6) if known else None


def ways_of(nodes: Sequence[str], following: Sequence[str]) -> Mapping[tuple[str, str], int]:
    """The edges that lead from what ran to what runs next; nothing next: the end."""
    targets = Counter(following) or Counter([END])
    sources = tuple(dict.fromkeys(nodes)) or (START,)
    return {(source, target): count for source in sources for target, count in targets.items()}


def marks_of(history: History, shape: Shape, breakpoints: Iterable[str] = ()) -> Marks:
    """Where the head stands in the picture."""
    here = history.here
    known = {(edge.source, edge.target) for edge in shape.edges}
    visits: Counter[str] = Counter()
    ways: Counter[tuple[str, str]] = Counter()
    for moment in map(history.moments.__getitem__, history.line()):
        if moment.frame.kind in ("start", "step"):
            visits.update(moment.frame.nodes)
            ways.update(ways_of(moment.frame.nodes, moment.next))
    ended = (END,) if here.frame.kind == "step" else ()
    return Marks(
        visits=visits,
        ways={way: count for way, count in ways.items() if way in known},
        current=tuple(dict.fromkeys(here.frame.nodes)),
        next=tuple(dict.fromkeys(here.next)) or ended,
        breakpoints=tuple(sorted(breakpoints)),
    )


def label(frame: Frame) -> str:
    """What an item of the timeline is called."""
    if frame.kind in ("edit", "fork"):
        return frame.kind
    return visible(" + ".join(label_of(name) for name in dict.fromkeys(frame.nodes))) or "start"
