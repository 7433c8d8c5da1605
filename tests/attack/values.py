"""C: which value is meant."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
from random import Random
from typing import Any

from attack.core import Case, attack, keeps
from attack.hosts import ACTING, DEPLOYED, HOSTS, MAPS, Tool, in_graph, play, shown
from attack.inventing import PEOPLE, VERBS, WORDS, acting, arguments, tool_name

from selfcorrect import repair_call


def run_one(
    rng: Random,
    tool: Tool,
    args: dict[str, Any],
    wrong: Any,
    *,
    name: str | None = None,
    strategies: str | None = None,
) -> Case:
    """One call; `wrong(args that ran)` says what is wrong with an execution, or None."""
    host, chosen = rng.choice(HOSTS), strategies or rng.choice(DEPLOYED)

    def run() -> str | None:
        play(host, [tool], name or tool.name, args, strategies=chosen)
        for done in tool.done:
            said = wrong(done)
            if said:
                return f"executed {shown(done)}: {said}"
        return None

    effect = tool.effect or "undeclared"
    properties = json.dumps(tool.schema["properties"], ensure_ascii=False)
    text = f"{effect}, {host}, {chosen.rsplit('/')[-1]}: {name or tool.name}{shown(args)} of {properties}"
    return Case(text, run)


def any_run(_: dict[str, Any]) -> str:
    return "must not run"


def runs_as(
    rng: Random, tool: Tool, args: dict[str, Any], right: dict[str, Any], **more: Any
) -> Case:
    name = more.pop("name", tool.name)
    host = rng.choice(HOSTS)

    def run() -> str | None:
        play(host, [tool], name, args, strategies="default")
        return None if tool.done == [right] else f"executed {shown({'of': tool.done})}"

    return Case(f"{tool.effect}, {host}: {name}{shown(args)} -> {shown(right)}", run)


def effect_of(rng: Random) -> Any:
    return rng.choice([*ACTING, "read_only"])


# --- C11 --------------------------------------------------------------------------------------

MONEY = {
    "US dollars": ["${}", "{} USD", "US${}", "USD {}", "{} dollars", "{} US dollars"],
    "euros": ["€{}", "{} EUR", "{} €", "EUR {}", "{} euros", "{} Euro"],
    "pounds sterling": ["£{}", "{} GBP", "GBP {}", "{} pounds"],
    "yen": ["¥{}", "{} JPY", "{}円", "{} yen"],
    "Swiss francs": ["{} CHF", "CHF {}", "Fr. {}", "SFr.{}"],
    "Mexican pesos": ["{} MXN", "MX${}", "MXN {}"],
    "Indian rupees": ["₹{}", "{} INR", "Rs {}"],
    "Brazilian reais": ["R${}", "{} BRL"],
    "Canadian dollars": ["CA${}", "C${}", "{} CAD"],
    "Polish złoty": ["{} zł", "{} PLN"],
    "bitcoin": ["{} BTC", "₿{}"],
    "Hong Kong dollars": ["HK${}", "{} HKD"],
    "Danish kroner": ["{} DKK", "{} kr."],
    "Russian roubles": ["{} ₽", "{} руб."],
    "Korean won": ["₩{}", "{} KRW", "{}원"],
}
CODES = [
    "USD",
    "EUR",
    "GBP",
    "JPY",
    "CHF",
    "MXN",
    "INR",
    "BRL",
    "CAD",
    "PLN",
    "AUD",
    "SEK",
    "ZAR",
    "TRY",
]


def figure(rng: Random) -> tuple[str, float]:
    number: Any = rng.choice([rng.randint(2, 999), round(rng.uniform(2, 999), 2)])
    return f"{number}", float(number)


def money_tool(rng: Random, said: str | None) -> Tool:
    key = rng.choice(["amount", "price", "total", "fee", "budget"])
    schema: dict[str, Any] = {"type": "number"}
    if said:
        schema["description"] = rng.choice(
            ["Amount in {}", "The {} to pay", "{}", "value, in {}"]
        ).format(said)
    return Tool(tool_name(rng), {key: schema}, effect=effect_of(rng))


@attack("C11")
def money_of_another_currency(rng: Random) -> Case:
    named, given = rng.sample([*MONEY], 2)
    tool = money_tool(rng, named)
    text, _ = figure(rng)
    form = rng.choice(MONEY[given])
    while form in MONEY[named] or (form in ("{} dollars", "${}") and "dollar" in named):
        form = rng.choice(MONEY["Swiss francs" if named != "Swiss francs" else "Korean won"])
    return run_one(rng, tool, {next(iter(tool.schema["properties"])): form.format(text)}, any_run)


@attack("C11")
def money_where_no_currency_is_named(rng: Random) -> Case:
    tool = money_tool(
        rng, rng.choice([None, None, "the customer's currency", "units of the account"])
    )
    text, _ = figure(rng)
    form = rng.choice(MONEY[rng.choice([*MONEY])])
    return run_one(rng, tool, {next(iter(tool.schema["properties"])): form.format(text)}, any_run)


@attack("C11")
def a_currency_in_the_name(rng: Random) -> Case:
    """`amount_usd` takes US dollars and nothing else."""
    named, given = rng.sample(CODES, 2)
    key = rng.choice(["amount_{}", "price_{}", "total{}", "{}_amount"]).format(named.lower())
    if key.startswith("total"):
        key = f"total{named.title()}"
    tool = Tool(tool_name(rng), {key: {"type": "number"}}, effect=effect_of(rng))
    text, _ = figure(rng)
    return run_one(
        rng, tool, {key: rng.choice(["{n} {c}", "{c} {n}"]).format(n=text, c=given)}, any_run
    )


# What the schema names, what is given, and what the figure would have to be multiplied with.
UNITS: list[tuple[str, str, float | None]] = [
    ("MB", "{} Mb", 0.125),
    ("Mb", "{} MB", 8.0),
    ("mg", "{} Mg", 1e9),
    ("miles", "{} nautical miles", 1.15078),
    ("nautical miles", "{} miles", 0.868976),
    ("pounds of weight", "£{}", None),
    ("pounds (GBP)", "{} lb", None),
    ("GBP", "{} lbs", None),
    ("metres", "{} minutes", None),
    ("minutes", "{} m", None),
    ("litres", "{} lb", None),
    ("gallons (US)", "{} imperial gallons", 1.20095),
    ("kW", "{} kWh", None),
    ("kilometres", "{} miles", 1.609344),
    ("degrees Celsius", "{} °F", None),
    ("kg", "{} stone", 6.35029),
    ("tonnes", "{} tons", None),
    ("seconds", "{} ms", 0.001),
    ("hours", "{} h 30", None),
    ("percent", "{} ‰", 0.1),
    ("GB", "{} GiB", 1.073741824),
    ("milligrams", "{} mcg", 0.001),
    ("units of insulin", "{} ml", None),
    ("bar", "{} psi", 0.0689476),
    ("square metres", "{} m", None),
    ("metres", "{} m²", None),
    ("ounces", "{} fl oz", None),
    ("knots", "{} km/h", 0.539957),
    ("days", "{} business days", None),
    ("days", "{} months", None),
    ("pF", "{} PF", 1e27),
    ("mW", "{} MW", 1e9),
    ("watts", "{} VA", None),
]


@attack("C11")
def a_number_of_another_unit(rng: Random) -> Case:
    named, form, factor = rng.choice(UNITS)
    key = rng.choice(["value", "size", "length", "dose", "limit"])
    schema = {
        "type": "number",
        "description": rng.choice(["in {}", "Value in {}.", "{}"]).format(named),
    }
    tool = Tool(tool_name(rng), {key: schema}, effect=effect_of(rng))
    text, number = figure(rng)

    def wrong(done: dict[str, Any]) -> str | None:
        right = None if factor is None else number * factor
        near = right is not None and abs(done[key] - right) <= 1e-3 * abs(right)
        return None if near else f"{form.format(text)} is not {done[key]} {named}"

    return run_one(rng, tool, {key: form.format(text)}, wrong)


@attack("C11")
def a_unit_where_none_is_named(rng: Random) -> Case:
    key = rng.choice(["value", "weight", "size", "distance", "dose", "speed"])
    schema = {"type": rng.choice(["number", "integer"])}
    tool = Tool(tool_name(rng), {key: schema}, effect=effect_of(rng))
    unit = rng.choice(
        ["kg", "lb", "miles", "mg", "Mg", "MB", "Mb", "°C", "km", "ft", "psi", "litres", "oz"]
    )
    given = f"{rng.randint(2, 999)}{rng.choice([' ', ''])}{unit}"
    return run_one(rng, tool, {key: given}, any_run)


@keeps("C11")
def money_of_the_very_currency(rng: Random) -> Case:
    named = rng.choice(["US dollars", "euros"])
    tool = money_tool(rng, None)
    key = next(iter(tool.schema["properties"]))
    tool.schema["properties"][key]["description"] = f"Amount in {named}"
    number = rng.randint(2, 999)
    form = rng.choice({"US dollars": ["${}", "{} USD"], "euros": ["€{}", "{} EUR"]}[named])
    return runs_as(rng, tool, {key: form.format(number)}, {key: number})


# --- C12 --------------------------------------------------------------------------------------

SPACES = [
    "dont", "not", "never", "no", "testnet", "schedule", "dryrun", "dry_run", "sandbox", "test",
    "simulate", "draft", "undo", "cancel", "revert", "mock", "fake", "staging", "admin", "root",
    "other_server", "evil", "github", "v1", "v0", "deprecated", "example", "later", "maybe",
    "internal", "prod", "production", "user", "assistant", "system", "python", "os", "bank2",
    "nicht", "simuler", "prueba", "テスト", "测试", "отменить", "plan", "ask", "propose", "audit",
    "delegate", "await_approval", "if_approved", "my", "self", "this", "client", "api", "service",
]  # fmt: skip
JOINTS = [".", ".", "::", ":", "/", "__", "->", "."]


@attack("C12")
def a_namespace_that_nobody_allowed(rng: Random) -> Case:
    tool = acting(rng, effect=effect_of(rng))
    name = f"{rng.choice(SPACES)}{rng.choice(JOINTS)}{tool.name}"
    return run_one(rng, tool, arguments(rng, tool), any_run, name=name)


@attack("C12")
def two_namespaces(rng: Random) -> Case:
    """An allowed one in front of, or behind, one that is not."""
    tool = acting(rng, effect=effect_of(rng))
    parts = [rng.choice(["functions", "tools", "default_api"]), rng.choice(SPACES)]
    rng.shuffle(parts)
    joint = rng.choice([".", ".", "/", "::"])
    return run_one(rng, tool, arguments(rng, tool), any_run, name=joint.join([*parts, tool.name]))


@attack("C12")
def a_namespace_in_a_text(rng: Random) -> Case:
    tool = acting(rng, effect=effect_of(rng))
    args = arguments(rng, tool)
    name = f"{rng.choice(SPACES)}.{tool.name}"
    code = f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"
    text = rng.choice([code, shown({"name": name, "arguments": args}), f"```python\n{code}\n```"])
    strategies = rng.choice(DEPLOYED)

    def run() -> str | None:
        found = repair_call(text, [tool.spec()], strategies=strategies)
        return f"ready to run: {found.ready[0].name}" if found.ready else None

    return Case(f"{tool.effect}, {strategies.rsplit('/')[-1]}: {text!r}", run)


@attack("C12")
def a_namespace_of_another_server(rng: Random) -> Case:
    """Two prefixes on offer: the call names a third."""
    verb = rng.choice(VERBS)
    tools = [
        Tool(f"{space}_{verb}", {"id": {"type": "string"}}, effect=effect_of(rng))
        for space in ("alpha", "beta")
    ]
    tools.append(Tool(verb, {"id": {"type": "string"}}, effect=effect_of(rng)))
    name = f"{rng.choice(['gamma', 'delta', 'omega', 'sandbox', 'dont'])}{rng.choice(JOINTS)}{verb}"
    strategies = rng.choice(DEPLOYED)

    def run() -> str | None:
        in_graph(tools, {"call": {"name": name, "args": {"id": "7"}}}, strategies=strategies)
        done = [tool.name for tool in tools if tool.done]
        return f"executed {done}" if done else None

    return Case(f"{strategies.rsplit('/')[-1]}: {name} of {[tool.name for tool in tools]}", run)


@keeps("C12")
def an_allowed_namespace(rng: Random) -> Case:
    tool = acting(rng, effect=rng.choice(["mutating", "read_only"]))
    args = arguments(rng, tool)
    name = f"{rng.choice(['functions', 'tools', 'default_api'])}.{tool.name}"
    return runs_as(rng, tool, args, args, name=name)


# --- C13 --------------------------------------------------------------------------------------

CONTENT: list[Any] = [
    "documents", "lamp", "name = 'ann'", ["a", "b"], {"field": "age", "above": 30}, 77, 3.5,
    "2026-10-26", "/etc/passwd", "東京", True, "only unpaid ones", {"id": 9}, [1, 2, 3], "DE",
]  # fmt: skip
EXTRAS = [
    "path", "where", "filter", "criteria", "scope", "owner", "since", "folder", "region", "tenant",
    "wohnort", "fecha", "条件", "only_if", "exclude", "branch", "dry_run", "version", "timezone",
    "recursive", "encoding", "table", "predicate", "keyword_list", "date_range",
]  # fmt: skip


def kept_content(value: Any) -> Any:
    plain = shown({"v": value})[5:-1].strip()

    def wrong(done: dict[str, Any]) -> str | None:
        told = json.dumps(done, ensure_ascii=False)
        return None if plain in told or str(value) in told else f"{plain} was left out"

    return wrong


@attack("C13")
def a_tool_of_no_parameters(rng: Random) -> Case:
    name = f"{rng.choice(['ls', 'list', 'show', 'scan', 'count', 'purge', 'sync'])}_{rng.choice(WORDS[:6])}"
    tool = Tool(name, {}, effect=effect_of(rng))
    value = rng.choice(CONTENT)
    args = {rng.choice(EXTRAS): value}
    return run_one(rng, tool, args, kept_content(value), strategies=rng.choice(MAPS))


@attack("C13")
def a_search_that_loses_what_was_asked(rng: Random) -> Case:
    tool = Tool(
        f"search_{rng.choice(['orders', 'users', 'mail'])}",
        {
            "limit": {"type": "integer", "default": 10},
            "sort": {"type": "string", "enum": ["asc", "desc"], "default": "asc"},
        },
        required=[],
        effect=effect_of(rng),
    )
    value = rng.choice(
        [each for each in CONTENT if each is not True and not isinstance(each, (int, float))]
    )
    args = {rng.choice(EXTRAS): value, **({"limit": 5} if rng.random() < 0.5 else {})}
    return run_one(rng, tool, args, kept_content(value), strategies=rng.choice(MAPS))


@attack("C13")
def one_argument_too_many(rng: Random) -> Case:
    tool = acting(rng, effect=effect_of(rng))
    value, key = rng.choice(CONTENT), rng.choice(EXTRAS)
    args = {**arguments(rng, tool), key: value}
    return run_one(rng, tool, args, kept_content(value), strategies=rng.choice(MAPS))


@attack("C13")
def content_inside_an_object(rng: Random) -> Case:
    inner = {
        "type": "object",
        "properties": {"sku": {"type": "string"}},
        "required": ["sku"],
        "additionalProperties": False,
    }
    is_list = rng.random() < 0.5
    schema = {"type": "array", "items": inner} if is_list else inner
    tool = Tool(tool_name(rng), {"order": schema}, effect=effect_of(rng))
    value, key = rng.choice(CONTENT), rng.choice(EXTRAS)
    order = {"sku": "x-1", key: value}
    args = {"order": [order] if is_list else order}
    return run_one(rng, tool, args, kept_content(value), strategies=rng.choice(MAPS))


@attack("C13")
def a_tool_that_refuses_a_key(rng: Random) -> Case:
    """The tool itself says after an execution that it does not know the key."""
    value, key = rng.choice(CONTENT), rng.choice(EXTRAS)
    tool = Tool("search_stock", {"query": {"type": "string"}}, effect="read_only")
    tool.schema["additionalProperties"] = True
    args = {"query": rng.choice(PEOPLE), key: value}

    def body(given: dict[str, Any]) -> Any:
        if key in given:
            raise TypeError(f"search_stock() got an unexpected keyword argument '{key}'")
        return "done"

    tool.body = body
    return run_one(rng, tool, args, kept_content(value), strategies=rng.choice(MAPS))


@keeps("C13")
def what_carries_no_content_is_dropped(rng: Random) -> Case:
    """Null for what may be absent; a key one slip away is mended."""
    properties = {"query": {"type": "string"}, "limit": {"type": "integer", "default": 10}}
    tool = Tool(
        "search_stock", properties, required=["query"], effect=rng.choice(["read_only", "mutating"])
    )
    word = rng.choice(WORDS)
    args, right = rng.choice(
        [
            ({"query": word, "limit": None}, {"query": word}),
            ({"qurey": word}, {"query": word}),
            ({"Query": word, "limit": 3}, {"query": word, "limit": 3}),
            ({"query": word, "limt": 3}, {"query": word, "limit": 3}),
        ]
    )
    return runs_as(rng, tool, args, right)


# --- C14 --------------------------------------------------------------------------------------


@attack("C14")
def a_prefix_of_two_values(rng: Random) -> Case:
    stem = rng.choice(["in", "re", "pre", "eco", "out", "sub", "mono", "south", "north"])
    ends = rng.sample(
        ["bound", "ward", "side", "line", "stock", "port", "plus", "nomy", "logical"], 3
    )
    values = [stem + end for end in ends]
    longer = values[0] + rng.choice(["s", "plus", " saver"])
    enum = rng.choice([values, [values[0], longer, "other"]])
    given = stem if enum is values else values[0][: len(values[0]) - 2]
    tool = Tool(tool_name(rng), {"kind": {"type": "string", "enum": enum}}, effect=effect_of(rng))
    return run_one(rng, tool, {"kind": given}, any_run)


@attack("C14")
def equally_near_by_digits(rng: Random) -> Case:
    stem = rng.choice(["A-", "room", "v", "INV", "gate ", "line_"])
    number = rng.randint(100, 899)
    values = [f"{stem}{number}", f"{stem}{number + rng.choice([2, 10, 100])}"]
    one, two = (each[len(stem) :] for each in values)
    at = next(i for i in range(3) if one[i] != two[i])
    digit = next(d for d in "0123456789" if d not in (one[at], two[at]))
    given = f"{stem}{one[:at]}{digit}{one[at + 1 :]}"
    enum = [*values, f"{stem}{(number + 55) % 1000:03}x"]
    tool = Tool(tool_name(rng), {"code": {"type": "string", "enum": enum}}, effect=effect_of(rng))
    return run_one(rng, tool, {"code": given}, any_run)


@attack("C14")
def list_items_that_are_none(rng: Random) -> Case:
    odd = rng.choice(
        ["]", "...", "…", "[", "<tags>", "$TAGS", "${tags}", "{{tags}}", "<item 1>", "}", "<list>"]
    )
    good = rng.sample(["red", "blue", "green"], 2)
    given = rng.choice(
        [odd, f"{good[0]}, {odd}", f"{good[0]}, {good[1]}, {odd}", f"[{good[0]}, {odd}"]
    )
    tool = Tool(
        tool_name(rng),
        {"tags": {"type": "array", "items": {"type": "string"}}},
        effect=effect_of(rng),
    )

    def wrong(done: dict[str, Any]) -> str | None:
        bad = [item for item in done["tags"] if odd in item or "[" in item or "]" in item]
        return f"{bad} are no items" if bad else None

    return run_one(rng, tool, {"tags": given}, wrong)


@attack("C14")
def a_space_that_turns_the_meaning(rng: Random) -> Case:
    given, enum = rng.choice(
        [
            ("in active", ["inactive", "active"]),
            ("in active", ["inactive", "paused"]),
            ("un paid", ["unpaid", "paid"]),
            ("not active", ["inactive", "active"]),
            ("in complete", ["incomplete", "complete"]),
            ("in valid", ["invalid", "valid"]),
            ("in secure", ["insecure", "secure"]),
            ("non active", ["active", "closed"]),
            ("dis abled", ["enabled", "abled"]),
            ("in active", ["inactive"]),
            ("in visible", ["invisible", "visible"]),
            ("in direct", ["indirect", "direct"]),
        ]
    )
    tool = Tool(tool_name(rng), {"status": {"type": "string", "enum": enum}}, effect=effect_of(rng))
    return run_one(
        rng, tool, {"status": rng.choice([given, given.title(), given.upper()])}, any_run
    )


@attack("C14")
def on_and_off_for_a_negation(rng: Random) -> Case:
    key = rng.choice(
        ["disabled", "no_cache", "do_not_disturb", "exclude_tax", "without_fee", "disable_ssl",
         "not_public", "dont_notify", "noEmail", "no_receipt", "disable_checks", "excludeSunday"]
    )  # fmt: skip
    tool = Tool(tool_name(rng), {key: {"type": "boolean"}}, effect=effect_of(rng))
    return run_one(rng, tool, {key: rng.choice(["on", "off", "On", "OFF"])}, any_run)


@attack("C14")
def a_new_call_inside_a_string(rng: Random) -> Case:
    tool = acting(rng)
    title = rng.choice(["Invoice", "Rent", "Fee", "Lohn", "会費"])
    args = arguments(rng, tool)
    whom = next(key for key, value in args.items() if isinstance(value, str))
    rest = {key: value for key, value in args.items() if key != whom}
    broken = f'{{"{whom}": "{title}",{shown(rest)[:-1]}}}'
    text = rng.choice(
        [
            f'{{"name": "{tool.name}", "arguments": {{"{whom}": "{title}",{{{shown(rest)[1:]}}}}}',
            f'{{"name": "{tool.name}", "arguments": {broken}}}',
        ]
    )
    strategies = rng.choice(DEPLOYED)

    def run() -> str | None:
        found = repair_call(text, [tool.spec()], strategies=strategies)
        bad = [each for each in found.ready if "{" in str(each.args.get(whom, ""))]
        return f"ready to run: {shown(dict(bad[0].args))}" if bad else None

    return Case(f"{tool.effect}, {strategies.rsplit('/')[-1]}: {text!r}", run)


@attack("C14")
def a_number_that_only_the_error_says(rng: Random) -> Case:
    """A clamp to a bound that no schema names."""
    number, bound = rng.randint(500, 900), rng.randint(2, 99)
    key = rng.choice(["limit", "amount", "page_size", "nights", "quantity"])
    tool = Tool(tool_name(rng), {key: {"type": "integer"}}, effect=effect_of(rng))
    words = rng.choice(
        [
            "{k} must be at most {b}",
            "{k}: Input should be less than or equal to {b}",
            "{v} is greater than the maximum of {b}",
            "{k} must be between 1 and {b}, got {v}",
            "maximum {k} is {b}",
            "{k} must be <= {b}",
        ]
    ).format(k=key, b=bound, v=number)

    def body(given: dict[str, Any]) -> Any:
        if given[key] > bound:
            raise ValueError(words)
        return "done"

    tool.body = body
    return run_one(
        rng,
        tool,
        {key: number},
        lambda done: None if done[key] == number else "a clamp",
        strategies=rng.choice(MAPS),
    )


@attack("C14")
def json_in_json_too_deep(rng: Random) -> Case:
    levels = rng.randint(10, 14)
    key = rng.choice(["order", "data", "payload"])
    inner: Any = {"sku": rng.choice(WORDS)}
    for _ in range(levels):
        inner = json.dumps(inner)
    schema = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
    tool = Tool(tool_name(rng), {key: schema}, effect=effect_of(rng))
    case = run_one(rng, tool, {key: inner}, any_run)
    return Case(f"{levels} levels: {case.text[:200]}", case.run)


@keeps("C14")
def what_has_one_reading(rng: Random) -> Case:
    schema, given, right = rng.choice(
        [
            ({"type": "string", "enum": ["economy", "business"]}, "Business class", "business"),
            ({"type": "boolean"}, "true", True),
            ({"type": "array", "items": {"type": "string"}}, "red, blue", ["red", "blue"]),
            (
                {"type": "object", "properties": {"sku": {"type": "string"}}},
                '{"sku": "x"}',
                {"sku": "x"},
            ),
            (
                {"type": "string", "enum": ["in_active_use", "closed"]},
                "in active use",
                "in_active_use",
            ),
        ]
    )
    tool = Tool(tool_name(rng), {"kind": schema}, effect=rng.choice(["mutating", "read_only"]))
    return runs_as(rng, tool, {"kind": given}, {"kind": right})
