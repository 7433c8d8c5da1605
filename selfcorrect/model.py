"""The words of the runtime as data: calls, findings, diagnoses, changes and repairs.

Everything is frozen. What travels in the state is plain JSON (`Finding`, `change_json`,
`call_json`); strategies see the dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum, StrEnum
from itertools import islice
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, cast, dataclass_transform

JSON: TypeAlias = object
"""None, bool, int, float, str, a list of JSON, or a dict from str to JSON."""
JsonObject = Mapping[str, Any]
JsonDict = dict[str, Any]
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class of values that never change: a frozen dataclass with slots."""
    return dataclass(frozen=True, slots=True)(cls)


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent.ABSENT
"""Stands for no value where `None` would be one: JSON null and a missing argument differ."""


class ErrorKind(StrEnum):
    """What an error is: decides whether the same call can succeed later."""

    TRANSIENT = "transient"
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    VALIDATION = "validation"
    AUTH = "auth"
    QUOTA = "quota"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    PERMANENT = "permanent"
    INTERNAL = "internal"
    CANCELLED = "cancelled"


RETRYABLE = frozenset({ErrorKind.TRANSIENT, ErrorKind.RATE_LIMIT, ErrorKind.TIMEOUT})


class Category(StrEnum):
    """What is wrong with the call: decides which repairs are tried."""

    MISSING_PARAM = "missing_param"
    EXTRA_PARAM = "extra_param"
    WRONG_TYPE = "wrong_type"
    ENUM = "enum"
    RANGE = "range"
    LENGTH = "length"
    FORMAT_DATE = "format_date"
    FORMAT_PATTERN = "format_pattern"
    FORMAT_OTHER = "format_other"
    MALFORMED_JSON = "malformed_json"
    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_RESOURCE = "unknown_resource"
    DUPLICATE = "duplicate"
    BUSINESS_RULE = "business_rule"
    PRECONDITION = "precondition"
    SYNTAX = "syntax"
    NONE = "none"


class Safety(StrEnum):
    """How far a change is from what was written: the policy says which classes run unasked."""

    EXACT = "exact"
    INFERRED = "inferred"
    LOSSY = "lossy"
    MODEL = "model"
    HUMAN = "human"
    MEMORY = "memory"


