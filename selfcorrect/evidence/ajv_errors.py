"""Ajv and other JSON Schema validators: `{"instancePath", "keyword", "params", "message"}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from selfcorrect.model import JSON, Finding
from selfcorrect.pointer import join

_MOST: Final = 50
_LIMITS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "formatMinimum",
    "formatMaximum",
)
_PARAM: Final = {
    "type": "type",
    "format": "format",
    "pattern": "pattern",
    "multipleOf": "multipleOf",
    "enum": "allowedValues",
    "const": "allowedValue",
}
_ONLY_FRAME: Final = ("if", "anyOf", "oneOf", "allOf")


def read(body: JSON) -> tuple[Finding, ...]:
    """A finding per violation; nothing if the body is something else."""
    for key in ("errors", "validation", "details", "detail", "message"):
        if isinstance(body, Mapping) and isinstance(body.get(key), list):
            body = body[key]
    if not isinstance(body, list) or not body:
        return ()
    items = [item for item in body if isinstance(item, Mapping) and _is_violation(item)]
    if len(items) != len(body):
        return ()
    leaves = [item for item in items if item.get("keyword") not in _ONLY_FRAME] or items
    return tuple(_finding(item) for item in leaves[:_MOST])


def _is_violation(item: Mapping[str, JSON]) -> bool:
    place = item.get("instancePath", item.get("dataPath", item.get("instanceLocation")))
    return isinstance(place, str) and (
        isinstance(item.get("keyword"), str)
        or isinstance(item.get("schemaPath", item.get("keywordLocation")), str)
    )


def _finding(item: Mapping[str, JSON]) -> Finding:
    place = item.get("instancePath", item.get("dataPath", item.get("instanceLocation"))) or ""
    where = item.get("schemaPath") or item.get("keywordLocation") or ""
    keyword = item.get("keyword") or str(where).rpartition("/")[2]
    params = item.get("params")
    params = params if isinstance(params, Mapping) else {}
    if place and not place.startswith("/"):
        tokens = place.lstrip("#$.").replace("]", "").replace("[", ".").replace("'", "").split(".")
        place = join(*[token for token in tokens if token])
    name = params.get("missingProperty") or params.get("additionalProperty")
    name = name or params.get("unevaluatedProperty")
    if isinstance(name, str):
        place = f"{place}{join(name)}"
    text = item.get("message") or item.get("error") or f"violates {keyword!r}"
    return Finding(
        text=str(text),
        code=str(keyword),
        paths=(place,) if place else (),
        constraint=_constraint(str(keyword), params),
    )


def _constraint(keyword: str, params: Mapping[str, JSON]) -> dict[str, JSON]:
    if keyword in ("required", "dependentRequired", "dependencies"):
        return {"required": [params["missingProperty"]] if "missingProperty" in params else []}
    if keyword in ("additionalProperties", "unevaluatedProperties"):
        return {"additionalProperties": False}
    if keyword in _LIMITS and "limit" in params:
        return {keyword: params["limit"]}
    if keyword == "uniqueItems":
        return {"uniqueItems": True}
    if keyword in _PARAM and _PARAM[keyword] in params:
        return {keyword: params[_PARAM[keyword]]}
    return {}
