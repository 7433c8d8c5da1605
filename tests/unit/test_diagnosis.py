"""An error gets one reading, whoever asks: kind, category, arguments at fault, wait."""

import json
from types import SimpleNamespace

import pytest
import requests
from kit import output_of, table

from selfcorrect import ToolSpec, classify
from selfcorrect.cli.diagnose import diagnosis_line, explain
from selfcorrect.diagnosis.body import body_of, keys_in
from selfcorrect.diagnosis.demands import constraint_of, wait_in_fields, wait_in_words
from selfcorrect.diagnosis.evidence import plain_text, sentence_of
from selfcorrect.diagnosis.facts import finding_of, recorded_finding
from selfcorrect.diagnosis.parameters import MARK, mask, places_of
from selfcorrect.diagnosis.witness import FILE
from selfcorrect.strategy_map.strategy_map import load_default
from selfcorrect.testing import VirtualTime, play

ARGS = {"city": "Rome", "seats": 12, "day": "tomorrow", "unit": "stone", "who": {"age": -1}}
MAP = load_default()


TEXT = {"type": "string"}
PLACES = {**dict.fromkeys((*ARGS, "origin", "from"), TEXT), "seats": {"type": "integer"}, "who": {}}
SCHEMA = {"type": "object", "properties": PLACES}


def read(text, args=ARGS, schema=SCHEMA, **facts):
    """Return the diagnosis of a recorded error as the command line gives it."""
    record = {"message": text, "arguments": args, "schema": schema, **facts}
    return diagnosis_line(None, record)


def tool(error, effect="read_only", atomic=False):
    """Return a tool that raises an error or returns a value, and its executions."""
    ran = []

    def call(**args):
        ran.append(args)
        if isinstance(error, BaseException):
            raise error
        return error

    schema = {"name": "book", "parameters": SCHEMA}
    return ToolSpec.from_schema(schema, call=call, effect=effect, atomic=atomic), ran


def loop(error, args=ARGS, **options):
    """Return the findings of a run whose tool fails, and how often it ran."""
    spec, ran = tool(error, **options)
    limits = {"attempts": 2, "wait": 60}
    out = play([spec], {"call": {"name": "book", "args": args}}, time=VirtualTime(), limits=limits)
    return out["failure"]["findings"], len(ran)


# --- one answer ---

SENTENCES = table("diagnosis.txt", "sentences")
CLASSES = [ValueError, RuntimeError, KeyError, LookupError]
STATUSES = [None, 400, 404, 409, 503]


def test_classify_diagnose_explain_and_the_loop_agree():
    seen = set()
    for text in SENTENCES:
        for cls in CLASSES:
            for status in STATUSES:
                error = cls(text)
                if status:
                    error.status_code = status
                name = f"builtins.{cls.__name__}"
                told = read(str(error), exception=name, status=status)
                found, _ = loop(error)
                assert (
                    found[0]["kind"]
                    == told["kind"]
                    == read(str(error), exception=name, status=status)["kind"]
                )
                assert (found[0]["category"], found[0]["rule"]) == (told["category"], told["rule"])
                assert found[0]["ladder"] == told["ladder"]
                bare = read(str(error), None, None, exception=name, status=status)
                assert classify(error) == bare["kind"]
                lines = explain(MAP, recorded_finding(str(error), name, status)).splitlines()
                facts = dict(line.split(maxsplit=1) for line in lines if " " in line)
                assert (facts["kind"], facts["category"]) == (bare["kind"], bare["category"])
                seen.add((told["kind"], told["category"]))
    assert len(seen) > 8


READINGS = table("diagnosis.txt", "readings")  # fmt: skip


@pytest.mark.parametrize(("text", "facts", "kind", "category", "params"), READINGS)
def test_an_error_is_read(text, facts, kind, category, params):
    found = read(text, **facts)
    assert (found["kind"], found["category"], found["params"]) == (kind, category, params)
    assert found["retryable"] is (kind in ("transient", "rate_limit", "timeout"))


def test_who_saw_it_and_how_sure_that_is():
    assert read("x", status=401)["witness"] == "structure"
    assert read("Unauthorized")["witness"] == "rule"
    assert read("seats must be between 1 and 9")["witness"] == "witness"
    assert read("must be between 1 and 9", {"n": 12}, None)["witness"] == "elimination"
    sure, unsure = read("x", status=401), read("glorp the frob")
    assert sure["confidence"] > 0.9 > unsure["confidence"]


def test_what_a_call_echoes_is_not_what_the_tool_says():
    text = "no hotel is named '{}'"
    args = {"name": "Too many requests, connection reset"}
    echoed, other = (
        read(text.format(args["name"]), args),
        read(text.format("Ritz"), {"name": "Ritz"}),
    )
    assert (echoed["kind"], echoed["params"]) == (other["kind"], ["name"])


# --- what stands behind the sentence ---

HARMLESS = table("diagnosis.txt", "harmless")


@pytest.mark.parametrize("tail", HARMLESS)
def test_a_harmless_sentence_behind_changes_nothing(tail):
    keys = ("kind", "category", "params", "retry_after_s", "ladder")
    for text in SENTENCES:
        before, after = read(text), read(f"{text}{tail}")
        assert [before[key] for key in keys] == [after[key] for key in keys]


PROMISES = table("diagnosis.txt", "promises")


@pytest.mark.parametrize("tail", PROMISES)
@pytest.mark.parametrize("text", ["seats must be between 1 and 9", "order 7 already exists"])
def test_prose_behind_the_sentence_makes_nothing_run_again(text, tail):
    found = read(f"{text}{tail}")
    assert (found["retryable"], found["retry_after_s"]) == (False, None)
    _, ran = loop(ValueError(f"{text}{tail}"))
    assert ran == 1


