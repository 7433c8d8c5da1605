"""K: what may run where something else was written, law by law, through the public ways in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from attack.core import Case, attack, keeps
from attack.hosts import Tool, shown
from attack.inventing import PEOPLE, WORDS, tool_name

from selfcorrect import Mender, StrategyMap, repair_call
from selfcorrect.testing import VirtualTime, play

WAYS = ("repair_call", "Mender", "play")
EFFECTS = ("mutating", "destructive", None, "read_only")
MAPS = ("default", "default", "local_model")
Ran = list[tuple[str, dict[str, Any]]]
Wrong = Callable[[str, dict[str, Any]], str | None]
TEXT = {"type": "string"}
COUNT = {"type": "integer"}


def effect_of(rng: Random) -> Any:
    return rng.choice(EFFECTS)


def ran(way: str, tools: Sequence[Tool], given: Any, strategies: Any, **more: Any) -> Ran:
    """What was executed, or is ready to run."""
    specs = [tool.spec() for tool in tools]
    if way == "play":
        beside = {key: more.pop(key) for key in ("finish_reason", "request") if key in more}
        entry = {"raw": given} if isinstance(given, str) else {"call": given}
        play(specs, entry | beside, time=VirtualTime(), strategies=strategies, **more)
        return [(tool.name, done) for tool in tools for done in tool.done]
    if way == "repair_call":
        made = repair_call(given, specs, strategies=strategies, **more)
    else:
        reason = {"finish_reason": more.pop("finish_reason")} if "finish_reason" in more else {}
        made = Mender(specs, strategies, **more).call(given, **reason)
    return [(call.name, dict(call.args)) for call in made.ready]


def must_not_run(name: str, args: dict[str, Any]) -> str | None:
    return f"{name}{shown(args)} runs"


def case(
    rng: Random,
    tools: Tool | Sequence[Tool],
    given: Any,
    wrong: Wrong = must_not_run,
    *,
    strategies: Any = None,
    ways: Sequence[str] = WAYS,
    **more: Any,
) -> Case:
    """One call or text; `wrong` says what must not be of a call that runs."""
    offered = [tools] if isinstance(tools, Tool) else [*tools]
    way, chosen = rng.choice(ways), strategies or rng.choice(MAPS)

    def run() -> str | None:
        calls = ran(way, offered, given, chosen, **more)
        return next(filter(None, (wrong(name, args) for name, args in calls)), None)

    known = "; ".join(
        f"{tool.effect or 'undeclared'} {tool.name} {shown(tool.schema['properties'])}"
        for tool in offered
    )
    named = chosen if isinstance(chosen, str) else "a map of its own"
    return Case(f"{way}, {named}: {shown(given)}\n      {known}", run)


def right(rng: Random, tool: Tool, given: Any, args: dict[str, Any], **more: Any) -> Case:
    """What must go on working."""
    way = rng.choice(WAYS)

    def run() -> str | None:
        calls = ran(way, [tool], given, more.get("strategies", "default"))
        return None if calls == [(tool.name, args)] else f"ran {calls}"

    return Case(f"{tool.effect}, {way}: {shown(given)} -> {shown(args)}", run)


def learnt(tool: str, error: str, **does: Any) -> StrategyMap:
    """A map with one entry that many runs agree on."""
    entry = {"tool": tool, "error": error, "runs": 5, "seen": 5, "agreement": 1.0, **does}
    return StrategyMap(extends="default", recall=[entry])


@dataclass(frozen=True, slots=True)
class Payment:
    """A tool that pays, and arguments that fit."""

    tool: Tool
    args: dict[str, Any]

    def call(self, args: Any) -> dict[str, Any]:
        return {"name": self.tool.name, "arguments": args}


def payment(rng: Random, **more: Any) -> Payment:
    whom, much = rng.choice(["to", "recipient", "account"]), rng.choice(["amount", "quantity"])
    known: dict[str, Any] = {whom: TEXT, much: COUNT}
    if rng.random() < 0.4:
        known[rng.choice(["memo", "reason"])] = TEXT
    tool = Tool(tool_name(rng), known, required=[whom, much], effect=effect_of(rng), **more)
    return Payment(tool, {whom: rng.choice(PEOPLE), much: rng.randint(2, 900)})


def broken(rng: Random, args: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with a number as a text half of the time, so that there is something to mend."""
    is_text = rng.random() < 0.5
    return {k: str(v) if is_text and isinstance(v, int) else v for k, v in args.items()}


