"""A JSON Schema as places: what each place in the arguments wants, and whether a value fits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

from selfcorrect.model import ABSENT, JSON, JsonDict, JsonObject
from selfcorrect.pointer import find, parts_of
from selfcorrect.schema.normal import Root, normalize
from selfcorrect.schema.validator import Validator, compile_schema

_DEPTH = 32
"""How many references lead from one place to its schema; a circle of them ends here."""

_ROOT = Root()


@dataclass(eq=False)
class Place:
    """One place in the arguments; the places inside it are made when they are first looked at.

    Attributes:
        schema: What the schema says of the place.
        root: What it shares with the other places of its schema.
        name: The argument's name; empty for an item or the arguments themselves.
        required: Whether its object cannot do without it.
        is_item: Whether it is the place of an item of a list.
    """

    schema: Any
    root: Root = _ROOT
    name: str = ""
    _: KW_ONLY
    required: bool = True
    is_item: bool = False

    def __post_init__(self) -> None:
        self.view = _plain(self.schema, self.root, _DEPTH)

    @classmethod
    def of(cls, schema: JsonObject) -> Place:
        """Return the place of a tool's arguments; keys that it does not name do not fit.

        >>> place = Place.of({"properties": {"n": {"type": "integer"}}})
        >>> place.accepts({"n": 5}), place.accepts({"n": "5"}), place.accepts({"m": 5})
        (True, False, False)
        """
        whole, root = normalize(schema)
        return cls({"type": "object", **whole}, root)

    def at(self, keys: Sequence[str], value: JSON = ABSENT) -> Place:
        """Return the place inside this one; one that takes anything where there is none.

        Args:
            keys: The keys that lead to it.
            value: What stands here, for the branch of a union that it means.
        """
        place: Place = self
        for key in keys:
            meant = None if value is ABSENT else place.meant(value)
            place, value = (meant or place).inner(key), find(value, [key])
        return place

    def meant(self, value: JSON) -> Place | None:
        """Return the branch of a union that a value means, though it need not fit; or None.

        An object means the branch whose tag it holds, or else the one whose keys fit it best.
        """
        own = type_of(value)
        branches = [branch for branch in self.branches if branch.takes(own)]
        if len(branches) > 1 and isinstance(value, Mapping):
            if self.tag is not None:
                name, by_value = self.tag
                return by_value.get(_plain_text(value.get(name)))
            # An object without a key of any branch means none of them.
            near = [each for each in branches if not value.keys().isdisjoint(each.properties)]
            least = min((each.misfits(value) for each in near), default=None)
            branches = [each for each in near if each.misfits(value) == least]
        return branches[0] if len(branches) == 1 else None

    def misfits(self, value: JsonObject) -> tuple[int, int]:
        """Count the keys that an object has too many, and those that it lacks."""
        lacks = (each.required and name not in value for name, each in self.properties.items())
        return len(value.keys() - self.properties.keys()), sum(lacks)

    def accepts(self, value: JSON) -> bool:
        """Say whether a value is valid here."""
        try:
            # Of a union with a thousand branches no more is compiled than need be.
            is_other = isinstance(value, str | dict | list) and not self.takes(type_of(value))
            return not is_other and self.validator.is_valid(value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return False

    @cached_property
    def is_nullable(self) -> bool:
        """Whether null may stand here."""
        return self.accepts(None)

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON types that it takes beside null; empty means any."""
        names = self.view.get("type", ())
        if not names and self.branches:
            # None where one of the alternatives leaves it open.
            types = [branch.types for branch in self.branches]
            return frozenset().union(*types) if all(types) else frozenset()
        return frozenset([names] if isinstance(names, str) else names) - {"null"}

    def takes(self, name: str) -> bool:
        """Say whether values of a JSON type may stand here."""
        types = self.types
        return not types or name in types or (name == "integer" and "number" in types)

    @cached_property
    def choices(self) -> tuple[JSON, ...]:
        """The listed values; empty where any value may fit."""
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
        words = ("additionalProperties", "unevaluatedProperties")
        return all(self.view.get(word, True) is not False for word in words)

    @property
    def names_keys(self) -> bool:
        """Whether it says anything of the keys of an object."""
        return bool(self.properties) or self.view.get("additionalProperties", True) is not True

    @cached_property
    def properties(self) -> Mapping[str, Place]:
        """The places of its arguments, by name."""
        required = self.view.get("required") or ()
        return {
            name: Place(each, self.root, name, required=name in required)
            for name, each in _mapping(self.view.get("properties")).items()
        }

    @cached_property
    def item(self) -> Place | None:
        """The place of its items."""
        items = self.view.get("items", ABSENT)
        return None if items is ABSENT else Place(items, self.root, self.name, is_item=True)

    @cached_property
    def branches(self) -> tuple[Place, ...]:
        """The alternatives of a union."""
        schemas = [each for word in ("anyOf", "oneOf") for each in self.view.get(word) or ()]
        return tuple(Place(each, self.root, self.name, required=self.required) for each in schemas)

    @cached_property
    def tag(self) -> tuple[str, Mapping[str, Place]] | None:
        """The argument whose listed value tells the objects of a union apart, and what it means."""
        objects = [each for each in self.branches if each.takes("object")]
        for name in objects[0].properties if len(objects) > 1 else ():
            tags = [
                (_plain_text(choice), each)
                for each in objects
                for choice in (each.properties[name].choices if name in each.properties else ())
            ]
            by_value = dict(tags)
            if len(by_value) == len(tags) and {*by_value.values()} == {*objects}:
                return name, by_value
        return None

    def inner(self, key: str) -> Place:
        """Return the place under one key."""
        if self.tag is not None and key == self.tag[0]:
            places = (each.properties[key] for each in self.tag[1].values())
            every = dict.fromkeys(choice for each in places for choice in each.choices)
            return Place({"enum": [*every]}, self.root, key)
        if key in self.properties:
            return self.properties[key]
        first = self.view.get("prefixItems", ())
        if key.isdecimal() and int(key) < len(first):
            return Place(first[int(key)], self.root, self.name, is_item=True)
        if key.isdecimal() and self.item is not None:
            return self.item
        return Place(self.view.get("additionalProperties"), self.root, key, required=False)

    @cached_property
    def validator(self) -> Validator:
        """What checks values against the schema of the place.

        Raises:
            ValueError: If it is not a usable JSON Schema.
        """
        own: JsonDict = {"not": {}} if self.schema is False else dict(_mapping(self.schema))
        if any("$ref" in part for part in parts_of(own)):
            own["$defs"] = self.root.definitions
        return compile_schema(own, self.root.parts)


