"""convert-type: writes a value in the type that the schema wants."""

import json
import re
from dataclasses import dataclass
from typing import Final

from selfcorrect.model import (
    ABSENT,
    JSON,
    Call,
    Change,
    Changed,
    Diagnosis,
    GiveUp,
    JsonObject,
    Repair,
    Safety,
)
from selfcorrect.pointer import keys_of, look
from selfcorrect.protocols import RepairContext
from selfcorrect.schema.slot import subschema

_PYTHON: Final[JsonObject] = {
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
}
_BOOLEANS: Final = {"true": True, "false": False}
_NUMBER: Final = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")


@dataclass(frozen=True, slots=True)
class ConvertType:
    """Convert `"5"` to 5, `"true"` to true, 5.0 to 5, `"[1]"` to [1] or `"a"` to ["a"].

    Not for words ("five"), and not for numbers that would lose something (2.5 as an integer).
    """

    def __call__(self, call: Call, diagnosis: Diagnosis, context: RepairContext) -> Repair:
        before = look(call, diagnosis.path)
        schema = subschema(context.schema, keys_of(diagnosis.path))
        if before is ABSENT or not keys_of(diagnosis.path):
            return GiveUp("the error names no argument")
        for kind in _types(schema):
            after = _convert(before, kind)
            if after is not ABSENT:
                change = Change(diagnosis.path, before, after, Safety.EXACT, f"as {kind}")
                return Changed(change)
        return GiveUp(f"{before!r:.60} has no form of type {schema.get('type', 'any')}")


def _types(schema: JsonObject) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else [each for each in kind if each != "null"]


def _convert(value: JSON, kind: str) -> JSON:
    """Return the value as a type, or `ABSENT` where it has no such form or is of it already."""
    if _is(value, kind):
        return ABSENT
    if kind in ("integer", "number"):
        return _number(value, kind)
    if kind == "boolean" and isinstance(value, str):
        return _BOOLEANS.get(value.strip().casefold(), ABSENT)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return _nest(value, kind) if kind in ("array", "object") else ABSENT


def _is(value: JSON, kind: str) -> bool:
    # In Python True is an int; in JSON it is not.
    is_bool = isinstance(value, bool)
    return isinstance(value, _PYTHON.get(kind, ())) and is_bool == (kind == "boolean")


def _number(value: JSON, kind: str) -> JSON:
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return ABSENT
        value = float(text) if "." in text else int(text)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value if _is(value, kind) else ABSENT


def _nest(value: JSON, kind: str) -> JSON:
    """Parse a list or object that is a JSON text; else make a list of one value."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return ABSENT
        return parsed if _is(parsed, kind) else ABSENT
    is_single = kind == "array" and value is not None and value != ""
    return [value] if is_single and not isinstance(value, dict) else ABSENT
