"""The reason of an error reaches the model: through the loop, the agent and the tool node."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel, field_validator

from selfcorrect import NotDone, SelfCorrection, StrategyMap, ToolSpec, build_graph
from selfcorrect.errors import Escalation, GraphSetupError
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk
from selfcorrect.model import Terminal
from selfcorrect.testing import ScriptedModel, VirtualTime, tool_call

# Each with the parameters that may be blamed: those that it names, or whose value it repeats.
ARGS = {"flight_no": "HAT071", "seats": 3, "cabin": "premium", "day": "2026-10-26"}
BLAMING = """
cabin must be one of economy, business, first|cabin
seats must be between 1 and 2|seats
unknown flight number HAT071|flight_no
no flight HAT071 on 2026-10-26|flight_no day
the cabin premium is not offered on this route|cabin
seats: at most 2 per booking|seats
day lies in the past|day
day should be given as DD.MM.YYYY|day
HAT071 was cancelled this morning|flight_no
invalid cabin: premium|cabin
'premium' is no cabin; try 'business'|cabin
expected seats to be an even number|seats
flight_no does not match the pattern XX999|flight_no
the parameter day is outside the booking window|day
value of seats exceeds what the aircraft holds|seats
"""
BLAMELESS = """
The brake pedal needs to be pressed when starting the engine.
The doors must be locked before the engine can start.
An account must be verified first.
The basket must be confirmed before it can be paid.
You cannot check in before the ticket is issued.
The printer needs to be calibrated before printing.
The robot has to be homed before it can move.
A session must be opened before sending messages.
The vault cannot be opened until both keys are turned.
The invoice cannot be closed unless every item is shipped.
Insufficient funds.
Your wallet holds too little for this.
Nothing is left in stock.
The kitchen closes at ten.
The museum is shut on Mondays.
The conveyor belt is jammed.
Somebody else is editing this document.
The tank is empty.
The lease has run out.
Only administrators may do this.
You are not a member of this team.
The trial period is over.
This region is embargoed.
Deliveries to islands are suspended.
The referee has not yet confirmed the score.
The patient has an allergy on record.
The prescription was already redeemed.
The warehouse reports a fire alarm.
The elevator is under maintenance.
The satellite is below the horizon.
The greenhouse vents are frozen.
The turbine is spinning down.
The court is reserved for the tournament.
The choir rehearses there tonight.
The bridge is closed for trucks.
The ferry does not sail in a storm.
The probe lost its signal.
The reactor is in standby.
The drone battery is below ten percent.
The camera has no memory card.
The projector lamp is worn out.
The oven door is open.
The sprinkler is already running.
The gate is locked from inside.
The piano is out of tune.
The archive is being migrated.
The index is being rebuilt.
The quota of stamps is used up.
The shop owner declined.
The bank asks for a second signature.
The landlord has to agree.
The guardian did not consent.
The notary is on holiday.
The exchange has not opened yet.
The ledger is sealed for this year.
The bottle is not sterile.
The sample was contaminated.
The centrifuge is unbalanced.
The laser interlock is open.
The pump runs dry.
The runway is occupied.
The crew is over its duty hours.
The fuel truck is late.
The catering was not loaded.
The passport has expired.
The visa is missing.
The luggage was not screened.
The weather is below minimums.
The tower denies takeoff.
The anchor is still down.
The crane is swaying.
The scaffold was not inspected.
The concrete has not cured.
The permit was revoked.
The neighbours filed an objection.
The orchard was sprayed yesterday.
The bees are asleep.
The tractor has a flat tyre.
The harvest is over.
The well is dry.
The stage is still wet.
The costume does not fit.
The understudy is ill.
The violin has a broken string.
The audience is not seated.
The film is not developed.
The negatives are scratched.
The gallery refused the loan.
The insurance excludes this.
The auction is closed.
"""
MESSAGES = [line.split("|")[0] for line in (BLAMING + BLAMELESS).splitlines() if line]
WORD = re.compile(r"[a-z]{4,}")
OWN_WORDS = frozenset(
    WORD.findall(
        "the call failed tool refused said data something else done first has hold correct again "
        "with your tools does covers that then make not known how far what this request".lower()
    )
)


class Refusal(Exception):
    """An exception of a tool's own."""


def told(message: str, effect: Any = "mutating", args: Any = ARGS, kind: Any = Refusal, **more):
    def act(**_: Any) -> str:
        raise kind(message)

    schema = {"type": "object", "properties": {name: {} for name in args}}
    spec = ToolSpec.from_schema({"name": "act", "parameters": schema}, call=act, effect=effect)
    out = walk(
        assemble([spec], Options(time=VirtualTime(), **more)),
        {"call": {"name": "act", "args": args}},
    )
    return out["failure"]["for_model"]