class Severity(StrEnum):
    """How urgent an escalation is."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


@frozen
class Call:
    """One tool call."""

    name: str
    args: JsonObject = field(default_factory=dict)
    id: str | None = None


def call_of(item: JsonObject) -> Call:
    """Read a call from `{"name", "args", "id"?}`."""
    return Call(item.get("name", ""), item.get("args") or {}, item.get("id"))


def call_json(call: Call) -> JsonDict:
    """Return a call as JSON, without the id where there is none; `args` may be a text still."""
    args: Any = call.args
    item: JsonDict = {"name": call.name, "args": dict(args) if isinstance(args, Mapping) else args}
    return item if call.id is None else item | {"id": call.id}


class Finding(TypedDict, total=False):
    """One thing that is wrong, as JSON: first as it was seen, then with what the map makes of it.

    Attributes:
        text: What the error says, secrets cut out; untrusted.
        types: Dotted class names over the whole MRO; `InvalidArgs`, `UnknownTool`,
            `MalformedCall` and `HeldCall` for what the runtime finds itself.
        status: HTTP status, or a string such as an SQLSTATE.
        is_success: Whether the exception carries the HTTP status of a success or a redirect; its
            words alone then say nothing. Left out where it does not.
        code: The error's code; for `InvalidArgs` the keyword of JSON Schema.
        paths: JSON Pointers into the call: `/args/passengers/0/age`, `/name`.
        constraint: What was violated, in the words of JSON Schema: `{"minimum": 1}`.
        retry_after: Seconds that the error asks to wait.
        doubts: The records for which somebody has to vouch; see `question_about`.
        kind: An `ErrorKind`; this and what follows is there after `diagnose`.
        category: A `Category`.
        captures: Named groups of the rule's pattern.
        rule: The rule that decided, as `map/id`.
        ladder: Names of the strategies to try, in order.
        confidence: The probability that kind and category are right.
        witness: Who saw it: `schema`, `structure`, `rule`, `witness` or `elimination`.
    """

    text: str
    types: list[str]
    status: int | str | None
    is_success: bool
    code: str | None
    paths: list[str]
    constraint: JsonDict
    retry_after: float | None
    doubts: list[JsonDict]
    kind: str
    category: str
    captures: dict[str, str]
    rule: str | None
    ladder: list[str]
    confidence: float
    witness: str


def own_finding(kind: str, code: str, text: str, path: str, constraint: JSON = None) -> Finding:
    """Return a finding of the runtime's own; the constraint is that of the code's keyword."""
    return {
        "text": text,
        "types": [kind],
        "status": None,
        "code": code,
        "paths": [path],
        "constraint": {} if constraint is None else {code.partition(".")[0]: constraint},
        "retry_after": None,
    }


OWN = frozenset({"InvalidArgs", "UnknownTool", "MalformedCall", "HeldCall", "NoReceipt"})
"""Classes of what the library finds itself."""


def is_own(finding: Finding) -> bool:
    """Say whether the library found this itself: no text has to be read."""
    types = finding.get("types", ())
    return len(types) == 1 and types[0] in OWN


@frozen
class Diagnosis:
    """A finding as a strategy sees it; the attributes are those of `Finding`."""

    text: str = ""
    types: tuple[str, ...] = ()
    status: int | str | None = None
    code: str | None = None
    paths: tuple[str, ...] = ()
    constraint: JsonObject = field(default_factory=dict)
    retry_after: float | None = None
    kind: ErrorKind = ErrorKind.INTERNAL
    category: Category = Category.NONE
    captures: Mapping[str, str] = field(default_factory=dict)
    rule: str | None = None
    ladder: tuple[str, ...] = ()
    confidence: float = 0.0
    witness: str = "rule"

    @classmethod
    def of(cls, finding: Finding) -> Diagnosis:
        """Return the diagnosis that a finding of the state holds."""
        # Of a finding some keys are for the runtime alone.
        names = [item.name for item in fields(cls) if item.name in finding]
        values: JsonDict = {name: finding[name] for name in names}  # type: ignore[literal-required]
        for name in ("types", "paths", "ladder"):
            values[name] = tuple(values.get(name, ()))
        values["kind"] = ErrorKind(values.get("kind", ErrorKind.INTERNAL))
        values["category"] = Category(values.get("category", Category.NONE))
        return cls(**values)

    @property
    def path(self) -> str:
        """The first place at fault; empty where the error names none."""
        return self.paths[0] if self.paths else ""

    @property
    def params(self) -> tuple[str, ...]:
        """The arguments at fault, dotted: `passengers.0.age`."""
        return tuple(map(name_place, self.paths))

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRYABLE


def name_place(path: str) -> str:
    """Return a place as people write it.

    >>> name_place("/args/people/0/age"), name_place("/name")
    ('people.0.age', 'name')
    """
    inner = path.removeprefix("/args/").removeprefix("/")
    return inner.replace("/", ".").replace("~1", "/").replace("~0", "~")


@frozen
class Change:
    """One edit of a call.

    Attributes:
        path: JSON Pointer into the call: `/args/passengers/0/age`, `/name`.
        before: The value before; `ABSENT` if there was none.
        after: The value after; `ABSENT` removes the place.
        safety: How far `after` is from what was written.
        reason: Why, in a few words for people.
        moved_from: The place that the value is taken from, where an argument is renamed.
        strategy: Who made the change; the repair node fills it in.
        rule: The rule that named the strategy; the repair node fills it in.
    """

    path: str
    before: JSON
    after: JSON
    safety: Safety
    reason: str
    moved_from: str | None = None
    strategy: str | None = None
    rule: str | None = None


class ChangeJson(TypedDict, total=False):
    """A change as JSON; `ABSENT` values and empty fields are left out."""

    path: str
    before: JSON
    after: JSON
    safety: str
    reason: str
    moved_from: str
    strategy: str
    rule: str


def change_json(change: Change) -> ChangeJson:
    """Return a change as JSON."""
    values = {
        item.name: value
        for item in fields(change)
        if (value := getattr(change, item.name)) is not ABSENT and value is not item.default
    }
    # A checkpoint holds no classes.
    return cast("ChangeJson", values | {"safety": change.safety.value})


def change_of(item: JsonObject) -> Change:
    """Read a change from its JSON."""
    values = {"before": ABSENT, "after": ABSENT, **item}
    return Change(**values | {"safety": Safety(item["safety"])})


@dataclass(frozen=True, slots=True, init=False)
class Changed:
    """The call is repaired by these changes, in order."""

    changes: tuple[Change, ...]

    def __init__(self, *changes: Change | Iterable[Change]) -> None:
        flat: list[Change] = []
        for part in changes:
            # One more than are taken, so that a list without an end shows.
            flat += [part] if isinstance(part, Change) else islice(part, MAX_CHANGES + 1)
        object.__setattr__(self, "changes", tuple(flat))


MAX_CHANGES = 500
"""How many changes one repair may make."""


@frozen
class Wait:
    """The same call may succeed after `seconds`."""

    seconds: float


@frozen
class Result:
    """The strategy answers for the tool; the run ends with `value`."""

    value: JSON


@frozen
class Ask:
    """A person has to decide; `options` are values to choose from."""

    question: str
    options: Iterable[JSON] = ()


@frozen
class GiveUp:
    """This strategy cannot help; the next one on the ladder is tried."""

    reason: str


@frozen
class Escalate:
    """The run ends and asks for help from above."""

    reason: str
    severity: Severity = Severity.HIGH


@frozen
class Terminal:
    """The run ends; nothing else is tried."""

    reason: str


@frozen
class Retry:
    """The same call is executed up to `times` further times.

    `even_if_lost` asserts that running the tool twice does no harm.
    """

    times: float = 1
    even_if_lost: bool = False


@frozen
class Fix:
    """A fixer is called, and called again up to `retries` times when it fails."""

    fixer: Callable[..., Any]
    retries: int = 1


Repair = Changed | Wait | Result | Ask | GiveUp | Escalate | Terminal | Retry | Fix
"""What a strategy answers: a closed union."""

Needs = Literal["nothing", "model", "person"]
"""What a strategy costs."""


Effect: TypeAlias = Literal["read_only", "idempotent", "mutating", "destructive"]
"""What calling a tool does to the world, as its author or a deployment declares it."""
EFFECTS: tuple[Effect, ...] = ("read_only", "idempotent", "mutating", "destructive")
UNDECLARED: Effect = "mutating"
"""A tool without a declared effect counts as one that acts."""
HARMLESS: frozenset[str] = frozenset({"read_only", "idempotent"})
"""Effects of tools of which one call more than meant changes nothing."""


def acts(effect: str) -> bool:
    """Say whether one call more than meant would change something."""
    return effect not in HARMLESS
