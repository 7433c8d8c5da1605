"""D16 and D17: what is said of secrets, and whose code runs."""

# ruff: noqa: E501 -- a table is read best with one case a line

from __future__ import annotations

import html
import json
import string
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from attack.core import Case, attack, keeps
from attack.hosts import ACTING, Log, Tool, in_agent, in_graph, native, told
from attack.inventing import own_class, tool_name

from selfcorrect.testing import ScriptedModel

LETTERS = string.ascii_letters


def secret_of(rng: Random, *, letters_only: bool = False) -> str:
    if letters_only:
        return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(10, 18)))
    return "".join(rng.choices(LETTERS + string.digits, k=rng.randint(14, 32))) + "7aQ"


def known(rng: Random) -> str:
    """A secret that anybody recognises by its form."""
    body = "".join(rng.choices(LETTERS + string.digits, k=36))
    return str(
        rng.choice(
            [
                f"ghp_{body}",
                f"sk-proj-{body}",
                f"sk_live_{body[:24]}",
                f"AKIA{''.join(rng.choices(string.ascii_uppercase + '234567', k=16))}",
                f"xoxb-123456789012-123456789012-{body[:24]}",
                f"glpat-{body[:20]}",
                f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{body}",
            ]
        )
    )


DAILY = [
    "Cookie: session={s}",
    "cookie: theme=dark; sid={s}; lang=en",
    "Set-Cookie: auth={s}; HttpOnly; Path=/",
    "Authorization: Bearer {s}",
    "Authorization: Basic {s}",
    "authorization: Token {s}",
    "Authorization: Digest {s}",
    "Authorization: ApiKey {s}",
    "Authorization: {s}",
    "Proxy-Authorization: Basic {s}",
    "'Authorization': 'GenieKey {s}'",
    "X-Api-Key: {s}",
    "X-Auth-Token: {s}",
    "mysql --user root --password {s} --host db",
    "psql --password={s}",
    "cmd --api-key {s}",
    "cmd --token={s} --verbose",
    "curl -u ann:{s} https://api.example/v1",
    "curl --user ann:{s} https://api.example/v1",
    "curl -uann:{s} https://x.example",
    "<password>{s}</password>",
    "<wsse:Password Type='PasswordText'>{s}</wsse:Password>",
    "<apiKey>{s}</apiKey>",
    "{{&quot;password&quot;: &quot;{s}&quot;}}",
    "password&quot;:&quot;{s}&quot;",
    "password%3D{s}",
    "token%3D{s}%26x%3D1",
    "?api_key={s}&page=2",
    '{{"name": "password", "value": "{s}"}}',
    '{{"key": "DB_PASSWORD", "value": "{s}"}}',
    '[{{"Name": "token", "Value": "{s}"}}]',
    '{{"value": "{s}", "name": "client_secret"}}',
    "https://b.s3.amazonaws.com/x?X-Amz-Signature={s}&X-Amz-Date=1",
    "https://acc.blob.core.windows.net/c/b?sv=2024&sig={s}",
    "https://storage.googleapis.com/b/o?GoogleAccessId=a&Signature={s}",
    "https://hooks.slack.com/services/T00000000/B00000000/{s}",
    "https://discord.com/api/webhooks/123456789012345678/{s}",
    "postgres://ann:{s}@db.example:5432/app",
    "redis://:{s}@cache:6379/0",
    "DB_PASSWORD={s}",
    "export SECRET_KEY='{s}'",
    "password: {s}",
    "passwd={s}",
    "pwd={s};",
    '"client_secret": "{s}"',
    "'access_token': '{s}'",
    "refresh_token={s}",
    'private_key = "{s}"',
    "passphrase: {s}",
    "AWS_SECRET_ACCESS_KEY={s}",
    "AccountKey={s};EndpointSuffix=core.windows.net",
    "Server=db;Uid=ann;Pwd={s};",
    "apikey={s}",
    '\\"password\\": \\"{s}\\"',
]


