"""B: which call is meant."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from attack.core import Case, attack, keeps
from attack.hosts import ACTING, DEPLOYED, Tool, in_agent, in_graph, native, shown
from attack.inventing import PEOPLE, WORDS, acting, arguments, respelled
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from reading.forms import MODELS, Written

from selfcorrect import repair_call
from selfcorrect.effects import destroys

WHOLE = [each for each in DEPLOYED if "local_model" not in each]


def code(name: str, args: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"


def bare(name: str, args: Mapping[str, Any]) -> str:
    return shown({"name": name, "arguments": args})


def written(rng: Random, name: str, args: dict[str, Any]) -> str:
    """A call as text, in one of the forms that models write."""
    openai = {"type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
    return str(
        rng.choice(
            [
                bare(name, args),
                code(name, args),
                f"[{code(name, args)}]",
                f"```json\n{bare(name, args)}\n```",
                f"```python\n{code(name, args)}\n```",
                f"```\n{bare(name, args)}\n```",
                f"<tool_call>\n{bare(name, args)}\n</tool_call>",
                f"<function={name}>{shown(args)}</function>",
                f"[TOOL_CALLS] [{bare(name, args)}]",
                shown(openai),
                f"Action: {name}\nAction Input: {shown(args)}",
                f"[{bare(name, args)}]",
            ]
        )
    )


BEFORE = [
    "I would never run this:",
    "Before I do anything, please confirm:",
    "Here is what the call would look like:",
    "Do NOT execute the following.",
    "For example:",
    "Draft, waiting for approval from finance:",
    "The user asked whether this is right",
    "Earlier I made this mistake:",
    "If the balance allows it, I will then call",
    "Nicht ausführen, nur ein Beispiel:",
    "Voici un exemple à ne pas exécuter :",
    "Por favor, ¿confirma esta llamada?",
    "実行しないでください：",
    "不要执行，仅供参考：",
    "Не выполняйте это:",
    "لا تنفذ هذا:",
    "Tego nie wolno uruchamiać:",
    "> quoted from the ticket",
    "# Runbook, step 4",
    "Plan B",
    "TODO",
    "Sure!",
    "Okay, calling it now.",
    "Q:",
    "Subject: Re: payment\n\nHi all,",
    "---\ntitle: how to\n---",
    "SELECT 1;",
    "42",
    "ok",
]
AFTER = [
    "Shall I go ahead?",
    "is what I would call if you agree.",
    "Just kidding.",
    "(not executed)",
    "… but only after Monday.",
    "Soll ich?",
    "¿Procedo?",
    "でよろしいですか？",
    "这样可以吗？",
    "Выполнить?",
    "Wait, that is wrong. Stop.",
    "^ this must not happen",
    "Best regards,\nAnn",
    "// dry run",
    "# never",
    "-- end of example",
    "I decided against it.",
    "x",
    "Observation: the payment was refused",
]
WRAPS = [
    "<example>{}</example>",
    "<draft>\n{}\n</draft>",
    "<email>{}</email>",
    "<bad>{}</bad>",
    "<exemple>{}</exemple>",
    "<not_executed>\n{}\n</not_executed>",
    "<blockquote>{}</blockquote>",
    "<li>{}</li>",
    "<del>{}</del>",
    "<!-- {} -->",
    "<document><quote>{}</quote></document>",
    "<observation>{}</observation>",
    "<user>{}</user>",
    "<scratchpad>{}</scratchpad>",
    "~~{}~~",
    "> {}",
    "| call | {} |",
    "\\begin{{verbatim}}{}\\end{{verbatim}}",
    "/* {} */",
    "// {}",
    "# {}",
    "„Zitat“: {}",
    "“{}” she said",
    "Answer: {}",
    "Never: {}",
    "[ ] {}",
]
CODE = [
    "if False:\n    {}",
    "def later():\n    {}",
    "lambda: {}",
    "# {}",
    "assert not {}",
    "x = {} if approved else None",
    "print('would call', {!r})",
    "try:\n    {}\nexcept Exception:\n    pass",
    "False and {}",
    "while False:\n    {}",
    "with dry_run():\n    {}",
    "raise NotImplementedError\n{}",
    "mock.{}",
    "expect({})",
    "{} # only if approved",
    '"""\n{}\n"""',
    "simulate({})",
    "not {}",
    "await maybe({})",
    "return None\n{}",
]


def text_case(
    rng: Random,
    tool: Tool,
    text: str,
    *,
    runs: bool = False,
    strategies: str | None = None,
    hosts: Sequence[str] = ("graph", "agent", "repair_call"),
    **beside: Any,
) -> Case:
    """A text, given in some host: the call in it must not run (or must)."""
    host = rng.choice(hosts)
    chosen = strategies or rng.choice(WHOLE)

    def run() -> str | None:
        if host == "graph":
            in_graph([tool], {"raw": text, **beside}, strategies=chosen)
        elif host == "agent":
            in_agent([tool], [AIMessage(text)], strategies=chosen)
        else:
            found = repair_call(text, [tool.spec()], strategies=chosen, **beside)
            if runs or not found.ready:
                return None if bool(found.ready) == runs else f"{found.outcome} {found.reason}"
            return f"ready to run: {[shown(dict(each.args)) for each in found.ready]}"
        if runs:
            return None if len(tool.done) == 1 else f"executed {len(tool.done)} times"
        return f"executed with {shown({'of': tool.done})}" if tool.done else None

    effect = tool.effect or "undeclared"
    return Case(f"{effect}, {host}, {chosen.rsplit('/')[-1]}: {text!r}", run)


@attack("B6")
def words_around_a_call(rng: Random) -> Case:
    tool = acting(rng)
    text = written(rng, tool.name, arguments(rng, tool))
    between = rng.choice(["\n", "\n\n", " "])
    before = rng.choice(BEFORE) if rng.random() < 0.6 else ""
    after = rng.choice(AFTER) if not before or rng.random() < 0.3 else ""
    return text_case(rng, tool, between.join(each for each in (before, text, after) if each))


@attack("B6")
def a_tag_that_is_of_no_form(rng: Random) -> Case:
    tool = acting(rng)
    text = written(rng, tool.name, arguments(rng, tool))
    return text_case(rng, tool, rng.choice(WRAPS).format(text))


@attack("B6")
def code_that_does_not_just_call(rng: Random) -> Case:
    tool = acting(rng)
    text = rng.choice(CODE).format(code(tool.name, arguments(rng, tool)))
    if rng.random() < 0.5:
        text = f"```python\n{text}\n```"
    return text_case(rng, tool, text)


@attack("B6")
def a_call_in_the_model_s_thoughts(rng: Random) -> Case:
    tool = acting(rng)
    text = written(rng, tool.name, arguments(rng, tool))
    word = rng.choice([*BEFORE, *AFTER])
    form = rng.choice(
        [
            "<think>{w}\n{t}</think>",
            "<think>{t}</think>\n{w}",
            "<thinking>{w} {t}</thinking>",
            "<think>{w}</think>{w}\n{t}",
            "{w}\n<think>hm</think>\n{t}",
            "<think>{t}</think>",
        ]
    )
    return text_case(rng, tool, form.format(w=word, t=text))


@attack("B6")
def a_document_with_a_call_inside(rng: Random) -> Case:
    """An issue, a manual, a mail, a JSON: a call stands somewhere in it."""
    tool = acting(rng)
    call = written(rng, tool.name, arguments(rng, tool))
    lines = [
        " ".join(rng.choices([*WORDS, *PEOPLE, "the", "and", "then", "is"], k=6)) for _ in range(8)
    ]
    lines.insert(rng.randint(0, 8), call)
    kind = rng.choice(["text", "json", "table", "mail"])
    if kind == "json":
        text = shown({"title": lines[0], "body": "\n".join(lines), "tags": [call]})
    elif kind == "table":
        text = "\n".join(f"| {number} | {line} |" for number, line in enumerate(lines))
    else:
        text = "\n".join(lines)
    return text_case(rng, tool, text)


@attack("B6")
def an_edge_is_whole_for_destructive_tools(rng: Random) -> Case:
    """Without messages or request, under a map that says "edge"."""
    tool = acting(rng, effect="destructive")
    text = written(rng, tool.name, arguments(rng, tool))
    around = (
        f"{rng.choice(BEFORE)}\n{text}" if rng.random() < 0.5 else f"{text}\n{rng.choice(AFTER)}"
    )
    hosts = ("graph", "repair_call")
    return text_case(rng, tool, around, strategies="local_model", hosts=hosts)


@attack("B6")
def in_the_middle_is_no_edge(rng: Random) -> Case:
    tool = acting(rng)
    text = written(rng, tool.name, arguments(rng, tool))
    after = rng.choice([each for each in AFTER if "Observation" not in each])
    around = f"{rng.choice(BEFORE)}\n{text}\n{after}"
    return text_case(rng, tool, around, strategies="local_model")


@keeps("B6")
def a_text_that_is_the_call(rng: Random) -> Case:
    tool = acting(rng)
    text = written(rng, tool.name, arguments(rng, tool))
    if rng.random() < 0.3:
        text = f"<think>I should do it.</think>\n{text}"
    return text_case(rng, tool, text, runs=True)


@keeps("B6")
def a_form_of_a_model(rng: Random) -> Case:
    """Every form of the table, whole."""
    tool = acting(rng)
    tool.schema["properties"] = {"to": {"type": "string"}, "amount": {"type": "integer"}}
    tool.schema["required"] = ["to", "amount"]
    form = rng.choice([each for each in MODELS if each != "gpt-oss analysis"])
    text = MODELS[form]([Written(tool.name, {"to": "ann", "amount": rng.randint(2, 90)})])
    return text_case(rng, tool, text, runs=True)


@keeps("B6")
def a_tool_that_reads_on_lines_of_its_own(rng: Random) -> Case:
    tool = acting(rng, effect="read_only")
    name, args = tool.name, arguments(rng, tool)
    text = rng.choice([bare(name, args), f"<tool_call>\n{bare(name, args)}\n</tool_call>"])
    word = rng.choice(["Let me look that up.", "Sure!", "I look.", "One moment."])
    return text_case(rng, tool, f"{word}\n\n{text}", runs=True, strategies="default")


@keeps("B6")
def at_the_edge_where_the_map_says_so(rng: Random) -> Case:
    tool = acting(rng, effect="mutating")
    name, args = tool.name, arguments(rng, tool)
    text = f"<tool_call>\n{bare(name, args)}\n</tool_call>"
    word = rng.choice(["I will do that.", "Sure!", "One moment."])
    return text_case(rng, tool, f"{word}\n\n{text}", runs=True, strategies="local_model")


# --- B7 ---------------------------------------------------------------------------------------

KEYS = [
    "approved",
    "dry_run",
    "dryRun",
    "execute",
    "confirmed",
    "when",
    "condition",
    "if",
    "unless",
    "schedule",
    "only_if",
    "after",
    "simulate",
    "test",
    "enabled",
    "cancelled",
    "disabled",
    "skip",
    "comment",
    "note",
    "mode",
    "environment",
    "sandbox",
    "priority",
    "result",
    "output",
    "error",
    "status",
    "rejected",
    "verdict",
    "requires_approval",
    "freigegeben",
    "trockenlauf",
    "wenn",
    "annulé",
    "simulación",
    "одобрено",
    "承認",
    "执行",
    "probability",
    "alternatives",
    "undo",
    "not",
    "do",
    "x-run",
    "hint",
]
VALUES: list[Any] = [
    False,
    True,
    "no",
    "never",
    "draft",
    "rejected by finance",
    "tomorrow",
    "balance > 100",
    0,
    0.02,
    {"by": "bob", "ok": False},
    ["finance", "legal"],
    "nein",
    "否",
    "dry-run",
    "pending",
]
ODD = [
    ("type", "example"),
    ("type", "draft"),
    ("type", "tool_result"),
    ("type", "text"),
    ("role", "user"),
    ("role", "system"),
    ("role", "critic"),
    ("role", "tool"),
    ("type", "function_example"),
    ("status", "cancelled"),
    ("status", "rejected"),
    ("type", "no_call"),
]


def beside(rng: Random, tool: Tool) -> tuple[str, Any]:
    """Something that says more than which call it is, and names no parameter of the tool."""
    if rng.random() < 0.25:
        return rng.choice(ODD)
    keys = [key for key in KEYS if key not in tool.schema["properties"]]
    return rng.choice(keys), rng.choice(VALUES)


def enveloped(
    rng: Random, name: str, args: dict[str, Any], extra: tuple[str, Any] | None
) -> tuple[str, Any]:
    """A call in an envelope, with something beside it; the text and the object."""
    key, value = extra or ("id", "call_1")
    form = rng.choice(
        ["flat", "function", "tool_use", "choices", "tool_calls", "parameters", "args", "list"]
    )
    inside = rng.random() < 0.5
    if form == "function":
        function = {"name": name, "arguments": json.dumps(args)}
        built: Any = {"type": "function", "function": function}
        (function if inside and extra else built)[key] = value
    elif form == "tool_use":
        built = {"type": "tool_use", "id": "t1", "name": name, "input": args, key: value}
    elif form == "choices":
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        (call if inside else call["function"])[key] = value  # type: ignore[index]
        built = {"choices": [{"index": 0, "message": message}]}
    elif form == "tool_calls":
        call = {"name": name, "arguments": args}
        built = {"tool_calls": [call]}
        (call if inside or not extra else built)[key] = value
    elif form == "parameters":
        built = {"name": name, "parameters": args, key: value}
    elif form == "args":
        built = {"name": name, "args": args, key: value}
    elif form == "list":
        built = [{"name": name, "arguments": args, key: value}]
    else:
        built = {key: value, "name": name, "arguments": args}
    return form, built


@attack("B7")
def a_key_beside_a_call_in_text(rng: Random) -> Case:
    tool = acting(rng)
    extra = beside(rng, tool)
    _, built = enveloped(rng, tool.name, arguments(rng, tool), extra)
    text = shown(built) if isinstance(built, dict) else json.dumps(built, ensure_ascii=False)
    wrap = rng.choice(["{}", "{}", "```json\n{}\n```"])
    return text_case(rng, tool, wrap.replace("{}", text))


@attack("B7")
def a_key_beside_a_call_in_a_tag(rng: Random) -> Case:
    tool = acting(rng)
    key, value = beside(rng, tool)
    call = {"name": tool.name, "arguments": arguments(rng, tool), key: value}
    items = [*call.items()]
    rng.shuffle(items)
    wrap = rng.choice(
        [
            "<tool_call>\n{}\n</tool_call>",
            "[TOOL_CALLS] [{}]",
            "<|tool_call|>[{}]",
            "<|python_tag|>{}",
            "<TOOLCALL>[{}]</TOOLCALL>",
            "functools[{}]",
            "<tool_calls>\n{}\n</tool_calls>",
        ]
    )
    return text_case(rng, tool, wrap.replace("{}", json.dumps(dict(items), ensure_ascii=False)))


@attack("B7")
def an_attribute_of_a_tag(rng: Random) -> Case:
    """Beside the call, but in the tag that makes it."""
    tool = acting(rng)
    args = arguments(rng, tool)
    key = rng.choice(["approved", "execute", "dry_run", "status", "if", "when", "role", "type"])
    value = rng.choice(["false", "no", "draft", "example", "after approval", "nein", "user"])
    parameters = "".join(f'<parameter name="{k}">{v}</parameter>' for k, v in args.items())
    form = rng.choice(
        [
            f'<tool_call {key}="{value}">\n{bare(tool.name, args)}\n</tool_call>',
            f'<function_calls {key}="{value}"><invoke name="{tool.name}">{parameters}</invoke></function_calls>',
            f'<function_calls><invoke name="{tool.name}" {key}="{value}">{parameters}</invoke></function_calls>',
            f"<tool_call><{key}>{value}</{key}>{bare(tool.name, args)}</tool_call>",
            f'<invoke name="{tool.name}" {key}="{value}">{parameters}</invoke>',
        ]
    )
    return text_case(rng, tool, form)


@attack("B7")
def a_key_beside_a_call_as_object(rng: Random) -> Case:
    tool = acting(rng)
    extra = beside(rng, tool)
    form, built = enveloped(rng, tool.name, arguments(rng, tool), extra)
    strategies = rng.choice(WHOLE)

    def run() -> str | None:
        found = repair_call(built, [tool.spec()], strategies=strategies)
        return f"ready to run: {shown(dict(found.ready[0].args))}" if found.ready else None

    return Case(f"{tool.effect}, repair_call({form}): {json.dumps(built, ensure_ascii=False)}", run)


@keeps("B7")
def known_values_beside_a_call(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    name = tool.name
    extra = rng.choice([("id", "call_1"), ("index", 0), ("call_id", "x9"), ("tool_call_id", "t1")])
    function = {"name": name, "arguments": json.dumps(args)}
    built = rng.choice(
        [
            {"name": name, "arguments": args, extra[0]: extra[1]},
            {"type": "function", "id": "c", "function": function},
            {"type": "tool_use", "id": "t1", "name": name, "input": args},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": function}],
            },
            {"type": "tool_call", "name": name, "args": args, "id": "c"},
            {"type": "function", "name": name, "parameters": args},
        ]
    )
    return text_case(rng, tool, shown(built), runs=True)


# --- B8 ---------------------------------------------------------------------------------------


@attack("B8")
def a_text_repeats_a_call_that_was_made(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    text = written(rng, tool.name, respelled(rng, args, tool) if rng.random() < 0.4 else args)
    text = rng.choice([text, text, f"Done.\n{text}", f"I called {text}"])
    tool.body = rng.choice([None, lambda _: {"ok": True}, lambda _: "queued"])

    def run() -> str | None:
        in_agent([tool], [native((tool.name, args)), AIMessage(text)])
        return None if len(tool.done) == 1 else f"executed {len(tool.done)} times"

    return Case(f"{tool.effect}: native call, then {text!r}", run)


@attack("B8")
def a_text_quotes_a_tool_or_a_document(rng: Random) -> Case:
    """What the model was shown, repeated word for word."""
    tool = acting(rng)
    text = written(rng, tool.name, arguments(rng, tool))
    about = rng.choice(["{}", "Ticket 7:\n{}\nRegards", "To continue, run\n\n{}", "<p>{}</p>"])
    page = Tool("open_page", {}, effect="read_only", body=lambda _: about.replace("{}", text))

    def run() -> str | None:
        in_agent([tool, page], [native(("open_page", {})), AIMessage(text)])
        return f"executed {shown({'of': tool.done})}" if tool.done else None

    return Case(f"{tool.effect}: a page says {text!r}, the model repeats it", run)


@attack("B8")
def a_text_quotes_the_user(rng: Random) -> Case:
    tool = acting(rng)
    text = written(rng, tool.name, arguments(rng, tool))
    user = rng.choice(
        ["Is this call right? {}", "{}", "What does\n{}\ndo?", "never say {} again", "repeat: {}"]
    ).replace("{}", text)
    in_a_graph = rng.random() < 0.5

    def run() -> str | None:
        if in_a_graph:
            messages = (
                [HumanMessage(user)] if rng.random() < 0.5 else [{"role": "user", "content": user}]
            )
            in_graph([tool], {"raw": text, "messages": messages, "request": user})
        else:
            in_agent([tool], [AIMessage(text)], user=user)
        return f"executed {shown({'of': tool.done})}" if tool.done else None

    return Case(f"{tool.effect}: the user says {user!r}, the model repeats it", run)


@attack("B8")
def a_text_beside_native_calls(rng: Random) -> Case:
    tool = acting(rng)
    other = acting(rng, effect=rng.choice([*ACTING, "read_only"]))
    other.name = f"look_{other.name}"
    text = written(rng, tool.name, arguments(rng, tool))
    called = (other.name, arguments(rng, other))

    def run() -> str | None:
        in_agent([tool, other], [native(called, text=text)])
        return f"executed {shown({'of': tool.done})}" if tool.done else None

    return Case(f"{tool.effect}: beside a native call of {other.name}: {text!r}", run)


@attack("B8")
def a_graph_s_messages_hold_the_call(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    text = written(rng, tool.name, args)
    made = rng.random() < 0.5
    history: list[Any] = [HumanMessage("please")]
    if made:
        history += [native((tool.name, args)), ToolMessage("done", tool_call_id="c0")]
    else:
        history += [native(("open_page", {})), ToolMessage(f"See: {text}", tool_call_id="c0")]

    def run() -> str | None:
        in_graph([tool], {"raw": text, "messages": history})
        return f"executed {shown({'of': tool.done})}" if tool.done else None

    return Case(f"{tool.effect}: {'made' if made else 'quoted'} in messages: {text!r}", run)


@keeps("B8")
def a_new_call_in_text_is_made(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    whom = next(key for key, value in args.items() if isinstance(value, str))
    other = {**args, whom: args[whom] + " II"}
    text = written(rng, tool.name, other)

    def run() -> str | None:
        in_agent([tool], [native((tool.name, args)), AIMessage(text)])
        return None if tool.done == [args, other] else f"executed {shown({'of': tool.done})}"

    return Case(f"{tool.effect}: native {shown(args)}, then {text!r}", run)


# --- B9 ---------------------------------------------------------------------------------------


def cut_inside(rng: Random, text: str, start: int, end: int) -> str:
    """Cut so that the arguments, which reach from start to end, are not closed."""
    return text[: rng.randint(start + 1, end - 1)]


@attack("B9")
def cut_json(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    inner = shown(args)
    text = rng.choice(
        [
            f'{{"name": "{tool.name}", "arguments": {inner}}}',
            f'<tool_call>\n{{"name": "{tool.name}", "arguments": {inner}}}\n</tool_call>',
            f'[{{"name": "{tool.name}", "parameters": {inner}}}]',
            f'{{"tool_calls": [{{"name": "{tool.name}", "args": {inner}}}]}}',
            f'```json\n{{"name": "{tool.name}", "arguments": {inner}}}\n```',
            f"<function={tool.name}>{inner}</function>",
            f"Action: {tool.name}\nAction Input: {inner}",
        ]
    )
    start = text.index(inner)
    cut = cut_inside(rng, text, start, start + len(inner))
    if rng.random() < 0.35:
        cut = text[: start + len(inner) - 1]
    return text_case(rng, tool, cut)


@attack("B9")
def cut_code(rng: Random) -> Case:
    tool = acting(rng)
    text = rng.choice(
        ["{}", "[{}]", "```python\n{}\n```", "<|tool_call_start|>[{}]<|tool_call_end|>"]
    )
    call = code(tool.name, arguments(rng, tool))
    text = text.format(call)
    start = text.index(call) + len(tool.name)
    end = text.index(call) + len(call)
    cut = cut_inside(rng, text, start, end) if rng.random() < 0.6 else text[: end - 1]
    return text_case(rng, tool, cut)


@attack("B9")
def cut_native_arguments(rng: Random) -> Case:
    """A provider's call whose arguments are text, and not closed."""
    tool = acting(rng)
    inner = shown(arguments(rng, tool))
    cut = inner[: rng.randint(1, len(inner) - 1)] if rng.random() < 0.5 else inner[:-1]
    strategies = rng.choice(WHOLE)
    way = rng.choice(["agent", "object", "graph"])

    def run() -> str | None:
        if way == "agent":
            in_agent([tool], [native((tool.name, cut))], strategies=strategies)
        elif way == "graph":
            in_graph([tool], {"call": {"name": tool.name, "arguments": cut}}, strategies=strategies)
        else:
            call = {"type": "function", "function": {"name": tool.name, "arguments": cut}}
            found = repair_call(call, [tool.spec()], strategies=strategies)
            return f"ready to run: {shown(dict(found.ready[0].args))}" if found.ready else None
        return f"executed {shown({'of': tool.done})}" if tool.done else None

    return Case(f"{tool.effect}, {way}, {strategies.rsplit('/')[-1]}: {tool.name} {cut}", run)


