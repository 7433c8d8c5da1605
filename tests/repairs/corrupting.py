"""Valid calls made from schemas, and what models do to them; all of it from one seed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from random import Random
from typing import Any

NAMES = (
    *("city", "origin", "destination", "departure_date", "return_date", "passengers", "cabin"),
    *("max_price", "currency", "is_urgent", "contact_email", "notes", "tags", "seat_numbers"),
    *("billing_address", "line_items", "discount_rate", "payment_method", "user_id", "time_zone"),
    *("include_taxes", "order_status", "warehouse", "shipping_speed", "gift_message", "quantity"),
)
WORDS = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "harbor", "iris", "jade")
ENUMS = (
    ("economy", "business", "first"),
    ("Pending Review", "Shipped", "Delivered"),
    ("credit_card", "bank_transfer", "voucher"),
    ("north", "south", "east", "west"),
)
TOOLS = ("search_flights", "create_invoice", "list_warehouses", "translate_document")


def schema_of(rng: Random, depth: int = 2) -> dict[str, Any]:
    """A closed object with a few properties."""
    names = rng.sample(NAMES, rng.randint(1, 6))
    properties = {name: _kind(rng, depth) for name in names}
    required = [name for name in names if rng.random() < 0.6]
    return {"type": "object", "properties": properties, "required": required}


def _kind(rng: Random, depth: int) -> dict[str, Any]:
    simple: list[dict[str, Any]] = [
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "string"},
        {"type": "string", "enum": [*rng.choice(ENUMS)]},
        {"type": "string", "format": "date"},
    ]
    if depth == 0 or rng.random() < 0.7:
        return rng.choice(simple)
    item = rng.choice([*simple[:1], simple[3], simple[4], schema_of(rng, depth - 1)])
    return rng.choice(
        [
            schema_of(rng, depth - 1),
            {"type": "array", "items": item},
            {"anyOf": [rng.choice(simple), {"type": "null"}]},
        ]
    )


def value_of(rng: Random, schema: dict[str, Any]) -> Any:
    """A value that fits."""
    if "anyOf" in schema:
        return value_of(rng, rng.choice(schema["anyOf"]))
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema["type"]:
        case "integer":
            return rng.randint(0, 5_000)
        case "number":
            return rng.choice([rng.randint(0, 900), round(rng.uniform(0, 900), 2)])
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case "array":
            return [value_of(rng, schema["items"]) for _ in range(rng.randint(1, 3))]
        case "object":
            return {
                name: value_of(rng, inner)
                for name, inner in schema["properties"].items()
                if name in schema["required"] or rng.random() < 0.5
            }
    if schema.get("format") == "date":
        return (date(2026, 1, 1) + timedelta(rng.randint(0, 700))).isoformat()
    return " ".join(rng.sample(WORDS, rng.randint(1, 3)))


Spot = tuple[Any, Any, dict[str, Any]]
"""A container, a key in it, and the schema of what stands there."""


def spots(args: Any, schema: dict[str, Any]) -> Iterator[Spot]:
    """Every place in some arguments, at any depth."""
    if isinstance(args, dict):
        inner = schema.get("properties", {})
    elif isinstance(args, list):
        inner = dict.fromkeys(range(len(args)), schema.get("items", {}))
    else:
        return
    for key, below in inner.items():
        if isinstance(args, list) or key in args:
            yield args, key, below
            yield from spots(args[key], below)


def _date_form(rng: Random, iso: str) -> str:
    day = date.fromisoformat(iso)
    forms = ["%Y/%m/%d", "%d %B %Y", "%b %d, %Y", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d-%m-%y"]
    return day.strftime(rng.choice(forms))


def _respelled(rng: Random, text: str) -> str:
    words = text.replace("_", " ").split() or [text]
    camel = words[0] + "".join(word.title() for word in words[1:])
    return rng.choice([text.upper(), camel, "-".join(words), " ".join(words).title(), f" {text} "])


def _slipped(rng: Random, text: str) -> str:
    if len(text) < 2:
        return text
    at = rng.randrange(1, len(text))
    match rng.randrange(4):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + text[at] + text[at:]
        case 2 if at + 1 < len(text):
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + rng.choice("etaoinx") + text[at + 1 :]


def corrupted_value(rng: Random, value: Any, schema: dict[str, Any]) -> Any:
    """The value as a model might write it wrongly."""
    if value is None:
        return []
    if isinstance(value, bool):
        return rng.choice([str(value), str(value).lower(), "yes" if value else "no", int(value)])
    if isinstance(value, int):
        forms = [str(value), f"{value:,}", float(value), f" {value}", [value], f"{value} or so"]
        return rng.choice([*forms, value + 0.5] if schema["type"] == "integer" else forms)
    if isinstance(value, float):
        return rng.choice([str(value), f"${value:,.2f}", f"{value} units", [value]])
    if isinstance(value, list | dict) and schema["type"] not in ("array", "object"):
        return value
    if isinstance(value, list):
        whole = json.dumps(value)
        listed = ", ".join(map(str, value))
        bullets = "\n".join(f"- {item}" for item in value)
        numbered = {str(place): item for place, item in enumerate(value)}
        one = value[0] if len(value) == 1 else whole[:-1]
        return rng.choice([whole, repr(value), listed, one, bullets, numbered, [value]])
    if isinstance(value, dict):
        return rng.choice([json.dumps(value), repr(value), [value], json.dumps(value)[:-1]])
    return _corrupted_text(rng, value, schema)


def _corrupted_text(rng: Random, value: str, schema: dict[str, Any]) -> Any:
    if schema.get("type") in ("array", "object"):
        return value
    if schema.get("format") == "date":
        return _date_form(rng, value) if value[4:5] == "-" else value
    if "enum" in schema:
        return rng.choice([_respelled, _slipped])(rng, value)
    return rng.choice([[value], {"value": value}])


Corruption = Callable[[Random, dict[str, Any], dict[str, Any]], dict[str, Any] | None]


def a_value(rng: Random, args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """One value in another form or of another type."""
    found = [*spots(args, schema)]
    if not found:
        return None
    container, key, below = rng.choice(found)
    below = next((b for b in below.get("anyOf", ()) if b["type"] != "null"), below)
    if not below:
        return None
    container[key] = corrupted_value(rng, container[key], below)
    return args


def a_key(rng: Random, args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """One key in another spelling, or with a slip of the pen."""
    found = [spot for spot in spots(args, schema) if isinstance(spot[0], dict)]
    if not found:
        return None
    container, key, _ = rng.choice(found)
    longer = rng.choice(["name", "value", "date", "id", "total", "first"])
    forms = [_respelled, _slipped, lambda _, k: f"param_{k}", lambda _, k: f"{k}_{longer}"]
    new = rng.choice(forms)(rng, key)
    if new in container:
        return None
    container[new] = container.pop(key)
    return args


def two_keys(rng: Random, args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """Several keys at once."""
    once = a_key(rng, args, schema)
    return None if once is None else a_key(rng, once, schema) or once


def a_lost_key(rng: Random, args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """A required argument that is not there."""
    here = [name for name in schema["required"] if name in args]
    if not here:
        return None
    del args[rng.choice(here)]
    return args


def an_extra_key(rng: Random, args: dict[str, Any], _: dict[str, Any]) -> dict[str, Any] | None:
    """An argument that no tool knows."""
    args[rng.choice(["verbose", "callback_url", "x", "debug_level"])] = rng.choice([1, "on", "z"])
    return args


def a_null(rng: Random, args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """Null, or the word for it, for an argument that may be absent."""
    away = [
        name
        for name, below in schema["properties"].items()
        if name not in args and name not in schema["required"] and not _takes_any_text(below)
    ]
    if not away:
        return None
    args[rng.choice(away)] = rng.choice([None, "None", "null", ""])
    return args


def _takes_any_text(schema: dict[str, Any]) -> bool:
    """Whether null, or the word for it, would be a value like any other."""
    return "anyOf" in schema or (set(schema) == {"type"} and schema["type"] == "string")


def a_wrapper(rng: Random, args: dict[str, Any], _: dict[str, Any]) -> dict[str, Any] | None:
    """Everything one level too deep."""
    key = rng.choice(["arguments", "params", "input", "properties", "kwargs"])
    return {key: rng.choice([args, json.dumps(args)])}


def flat(rng: Random, args: dict[str, Any], _: dict[str, Any]) -> dict[str, Any] | None:
    """A nested object written flat."""
    nested = [name for name, value in args.items() if isinstance(value, dict) and value]
    if not nested:
        return None
    name = rng.choice(nested)
    mark = rng.choice([".", "_", "__"])
    args |= {f"{name}{mark}{key}": value for key, value in args.pop(name).items()}
    return args


CORRUPTIONS: tuple[Corruption, ...] = (
    *(a_value, a_value, a_value, a_key, a_key, two_keys, a_lost_key, an_extra_key, a_null),
    *(a_wrapper, flat),
)


def corrupted(rng: Random, args: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments with one to three things wrong, or None where nothing could be done."""
    out: dict[str, Any] | None = copy.deepcopy(args)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        out = rng.choice(CORRUPTIONS)(rng, out, schema) if out else None
    return out


def written_wrongly(rng: Random, name: str, args: dict[str, Any]) -> str:
    """A call as a text, with one thing wrong in how it is written."""
    whole, code = json.dumps(args), f"{name}({', '.join(f'{k}={v!r}' for k, v in args.items())})"
    call = json.dumps({"name": name, "arguments": args})
    at = rng.choice([n for n, char in enumerate(code) if char in "()[]{}"])
    forms = [
        f"[{code[:-1]}]",
        f"[{code[:-2]})]" if not code[-2:-1].isalnum() else f"[{code[:-1]}}}]",
        f"[{code[:at]}{code[at + 1 :]}]",
        code[:at] + rng.choice("()[]{}") + code[at:],
        call[:-2] + "]}",
        call + call,
        f"{name}({', '.join(f'{k}: {json.dumps(v)}' for k, v in args.items())})",
        f"{name}({', '.join(f'{k}={v}' for k, v in args.items())})",
        json.dumps({"name": name, "arguments": whole[1:]}),
        json.dumps({"name": name, "arguments": whole + whole}),
        json.dumps({"name": name, "arguments": code}),
        f"<tool_call>{call}\n<|im_start|>\n",
        f"{name}\n{whole[:-1]}",
    ]
    return rng.choice(forms)
