"""May this text leave? Forms of secrets, ways out and places; hostile texts; false alarms."""

from __future__ import annotations

import io
import json
import logging
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import structlog
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import Ask, Escalate, Fix, ToolSpec, build_graph, on_error
from selfcorrect.batch.lines import clip
from selfcorrect.integrations.logs import redacted
from selfcorrect.kernel import texts
from selfcorrect.kernel.texts import (
    add_detector,
    excerpt,
    is_clean,
    literal,
    outside,
    place,
    quoted,
    redact,
    safe,
    visible,
    without_folders,
)
from selfcorrect.log import one_line, sink
from selfcorrect.loop.masking import Mask
from selfcorrect.notebook.shown import plain_text, value_text
from selfcorrect.policies.safety import SafetyPolicy
from selfcorrect.testing import ScriptedModel

KEY = "sk-proj-aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
WORD = "hX9tQ2mZ7vB4kW1p"
FORMS = {
    "glued to a word": (f"tool_{KEY}", KEY),
    "glued to letters": ("xghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA12", "aB3dE5gH7jK9"),
    "an aws key in a name": ("bucketAKIAIOSFODNN7QXAMPLE", "IOSFODNN7QXAMPLE"),
    "behind an invisible character": (f"a\u200b{KEY}", KEY),
    "around an invisible character": (f"sk-\u200bproj-{KEY[8:]}", KEY[8:]),
    "a name around one": (f"pass\u2060word={WORD}", WORD),
    "a name around a colour": (f"pass\x1b[31mword={WORD}", WORD),
    "a tuple": (f"('password', '{WORD}')", WORD),
    "a short tuple": ("('password', 'xQq')", "xQq"),
    "a list in a list": (f'[["api_key", "{WORD}"]]', WORD),
    "a sentence": (f"the password is {WORD}", WORD),
    "a sentence without a digit": ("the password is correctHorse", "correctHorse"),
    "a sentence with a sign": ("das Passwort ist swo!rdfish.", "swo!rdfish"),
    "a sentence that quotes": ("the password is 'swordfish'", "swordfish"),
    "a sentence about a token": (f"Your token is {WORD}.", WORD),
    "a line break": (f"password:\n  {WORD}", WORD),
    "a line break alone": (f"password\n{WORD}\n", WORD),
    "german": (f"Passwort: {WORD}", WORD),
    "a german sentence": (f"das Kennwort lautet {WORD}", WORD),
    "french": (f"mot de passe : {WORD}", WORD),
    "spanish": (f"contraseña: {WORD}", WORD),
    "full width": (f"password＝{WORD}", WORD),
    "full-width letters": (f"ｐａｓｓｗｏｒｄ: {WORD}", WORD),
    "a pin": ("PIN: 4711", "4711"),
    "a pin in a sentence": ("your PIN is 471193", "471193"),
    "a one-time password": ("OTP 482913", "482913"),
    "a one-time code": ("your one-time code: 482 913", "482 913"),
    "a column": (f"user,password,role\nann,{WORD},admin\nbob,{WORD}x,user", WORD),
    "a quoted column": (f'"user";"api key"\n"a;nn";"{WORD}"', WORD),
    "a pointer": (f"/args/postgresql:~1~1ann:{WORD}@db", WORD),
    "a pointer of assignments": (f"/args/password={WORD}/0", WORD),
    "a tag": (f"<db:password>{WORD}</db:password>", WORD),
}
SAFETY = SafetyPolicy()


def in_log(value: Any) -> str:
    with heard_by_logging() as lines:
        sink()("selfcorrect.x", {"value": value})  # type: ignore[misc]
    return lines.getvalue()


