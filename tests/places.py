"""Arguments of every kind: valid values, their other spellings, and the texts that say more."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from operator import itemgetter
from random import Random
from typing import Any

from kit import INTEGER, TEXT, sections

CHOICES = {
    "cabin": ["economy", "premium_economy", "business", "first"],
    "action": ["delete", "archive", "publish"],
    "direction": ["north", "south", "northeast", "southwest"],
    "access": ["read", "write", "read_write"],
    "switch": ["enable", "disable"],
}
WORDS = tuple(
    "amber basil cedar delta ember grove harbor jade lotus maple onyx pearl river tulip".split()  # noqa: SIM905
)


MORE = sections("corruptions.txt")


@dataclass(frozen=True)
class Place:
    """One argument, and how its value may be written.

    Attributes:
        schema: Its schema.
        make: Makes a valid value.
        forms: Other spellings of a value.
        more: Sections of the data file whose texts say more than the value.
        show: The text of a value.
    """

    schema: dict[str, Any]
    make: Callable[[Random], Any]
    forms: Callable[[Any], list[Any]]
    more: tuple[str, ...] = ()
    show: Callable[[Any], str] = str


def spell(section, value):
    return [each.replace("{}", str(value)) for each in MORE[section]]


def whole(*units, **schema):
    def forms(value):
        found = [each for name in units for each in spell(f"{name} +", value)]
        found += [f"{value:,}"] if value > 999 else []
        found += [float(value)] if value < 2**53 else []
        named = {5: "five", 21: "twenty-one"}
        return [
            *found,
            *([named[value]] if value in named else []),
            *([float(value)] if value < 2**53 else []),
            [value],
        ]

    def make(r):
        return r.choice([5, 21, 200, r.randint(1, 9), r.randint(10, 99_999), 2**53 + 1])

    return Place({**INTEGER, **schema}, make, forms, (*units, "word"))


def choice(values):
    def forms(value):
        slip = value[:2] + value[3] + value[2] + value[4:]
        found = [value.title(), value.replace("_", " "), value.replace("_", "-"), f'"{value}"']
        return [*found, f"{value} class", [value], *([slip] if len(value) > 6 else [])]

    return Place({**TEXT, "enum": values}, lambda r: r.choice(values), forms, ("choice",))


def make_day(r):
    return (date(2026, 1, 1) + timedelta(r.randint(0, 700))).isoformat()


def days(value):
    day = date.fromisoformat(value)
    forms = ["%B %d, %Y", "%d %b %Y", "%A, %d %B %Y", "%b %d, %Y", "%Y-%m-%dT00:00:00Z"]
    forms += ["%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d"] if day.day > 12 else []
    return [day.strftime(each) for each in forms]


def make_moment(r):
    return f"{make_day(r)}T{r.randint(0, 23):02}:{r.randint(0, 59):02}:00+02:00"


def texts(value):
    return [[value], {"value": value}]


def switches(value):
    return [str(value), str(value).upper(), "yes" if value else "no", int(value), [value]]


def decimals(value):
    found = [each for each in spell("decimal +", value) if "+-" not in each]
    return [*found, [value], f"{value:.2f}".replace("-", "\N{MINUS SIGN}")]


def listed(value):
    parts = [str(each) for each in value]
    split = [", ".join(parts), "\n".join(parts), ";".join(parts)] if len(value) > 1 else value
    return [*split, json.dumps(value), str(value), str(tuple(value)), {"items": value}]


def many(make):
    return lambda r: r.sample(sorted({make(r) for _ in range(9)}), r.randint(1, 3))


def make_person(r):
    return {"first_name": r.choice(WORDS), "age": r.randint(1, 99)}


def persons(value):
    name, age = value.values()
    forms = [{"firstName": name, "age": age}, {"first_name": name, "age": str(age)}, [value]]
    return [*forms, {"first_name": {"value": name}, "age": age}, json.dumps(value), str(value)]


def crews(value):
    first = [{**value[0], "age": str(value[0]["age"])}, *value[1:]]
    return [first, json.dumps(value), {"items": value}, str(value)]


def make_uuid(r):
    digits = f"{r.getrandbits(128):032x}"
    return "-".join(
        (digits[:8], digits[8:12], f"4{digits[13:16]}", f"a{digits[17:20]}", digits[20:])
    )


PERSON = {
    "type": "object",
    "properties": {"first_name": TEXT, "age": INTEGER},
    "required": ["first_name", "age"],
    "additionalProperties": False,
}
DAY = Place({**TEXT, "format": "date"}, make_day, days, ("date",))
PHRASE = Place(TEXT, lambda r: " ".join(r.sample(WORDS, r.randint(1, 2))), texts)
BOOLEAN = Place(
    {"type": "boolean"},
    lambda r: r.random() < 0.5,
    switches,
    ("boolean",),
    lambda v: str(v).lower(),
)
PLACES = {
    **dict.fromkeys(("start_date", "end_date", "departure_date", "due_date"), DAY),
    **dict.fromkeys(("recipient", "sender", "origin_city", "note", "file_path"), PHRASE),
    **dict.fromkeys(("passengers", "min_stops", "max_stops", "page_limit"), whole("number")),
    **{name: choice(values) for name, values in CHOICES.items()},
    **dict.fromkeys(("is_urgent", "include_taxes", "no_log"), BOOLEAN),
    "amount": whole("number", "usd", description="The amount in USD"),
    "distance_km": whole("number", "km"),
    "wait": whole("number", "seconds", description="Seconds to wait"),
    "latitude": Place(
        {"type": "number"}, lambda r: round(r.uniform(-40, 40), 2), decimals, ("decimal",)
    ),
    "starts_at": Place(
        {**TEXT, "format": "date-time"}, make_moment,
        lambda value: [value.replace("T", " "), value.replace("+02:00", "+0200"), [value]],
        ("moment",),
    ),
    "tags": Place(
        {"type": "array", "items": TEXT}, many(lambda r: r.choice(WORDS)), listed, ("list",),
        itemgetter(0),
    ),
    "seat_numbers": Place(
        {"type": "array", "items": INTEGER}, many(lambda r: r.randint(1, 90)), listed, ("number",),
        lambda value: str(value[0]),
    ),
    "contact_email": Place(
        {**TEXT, "format": "email"}, lambda r: f"{r.choice(WORDS)}@example.org",
        lambda value: [f"<{value}>", f" {value}"], ("email",),
    ),
    "airport": Place(
        {**TEXT, "pattern": "^[A-Z]{3}$"}, lambda r: r.choice(["LHR", "CDG", "JFK", "SFO"]),
        lambda value: [value.lower(), f" {value}\n", [value]], ("code",),
    ),
    "order_id": Place(
        {**TEXT, "format": "uuid"}, make_uuid,
        lambda value: [f" {value}", f'"{value}"'], ("uuid",),
    ),
    "retries": Place(
        {"anyOf": [INTEGER, {"type": "null"}]}, lambda r: r.choice([None, 5, 7]),
        lambda value: [str(value), "null" if value is None else [value]], ("null",),
    ),
    "guest": Place(PERSON, make_person, persons, (), json.dumps),
    "either": Place({"anyOf": [{"type": "boolean"}, PERSON]}, make_person, persons, (), json.dumps),
    "crew": Place(
        {"type": "array", "items": PERSON},
        lambda r: [make_person(r) for _ in range(r.randint(1, 3))], crews, (), json.dumps,
    ),
}  # fmt: skip