def test_there_are_enough_messages():
    assert len(set(MESSAGES)) >= 100


@pytest.mark.parametrize("effect", ["read_only", "mutating", "destructive"])
@pytest.mark.parametrize("kind", [Refusal, ValueError, LookupError, ToolException])
def test_the_words_of_the_reason_are_told(effect, kind):
    lost = []
    for message in MESSAGES:
        text = told(message, effect, kind=kind).lower()
        content = set(WORD.findall(message.lower())) - OWN_WORDS
        if not content or any(word not in text for word in content):
            lost.append((message, text))
    assert not lost


@pytest.mark.parametrize("line", [line for line in BLAMING.splitlines() if line])
def test_a_parameter_is_blamed_that_the_text_names_or_whose_value_it_repeats(line):
    message, _, may = line.partition("|")
    blamed = set(re.findall(r"`(\w+)`", told(message, kind=ValueError)))
    assert blamed <= set(may.split())


@pytest.mark.parametrize("kind", [Refusal, ValueError, LookupError])
def test_being_the_only_argument_is_no_evidence(kind):
    for message in BLAMELESS.splitlines():
        if message:
            assert "`" not in told(message, args={"mode": "START"}, kind=kind), message


@pytest.mark.parametrize(
    "message",
    [
        "The brake pedal needs to be pressed when starting the engine.",
        "The doors must be locked before the engine can start.",
        "An account must be verified first.",
        "The robot has to be homed before it can move.",
        "The vault cannot be opened until both keys are turned.",
        "You cannot check in before the ticket is issued.",
    ],
)
def test_a_precondition_is_told_as_one_and_blames_nobody(message):
    text = told(message, "read_only", {"vault": 1, "doors": 2, "robot": 3, "account": 4})
    assert "has to hold, first" in text
    assert "`" not in text
    assert "call that first" in text


@pytest.mark.parametrize(
    "message",
    [
        "end must be before start",
        "the start date must not be before 2020",
        "cvv must be provided when a card is given",
        "must have no more than 3 digits before the decimal point",
        "cabin must be 'economy', 'business' or 'first'",
    ],
)
def test_a_relation_of_values_is_no_precondition(message):
    assert "has to hold, first" not in told(message, kind=ValueError)


def test_what_is_known_beside_the_words_is_never_hidden():
    message = "cabin must be one of economy, business, first"
    text = told(message, kind=ValueError, tool_words="hide")
    assert message not in text
    assert "`cabin` is not one of the allowed values" in text
    assert all(f'"{name}"' in text for name in ("economy", "business", "first"))


def test_a_service_that_is_down_is_told_with_attempts_and_wait():
    class Down(Exception):
        response = SimpleNamespace(status_code=503, headers={"Retry-After": "1800"})

    text = told("backend is restarting", "read_only", kind=Down)
    assert "unavailable" in text
    assert "30 minutes" in text
    assert "backend is restarting" in text

    text = told("connection reset", "read_only", kind=ConnectionResetError)
    assert "tried 3 times" in text


@pytest.mark.parametrize("kind", [ValueError, Refusal])
def test_what_is_raised_on_purpose_is_no_fault_of_the_tool(kind):
    assert "fault" not in told("The kitchen closes at ten.", "read_only", kind=kind)


@pytest.mark.parametrize("effect", ["read_only", "mutating"])
def test_a_fault_of_the_tool_is_told_as_one(effect):
    def divide(number: int) -> float:
        """Divide."""
        return number / 0

    spec = ToolSpec.from_function(divide, effect=effect)
    call = {"name": "divide", "args": {"number": 1}}
    text = walk(assemble([spec]), {"call": call})["failure"]["for_model"]
    assert "`" not in text
    assert "division by zero" in text
    assert ("fault in the tool itself" in text) == (effect == "read_only")
    assert ("Do not repeat it" in text) == (effect == "mutating")


# --- where it is said -----------------------------------------------------------------------------

WORDS = "the vault is sealed"
SHIPPED = Path(__file__).parents[1] / "strategies"


def test_the_keyword_wins_over_the_map():
    hiding = StrategyMap([], extends="default", policy={"tool_words": "hide"})
    assert WORDS in told(WORDS)
    assert WORDS not in told(WORDS, strategies=hiding)
    assert WORDS in told(WORDS, strategies=hiding, tool_words="show")