WAYS: dict[str, Callable[[Any], str]] = {
    "a prompt": outside,
    "a question": literal,
    "a report": lambda value: json.dumps(Mask(None, SAFETY).event({"detail": value})),
    "a trail": lambda value: json.dumps(Mask(None, SAFETY).value(value)),
    "a log": in_log,
    "a log of structlog": lambda value: str(redacted(None, "info", {"value": value})),
    "a page": value_text,
    "a line": lambda value: clip(json.dumps(value)),
    "a value": lambda value: json.dumps(safe(value)),
}
PLACES: dict[str, Callable[[str], Any]] = {
    "a text": str,
    "in a sentence": lambda text: f"cannot go on: {text}",
    "a key": lambda text: {text: 1},
    "a value": lambda text: {"note": [text]},
    "an id": lambda text: {"id": f"call_{text}"} if "\n" not in text else {"id": text},
    "json in json": lambda text: {"body": json.dumps({"inner": json.dumps({"a": text})})},
}


@contextmanager
def heard_by_logging() -> Iterator[io.StringIO]:
    lines = io.StringIO()
    handler, logger = logging.StreamHandler(lines), logging.getLogger("selfcorrect")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(before)


@contextmanager
def heard_by_structlog(renderer: Any) -> Iterator[io.StringIO]:
    lines = io.StringIO()
    structlog.configure(processors=[renderer], logger_factory=structlog.PrintLoggerFactory(lines))
    yield lines
    structlog.reset_defaults()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", PLACES)
def test_no_form_of_a_secret_leaves(way: str, where: str) -> None:
    leaked = []
    for form, (text, secret) in FORMS.items():
        if secret in WAYS[way](PLACES[where](text)):
            leaked.append(form)
    assert leaked == []


def test_what_is_redacted_holds_its_place_and_takes_nothing_else_with_it() -> None:
    for text, shown in {
        f"password={WORD} user=ann host=db": "password=[secret] user=ann host=db",
        f"(password={WORD}) failed": "(password=[secret]) failed",
        f"token={WORD}.": "token=[secret].",
        f"authorization=Bearer {WORD} host=db": "authorization=[secret] host=db",
        f"cookie=sid{WORD} host=db": "cookie=[secret] host=db",
        f"tool_{KEY} failed": "tool_[secret] failed",
        f"user,password,role\nann,{WORD},admin": "user,password,role\nann,[secret],admin",
    }.items():
        assert redact(text) == shown
        assert redact(shown) == shown


@pytest.mark.parametrize("text", [text for text, _ in FORMS.values()])
def test_a_cut_and_a_second_look_change_nothing(text: str) -> None:
    secret = next(secret for one, secret in FORMS.values() if one == text)
    assert redact(redact(text)) == redact(text)
    for limit in range(1, len(text) + 2):
        assert secret not in excerpt(text, limit) + quoted(text, limit)


def test_a_token_of_a_pointer_is_redacted_alone() -> None:
    assert place(f"/args/password={WORD}/0") == "/args/password=[secret]/0"
    assert place(f"/args/postgresql:~1~1ann:{WORD}@db/x~0y") == (
        "/args/postgresql:~1~1[secret]@db/x~0y"
    )
    assert place("/args/lines/0/packs") == "/args/lines/0/packs"


def test_one_place_has_one_spelling_for_people_and_one_for_machines() -> None:
    line = {"type": "object", "properties": {"packs": {"type": "integer"}}}
    schema = {
        "name": "order",
        "parameters": {
            "type": "object",
            "properties": {"lines": {"type": "array", "items": line}},
            "required": ["lines"],
        },
    }
    spec = ToolSpec.from_schema(schema, call=lambda lines: "ok", effect="mutating")
    call = {"name": "order", "args": {"lines": [{"packs": "lots"}]}}
    failure = build_graph([spec]).invoke({"call": call})["failure"]
    (finding,) = failure["findings"]
    assert finding["paths"] == ["/args/lines/0/packs"]
    assert "lines[0].packs" in finding["text"]
    assert "`lines[0].packs`" in failure["for_model"]
    assert "lines.0" not in json.dumps(failure)


def test_a_number_under_a_key_that_says_so_is_a_secret() -> None:
    assert safe({"pin": 4711, "seats": 4711}) == {"pin": "[secret]", "seats": 4711}
    assert not is_clean({"rows": [{"otp": 482913}]})


