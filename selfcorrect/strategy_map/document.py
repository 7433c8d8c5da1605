"""What stands in a map's TOML file, as pydantic models; an unknown key is an error."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from selfcorrect.errors import unknown_name
from selfcorrect.limits import Limits
from selfcorrect.model import Category, Effect, ErrorKind, JsonObject, Safety, T, frozen
from selfcorrect.patterns import compile_pattern

Priority = Literal["critical", "high", "medium", "low"]
PRIORITIES = get_args(Priority)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) or value is None else [value]


def _as_effect(value: Any) -> Any:
    return {"effect": value} if isinstance(value, str) else value


def _as_cause(name: str) -> str:
    causes = [*map(str, ErrorKind), *map(str, Category)]
    if name not in causes:
        raise ValueError(unknown_name("kind or category", name, causes))
    return name


def _usable(pattern: str, info: ValidationInfo) -> str:
    # The library's own patterns are tested; compiling them early would delay every start.
    if not (info.context and info.context["is_shipped"]):
        compile_pattern(pattern)
    return pattern


Many = Annotated[tuple[T, ...], BeforeValidator(_as_list)]
"""A list; one thing alone is a list of it."""
Rung = str | Callable[..., Any]
Pattern = Annotated[str, AfterValidator(_usable)]
Cause = Annotated[str, AfterValidator(_as_cause)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ErrorRule(_Table):
    """One rule: conditions that must all hold, and what follows from them.

    A list means any of its items; a condition that is left out holds for every error.

    Attributes:
        id: The rule's name within its map.
        tool: Names or globs of tools.
        error: Class names; each is compared with the end of every dotted name in the MRO.
        status: Statuses; `"5xx"` and `"22xxx"` are classes of them.
        code: Codes or globs of codes; for a schema violation the keyword, such as `format.date`.
        match: A pattern over the text; its named groups become captures.
        retry_after: True: the error names a wait; False: it names none.
        kind: What the error is.
        category: What is wrong with the call.
        params: The arguments at fault, for errors that name none: `passengers.0.age`.
        repair: The ladder: strategies in the order in which they are tried. If it is left out,
            the map's ladder of the category or kind holds.
        options: Options of strategies, by the strategy's name.
        allow: Further classes of changes that run unasked on tools that only read.
        hint: The rule only advises: where the error says more, its own words decide.
        priority: Rules of a higher priority are tried first.
        example: Texts that this rule decides; `selfcorrect check` tries them.
    """

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    tool: Many[str] = ()
    error: Many[str] = ()
    status: Many[int | str] = ()
    code: Many[str] = ()
    match: Pattern | None = None
    retry_after: bool | None = None
    kind: ErrorKind | None = None
    category: Category | None = None
    params: Many[str] = ()
    repair: Many[Rung] | None = None
    options: Mapping[str, JsonObject] = {}
    allow: Many[Safety] = ()
    hint: bool = False
    priority: Priority = "medium"
    example: Many[str] = ()


def _with_condition(rule: ErrorRule) -> ErrorRule:
    conditions = (rule.tool, rule.error, rule.status, rule.code, rule.match, rule.retry_after)
    if all(condition in ((), "", None) for condition in conditions):
        raise ValueError(
            "has no condition, and would decide every error; write one of tool, error, status, "
            'code, match and retry_after, or tool = "*"'
        )
    return rule


class MapPolicy(_Table):
    """What a deployment allows; None where it does not say.

    Attributes:
        allow: Classes of changes that run unasked; left out, `exact`, `inferred` and `memory`, and
            `model` where the graph has a model.
        terminal: Kinds of errors that end a run at once.
        sensitive: Names or globs of arguments, in any spelling: only a person may change
            their value.
    """

    allow: Many[Safety] | None = None
    terminal: Many[ErrorKind] | None = None
    sensitive: Many[str] | None = None


class ToolEffect(_Table):
    """What calling a tool does to the world.

    Attributes:
        effect: What one call more than meant would change.
        atomic: The tool takes one step: when it refuses, it has done nothing.
    """

    effect: Effect
    atomic: bool = False


class ReadingPolicy(_Table):
    """How far a message may deviate from a call and still be read as one.

    Attributes:
        text: `whole`: a text is a call if it is the call, and for tools that read, if it begins
            or ends with it; `edge`: that suffices for tools that act too; `off`: no text is.
        prose: `ask`: a model says whether a text without a call means one.
    """

    text: Literal["whole", "edge", "off"] = "whole"
    prose: Literal["off", "ask"] = "off"


class MapLimits(Limits):
    """Bounds of a run as a map sets them."""

    @field_validator("ceiling", mode="before")
    @classmethod
    def _refuse(cls, _: Any) -> None:
        raise ValueError("only code sets it; set attempts here")


class MapDocument(_Table):
    """A whole file.

    Attributes:
        format: The version of the format.
        extends: Maps that this one builds on; this one wins over them.
        disable: Rules of those maps that do not hold here, as `map/id`.
        use: Strategies that the map brings along: `"./file.py:Name"` or `"module:Name"`.
        policy: What runs unasked, what ends a run, what is sensitive.
        effects: Effects of tools, by name or glob.
        reading: How texts become calls.
        limits: Bounds of a run, as in `Limits`.
        ladders: Strategies by category or kind, for rules that name none.
        rule: The rules.
    """

    format: Literal[1]
    extends: Many[str] = ()
    disable: Many[str] = ()
    use: Mapping[str, Rung] = {}
    policy: MapPolicy = MapPolicy()
    effects: Mapping[str, Annotated[ToolEffect, BeforeValidator(_as_effect)]] = {}
    reading: ReadingPolicy = ReadingPolicy()
    limits: MapLimits = MapLimits()
    ladders: Mapping[Cause, Many[Rung]] = {}
    rule: tuple[Annotated[ErrorRule, AfterValidator(_with_condition)], ...] = ()


@frozen
class PlacedRule:
    """A rule and the map that it comes from.

    Attributes:
        key: `map/id`, as `disable`, `explain` and reports name it.
        rule: The rule.
        is_own: Whether it stands in the map that was loaded, and not in one that it extends.
    """

    key: str
    rule: ErrorRule
    is_own: bool = True
