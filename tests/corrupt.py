"""Valid calls of random tools in other spellings, and the same calls after one change each."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from random import Random
from typing import Any

from places import DAY, MORE, PLACES, TEXT

NAME = "send_order"
SPELT = (NAME, NAME, "SendOrder", "send-order", "functions.send_order")
WAYS = ("plain", "plain", "wrapper", "text in a wrapper", "text", "python", "json", "tag")
COMMENT = re.compile(r" (?:#|//) ")


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
    """A call before it is written as a whole.

    Attributes:
        args: Values as they are written, by argument.
        keys: Keys as they are written, by argument.
        meant: What it says; None where nothing valid is said.
        beside: What stands beside all arguments.
        under: A word that all arguments stand under.
        flags: What stands beside the call's name and arguments.
        call: The name of the tool, as it is written.
        text: A template around the text of the arguments or of the call.
        kind: What was changed.
        done: The same in words.
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

    def put(self, name, written, *meant):
        """Write something in the place of a value; it means one value, or nothing valid."""
        return replace(
            self,
            args={**self.args, name: written},
            meant={**self.meant, name: meant[0]} if meant else None,
            done=f"{name}={written!r}",
        )


def make_trials(seed, count):
    r = Random(seed)
    for at in range(count):
        if at % 3 == 0:
            tool = make_tool(r)
        draft = respell(r, make_draft(r, tool))
        way, called = r.choice(WAYS), r.choice(SPELT)
        cases = [dress(corrupt(r, tool, draft), way, called) for _ in range(6)]
        yield Trial(tool, dress(draft, way, called), cases)


def offer(tool):
    """Return the tool among others whose names and arguments are alike."""
    return [{**tool, "name": name} for name in (NAME, "send_offer", "cancel_order")]


def make_tool(r):
    names = r.sample(sorted(PLACES), r.randint(2, 3))
    required = [name for name in names if r.random() < 0.6]
    properties = {name: PLACES[name].schema for name in names}
    if r.random() < 0.3:
        properties[names[0]] = {**properties[names[0]], "default": PLACES[names[0]].make(r)}
        required = [name for name in required if name != names[0]]
    parameters = {"type": "object", "properties": properties, "required": required}
    effect = {"effect": "read_only"} if r.random() < 0.5 else {}
    return {"name": NAME, "description": "Send an order", "parameters": parameters, **effect}


def make_draft(r, tool):
    names, required = (list(tool["parameters"][key]) for key in ("properties", "required"))
    written = [name for name in names if name in required or r.random() < 0.7] or names[:1]
    meant = {name: PLACES[name].make(r) for name in written}
    return Draft(dict(meant), {name: name for name in written}, meant)


def respell(r, draft):
    """Write one value, and perhaps its key, in another spelling."""
    name, keys = pick(r, draft), dict(draft.keys)
    value = draft.args[name]
    args = {**draft.args, name: r.choice([*PLACES[name].forms(value), {"value": value}])}
    if r.random() < 0.5:
        camel, apart = name.title().replace("_", ""), name.replace("_", r.choice("- "))
        at = r.randint(1, len(name) - 3)
        slip = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        slip = slip if name.isalpha() and len(name) > 4 else camel
        keys[name] = r.choice([name.upper(), camel, apart, slip])
    return replace(draft, args=args, keys=keys, done=f"{args}")


def pick(r, draft):
    return r.choice(sorted(draft.args))


