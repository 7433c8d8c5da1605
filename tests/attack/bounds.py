"""D15: everything ends, soon, and says little."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from attack.core import Case, TooLong, attack, keeps, within
from attack.hosts import ACTING, HOSTS, Tool, in_graph, play
from attack.inventing import acting, arguments, own_class, tool_name

from selfcorrect import repair_call

LONG = 12.0
BLOCKED = 30.0
NOTICEABLE = 1.0
REPORT = 1_000_000


def growth(work: Callable[[int], Any], small: int = 8_000, large: int = 128_000) -> str | None:
    """What takes notably longer per character of a long text than of a short one."""

    def seconds(size: int) -> float:
        started = time.process_time()
        work(size)
        return time.process_time() - started

    first = min(seconds(small), seconds(small))
    try:
        with within(LONG, of_work=True):
            middle = seconds(large // 4)
            last = seconds(large) if middle < LONG / 4 else middle * 4
    except TooLong:
        return f"{small} characters: {first:.3f} s; {large}: not within {LONG:g} s"
    fair = 3 * large / small * max(first, 0.005)
    if last > NOTICEABLE and last > fair:
        return f"{small} characters: {first:.3f} s; {large}: {last:.2f} s"
    return None


PIECES = [
    "“{", "/*{", '{"', "[", "(", "'", '"', "<tool_call>", "</tool_call>", "pay(", '{"a":', "\\", '"""',
    "<!--", "```json\n", "```", "<think>", "</think>", '{"name": "pay", "arguments": {', "}{", "{{",
    "Action: pay\n", "Action Input: {", '<invoke name="pay">', "#{", "//{", 'f"{', "&quot;", "pay(to=",
    ",", "|", "$", " ", "\n", "„", "«{", "\u2028", "<function=pay>", "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>",
    "functools[", "<parameter=to>", "a=", "-", "0", "1e", "\\u", "tru", "nul", "}", "]", ")", ">", "<", "=",
    "'''", "r'", 'b"', "lambda:", "if ", "not ", "*", "_", "ﬁ", "\u200b", "é",
]  # fmt: skip


def unit(rng: Random) -> str:
    return "".join(rng.choices(PIECES, k=rng.randint(1, 4)))


