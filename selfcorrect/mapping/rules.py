"""The language of error-strategy maps: one rule, and what the keys of a map may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from selfcorrect.model import Category, ErrorKind, Safety
from selfcorrect.protocols import Form

Priority: TypeAlias = Literal["critical", "high", "medium", "low"]
PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)
"""The words for priorities, the one that is tried first in front."""

STRATEGY_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
MOST_NAME_PARTS: Final = 12
"""Dots of a class name that are looked at, plus one."""

_DOTTED: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_STATUS_CLASS: Final = re.compile(r"[1-5]xx|[0-9A-Z]{2}xxx")
_LIKE_A_CLASS: Final = re.compile(r"[0-9][0-9xX]?[xX]|[0-9A-Za-z]{2}[xX]{3}|.*[*?]")
_LONGEST: Final = 200
_BREAK: Final = re.compile(r"\n[ \t]*")

Rung: TypeAlias = str | Callable[..., Any]
"""One rung of a ladder: the name of a strategy or, in Python, a strategy itself."""


def _many(value: Any) -> Any:
    """One thing, or a list of them, as a tuple."""
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(value)
    return (value,)


def _names(what: str, value: Any) -> tuple[str, ...]:
    items = _many(value)
    for item in items:
        if not isinstance(item, str) or not item or len(item) > _LONGEST:
            raise ValueError(f"{what} is a text of 1 to {_LONGEST} characters, not {_shown(item)}")
    return tuple(items)


def _errors(value: Any) -> tuple[str, ...]:
    items = _names("an error", value)
    for item in items:
        if not _DOTTED.fullmatch(item) or item.count(".") >= MOST_NAME_PARTS:
            raise ValueError(f"an error is a dotted class name, not {item!r}")
    return items


def _statuses(value: Any) -> tuple[int | str, ...]:
    items = _many(value)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | str):
            raise ValueError(  # noqa: TRY004 -- pydantic reports ValueErrors
                f"a status is a number or a text, not {_shown(item)}"
            )
        if isinstance(item, int) and not abs(item) < 10**6:
            raise ValueError("a status has at most six digits")
        if isinstance(item, str) and not 0 < len(item) <= _LONGEST:
            raise ValueError(f"a status is a text of 1 to {_LONGEST} characters")
        if (
            isinstance(item, str)
            and _LIKE_A_CLASS.fullmatch(item)
            and not _STATUS_CLASS.fullmatch(item)
        ):
            raise ValueError(
                f"a class of statuses is '4xx' or, of SQLSTATEs, '23xxx'; not {item!r}"
            )
    return tuple(items)


def _codes(value: Any) -> tuple[str, ...]:
    items = _many(value)
    texts = tuple(str(item) if type(item) is int and abs(item) < 10**18 else item for item in items)
    return _names("a code", texts)


def _rungs(value: Any) -> tuple[Any, ...]:
    rungs: tuple[Any, ...] = _many(value)
    for rung in rungs:
        if isinstance(rung, str):
            if not STRATEGY_NAME.fullmatch(rung):
                raise ValueError(f"a strategy's name is kebab-case, not {rung!r}")
            if rungs.count(rung) > 1:
                raise ValueError(f"{rung!r} is in the ladder twice")
        elif not callable(rung):
            raise ValueError(  # noqa: TRY004 -- pydantic reports ValueErrors
                f"a rung is the name of a strategy or a strategy, not {_shown(rung)}"
            )
    return rungs


def _alternatives(value: Any) -> Any:
    """Several patterns as one, each on as many lines as it likes."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        return value
    return "|".join(_BREAK.sub("", each) for each in value)


def _priority(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(  # noqa: TRY004 -- pydantic reports ValueErrors
            f"a priority is one of {', '.join(PRIORITIES)}, not {_shown(value)}; to place a rule "
            'in front of another, write before = "map/rule"'
        )
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"


def _schema(*items: Mapping[str, Any]) -> WithJsonSchema:
    """One of these, or a list of them."""
    item = dict(items[0]) if len(items) == 1 else {"anyOf": [dict(each) for each in items]}
    return WithJsonSchema({"anyOf": [item, {"type": "array", "items": item}]})


def _words(known: Iterable[str]) -> WithJsonSchema:
    """One of these words, or a list of them."""
    return _schema({"type": "string", "enum": [str(word) for word in known]})


_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
NAME_SCHEMA: Final = {"type": "string", "pattern": f"^{STRATEGY_NAME.pattern}$"}

Texts: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(partial(_names, "a parameter")), _schema(_TEXT)
]
Tools: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(partial(_names, "a tool")), _schema(_TEXT)
]
Rules: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(partial(_names, "a rule's name")), _schema(_TEXT)
]
Errors: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_errors), _schema(_TEXT)]
Statuses: TypeAlias = Annotated[
    tuple[Any, ...], BeforeValidator(_statuses), _schema({"type": "integer"}, _TEXT)
]
Codes: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(_codes), _schema(_TEXT, {"type": "integer"})
]
Ladder: TypeAlias = Annotated[tuple[Any, ...], BeforeValidator(_rungs), _schema(NAME_SCHEMA)]
Examples: TypeAlias = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=10_000)], ...],
    BeforeValidator(_many),
    _schema({"type": "string"}),
]
Classes: TypeAlias = Annotated[tuple[Safety, ...], BeforeValidator(_many), _words(Safety)]
Kinds: TypeAlias = Annotated[tuple[ErrorKind, ...], BeforeValidator(_many), _words(ErrorKind)]
Forms: TypeAlias = Annotated[tuple[Form, ...], BeforeValidator(_many), _words(get_args(Form))]
Pattern: TypeAlias = Annotated[
    str,
    BeforeValidator(_alternatives),
    StringConstraints(min_length=1),
    _schema({"type": "string", "minLength": 1}),
]
RuleId: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
]


