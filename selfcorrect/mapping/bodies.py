"""The language of error-strategy maps: where bodies of errors keep what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema, model_validator

from selfcorrect.mapping.rules import MapModel, RuleId
from selfcorrect.model import JSON
from selfcorrect.pointer import split

_MOST: Final = 50


def _pointers(value: Any) -> tuple[str, ...]:
    items = tuple(value) if isinstance(value, list | tuple) else (value,)
    for item in items:
        if not isinstance(item, str) or (item and not item.startswith("/")) or len(item) > 200:
            raise ValueError(
                f"a place is a JSON Pointer such as '/error/message', not {item!r:.80}"
            )
    return items


_POINTER: Final = {"type": "string", "pattern": "^(/|$)", "maxLength": 200}
Pointers: TypeAlias = Annotated[
    tuple[str, ...],
    BeforeValidator(_pointers),
    WithJsonSchema({"anyOf": [_POINTER, {"type": "array", "items": _POINTER}]}),
]
Shape: TypeAlias = Literal["text", "list"]
_SHAPES: Final[Mapping[Shape, type]] = {"text": str, "list": list}


class BodyRow(MapModel):
    """One form of error body: how it is known, and the places of what it says.

    Places are JSON Pointers, "" is all of it, `*` stands for every item of a list. Of several, the
    first that holds something counts. With `each`, a place is looked for in the item first, then in
    the whole body.

    >>> row = BodyRow(id="desk", has="/oops", text="/oops/why", example='{"oops": {"why": "x"}}')
    >>> row.text
    ('/oops/why',)
    """

    id: RuleId
    """Name of the row, unique in its file."""
    has: Pointers = ()
    """Known by: all of these places hold something."""
    any: Pointers = ()
    """Known by: one of these places holds something."""
    when: Mapping[str, JSON] = Field(default_factory=dict)
    """Known by: each of these places holds this value, or one of this list."""
    items: Mapping[str, Shape] = Field(default_factory=dict)
    """Known by: what `each` lists are objects, all with these places, of this shape."""
    each: Pointers = ()
    """Where single errors are listed; each becomes a finding."""
    text: Pointers = ()
    """What went wrong, in words."""
    code: Pointers = ()
    """The emitter's error code."""
    status: Pointers = ()
    """HTTP status."""
    field: Pointers = ()
    """The parameter at fault: dotted, bracketed, a JSON Pointer or a list of its steps."""
    member: Pointers = ()
    """Members of that parameter that are missing or too many: a name or a list of names."""
    by: Pointers = ()
    """What a code's meaning depends on: of `code` at fault and `text` here, `demands` may say
    `code.text`."""
    demands: Mapping[str, Mapping[str, JSON]] = Field(default_factory=dict)
    """What was violated, by code, in words of JSON Schema: values, or places in the item. Codes
    may hold `*` and be joined by `|`, the longest that fits counts; the keyword `*` is the code."""
    inside: Pointers = ()
    """Where an error is passed on: in a form of its own, which then speaks, or as a sentence."""
    wait: Pointers = ()
    """Seconds to wait, or a text such as `18.6s`."""
    example: Annotated[str, StringConstraints(min_length=2, max_length=10_000)]
    """A body of this form, as JSON; `check` tries it."""

    @model_validator(mode="after")
    def _is_known_by_something(self) -> BodyRow:
        if not (self.has or self.any or self.when or self.items):
            raise ValueError("is known by nothing: give it has, any, when or items")
        if self.items and not self.each:
            raise ValueError('has items, and no place where they are: give it each, or each = ""')
        if not (self.text or self.code):
            raise ValueError("says nothing: give it text or code")
        return self


def row_of(body: JSON, rows: Sequence[BodyRow]) -> BodyRow | None:
    """The first row that knows a body, or None."""
    return next((row for row in rows if _knows(row, body)), None)


def _knows(row: BodyRow, body: JSON) -> bool:
    if row.items:
        return bool(listed(body, row))
    body = whole(body)
    return (
        isinstance(body, Mapping)
        and all(_held(body, place) for place in row.has)
        and (not row.any or any(_held(body, place) for place in row.any))
        and all(_holds(body, place, value) for place, value in row.when.items())
    )


def whole(body: JSON) -> JSON:
    """A body, also where it is alone in a list."""
    return body[0] if isinstance(body, list) and len(body) == 1 else body


def listed(body: JSON, row: BodyRow) -> list[JSON]:
    """What a row's `each` finds in a body; with `items`, only lists of such."""
    sources = (whole(body),) if not row.items or body is whole(body) else (body, whole(body))
    found = [value for each in sources for place in row.each for value in values_at(each, place)]
    return [value for value in found if not row.items or _lists(value, row.items)]


def _lists(value: JSON, items: Mapping[str, Shape]) -> bool:
    return (
        isinstance(value, list) and value != [] and all(_has(item, items) for item in value[:_MOST])
    )


def _has(item: JSON, items: Mapping[str, Shape]) -> bool:
    return isinstance(item, Mapping) and all(
        any(isinstance(held, _SHAPES[shape]) for held in values_at(item, place))
        for place, shape in items.items()
    )


def _holds(body: JSON, place: str, wanted: JSON) -> bool:
    found = values_at(body, place)
    return wanted in found or (isinstance(wanted, list) and any(each in wanted for each in found))


def _held(body: JSON, place: str) -> bool:
    return any(value is not None and value != "" for value in values_at(body, place))


def values_at(body: JSON, place: str) -> list[JSON]:
    """The values at a place; `*` stands for every item of a list."""
    found = [body]
    for step in split(place):
        below: list[JSON] = []
        for value in found:
            if step == "*" and isinstance(value, list):
                below += value[:_MOST]
            elif isinstance(value, Mapping) and step in value:
                below.append(value[step])
            elif isinstance(value, list) and step.isdecimal() and int(step[:6]) < len(value):
                below.append(value[int(step[:6])])
        found = below[:_MOST]
    return found