@pytest.mark.parametrize("shipped", sorted(SHIPPED.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_map_shows_what_the_tool_said(shipped):
    text = told(f"{WORDS}, key sk-abcdefghijklmnopqrstuvwxyz123456", strategies=str(shipped))
    assert WORDS in text
    assert "sk-abc" not in text


def test_a_misspelt_setting_raises_at_the_start():
    with pytest.raises(GraphSetupError, match="tool_words"):
        build_graph([], tool_words="shown")  # type: ignore[arg-type]
    with pytest.raises(GraphSetupError, match="tool_words"):
        SelfCorrection(tool_words=True)  # type: ignore[arg-type]


@tool
def unlock(code: str) -> str:
    """Unlock the vault."""
    raise ToolException(WORDS)


@pytest.mark.parametrize("handled", [True, False, "The vault is sealed; ask the keeper."])
@pytest.mark.parametrize("words", ["show", "hide"])
def test_the_words_of_a_tool_reach_the_model_of_an_agent(handled, words):
    unlock.handle_tool_error = handled
    model = ScriptedModel([tool_call("unlock", code="1"), "done"])
    middleware = SelfCorrection(tool_words=words)
    create_agent(model, [unlock], middleware=[middleware]).invoke({"messages": "open it"})
    text = str(model.prompts[-1][-1].text)
    author = handled if isinstance(handled, str) else WORDS
    assert (f'as data: "{author}"' in text) == (words == "show")


@pytest.mark.parametrize("words", ["show", "hide"])
def test_the_words_of_a_tool_reach_the_model_of_a_graph(words):
    unlock.handle_tool_error = False
    builder = StateGraph(MessagesState)
    builder.add_node("tools", SelfCorrectingToolNode([unlock], tool_words=words))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    call = {"name": "unlock", "args": {"code": "1"}, "id": "1"}
    out = builder.compile().invoke({"messages": [AIMessage("", tool_calls=[call])]})
    assert (WORDS in out["messages"][-1].text) == (words == "show")


def act(amount: int) -> str:
    """Act."""
    raise Escalation("limit is 500; ask the branch", "HIGH")


def test_what_somebody_writes_for_the_model_is_told_where_words_are_hidden():
    spec = ToolSpec.from_function(act, effect="mutating")
    graph = build_graph([spec], tool_words="hide")
    out = graph.invoke({"call": {"name": "act", "args": {"amount": 900}}})
    assert 'as data: "limit is 500; ask the branch"' in out["failure"]["for_model"]

    def fails(amount: int) -> str:
        """Fail."""
        raise Refusal(WORDS)

    spec = ToolSpec.from_function(fails, effect="read_only")
    graph = build_graph(
        [spec], tool_words="hide", on_error=lambda error: Terminal("the branch is closed")
    )
    text = graph.invoke({"call": {"name": "fails", "args": {"amount": 1}}})["failure"]["for_model"]
    assert 'as data: "the branch is closed"' in text
    assert WORDS not in text


class Order(BaseModel):
    """What is ordered."""

    sku: str
    qty: int

    @field_validator("sku")
    @classmethod
    def _starts(cls, value: str) -> str:
        if not value.startswith("K-"):
            raise ValueError("a SKU starts with K-, such as K-100")
        return value


def order(order: Order) -> str:
    """Order."""
    return order.sku


def price(amount: Decimal) -> str:
    """Set a price."""
    return str(amount)


@pytest.mark.parametrize("effect", ["read_only", "mutating"])
def test_a_validator_that_refuses_is_told_like_a_violation_of_the_schema(effect):
    graph = build_graph([ToolSpec.from_function(order, effect=effect)])
    call = {"name": "order", "args": {"order": {"sku": "100", "qty": 2}}}
    text = graph.invoke({"call": call})["failure"]["for_model"]
    assert "`order.sku` was refused." in text
    assert "a SKU starts with K-, such as K-100" in text
    assert text.startswith("The call was not made")


def test_a_decimal_that_does_not_parse_is_told_like_a_violation_of_the_schema():
    graph = build_graph([ToolSpec.from_function(price, effect="read_only")])
    call = {"name": "price", "args": {"amount": "12,x"}}
    text = graph.invoke({"call": call})["failure"]["for_model"]
    assert "`amount` has the wrong type (type number)" in text
    assert "valid decimal" in text


# --- who has to say it ----------------------------------------------------------------------------

BOOK = {
    "name": "book",
    "parameters": {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "seats": {"type": "integer"},
            "cabin": {"type": "string", "enum": ["economy", "business"]},
        },
        "required": ["day", "seats"],
    },
}


def asked(args: dict[str, Any], request: str = "") -> str:
    spec = ToolSpec.from_schema(BOOK, call=lambda **_: "ok", effect="mutating")
    given = {"call": {"name": "book", "args": args}, "request": request}
    return walk(assemble([spec]), given)["failure"]["for_model"]


def test_two_readings_are_both_offered_to_the_user():
    text = asked({"day": "03/04/2026", "seats": 2}, "Book it for 03/04/2026.")
    assert "3 April or 4 March" in text
    assert "Ask the user which one is meant" in text


def test_a_value_that_stands_nowhere_comes_from_the_user():
    assert "ask the user" in asked({"day": "2026-10-26"}, "Book a flight, please.")
    assert "ask the user" not in asked({"day": "2026-10-26"}, "Book a flight for two, please.")
    assert "ask the user" not in asked({"day": "2026-10-26"})


def test_nobody_is_asked_for_what_the_model_can_correct():
    text = asked({"day": "2026-10-26", "seats": 2, "cabin": "premium"}, "Book premium.")
    assert text.endswith("Correct the call and call again.")
    assert 'allowed: "economy", "business"' in text


def test_the_nearest_names_are_told():
    spec = ToolSpec.from_schema(BOOK, call=lambda **_: "ok", effect="mutating")
    loop = assemble([spec], Options(strategies="strict"))
    args = {"day": "2026-10-26", "seats": 2, "cabin": "busines", "seat": 3}
    text = walk(loop, {"call": {"name": "book", "args": args}})["failure"]["for_model"]
    assert 'allowed: "business", "economy"' in text
    assert '`seat` is not a parameter of this tool (nearest: "seats"' in text


# --- what was done, and what is not ready ---------------------------------------------------------


class ImportFailed(Exception):
    """As a tool's author writes it."""


IN_PART = "Imported 10 records, then: invalid email in record 11"
NOT_YET = "Job r-3 is still rendering (40 %). Try again in 2 seconds"
AGAIN = "Correct the call and call again"


def told_of(error: Exception, effect: str, tool_words: str = "show", **declared: Any) -> str:
    """What the model reads of a tool that raises this error."""

    def load(records: str) -> str:
        """Load records."""
        raise error

    spec = ToolSpec.from_function(load, effect=effect, **declared)
    loop = assemble([spec], Options(tool_words=tool_words, time=VirtualTime()))
    return walk(loop, {"call": {"name": "load", "args": {"records": "r-3"}}})["failure"][
        "for_model"
    ]


@pytest.mark.parametrize("effect", ["mutating", "destructive"])
@pytest.mark.parametrize("kind", [ImportFailed, ValueError, LookupError, ToolException])
def test_who_refused_in_the_middle_is_not_called_again_for_all_of_it(kind, effect):
    shown, hidden = (told_of(kind(IN_PART), effect, words) for words in ("show", "hide"))
    assert IN_PART in shown
    assert "repeat only what the tool says was not done" in shown
    assert "find out what was done before" in hidden
    assert AGAIN not in shown + hidden


@pytest.mark.parametrize(
    ("effect", "error", "declared"),
    [
        ("read_only", ValueError(IN_PART), {}),
        ("idempotent", ValueError(IN_PART), {}),
        ("mutating", ValueError(IN_PART), {"atomic": True}),
        ("mutating", NotDone(IN_PART), {}),
    ],
)
def test_a_corrected_call_is_asked_for_where_nothing_was_done(effect, error, declared):
    assert AGAIN in told_of(error, effect, **declared)


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, ImportFailed])
@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
def test_what_is_not_ready_yet_is_told_as_temporary(kind, effect):
    text = told_of(kind(NOT_YET), effect)
    assert NOT_YET in text
    assert "It asks not to be called before 2 seconds from now." in text
    assert text.endswith("Try another way, or call again after that.")


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        (NOT_YET, [2.0, 2.0]),
        ("r-3 is not ready, the film is being rebuilt", [ANY, ANY]),
        ("PROCESSING", [ANY, ANY]),
    ],
)
@pytest.mark.parametrize("kind", [RuntimeError, ToolException])
def test_a_tool_that_reads_is_polled_within_the_bounds_until_it_is_ready(kind, text, waits):
    errors, time = [kind(text), kind(text)], VirtualTime()

    def look(job: str) -> str:
        """Look."""
        if errors:
            raise errors.pop()
        return f"{job}.mp4"

    spec = ToolSpec.from_function(look, effect="read_only")
    out = walk(
        assemble([spec], Options(time=time)), {"call": {"name": "look", "args": {"job": "r-3"}}}
    )
    assert (out.get("result"), time.slept) == ("r-3.mp4", waits)