def everything_shown(tool: Tool, args: dict[str, Any], where: str) -> str:
    """What a prompt, a log, a report and the agent's model read; not the call's own arguments."""
    model = ScriptedModel([dict.fromkeys(args, "other")] * 12)
    with Log() as log:
        if where == "agent":
            script = [native((tool.name, args))]
            messages, talker = in_agent([tool], script, model=model)
            shown = told(messages)
            shown += str([m.content for prompt in talker.prompts for m in prompt if m.type != "ai"])
        else:
            out = in_graph([tool], {"call": {"name": tool.name, "args": args}}, model=model)
            shown = json.dumps([out.get("failure"), out.get("trail")], ensure_ascii=False)
    return shown + str([[m.content for m in prompt] for prompt in model.prompts]) + log.text


def leak_case(rng: Random, text: str, secret: str, **attributes: Any) -> Case:
    """A tool fails with a text; the secret in it is shown nowhere."""
    effect = rng.choice(["read_only", *ACTING])
    where = rng.choice(["graph", "agent"])
    kind = rng.choice([RuntimeError, ValueError, LookupError, own_class(rng, **attributes)])
    if attributes:
        kind = own_class(rng, **attributes)

    def body(_: dict[str, Any]) -> Any:
        raise kind(text)

    tool = Tool(tool_name(rng), {"to": {"type": "string"}}, effect=effect, body=body)

    def run() -> str | None:
        shown = everything_shown(tool, {"to": "ann"}, where)
        if secret not in shown:
            return None
        at = shown.index(secret)
        return f"shown: …{shown[max(0, at - 60) : at + len(secret) + 10]}…"

    return Case(f"{effect}, {where}: {text!r} {attributes}", run)


SURROUND = [
    "{}",
    "{}",
    "failed: {}",
    "request was: {} (sent)",
    "line 1\n{}\nline 3",
    "could not connect with {} today",
]


@attack("D16")
def announced_in_what_people_meet_daily(rng: Random) -> Case:
    secret = secret_of(rng)
    text = rng.choice(DAILY).format(s=secret)
    return leak_case(rng, rng.choice(SURROUND).replace("{}", text), secret)


@attack("D16")
def letters_alone_behind_a_sign(rng: Random) -> Case:
    """Behind `:`, `=`, a JSON key or an option, a word is a secret, too."""
    secret = secret_of(rng, letters_only=True)
    form = rng.choice(
        [
            "password: {s}", "password={s}", '{{"password": "{s}"}}', "--password {s}", "PASSWORD={s}",
            "token={s}", '"api_key": "{s}"', "secret: {s}", "--token {s}", "pwd={s}", "passwd: {s}",
            "client_secret={s}", "{{'passphrase': '{s}'}}", "DB_PASSWORD={s}", "--api-key {s}",
        ]
    )  # fmt: skip
    return leak_case(rng, rng.choice(SURROUND).replace("{}", form.format(s=secret)), secret)


@attack("D16")
def json_in_json_in_json(rng: Random) -> Case:
    secret = secret_of(rng)
    key = rng.choice(
        ["password", "token", "api_key", "client_secret", "Authorization", "secret", "Cookie"]
    )
    value: Any = rng.choice(
        [{key: secret}, {"auth": {key: secret}}, {"headers": [{"name": key, "value": secret}]}]
    )
    for _ in range(rng.randint(1, 3)):
        value = json.dumps(value if rng.random() < 0.4 else {"body": value})
    text = value if isinstance(value, str) else json.dumps(value)
    in_attribute = rng.random() < 0.3
    attributes = {"body": {"message": text}, "status_code": 500} if in_attribute else {}
    return leak_case(rng, rng.choice(SURROUND).replace("{}", text), secret, **attributes)


@attack("D16")
def encoded_once(rng: Random) -> Case:
    secret = secret_of(rng)
    text = rng.choice(
        [
            f'{{"password": "{secret}"}}',
            f"password={secret}",
            f"token: {secret}",
            f"<password>{secret}</password>",
        ]
    )
    way = rng.choice([html.escape, quote, json.dumps, repr])
    return leak_case(rng, rng.choice(SURROUND).replace("{}", way(text)), secret)