def dress(draft, way, called):
    """Write a whole call: as it stands, in a wrapper, or as a text."""
    is_text = way == "text" or draft.text != "{}"
    if draft.call == NAME and not is_text:
        draft = replace(draft, call=called)
    args = {draft.keys[name]: value for name, value in draft.args.items()}
    args = {draft.under: args} if draft.under else args
    text = draft.text.replace("{}", json.dumps({**args, **draft.beside}))
    if "wrapper" in way:
        inner = text if "text" in way or is_text else args
        args = {"arguments": inner, **draft.beside}
    else:
        args = {**args, **draft.beside}
    call = {"name": draft.call, "args": args, **draft.flags}
    if is_text and "wrapper" not in way:
        call = {"name": draft.call, "arguments": text, **draft.flags}
    if way in ("python", "json", "tag"):
        call = draft.text.replace("{}", as_text(way, draft.call, args, draft.flags))
    faithful = [] if draft.meant is None else [draft.meant]
    if None in (draft.meant or {}).values():
        # What is null may be left out.
        faithful.append({key: each for key, each in draft.meant.items() if each is not None})
    return Case(call, tuple(faithful), draft.kind, f"{way}: {draft.done}")


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
    """Write more than the value."""
    name = pick(r, draft)
    place, value = PLACES[name], draft.meant[name]
    if not place.more or (value is None and "null" not in place.more):
        return None
    text = r.choice([each for section in place.more for each in MORE[section]])
    if place.schema.get("type") == "array" and {*text} & {*",;"}:
        return None
    others = [each for each in (place.make(r) for _ in range(20)) if each not in (value, None)]
    # The value in its own spelling, or in the one that it was written in.
    shown = draft.args[name] if isinstance(draft.args[name], str) else place.show(value)
    if shown.strip() in text:
        return None
    text = text.replace("{other}", place.show(others[0])).replace("{}", shown.strip())
    # A text that stays as it is says what it says, but for a piece of JSON.
    is_piece = "list" in place.more and {*text} & {*'["]'}
    return draft.put(name, text) if is_piece else draft.put(name, text, text)


def exchange(r, _tool, draft):
    """Write another valid value, spelt as it is or otherwise."""
    name = pick(r, draft)
    value = PLACES[name].make(r)
    return draft.put(name, r.choice([value, value, *PLACES[name].forms(value)]), value)


def swap(r, _tool, draft):
    """Exchange two values; where they are of one kind, the call says it plainly."""
    one, other = pick(r, draft), pick(r, draft)
    if draft.meant[one] == draft.meant[other]:
        return None
    first, second = draft.meant[one], draft.meant[other]
    return draft.put(one, second, second).put(other, first, first)


def lose(r, tool, draft):
    name = pick(r, draft)
    args, meant = dict(draft.args), dict(draft.meant)
    del args[name], meant[name]
    is_whole = name not in tool["parameters"]["required"]
    return replace(draft, args=args, meant=meant if is_whole else None, done=name)


def empty(r, tool, draft):
    """Write nothing in place of a value: on a tool that acts it is missing, never its default."""
    name = pick(r, draft)
    schema, acts = tool["parameters"]["properties"][name], "effect" not in tool
    value = r.choice(["", " ", None, [], {}])
    is_valid = (PLACES[name].schema == TEXT and isinstance(value, str)) or (
        schema.get("type") == "array" and value == []
    )
    if is_valid:
        return None
    if "anyOf" in schema and (value is None or (isinstance(value, str) and not acts)):
        return draft.put(name, value, None)
    is_loss = acts and value is not None
    if is_loss or name in tool["parameters"]["required"]:
        return draft.put(name, value)
    meant = {key: item for key, item in draft.meant.items() if key != name}
    return replace(draft.put(name, value), meant=meant)


def add(r, _tool, draft):
    """Write something beside the arguments."""
    beside = json.loads(r.choice(MORE["add"]).replace("{}", json.dumps(draft.meant)))
    return replace(draft, beside=beside, meant=None, done=f"{beside}")


def twice(r, _tool, draft):
    """Write two values under two spellings of one key."""
    name = pick(r, draft)
    beside = {name.title(): PLACES[name].make(r)}
    keys = {**draft.keys, name: name.upper()}
    return replace(draft, keys=keys, beside=beside, meant=None, done=f"{beside}")


def shorten(r, _tool, draft):
    """Write a list without its last item: faithful as a whole list, and not as a piece of one."""
    name = pick(r, draft)
    value = draft.meant[name]
    if not isinstance(value, list) or len(value) < 2:
        return None
    text, short = json.dumps(value), json.dumps(value[:-1])
    written = r.choice([value[:-1], f"{short[:-1]},", short[1:], text[:-1], text[:-2]])
    return draft.put(name, written, *([written] if isinstance(written, list) else []))