def type_of(value: JSON) -> str:
    """Return the JSON type of a value.

    >>> type_of(True), type_of(5), type_of({})
    ('boolean', 'integer', 'object')
    """
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
    return "null" if value is None else names.get(type(value), "object")


def _plain_text(value: JSON) -> str:
    return str(value).strip().lower()


def _plain(schema: Any, root: Root, depth: int) -> JsonObject:
    """Return a schema without `$ref`, `allOf` and the null of a union."""
    here: JsonDict = dict(_mapping(schema))
    if depth == 0:
        return {}
    if "$ref" in here:
        name = str(here.pop("$ref")).removeprefix("#/$defs/")
        here = {**_mapping(root.definitions.get(name)), **here}
        return _plain(here, root, depth - 1)
    for part in here.pop("allOf", ()):
        more = _plain(part, root, depth - 1)
        theirs, ours = _mapping(more.get("properties")), _mapping(here.get("properties"))
        here = {**more, **here}
        if theirs:
            # `True` only allows the key: another part says what its value must be.
            own = {name: each for name, each in ours.items() if each is not True}
            here["properties"] = {**ours, **theirs, **own}
    for union in ("anyOf", "oneOf"):
        others = [each for each in here.get(union, ()) if _mapping(each).get("type") != "null"]
        if len(others) == 1:
            del here[union]
            return _plain({**_mapping(others[0]), **here}, root, depth - 1)
    return here


def _mapping(value: Any) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
