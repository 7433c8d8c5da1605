"""The language of error-strategy maps: one map document, as pydantic models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PositiveInt,
    StrictBool,
    StrictFloat,
    WithJsonSchema,
    model_validator,
)

from selfcorrect.limits import Limits
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.mapping.recalls import RecallEntry
from selfcorrect.mapping.rules import (
    NAME_SCHEMA,
    Classes,
    ErrorRule,
    Forms,
    Kinds,
    Ladder,
    MapModel,
    Texts,
)
from selfcorrect.model import JSON, Category, ErrorKind
from selfcorrect.protocols import Effect, ToolWords


class MapPolicy(MapModel):
    """What runs unasked and what ends a run; None where a map says nothing.

    Attributes:
        allow: Classes of change that run unasked.
        terminal: Kinds of error that end a run.
        per_tool: Kinds that end a run instead, by the tool's name or a glob.
        sensitive: Fields whose value never changes without a person.
        bare_429: What a 429 means that says nothing of when to come back.
        tool_words: Whether the model reads what a failed tool said.
        sure: From which confidence a finding may lead to an unasked repair.
        witness: Whether the trained witness is asked where rules leave something open.
    """

    allow: Classes | None = None
    """Classes of change that run unasked; the default is exact and inferred."""
    terminal: Kinds | None = None
    """Kinds of error that end a run."""
    per_tool: Mapping[str, Kinds] | None = None
    """Kinds of error that end a run instead, by the tool's name; `*`, `?` and `[…]` are globs."""
    sensitive: Texts | None = None
    """Fields whose value never changes without a person."""
    bare_429: Literal["rate_limit", "quota"] | None = None
    """What a 429 means that says nothing of when to come back; the default is rate_limit."""
    tool_words: ToolWords | None = None
    """Whether the model reads what a failed tool said; "hide" leaves it the diagnosis alone."""
    sure: Annotated[StrictFloat, Field(ge=0.0, le=1.0)] | None = None
    """From which confidence (0 to 1) a finding may lead to an unasked repair; the default is 0.7.
    At 1 only structure and rules of one's own may; whether a tool that acts may be called again
    does not depend on it."""
    witness: Annotated[str, Field(min_length=1)] | None = None
    """Whether the trained witness is asked where rules leave something open: "on", "off", or the
    file of one of your own, from this map's folder; the default map says "on"."""


def _as_table(key: str, said: Any) -> Any:
    """A table that says this one thing, where it is a word."""
    return said if isinstance(said, Mapping | BaseModel) else {key: said}


class ToolEffect(MapModel):
    """What calling a tool does, and in how many steps.

    Attributes:
        effect: What a call does to the world.
        atomic: It takes one step: its refusal means that nothing was done.
    """

    effect: Effect
    """What a call does to the world."""
    atomic: StrictBool = False
    """It takes one step: its refusal means that nothing was done."""


EffectSaid: TypeAlias = Annotated[
    ToolEffect,
    BeforeValidator(partial(_as_table, "effect"), json_schema_input_type=Effect | ToolEffect),
]
"""What a map says of a tool: its effect as a word, or a table with what belongs to it."""


class ToolResults(MapModel):
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


ResultsSaid: TypeAlias = Annotated[
    ToolResults,
    BeforeValidator(
        partial(_as_table, "errors"),
        json_schema_input_type=Literal["shapes", "none"] | ToolResults,
    ),
]
"""What a map says of a tool's values: when they are errors, as a word or a table."""


class MapReading(MapModel):
    """Which calls in a text are made; None where a map says nothing."""

    text: Literal["whole", "edge", "off"] | None = None
    """whole (default): a text that is nothing but calls; edge: also calls in lines of their own at
    its start or end; off: none. Of a tool that only reads, lines of its own suffice."""
    forms: Forms | None = None
    """The forms that are read; left out, all: json, code, tags, elements, react."""


def _said(value: Any) -> Any:
    if value not in _SAID:
        raise ValueError(f"a ladder is for a category or a kind, not {value!r:.60}")
    return value


_SAID: Final = (*(each for each in Category if each is not Category.NONE), *ErrorKind)
Said: TypeAlias = Annotated[str, AfterValidator(_said), WithJsonSchema({"enum": [*_SAID]})]
"""A category or a kind."""


class MapBreaker(MapModel):
    """When calls of a service that fails are held back, and for how long."""

    failures: PositiveInt = 5
    """Failures in a row from which on they are."""
    ratio: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Or this share of the calls of late, once there are enough of them."""
    calls: PositiveInt = 20
    """How many calls of late are enough; what is 30 seconds old counts half."""
    pause: Annotated[float, Field(gt=0)] = 10.0
    """Seconds until one call is let through, to find out; and until the next, if it fails."""
    kinds: Kinds = (ErrorKind.TRANSIENT, ErrorKind.TIMEOUT)
    """Kinds of error that are failures of the service; by all others it answers."""
    tools: Texts = ("*",)
    """The tools that this is done for, by name or glob."""


class MapLimits(Limits):
    """The limits that a map may set: all but the ceiling, which only code sets."""

    @model_validator(mode="before")
    @classmethod
    def _no_ceiling(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "ceiling" in data:
            raise ValueError("the ceiling is set in code, not in a map")
        return data


class MapDocument(MapModel):
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
                "propertyNames": NAME_SCHEMA,
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
    ladders: Mapping[Said, Ladder] = Field(default_factory=dict)
    """What is tried for errors of a category, or else of a kind, where a rule says no `repair`, or
    `repair = "as-diagnosed"`: for the rules of this map and of those that it extends."""
    limits: MapLimits = Field(default_factory=MapLimits)
    """How much a run may cost."""
    breaker: MapBreaker | None = None
    """When calls of a service that fails are held back; left out, they never are."""
    rule: tuple[ErrorRule, ...] = ()
    """The rules."""
    recall: tuple[RecallEntry, ...] = ()
    """What mended errors in recorded runs; `selfcorrect learn` writes it."""
    body: tuple[BodyRow, ...] = ()
    """Forms of error bodies, known before those that come along."""

    def said(self, section: str) -> Mapping[str, Any]:
        """The keys of a section that this map sets."""
        found = getattr(self, section)
        if not isinstance(found, BaseModel):
            return found or {}
        return found.model_dump(exclude_unset=True, exclude_none=section != "limits")
