"""Tools and right calls at random, full of rivals: near keys, near listed values, like levels."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

from selfcorrect.tools import ToolSpec

EFFECTS: tuple[Any, ...] = ("read_only", "idempotent", "mutating", "destructive", None)
FAMILIES = (
    ("to", "cc", "bcc"),
    ("from_account", "to_account", "account"),
    ("start_date", "end_date"),
    ("max_price", "min_price"),
    ("amount", "amount_due", "discount"),
    ("user_id", "user_ids", "username"),
    ("source", "resource", "source_id"),
    ("run", "dry_run"),
    ("enabled", "muted"),
    ("name", "names", "nickname"),
    ("city", "county", "country"),
    ("note", "notes", "footnote"),
    ("total", "subtotal"),
    ("delay_seconds", "delay_minutes"),
    ("region", "origin"),
    ("delete", "soft_delete", "undelete"),
    ("quantity",),
    ("priority",),
    ("payload",),
    ("shipping_address",),
)
LISTED = (
    ("economy", "business", "first"),
    ("us-east-1", "us-east-2", "us-west-1"),
    ("v1", "v10", "v11", "v2"),
    ("post", "postpaid", "prepaid"),
    ("south", "southwest", "southeast"),
    ("delete", "soft delete", "undelete"),
    ("none", "all", "some"),
    ("high", "highest", "low"),
    ("on", "off", "auto"),
    ("USD", "EUR", "GBP"),
    ("Strasse", "Straße"),
)
TEXTS = (
    *("ann", "bob", "Łukasz", "ann@example.org", "ann@example.com", "ACME-77", "ACME-78"),
    *("archive/b", "archive", "12 High Street", "12 High Street, Leeds", "o'neil", "x, y", "a;b"),
    *("blue night", "blue knight", "rm -rf /tmp/a", "/tmp/a", "https://a.example/x?y=1"),
    *("00451", "451", "don't pay", "pay", "café", "Straße", "true story", "no", "seven"),
)
NAMES = (
    ("send_email", "send_emails", "resend_email", "send_mail"),
    ("create_order", "delete_order", "create_orders"),
    ("pay", "repay", "prepay", "pay_all"),
    ("list_users", "list_user", "unlist_users"),
    ("book_flight", "rebook_flight", "look_flight"),
)
BOOLEAN = frozenset({"run", "dry_run", "enabled", "muted", "delete", "soft_delete", "undelete"})

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class World:
    """A tool with rivals beside it, and a call that is right."""

    tool: ToolSpec
    tools: tuple[ToolSpec, ...]
    args: dict[str, Any]


def world_of(rng: Random, depth: int = 2) -> World:
    schema = object_of(rng, depth)
    name, *rivals = rng.choice(NAMES)
    effect = rng.choice(EFFECTS)
    others = (*rng.sample(rivals, rng.randint(0, len(rivals))), f"evil.{name}")
    tools = tuple(
        made(each, schema if rng.random() < 0.7 else object_of(rng, 1), rng.choice(EFFECTS))
        for each in others
    )
    tool = made(name, schema, effect)
    return World(tool, (tool, *tools), value_of(rng, schema))


def made(name: str, schema: dict[str, Any], effect: Any) -> ToolSpec:
    given = {"name": name, "description": "Does what it is for.", "parameters": schema}
    return ToolSpec.from_schema(given, effect=effect)


def object_of(rng: Random, depth: int) -> dict[str, Any]:
    """A closed object of two or three families of names."""
    names = [
        name
        for family in rng.sample(FAMILIES, rng.randint(1, 3))
        for name in family
        if rng.random() < 0.8
    ] or ["quantity"]
    rng.shuffle(names)
    properties: dict[str, Any] = {name: kind_of(rng, name) for name in names}
    if depth and rng.random() < 0.5:
        below = {name: properties[name] for name in names if rng.random() < 0.6}
        inner = object_of(rng, 0)["properties"] | below
        nested = {"type": "object", "properties": inner, "required": []}
        many = rng.random() < 0.4
        properties["lines" if many else "details"] = (
            {"type": "array", "items": nested} if many else nested
        )
    required = [name for name in properties if rng.random() < 0.5]
    return {"type": "object", "properties": properties, "required": required}


def kind_of(rng: Random, name: str) -> dict[str, Any]:
    """What a parameter takes; often what its name says."""
    if name.endswith("_date"):
        return {"type": "string", "format": "date"}
    if name in BOOLEAN:
        return {"type": "boolean"}
    if name.startswith("delay_"):
        return {"type": "integer", "description": f"in {name.removeprefix('delay_')}"}
    text: dict[str, Any] = {"type": "string"}
    simple: list[dict[str, Any]] = [
        {"type": "integer"},
        {"type": "number"},
        {"type": "number", "description": "In US dollars."},
        {"type": "boolean"},
        text,
        text,
        {"type": "string", "enum": [*rng.choice(LISTED)]},
        {"type": "string", "format": "date"},
        {"type": ["integer", "null"]},
    ]
    if rng.random() < 0.25:
        return {"type": "array", "items": rng.choice(simple[:8])}
    return rng.choice(simple)


def value_of(rng: Random, schema: dict[str, Any]) -> Any:
    """A value that fits and is never nothing."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema["type"]
    match kind if isinstance(kind, str) else kind[0]:
        case "integer":
            return rng.choice([rng.randint(2, 40), rng.randint(41, 90_000)])
        case "number":
            return rng.choice([rng.randint(2, 900), round(rng.uniform(1, 900), 2)])
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [value_of(rng, schema["items"]) for _ in range(rng.randint(1, 4))]
        case "object":
            known = schema["properties"].items()
            needed = schema["required"]
            return {
                name: value_of(rng, below)
                for name, below in known
                if name in needed or rng.random() < 0.6
            }
    if schema.get("format") == "date":
        return (date(2026, 1, 1) + timedelta(rng.randint(0, 700))).isoformat()
    if rng.random() < 0.1:
        return json.dumps({"to": rng.choice(TEXTS), "amount": rng.randint(2, 90)})
    return rng.choice(TEXTS)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in some arguments."""

    path: Path
    schema: dict[str, Any]
    value: Any
    required: bool = False

    @property
    def is_leaf(self) -> bool:
        return not isinstance(self.value, dict | list)


def spots(value: Any, schema: dict[str, Any], path: Path = ()) -> Iterator[Spot]:
    """Every place below, containers too, from the top."""
    if isinstance(value, dict):
        known, needed = schema.get("properties", {}), schema.get("required", ())
        for name, inner in value.items():
            if name in known:
                yield Spot((*path, name), known[name], inner, name in needed)
                yield from spots(inner, known[name], (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield Spot((*path, place), schema["items"], inner)
            yield from spots(inner, schema["items"], (*path, place))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: Path, new: Any) -> None:
    at(value, path[:-1])[path[-1]] = copy.deepcopy(new)


def remove(value: Any, path: Path) -> None:
    del at(value, path[:-1])[path[-1]]


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, where 5 is 5.0 and true is not 1."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