def act(a: int, note: str = "") -> str:
    """Act."""
    raise RuntimeError(f"refused: {note}")


@pytest.mark.parametrize("form", FORMS)
def test_no_form_leaves_a_run(form: str) -> None:
    text, secret = FORMS[form]
    told = [Fix(ScriptedModel([{"no": 1}] * 9)), lambda *_: Ask(text), lambda *_: Escalate(text)]
    for handler in (None, *told):
        spec = ToolSpec.from_function(
            act, effect="read_only", on_error=handler and on_error(execution_error=handler)
        )
        model = ScriptedModel([{"a": text}] * 9)
        for call in (
            {"name": "act", "args": {"a": 1, "note": text}, "id": text},
            {"name": "act", "args": {"a": text, text: {text: [text]}}},
            {"name": text, "args": {"a": 1}},
        ):
            with heard_by_logging() as lines:
                graph = build_graph([spec], model=model, checkpointer=InMemorySaver())
                config: Any = {"configurable": {"thread_id": "t"}}
                out = graph.invoke({"call": call, "request": text}, config)
            shown = {key: out[key] for key in out if key != "__interrupt__"}
            asked = [one.value for one in out.get("__interrupt__", ())]
            assert secret not in json.dumps([shown, asked], default=str, ensure_ascii=False)
            assert secret not in str(model.prompts)
            assert secret not in lines.getvalue()


def hostile(rng: random.Random) -> str:
    pieces = [
        *(
            "\n",
            "\r",
            "\r\n",
            "\x0b",
            "\x0c",
            "\x1c",
            "\x85",
            "\u2028",
            "\u2029",
            "\x00",
            "\x1b[2J",
        ),
        *(
            "\u202e",
            "\u2066",
            "\u200b",
            "\ufeff",
            "\U000e0041",
            "\x9b31m",
            "\x07",
            "\x08",
            "\ud800",
        ),
        *(
            "ok",
            "selfcorrect.run reason=done",
            '"',
            "\\",
            "\\n",
            "{}",
            "%s",
            "%(x)s",
            "\u3164",
            "\t",
        ),
        *('Traceback (most recent call last):\n  File "a.py", line 1', " level=error ", "x=1", "é"),
    ]
    return "".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))


SINKS = {
    "logging": heard_by_logging,
    "structlog, json": lambda: heard_by_structlog(structlog.processors.JSONRenderer()),
    "structlog, key=value": lambda: heard_by_structlog(structlog.processors.KeyValueRenderer()),
    "structlog, console": lambda: heard_by_structlog(structlog.dev.ConsoleRenderer(colors=False)),
}


@pytest.mark.parametrize("name", SINKS)
def test_a_thousand_hostile_texts_are_a_line_each(name: str) -> None:
    rng = random.Random(5)
    values = [hostile(rng) for _ in range(1_000)]
    with SINKS[name]() as lines:
        for value in values:
            sink()("selfcorrect.x", {"text": value, "list": [value], "map": {value: value}})  # type: ignore[misc]
    raw = lines.getvalue()
    told = raw.removesuffix("\n").split("\n")
    assert len(told) == len(values)
    assert len(raw.splitlines()) == len(values)
    assert visible(raw.replace("\n", "")) == raw.replace("\n", "")
    assert all("selfcorrect.x" in line for line in told)
    if name == "logging":
        assert not [line for line in told if " reason=done" in line.partition('text="')[0]]


def test_a_traceback_is_one_field_of_one_line() -> None:
    def broken(a: int) -> str:
        """Break."""
        return {"known": a}["un\nknown"]  # type: ignore[index, return-value]

    with heard_by_logging() as lines:
        spec = ToolSpec.from_function(broken, effect="read_only")
        build_graph([spec]).invoke({"call": {"name": "broken", "args": {"a": 1}}})
    (failed,) = [one for one in lines.getvalue().splitlines() if "selfcorrect.failed" in one]
    assert 'traceback="Traceback (most recent call last):\\n' in failed
    assert all(one.startswith("selfcorrect.") for one in lines.getvalue().splitlines())


