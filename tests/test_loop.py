"""The loop as a whole: what runs, what is repaired, and how each run ends."""

import asyncio
from threading import Event

import pytest
from kit import DATE, INTEGER, TEXT, Answered, Tool, nodes, run, table, with_rules
from langchain_core.messages import AIMessage

from selfcorrect import (
    Ask,
    Change,
    Changed,
    CorrectionFailed,
    ErrorRule,
    Escalate,
    GiveUp,
    NotDone,
    Outcome,
    Result,
    Retry,
    Safety,
    Severity,
    Terminal,
    ToolErrorPolicy,
    ToolSpec,
    Wait,
)
from selfcorrect.errors import ToolErrorTerminal, ToolExecutionError
from selfcorrect.ledger import MemoryLedger
from selfcorrect.testing import ScriptedModel, VirtualTime, aplay, play

REPAIRED = [
    "plan",
    "execute",
    "diagnose",
    "select_strategy",
    "repair",
    "validate",
    "retry",
    "execute",
]


def test_a_healthy_call_takes_two_nodes():
    tool = Tool()
    out = run(tool, {"q": 1})
    assert out["result"] == "ok"
    assert nodes(out) == ["plan", "execute"]


def test_a_repaired_call_takes_every_node_once():
    tool = Tool(schema={"day": DATE})
    out = run(tool, {"day": "Oct 26, 2026"})
    assert tool.ran == [{"day": "2026-10-26"}]
    assert nodes(out) == REPAIRED
    change = out["trail"][4]["changes"][0]
    assert (change["strategy"], change["safety"]) == ("format-date", "inferred")
    assert (change["before"], change["after"]) == ("Oct 26, 2026", "2026-10-26")


# Which values and names are repaired, and which are not, stands in `data/values.txt` and the like.
REPAIRS = table("loop.txt", "repairs")


@pytest.mark.parametrize(("schema", "args", "want"), REPAIRS)
def test_rules_repair_without_a_model(schema, args, want):
    tool = Tool(schema=schema)
    run(tool, args)
    assert tool.ran == [want]


REFUSED = table("loop.txt", "refused")


@pytest.mark.parametrize(("schema", "args"), REFUSED)
@pytest.mark.parametrize("effect", ["mutating", None])
def test_what_has_no_one_reading_never_runs_on_a_tool_that_acts(schema, args, effect):
    tool = Tool(schema=schema, effect=effect)
    out = run(tool, args)
    assert tool.ran == []
    assert out["failure"]["reason"] in ("needs_person", "no_strategy")


@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
@pytest.mark.parametrize("error", [Answered(503), ConnectionResetError("x"), TimeoutError("x")])
def test_a_passing_fault_is_retried_where_a_second_call_does_no_harm(effect, error):
    tool, time = Tool(error, error, effect=effect), VirtualTime()
    assert run(tool, time=time)["result"] == "ok"
    assert len(tool.ran) == 3
    assert len(time.slept) == 2
    assert all(seconds > 0 for seconds in time.slept)


@pytest.mark.parametrize("effect", ["mutating", "destructive", None])
@pytest.mark.parametrize("error", [Answered(503), ConnectionResetError("x"), TimeoutError("x")])
def test_a_lost_call_of_a_tool_that_acts_never_runs_again(effect, error):
    tool = Tool(error, effect=effect)
    failure = run(tool)["failure"]
    assert len(tool.ran) == 1
    assert failure["reason"] == "unknown_outcome"
    assert failure["attempts"][0]["outcome"] == Outcome.LOST


def test_a_refusal_of_a_tool_that_acts_ends_with_the_repaired_call_as_a_proposal():
    error = ValueError("Invalid date format for 'q'")
    tool = Tool(error, effect="mutating", schema={"q": TEXT})
    failure = run(tool, {"q": "Oct 26, 2026"})["failure"]
    assert len(tool.ran) == 1
    assert failure["reason"] == "refused"
    assert failure["proposal"] == {"name": "t", "args": {"q": "2026-10-26"}}


@pytest.mark.parametrize("more", [{"atomic": True}, {}])
def test_what_was_not_done_is_repaired_and_repeated(more):
    text = "Invalid date format for 'q'"
    error = ValueError(text) if more else NotDone(text)
    tool = Tool(error, effect="mutating", schema={"q": TEXT}, **more)
    assert run(tool, {"q": "Oct 26, 2026"})["result"] == "ok"
    assert [each["q"] for each in tool.ran] == ["Oct 26, 2026", "2026-10-26"]


