"""Random tools, valid calls in other spellings, and the same calls after one thing was changed."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).parent / "data" / "corruptions.txt"
NAME = "send_order"
CHOICES = {
    "cabin": ["economy", "premium_economy", "business", "first"],
    "action": ["delete", "archive", "publish"],
    "direction": ["north", "south", "northeast", "southwest"],
    "access": ["read", "write", "read_write"],
    "switch": ["enable", "disable"],
}
WORDS = [
    "amber",
    "basil",
    "cedar",
    "delta",
    "ember",
    "grove",
    "harbor",
    "jade",
    "lotus",
    "maple",
    "onyx",
    "pearl",
    "river",
    "tulip",
]


def sections():
    """Return the templates by section."""
    found, rows = {}, []
    for line in DATA.read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and "{" not in line:
            rows = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("# "):
            rows.append(line)
    return found


MORE = sections()


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
    forms: Callable[[Random, Any], list[Any]] = lambda _r, _value: []
    more: tuple[str, ...] = ()
    show: Callable[[Any], str] = str


@dataclass(frozen=True)
class Case:
    """A call as a model wrote it.

    Attributes:
        written: The call, or the text of it.
        faithful: The arguments that are faithful readings; a call that runs has these.
        kind: The change, a key of `CHANGES`; empty where only the spelling is another one.
        done: What was done to the valid call.
    """

    written: Any
    faithful: tuple[dict[str, Any], ...]
    kind: str
    done: str

    def is_true(self, calls):
        """Say whether all calls that would run are faithful."""
        return all(
            call.name == NAME and any(says_same(call.args, each) for each in self.faithful)
            for call in calls
        )


@dataclass(frozen=True)
class Trial:
    """A valid call of a tool in another spelling, and the same call after one change each."""

    tool: dict[str, Any]
    form: Case
    cases: list[Case]


@dataclass(frozen=True)
class Draft:
    """A call before its keys and arguments are wrapped.

    Attributes:
        args: Values as they are written, by argument.
        keys: Keys as they are written, by argument.
        meant: What it says; None where nothing valid is said.
        beside: What stands beside all arguments.
        under: A word that all arguments stand under.
        flags: What stands beside the call's name and arguments.
        call: The name of the tool, as it is written.
        text: A template around the text of the arguments or of the call.
    """

    args: dict[str, Any]
    keys: dict[str, str]
    meant: dict[str, Any] | None
    beside: dict[str, Any] = field(default_factory=dict)
    under: str = ""
    flags: dict[str, Any] = field(default_factory=dict)
    call: str = NAME
    text: str = "{}"
    kind: str = ""
    done: str = ""


def spell(section):
    return lambda _r, value: [each.replace("{}", str(value)) for each in MORE[section]]


def whole(*sections_, **more):
    def forms(r, value):
        texts = [each for name in sections_ for each in spell(f"{name} +")(r, value)]
        words = {5: "five", 21: "twenty-one", 200: "two hundred"}
        grouped = [f"{value:,}"] if value > 999 else []
        return [
            *texts,
            *grouped,
            *([words[value]] if value in words else []),
            float(value),
            [value],
        ]

    def make(r):
        return r.choice([5, 21, 200, r.randint(1, 9), r.randint(10, 99_999)])

    return Place({"type": "integer", **more}, make, forms, (*sections_, "word"))


def choice(values):
    def forms(_r, value):
        slip = value[:2] + value[3] + value[2] + value[4:]
        ways = [
            value.title(),
            f" {value.upper()}.",
            value.replace("_", " "),
            value.replace("_", "-"),
        ]
        return [
            *ways[:1],
            *ways[2:],
            f'"{value}"',
            f"{value} class",
            [value],
            *([slip] if len(value) > 6 else []),
        ]

    return Place({"type": "string", "enum": values}, lambda r: r.choice(values), forms, ("choice",))


def days(r, value):
    day = date.fromisoformat(value)
    forms = ["%Y/%m/%d", "%B %d, %Y", "%d %b %Y", "%A, %d %B %Y", "%b %d, %Y", "%Y-%m-%dT00:00:00Z"]
    forms += ["%d.%m.%Y", "%m/%d/%Y"] if day.day > 12 else []
    return [day.strftime(each) for each in forms if day.day > 3 or "/%d" not in each]


def texts(_r, value):
    return [
        [value],
        {"value": value},
        *([int(value)] if value.isdecimal() and value[0] != "0" else []),
    ]


def switches(_r, value):
    return [str(value), str(value).upper(), "yes" if value else "no", int(value), [value]]


def listed(_r, value):
    parts = [str(each) for each in value]
    one = value if len(value) == 1 else []
    split = [", ".join(parts), "\n".join(parts), ";".join(parts)] if len(value) > 1 else []
    return [*one, *split, json.dumps(value), str(value), str(tuple(value)), {"items": value}]


def decimal(r):
    return round(r.uniform(-40, 40), 2)


def decimals(r, value):
    texts_ = spell("decimal +")(r, value)
    return [
        *(each for each in texts_ if "+-" not in each),
        [value],
        f"{value:.2f}".replace("-", "\N{MINUS SIGN}"),
    ]


def moments(_r, value):
    return [
        value.replace("T", " "),
        value.replace("+02:00", "+0200"),
        [value],
    ]


def person(r):
    return {"first_name": r.choice(WORDS), "age": r.randint(1, 99)}


def crew(r):
    return [person(r) for _ in range(r.randint(1, 3))]


def moment(r):
    return f"{DAY.make(r)}T{r.randint(0, 23):02}:{r.randint(0, 59):02}:00+02:00"


def persons(_r, value):
    name, age = value.values()
    forms = [{"firstName": name, "age": age}, {"first_name": name, "age": str(age)}, [value]]
    return [*forms, {"first_name": {"value": name}, "age": age}, json.dumps(value), str(value)]


def groups(_r, value):
    first, *rest = value
    return [
        [{**first, "age": str(first["age"])}, *rest],
        json.dumps(value),
        {"items": value},
        str(value),
    ]


def many(make):
    return lambda r: r.sample(sorted({make(r) for _ in range(9)}), r.randint(1, 3))


def word(r):
    return r.choice([*WORDS, "12", "440"])


def uuid(r):
    return "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}".format(
        *(r.getrandbits(n) for n in (32, 16, 12, 12, 48))
    )


TEXT = {"type": "string"}
DAY = Place(
    {**TEXT, "format": "date"},
    lambda r: (date(2026, 1, 1) + timedelta(r.randint(0, 700))).isoformat(), days, ("date",),
)  # fmt: skip
PHRASE = Place(TEXT, lambda r: " ".join(r.sample(WORDS, r.randint(1, 2))), texts)
BOOLEAN = Place(
    {"type": "boolean"},
    lambda r: r.random() < 0.5,
    switches,
    ("boolean",),
    lambda v: str(v).lower(),
)
COUNT = whole("number")
WORDS_LIST = Place(
    {"type": "array", "items": TEXT}, many(lambda r: r.choice(WORDS)), listed, ("list",), ", ".join
)
NUMBERS = Place({"type": "array", "items": {"type": "integer"}}, many(lambda r: r.randint(1, 90)), listed, ("number",),
                lambda value: str(value[0]))  # fmt: skip
EMAIL = Place(
    {**TEXT, "format": "email"}, lambda r: f"{r.choice(WORDS)}@example.org",
    lambda _r, value: [f"<{value}>", f"mailto:{value}", f" {value}"], ("email",),
)  # fmt: skip
CODE = Place(
    {**TEXT, "pattern": "^[A-Z]{3}$"}, lambda r: r.choice(["LHR", "CDG", "JFK", "SFO"]),
    lambda _r, value: [value.lower(), f" {value}\n", [value]], ("code",),
)  # fmt: skip
NULLABLE = Place(
    {"anyOf": [{"type": "integer"}, {"type": "null"}]}, lambda r: r.choice([None, 5, 7]),
    lambda _r, value: [str(value), *(["null"] if value is None else [[value]])], ("null",),
)  # fmt: skip
UUID = Place(
    {**TEXT, "format": "uuid"}, uuid,
    lambda _r, value: [value.replace("-", ""), f"{{{value}}}", f"urn:uuid:{value}"], ("uuid",),
)  # fmt: skip
PERSON = {
    "type": "object",
    "properties": {"first_name": TEXT, "age": {"type": "integer"}},
    "required": ["first_name", "age"],
    "additionalProperties": False,
}
PLACES = {
    **dict.fromkeys(("start_date", "end_date", "departure_date", "due_date"), DAY),
    **dict.fromkeys(("recipient", "sender", "origin_city", "note", "file_path"), PHRASE),
    **dict.fromkeys(("passengers", "quantity", "min_stops", "max_stops", "page_limit"), COUNT),
    **{name: choice(values) for name, values in CHOICES.items()},
    **dict.fromkeys(("is_urgent", "include_taxes"), BOOLEAN),
    "amount": whole("number", "usd", description="The amount in USD"),
    "distance_km": whole("number", "km"),
    "wait": whole("number", "seconds", description="Seconds to wait"),
    "tags": WORDS_LIST,
    "seat_numbers": NUMBERS,
    "contact_email": EMAIL,
    "airport": CODE,
    "order_id": UUID,
    "retries": NULLABLE,
    "no_log": BOOLEAN,
    "latitude": Place({"type": "number"}, decimal, decimals, ("decimal",)),
    "starts_at": Place({**TEXT, "format": "date-time"}, moment, moments, ("moment",)),
    "guest": Place(PERSON, person, persons, show=json.dumps),
    "crew": Place({"type": "array", "items": PERSON}, crew, groups, show=json.dumps),
    "either": Place({"anyOf": [{"type": "boolean"}, PERSON]}, person, persons, show=json.dumps),
}


def make_trials(seed, count):
    """Yield valid calls in another spelling, each with the same call after one change each."""
    r = Random(seed)
    for at in range(count):
        if at % 3 == 0:
            tool = make_tool(r)
        draft = respell(r, make_draft(r, tool))
        dress = make_dress(r)
        yield Trial(tool, dress(draft), [dress(corrupt(r, tool, draft)) for _ in range(6)])


def offer(tool):
    """Return the tool among others whose names and arguments are alike."""
    return [{**tool, "name": name} for name in (tool["name"], "send_offer", "cancel_order")]


def make_tool(r):
    names = r.sample(sorted(PLACES), r.randint(2, 4))
    required = [name for name in names if r.random() < 0.6]
    properties = {name: PLACES[name].schema for name in names}
    if r.random() < 0.3:
        properties[names[0]] = {**properties[names[0]], "default": PLACES[names[0]].make(r)}
        required = [name for name in required if name != names[0]]
    parameters = {"type": "object", "properties": properties, "required": required}
    effect = {"effect": "read_only"} if r.random() < 0.5 else {}
    return {"name": NAME, "description": "Send an order", "parameters": parameters, **effect}


def make_draft(r, tool):
    """Return a valid call."""
    names, required = (list(tool["parameters"][key]) for key in ("properties", "required"))
    written = [name for name in names if name in required or r.random() < 0.7] or names[:1]
    meant = {name: PLACES[name].make(r) for name in written}
    return Draft(dict(meant), {name: name for name in written}, meant)


def respell(r, draft):
    """Write one or two values, or a key, in another spelling."""
    args, keys = dict(draft.args), dict(draft.keys)
    for name in r.sample(sorted(args), min(len(args), r.choice([1, 1, 2]))):
        value = args[name]
        args[name] = r.choice([*PLACES[name].forms(r, value), {"value": value}])
        if r.random() < 0.3:
            at = r.randint(1, len(name) - 2)
            slip = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
            camel = name.title().replace("_", "")
            keys[name] = r.choice(
                [name.upper(), camel, name.replace("_", "-"), name.replace("_", " "), slip]
            )
    return replace(draft, args=args, keys=keys, done=f"{args}")


SPELT = (NAME, NAME, "SendOrder", "send-order", "functions.send_order")


def make_dress(r):
    """Return what makes a whole call: as it stands, in a wrapper, or as a text."""
    called = r.choice(SPELT)
    way = r.choice(
        ["plain", "plain", "wrapper", "text in a wrapper", "text", "python", "json", "tag"]
    )

    def dress(made):
        is_text = way == "text" or made.text != "{}"
        if made.call == NAME and not is_text:
            made = replace(made, call=called)
        args = {made.keys[name]: value for name, value in made.args.items()}
        args = {made.under: args} if made.under else args
        text = made.text.replace("{}", json.dumps({**args, **made.beside}))
        if "wrapper" in way:
            inner = text if "text" in way or made.text != "{}" else args
            args = {"arguments": inner, **made.beside}
        else:
            args = {**args, **made.beside}
        call = {"name": made.call, "args": args, **made.flags}
        if is_text and "wrapper" not in way:
            call = {"name": made.call, "arguments": text, **made.flags}
        if way in ("python", "json", "tag"):
            call = made.text.replace("{}", as_text(way, made.call, args, made.flags))
        faithful = [] if made.meant is None else [made.meant]
        if None in (made.meant or {}).values():
            # What is null may be left out.
            faithful.append({key: each for key, each in made.meant.items() if each is not None})
        return Case(call, tuple(faithful), made.kind, f"{way}: {made.done}")

    return dress


def as_text(way, name, args, flags):
    if way == "python" and not flags and all(key.isidentifier() for key in args):
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"
    text = json.dumps({"name": name, "arguments": args, **flags})
    return f"<tool_call>{text}</tool_call>" if way == "tag" else text


def corrupt(r, tool, draft):
    """Do one thing that changes what the call says."""
    while True:
        kind = r.choice([*CHANGES, "more", "more", "key", "inside", "inside"])
        if (found := CHANGES[kind](r, tool, draft)) is not None:
            return replace(found, kind=kind, done=f"{draft.done}; {kind}: {found.done}")


def more(r, _tool, draft):
    name = r.choice(sorted(draft.args))
    place, value = PLACES[name], draft.meant[name]
    if not place.more or (value is None and "null" not in place.more):
        return None
    text = r.choice([each for section in place.more for each in MORE[section]])
    if place.schema.get("type") == "array" and {*text} & {*",;"}:
        return None
    other = next(
        each for each in iter(lambda: place.make(r), object()) if each != value and each is not None
    )
    # The value in its own spelling, or in the one that it was written in.
    shown = draft.args[name] if isinstance(draft.args[name], str) else place.show(value)
    if shown.strip() in text or shown.strip() == text.strip():
        return None
    text = text.replace("{other}", place.show(other)).replace("{}", shown.strip())
    # A text that stays as it is says what it says, but for a piece of JSON.
    meant = None if "list" in place.more and {*text} & {*'["]'} else {**draft.meant, name: text}
    return replace(draft, args={**draft.args, name: text}, meant=meant, done=f"{name}={text!r}")


def exchange(r, _tool, draft):
    """Write another valid value in the place of one, spelt as it is or otherwise."""
    name = r.choice(sorted(draft.args))
    value = PLACES[name].make(r)
    written = r.choice([value, value, *PLACES[name].forms(r, value)])
    return replace(
        draft,
        args={**draft.args, name: written},
        meant={**draft.meant, name: value},
        done=f"{name}={written!r}",
    )


def swap(r, tool, draft):
    """Exchange two values; where they are of one kind, the call says it plainly."""
    one, other = (r.choice(sorted(draft.args)) for _ in range(2))
    if draft.meant[one] == draft.meant[other]:
        return None
    args = {**draft.args, one: draft.meant[other], other: draft.meant[one]}
    return replace(
        draft,
        args=args,
        meant={**draft.meant, one: args[one], other: args[other]},
        done=f"{one}, {other}",
    )


def lose(r, tool, draft):
    name = r.choice(sorted(draft.args))
    args, meant = dict(draft.args), dict(draft.meant)
    del args[name], meant[name]
    is_whole = name not in tool["parameters"]["required"]
    return replace(draft, args=args, meant=meant if is_whole else None, done=name)


def empty(r, tool, draft):
    """Write nothing in place of a value: on a tool that acts it is missing, never its default."""
    name = r.choice(sorted(draft.args))
    schema = tool["parameters"]["properties"][name]
    value = r.choice(["", " ", None, [], {}])
    if schema in (TEXT, {**TEXT, "default": schema.get("default")}) and isinstance(value, str):
        return None
    if value == [] and schema["type" if "type" in schema else "anyOf"] == "array":
        return None
    meant = {key: item for key, item in draft.meant.items() if key != name}
    is_loss = value is not None or name in tool["parameters"]["required"]
    if (is_loss and "effect" not in tool) or name in tool["parameters"]["required"]:
        meant = None
    if "anyOf" in schema and (value is None or (isinstance(value, str) and "effect" in tool)):
        meant = {**draft.meant, name: None}
    return replace(draft, args={**draft.args, name: value}, meant=meant, done=f"{name}={value!r}")


def add(r, tool, draft):
    """Write something beside the arguments."""
    name = r.choice(sorted(draft.args))
    key, value = r.choice(
        [
            *(
                ("dry_run", True),
                ("cancelled", {name: draft.meant[name]}),
                ("unless ann agrees", ""),
            ),
            *(
                ("confirm", "no"),
                (f"{name}_2", draft.args[name]),
                ("note to bob", None),
                ("if", "cheap"),
            ),
            *((name.title(), PLACES[name].make(r)), ("refund", draft.meant), ("extra", 0)),
        ]
    )
    is_null = value is None and key != "note to bob"
    if is_null or key in tool["parameters"]["properties"] or key in draft.keys.values():
        return None
    return replace(draft, beside={key: value}, meant=None, done=f"{key}={value!r}")


def shorten(r, _tool, draft):
    lists = [
        name for name, value in draft.meant.items() if isinstance(value, list) and len(value) > 1
    ]
    if not lists:
        return None
    name = r.choice(lists)
    value = draft.meant[name][:-1]
    text = r.choice(
        [
            value,
            f"{json.dumps(value)[:-1]},",
            json.dumps(value)[1:],
            json.dumps(draft.meant[name])[:-2],
        ]
    )
    meant = {**draft.meant, name: value} if text == value else None
    return replace(draft, args={**draft.args, name: text}, meant=meant, done=f"{name}={text!r}")


def key(r, tool, draft):
    name = r.choice(sorted(draft.args))
    written = r.choice(MORE["key"]).replace("{}", name)
    if written in tool["parameters"]["properties"] or draft.meant[name] is None:
        return None
    return replace(draft, keys={**draft.keys, name: written}, meant=None, done=written)


def twice(r, _tool, draft):
    """Write two values under two spellings of one key."""
    name = r.choice(sorted(draft.args))
    value = PLACES[name].make(r)
    return replace(
        draft,
        keys={**draft.keys, name: name.upper()},
        beside={name.title(): value},
        meant=None,
        done=f"{name}, {value}",
    )


def wrap(r, _tool, draft):
    """Put a value into an object that says more than the value."""
    name = r.choice(sorted(draft.args))
    value = draft.args[name]
    held = [
        {"value": value, "unless": "bob agrees"},
        {"not": value},
        {"refund": value},
        {"except": [value]},
    ]
    held += [
        {"value": value, "or": value},
        [value, value],
        {"min": value},
        {"type": "refund", "value": value},
    ]
    made = r.choice(held)
    if isinstance(made, list) and PLACES[name].schema.get("type") == "array":
        return None
    return replace(draft, args={**draft.args, name: made}, meant=None, done=f"{name}={made!r}")


def inside(r, _tool, draft):
    """Change one thing in an object that is an argument, or in an item."""
    name = r.choice(sorted(draft.args))
    meant = draft.meant[name]
    one = meant[0] if isinstance(meant, list) else meant
    if not isinstance(one, dict):
        return None
    first, age = one.values()
    made = r.choice(
        [
            *(
                {**one, "age": f"not {age}"},
                {**one, "age": ""},
                {"first_name": first, "max_age": age},
            ),
            *({"first_name": first}, {**one, "unless": "bob agrees"}, {**one, "Age": age + 1}),
            *(
                {"age": age, "first_name?": first},
                {"cancelled": one},
                {"not": one},
                {**one, "age": [age, 3]},
            ),
            *(
                f"{json.dumps(one)} if cheap",
                f'{json.dumps(one)[:-1]}, "age": 3}}',
                json.dumps(one)[:-1],
                f'{json.dumps(one)[:-1]}, "age": 3}}',
                [one, one],
                [one, {}],
                f"{one} # no",
            ),
        ]
    )
    made = [made, *meant[1:]] if isinstance(meant, list) and not isinstance(made, list) else made
    return (
        None
        if made == [one, one] and isinstance(meant, list)
        else replace(draft, args={**draft.args, name: made}, meant=None, done=f"{name}={made!r}")
    )


def rename(r, _tool, draft):
    written = r.choice(MORE["tool"]).replace("{}", draft.call)
    return replace(draft, call=written, meant=None, done=written)


def say(r, tool, draft):
    """Write words around the text of a call or of its arguments."""
    # Of a tool that reads, a comment in the text is skipped, and the change says so.
    around = [each for each in MORE["around"] if "effect" not in tool or not _COMMENT.search(each)]
    return replace(draft, text=(text := r.choice(around)), meant=None, done=text)


_COMMENT = re.compile(r" (?:#|//) ")


def order(r, _tool, draft):
    """Write a date that may be two days, on a day of the week that it is not, or cut."""
    dates = [name for name in draft.args if PLACES[name] is DAY]
    if not dates:
        return None
    day = date.fromisoformat(draft.meant[name := r.choice(dates)])
    other = day + timedelta(1)
    ways = [
        f"{other:%A}, {day:%d %B %Y}",
        f"{day:%A}, {other:%B %d, %Y}",
        f"{day:%Y-%m-%d}"[:-1] if day.day > 9 else "x",
    ]
    ways += [f"{day:%d/%m/%Y}", f"{day:%m.%d.%Y}"] if day.day < 13 and day.day != day.month else []
    text = r.choice(ways)
    return replace(draft, args={**draft.args, name: text}, meant=None, done=f"{name}={text!r}")


def lift(r, _tool, draft):
    """Put all arguments under a word that is no wrapper."""
    word_ = r.choice(["cancelled", "refund", "not", "example", "except", "before", "if_approved"])
    return replace(draft, under=word_, meant=None, done=word_)


def flag(r, _tool, draft):
    """Write something beside the call's name and arguments."""
    key_, value = r.choice(
        [
            ("approved", False),
            ("dry_run", True),
            ("status", "rejected"),
            ("when", "tomorrow"),
            ("not", True),
        ]
    )
    return replace(draft, flags={key_: value}, meant=None, done=key_)


CHANGES: dict[str, Callable[[Random, dict[str, Any], Draft], Draft | None]] = {
    "more": more,
    "exchange": exchange,
    "swap": swap,
    "lose": lose,
    "empty": empty,
    "add": add,
    "shorten": shorten,
    "key": key,
    "wrap": wrap,
    "twice": twice,
    "inside": inside,
    "rename": rename,
    "say": say,
    "order": order,
    "lift": lift,
    "flag": flag,
}


def says_same(found, meant):
    """Say whether two values are the same but for the type of a scalar: 5 and "5"."""
    if isinstance(found, dict) and isinstance(meant, dict):
        return found.keys() == meant.keys() and all(
            says_same(found[key], meant[key]) for key in found
        )
    if isinstance(found, list) and isinstance(meant, list):
        return len(found) == len(meant) and all(map(says_same, found, meant))
    if isinstance(found, list) != isinstance(meant, list):
        one, many_ = (meant, found) if isinstance(found, list) else (found, meant)
        return len(many_) == 1 and says_same(many_[0], one)
    if isinstance(found, int | float) and isinstance(meant, int | float):
        return isinstance(found, bool) == isinstance(meant, bool) and found == meant
    return str(found) == str(meant)
