"""A question of the loop as an elicitation of MCP, and what a person answers, read back.

A form of MCP is flat: texts, numbers, yes or no, one of a list. What the place's own schema says is
kept as far as such a form can say it; the loop checks the answer against all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.json_forms import is_proposal
from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import one_value
from selfcorrect.pointer import split
from selfcorrect.proxy.frames import mapping
from selfcorrect.schema.subschema import at, types_of
from selfcorrect.tools import ToolSpec

REJECTED: Final = {"action": "reject"}
_KEPT: Final = {
    "string": ("minLength", "maxLength", "default"),
    "integer": ("minimum", "maximum", "default"),
    "number": ("minimum", "maximum", "default"),
    "boolean": ("default",),
}
"""What a form can say of a field, by its type."""
_FORMATS: Final = ("email", "uri", "date", "date-time")
_LONGEST: Final = 200
_AGAIN: Final = "again"

Form = Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked: one value.

    Attributes:
        text: The question.
        name: What the value is called in the form.
        field: What the form says of it.
        read: What the value means to the loop.
    """

    text: str
    name: str
    field: JsonObject
    read: Callable[[Any], JSON]

    @property
    def params(self) -> Form:
        """Of `elicitation/create`."""
        properties = {self.name: {"title": self.name, **self.field}}
        schema = {"type": "object", "properties": properties, "required": [self.name]}
        return {"message": self.text, "requestedSchema": schema}

    def answer(self, given: Mapping[str, Any]) -> JSON:
        """What the loop is told: the value, or that the person said no."""
        content = mapping(given.get("content"))
        if given.get("action") != "accept" or self.name not in content:
            return REJECTED
        return self.read(content[self.name])


def can_be_asked(capabilities: Mapping[str, Any]) -> bool:
    """Whether a client with these capabilities shows forms.

    >>> can_be_asked({"elicitation": {}}), can_be_asked({"elicitation": {"url": {}}})
    (True, False)
    """
    offered = capabilities.get("elicitation")
    return isinstance(offered, Mapping) and (not offered or "form" in offered)


def question_of(asked: Mapping[str, Any], tool: ToolSpec | None) -> Question:
    """A question of the loop as a form."""
    path, text = str(asked.get("path") or ""), str(asked.get("question"))
    tokens = split(path)[1:] if path.startswith("/args/") else ()
    name = next((token for token in reversed(tokens) if not token.isdigit()), "value")
    if labels := [_label(option) for option in asked.get("options") or ()]:

        def chosen(value: Any) -> JSON:
            is_one = value in labels
            return {"action": "choose", "choice": labels.index(value)} if is_one else REJECTED

        return Question(text, name, {"type": "string", "enum": labels}, chosen)
    if not tokens and path != "/name":
        args = mapping(asked.get("call")).get("args") or {}
        default = json.dumps(args, ensure_ascii=False)
        whole = {"type": "string", "description": "a JSON object", "default": default}
        return Question(text, "arguments", whole, _edited)
    field, is_json = _field(at(tool.schema, tokens) if tool is not None and tokens else None)

    def answered(value: Any) -> JSON:
        return {"action": "answer", "value": _parsed(value) if is_json else value}

    return Question(text, name, field, answered)


def again(tool: str) -> Question:
    """Whether a call that may have been done is to be done once more."""
    message = (
        f"An equal call of {tool} was begun before, and nobody knows whether it was done. "
        "Do it once more?"
    )
    field = {"type": "boolean", "title": "Do it once more", "default": False}
    return Question(message, _AGAIN, field, lambda value: value is True)


def _edited(value: Any) -> JSON:
    """The arguments of a whole call, which a person wrote anew."""
    args = _parsed(value)
    return {"action": "edit", "args": args} if isinstance(args, Mapping) else REJECTED


def _field(schemas: Sequence[JsonObject] | None) -> tuple[dict[str, Any], bool]:
    """The place's own schema, as far as a form can say it; else JSON as text, and that it is."""
    listed = [schema for schema in schemas or () if types_of(schema) != {"null"}]
    own = listed[0] if len(listed) == 1 else {}
    kinds = types_of(own) - {"null"}
    kind = next(iter(kinds)) if len(kinds) == 1 else ""
    told = own.get("description")
    field: dict[str, Any] = {"description": told[:1_000]} if isinstance(told, str) else {}
    if kind not in _KEPT:
        shape = f"{kind}, as JSON" if kind else "as JSON"
        said = field.get("description")
        return {"type": "string", "description": f"{said} ({shape})" if said else shape}, True
    field |= {"type": kind} | {key: own[key] for key in _KEPT[kind] if key in own}
    if own.get("format") in _FORMATS and kind == "string":
        field["format"] = own["format"]
    return field, False


def _label(option: JSON) -> str:
    """An option as a person reads it; of proposed changes, what would stand there."""
    if is_proposal(option) and isinstance(option, list):
        return ", ".join(f"{item['path']}: {_short(item.get('after'))}" for item in option)
    return _short(option)


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _parsed(value: JSON) -> JSON:
    """What was written as JSON; a text that is none is meant as it stands."""
    try:
        return json.loads(value, object_pairs_hook=one_value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
