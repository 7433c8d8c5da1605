"""A question of the loop as an elicitation of MCP, and what a person answers, read back.

A form of MCP is flat: texts, numbers, yes or no, one of a list. What the place's own schema says is
kept as far as such a form can say it; the loop checks the answer against all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from selfcorrect.model import JSON, JsonObject
from selfcorrect.plain import one_value
from selfcorrect.pointer import split
from selfcorrect.proxy.frames import mapping
from selfcorrect.reading.answers import is_proposal
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
    """What a person is asked.

    Attributes:
        params: Of `elicitation/create`.
        read: What the content of the answer means to the loop.
    """

    params: Form
    read: Callable[[Mapping[str, Any]], JSON]

    def answer(self, given: Mapping[str, Any]) -> JSON:
        """What the loop is told: the value, or that the person said no."""
        content = given.get("content")
        if given.get("action") != "accept" or not isinstance(content, Mapping):
            return REJECTED
        return self.read(content)


def can_be_asked(capabilities: Mapping[str, Any]) -> bool:
    """Whether a client with these capabilities shows forms.

    >>> can_be_asked({"elicitation": {}}), can_be_asked({"elicitation": {"url": {}}})
    (True, False)
    """
    offered = capabilities.get("elicitation")
    return isinstance(offered, Mapping) and (not offered or "form" in offered)


def question_of(asked: Mapping[str, Any], tool: ToolSpec | None) -> Question:
    """A question of the loop as a form."""
    path = str(asked.get("path") or "")
    tokens = split(path)[1:] if path.startswith("/args/") else ()
    options = list(asked.get("options") or ())
    name = next((token for token in reversed(tokens) if not token.isdigit()), "value")
    if options:
        labels = [_label(option) for option in options]
        field: JsonObject = {"type": "string", "enum": labels, "title": name}

        def chosen(content: Mapping[str, Any]) -> JSON:
            places = [place for place, label in enumerate(labels) if label == content.get(name)]
            return {"action": "choose", "choice": places[0]} if places else REJECTED

        return _question(asked, name, field, chosen)
    if not tokens and path != "/name":
        return _whole_call(asked)
    field = _field(at(tool.schema, tokens) if tool is not None and tokens else None)
    is_text = field.pop("x-json", None) is None

    def answered(content: Mapping[str, Any]) -> JSON:
        if name not in content:
            return REJECTED
        value = content[name]
        return {"action": "answer", "value": value if is_text else _parsed(value)}

    return _question(asked, name, {**field, "title": name}, answered)


def again(tool: str) -> Question:
    """Whether a call that may have been done is to be done once more."""
    message = (
        f"An equal call of {tool} was begun before, and nobody knows whether it was done. "
        "Do it once more?"
    )
    field = {"type": "boolean", "title": "Do it once more", "default": False}
    return _question(
        {"question": message}, _AGAIN, field, lambda content: content.get(_AGAIN) is True
    )


def _question(
    asked: Mapping[str, Any],
    name: str,
    field: JsonObject,
    read: Callable[[Mapping[str, Any]], JSON],
) -> Question:
    schema = {"type": "object", "properties": {name: dict(field)}, "required": [name]}
    return Question({"message": str(asked.get("question")), "requestedSchema": schema}, read)


def _whole_call(asked: Mapping[str, Any]) -> Question:
    """A question about the whole call: a person writes its arguments anew."""
    call = mapping(asked.get("call"))
    default = json.dumps(call.get("args") or {}, ensure_ascii=False)
    field = {"type": "string", "title": "arguments", "description": "a JSON object"}

    def edited(content: Mapping[str, Any]) -> JSON:
        args = _parsed(content.get("arguments"))
        return {"action": "edit", "args": args} if isinstance(args, Mapping) else REJECTED

    return _question(asked, "arguments", {**field, "default": default}, edited)


def _field(schemas: Sequence[JsonObject] | None) -> dict[str, Any]:
    """The place's own schema, as far as a form can say it; else JSON as text."""
    listed = [schema for schema in schemas or () if types_of(schema) != {"null"}]
    own = listed[0] if len(listed) == 1 else {}
    kinds = types_of(own) - {"null"}
    kind = next(iter(kinds)) if len(kinds) == 1 else ""
    told = own.get("description")
    field: dict[str, Any] = {"description": told[:1_000]} if isinstance(told, str) else {}
    if kind not in _KEPT:
        shape = f"{kind}, as JSON" if kind else "as JSON"
        said = field.get("description")
        return {"type": "string", "description": f"{said} ({shape})" if said else shape} | {
            "x-json": True
        }
    field |= {"type": kind} | {key: own[key] for key in _KEPT[kind] if key in own}
    if own.get("format") in _FORMATS and kind == "string":
        field["format"] = own["format"]
    return field


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