@attack("B9")
def cut_nested_arguments(rng: Random) -> Case:
    tool = acting(rng)
    tool.schema["properties"]["lines"] = {"type": "array", "items": {"type": "object"}}
    tool.schema["required"].append("lines")
    args = {k: v for k, v in arguments(rng, tool).items() if k != "lines"}
    args["lines"] = [{"sku": rng.choice(WORDS), "qty": n} for n in range(rng.randint(1, 3))]
    inner = shown(args)
    missing = rng.randint(1, 3)
    text = f'{{"name": "{tool.name}", "arguments": {inner[:-missing]}' + rng.choice(["", "}", "\n"])
    return text_case(rng, tool, text if text.count("}") < inner.count("}") else text[:-1])


@attack("B9")
def cut_tags(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    form = rng.choice(["qwen3 coder", "minimax m2", "claude xml", "glm 4.5", "seed oss"])
    text = MODELS[form]([Written(tool.name, args)])
    last = str(list(args.values())[-1])
    at = text.rindex(last)
    # In the middle of a value, or before the tag that ends it.
    return text_case(rng, tool, text[: at + rng.randint(max(0, len(last) - 2), len(last))])


@keeps("B9")
def closers_outside_closed_arguments(rng: Random) -> Case:
    """Inferred: so not under a map that allows exact changes alone, nor on what destroys."""
    tool = acting(rng, effect=rng.choice(["mutating", None]))
    if destroys(tool.spec()):  # undeclared, its name says so
        tool.effect = "mutating"
    inner = shown(arguments(rng, tool))
    text = rng.choice(
        [
            f'{{"name": "{tool.name}", "arguments": {inner}',
            f'<tool_call>\n{{"name": "{tool.name}", "arguments": {inner}}}',
            f'[{{"name": "{tool.name}", "parameters": {inner}}}',
        ]
    )
    return text_case(rng, tool, text, runs=True, strategies="default")


# --- B10 --------------------------------------------------------------------------------------

OFFERED = [
    ("get", "weather"),
    ("create", "invoice"),
    ("delete", "order"),
    ("transfer", "money"),
    ("list", "flights"),
    ("send", "email"),
    ("update", "customer"),
    ("close", "ticket"),
    ("upload", "report"),
    ("start", "server"),
]
OPPOSITES = {
    "get": ["set", "remove", "reset"],
    "create": ["void", "archive", "approve"],
    "delete": ["restore", "duplicate", "insert"],
    "transfer": ["withhold", "request", "refund"],
    "list": ["cancel", "book", "purge"],
    "send": ["unsend", "recall", "draft"],
    "update": ["erase", "merge", "export"],
    "close": ["reopen", "escalate", "assign"],
    "upload": ["download", "shred", "sign"],
    "start": ["terminate", "reboot", "snapshot"],
}
STYLES = [
    "_".join,
    lambda words: words[0] + "".join(w.title() for w in words[1:]),
    "-".join,
    lambda words: ".".join(reversed(words)),
    lambda words: "".join(w.title() for w in words),
]


def unfit(rng: Random, make: Any) -> Case:
    """A call of something that is not on offer, with arguments that would fit what is."""
    chosen = rng.sample(OFFERED, rng.randint(1, 5))
    effects = ["read_only", *ACTING]
    tools = [
        Tool("_".join(words), {"id": {"type": "string"}}, effect=rng.choice(effects))
        for words in chosen
    ]
    verb, thing = chosen[0]
    words = make(verb, thing)
    name = rng.choice(STYLES)(words)
    args = rng.choice([{"id": "A-77"}, {"id": "A-77"}, {}, {"ID": "A-77"}, {"item_id": "A-77"}])
    strategies = rng.choice(DEPLOYED)
    way = rng.choice(["repair_call", "graph", "text"])

    def run() -> str | None:
        if way == "graph":
            in_graph(tools, {"call": {"name": name, "args": args}}, strategies=strategies)
            done = [tool.name for tool in tools if tool.done]
            return f"executed {done}" if done else None
        given: Any = {"name": name, "args": args} if way == "repair_call" else code(name, args)
        found = repair_call(given, [tool.spec() for tool in tools], strategies=strategies)
        return f"became {found.ready[0].name}" if found.ready else None

    offered = [tool.name for tool in tools]
    return Case(f"{way}, {strategies.rsplit('/')[-1]}: {name}({shown(args)}) of {offered}", run)


@attack("B10")
def another_verb(rng: Random) -> Case:
    return unfit(rng, lambda verb, thing: (rng.choice(OPPOSITES[verb]), thing))


@attack("B10")
def another_thing(rng: Random) -> Case:
    things = ["passport", "mortgage", "vaccine", "galaxy", "prescription", "lawsuit", "playlist"]
    return unfit(rng, lambda verb, _: (verb, rng.choice(things)))


@attack("B10")
def a_further_word(rng: Random) -> Case:
    more = [
        "everything",
        "permanently",
        "later",
        "anonymously",
        "history",
        "template",
        "preview",
        "backup",
    ]
    return unfit(rng, lambda verb, thing: (verb, thing, rng.choice(more)))


@attack("B10")
def something_else_altogether(rng: Random) -> Case:
    others = [
        ("play", "music"),
        ("translate", "text"),
        ("solve", "equation"),
        ("run", "python"),
        ("final", "answer"),
        ("ask", "user"),
        ("überweise", "geld"),
        ("supprimer", "commande"),
        ("eliminar", "pedido"),
        ("no", "tool"),
        ("none", "available"),
        ("think", "aloud"),
    ]
    return unfit(rng, lambda *_: rng.choice(others))


NEAR = [
    ("set", "get"), ("unlock", "lock"), ("unmute", "mute"), ("detach", "attach"),
    ("export", "import"), ("decrease", "increase"), ("debit", "credit"), ("disable", "enable"),
    ("remove", "move"), ("unsubscribe", "subscribe"), ("unload", "load"), ("decrypt", "encrypt"),
    ("resend", "rescind"), ("undelete", "delete"), ("check_out", "check_in"), ("demote", "promote"),
    ("deactivate", "activate"), ("reinstall", "uninstall"), ("upvote", "downvote"), ("sell", "buy"),
]  # fmt: skip


@attack("B10")
def the_opposite_one_syllable_away(rng: Random) -> Case:
    offered, asked = rng.sample(rng.choice(NEAR), 2)
    thing = rng.choice(["alarm", "door", "account", "channel", "data", "disk", "price"])
    tool = Tool(
        f"{offered}_{thing}", {"id": {"type": "string"}}, effect=rng.choice(["read_only", *ACTING])
    )
    name = rng.choice(STYLES)((asked, thing))
    strategies = rng.choice(DEPLOYED)

    def run() -> str | None:
        in_graph([tool], {"call": {"name": name, "args": {"id": "A-77"}}}, strategies=strategies)
        return f"executed {tool.name}" if tool.done else None

    return Case(f"{tool.effect}, {strategies.rsplit('/')[-1]}: {name} of [{tool.name}]", run)


@keeps("B10")
def the_same_name_spelled_differently(rng: Random) -> Case:
    tool = Tool(
        "send_email", {"id": {"type": "string"}}, effect=rng.choice(["read_only", "mutating"])
    )
    name = rng.choice(["sendEmail", "SendEmail", "send-email", "SEND_EMAIL", "send email"])

    def run() -> str | None:
        in_graph([tool], {"call": {"name": name, "args": {"id": "A-77"}}})
        return None if tool.done == [{"id": "A-77"}] else f"executed {shown({'of': tool.done})}"

    return Case(name, run)