@attack("D16")
def a_secret_as_a_key(rng: Random) -> Case:
    """As a key of an error's body, and as the name of an argument."""
    secret = known(rng)
    if rng.random() < 0.5:
        body = rng.choice(
            [
                {secret: "unknown"},
                {"errors": {secret: ["is not allowed"]}},
                {"keys": {"a": {secret: 1}}},
            ]
        )
        attributes = rng.choice([{}, {"body": body, "status_code": 422}])
        return leak_case(rng, json.dumps(body), secret, **attributes)
    tool = Tool(
        tool_name(rng), {"to": {"type": "string"}}, effect=rng.choice(["read_only", *ACTING])
    )
    args = {"to": "ann", secret: rng.choice(["x", 1, {"a": 1}])}

    def run() -> str | None:
        model = ScriptedModel([{"to": "bob"}] * 12)
        with Log() as log:
            out = in_graph([tool], {"call": {"name": tool.name, "args": args}}, model=model)
        said = (out.get("failure") or {}).get("for_model", "")
        shown = f"{said} {[[m.content for m in p] for p in model.prompts]} {log.text}"
        return (
            f"shown in {shown[max(0, shown.index(secret) - 60) :][:160]}"
            if secret in shown
            else None
        )

    return Case(f"{tool.effect}: an argument named {secret}", run)


@attack("D16")
def a_secret_in_a_value_at_fault(rng: Random) -> Case:
    """A model is asked about a parameter; what it reads of the others and of it holds no secret."""
    secret = secret_of(rng)
    inner = json.dumps({"password": secret, "user": "ann"})
    for _ in range(rng.randint(0, 2)):
        inner = json.dumps({"body": inner})
    tool = Tool(
        tool_name(rng),
        {"count": {"type": "integer"}, "config": {"type": "string"}},
        effect=rng.choice(["read_only", "mutating"]),
    )
    args = (
        {"count": inner, "config": inner}
        if rng.random() < 0.5
        else {"count": "many?", "config": inner}
    )

    def run() -> str | None:
        model = ScriptedModel([{"count": "x"}] * 12)
        with Log() as log:
            given = {"call": {"name": tool.name, "args": args}, "request": f"use {inner}"}
            out = in_graph([tool], given, model=model)
        said = (out.get("failure") or {}).get("for_model", "")
        shown = f"{said} {[[m.content for m in p] for p in model.prompts]} {log.text}"
        return (
            f"shown: {shown[max(0, shown.index(secret) - 80) :][:160]}" if secret in shown else None
        )

    return Case(f"{tool.effect}: {json.dumps(args)}", run)


@keeps("D16")
def what_is_no_secret_stays_readable(rng: Random) -> Case:
    text = rng.choice(
        [
            "password must have 8 letters",
            "the token has expired yesterday",
            "your password is too short",
            "authorization required for this account",
            "the cookie jar is empty",
            "no secret named billing was found",
            "password and user name do not match",
            "key must be unique in the table",
        ]
    )

    def body(_: dict[str, Any]) -> Any:
        raise ValueError(text)

    tool = Tool(tool_name(rng), {"to": {"type": "string"}}, effect="read_only", body=body)

    def run() -> str | None:
        out = in_graph([tool], {"call": {"name": tool.name, "args": {"to": "ann"}}})
        return None if text in json.dumps(out["failure"]) else json.dumps(out["failure"])[:400]

    return Case(text, run)


# --- D17 --------------------------------------------------------------------------------------

MARK = "Path({path!r}).write_text('ran')"


def hostile_module(rng: Random, mark: str) -> str:
    """Python that leaves a mark as soon as it is imported, or looked at too closely."""
    act = f"__import__('pathlib').{MARK.format(path=mark)}"
    plain = "def mend(call, diagnosis, context, *, days: int = 3):\n    return None\n"
    return str(
        rng.choice(
            [
                f"{act}\n{plain}",
                f"{plain}\nfor _ in [1]:\n    {act}\n",
                f"class Meta(type):\n    def __new__(m, *a):\n        {act}\n        return super().__new__(m, *a)\nclass mend(metaclass=Meta):\n    def __call__(self, call, diagnosis, context): ...\n",
                f"def deco(f):\n    {act}\n    return f\n@deco\n{plain}",
                f"def mend(call, diagnosis, context, x={act}): ...\n",
                f"def mend(call, diagnosis, context) -> {act}: ...\n",
                f"class mend:\n    days: int = {act}\n    def __call__(self, call, diagnosis, context): ...\n",
                f"def __getattr__(name):\n    {act}\n    raise AttributeError(name)\n",
                f"try:\n    import nothing_of_that_name\nexcept ImportError:\n    {act}\n{plain}",
                f"import sys\nsys.settrace(None)\n{act}\nraise SystemExit(0)\n",
                f"from selfcorrect import strategy\n{act}\n@strategy('mend')\n{plain}",
            ]
        )
    )


