"""Which keys inside an argument may stay, although nobody declared them."""

from __future__ import annotations

from collections.abc import Mapping

from selfcorrect.model import JSON, Finding, JsonObject
from selfcorrect.pointer import get, join, split
from selfcorrect.protocols import Tool
from selfcorrect.schema.keys import Surroundings, resembles, suitors
from selfcorrect.schema.subschema import Alternatives, alternatives, at, declared, meets, strings
from selfcorrect.text import normal

_TOP = 2
"""Slashes in the pointer of an argument: `/args/key`."""
_WORDS = ("additionalProperties", "unevaluatedProperties")


def may_stay(finding: Finding, args: JsonObject, tool: Tool) -> bool:
    """Whether a finding is about a nested key that means nothing to the schema, and may be there.

    It may where the schema does not forbid it and it stands for no declared key: declared keys are
    there, none that is required is missing, none is like it by its name, and none that is absent
    could have its value. An unknown argument of the tool never may.
    """
    if finding.code != "additionalProperties" or len(finding.paths) != 1:
        return False
    if finding.paths[0].count("/") <= _TOP:
        return False
    *above, key = split(finding.paths[0])[1:]
    schemas = at(tool.schema, above)
    given = get(dict(args), join(*above))
    if not schemas or not isinstance(given, Mapping):
        return False
    names = declared(schemas)
    required = {name for one in schemas for name in strings(one.get("required"))}
    forbids = any(one.get(word) is False for one in schemas for word in _WORDS)
    if forbids or required - given.keys() or not names.keys() & given.keys():
        return False
    return resembles(key, names) is None and not _means_another(key, given, names, tool)


def _means_another(key: str, given: JsonObject, names: Mapping[str, JSON], tool: Tool) -> bool:
    said = {name: alternatives(told, tool.schema) for name, told in names.items()}
    around = Surroundings(
        tool=tool,
        names={name: told for name, told in said.items() if name not in given},
        required=(),
        synonyms={},
    )
    value = given[key]
    told = around.names.values()
    return bool(suitors(key, value, around)) or any(_could_be(value, one) for one in told)


def _could_be(value: JSON, schemas: Alternatives) -> bool:
    """Whether a declared key could have this value."""
    listed = (each for one in schemas for each in (*one.get("enum", ()), one.get("const")))
    words = {normal(each) for each in listed if isinstance(each, str)}
    return any(meets(value, one) for one in schemas) or (
        isinstance(value, str) and normal(value) in words
    )