# --- law 0 ------------------------------------------------------------------------------------

FITTING = [
    *("5", "true", " padded ", "a, b", '{"x": 1}', "2026/10/26", "None", "null", "BLUE", "1,000"),
    *("['a']", "- a\n- b", "five", "$5", "yes", "12/25/2026", "a;b", "<b>", "value", '"quoted"'),
]


@attack("K0")
def a_text_that_only_looks_wrong(rng: Random) -> Case:
    """Beside a value that is mended, what a parameter of any text takes stays as it is."""
    pay = payment(rng)
    value, hint = rng.choice(FITTING), rng.choice(["a date", "a list of tags", "a number", "JSON"])
    pay.tool.schema["properties"]["free"] = {"type": "string", "description": hint}
    args = {**pay.args, "free": value}
    args = {k: str(v) if isinstance(v, int) else v for k, v in args.items()}

    def wrong(name: str, done: dict[str, Any]) -> str | None:
        return None if done.get("free") == value else f"{value!r} runs as {done.get('free')!r}"

    return case(rng, pay.tool, pay.call(args), wrong)


NEAR = [
    ("start_date", "end_date"),
    ("from_account", "to_account"),
    ("max_price", "min_price"),
    ("source", "resource"),
    ("user_id", "user_ids"),
    ("name", "names"),
    ("billing_city", "shipping_city"),
    ("to", "cc"),
]


@attack("K0")
def a_value_where_another_key_is_missing(rng: Random) -> Case:
    """It fits where it stands, and is not moved to the required one that looks like it."""
    here, there = rng.choice(NEAR)[:: rng.choice([1, -1])]
    tool = Tool(tool_name(rng), {here: TEXT, there: TEXT}, required=[there], effect=effect_of(rng))
    return case(rng, tool, {"name": tool.name, "arguments": {here: rng.choice(PEOPLE)}})


@attack("K0")
def a_switch_for_its_opposite(rng: Random) -> Case:
    pairs = [("muted", "enabled"), ("disabled", "enabled"), ("hidden", "visible")]
    pairs += [("dry_run", "run"), ("private", "public"), ("closed", "open"), ("off", "on")]
    here, there = rng.choice(pairs)
    known = {there: {"type": "boolean"}, "to": TEXT}
    if rng.random() < 0.5:
        known[here] = {"type": "boolean"}
    tool = Tool(tool_name(rng), known, required=[there, "to"], effect=effect_of(rng))
    args = {here: rng.choice([True, False, "true"]), "to": rng.choice(PEOPLE)}
    return case(rng, tool, {"name": tool.name, "arguments": args})


@attack("K0")
def a_learnt_edit_of_what_fits(rng: Random) -> Case:
    """An error about something else, after which the value was another in recorded runs."""

    def body(done: dict[str, Any]) -> Any:
        if done["muted"]:
            raise ValueError("The channel is quiet.")
        return "said"

    effect = rng.choice(["read_only", "idempotent", "mutating", None])
    known = {"muted": {"type": "boolean"}, "to": TEXT}
    tool = Tool("say", known, effect=effect, body=body, atomic=True)
    edits: dict[str, Any] = rng.choice([{"muted": False}, {"muted": False, "to": "all"}])
    chosen = learnt("say", "The channel is quiet.", edits=edits)

    def wrong(name: str, done: dict[str, Any]) -> str | None:
        return None if done["muted"] is True else f"runs as {shown(done)}"

    call = {"name": "say", "arguments": {"muted": True, "to": rng.choice(PEOPLE)}}
    return case(rng, tool, call, wrong, strategies=chosen, ways=["play"])


@keeps("K0")
def a_value_that_fits(rng: Random) -> Case:
    pay = payment(rng)
    return right(rng, pay.tool, pay.call(broken(rng, pay.args)), pay.args)


# --- law 1 ------------------------------------------------------------------------------------