@pytest.mark.parametrize(
    "text", ["connection reset by peer, try again in 2 s", "the server is overloaded"]
)
def test_prose_makes_no_tool_act_again(text):
    found, ran = loop(ValueError(text), effect="mutating", atomic=True)
    assert (ran, found[0]["ladder"]) == (1, [])
    found, ran = loop(RuntimeError(text))
    assert ran == 2


def test_a_wait_comes_from_fields_and_else_from_the_sentence():
    assert read("Too many requests, try again in 20 s")["retry_after_s"] == 20
    assert read('{"error": "slow down", "retryAfterMs": 1500}', status=429)["retry_after_s"] == 1.5
    assert read("day must be a date, such as in 20 s")["retry_after_s"] is None


# --- what an exception carries ---


def answer(status, body="", **headers):
    response = requests.Response()
    response.status_code, response._content = status, body.encode()
    response.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return requests.HTTPError(f"{status} Error", response=response)


def test_structure_of_other_exceptions_is_read():
    rpc = RuntimeError("rpc failed")
    rpc.code = lambda: SimpleNamespace(name="NOT_FOUND")
    assert (finding_of(rpc)["status"], classify(rpc)) == ("NOT_FOUND", "not_found")
    row = RuntimeError("duplicate key")
    row.sqlstate = "23505"
    assert (finding_of(row)["status"], classify(row)) == ("23505", "conflict")
    assert finding_of(FileExistsError(17, "x"))["code"] == "EEXIST"
    assert finding_of(answer(429, retry_after="7"))["retry_after"] == 7


# --- several faults, error values ---


def test_each_fault_of_an_error_is_a_finding():
    text = json.dumps({
        "errors": [
            {"field": "seats", "message": "must be at most 9"},
            {"field": "unit", "message": "must be one of 'kg', 'lb'"},
        ]
    })  # fmt: skip
    found, _ = loop(ValueError(text))
    assert [each["paths"] for each in found] == [["/args/seats"], ["/args/unit"]]
    assert [each["category"] for each in found] == ["range", "enum"]
    assert read(text)["params"] == ["seats", "unit"]


VALUES = table("diagnosis.txt", "values")  # fmt: skip


@pytest.mark.parametrize(("value", "kind", "paths"), VALUES)
def test_an_error_value_is_read_like_an_exception(value, kind, paths):
    found, _ = loop(value)
    assert (found[0]["kind"], found[0]["paths"]) == (kind, paths)


# --- the parts ---


@pytest.mark.parametrize(
    ("text", "own"),
    table("diagnosis.txt", "own sentence"),
)
def test_the_own_sentence(text, own):
    assert sentence_of(plain_text(text)).text == own


def test_bodies_are_found_in_any_wrapping():
    inner = {"error": {"field": "a.0", "message": "must be a number", "code": "type"}}
    nested = json.dumps({"detail": json.dumps(inner)})
    for text in (json.dumps(inner), str(inner), f"Error code: 400 - {inner}", nested):
        (fault,) = body_of(text).faults
        assert (fault.sentence, fault.code, fault.place) == ("must be a number", "type", ("a", "0"))
    shown = body_of('<Rpc of call with: status = Code.NOT_FOUND details = "no row">').faults
    assert [(each.sentence, each.code) for each in shown] == [("no row", "NOT_FOUND")]
    assert keys_in("/a/b") == keys_in("a.b") == keys_in(["a", "b"]) == ("a", "b")


@pytest.mark.parametrize(
    ("text", "constraint"),
    table("diagnosis.txt", "constraints"),
)
def test_constraints(text, constraint):
    assert constraint_of(text) == constraint


@pytest.mark.parametrize(
    ("text", "seconds"),
    table("diagnosis.txt", "waits"),
)
def test_waits_in_words(text, seconds):
    assert wait_in_words(text) == seconds
    assert wait_in_fields([("Retry-After", "5"), ("x", 1)]) == 5


def test_values_of_the_call_are_masked():
    masked = mask("no 'Rome' for 12", places_of(ARGS, None))
    assert (masked.text, masked.quoted, masked.bare) == (
        f"no '{MARK}' for {MARK}",
        (("city",),),
        (("seats",),),
    )


HOSTILE = [
    "{" * 50_000, '{"a":' * 5_000, "<style" * 10_000 + "</", "a=" * 20_000, "(" * 30_000, "\ud800",
    "'" * 40_000, "a: " * 20_000, "x.[" * 20_000, "must be one of " * 4_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_read(text):
    assert read(text)["kind"]
    assert read("no x", {"x": text, "y": [text]})["kind"]


LOADS = """
import sys
from selfcorrect import ToolSpec, build_graph
def book(n: int = 1) -> str:
    if n == 401:
        error = RuntimeError("no"); error.status_code = 401; raise error
    return "ok"
graph = build_graph([ToolSpec.from_function(book, effect="read_only")])
for value in VALUES:
    graph.invoke({"call": {"name": "book", "args": {"n": value}}})
print([name for name in sys.modules if name.startswith("selfcorrect.diagnosis.")])
"""


@pytest.mark.parametrize(
    ("values", "loads", "spares"),
    [("[1, '2']", "", "diagnosis."), ("[401]", "evidence", "witness")],
)
def test_modules_are_loaded_when_they_are_needed(values, loads, spares):
    program = LOADS.replace("VALUES", values)
    modules = output_of(program)
    assert loads in modules
    assert spares not in modules
    assert FILE.stat().st_size <= 350_000