def test_a_tool_that_acts_is_polled_by_nobody():
    text = told_of(RuntimeError(NOT_YET), "mutating")
    assert NOT_YET in text
    assert "repeat only what the tool says was not done" in text
    assert "Do not repeat" not in text


@pytest.mark.parametrize("error", [RuntimeError(NOT_YET), KeyError("a")])
def test_only_who_names_a_wait_may_be_called_again_unchanged_at_once(error):
    executed = []

    @tool
    def look(job: str) -> str:
        """Look."""
        executed.append(job)
        raise error

    look.metadata = {"effect": "read_only"}
    script = [*(tool_call("look", job="r-3") for _ in range(3)), "done"]
    ours = SelfCorrection(time=VirtualTime())
    agent = create_agent(ScriptedModel(script), [look], middleware=[ours])
    texts = [m.text for m in agent.invoke({"messages": "Look."})["messages"] if m.type == "tool"]
    assert len(executed) == (9 if isinstance(error, RuntimeError) else 1)
    assert isinstance(error, RuntimeError) or "failed before in the same way" in texts[-1]


@pytest.mark.parametrize(("pause", "times"), [(29.0, 1), (31.0, 2)])
def test_a_call_that_failed_may_be_made_again_after_a_while(pause, times):
    """In an agent; a failure of another call is no change of the world."""
    executed, time = [], VirtualTime()

    @tool
    def look(job: str) -> str:
        """Look."""
        executed.append(job)
        if job == "other":
            time.sleep(pause)
        raise LookupError(f"no film {job}")

    look.metadata = {"effect": "read_only"}
    calls = (tool_call("look", job=job) for job in ("r-3", "other", "r-3"))
    agent = create_agent(
        ScriptedModel([*calls, "done"]), [look], middleware=[SelfCorrection(time=time)]
    )
    told = [m.text for m in agent.invoke({"messages": "Look."})["messages"] if m.type == "tool"]
    assert executed.count("r-3") == times
    assert "no film r-3" in told[-1]


