"""A JSON Schema as places: what each place in the arguments wants, and whether a value fits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote

from selfcorrect.model import ABSENT, JSON, JsonDict, JsonObject
from selfcorrect.pointer import find, keys_of
from selfcorrect.schema.check import Validator, compile_schema

_DEPTH: Final = 32
"""How many references lead from one place to its schema; a circle of them ends here."""


class Slot:
    """One place in the arguments; the places inside it are made when they are first looked at.

    Args:
        schema: What the schema says of the place.
        root: The whole schema, for references.
        name: The argument's name; empty for an item or the arguments themselves.
        required: Whether its object cannot do without it.
        is_item: Whether it is the place of an item of a list.
    """

    def __init__(
        self,
        schema: Any,
        root: JsonObject,
        name: str = "",
        *,
        required: bool = True,
        is_item: bool = False,
    ) -> None:
        self.name = name
        self.required = required
        self.is_item = is_item
        self.schema = schema
        self.root = root
        self.view = _plain(schema, root, _DEPTH)

    @classmethod
    def of(cls, schema: JsonObject) -> Slot:
        """Return the place of a tool's arguments; keys that it does not name do not fit.

        >>> slot = Slot.of({"properties": {"n": {"type": "integer"}}})
        >>> slot.accepts({"n": 5}), slot.accepts({"n": "5"}), slot.accepts({"m": 5})
        (True, False, False)
        """
        whole = close(schema)
        return cls({"type": "object", **whole}, whole)

    def at(self, keys: Sequence[str]) -> Slot:
        """Return the place inside this one; one that takes anything where there is none."""
        found: Slot = self
        for key in keys:
            found = found._inner(key)
        return found

    def accepts(self, value: JSON) -> bool:
        """Say whether a value is valid here."""
        try:
            return self.validator.is_valid(value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return False

    @cached_property
    def is_nullable(self) -> bool:
        """Whether null may stand here."""
        return self.accepts(None)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The JSON types that it takes beside null; empty means any."""
        named = self.view.get("type", ())
        if not named and self.branches:
            return _kinds_of(self.branches)
        return frozenset([named] if isinstance(named, str) else named) - {"null"}

    def takes(self, kind: str) -> bool:
        """Say whether values of a JSON type may stand here."""
        kinds = self.kinds
        return not kinds or kind in kinds or (kind == "integer" and "number" in kinds)

    @cached_property
    def choices(self) -> tuple[JSON, ...]:
        """The listed values; none where there is no list."""
        only = (self.view["const"],) if "const" in self.view else ()
        return tuple(self.view.get("enum", only))

    @property
    def default(self) -> JSON:
        """The default, or `ABSENT`."""
        return self.view.get("default", ABSENT)

    @property
    def format(self) -> str:
        """The named format of a text."""
        return str(self.view.get("format") or "")

    @property
    def pattern(self) -> str:
        """The regular expression of a text."""
        return str(self.view.get("pattern") or "")

    @property
    def description(self) -> str:
        """What the schema says of it."""
        return str(self.view.get("description") or "")

    @property
    def is_open(self) -> bool:
        """Whether an object may hold keys that it does not name."""
        return self.view.get("additionalProperties", True) is not False

    @property
    def names_keys(self) -> bool:
        """Whether it says anything of the keys of an object."""
        return bool(self.properties) or self.view.get("additionalProperties", True) is not True

    @cached_property
    def properties(self) -> Mapping[str, Slot]:
        """The places of its arguments, by name."""
        required = self.view.get("required") or ()
        return {
            name: Slot(each, self.root, name, required=name in required)
            for name, each in _mapping(self.view.get("properties")).items()
        }

    @cached_property
    def item(self) -> Slot | None:
        """The place of its items."""
        items = self.view.get("items", ABSENT)
        return None if items is ABSENT else Slot(items, self.root, self.name, is_item=True)

    @cached_property
    def branches(self) -> tuple[Slot, ...]:
        """The alternatives of a union."""
        found = [each for word in ("anyOf", "oneOf") for each in self.view.get(word) or ()]
        return tuple(Slot(each, self.root, self.name, required=self.required) for each in found)

    def _inner(self, key: str) -> Slot:
        if key in self.properties:
            return self.properties[key]
        first = self.view.get("prefixItems", ())
        if key.isdecimal() and int(key) < len(first):
            return Slot(first[int(key)], self.root, self.name, is_item=True)
        if key.isdecimal() and self.item is not None:
            return self.item
        return Slot(self.view.get("additionalProperties"), self.root, key, required=False)

    @cached_property
    def validator(self) -> Validator:
        """What checks values against the schema of the place.

        Raises:
            ValueError: If it is not a usable JSON Schema.
        """
        stores = {word: self.root[word] for word in ("$defs", "definitions") if word in self.root}
        # Where the schema says nothing, or only yes or no, there is nothing to refer to.
        own = {"not": {}} if self.schema is False else _mapping(self.schema)
        return compile_schema({**stores, **own})


def subschema(schema: JsonObject, keys: Sequence[str]) -> JsonObject:
    """Return the schema of a place, references resolved; empty where there is none.

    Of a union with null, the other alternative counts.

    >>> age = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    >>> subschema({"properties": {"people": {"items": age}}}, ["people", "0"])
    {'type': 'integer'}
    """
    return Slot(schema, schema).at(keys).view


def close(schema: JsonObject) -> JsonDict:
    """Return a schema that allows declared keys alone, where it does not speak of others.

    A tool drops an unknown key in silence, so a misspelt one must not pass.
    """
    if "properties" not in schema or not _OPENS.isdisjoint(schema):
        return dict(schema)
    return {**schema, "additionalProperties": False}


_OPENS: Final = frozenset(
    {
        *("additionalProperties", "unevaluatedProperties", "patternProperties"),
        *("allOf", "anyOf", "oneOf", "$ref", "if"),
    }
)
"""Keywords that speak of keys which `properties` does not name."""


def _kinds_of(branches: Sequence[Slot]) -> frozenset[str]:
    """Return the types that alternatives name; none if one of them leaves it open."""
    kinds = [each.kinds for each in branches]
    return frozenset().union(*kinds) if all(kinds) else frozenset()


def _plain(schema: Any, root: JsonObject, depth: int) -> JsonObject:
    """Return a schema without `$ref`, `allOf` and the null of a union."""
    here: JsonDict = dict(_mapping(schema))
    if depth == 0:
        return {}
    if "$ref" in here:
        here = {**_mapping(_target(root, here.pop("$ref"))), **here}
        return _plain(here, root, depth - 1)
    for part in here.pop("allOf", ()):
        more = _plain(part, root, depth - 1)
        both = {**_mapping(more.get("properties")), **_mapping(here.get("properties"))}
        here = {**more, **here, **({"properties": both} if both else {})}
    for union in ("anyOf", "oneOf"):
        others = [each for each in here.get(union, ()) if _mapping(each).get("type") != "null"]
        if len(others) == 1:
            del here[union]
            return _plain({**_mapping(others[0]), **here}, root, depth - 1)
    return here


def _target(schema: JsonObject, reference: object) -> Any:
    """Return what a local `$ref` points to, or None; anchors, such as "#name", are not resolved."""
    keys = keys_of(unquote(str(reference)), "#")
    return find(schema, keys) if keys or reference == "#" else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