WORDS = (
    *("flight", "order", "invoice", "seat", "city", "hotel", "table", "row", "column", "page"),
    *("user", "request", "response", "server", "time", "limit", "value", "field", "name", "list"),
    *("item", "range", "index", "file", "folder", "report", "summary", "result", "error", "retry"),
    *("call", "tool", "argument", "schema", "number", "date", "month", "price", "weight", "room"),
)
SPOKEN_OF = (
    *("password", "token", "key", "secret", "session", "cookie", "author", "signature", "pin"),
    *("opinion", "shopping", "basic", "bearer", "credential", "passport", "otp", "PIN"),
)
NAMES = ("limit", "offset", "status", "count", "rows", "color", "version", "host", "port", "zone")


def ordinary(rng: random.Random) -> str:
    w, o, t = rng.sample(WORDS, 3)
    a = rng.choice(SPOKEN_OF)
    n, s = rng.randint(10, 99_999), rng.randint(1, 99)
    at = f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    h = uuid.UUID(int=rng.getrandbits(128))
    return rng.choice(
        [
            f"The {w} for {o} {n} was not found, check the {t} and try again.",
            f"{at}T10:{s % 60:02}:00Z INFO {w}.{o} {t}={n} {rng.choice(NAMES)}={s}",
            f"{at} 11:00:00,{n % 1000:03} ERROR [{w}] {o}: expected {s} items, got {n}",
            f"the {a} is {rng.choice(['case-sensitive', 'stale', 'reset.', 'public', 'N/A'])}",
            f"the {a} is too {rng.choice(['short', 'long', 'old', 'weak'])}",
            f"{a} is required",
            f"{a}: must have at least {s} letters",
            f"invalid {a}",
            f"missing {a} for {w}",
            f"the {a} of the {w} was {rng.choice(['reset', 'lost'])}",
            json.dumps({w: n, o: t, rng.choice(NAMES): [s, None, True], "at": at}),
            json.dumps({"id": str(h), "type": w, "name": f"{o} {t}", "size": s}),
            f"task-{h} finished after {s} ms",
            f"commit {h.hex} by {w}-{o}",
            f"GET /api/v{s}/{w}s/{n}?{o}={s}&page={s} HTTP/1.1 {200 + s}",
            f"https://example.org/{w}/{o}-{n}.html#section-{s}",
            f'  File "/srv/{w}/{o}.py", line {n}, in {t}_{w}',
            f"KeyError: '{w}_{o}'",
            f"TypeError: {w}() missing 1 required argument: '{o}'",
            f"{w},{o},{t}\n{s},{n},{at}",
            f"| {w} | {o} |\n|---|---|\n| a | {s} |",
            f"pip install {w}-{o}=={s}.{n % 10}.0",
            f"SELECT {w} FROM {o} LIMIT {s}",
            f"sort key: {w}, {o}",
            f"max_tokens: {n}",
            f"{s} tokens of {n} were used",
            f"see section {s}.{s} of the {w} manual, page {n}",
            f"+49 30 {n} {s}00",
            f"ISBN 978-3-16-{n:06}-0",
            f"{w}@{o}.example.org",
            f"the {w} key {n} violates the unique constraint {o}_{t}_idx",
            f"Die {w} {n} wurde nicht gefunden",
            f"risk-assessment-for-{w}-{o}-{t}-{s}",
            f"disk_test_{w}_{o}_{t}",
            f"desk-{w}-{o}-{t}-{w}",
            f"order {h.hex[:16]} of {at}: {s} x {w} at {n}.{s:02} EUR",
            f"keyJournal.{w}Index.{o}Value",
            f"MSG.ERROR_{w.upper()}_NOT_KNOWN.{o.upper()}_{s}",
        ]
    )