@pytest.mark.parametrize(("effect", "last"), [("read_only", "business"), (None, "Business")])
def test_an_error_names_a_value_for_tools_that_read_only(effect, last):
    tool = Tool(
        NotDone("Value for 'q' must be one of ['economy', 'business']"),
        effect=effect,
        schema={"q": TEXT},
    )
    run(tool, {"q": "Business"})
    assert tool.ran[-1]["q"] == last


def test_a_wait_that_the_service_asks_for_is_a_floor():
    tool, time = Tool(Answered(503, retry_after=7)), VirtualTime()
    run(tool, time=time)
    assert time.slept == [pytest.approx(7)]


@pytest.mark.parametrize(("base", "cap"), [(0.2, 30.0), (1.0, 3.0), (0.1, 0.1)])
def test_waits_double_from_a_base_to_a_cap_and_repeat_in_another_play(base, cap):
    def waits(call):
        tool, time = Tool(*[Answered(503)] * 5), VirtualTime()
        options = {"wait": {"base": base, "cap": cap}}
        rule = {"id": "busy", "status": 503, "repair": ["wait"], "options": options}
        strategies = with_rules({**rule, "kind": "transient", "priority": "critical"})
        run(tool, {"q": call}, time=time, strategies=strategies, limits={"attempts": 6})
        return time.slept

    found = waits(1)
    assert all(0 < each <= min(cap, base * 2**at) for at, each in enumerate(found))
    assert (len(found), waits(1) == found, waits(2) == found) == (5, True, False)


@pytest.mark.parametrize("effect", ["read_only", "mutating"])
@pytest.mark.parametrize("is_sync", [False, True])
def test_the_time_of_the_run_ends_a_tool_in_async_code(effect, is_sync):
    ran, go = [], Event()

    async def wait(q: int) -> str:
        """Wait."""
        ran.append(q)
        await asyncio.sleep(60)

    def hang(q: int) -> str:
        """Hang."""
        ran.append(q)
        go.wait(60)

    tool = ToolSpec.from_function(hang if is_sync else wait, name="t", effect=effect)
    given = {"call": {"name": "t", "args": {"q": 1}}}
    failure = asyncio.run(aplay([tool], given, limits={"seconds": 0.05}))["failure"]
    go.set()
    assert (failure["reason"], ran) == ("limit_reached", [1])
    assert "gave no answer within" in failure["attempts"][0]["text"]
    assert failure["attempts"][0]["outcome"] == "lost"


def test_a_wait_beyond_the_limit_ends_the_run_without_waiting():
    tool, time = Tool(Answered(429, retry_after=3600)), VirtualTime()
    failure = run(tool, time=time)["failure"]
    assert failure["reason"] == "limit_reached"
    assert "3600" in failure["for_model"]
    assert time.slept == []


def test_a_receipt_that_is_missing_makes_the_call_lost():
    tool = Tool({"status": "ok"}, effect="mutating", receipt="id")
    assert run(tool)["failure"]["reason"] == "unknown_outcome"
    assert run(Tool({"id": "R1"}, effect="mutating", receipt="id"))["result"] == {"id": "R1"}


@pytest.mark.parametrize(
    ("answer", "result", "reason"),
    [
        (Result("R1"), "R1", None),
        (None, None, "unknown_outcome"),
        (Outcome.NOT_DONE, "ok", None),
    ],
)
def test_verify_finds_out_what_a_lost_call_did(answer, result, reason):
    tool = Tool(TimeoutError("x"), effect="mutating", verify=lambda args: answer)
    out = run(tool)
    assert out.get("result") == result
    assert out.get("failure", {}).get("reason") == reason
    assert len(tool.ran) == (2 if answer is Outcome.NOT_DONE else 1)


ANSWERS = [
    (Result("value"), "result", "value"),
    (Terminal("over"), "failure", "terminal_kind"),
    (Escalate("help", Severity.CRITICAL), "failure", "escalated"),
    (GiveUp("cannot"), "failure", "no_strategy"),
    ("no repair", "failure", "no_strategy"),
]


class Odd:
    def __repr__(self):
        raise ValueError("odd")

    __str__ = __repr__


