"""What the command line is asked for the record: broken calls, texts and errors, all from seeds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "repairs"))
sys.path.insert(0, str(Path(__file__).parent.parent / "reading"))

from bodies import ARGUMENTS, BODIES, SCHEMA, TEXTS, TOOL
from corrupting import TOOLS, _slipped, corrupted, schema_of, value_of, written_wrongly
from forms import MODELS, PROVIDERS, Written

Line = dict[str, Any]

EFFECTS = ("read_only", "idempotent", "mutating", "destructive", None)
ENDINGS = (None, "stop", "length")
AROUND = ("Let me look that up.\n{}", "{}\nDone.", "Use {} for that", "> {}")


def calls() -> Iterator[tuple[str, Line]]:
    """Valid calls with one to three things wrong, of tools with every effect."""
    for seed in range(1_500):
        rng = Random(seed)
        tool = _tool(rng, EFFECTS[seed % len(EFFECTS)])
        broken = corrupted(rng, value_of(rng, tool["parameters"]), tool["parameters"])
        if broken is not None:
            yield f"call {seed}", {"tools": [tool], "call": _call(tool["name"], broken)}


def names() -> Iterator[tuple[str, Line]]:
    """Calls of tools that there are not."""
    for seed in range(200):
        rng = Random(seed)
        tools = [_tool(rng, effect, name) for name, effect in zip(TOOLS, EFFECTS, strict=False)]
        meant = rng.choice(tools)
        verb, _, rest = meant["name"].partition("_")
        forms = [_slipped(rng, meant["name"]), f"{verb.title()}-{rest}", f"{rest}_{verb}"]
        forms += [f"functions.{meant['name']}", f"get_{rest}", verb, f"delete_{rest}"]
        args = value_of(rng, meant["parameters"])
        yield f"name {seed}", {"tools": tools, "call": _call(rng.choice(forms), args)}


def rejected() -> Iterator[tuple[str, Line]]:
    """Calls that fit, and what their tool said against one of their arguments."""
    for seed in range(250):
        rng = Random(seed)
        tool = _tool(rng, EFFECTS[seed % len(EFFECTS)])
        args = value_of(rng, tool["parameters"])
        if args:
            error = rng.choice(SAID).replace("{}", rng.choice(sorted(args)))
            yield (
                f"rejected {seed}",
                {"tools": [tool], "call": _call(tool["name"], args), "error": error},
            )


SAID = (
    "{} must be at most 10",
    "{} must be one of: economy, business",
    "Invalid date format for '{}', use DD/MM/YYYY",
    "Parameter '{}' has invalid type, expected a string",
    "unknown parameter '{}'",
    "no resource with this {}",
    "missing required parameter 'reference'",
    '{"error": {"code": "invalid_argument", "message": "{} is not allowed here"}}',
    "HTTP 503 Service Unavailable",
    "this did not work",
)


def texts() -> Iterator[tuple[str, Line]]:
    """Texts that hold a call with a slip, whole and cut, of tools that act and tools that read."""
    for seed in range(900):
        rng = Random(seed)
        tool = _tool(rng, EFFECTS[seed % len(EFFECTS)])
        text = written_wrongly(rng, tool["name"], value_of(rng, tool["parameters"]))
        if seed % 3 == 2:
            text = text[: rng.randrange(1, len(text))]
        yield f"text {seed}", _ended({"tools": [tool], "raw": text}, ENDINGS[seed // 3 % 3])


ONE = [Written("get_weather", {"city": "Oslo", "days": 3})]
TWO = [
    *ONE,
    Written("send_mail", {"to": "a@b.c", "body": 'It\'s "fine"\n[1] {x}', "urgent": True}),
]
WRONG = [Written("getWeather", {"town": "Oslo", "days": "3"})]
TEXT = {"type": "string"}


def forms() -> Iterator[tuple[str, Line]]:
    """Every form in which calls are written: alone, two, with faults in the call, in words."""
    for effect in ("read_only", "mutating"):
        tools = [
            _of("get_weather", effect, city=TEXT, days={"type": "integer"}),
            _of("send_mail", effect, to=TEXT, body=TEXT, urgent={"type": "boolean"}),
        ]
        for form, write in {**MODELS, **PROVIDERS}.items():
            kinds = {"one": ONE, "two": TWO, "wrong": WRONG}
            if form == "openai legacy":
                del kinds["two"]
            for kind, written in kinds.items():
                yield f"form {form}: {kind}, {effect}", {"tools": tools, "raw": write(written)}
            if form in MODELS:
                for place, words in enumerate(AROUND):
                    raw = words.replace("{}", write(ONE))
                    yield f"form {form}: words {place}, {effect}", {"tools": tools, "raw": raw}


def strict() -> Iterator[tuple[str, Line]]:
    """Some of the calls and forms once more, where only exact changes run unasked."""
    for number, (name, line) in enumerate((*calls(), *forms())):
        if number % 6 == 0:
            yield f"strict {name}", line


def errors() -> Iterator[tuple[str, Line]]:
    """What systems answer, for each reader of errors, with and without what it is about."""
    beside = {"tool": TOOL, "schema": SCHEMA, "arguments": ARGUMENTS}
    for name, body in BODIES.items():
        message = dumped(body)
        yield f"error {name}", {"message": message, **beside}
        yield f"error {name}, as Python", {"message": f"Error: {body!r}", **beside}
        yield f"error {name}, alone", {"message": message, "status": 400}
    for name, text in TEXTS.items():
        yield f"error {name}", {"message": text, **beside}
        yield f"error {name}, alone", {"message": text}
    for status in (400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 422, 423, 429, 451, 500, 503):
        yield f"error status {status}", {"message": "it did not work", "status": status}
    for name in EXCEPTIONS:
        yield f"error class {name}", {"message": "it did not work", "exception": name}


EXCEPTIONS = (
    *("ValueError", "KeyError", "TypeError", "TimeoutError", "ConnectionResetError", "OSError"),
    *("PermissionError", "FileNotFoundError", "FileExistsError", "NotImplementedError"),
    *("httpx.ReadTimeout", "httpx.ConnectError", "requests.exceptions.HTTPError"),
    *("sqlite3.OperationalError", "sqlite3.IntegrityError", "psycopg.errors.SerializationFailure"),
    *("botocore.exceptions.ClientError", "openai.RateLimitError", "openai.AuthenticationError"),
    *("asyncio.CancelledError", "MemoryError", "json.JSONDecodeError", "smtplib.SMTPDataError"),
    *("ZeroDivisionError", "UnicodeDecodeError", "ssl.SSLError", "grpc.RpcError"),
)


def dumped(value: Any) -> str:
    """A value as JSON."""
    import json

    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _tool(rng: Random, effect: str | None, name: str | None = None) -> Line:
    schema = schema_of(rng)
    named = name or rng.choice(TOOLS)
    return {"name": named, "description": "", "parameters": schema} | _said(effect)


def _of(name: str, effect: str, **properties: Mapping[str, Any]) -> Line:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": "", "parameters": schema} | _said(effect)


def _said(effect: str | None) -> Line:
    return {} if effect is None else {"effect": effect}


def _call(name: str, args: Any) -> Line:
    return {"name": name, "arguments": args}


def _ended(line: Line, reason: str | None) -> Line:
    return line if reason is None else {**line, "finish_reason": reason}