def test_ordinary_lines_are_left_alone() -> None:
    rng = random.Random(3)
    lines = [ordinary(rng) for _ in range(10_000)]
    changed = [(line, redact(line)) for line in lines if redact(line) != line]
    assert len(changed) <= 10, (len(changed), changed[:20])
    plain = [line for line in lines if 'File "' not in line]
    assert [line for line in plain if without_folders(line, {}) != line] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot open /home/ann/app/rates.csv", "cannot open …/rates.csv"),
        ("/Users/ann is not writable", "…/ is not writable"),
        ("ENOENT: '/var/lib/shop/x y.db'", "ENOENT: '…/x y.db'"),
        ('  File "/usr/lib/python3.12/json/decoder.py", line 3', '  File "…/decoder.py", line 3'),
        ('  File "/code/shop/pay.py", line 7', '  File "…/pay.py", line 7'),
        ('{"t": "x\\n  File \\"/code/pay.py\\""}', '{"t": "x\\n  File \\"…/pay.py\\""}'),
        ("at pay (/opt/shop/dist/pay.js:12:3)", "at pay (…/pay.js:12:3)"),
        (r"C:\Users\ann\My Files\x.csv is open", "…/x.csv is open"),
        ('"C:\\\\Users\\\\ann\\\\x.csv"', '"…/x.csv"'),
        ("open file:///etc/shop/keys.toml", "open file://…/keys.toml"),
        ("PATH=/usr/bin:/usr/local/bin", "PATH=…/:…/bin"),
        (
            "[Errno 2] No such file or directory: '/app/x'",
            "[Errno 2] No such file or directory: '…/x'",
        ),
        ("at pay (/code/shop/dist/pay.js:12:3)", "at pay (…/pay.js:12:3)"),
        (r"\\files\ann$\My Files\x.csv is open", "…/x.csv is open"),
        (r'{"t": "\\\\files\\x.csv"}', '{"t": "…/x.csv"}'),
    ],
)
def test_no_folder_of_another_host_reaches_the_model(text: str, shown: str) -> None:
    assert without_folders(text, {"city": "Rome"}) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/home/ann/x, http://localhost:8000/etc/x",
        "GET /home/feed/3 gave 404, POST /tmp/uploads/x gave 500",
        "/api/v2/orders/7 and /users/ann/orders do not exist",
        "/args/lines/0/packs must be a number; see ~/x and ../etc/x",
        "and/or, 5/home/6, s3://bucket/tmp/x, a:/b, ratio 1:/2",
        "/v1/pay and /app gave 3/4/2026, see http://x.example:80/v1/pay.json:1",
        r"a\\b\c, \d+\w, '\\n\\n', one \\nfoo\\nbar\\nbaz, x = \\alpha and \\ b \ c",
    ],
)
def test_what_is_no_path_of_a_hosts_file_stays(text: str) -> None:
    assert without_folders(text, {}) == text


def test_below_what_a_call_names_its_model_knows_its_way() -> None:
    text = r"no /srv/data/a.csv, did you mean /srv/data/b.csv? Not C:\Users\ann\x.csv, /etc/x"
    told = without_folders(text, {"paths": ["/srv/date/a.csv", r"C:\Users\ann\y"]})
    assert told == text.replace("/etc/", "…/")


LONG = {
    "words": "the flight to Rome was not found; ",
    "json": '{"id": 7, "key": "a", "note": "x\\ny"}, ',
    "names": "password=",
    "names and values": "password=abc, token: abcd1234 ",
    "quotes": "pass'",
    "escapes": '\\"',
    "escaped names": 'token\\":\\"',
    "invisible": "\u200b\u202e",
    "prefixes": "sk-proj-eyJghp_AKIA",
    "half a token": "eyJa",
    "tags": "<token <password>",
    "columns": "user,password\n",
    "rows": "a,b\n",
    "pointers": "~1~0/password=",
    "full width": "ｐａｓｓ＝",
    "brackets": "password:)))))(",
    "machines": "\\\\a ",
}