UNUSABLE = {
    "times that are no number": Retry("three"),
    "times beyond any number": Retry(10**400),
    "a wait that is no number": Wait(None),
    "a wait beyond any number": Wait(10**400),
    "an object that cannot be shown": Odd(),
    "a reason that cannot be shown": GiveUp(Odd()),
    "no safety class": Changed(Change("/args/q", 1, 2, "zzz", "odd")),
    "a value that is no JSON": Changed(Change("/args/q", 1, Odd(), Safety.EXACT, "odd")),
    "no path": Changed(Change("q", 1, 2, Safety.EXACT, "odd")),
    "no options": Ask("which?", None),
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("effect", ["read_only", "mutating"])
def test_an_unusable_answer_costs_its_rung_and_never_the_run(name, effect):
    rule = ErrorRule(id="own", match="odd", repair=[lambda *_: UNUSABLE[name]])
    tool = Tool(*[ValueError("odd")] * 3, effect=effect)
    out = run(tool, strategies=with_rules(rule))
    assert out["failure"]["reason"] not in ("unknown_outcome", "invalid_input")
    assert {"q": 2} not in tool.ran


@pytest.mark.parametrize(("answer", "end", "value"), ANSWERS)
def test_each_answer_of_a_strategy_has_its_end(answer, end, value):
    rule = ErrorRule(id="own", match="odd", repair=[lambda call, diagnosis, context: answer])
    out = run(Tool(ValueError("odd")), strategies=with_rules(rule))
    assert (out[end] if end == "result" else out["failure"]["reason"]) == value


def test_a_strategy_that_raises_costs_its_rung_and_never_the_run():
    def broken(call, diagnosis, context):
        raise RuntimeError("a bug")

    rule = ErrorRule(id="own", match="odd", repair=[broken, lambda *_: Result("next")])
    out = run(Tool(ValueError("odd")), strategies=with_rules(rule))
    assert out["result"] == "next"


@pytest.mark.parametrize(("even_if_lost", "runs"), [(False, 1), (True, 3)])
def test_retry_of_a_rule_vouches_after_a_lost_call_only_if_it_says_so(even_if_lost, runs):
    rule = ErrorRule(id="own", match="x", repair=[lambda *_: Retry(2, even_if_lost=even_if_lost)])
    tool = Tool(*[TimeoutError("x")] * 5, effect="mutating")
    run(tool, strategies=with_rules(rule))
    assert len(tool.ran) == runs


def test_retry_of_a_rule_vouches_after_a_refusal_as_far_as_the_ceiling():
    rule = ErrorRule(id="own", match="x", repair=[lambda *_: Retry(50)])
    tool = Tool(*[ValueError("x")] * 50, effect="mutating")
    run(tool, strategies=with_rules(rule))
    assert len(tool.ran) == 10


def test_the_same_call_with_the_same_error_is_not_repeated():
    tool = Tool(*[ValueError("odd thing")] * 9)
    run(tool, {"q": 1})
    assert len(tool.ran) == 1


def test_a_call_that_is_done_is_answered_from_the_ledger():
    tool, ledger = Tool({"receipt": 1}, effect="mutating"), MemoryLedger()
    outs = [run(tool, {"q": n}, task_id="t", ledger=ledger) for n in (1, "1", 1.0)]
    assert [out["result"] for out in outs] == [{"receipt": 1}] * 3
    assert len(tool.ran) == 1
    assert outs[1]["trail"][-1]["replayed"]


def test_the_strict_map_differs_by_its_policy_only():
    tool = Tool(schema={"day": DATE, "q": INTEGER})
    assert run(tool, {"q": "5"}, strategies="strict")["result"] == "ok"
    assert run(tool, {"day": "Oct 26, 2026"}, strategies="strict")["failure"]


def test_a_terminal_kind_ends_the_run_and_names_its_cause():
    policy, error = ToolErrorPolicy.operator_safe(), Answered(401)
    assert run(Tool(error), policy=policy)["failure"]["reason"] == "terminal_kind"
    with pytest.raises(ToolErrorTerminal) as caught:
        run(Tool(error, error), policy=policy, on_failure="raise")
    assert caught.value.__cause__ is error


def test_with_raise_the_original_exception_propagates():
    error = RuntimeError("x")
    with pytest.raises(RuntimeError) as caught:
        run(Tool(error), on_failure="raise")
    assert caught.value is error


def test_exhaustion_raises_with_the_first_and_the_last_cause():
    errors = [Answered(503, str(n)) for n in range(3)]
    with pytest.raises(ToolExecutionError) as caught:
        run(Tool(*errors), on_failure="raise")
    assert (caught.value.first_cause, caught.value.last_cause) == (errors[0], errors[-1])


def test_a_run_without_an_error_of_the_tool_raises_ours():
    with pytest.raises(CorrectionFailed, match=r"needs_person|no_strategy") as caught:
        run(Tool(), {"q": "many"}, on_failure="raise")
    assert caught.value.report.reason in ("needs_person", "no_strategy")


def test_a_near_tool_name_is_corrected_and_a_far_one_is_not():
    tool = Tool(name="search_flights")
    assert run(tool, {"q": 1}, name="serach_flights")["result"] == "ok"
    failure = run(tool, {"q": 1}, name="find_hotel")["failure"]
    assert failure["reason"] == "no_strategy"
    assert len(tool.ran) == 1


@pytest.mark.parametrize("name", ["delete_trip", "deletetrip", "delet_trip"])
def test_no_likeness_leads_to_a_destructive_tool(name):
    tool = Tool(name="delete-trip", effect="destructive")
    run(tool, name=name)
    assert tool.ran == []


def test_a_model_gives_what_is_missing_and_nothing_else():
    model = ScriptedModel([{"q": 1, "other": 2}])
    tool = Tool(required=["q"], schema={"q": INTEGER, "other": INTEGER})
    out = run(tool, {}, model=model, request="one for me")
    assert tool.ran == [{"q": 1}]
    assert [each["safety"] for event in out["trail"] for each in event.get("changes", ())] == [
        "model"
    ]
    assert "one for me" in str(model.prompts[0][-1].content)


def test_a_model_is_not_asked_where_rules_suffice():
    model = ScriptedModel([])
    run(Tool(), {"q": "5"}, model=model)
    assert model.prompts == []


def test_a_request_becomes_a_call_by_the_model():
    from selfcorrect.testing import tool_call

    tool = Tool()
    model = ScriptedModel([tool_call("t", q=3)])
    assert play([tool.spec], {"request": "three"}, model=model)["result"] == "ok"
    assert tool.ran == [{"q": 3}]


NO_CALLS = [*table("loop.txt", "no calls"), ({"raw": "x" * 2_000_000}, "invalid_input")]


@pytest.mark.parametrize(("given", "reason"), NO_CALLS)
def test_what_is_no_whole_call_never_runs(given, reason):
    tool = Tool(effect="mutating")
    assert play([tool.spec], given)["failure"]["reason"] == reason
    assert tool.ran == []


def test_secrets_do_not_leave_with_an_error():
    secret = "sk-proj-abcdefghijklmnop0123456789"
    out = run(Tool(ValueError(f"Authorization: Bearer {secret} password=hunter22long")))
    assert secret not in str(out)
    assert "hunter22long" not in str(out)


def test_a_wait_of_a_strategy_repeats_the_call():
    rule = ErrorRule(id="own", match="busy", repair=[lambda *_: Wait(2)])
    tool, time = Tool(ValueError("busy")), VirtualTime()
    assert run(tool, strategies=with_rules(rule), time=time)["result"] == "ok"
    assert time.slept == [2]


def break_down(q: int = 0) -> str:
    """Break down."""
    return {}["x"] + str(q)


def test_a_failure_says_where_the_fault_of_the_tool_is_and_is_logged_once(caplog):
    with caplog.at_level("WARNING", logger="selfcorrect"):
        failure = play([break_down], {"call": {"name": "break_down", "args": {}}})["failure"]
    assert failure["where"].endswith(" in break_down")
    assert "test_loop.py:" in failure["where"]
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("selfcorrect", "ERROR")
    assert "break_down" in record.getMessage()
    assert failure["where"] not in failure["for_model"]


def test_a_failure_of_a_call_has_no_place_in_the_tool(caplog):
    failure = play([break_down], {"call": {"name": "break_down", "args": {"q": "x"}}})["failure"]
    assert "where" not in failure


TWO = [{"name": "t", "args": {"q": q}, "id": str(q)} for q in (1, 2)]


@pytest.mark.parametrize("given", [TWO, {"tool_calls": TWO}], ids=["a list", "a message"])
def test_of_several_calls_none_is_dropped_in_silence(given):
    tool = Tool(effect="mutating")
    assert "failure" in play([tool.spec], {"call": given})
    assert tool.ran == []


def test_of_several_calls_that_a_model_makes_none_is_dropped_in_silence():
    tool = Tool(effect="mutating")
    model = ScriptedModel([AIMessage("", tool_calls=TWO)])
    assert "failure" in play([tool.spec], {"request": "do both"}, model=model)
    assert tool.ran == []
