"""The same call in another spelling: what may run unasked, and how far it is from what was written.

Each respelling gives what is written instead, and the worst class that it may cost.
"""

from __future__ import annotations

import copy
import json
import unicodedata
from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any

from random_calls import Spot, World, at, put, same, spots

EXACT, INFERRED = "exact", "inferred"
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Respelling = Callable[[Random, Spot], tuple[Any, str] | None]


def as_text(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """A number, a boolean, a list or an object as a text."""
    value = spot.value
    if isinstance(value, bool):
        return rng.choice([str(value), str(value).lower(), f" {value} "]), EXACT
    if isinstance(value, int | float):
        return rng.choice(
            [str(value), f" {value}", f"{value}.0" if type(value) is int else f"{value}0"]
        ), EXACT
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=rng.random() < 0.5), EXACT
    return None


def as_number(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """A text of digits without its quotes."""
    value = spot.value
    return (int(value), EXACT) if isinstance(value, str) and value == "451" else None


def in_words(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """`five`, `yes`."""
    value = spot.value
    if isinstance(value, bool):
        return "yes" if value else "no", INFERRED
    if isinstance(value, int) and value < len(WORDS):
        return rng.choice([WORDS[value], WORDS[value].title()]), INFERRED
    return None


def in_thousands(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """`12,345,678`."""
    value = spot.value
    is_long = type(value) is int and value >= 1_000_000
    return (f"{value:,}", INFERRED) if is_long else None


def in_a_list(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """One value where a list of one stands, and the other way round."""
    if isinstance(spot.value, list):
        is_one = len(spot.value) == 1 and not isinstance(spot.value[0], list)
        return (spot.value[0], EXACT) if is_one else None
    return [spot.value], INFERRED


def as_items(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """Items that stand in one text, where none holds the mark between them."""
    value = spot.value
    if not isinstance(value, list) or len(value) < 2:
        return None
    if not all(isinstance(item, str) and item.isascii() and item.isalnum() for item in value):
        return None
    return rng.choice([", ", ",", ";", "\n"]).join(value), INFERRED


def in_a_wrapper(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    if isinstance(spot.value, dict):
        return None
    if isinstance(spot.value, list):
        return {"items": spot.value}, INFERRED
    return {"value": spot.value}, INFERRED


def as_its_schema(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    kind = spot.schema.get("type")
    is_one = isinstance(kind, str) and not isinstance(spot.value, dict)
    return ({"type": kind, "value": spot.value}, INFERRED) if is_one else None


def of_a_listed_value(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """Other case and separators, where the words are those of no other listed value."""
    value = spot.value
    if "enum" not in spot.schema or not value.isascii():
        return None
    if sum(each.casefold() == value.casefold() for each in spot.schema["enum"]) > 1:
        return None
    return rng.choice([value.upper(), value.title(), f" {value} ", value.replace(" ", "_")]), EXACT


def of_a_date(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    if spot.schema.get("format") != "date":
        return None
    day = date.fromisoformat(spot.value)
    if rng.random() < 0.3:
        return day.strftime("%Y/%m/%d"), EXACT
    forms = ["%d %B %Y", "%b %d, %Y", "%B %d %Y"]
    if day.day > 12:
        forms += ["%m/%d/%Y", "%d.%m.%Y"]
    return day.strftime(rng.choice(forms)), INFERRED


def of_letters(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    """The letter and its accent apart."""
    value = spot.value
    if "enum" not in spot.schema or not isinstance(value, str):
        return None
    other = unicodedata.normalize("NFD", value)
    return (other, EXACT) if other != value else None


def with_its_unit(rng: Random, spot: Spot) -> tuple[Any, str] | None:
    said = spot.schema.get("description", "")
    if said.startswith("in ") and isinstance(spot.value, int):
        return f"{spot.value} {said.removeprefix('in ')}", INFERRED
    if said == "In US dollars.":
        return rng.choice([f"${spot.value}", f"{spot.value} USD"]), INFERRED
    return None


VALUES: tuple[Respelling, ...] = (
    *(as_text, as_text, as_number, in_words, in_thousands, in_a_list, as_items, in_a_wrapper),
    *(as_its_schema, of_a_listed_value, of_a_date, of_letters, with_its_unit),
)


def respell_value(rng: Random, world: World, written: Any) -> str | None:
    """Write one value of some arguments in another way that does not fit; the class that costs."""
    places = [*spots(world.args, world.tool.schema)]
    rng.shuffle(places)
    for spot in places[:6]:
        try:
            here = at(written, spot.path)
        except (KeyError, IndexError, TypeError):
            continue  # it stands in a text by now
        if not same(here, spot.value):
            continue
        made = rng.choice(VALUES)(rng, spot)
        if made is None:
            continue
        other = copy.deepcopy(world.args)
        put(other, spot.path, made[0])
        if not world.tool.is_valid(other):
            put(written, spot.path, made[0])
            return made[1]
    return None


def respell_key(rng: Random, world: World, written: Any) -> str | None:
    """Write one key in another way."""
    name = rng.choice([*world.args] or [""])
    known = world.tool.schema["properties"]
    if name not in written:
        return None
    new, cost = rng.choice([slipped, recased])(rng, name, [*known])
    if new in known or new in written:
        return None
    written[new] = written.pop(name)
    return cost


def recased(rng: Random, name: str, rivals: list[str]) -> tuple[str, str]:
    first, *rest = name.split("_")
    camel = first + "".join(word.title() for word in rest)
    return rng.choice([camel, name.replace("_", "-"), name.upper(), name.title()]), EXACT


def slipped(rng: Random, name: str, rivals: list[str]) -> tuple[str, str]:
    """One letter lost or doubled inside a word of six, far from every other key."""
    word = max(name.split("_"), key=len)
    place = rng.randrange(2, len(word) - 1) if len(word) >= 6 else 0
    if not place or any(_shared(name, other) for other in rivals if other != name):
        return name, INFERRED
    wrong = word[:place] + rng.choice(["", word[place] * 2]) + word[place + 1 :]
    return name.replace(word, wrong), INFERRED


def _shared(one: str, other: str) -> bool:
    """Whether two keys have a stretch of four letters in common."""
    return any(one[place : place + 4] in other for place in range(len(one) - 3))


def respell_whole(rng: Random, world: World, written: Any) -> tuple[Any, str]:
    """Everything in a wrapper or in a text."""
    key = rng.choice(["arguments", "args", "parameters", "params", "input"])
    if key in world.tool.schema["properties"]:
        return written, EXACT
    return rng.choice([{key: written}, {key: json.dumps(written)}, json.dumps(written)]), EXACT


def respell_name(rng: Random, world: World) -> tuple[str, str]:
    first, *rest = world.tool.name.split("_")
    camel = first + "".join(word.title() for word in rest)
    return rng.choice([camel, world.tool.name.upper(), world.tool.name.replace("_", "-")]), EXACT


def respelled(rng: Random, world: World, times: int) -> tuple[str, Any, str]:
    """The right call as a name, arguments and the worst class that the respellings cost."""
    name, written = world.tool.name, copy.deepcopy(world.args)
    costs = [EXACT]
    for _ in range(times):
        change = rng.choice([respell_value, respell_value, respell_value, respell_key])
        costs.append(change(rng, world, written) or EXACT)
    if times and rng.random() < 0.1:
        written, _ = respell_whole(rng, world, written)
    if times and rng.random() < 0.1:
        name, _ = respell_name(rng, world)
    return name, written, max(costs, key=[EXACT, INFERRED].index)
