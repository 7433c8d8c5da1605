"""Makes `selfcorrect/maps/map.schema.json` out of the models of the map language.

`python tests/map_schema.py` writes it anew.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

import selfcorrect
from selfcorrect.mapping.bodies import BodyRow
from selfcorrect.mapping.document import (
    MapBreaker,
    MapDocument,
    MapPolicy,
    MapReading,
    ToolEffect,
    ToolResults,
)
from selfcorrect.mapping.recalls import RecallEntry, RecallStep
from selfcorrect.mapping.rules import ErrorRule

_NULL: Final = {"type": "null"}
PUBLISHED: Final = Path(selfcorrect.__file__).parent / "maps" / "map.schema.json"


def map_json_schema() -> dict[str, Any]:
    """The JSON Schema of a map file, for editors that complete and check TOML."""
    schema = MapDocument.model_json_schema()
    schema["$defs"]["MapLimits"]["properties"].pop("ceiling")
    for model in (
        *(MapDocument, BodyRow, ErrorRule, MapBreaker, MapPolicy, MapReading),
        *(RecallEntry, RecallStep, ToolEffect, ToolResults),
    ):
        said = schema if model is MapDocument else schema["$defs"][model.__name__]
        _never_null(said)
        _describe(said, model)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_for_editors(schema),
        "title": "selfcorrect error-strategy map",
    }


def _never_null(schema: Mapping[str, Any]) -> None:
    """A key that says nothing is left out: TOML has no null."""
    for name, each in schema["properties"].items():
        if _NULL in each.get("anyOf", ()):
            kept = [one for one in each["anyOf"] if one != _NULL]
            rest = {key: value for key, value in each.items() if key != "anyOf"}
            schema["properties"][name] = (kept[0] if len(kept) == 1 else {"anyOf": kept}) | rest


def _describe(schema: Mapping[str, Any], model: type[BaseModel]) -> None:
    """Add the texts below a model's fields; pydantic could, but at every import."""
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


if __name__ == "__main__":
    PUBLISHED.write_text(json.dumps(map_json_schema(), indent=2, ensure_ascii=False) + "\n")