@attack("K1")
def items_behind_an_object(rng: Random) -> Case:
    """A text holds an object and more items than that."""
    inner = {"type": "object", "properties": {"to": TEXT, "n": COUNT}}
    schema = rng.choice([{"type": "array", "items": inner}, {"type": "array", "items": {}}, inner])
    tool = Tool(tool_name(rng), {"orders": schema}, effect=effect_of(rng))
    one = json.dumps({"to": rng.choice(PEOPLE), "n": rng.randint(1, 9)})
    more = rng.sample(["lumen", "alpha", "7", "true", '{"to": "bob"}'], rng.randint(1, 2))
    mark = rng.choice([";", "; ", ",", "\n", " ", "|"])
    text = mark.join(rng.choice([[one, *more], [*more, one]]))

    def wrong(name: str, done: dict[str, Any]) -> str | None:
        told = json.dumps(done)
        lost = [each for each in more if each.strip('{}"') not in told.replace('\\"', '"')]
        is_text = text in done.values()
        return None if is_text or not lost else f"{lost} lost in {told}"

    return case(rng, tool, {"name": tool.name, "arguments": {"orders": text}}, wrong)


@attack("K1")
def two_values_for_one_key(rng: Random) -> Case:
    pay = payment(rng)
    key = rng.choice([*pay.args])
    other = rng.choice(PEOPLE) if isinstance(pay.args[key], str) else rng.randint(901, 999)
    if other == pay.args[key]:
        other = "somebody else"
    again = rng.choice([key, key, key.title(), key.upper(), f" {key}"])
    pairs = [*pay.args.items(), (again, other)]
    rng.shuffle(pairs)
    text = "{" + ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in pairs) + "}"
    code = ", ".join(f"{k.strip()}={v!r}" for k, v in pairs)
    forms: list[Any] = [pay.call(text), f'{{"name": "{pay.tool.name}", "arguments": {text}}}']
    if again == key:
        forms.append(f"{pay.tool.name}({code})")
    else:
        forms.append(pay.call(dict(pairs)))
    return case(rng, pay.tool, rng.choice(forms))


LISTED = [
    ("us-east-1x", ["us-east-1", "us-east-2", "us-west-1"]),
    ("us-east", ["us-east-1", "us-east-2"]),
    ("v1x", ["v1", "v10", "v2"]),
    ("v1", ["v10", "v11"]),
    ("southw", ["south", "north"]),
    ("southw", ["south", "southwest", "north"]),
    ("postp", ["post", "pre"]),
    ("postp", ["post", "postpaid"]),
    ("eu", ["eu-1", "eu-2"]),
    ("12 High Str", ["12 High Street, Leeds", "12 High Street, London"]),
    ("12 High Street, Le", ["12 High Street, Leeds", "9 Low Road, York"]),
    ("business or first", ["economy", "business", "first"]),
    ("anything but delete", ["delete", "keep"]),
    ("soft delete", ["delete", "keep"]),
    ("undelete", ["delete", "keep"]),
    ("do not pay", ["pay", "hold"]),
    ("pay?", ["pay", "hold"]),
    ("!pay", ["pay", "hold"]),
    ("not urgent", ["urgent", "normal"]),
    ("ex-admin", ["admin", "user"]),
    ("all but one", ["all", "one"]),
    ("high-ish", ["high", "low"]),
]


@attack("K1")
def part_of_a_listed_value(rng: Random) -> Case:
    """It is not one of those listed, though it holds one or begins one."""
    given, listed = rng.choice(LISTED)
    schema = {"type": "string", "enum": rng.sample(listed, len(listed))}
    if rng.random() < 0.3:
        schema = {"type": "array", "items": schema}
    key = rng.choice(["kind", "choice", "setting"])
    tool = Tool(tool_name(rng), {key: schema}, effect=effect_of(rng))
    form = rng.choice([given, given.upper(), given.title(), f" {given}"])
    return case(rng, tool, {"name": tool.name, "arguments": {key: form}})


NUMBERS = [
    *("10²", "1e400", "5 or 6", "5-6", "3..5", "~5?", "not 5", "5+5", "2*3", "1/2", "5 of 10"),
    *("max 5", "at least 5", "5 less than that", "minus five or so", ">5", "<=5", "5?", "-5-"),
    *("half of 5", "no 5", "5th of 6", "٥ or 6", "5 € or $6", "about 5 to 6", "5%", "5 dozen"),
]


@attack("K1")
def part_of_a_number(rng: Random) -> Case:
    """A number that stands in more than itself."""
    kind = rng.choice(["integer", "number"])
    key = rng.choice(["amount", "count", "level"])
    tool = Tool(tool_name(rng), {key: {"type": kind}}, effect=effect_of(rng))
    number = rng.randint(2, 98)
    text = rng.choice(NUMBERS).replace("5", str(number)).replace("6", str(number + 1))
    return case(rng, tool, {"name": tool.name, "arguments": {key: text}})


