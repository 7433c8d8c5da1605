"""`[[recall]]`: what mended an error in recorded runs, as a person reads and reviews it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, StringConstraints, model_validator

from selfcorrect.mapping.rules import MapModel
from selfcorrect.model import JSON
from selfcorrect.plain import digest

_MOST_STEPS = 4
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Mark = Annotated[str, StringConstraints(min_length=12, max_length=12)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class RecallStep(MapModel):
    """A call of another tool that comes before the failing one.

    Attributes:
        tool: The tool that is called.
        args: Its arguments: constants, or where each comes from.
    """

    tool: Name
    """The tool that is called."""
    args: Mapping[str, Any] = Field(default_factory=dict)
    """Its arguments: constants that its schema names, or {args.…}, {error.…}, {request.…}."""


class RecallEntry(MapModel):
    """What mended an error in recorded runs: calls of other tools first, edits of the call.

    >>> step = RecallStep(tool="touch", args={"file": "{args.file}"})
    >>> RecallEntry(tool="write", error="No file '{args.file}'", first=[step]).told
    'touch(file={args.file})'
    """

    tool: Name
    """The tool whose call failed."""
    error: Text
    """Its error, with a name in braces for each value: `No file '{args.path}'`."""
    schemas: Mark | None = None
    """Marks the schemas of the tools when it was learnt; with others it is skipped, and named."""
    first: Annotated[tuple[RecallStep, ...], Field(max_length=_MOST_STEPS)] = ()
    """Calls of other tools before this one, in order."""
    edits: Mapping[str, Any] = Field(default_factory=dict)
    """Arguments of this call that take another value."""
    support: Annotated[int, Field(ge=0)] = 0
    """Recorded tasks in which it mended the error."""
    runs: Annotated[int, Field(ge=0)] = 0
    """Recorded runs in which it mended the error."""
    seen: Annotated[int, Field(ge=0)] = 0
    """Recorded runs in which the error was overcome, in whatever way."""
    agreement: Annotated[float, Field(ge=0, le=1)] = 0.0
    """How much of these runs, task by task, went this way."""
    suggest: StrictBool = False
    """In quarantine: it is only told, never done unasked, until a person takes this line out."""
    proposed: str | None = None
    """Who proposed it, on which runs, with which counts."""
    example: str | None = None
    """An error that it is meant for; `check` tries it."""

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        from selfcorrect.recalling.binding import fault_of
        from selfcorrect.recalling.template import is_template

        if not self.first and not self.edits:
            raise ValueError("says nothing: give it first, edits or both")
        if not is_template(self.error):
            raise ValueError(
                "an error stands here without its values: {args.…} for what the arguments hold, "
                "{error.text1}, {error.number1}, {error.token1} or {error.list1} for the rest"
            )
        for _, value in self.values:
            if (wrong := fault_of(value)) is not None:
                raise ValueError(wrong)
        if any(step.tool == self.tool for step in self.first):
            raise ValueError(
                f"first names {self.tool!r} itself: a call does not come before itself"
            )
        return self

    @property
    def values(self) -> Iterator[tuple[str, JSON]]:
        """Every value that it gives, with the name of its place."""
        for step in self.first:
            yield from step.args.items()
        yield from self.edits.items()

    @cached_property
    def id(self) -> str:
        """The same for the same tool, error, steps and edits: what counts are kept under."""
        steps = [[step.tool, dict(step.args)] for step in self.first]
        return digest(self.tool, self.error, steps, dict(self.edits))[:12]

    @property
    def told(self) -> str:
        """What it does, in one line."""
        steps = [_call(step.tool, step.args) for step in self.first]
        edits = [f"{name} = {_shown(value)}" for name, value in self.edits.items()]
        return "; ".join([*steps, *edits])

    @property
    def came_before(self) -> str:
        """How often it was so."""
        return f"in {self.runs} of {self.seen} runs" if self.seen else "in other runs"


def _call(name: str, args: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_shown(value)}' for key, value in args.items())})"


def _shown(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value)