def key(r, tool, draft):
    """Write a key that says more."""
    name = pick(r, draft)
    written = r.choice(MORE["key"]).replace("{}", name)
    if written in tool["parameters"]["properties"] or draft.meant[name] is None:
        return None
    return replace(draft, keys={**draft.keys, name: written}, meant=None, done=written)


def wrap(r, _tool, draft):
    """Put a value into an object or list that says more than the value."""
    name = pick(r, draft)
    made = json.loads(r.choice(MORE["wrap"]).replace("{}", json.dumps(draft.args[name])))
    is_list = isinstance(made, list) and PLACES[name].schema.get("type") == "array"
    return None if is_list else draft.put(name, made)


def inside(r, _tool, draft):
    """Change one thing in an object that is an argument, or in an item."""
    name = pick(r, draft)
    meant = draft.meant[name]
    one = meant[0] if isinstance(meant, list) and meant else meant
    if not isinstance(one, dict):
        return None
    row = r.choice(MORE["inside"]).replace("{first}", json.dumps(one["first_name"]))
    row = row.replace("{age}", str(one["age"]))
    text = json.dumps(one)
    made = json.loads(row.replace("{}", json.dumps(text)[1:-1] if row[0] == '"' else text))
    return draft.put(name, [made, *meant[1:]] if isinstance(meant, list) else made)


def rename(r, _tool, draft):
    written = r.choice(MORE["tool"]).replace("{}", NAME)
    return replace(draft, call=written, meant=None, done=written)


def say(r, tool, draft):
    """Write words around the text of a call or of its arguments."""
    # Of a tool that reads, a comment in the text is skipped, and the change says so.
    around = [each for each in MORE["around"] if "effect" not in tool or not COMMENT.search(each)]
    return replace(draft, text=(text := r.choice(around)), meant=None, done=text)


def order(r, _tool, draft):
    """Write a date that may be two days, on a day of the week that it is not, or cut."""
    name = pick(r, draft)
    if PLACES[name] is not DAY:
        return None
    day = date.fromisoformat(draft.meant[name])
    other = day + timedelta(1)
    ways = [f"{other:%A}, {day:%d %B %Y}", f"{day:%A}, {other:%B %d, %Y}", f"{day:%Y-%m}-1"]
    ways += [f"{day:%d/%m/%Y}", f"{day:%m.%d.%Y}"] if day.day < 13 and day.day != day.month else []
    return draft.put(name, r.choice(ways))


def lift(r, _tool, draft):
    """Put all arguments under a word that is no wrapper."""
    return replace(draft, under=(under := r.choice(MORE["lift"])), meant=None, done=under)


def flag(r, _tool, draft):
    """Write something beside the call's name and arguments."""
    row = r.choice(MORE["flag"])
    return replace(draft, flags=json.loads(row), meant=None, done=row)


CHANGES: dict[str, Callable[[Random, dict[str, Any], Draft], Draft | None]] = {
    each.__name__: each
    for each in (
        *(more, exchange, swap, lose, empty, add, twice, shorten, key, wrap, inside, rename),
        *(say, order, lift, flag),
    )
}


def says_same(found, meant):
    """Say whether two values are the same but for the type of a scalar: 5 and "5"."""
    if isinstance(found, dict) and isinstance(meant, dict):
        return found.keys() == meant.keys() and all(
            says_same(each, meant[key]) for key, each in found.items()
        )
    if isinstance(found, list) and isinstance(meant, list):
        return len(found) == len(meant) and all(map(says_same, found, meant))
    if isinstance(found, list) != isinstance(meant, list):
        one, many = (meant, found) if isinstance(found, list) else (found, meant)
        return len(many) == 1 and says_same(many[0], one)
    if isinstance(found, int | float) and isinstance(meant, int | float):
        return isinstance(found, bool) == isinstance(meant, bool) and found == meant
    return str(found) == str(meant)