def run_command(arguments: list[str], folder: str) -> str:
    """The command line in this process; what it printed."""
    import contextlib
    import io
    import os

    from selfcorrect.__main__ import main

    out, before, argv = io.StringIO(), Path.cwd(), sys.argv
    os.chdir(folder)
    sys.argv = ["selfcorrect", *arguments]
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            contextlib.suppress(SystemExit),
        ):
            main()
    finally:
        os.chdir(before)
        sys.argv = argv
    return out.getvalue()


def laid_out(rng: Random, folder: str, *, runs: bool = False) -> tuple[str, str]:
    """A map with Python of its own in a folder; the map's path and the mark's."""
    mark = str(Path(folder, "mark"))
    name = f"own_{rng.randint(0, 10**12)}"
    Path(folder, f"{name}.py").write_text(hostile_module(rng, mark))
    reference = f"./{name}.py:mend"
    if not runs and rng.random() < 0.3:
        reference = f"{name}:mend"
    map_text = (
        f'format = 1\n[use]\nmend = "{reference}"\n'
        '[[rule]]\nid = "a"\nmatch = "no room"\nkind = "validation"\nrepair = ["mend"]\n'
        'example = "no room"\n'
        + rng.choice(["", "options.mend = { days = 3 }\n", "options.mend = { dayz = 3 }\n"])
    )
    path = Path(folder, "own.toml")
    path.write_text(map_text)
    if rng.random() < 0.3:
        child = Path(folder, "child.toml")
        child.write_text('format = 1\nextends = ["./own.toml"]\n')
        path = child
    return str(path), mark


def command_case(
    rng: Random, make: Callable[[str], list[str]], title: str, *, runs: bool = False
) -> Case:
    seed = rng.random()

    def run() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            path, mark = laid_out(Random(seed), folder, runs=runs)
            before = sys.path[:]
            sys.path.insert(0, folder)
            try:
                said = run_command(make(path), folder)
            finally:
                sys.path[:] = before
            ran = Path(mark).exists()
        if ran == runs:
            return None
        return f"its code {'ran' if ran else 'did not run'}: {said[:200]}"

    with tempfile.TemporaryDirectory() as folder:
        laid_out(Random(seed), folder, runs=runs)
        module = next(Path(folder).glob("own_*.py")).read_text().splitlines()[0]
    return Case(f"{title} of a map with {module!r} …", run)


@attack("D17")
def check_a_map(rng: Random) -> Case:
    return command_case(rng, lambda path: ["check", path], "check")


@attack("D17")
def explain_a_map(rng: Random) -> Case:
    more = rng.choice([[], ["--status", "404"], ["--tool", "pay"], ["--exception", "ValueError"]])
    return command_case(rng, lambda path: ["explain", path, "no room", *more], f"explain {more}")


@attack("D17")
def check_many_maps(rng: Random) -> Case:
    return command_case(rng, lambda path: ["check", "default", path, "strict"], "check of several")


@attack("D17")
def explain_another_text(rng: Random) -> Case:
    text = rng.choice(["", "something else", "no room left", "429"])
    return command_case(rng, lambda path: ["explain", path, text], f"explain {text!r}")


@keeps("D17")
def check_with_allow_code(rng: Random) -> Case:
    return command_case(
        rng, lambda path: ["check", "--allow-code", path], "check --allow-code", runs=True
    )


@keeps("D17")
def check_still_finds_faults(rng: Random) -> Case:
    wrong = rng.choice(['repair = ["nothing-of-that-name"]', 'kindd = "auth"', 'kind = "nothing"'])

    def run() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "own.toml")
            path.write_text(
                f'format = 1\n[[rule]]\nid = "a"\nmatch = "x"\n{wrong}\nexample = "x"\n'
            )
            said = run_command(["check", str(path)], folder)
        return None if wrong.split('"')[1] in said or "kindd" in said else f"said {said[:300]}"

    return Case(wrong, run)