def filled(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


@attack("D15")
def a_long_text_is_read(rng: Random) -> Case:
    tool = Tool("pay", {"to": {"type": "string"}}, effect=rng.choice([*ACTING, "read_only"]))
    piece = rng.choice([unit(rng), unit(rng), "“{", "/*{", "“{“", "/*{/*{"])
    head = rng.choice(
        ["", "", '{"name": "pay", "arguments": {"to": "', "<tool_call>", "pay(", "<think>"]
    )
    tail = rng.choice(["", "", "}", '"}}', "</tool_call>", ")"])
    spec = tool.spec()
    text = f"repair_call of {head!r} + {piece!r} … + {tail!r}"
    return Case(text, lambda: growth(lambda n: repair_call(head + filled(piece, n) + tail, [spec])))


WORDED = [
    "retry after ", "must be one of: 'a', ", "did you mean ", "to: ", "'to' ", '{"loc": ["to"], "msg": "x"}, ',
    "1 validation error for pay\nto\n  x ", "HTTP 429 ", "at line 3, column ", "expected ", "2026-10-26 ",
    "Caused by: ", "password=", "Bearer ", "https://a:b@c ", 'File "x.py", line 3\n', "seconds ", "<a>", "&amp;",
]  # fmt: skip


@attack("D15")
def a_long_error_is_read(rng: Random) -> Case:
    piece = rng.choice(WORDED) if rng.random() < 0.7 else unit(rng)
    kind = rng.choice([ValueError, RuntimeError, LookupError])
    effect = rng.choice(["read_only", *ACTING])

    def work(size: int) -> None:
        def body(_: dict[str, Any]) -> Any:
            raise kind(filled(piece, size))

        tool = Tool("pay", {"to": {"type": "string"}}, effect=effect, body=body)
        in_graph([tool], {"call": {"name": "pay", "args": {"to": "ann"}}})

    return Case(f"{effect}: {kind.__name__}({piece!r} …)", lambda: growth(work))


PATTERNS = [
    ("^(a+)+$", "a"), ("^(a|a)*$", "a"), ("^(a|aa)+$", "a"), (r"^(\w+\s?)*$", "a"), ("(x+x+)+y", "x"),
    ("^([a-z]+)*$", "b"), (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a"), (r"^(\d+)*$", "1"), (r"^(a*)*b$", "a"),
    (r"(a*)*\1c", "a"), (r"^(?=(a+)+$)b", "a"), (r"^(?:(?:a|b)+)+$", "a"), (r"^(.*)*x$", "z"),
    (r"^([\w.]+)+@x$", "w"), (r"^(?!(a+)+b)c", "a"), (r"(?<=x)(a+)+$", "a"), (r"^(a?){30}a{30}$", "a"),
    (r"^(\s*\w+\s*,?)+$", "a"), (r"^((a+)|(b+))+$", "a"),
]  # fmt: skip


@attack("D15")
def a_pattern_that_backtracks(rng: Random) -> Case:
    """It ends within seconds, wherever the pattern stands; what then decides is not judged."""
    pattern, letter = rng.choice(PATTERNS)
    value = letter * rng.randint(30, 5_000) + rng.choice(["!", "\n!", "Ω", "!" * 3])
    place = rng.choice(["property", "items", "keys", "names", "nested"])
    text: dict[str, Any] = {"type": "string", "pattern": pattern}
    properties: dict[str, Any] = {
        "property": {"to": text},
        "items": {"to": {"type": "array", "items": text}},
        "keys": {"to": {"type": "object", "patternProperties": {pattern: {"type": "integer"}}}},
        "names": {"to": {"type": "object", "propertyNames": {"pattern": pattern}}},
        "nested": {
            "to": {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"x": text}}]}
        },
    }[place]
    given: Any = {"property": value, "items": [value] * 2, "nested": {"x": value}}.get(
        place, {value: 1}
    )
    tool = Tool(tool_name(rng), properties, effect=rng.choice(["read_only", *ACTING]))
    host = rng.choice(HOSTS)

    def run() -> str | None:
        started = time.process_time()
        try:
            with within(LONG, of_work=True):
                play(host, [tool], tool.name, {"to": given})
        except TooLong:
            return f"not within {LONG:g} s"
        taken = time.process_time() - started
        return f"took {taken:.1f} s" if taken > 8 else None

    return Case(f"{host}: {pattern} at {place} on {len(value)} × {letter!r}", run)