@pytest.mark.parametrize("name", LONG)
def test_ten_megabytes_take_a_second_at_most(name: str) -> None:
    text = LONG[name] * (10_000_000 // len(LONG[name]))
    redact("warm")
    for way in (redact, outside, quoted, plain_text, clip):
        best = 9.0
        for _ in range(3):
            started = time.process_time()
            shown = way(text)
            best = min(best, time.process_time() - started)
            if best <= 1:
                break
        assert best <= 1, (way.__name__, best)
        assert len(shown) < 400_000


def test_the_middle_of_a_long_text_is_counted_and_the_cut_shows_no_half_of_a_secret() -> None:
    text = ". " * 32_740 + KEY + " ." * 100_000
    shown = redact(text)
    assert "characters …" in shown
    assert KEY[:20] not in shown
    around = redact("x " * 60_000 + KEY + " y" * 10_000)
    assert KEY[8:20] not in around


@pytest.fixture
def alone() -> Iterator[None]:
    """Detectors of this test, and of no other."""
    yield
    texts._MORE.clear()
    texts._CLEAN.clear()


@pytest.mark.usefixtures("alone")
def test_a_deployment_adds_a_detector() -> None:
    assert redact("badge 77-ACME-1") == "badge 77-ACME-1"

    @add_detector
    def badges(text: str) -> list[tuple[int, int]]:
        at = text.find("77-")
        return [(at, len(text) + 5)] if at >= 0 else []

    assert redact("badge 77-ACME-1") == "badge [secret]"
    assert redact("badge 77\u200b-ACME-1") == "badge [secret]"
    assert not is_clean({"a": "77-ACME"})
    for way in WAYS.values():
        assert "ACME" not in way({"note": "badge 77-ACME-1"})


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("found", [None, [("a", "b")], [3], 7, [(5, 2)], [(-9, 3)]])
def test_a_detector_that_fails_hides_the_whole_text(found: Any) -> None:
    add_detector(lambda _: found)
    assert redact("something else") in ("[secret]", "[secret]ething else", "something else")
    assert (redact("something else") == "something else") == (found == [(5, 2)])


def test_no_folder_of_this_process_reaches_the_model() -> None:
    where = f"{sys.prefix}/lib/rates.csv"

    def look(city: str) -> str:
        """Look."""
        raise FileNotFoundError(f"no such file: {where} for {city}")

    spec = ToolSpec.from_function(look, effect="read_only")
    model = ScriptedModel([{"city": "Rome"}] * 5)
    out = build_graph([spec], model=model).invoke({"call": {"name": "look", "args": {"city": "x"}}})
    failure = out["failure"]
    assert sys.prefix not in failure["for_model"] + str(model.prompts)
    assert "rates.csv" in failure["for_model"]
    assert where in json.dumps(failure["findings"]), "the operator's record has everything"
    asked = build_graph([spec]).invoke({"call": {"name": "look", "args": {"city": where}}})
    assert where in asked["failure"]["for_model"], "what the call names, its model knows"
    assert without_folders(where, {"file": where}) == where


@pytest.mark.parametrize("saver", [InMemorySaver(), None])
def test_the_question_of_a_handler_is_bounded_and_without_secrets(saver: Any) -> None:
    handler = on_error(execution_error=lambda *_: Ask(f"password={WORD}! why? " * 500_000))
    spec = ToolSpec.from_function(act, effect="read_only", on_error=handler)
    config: Any = {"configurable": {"thread_id": "t"}}
    out = build_graph([spec], checkpointer=saver).invoke(
        {"call": {"name": "act", "args": {"a": 1}}}, config
    )
    told = json.dumps(out, default=lambda one: getattr(one, "value", str(one)))
    assert "why?" in told
    assert len(told) < 20_000
    assert WORD not in told


def test_an_event_is_bounded_however_deep_and_long_it_is() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = {"a": [deep]}
    assert len(str(one_line({"deep": deep, "long": "y" * 100_000}))) < 10_000
