"""Which keys inside an argument may stay, although nobody declared them."""

from __future__ import annotations

from collections.abc import Mapping

from selfcorrect.model import Finding, JsonObject
from selfcorrect.pointer import get, join, split
from selfcorrect.protocols import Tool
from selfcorrect.schema.keys import resembles
from selfcorrect.schema.subschema import at, declared, meets, strings
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
    free = names.keys() - given.keys()
    absent = [one for name in free for one in at(tool.schema, [*above, name]) or ()]
    listed = (each for one in absent for each in (*one.get("enum", ()), one.get("const")))
    value, words = given[key], {normal(each) for each in listed if isinstance(each, str)}
    is_listed = isinstance(value, str) and normal(value) in words
    means_another = is_listed or any(meets(value, one) for one in absent)
    return not means_another and resembles(key, names) is None