class MapModel(BaseModel):
    """A table of a map: frozen, and with no key that the map language does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class ErrorRule(MapModel):
    """Which errors it is about, what they mean, and the ladder of strategies that may mend them.

    All conditions that are present must hold; a list means any of.

    >>> rule = ErrorRule(id="late", status=[504, "408"], kind="timeout", repair="wait")
    >>> rule.repair, rule.rank
    (('wait',), 2)
    """

    id: RuleId
    """Name of the rule, unique in its file."""

    tool: Tools = ()
    """Condition: the tool's name; `*`, `?` and `[…]` are globs."""
    error: Errors = ()
    """Condition: a class of the exception or one of its bases, by the end of its dotted name."""
    status: Statuses = ()
    """Condition: an HTTP status (`404`, `"5xx"`), SQLSTATE (`"23505"`, `"23xxx"`) or gRPC name."""
    code: Codes = ()
    """Condition: the emitter's error code, or the JSON Schema keyword for `InvalidArgs`."""
    match: Pattern | None = None
    """Condition: an RE2 pattern, or a list of alternatives, found anywhere in the text; named
    groups are captured. In a list, line breaks and what indents the next line mean nothing, and a
    flag in front of the first holds for all."""

    kind: ErrorKind | None = None
    """Outcome: what sort of failure it is; left out, the error's own evidence stands."""
    category: Category | None = None
    """Outcome: what is wrong with the input."""
    params: Texts = ()
    """Outcome: parameters at fault where the error names none, dotted or as JSON Pointers."""
    repair: Ladder = ()
    """Outcome: the ladder, names of strategies in the order to try them; left out, that of
    `[ladders]` for its category or kind; "as-diagnosed": for what the error turns out to be."""
    options: Annotated[
        Mapping[str, Mapping[str, Any]],
        WithJsonSchema({"type": "object", "additionalProperties": {"type": "object"}}),
    ] = Field(default_factory=dict)
    """Options of strategies on the ladder, by name."""
    allow: Classes = ()
    """Classes of change that this rule allows beside the policy's own."""
    retryable: StrictBool | None = None
    """Whether the same call may be repeated; left out, the kind decides."""
    outcome: Literal["not_done", "lost"] | None = None
    """What such an error says of what was done, in the word of whoever runs the tool."""

    priority: Annotated[Priority, BeforeValidator(_priority)] = "medium"
    """critical is tried first, then high, medium and low."""
    before: Rules = ()
    """Rules of the same priority that it is tried before, as `map/rule`; otherwise a map comes
    before those that it extends, and the order of a file is the order of its rules."""
    example: Examples = ()
    """Errors that this rule is meant for, `ClassName: text` or the text; `check` tries them."""
    replaces: str | None = None
    """The rule whose place it takes whole, as `map/rule`."""
    suggest: StrictBool = False
    """In quarantine: it says what an error means, and mends nothing, until a person takes this line
    out."""
    proposed: str | None = None
    """Who proposed it, on which runs, with which counts."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            id: str,  # noqa: A002 -- the key of the map language
            tool: str | Sequence[str] = (),
            error: str | Sequence[str] = (),
            status: int | str | Sequence[int | str] = (),
            code: str | int | Sequence[str | int] = (),
            match: str | Sequence[str] | None = None,
            kind: ErrorKind | str | None = None,
            category: Category | str | None = None,
            params: str | Sequence[str] = (),
            repair: Rung | Sequence[Rung] = (),
            options: Mapping[str, Mapping[str, Any]] = ...,
            allow: Safety | str | Sequence[Safety | str] = (),
            retryable: bool | None = None,
            outcome: Literal["not_done", "lost"] | None = None,
            priority: Priority = "medium",
            before: str | Sequence[str] = (),
            example: str | Sequence[str] = (),
            replaces: str | None = None,
            suggest: bool = False,
            proposed: str | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _says_something(self) -> ErrorRule:
        said = (self.kind, self.category, self.params, self.repair, self.retryable, self.outcome)
        if all(each is None or each == () for each in said):
            raise ValueError(
                "says nothing: give it kind, category, params, repair, retryable or outcome"
            )
        return self

    @property
    def rank(self) -> int:
        """The place of its priority: 0 for what is tried first."""
        return PRIORITIES.index(self.priority)
