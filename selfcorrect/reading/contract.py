"""What every reader of model output takes and gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from selfcorrect.effects import UNDECLARED, destroys
from selfcorrect.model import JSON, Call, Extent
from selfcorrect.protocols import Effect, Tool
from selfcorrect.text import normal

MOST_CALLS: Final = 1_000
"""More calls in one text than anybody means."""
ATTEMPT: Final = 100
"""What one attempt to read something costs, in characters looked at."""
_NAMESPACE: Final = re.compile(r"[.:/]|__")
_RESIDUE: Final = re.compile(r"\s*+<[|\uff5c].*", re.DOTALL)


class Oddity(StrEnum):
    """The deviations on which something hangs; what the others say is only told."""

    WRAPPING = "wrapping"
    """The call is strictly valid, and something stands around it."""
    CLOSER_MISSING = "closer_missing"
    CLOSER_TOO_MANY = "closer_too_many"
    NO_ARGUMENTS = "no_arguments"
    BESIDE = "beside"
    """An argument stood beside the others."""
    BARE = "bare"
    """A text had no quotes."""
    QUOTES_INSIDE = "quotes_inside"
    TRAILING_COMMA = "trailing_comma"
    COMMA_MISSING = "comma_missing"
    REOPENED = "reopened"
    """A list that nothing opened."""


GUESSES: Final = frozenset(
    {Oddity.QUOTES_INSIDE, Oddity.COMMA_MISSING, Oddity.CLOSER_MISSING, Oddity.REOPENED}
)
"""After one of these nobody can be sure of another."""


class Deviation(NamedTuple):
    """One way in which a text differs from what it was read as.

    Attributes:
        offset: Where, in characters from the start of the text.
        what: What it was, in a few words.
        code: What it is to this program, where something hangs on it.
    """

    offset: int
    what: str
    code: Oddity | None = None


def has(deviations: Iterable[Deviation], code: Oddity) -> bool:
    """Whether one of the deviations is of this sort."""
    return any(each.code is code for each in deviations)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text is not read, and where.

    Attributes:
        offset: Where, in characters from the start of the text.
        what: What stands in the way, in a few words.
        cut: The end of the text seems to be missing.
        reach: How far the reader had looked.
        deep: It is nested too deeply to be read.
    """

    offset: int
    what: str
    cut: bool = False
    reach: int = field(default=0, compare=False, repr=False)
    deep: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class JsonRead:
    """A value that was read.

    Attributes:
        value: The value.
        start: Where it starts in the text.
        end: Where it ends.
        deviations: What was not strict JSON, in the order in which it was met.
        rivals: Other values that the same text could stand for, because a closing bracket is
            missing; only a schema can rule them out.
        unclosed: Whether the text ends inside it.
    """

    value: JSON
    start: int
    end: int
    deviations: tuple[Deviation, ...] = ()
    rivals: tuple[JSON, ...] = ()
    unclosed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallKeys:
    """The keys under which a call's parts are found; the first that is there counts.

    >>> keys = ToolCallKeys()
    >>> ToolCallKeys(name=(*keys.name, "fn")).name
    ('name', 'tool', 'tool_name', 'fn')
    """

    id: tuple[str, ...] = ("id", "tool_call_id")
    name: tuple[str, ...] = ("name", "tool", "tool_name")
    arguments: tuple[str, ...] = ("arguments", "args", "parameters", "params", "tool_args")

    @property
    def own(self) -> frozenset[str]:
        """Those that are none of the usual ones."""
        usual = ToolCallKeys()
        known = {*usual.id, *usual.name, *usual.arguments}
        return frozenset({*self.id, *self.name, *self.arguments} - known)


@dataclass(frozen=True, slots=True)
class Candidate(Extent):
    """A call that a reader saw in a text.

    Attributes:
        deviations: How the text differs from a strictly valid call.
        id: The call's id, if it has one.
        fault: Why they could not be read.
        code: Written as a call in code (`f(x=1)`), or only seems to be one.
        tagged: Written as a tag of its own.
    """

    deviations: tuple[Deviation, ...] = ()
    id: str | None = None
    fault: Fault | None = None
    code: bool = False
    tagged: bool = False

    @property
    def call(self) -> Call:
        """The call in the form that the loop carries."""
        if self.args is not None:
            return Call(self.name, self.args, self.id)
        return Call(self.name, {}, self.id, "")


class Offered(dict[str, Tool]):
    """The offered tools, which also answer which of them a written name stands for."""

    __slots__ = ("_forms",)

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        super().__init__(tools)
        self._forms: dict[str, Tool | None] = {}
        for name, tool in tools.items():
            form = normal(name)
            self._forms[form] = None if form in self._forms else tool

    def effect_of(self, name: str) -> Effect:
        """What a call of this name may do, whichever tool is meant."""
        tool = self.meant(name)
        if tool is None:
            all_read = {one.effect for one in self.values()} == {"read_only"}
            return "read_only" if all_read else UNDECLARED
        return "destructive" if destroys(tool) else tool.effect

    def only_reads(self, name: str) -> bool:
        """Whether a call of this name changes nothing, whichever tool is meant."""
        return self.effect_of(name) == "read_only"

    def meant(self, name: str) -> Tool | None:
        """The one tool whose name is equal but for case, separators, namespace and residue."""
        if (tool := self.get(name)) is not None:
            return tool
        if len(name) > 200:
            return None
        rest = without_residue(name)
        while rest:
            tool = self._forms.get(normal(rest)) if normal(rest) else None
            if tool is not None:
                return tool
            border = _NAMESPACE.search(rest)
            rest = rest[border.end() :] if border else ""
        return None


class Reader(Protocol):
    """Finds the calls of one format in a text. Never raises, takes linear time."""

    def __call__(self, text: str, tools: Offered, /) -> tuple[Candidate, ...]: ...


def without_residue(name: str) -> str:
    """A name without what a chat template left behind it: `ls<|channel|>commentary` is `ls`."""
    return _RESIDUE.sub("", name).strip()


def parameters(tool: Tool | None) -> Mapping[str, object]:
    """The schemas of a tool's parameters by name, in the order in which they are declared."""
    found = tool.schema.get("properties") if tool is not None else None
    return found if isinstance(found, Mapping) else {}


def place(text: str, offset: int) -> str:
    r"""An offset in words for people: `line 2, column 5`.

    >>> place('{"a":\n "b', 7)
    'line 2, column 2'
    """
    line = text.count("\n", 0, offset) + 1
    return f"line {line}, column {offset - text.rfind(chr(10), 0, offset)}"
