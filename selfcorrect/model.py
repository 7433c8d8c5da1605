"""Frozen data that passes between the nodes: calls, findings, changes, repairs, reports.

Everything here turns into plain JSON and back (`to_json`, `…from_json`), so that it can live in
a checkpoint, in a log line and in a notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias, final

from selfcorrect.kinds import Category as Category
from selfcorrect.kinds import ErrorKind as ErrorKind
from selfcorrect.kinds import Safety as Safety
from selfcorrect.kinds import Severity as Severity
from selfcorrect.kinds import Source as Source

JSON: TypeAlias = Any
"""None, bool, int, float, str, list of JSON, or dict of str to JSON."""

JsonObject: TypeAlias = Mapping[str, JSON]


@final
class _Absent(Enum):
    """Stands for a value that is not there, where None is one."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""The value of a place in a call where there is nothing; not the same as None (JSON null)."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. `raw` is text that could not be read strictly.

    With `raw` set and a `name`, the raw text is the arguments; without a name it is the whole
    call. `args` is then empty, and such a call is never executed.
    """

    name: str
    args: JsonObject = field(default_factory=dict)
    id: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class InvalidArgs:
    """The arguments do not fit the schema that was sent to the model."""

    raw: JSON
    parse_error: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class DeserializationError:
    """The arguments fit the schema but could not be turned into the tool's own type."""

    raw: JSON
    target: str
    cause: BaseException | None = None


@dataclass(frozen=True, slots=True)
class ExecutionError:
    """The tool ran and failed."""

    args: JsonObject
    cause: BaseException


@dataclass(frozen=True, slots=True)
class EscalationError:
    """Someone in the loop (a tool, a strategy, a fixer) asks for help from above."""

    source: str
    reason: str
    severity: Severity = Severity.HIGH
    original: ToolError | None = None
    attempts: int = 0


ToolError: TypeAlias = InvalidArgs | DeserializationError | ExecutionError | EscalationError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, with what is known of it.

    A reader fills in the evidence (`text` to `retry_after`); the error-strategy map adds the
    decision (`kind` to `ladder`).

    Attributes:
        text: What the emitter wrote; untrusted.
        types: Dotted class names over the whole MRO, most specific first; `InvalidArgs`,
            `UnknownTool`, `MalformedCall` for what selfcorrect found itself.
        status: HTTP status, or a string such as an SQLSTATE or a gRPC code name.
        code: The emitter's error code; the JSON Schema keyword for `InvalidArgs`.
        paths: JSON Pointers into the call: `/args/passengers/0/age`, `/name`.
        constraint: What was violated, in JSON Schema words: `{"minimum": 1}`.
        suggestions: Values or names that the emitter itself proposes.
        retry_after: Seconds that the emitter asks to wait.
        captures: Named groups of the rule's pattern.
        rule: Id of the rule that decided.
        ladder: Names of the strategies to try, in order.
        confidence: How sure kind and category are, from 0 to 1.
        witness: Who saw them. In a finding that no map has decided: `structure` where status, code
            and classes are the error's own, `none` where they were read in its text.
        spoke: The words that spoke for it, with their weights, where the witness is `model`.
    """

    text: str
    types: tuple[str, ...] = ()
    status: int | str | None = None
    code: str | None = None
    paths: tuple[str, ...] = ()
    constraint: JsonObject = field(default_factory=dict)
    suggestions: tuple[JSON, ...] = ()
    retry_after: float | None = None
    kind: ErrorKind = ErrorKind.INTERNAL
    category: Category = Category.NONE
    captures: Mapping[str, str] = field(default_factory=dict)
    rule: str | None = None
    ladder: tuple[str, ...] = ()
    confidence: float = 0.0
    witness: Source = Source.NONE
    spoke: tuple[tuple[str, float], ...] = ()

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters at fault, dotted, without the `/args/` of their pointers."""
        return tuple(
            path.removeprefix("/args/").replace("/", ".").replace("~1", "/").replace("~0", "~")
            for path in self.paths
            if path.startswith("/args/")
        )

    @property
    def path(self) -> str | None:
        """The first place at fault, or None."""
        return self.paths[0] if self.paths else None


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Each finding once, in order; compared with those at its place alone: linear time."""
    kept: list[Finding] = []
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        same = alike.setdefault((one.text, *one.paths), [])
        if one not in same:
            same.append(one)
            kept.append(one)
    return kept


ANSWERS: Final = ("approve", "choose", "answer", "edit", "reject")
"""What a person may answer; `read_answer` says how each is written."""

OWN_CHECKS: Final = frozenset({"InvalidArgs", "MalformedCall", "UnknownTool"})
"""Classes of findings of the library's own checks: their texts are its own, and hold no values."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings of one error; the first is the one that a strategy is asked to mend.

    The single-value properties (`kind`, `category`, `params` …) speak of that first finding.
    """

    findings: tuple[Finding, ...]

    @property
    def finding(self) -> Finding:
        return self.findings[0]

    @property
    def kind(self) -> ErrorKind:
        return self.finding.kind

    @property
    def category(self) -> Category:
        return self.finding.category

    @property
    def params(self) -> tuple[str, ...]:
        return self.finding.params

    @property
    def path(self) -> str | None:
        return self.finding.path

    @property
    def constraint(self) -> JsonObject:
        return self.finding.constraint

    @property
    def captures(self) -> Mapping[str, str]:
        return self.finding.captures

    @property
    def text(self) -> str:
        return self.finding.text

    @property
    def rule(self) -> str | None:
        return self.finding.rule

    @property
    def confidence(self) -> float:
        return self.finding.confidence

    @property
    def witness(self) -> Source:
        return self.finding.witness


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of a call, with its safety class and the reason in words.

    Attributes:
        path: JSON Pointer into the call: `/args/passengers/0/age`, `/name`.
        before: The value there, or `ABSENT`.
        after: The new value, or `ABSENT` to remove the place.
        safety: The class that the policy judges.
        reason: Why, in a few words for people.
        strategy: Who did it; filled in by the repair node.
        rule: Under which rule; filled in by the repair node.
    """

    path: str
    before: JSON
    after: JSON
    safety: Safety
    reason: str
    strategy: str | None = None
    rule: str | None = None