@pytest.mark.parametrize(("pause", "times"), [(29.0, 2), (31.0, 3)])
def test_a_call_that_failed_in_two_runs_may_be_made_again_after_a_while(pause, times):
    executed, time = [], VirtualTime()

    def look(job: str) -> str:
        """Look."""
        executed.append(job)
        raise LookupError(f"no film {job}")

    spec = ToolSpec.from_function(look, effect="read_only")
    loop = assemble([spec], Options(time=time))
    given = {"call": {"name": "look", "args": {"job": "r-3"}}, "task_id": "t"}
    for _ in range(3):
        walk(loop, given)
    assert len(executed) == 2
    time.sleep(pause)
    walk(loop, given)
    assert len(executed) == times


def test_a_refusal_says_what_is_wrong_and_quotes_no_refusal():
    @tool
    def look(number: int) -> str:
        """Look."""
        raise LookupError(f"no order with the number {number}")

    look.metadata = {"effect": "read_only"}
    script = [*(tool_call("look", number=999) for _ in range(3)), "done"]
    agent = create_agent(ScriptedModel(script), [look], middleware=[SelfCorrection()])
    texts = [m.text for m in agent.invoke({"messages": "Look."})["messages"] if m.type == "tool"]
    assert AGAIN in texts[0]
    assert texts[1] == texts[2]
    assert "What is wrong: `number` refers to something that was not found." in texts[1]
    assert texts[1].count("The call") == 1
    assert texts[1].endswith('The tool said, as data: "no order with the number 999"')
    assert not any(piece in texts[1] for piece in (AGAIN, "The call failed", "told then"))


def test_before_it_is_decided_no_error_has_a_kind():
    def look(number: int) -> str:
        """Look."""
        raise ImportFailed("odd")

    graph = build_graph([look])
    given = {"call": {"name": "look", "args": {"number": 1}}}
    steps = graph.stream(given, stream_mode="updates")
    seen = {name: update for step in steps for name, update in step.items()}
    assert "kind" not in seen["execute"]["error"]["findings"][0]
    assert not seen["execute"]["attempts"][0].get("kind")
    assert seen["diagnose"]["attempts"][0]["kind"] == seen["diagnose"]["findings"][0]["kind"]
