"""What an acting tool did not do is mended and made again; what it refused is proposed."""

from __future__ import annotations

import json
import logging

import pytest
from langchain_core.tools import StructuredTool, ToolException

from selfcorrect import ErrorRule, NotDone, Retry, StrategyMap, ToolSpec, build_graph, on_error
from selfcorrect.errors import MapError
from selfcorrect.mapping.files import parse_map
from selfcorrect.mapping.linting import check_map

WRONG = {"name": "book", "args": {"city": "rome", "seats": 2}}
MENDED = {"city": "Rome", "seats": 2}
UNKNOWN = "unknown city 'rome': did you mean 'Rome'?"
SHIPPED = (
    "default",
    "strict",
    "travel",
    "development",
    "local_model",
    "operator_safe",
    "filesystem",
)


class Refused(Exception):
    """An error class of the tool's own."""


class Status(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status_code = status


class World:
    """A tool that knows one city."""

    def __init__(self, error=Refused):
        self.calls = []
        self.error = error

    def book(self, city: str, seats: int) -> str:
        """Book seats to a city."""
        self.calls.append({"city": city, "seats": seats})
        if city != "Rome":
            raise self.error(UNKNOWN)
        return f"{seats} to {city}"

    def run(self, given=WRONG, *, effect="mutating", atomic=False, verify=None, on=None, **wiring):
        tool = ToolSpec.from_function(
            self.book, effect=effect, atomic=atomic, verify=verify, on_error=on
        )
        return build_graph([tool], **wiring).invoke({"call": given})


REFUSALS = [
    NotDone,
    Refused,
    ValueError,
    LookupError,
    RuntimeError,
    ToolException,
    lambda text: Status(422, text),
    lambda text: Status(404, text),
]
LOSSES = [
    TimeoutError,
    ConnectionRefusedError,
    AssertionError,
    lambda text: Status(500, text),
    lambda text: Status(503, text),
    lambda text: Status(408, text),
    lambda text: Status(499, text),
]


@pytest.mark.parametrize("effect", ["mutating", "destructive", None])
@pytest.mark.parametrize("error", REFUSALS)
def test_a_refusal_is_mended_and_repeated_only_where_nothing_was_done(error, effect):
    world = World(error)
    out = world.run(effect=effect)
    if error is NotDone:
        assert out.get("result") == "2 to Rome", out.get("failure")
        return
    assert world.calls == [WRONG["args"]]
    assert out["failure"]["reason"] == "refused"
    assert out["failure"]["attempts"][-1]["outcome"] == "refused"
    assert out["failure"].get("proposal") in ({"name": "book", "args": MENDED}, None)


@pytest.mark.parametrize("effect", ["mutating", "destructive"])
@pytest.mark.parametrize("error", REFUSALS)
def test_what_an_atomic_tool_refused_it_did_not_do(error, effect):
    world = World(error)
    out = world.run(effect=effect, atomic=True)
    assert out.get("result") == "2 to Rome", out.get("failure")
    assert world.calls == [WRONG["args"], MENDED]


@pytest.mark.parametrize("shipped", SHIPPED)
@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("error", LOSSES)
def test_what_broke_off_is_executed_once_atomic_or_not(error, atomic, shipped):
    world = World(error)
    out = world.run(atomic=atomic, strategies=shipped)
    assert world.calls == [WRONG["args"]]
    assert out["failure"]["reason"] == "unknown_outcome"


class APIConnectionError(Exception):
    """As the clients of many services call it."""


class Err(Exception):
    """An error that carries the answer's body and nothing else."""


def chained(text):
    error = Refused(text)
    error.__context__ = RuntimeError("the connection was reset")
    return error


PASSING = {
    "a class that names a connection": lambda _: APIConnectionError("it did not work"),
    "a status in a body": lambda _: Err({"status": 502}),
    "a status in a body of text": lambda _: Err('{"error": {"code": "503", "message": "no"}}'),
    "words": lambda _: Refused("the service is unavailable"),
    "words behind others": lambda text: Refused(f"{text}\nThe request timed out."),
    "words of what it was raised from": chained,
    "a conflict": lambda text: Status(409, text),
    "a status in words": lambda _: Refused("502 Bad Gateway"),
    "a code in words": lambda _: Refused("ECONNRESET"),
    "words that only the diagnosis knows": lambda _: Refused("the server is busy"),
    "words of another language": lambda _: Refused("Zeit\u00fcberschreitung"),
}


@pytest.mark.parametrize("effect", ["mutating", "destructive"])
@pytest.mark.parametrize("error", PASSING.values(), ids=PASSING)
def test_an_atomic_tool_acts_once_where_anything_speaks_of_a_fault_that_passes(error, effect):
    world = World(error)
    world.run(effect=effect, atomic=True)
    assert len(world.calls) == 1


def test_a_number_beside_the_words_of_an_error_is_no_status():
    world = World(lambda text: Refused(text, 503))
    assert world.run(atomic=True).get("result") == "2 to Rome"


@pytest.mark.parametrize("shipped", SHIPPED)
@pytest.mark.parametrize("error", REFUSALS[1:])
def test_no_shipped_map_repeats_what_was_refused(error, shipped):
    world = World(error)
    out = world.run(strategies=shipped)
    assert world.calls == [WRONG["args"]]
    assert out["failure"]["reason"] in ("refused", "terminal_kind")


def test_a_fault_in_an_atomic_tools_own_code_is_lost():
    def book(city: str) -> str:
        """Book."""
        calls.append(city)
        return {}["price"]

    calls = []
    tool = ToolSpec.from_function(book, effect="mutating", atomic=True)
    out = build_graph([tool]).invoke({"call": {"name": "book", "args": {"city": "Rmoe"}}})
    assert out["failure"]["reason"] == "unknown_outcome"
    assert calls == ["Rmoe"]


@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
@pytest.mark.parametrize("error", [*REFUSALS, *LOSSES])
def test_tools_that_do_no_harm_twice_are_mended_or_repeated_as_before(error, effect):
    world = World(error)
    out = world.run(effect=effect, limits={"wait": 0.01})
    assert "failure" not in out or out["failure"]["reason"] not in ("refused", "unknown_outcome")


# --- where atomic is said ----------------------------------------------------------------------


def langchain_tool(world, **metadata):
    return StructuredTool.from_function(world.book, name="book", metadata=metadata)


def test_atomic_is_said_in_metadata_by_code():
    world = World()
    tool = langchain_tool(world, effect="mutating", atomic=True)
    assert build_graph([tool]).invoke({"call": WRONG})["result"] == "2 to Rome"


@pytest.mark.parametrize("said", ["yes", 1, "true", None, False])
def test_only_true_is_atomic_in_metadata(said):
    world = World()
    tool = langchain_tool(world, effect="mutating", atomic=said)
    assert build_graph([tool]).invoke({"call": WRONG})["failure"]["reason"] == "refused"


@pytest.mark.parametrize("hint", ["readOnlyHint", "destructiveHint", "idempotentHint"])
def test_beside_an_mcp_servers_hints_it_is_ignored(hint):
    world = World()
    tool = langchain_tool(world, atomic=True, effect="read_only", **{hint: True})
    out = build_graph([tool]).invoke({"call": WRONG})
    assert out["failure"]["reason"] == "refused"
    assert len(world.calls) == 1


@pytest.mark.parametrize("name", ["book", "b*"])
def test_atomic_is_said_in_a_map(name, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'format = 1\nextends = ["default"]\n[effects]\n'
        f'"{name}" = {{ effect = "mutating", atomic = true }}\n'
    )
    world = World()
    graph = build_graph([world.book], strategies=str(file))
    assert graph.invoke({"call": WRONG})["result"] == "2 to Rome"
    declared = World()
    assert declared.run(strategies=str(file))["result"] == "2 to Rome"


def test_an_effect_of_the_code_that_the_map_contradicts_keeps_its_own_steps():
    strategies = StrategyMap(
        extends=["default"], effects={"book": {"effect": "mutating", "atomic": True}}
    )
    world = World()
    assert world.run(effect="destructive", strategies=strategies)["failure"]["reason"] == "refused"


@pytest.mark.parametrize(
    "said", [{"atomic": True}, {"effect": "odd"}, {"effect": "mutating", "atomc": True}]
)
def test_a_slip_in_the_table_of_effects_is_told(said):
    with pytest.raises(MapError):
        StrategyMap(effects={"book": said})


# --- a deployment's own word -------------------------------------------------------------------


def own(outcome, **conditions):
    return StrategyMap(
        [
            ErrorRule(
                id="told",
                outcome=outcome,
                kind="validation",
                category="unknown_resource",
                params=["city"],
                repair=["suggest-alternative"],
                **conditions,
            )
        ],
        extends=["default"],
    )


def test_a_rule_of_ones_own_says_that_nothing_was_done():
    world = World()
    out = world.run(strategies=own("not_done", error="Refused"))
    assert out.get("result") == "2 to Rome", out.get("failure")


def test_no_rule_makes_anything_else_of_what_broke_off():
    late = World(TimeoutError)
    out = late.run(strategies=own("not_done", error="TimeoutError"))
    assert out["failure"]["reason"] == "unknown_outcome"
    assert len(late.calls) == 1


def test_a_rule_of_ones_own_says_that_it_may_have_been_done():
    world = World()
    out = world.run(atomic=True, strategies=own("lost", error="Refused"))
    assert out["failure"]["reason"] == "unknown_outcome"
    assert len(world.calls) == 1


RULE = """
format = 1
[[rule]]
id = "told"
outcome = "not_done"
error = "Refused"
kind = "validation"
repair = ["give-up"]
"""


def test_built_in_maps_may_not_say_it():
    from selfcorrect.mapping import files
    from selfcorrect.mapping.files import starter_dir

    built_in = files._PACKAGE / "maps" / "default.toml"
    (fault,) = parse_map(RULE.encode(), built_in).faults
    assert (fault.rule, fault.key) == ("told", "outcome")
    with pytest.raises(MapError, match="deployment's own map"):
        StrategyMap.from_document(parse_map(RULE.encode(), built_in))
    for folder in (files._PACKAGE / "maps", starter_dir() / "strategies"):
        for path in folder.glob("*.toml"):
            assert "\noutcome" not in path.read_text(encoding="utf-8"), path


@pytest.mark.parametrize("outcome", ["not_done", "lost"])
def test_check_warns_where_words_alone_say_it(outcome, tmp_path):
    file = tmp_path / "own.toml"
    text = RULE.replace('"not_done"', f'"{outcome}"')
    file.write_text(text)
    assert not check_map(file)
    file.write_text(text.replace('error = "Refused"', 'match = "nothing was done"'))
    (fault,) = check_map(file)
    assert (fault.level, fault.rule, fault.key) == ("warning", "told", "outcome")
    file.write_text(text.replace('error = "Refused"', 'match = "no"\nstatus = 409'))
    assert not check_map(file)


def test_an_outcome_is_one_of_two_words():
    with pytest.raises(ValueError, match="not_done"):
        ErrorRule(id="x", outcome="done", error="Refused")


# --- the handler's word ------------------------------------------------------------------------


class Flaky(World):
    """Fails once, then succeeds."""

    def book(self, city: str, seats: int) -> str:
        """Book seats to a city."""
        self.calls.append({"city": city, "seats": seats})
        if len(self.calls) == 1:
            raise self.error("no")
        return f"{seats} to {city}"


def test_a_handler_repeats_what_was_refused():
    world = Flaky()
    out = world.run(on=on_error(execution_error=Retry(1)))
    assert out.get("result") == "2 to rome", out.get("failure")


@pytest.mark.parametrize("even_if_lost", [False, True])
def test_a_handler_repeats_what_was_lost_only_where_it_says_so(even_if_lost):
    world = Flaky(TimeoutError)
    out = world.run(on=on_error(execution_error=Retry(1, even_if_lost=even_if_lost)))
    if even_if_lost:
        assert out.get("result") == "2 to rome", out.get("failure")
    else:
        assert out["failure"]["reason"] == "unknown_outcome"
    assert len(world.calls) == (2 if even_if_lost else 1)


# --- verify ------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [Refused, TimeoutError])
@pytest.mark.parametrize("word", ["not_done", "done", "unknown", "raises"])
def test_verify_decides_where_the_error_does_not(error, word):
    from selfcorrect.effects import Outcome
    from selfcorrect.model import Result

    def verify(args, key):
        if word == "raises":
            raise OSError("the register is away")
        return {"not_done": Outcome.NOT_DONE, "done": Result("booked")}.get(word, Outcome.LOST)

    world = World(error)
    out = world.run(verify=verify)
    if word == "done":
        assert out["result"] == "booked"
        assert len(world.calls) == 1
    elif word == "not_done":
        assert len(world.calls) == (2 if error is Refused else len(world.calls))
        assert out.get("failure", {}).get("reason") not in ("refused", "unknown_outcome")
    else:
        assert len(world.calls) == 1
        assert out["failure"]["reason"] == ("refused" if error is Refused else "unknown_outcome")


# --- what is proposed --------------------------------------------------------------------------


def test_the_mended_call_is_proposed_as_plain_json():
    out = World().run()
    assert out["failure"]["proposal"] == {"name": "book", "args": MENDED}
    assert json.loads(json.dumps(out["failure"]))["proposal"]["args"] == MENDED


def test_nothing_is_proposed_where_nothing_could_be_mended():
    world = World(lambda text: Refused("the desk is closed"))
    out = world.run()
    assert out["failure"]["reason"] == "refused"
    assert not out["failure"].get("proposal")


def test_the_log_names_an_undeclared_tool_once_with_the_line_to_add(caplog):
    def web_search_once(query: str) -> str:
        """Search."""
        return query

    with caplog.at_level(logging.DEBUG, logger="selfcorrect"):
        for _ in range(3):
            build_graph([web_search_once]).invoke(
                {"call": {"name": "web_search_once", "args": {"query": "x"}}}
            )
    said = [r for r in caplog.records if "web_search_once" in r.getMessage() + str(r.__dict__)]
    said = [r for r in said if "undeclared" in r.getMessage() + str(r.__dict__)]
    assert len(said) == 1
    text = said[0].getMessage() + str(said[0].__dict__)
    assert '[effects] "web_search_once" = "read_only"' in text.replace('\\"', '"')
