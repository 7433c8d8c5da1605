"""The language of error-strategy maps: one rule, one map document, as pydantic models."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from selfcorrect.limits import Limits
from selfcorrect.model import JSON, Category, ErrorKind, Safety
from selfcorrect.protocols import Effect, Form, ToolWords

MAP_FORMAT: Final = 1
"""Version of the map language; a file of another version is refused, not guessed at."""

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

Rung: TypeAlias = str | Callable[..., Any]
"""One rung of a ladder: the name of a strategy or, in Python, a strategy itself."""


def _many(value: Any) -> Any:
    """One thing, or a list of them, as a tuple."""
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(value)
    return (value,)


def _names(value: Any, what: str) -> tuple[str, ...]:
    items = _many(value)
    for item in items:
        if not isinstance(item, str) or not item or len(item) > _LONGEST:
            raise ValueError(f"{what} is a text of 1 to {_LONGEST} characters, not {_shown(item)}")
    return tuple(items)


def _globs(value: Any) -> tuple[str, ...]:
    return _names(value, "a tool")


def _errors(value: Any) -> tuple[str, ...]:
    items = _names(value, "an error")
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
        if isinstance(item, str) and _LIKE_A_CLASS.fullmatch(item) and not _is_class(item):
            raise ValueError(
                f"a class of statuses is '4xx' or, of SQLSTATEs, '23xxx'; not {item!r}"
            )
    return tuple(items)


def _is_class(status: str) -> bool:
    return _STATUS_CLASS.fullmatch(status) is not None


def _codes(value: Any) -> tuple[str, ...]:
    items = _many(value)
    texts = tuple(str(item) if type(item) is int and abs(item) < 10**18 else item for item in items)
    return _names(texts, "a code")


def _params(value: Any) -> tuple[str, ...]:
    return _names(value, "a parameter")


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


def _rule_names(value: Any) -> tuple[str, ...]:
    return _names(value, "a rule's name")


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


_TEXT: Final = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
_NAME: Final = {"type": "string", "pattern": f"^{STRATEGY_NAME.pattern}$"}

Texts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_params), _schema(_TEXT)]
Tools: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_globs), _schema(_TEXT)]
Rules: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_rule_names), _schema(_TEXT)]
Errors: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_errors), _schema(_TEXT)]
Statuses: TypeAlias = Annotated[
    tuple[Any, ...], BeforeValidator(_statuses), _schema({"type": "integer"}, _TEXT)
]
Codes: TypeAlias = Annotated[
    tuple[str, ...], BeforeValidator(_codes), _schema(_TEXT, {"type": "integer"})
]
Ladder: TypeAlias = Annotated[tuple[Any, ...], BeforeValidator(_rungs), _schema(_NAME)]
Examples: TypeAlias = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=10_000)], ...],
    BeforeValidator(_many),
    _schema({"type": "string"}),
]
Classes: TypeAlias = Annotated[
    tuple[Safety, ...],
    BeforeValidator(_many),
    _schema({"type": "string", "enum": [item.value for item in Safety]}),
]
Kinds: TypeAlias = Annotated[
    tuple[ErrorKind, ...],
    BeforeValidator(_many),
    _schema({"type": "string", "enum": [item.value for item in ErrorKind]}),
]
Forms: TypeAlias = Annotated[
    tuple[Form, ...],
    BeforeValidator(_many),
    _schema({"type": "string", "enum": list(get_args(Form))}),
]
RuleId: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)
]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class ErrorRule(_Model):
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
    match: Annotated[str, StringConstraints(min_length=1)] | SkipJsonSchema[None] = None
    """Condition: an RE2 pattern, found anywhere in the text. Named groups are captured."""

    kind: ErrorKind | SkipJsonSchema[None] = None
    """Outcome: what sort of failure it is; left out, the error's own evidence stands."""
    category: Category | SkipJsonSchema[None] = None
    """Outcome: what is wrong with the input."""
    params: Texts = ()
    """Outcome: parameters at fault where the error names none, dotted or as JSON Pointers."""
    repair: Ladder = ()
    """Outcome: the ladder, names of strategies in the order to try them."""
    options: Annotated[
        Mapping[str, Mapping[str, Any]],
        WithJsonSchema({"type": "object", "additionalProperties": {"type": "object"}}),
    ] = Field(default_factory=dict)
    """Options of strategies on the ladder, by name."""
    allow: Classes = ()
    """Classes of change that this rule allows beside the policy's own."""
    retryable: StrictBool | SkipJsonSchema[None] = None
    """Whether the same call may be repeated; left out, the kind decides."""
    outcome: Literal["not_done", "lost"] | SkipJsonSchema[None] = None
    """What such an error says of what was done, in the word of whoever runs the tool."""

    priority: Annotated[Priority, BeforeValidator(_priority)] = "medium"
    """critical is tried first, then high, medium and low."""
    before: Rules = ()
    """Rules of the same priority that it is tried before, as `map/rule`; otherwise a map comes
    before those that it extends, and the order of a file is the order of its rules."""
    example: Examples = ()
    """Errors that this rule is meant for, `ClassName: text` or the text; `check` tries them."""
    replaces: str | SkipJsonSchema[None] = None
    """The rule whose place it takes whole, as `map/rule`."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            id: str,  # noqa: A002 -- the key of the map language
            tool: str | Sequence[str] = (),
            error: str | Sequence[str] = (),
            status: int | str | Sequence[int | str] = (),
            code: str | int | Sequence[str | int] = (),
            match: str | None = None,
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


class MapPolicy(_Model):
    """What runs unasked and what ends a run; None where a map says nothing.

    Attributes:
        allow: Classes of change that run unasked.
        terminal: Kinds of error that end a run.
        per_tool: Kinds that end a run instead, by the tool's name or a glob.
        sensitive: Fields whose value never changes without a person.
        bare_429: What a 429 means that says nothing of when to come back.
        tool_words: Whether the model reads what a failed tool said.
    """

    allow: Classes | SkipJsonSchema[None] = None
    """Classes of change that run unasked; the default is exact and inferred."""
    terminal: Kinds | SkipJsonSchema[None] = None
    """Kinds of error that end a run."""
    per_tool: Mapping[str, Kinds] | SkipJsonSchema[None] = None
    """Kinds of error that end a run instead, by the tool's name; `*`, `?` and `[…]` are globs."""
    sensitive: Texts | SkipJsonSchema[None] = None
    """Fields whose value never changes without a person."""
    bare_429: Literal["rate_limit", "quota"] | SkipJsonSchema[None] = None
    """What a 429 means that says nothing of when to come back; the default is rate_limit."""
    tool_words: ToolWords | SkipJsonSchema[None] = None
    """Whether the model reads what a failed tool said; "hide" leaves it the diagnosis alone."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            allow: Sequence[Safety | str] | None = None,
            terminal: Sequence[ErrorKind | str] | None = None,
            per_tool: Mapping[str, Sequence[ErrorKind | str]] | None = None,
            sensitive: Sequence[str] | None = None,
            bare_429: Literal["rate_limit", "quota"] | None = None,
            tool_words: ToolWords | None = None,
        ) -> None: ...


class ToolEffect(_Model):
    """What calling a tool does, and in how many steps.

    Attributes:
        effect: What a call does to the world.
        atomic: It takes one step: its refusal means that nothing was done.
    """

    effect: Effect
    """What a call does to the world."""
    atomic: StrictBool = False
    """It takes one step: its refusal means that nothing was done."""


def _form_of_effect(said: Any) -> str:
    return "table" if isinstance(said, Mapping | ToolEffect) else "word"


EffectSaid: TypeAlias = Annotated[
    Annotated[Effect, Tag("word")] | Annotated[ToolEffect, Tag("table")],
    Discriminator(_form_of_effect),
]
"""What a map says of a tool: its effect as a word, or a table with what belongs to it."""


class ToolResults(_Model):
    """When a tool's value is an error, and what is done about it.

    Attributes:
        errors: `shapes`: values whose shape means nothing else; `none`: no value is an error.
        where: Further values that mean an error, by the JSON Pointer of where they stand.
        mend: Such an error is mended and repeated like one that is raised.
    """

    errors: Literal["shapes", "none"] = "shapes"
    """`shapes`: values whose shape means nothing else; `none`: no value is an error."""
    where: Mapping[str, tuple[JSON, ...]] = Field(default_factory=dict)
    """Further values that mean an error, by the JSON Pointer of where they stand."""
    mend: StrictBool = False
    """Such an error is mended and repeated like one that is raised."""


def _form_of_results(said: Any) -> str:
    return "table" if isinstance(said, Mapping | ToolResults) else "word"


ResultsSaid: TypeAlias = Annotated[
    Annotated[Literal["shapes", "none"], Tag("word")] | Annotated[ToolResults, Tag("table")],
    Discriminator(_form_of_results),
]
"""What a map says of a tool's values: when they are errors, as a word or a table."""