@attack("K1")
def a_number_that_json_rounds(rng: Random) -> Case:
    """Digits that a float does not hold, and `3,500` where a decimal comma could be meant."""
    big = 2**53 + rng.randrange(1, 999, 2)
    text, least = rng.choice([(f"{big}", big), (f"{big}.0", big), ("3,500", 3500)])
    tool = Tool(tool_name(rng), {"amount": {"type": "number"}}, effect=effect_of(rng))

    def wrong(name: str, done: dict[str, Any]) -> str | None:
        value = done["amount"]
        is_same = isinstance(value, int | float) and int(value) == least == value
        return None if is_same or value == text else f"{text} runs as {value!r}"

    return case(rng, tool, {"name": tool.name, "arguments": {"amount": text}}, wrong)


@attack("K1")
def never_exact(rng: Random) -> Case:
    """What the table lets be inferred at most does not run where only exact changes do."""
    none = {"type": ["string", "null"], "enum": ["none", "all", None]}
    choices: list[tuple[dict[str, Any], Any]] = [
        ({"type": "string", "enum": ["Straße", "Gasse"]}, "strasse"),
        ({"type": "string", "enum": ["Strasse", "Straße"]}, "STRASSE"),
        ({"type": "string", "enum": ["istanbul", "ankara"]}, "ıstanbul"),
        ({"type": "string", "enum": ["istanbul", "ankara"]}, "İSTANBUL"),
        (none, "None"),
        (none, "NONE"),
        ({"type": "string", "format": "date"}, "2036-11-2"),
        ({"type": "array", "items": TEXT}, "[TAGS]"),
        ({"type": "array", "items": TEXT}, "[TAGS] a, b"),
        ({"type": "array", "items": TEXT}, "[INST] a [/INST]"),
    ]
    schema, value = rng.choice(choices)
    tool = Tool(tool_name(rng), {"choice": schema}, effect=effect_of(rng))
    call = {"name": tool.name, "arguments": {"choice": value}}
    return case(rng, tool, call, strategies="strict")


@attack("K1")
def a_learnt_edit_that_drops_a_part(rng: Random) -> Case:
    """`mv(a, archive/b)` is not `mv(a, archive)`."""

    def body(done: dict[str, Any]) -> Any:
        if "/" in str(done["destination"]):
            raise ValueError(f"No folder '{done['destination']}' here.")
        return "moved"

    known = {"source": TEXT, "destination": TEXT}
    effect = rng.choice(["read_only", "idempotent", "mutating", None])
    tool = Tool("mv", known, effect=effect, body=body, atomic=True)
    part = rng.choice(["first", "folder", "name"])
    edits = {"destination": f"{{args.destination|{part}}}"}
    chosen = learnt("mv", "No folder '{args.destination}' here.", edits=edits)
    written = f"{rng.choice(WORDS)}/{rng.choice(WORDS)}"

    def wrong(name: str, done: dict[str, Any]) -> str | None:
        return None if done["destination"] == written else f"{written} runs as {shown(done)}"

    call = {"name": "mv", "arguments": {"source": "a", "destination": written}}
    return case(rng, tool, call, wrong, strategies=chosen, ways=["play"])


@keeps("K1")
def another_spelling(rng: Random) -> Case:
    known: dict[str, Any] = {"cabin": {"type": "string", "enum": ["economy", "business"]}}
    known |= {"day": {"type": "string", "format": "date"}, "tags": {"type": "array", "items": TEXT}}
    tool = Tool(tool_name(rng), known, required=[], effect=effect_of(rng))
    args, made = rng.choice(
        [
            ({"cabin": " Business"}, {"cabin": "business"}),
            ({"day": "2026/10/26"}, {"day": "2026-10-26"}),
            ({"day": "Oct 26, 2026"}, {"day": "2026-10-26"}),
            ({"tags": "a, b"}, {"tags": ["a", "b"]}),
            ({"tags": "blue"}, {"tags": ["blue"]}),
        ]
    )
    return right(rng, tool, {"name": tool.name, "arguments": args}, made)


# --- law 2 ------------------------------------------------------------------------------------

