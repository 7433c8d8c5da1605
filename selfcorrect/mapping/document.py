"""The language of error-strategy maps: one map document, as pydantic models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    PositiveInt,
    StrictBool,
    StrictFloat,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from selfcorrect.limits import Limits
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.mapping.recalls import RecallEntry, RecallStep
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
from selfcorrect.model import JSON, Category, ErrorKind, Safety
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
    sure: Annotated[StrictFloat, Field(ge=0.0, le=1.0)] | SkipJsonSchema[None] = None
    """From which confidence (0 to 1) a finding may lead to an unasked repair; the default is 0.7.
    At 1 only structure and rules of one's own may; whether a tool that acts may be called again
    does not depend on it."""
    witness: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = None
    """Whether the trained witness is asked where rules leave something open: "on", "off", or the
    file of one of your own, from this map's folder; the default map says "on"."""

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
            sure: float | None = None,
            witness: str | None = None,
        ) -> None: ...


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


def _form_of_effect(said: Any) -> str:
    return "table" if isinstance(said, Mapping | ToolEffect) else "word"


EffectSaid: TypeAlias = Annotated[
    Annotated[Effect, Tag("word")] | Annotated[ToolEffect, Tag("table")],
    Discriminator(_form_of_effect),
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


def _form_of_results(said: Any) -> str:
    return "table" if isinstance(said, Mapping | ToolResults) else "word"


ResultsSaid: TypeAlias = Annotated[
    Annotated[Literal["shapes", "none"], Tag("word")] | Annotated[ToolResults, Tag("table")],
    Discriminator(_form_of_results),
]
"""What a map says of a tool's values: when they are errors, as a word or a table."""


class MapReading(MapModel):
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
    breaker: MapBreaker | SkipJsonSchema[None] = None
    """When calls of a service that fails are held back; left out, they never are."""
    rule: tuple[ErrorRule, ...] = ()
    """The rules."""
    recall: tuple[RecallEntry, ...] = ()
    """What mended errors in recorded runs; `selfcorrect learn` writes it."""
    body: tuple[BodyRow, ...] = ()
    """Forms of error bodies, known before those that come along."""

    @property
    def said_limits(self) -> Mapping[str, Any]:
        """The limits that this map sets."""
        return self.limits.model_dump(mode="json", exclude_unset=True)

    @property
    def said_breaker(self) -> Mapping[str, Any] | None:
        """What this map says of services that fail, or None."""
        return None if self.breaker is None else self.breaker.model_dump(exclude_unset=True)

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
    ['body', 'breaker', 'disable', 'effects']
    """
    schema = MapDocument.model_json_schema()
    schema["$defs"]["MapLimits"]["properties"].pop("ceiling")
    _describe(schema, MapDocument)
    for model in (
        *(BodyRow, ErrorRule, MapBreaker, MapPolicy, MapReading, RecallEntry, RecallStep),
        *(ToolEffect, ToolResults),
    ):
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
