"""What the kernel is asked about a change, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from selfcorrect.kernel.spellings import Slot, Words
from selfcorrect.kernel.texts import quoted, spelled
from selfcorrect.model import JSON, Call, Extent, Safety

Path = tuple[str | int, ...]
"""The tokens on the way to a place in the arguments; the place of an item is a number."""

WORST: Final = {
    safety: place
    for place, safety in enumerate(
        (Safety.EXACT, Safety.HUMAN, Safety.INFERRED, Safety.LEARNED, Safety.MODEL, Safety.LOSSY)
    )
}
"""How far a class is from what was written; of several, the farthest counts."""
FOLLOWS: Final = (Safety.EXACT, Safety.INFERRED)
"""The classes of what follows from what was written, and loses and invents nothing."""
LAWS: Final = (
    "what fits is left alone",
    "nothing is lost",
    "no key disappears",
    "nothing is invented",
    "nothing stands around",
    "the tool is the one that was named",
)
"""The laws, each at its number."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a tool said: no value runs unasked because it stands there.

    Attributes:
        said: A text, or JSON with texts in it.
        kind: An error of this run, one of before, or a result.
        server: Whose tool it was; empty if nobody knows.
    """

    said: JSON
    kind: Literal["error", "past", "result"] = "error"
    server: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What a call was, what it would become, and what is known of both.

    Attributes:
        written: The call as it was; with `raw`, the text of its arguments or of all of it.
        runs: The call as it would run.
        slot: What the schema of the tool that would run says of a place in the arguments.
        offered: The names of the tools on offer.
        effect: What the tool that would run may do.
        declared: Whether anybody said so.
        takes: The tools that take what would run as it is, looked up when it is asked for.
        offers: What the schema of each of them says of a place in its arguments, if it is known.
        foreign: Whether they are of several servers, of which each may use the names of another.
        topic: Words of its name and description.
        origins: By pointer into `runs`, the class of who made the value there, if nobody wrote it.
        waived: By pointer into `written`, the class of who lets go what stands there.
        blamed: Pointers of the values that the error of an execution names.
        words: What a deployment declares to mean the same.
        suggested: Values that the tool itself proposes, or lists in its error.
        heard: What tools said, which names no value.
        known: What the user, the system and the schema say, which does.
        source: The text that the call was read from, which keeps how its numbers were spelled.
        extents: Where the calls of a whole text stand in it, as its reader says.
        ended: Whether the model ended the text by itself; None if nobody knows.
        edge: Whether a call in the first or last lines of a text is made, if its tool acts.
        keys: Further keys of an id, a name and arguments, which a deployment declares.
        wanted: The tools that the request asks for, if it names some.
        objects: By place, the object that was written there, or is read out of what was.
        renames: By object, what its unknown keys stand for together; found when it is asked for.
    """

    written: Call
    runs: Call
    slot: Callable[[Path], Slot]
    offered: Collection[str] = ()
    effect: str = "mutating"
    declared: bool = False
    takes: Callable[[], Collection[str]] = field(default=lambda: ())
    offers: Callable[[str], Callable[[Path], Slot]] | None = None
    foreign: bool = False
    topic: frozenset[str] = frozenset()
    origins: Mapping[str, Safety] = field(default_factory=dict)
    waived: Mapping[str, Safety] = field(default_factory=dict)
    blamed: Collection[str] = ()
    words: Words = field(default_factory=Words)
    suggested: Sequence[JSON] = ()
    heard: Sequence[Heard] = ()
    known: Sequence[str] = ()
    source: str = ""
    extents: Sequence[Extent] = ()
    ended: bool | None = None
    edge: bool = False
    keys: Collection[str] = ()
    wanted: Sequence[str] = ()
    objects: dict[Path, Mapping[str, JSON]] = field(default_factory=dict, compare=False)
    renames: dict[Path, Mapping[str, str]] = field(default_factory=dict, compare=False)

    @property
    def acts(self) -> bool:
        """Whether the tool may change something."""
        return self.effect != "read_only"

    @property
    def is_unasked(self) -> bool:
        """Whether the request asks for other tools."""
        name = self.runs.name
        return bool(self.wanted) and name in self.offered and name not in self.wanted


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a change does, by the law that it falls under.

    Attributes:
        safety: The class for it.
        law: The number of the law.
        path: Pointer to the place in what runs, or in what was written where nothing runs.
        words: What it is, for people and models; empty where nothing is to be told.
    """

    safety: Safety
    law: int
    path: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The class of a change, and everything that it rests on."""

    reasons: tuple[Reason, ...] = ()

    @property
    def safety(self) -> Safety:
        """The worst class of all reasons."""
        return worst(reason.safety for reason in self.reasons)

    @property
    def words(self) -> str:
        """What is wrong, each thing once; empty where nothing is to be told."""
        return "; ".join(dict.fromkeys(one.words for one in self.reasons if one.words))

    def classes(self, paths: Sequence[str]) -> list[Safety]:
        """The class of the change at each place; what concerns none of them concerns all."""
        at, under = dict[str, list[Reason]](), dict[str, list[Reason]]()
        for reason in self.reasons:
            at.setdefault(reason.path, []).append(reason)
            for place in _ways_to(reason.path):
                under.setdefault(place, []).append(reason)
        found = [
            [*under.get(path, ()), *(one for place in _ways_to(path) for one in at.get(place, ()))]
            for path in paths
        ]
        met = {id(one) for ones in found for one in ones}
        astray = [one.safety for one in self.reasons if id(one) not in met]
        return [worst([*astray, *(one.safety for one in ones)]) for ones in found]


def worst(classes: Iterable[Safety]) -> Safety:
    """The class that is farthest from what was written; exact where there is none."""
    return max(classes, key=lambda one: WORST[one], default=Safety.EXACT)


def _ways_to(path: str) -> Iterator[str]:
    """A pointer and the pointers of all that it stands in."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def touches(one: str, other: str) -> bool:
    """Whether two pointers lead to one place, or one into the other."""
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


def shown(path: Path) -> str:
    """A place for people."""
    return named(spelled(path)) if path else "the arguments"


def named(name: str) -> str:
    """A name from outside inside a sentence, without secrets and bounded."""
    return f"`{quoted(name, 60)[1:-1]}`"