UNDER = [
    *("cancelled", "refund", "dry_run", "draft", "unless", "if_approved", "example", "rejected"),
    *("do_not", "after_review", "proposal", "simulate", "undo", "void", "hypothetical", "previous"),
    *(
        "storno",
        "nicht",
        "annulé",
        "取消",
        "не",
        "pending",
        "instead_of",
        "maybe",
        "quoted",
        "denied",
    ),
    *("expected", "template", "history", "wrong", "not", "never", "stop", "old", "test", "failed"),
    *("blocked", "on_hold", "estimate", "forecast", "sandbox", "reverse", "chargeback", "obsolete"),
]


def a_word(rng: Random) -> str:
    letters = "".join(rng.choices("bcdfghklmnprstvw" + "aeiou", k=rng.randint(4, 9)))
    return rng.choice([*UNDER, *UNDER, letters])


@attack("K2")
def arguments_under_a_word(rng: Random) -> Case:
    pay = payment(rng)
    word, args = a_word(rng), broken(rng, pay.args)
    inner: Any = rng.choice([args, args, json.dumps(args), [args]])
    under = rng.choice([{word: inner}, {word: inner, a_word(rng): True}, {word: {"args": inner}}])
    forms: list[Any] = [
        pay.call(under),
        pay.call(json.dumps(under)),
        pay.call({"arguments": under}),
        json.dumps(pay.call(under)),
        f"{pay.tool.name}(args={under!r})",
        f"<tool_call>\n{json.dumps(pay.call(under))}\n</tool_call>",
    ]
    return case(rng, pay.tool, rng.choice(forms))


@attack("K2")
def some_under_a_word(rng: Random) -> Case:
    """`{"to": "ann", "refund": {"amount": 5}}`."""
    pay = payment(rng)
    args = broken(rng, pay.args)
    key = rng.choice([*args])
    inner = {key: args.pop(key)}
    args[a_word(rng)] = rng.choice([inner, inner, json.dumps(inner), [inner]])
    return case(rng, pay.tool, rng.choice([pay.call(args), pay.call(json.dumps(args))]))


@attack("K2")
def a_value_under_a_word(rng: Random) -> Case:
    pay = payment(rng)
    args = broken(rng, pay.args)
    key = rng.choice([*args])
    args[key] = rng.choice([{a_word(rng): args[key]}, [{a_word(rng): args[key]}]])
    return case(rng, pay.tool, pay.call(args))


@attack("K2")
def a_key_that_says_more(rng: Random) -> Case:
    """`run` is no `dry_run`, and `from_account` is no `to_account`, for a tool that acts."""
    written, key = rng.choice(
        [
            *(("run", "dry_run"), ("delete", "soft_delete"), ("charge", "undo_charge")),
            *(("from_account", "to_account"), ("start_date", "end_date"), ("tags", "exclude_tags")),
            *(("payee", "payer"), ("buyer", "seller"), ("price", "min_price"), ("to", "not_to")),
            *(("urgent", "not_urgent"), ("old_owner", "new_owner"), ("user", "except_user")),
        ]
    )
    if rng.random() < 0.3 and written not in ("to", "run"):
        written, key = key, written
    value = rng.choice([TEXT, {"type": "boolean"}])
    given = True if value is not TEXT else rng.choice(PEOPLE)
    effect = rng.choice(["mutating", "destructive", None])
    tool = Tool(tool_name(rng), {key: value}, required=[key], effect=effect)
    return case(rng, tool, {"name": tool.name, "arguments": {written: given}})


@attack("K2")
def a_key_that_a_description_denies(rng: Random) -> Case:
    words = ["payer", "sender", "seller", "owner", "auditor", "landlord"]
    word = rng.choice(words)
    form = rng.choice(
        ["Who gets it, never the {}.", "Not the {}!", "The {} must not be given here"]
    )
    known = {"to": {"type": "string", "description": form.format(word)}, "amount": COUNT}
    effect = rng.choice(["mutating", "destructive", None])
    tool = Tool(tool_name(rng), known, effect=effect)
    args = {word: rng.choice(PEOPLE), "amount": rng.choice([5, "5"])}
    return case(rng, tool, {"name": tool.name, "arguments": args})


@keeps("K2")
def another_wrapper(rng: Random) -> Case:
    pay = payment(rng)
    key = rng.choice(["arguments", "args", "parameters"])
    made = rng.choice([{key: pay.args}, {key: json.dumps(pay.args)}, json.dumps(pay.args)])
    return right(rng, pay.tool, pay.call(made), pay.args)