def edit(path: str, before: JSON, after: JSON, reason: str) -> Change:
    """A change that claims nothing: the kernel says of which class it is."""
    return Change(path, before, after, Safety.EXACT, reason)


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a call stands in a text; the JSON `value` that it was read from, if it was one.

    `ended`: whether the model ended it by itself, as the object says that it stands in.
    """

    name: str
    args: JsonObject | None
    start: int = 0
    end: int = 0
    value: JSON = field(default=None, kw_only=True, repr=False)
    ended: bool | None = field(default=None, kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class Changed:
    """The call was mended by these changes, in order: `Changed(a, b)` or `Changed([a, b])`.

    `extents`: where in its text calls were read.
    """

    changes: tuple[Change, ...]
    extents: tuple[Extent, ...] = field(default=(), compare=False, repr=False)

    def __init__(self, *changes: Change | Sequence[Change], extents: Sequence[Extent] = ()) -> None:
        flat = [c for item in changes for c in ([item] if isinstance(item, Change) else item)]
        object.__setattr__(self, "changes", tuple(flat))
        object.__setattr__(self, "extents", tuple(extents))


@dataclass(frozen=True, slots=True)
class Wait:
    """The same call may succeed after `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Result:
    """The strategy answers for the tool; the run ends with `value`."""

    value: JSON


@dataclass(frozen=True, slots=True)
class Ask:
    """A person has to decide. `options` are values or `Change` tuples to choose from."""

    question: str
    options: tuple[JSON, ...] = ()


@dataclass(frozen=True, slots=True)
class GiveUp:
    """This strategy cannot mend it: the next rung.

    Attributes:
        reason: Why not.
        readings: What a value could mean, in words, and the value of each.
    """

    reason: str
    readings: Mapping[str, JSON] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Escalate:
    """The run ends and asks for help from above."""

    reason: str
    severity: Severity = Severity.HIGH


@dataclass(frozen=True, slots=True)
class Terminal:
    """The run ends here: nothing may be tried any more."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The same call is executed up to `times` further times.

    After an execution of a tool that acts broke off, only where `even_if_lost` says that doing it
    twice does no harm.
    """

    times: int = 1
    even_if_lost: bool = False


@dataclass(frozen=True, slots=True)
class Fix:
    """A fixer (an agent of any kind) is asked, at most `retries` further times when it fails."""

    fixer: Callable[..., Any]
    retries: int = 1


@dataclass(frozen=True, slots=True)
class First:
    """Calls of other tools come before this one, which `then` changes.

    They are of class `learned`: made unasked where the policy lets that class run, the tools of all
    of them read or are idempotent, and the failing call itself may be made again afterwards. Each
    goes through the whole loop. Otherwise the model reads a sentence that names them.

    Attributes:
        calls: The calls, in order.
        then: What changes in the failing call afterwards.
        told: What is known of it, behind the calls in that sentence: `came before it in 3 of 3
            runs`.
        entry: What counts of it are kept under, if anything.
        suggest: It is only told, never done unasked.
    """

    calls: tuple[Call, ...]
    then: tuple[Change, ...] = ()
    told: str = "comes before it"
    entry: str | None = None
    suggest: bool = False


Repair: TypeAlias = (
    Changed | Wait | Result | Ask | GiveUp | Escalate | Terminal | Retry | Fix | First
)
"""What a strategy answers: a closed union."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of the tool."""

    number: int
    call: Call
    outcome: str
    seconds: float = 0.0
    text: str | None = None
    kind: ErrorKind | None = None