class MapReading(_Model):
    """Which calls in a text are made; None where a map says nothing."""

    text: Literal["whole", "edge", "off"] | SkipJsonSchema[None] = None
    """whole (default): a text that is nothing but calls; edge: also calls in lines of their own at
    its start or end; off: none. Of a tool that only reads, lines of its own suffice."""
    forms: Forms | SkipJsonSchema[None] = None
    """The forms that are read; left out, all: json, code, tags, elements, react."""

    if TYPE_CHECKING:

        def __init__(
            self, *, text: str | None = None, forms: str | Sequence[str] | None = None
        ) -> None: ...


class MapLimits(Limits):
    """The limits that a map may set: all but the ceiling, which only code sets."""

    @model_validator(mode="before")
    @classmethod
    def _no_ceiling(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "ceiling" in data:
            raise ValueError("the ceiling is set in code, not in a map")
        return data


class MapDocument(_Model):
    """One error-strategy map as it is written, before its `extends` are read."""

    format: Literal[1]
    """Version of the map language."""
    extends: Texts = ()
    """Maps whose rules are tried after these: names, or paths relative to this file."""
    disable: Texts = ()
    """Rules to leave out, as `map/rule`."""
    use: Annotated[
        Mapping[str, Any],
        WithJsonSchema(
            {
                "type": "object",
                "propertyNames": _NAME,
                "additionalProperties": {"type": "string", "pattern": r"\.py:[^:]+$"},
            }
        ),
    ] = Field(default_factory=dict)
    """Strategies that the map brings along: name = "./file.py:Object"."""
    policy: MapPolicy = Field(default_factory=MapPolicy)
    """What runs unasked and what ends a run."""
    effects: Mapping[str, EffectSaid] = Field(default_factory=dict)
    """What calling a tool does: a name or glob = read_only, idempotent, mutating, destructive; or
    { effect = "mutating", atomic = true } for a tool that takes one step."""
    results: Mapping[str, ResultsSaid] = Field(default_factory=dict)
    """When a tool's value is an error: a name or glob = shapes (the default), none, or a table with
    errors, where, mend."""
    reading: MapReading = Field(default_factory=MapReading)
    """Which calls in a text are made."""
    limits: MapLimits = Field(default_factory=MapLimits)
    """How much a run may cost."""
    rule: tuple[ErrorRule, ...] = ()
    """The rules."""

    @property
    def said_limits(self) -> Mapping[str, Any]:
        """The limits that this map sets."""
        return self.limits.model_dump(mode="json", exclude_unset=True)

    @property
    def said_policy(self) -> Mapping[str, Any]:
        """The keys of the policy that this map sets."""
        return {name: value for name, value in self.policy if value is not None}

    @property
    def said_reading(self) -> Mapping[str, Any]:
        """What this map says about calls in texts."""
        return {name: value for name, value in self.reading if value is not None}


EFFECT_NAMES: Final = get_args(Effect)


def map_json_schema() -> dict[str, Any]:
    """The JSON Schema of a map file, for editors that complete and check TOML.

    >>> sorted(map_json_schema()["properties"])[:4]
    ['disable', 'effects', 'extends', 'format']
    """
    schema = MapDocument.model_json_schema()
    schema["$defs"]["MapLimits"]["properties"].pop("ceiling")
    _describe(schema, MapDocument)
    for model in (ErrorRule, MapPolicy, MapReading, ToolEffect, ToolResults):
        _describe(schema["$defs"][model.__name__], model)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_for_editors(schema),
        "title": "selfcorrect error-strategy map",
    }


def _describe(schema: Mapping[str, Any], model: type[BaseModel]) -> None:
    """Add the texts below a model's fields; pydantic could, but at every import."""
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(model))
    body = [item for cls in tree.body if isinstance(cls, ast.ClassDef) for item in cls.body]
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            schema["properties"][ast.unparse(field.target)]["description"] = ast.literal_eval(
                text.value
            )


def _for_editors(node: Any) -> Any:
    """The schema without Python's side of it: titles, `None` as a default, doctests."""
    if isinstance(node, list):
        return [_for_editors(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {
        key: _for_editors(value)
        for key, value in node.items()
        if not (key == "default" and value in (None, [], {}))
        and not (key == "title" and isinstance(value, str))
    }
    if isinstance(description := out.get("description"), str):
        out["description"] = description.split("\n\n>>>")[0].split("\n\nAttributes:")[0]
    return out