@attack("D15")
def arguments_of_megabytes(rng: Random) -> Case:
    """The bound is 1 MB: what is well above does not reach the tool, and the report says so."""
    size = rng.randint(1_500_000, 4_000_000)
    shape = rng.choice(["text", "list", "deep list", "keys", "numbers", "unicode"])
    value: Any = {
        "text": lambda: "x" * size,
        "unicode": lambda: "東" * size,
        "list": lambda: ["lamp"] * (size // 6),
        "deep list": lambda: [[["a" * 1_000]] * 10] * (size // 10_000),
        "keys": lambda: {f"key{n}": "v" for n in range(size // 16)},
        "numbers": lambda: list(range(10**7, 10**7 + size // 9)),
    }[shape]
    schema: dict[str, Any] = {"to": {"type": ["string", "array", "object"]}}
    tool = Tool(tool_name(rng), schema, effect=rng.choice(["read_only", *ACTING]))
    host = rng.choice(["graph", "async graph"])

    def run() -> str | None:
        out = play(host, [tool], tool.name, {"to": value()})
        if tool.done:
            return "executed"
        shown = len(json.dumps(out["failure"]))
        return f"the report has {shown} characters" if shown > REPORT else None

    return Case(f"{host}, {tool.effect}: {size} of {shape}", run)


COUNTED: list[int] = []
COUNTING = """
from attack.bounds import COUNTED
from selfcorrect import GiveUp, strategy

@strategy("counting")
def counting(call, diagnosis, context):
    COUNTED.append(1)
    return GiveUp("not mine")
"""


@attack("D15")
def thousands_of_findings(rng: Random) -> Case:
    size = rng.choice([3_000, 6_000, 12_000])
    item: Any = rng.choice(["x", None, {"a": 1}, "3 May", "five", [], "1,5"])
    properties = {
        "lines": {"type": "array", "items": {"type": rng.choice(["integer", "boolean", "number"])}}
    }
    tool = Tool(tool_name(rng), properties, effect=rng.choice(["read_only", *ACTING]))
    are_keys = rng.random() < 0.4

    def run() -> str | None:
        args: Any = {"lines": [item] * size}
        if are_keys:
            args = {"lines": [], **{f"extra{n}": item for n in range(size)}}
        started = time.process_time()
        try:
            with within(LONG, of_work=True):
                out = in_graph([tool], {"call": {"name": tool.name, "args": args}})
        except TooLong:
            return f"not within {LONG:g} s"
        taken, shown = time.process_time() - started, len(json.dumps(out.get("failure")))
        if taken > 10:
            return f"took {taken:.1f} s"
        return f"the report has {shown} characters" if shown > REPORT else None

    return Case(
        f"{tool.effect}: {size} × {item!r} keys={are_keys} for {properties['lines']['items']}", run
    )


@attack("D15")
def thousands_of_calls_of_a_strategy(rng: Random) -> Case:
    """A strategy is not called for each of thousands of findings in one round."""
    size = rng.choice([2_000, 3_000, 4_000])
    properties = {f"field{n}": {"type": "integer"} for n in range(size)}
    tool = Tool(tool_name(rng), properties, effect=rng.choice(["read_only", *ACTING]))
    codes = '["type", "additionalProperties"]'

    def run() -> str | None:
        COUNTED.clear()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "counting_it.py").write_text(COUNTING)
            path = Path(folder, "own.toml")
            path.write_text(
                'format = 1\nextends = ["default"]\n[use]\ncounting = "./counting_it.py:counting"\n'
                f'[[rule]]\nid = "c"\nerror = "InvalidArgs"\ncode = {codes}\nkind = "validation"\n'
                'category = "wrong_type"\nrepair = ["counting"]\npriority = "critical"\n'
                'example = "InvalidArgs: x"\n'
            )
            args = dict.fromkeys(properties, "x")
            try:
                with within(LONG, of_work=True):
                    call = {"name": tool.name, "args": args}
                    in_graph([tool], {"call": call}, strategies=str(path))
            except TooLong:
                return f"not within {LONG:g} s, called {len(COUNTED)} times"
        return f"called {len(COUNTED)} times" if len(COUNTED) >= size else None

    return Case(f"{size} findings, one strategy", run)


class Blocks:
    """Whatever is asked of it takes more than a minute."""

    def __str__(self) -> str:
        threading.Event().wait(90)
        return "late"

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        threading.Event().wait(90)
        return None


def endless() -> Iterator[Any]:
    while True:
        yield {"loc": ["to"], "msg": "again"}


def hostile(rng: Random) -> tuple[str, type[Exception]]:
    """An exception whose text or properties do harm."""

    def blocks(*_: Any) -> Any:
        threading.Event().wait(90)
        return ""

    def deep(*_: Any) -> Any:
        return deep()

    raised: Any = rng.choice(
        [RuntimeError, KeyboardInterrupt, SystemExit, MemoryError, RecursionError, GeneratorExit]
    )

    def raises(*_: Any) -> Any:
        raise raised("from the text of an error")

    def wrong(*_: Any) -> Any:
        return 7

    def huge(*_: Any) -> Any:
        return "x" * 30_000_000

    doing: Any = rng.choice([blocks, raises, deep, wrong, huge])
    where = rng.choice(
        [
            "__str__",
            "__str__",
            "__repr__",
            "status_code",
            "response",
            "errors",
            "code",
            "body",
            "headers",
            "message",
            "__getattr__",
        ]
    )
    if where in ("__str__", "__repr__"):
        own: dict[str, Any] = {where: doing}
    elif where == "__getattr__":
        own = {where: lambda self, name: doing(self)}
    elif where == "errors":
        own = {where: rng.choice([doing, lambda *_: endless()])}
    else:
        own = {where: property(doing)}
        if where == "response" and rng.random() < 0.5:
            own = {"response": Blocks()}
    name = getattr(doing, "__name__", "?")
    return f"{where} {name} {raised.__name__}", own_class(
        rng, rng.choice([Exception, ValueError]), **own
    )


@attack("D15")
def an_error_that_is_hostile(rng: Random) -> Case:
    tool = acting(rng, effect=rng.choice(["read_only", *ACTING]))
    args = arguments(rng, tool)
    text, kind = hostile(rng)
    host = rng.choice(["graph", "async graph", "tool node"])
    if text.startswith("__getattr__ blocks"):
        host = "graph"  # LangGraph's ToolNode itself asks an exception for an attribute, unbounded

    def body(_: dict[str, Any]) -> Any:
        raise kind("no")

    tool.body = body

    def run() -> str | None:
        try:
            with within(BLOCKED):
                out = play(host, [tool], tool.name, args)
        except TooLong:
            return f"not within {BLOCKED:g} s"
        except (KeyboardInterrupt, SystemExit, GeneratorExit) as error:
            return f"{type(error).__name__} of an error's text came out"
        if tool.effect != "read_only" and len(tool.done) > 1:
            return f"executed {len(tool.done)} times"
        if host != "tool node" and not out.get("failure"):
            return "no report"
        shown = len(json.dumps(out["failure"])) if host != "tool node" else len(out[-1].text)
        return f"{shown} characters of report" if shown > REPORT else None

    return Case(f"{tool.effect}, {host}: {text}", run)


@attack("D15")
def a_report_of_something_large(rng: Random) -> Case:  # noqa: C901
    size = rng.choice([1_000_000, 5_000_000])
    shape = rng.choice(["text", "causes", "groups", "notes", "args", "body"])
    tool = acting(rng, effect=rng.choice(["read_only", *ACTING]))
    args = arguments(rng, tool)

    def body(_: dict[str, Any]) -> Any:
        if shape == "text":
            raise ValueError("x" * size)
        if shape == "groups":
            raise ExceptionGroup("many", [ValueError("y" * 1_000) for _ in range(size // 1_000)])
        if shape == "args":
            raise ValueError(*["z" * 100] * (size // 100))
        if shape == "body":
            raise own_class(
                rng, body={"errors": [{"loc": ["to"], "msg": "w" * 500}] * (size // 500)}
            )("no")
        error: BaseException = ValueError("first")
        if shape == "notes":
            for _ in range(size // 1_000):
                error.add_note("n" * 1_000)
            raise error
        for _ in range(900):
            outer = ValueError("c" * (size // 900))
            outer.__cause__, error = error, outer
        raise error

    tool.body = body

    def run() -> str | None:
        try:
            with within(LONG, of_work=True):
                out = in_graph([tool], {"call": {"name": tool.name, "args": args}})
        except TooLong:
            return f"not within {LONG:g} s"
        shown = len(json.dumps(out["failure"], default=str)) + len(
            json.dumps(out["trail"], default=str)
        )
        return f"{shown} characters of report and trail" if shown > REPORT else None

    return Case(f"{tool.effect}: {size} in {shape}", run)


@keeps("D15")
def arguments_of_some_size(rng: Random) -> Case:
    size = rng.randint(10_000, 300_000)
    tool = Tool(
        tool_name(rng), {"to": {"type": "string"}}, effect=rng.choice(["read_only", "mutating"])
    )
    host = rng.choice(HOSTS)

    def run() -> str | None:
        play(host, [tool], tool.name, {"to": "x" * size})
        return None if len(tool.done) == 1 else f"executed {len(tool.done)} times"

    return Case(f"{host}: {size} characters", run)


@keeps("D15")
def a_pattern_that_is_harmless(rng: Random) -> Case:
    schema = {"to": {"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}}
    tool = Tool(tool_name(rng), schema, effect="mutating")
    good, bad = f"DE-{rng.randint(1, 99)}", f"D-{rng.randint(1, 99)}"

    def run() -> str | None:
        for value in (bad, good):
            in_graph([tool], {"call": {"name": tool.name, "args": {"to": value}}})
        return None if tool.done == [{"to": good}] else f"executed {tool.done}"

    return Case(f"{bad}, {good} for {schema}", run)
