"""`on_error`: what a tool's author says about its errors, in the exact order of who is heard."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any, ClassVar

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool as as_tool
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from selfcorrect import (
    Change,
    Changed,
    Escalate,
    Escalation,
    Fix,
    GiveUp,
    HardFailure,
    Result,
    Retry,
    Safety,
    StrategyMap,
    Terminal,
    ToolErrorPolicy,
    ToolSpec,
    build_graph,
    default_on_error,
    on_error,
)
from selfcorrect.errors import GraphSetupError, ToolErrorTerminal, ToolExecutionError
from selfcorrect.model import Ask, DeserializationError, ExecutionError, InvalidArgs, Severity
from selfcorrect.testing import ScriptedModel, tool_call

EMPTY = StrategyMap(rules=[], extends=[])
CALL = {"call": {"name": "act", "args": {"a": 1}}}


class World:
    """A tool that fails as often as it is told to."""

    def __init__(self, failures: int = 99, error: type[Exception] = ValueError) -> None:
        self.failures, self.error, self.calls = failures, error, 0

    def spec(self, handler: Any = None, effect: Any = "read_only") -> ToolSpec:
        def act(a: int) -> str:
            """Act."""
            self.calls += 1
            if self.calls <= self.failures:
                raise self.error(f"failure {self.calls}")
            return f"done {a}"

        return ToolSpec.from_function(act, effect=effect, on_error=handler)


def run(world: World, handler: Any = None, given: Any = CALL, **options: Any) -> dict[str, Any]:
    effect = options.pop("effect", "read_only")
    return build_graph([world.spec(handler, effect)], **options).invoke(given)


def executing(answer: Any) -> Any:
    return on_error(execution_error=answer)


class TestRetry:
    @pytest.mark.parametrize(("times", "failures"), [(1, 1), (3, 3), (5, 5), (9, 9)])
    def test_further_executions_beyond_the_usual_bound(self, times, failures):
        world = World(failures)
        assert run(world, executing(Retry(times)))["result"] == "done 1"
        assert world.calls == failures + 1

    @pytest.mark.parametrize(("times", "executed"), [(1, 2), (2, 3), (5, 6), (50, 10)])
    def test_and_never_more_than_the_ceiling(self, times, executed):
        world = World()
        out = run(world, executing(lambda error: Retry(times)))
        assert world.calls == executed
        assert out["failure"]["reason"] == "attempts_exhausted"

    def test_also_of_a_kind_that_is_repeated_anyway(self):
        world = World(error=ConnectionRefusedError)
        run(world, executing(Retry(1)))
        assert world.calls == 2

    def test_exhaustion_names_tool_count_first_and_last_cause(self):
        world = World()
        with pytest.raises(ToolExecutionError) as caught:
            run(world, executing(Retry(2)), on_failure="raise")
        error = caught.value
        assert (error.tool, error.attempts) == ("act", 3)
        assert (str(error.first_cause), str(error.last_cause)) == ("failure 1", "failure 3")
        assert error.__cause__ is error.last_cause

    @pytest.mark.parametrize("effect", ["mutating", "destructive", None])
    def test_what_may_have_happened_is_not_done_again(self, effect):
        world = World(error=TimeoutError)
        out = run(world, executing(Retry(3)), effect=effect)
        assert world.calls == 1
        assert out["failure"]["reason"] == "unknown_outcome"

    def test_nor_by_a_changed_call(self):
        world = World(error=TimeoutError)
        change = Change("/args/a", 1, 2, Safety.EXACT, "other")
        out = run(world, executing(Changed(change)), effect="mutating")
        assert world.calls == 1
        assert out["failure"]["reason"] == "unknown_outcome"


class TestOtherDecisions:
    def test_a_result_answers_for_the_tool(self):
        out = run(World(), executing(lambda error: Result({"from": str(error.cause)})))
        assert out["result"] == {"from": "failure 1"}

    def test_a_result_also_where_the_tool_may_not_run_again(self):
        world = World(error=TimeoutError)
        out = run(world, executing(Result("cached")), effect="destructive")
        assert (out["result"], world.calls) == ("cached", 1)

    def test_escalation_is_told_to_the_model_above(self):
        out = run(World(), executing(Escalate("use a=7", Severity.LOW)))
        failure = out["failure"]
        assert (failure["reason"], failure["severity"]) == ("escalated", "LOW")
        for part in ('"act"', "LOW", "use a=7", "call again"):
            assert part in failure["for_model"]

    def test_terminal_ends_the_run(self):
        world = World()
        out = run(world, executing(Terminal("no way")))
        assert (out["failure"]["reason"], world.calls) == ("terminal_kind", 1)

    def test_a_question(self):
        out = run(World(), executing(Ask("which?", (1, 2))))
        assert out["failure"]["reason"] == "needs_person"
        assert out["failure"]["question"]["question"] == "which?"

    def test_bad_arguments_never_reach_the_tool_unmended(self):
        world = World(0)

        def decide(error):
            assert isinstance(error, InvalidArgs)
            assert error.raw == {"a": "one"}
            assert error.schema["properties"]["a"]["type"] == "integer"
            return Changed(Change("/args/a", "one", 1, Safety.INFERRED, "a word"))

        given = {"call": {"name": "act", "args": {"a": "one"}}}
        assert run(world, on_error(invalid_args=decide), given)["result"] == "done 1"
        assert world.calls == 1

    def test_repeating_does_not_help_bad_arguments(self):
        world = World(0)
        out = run(
            world, on_error(invalid_args=Retry(3)), {"call": {"name": "act", "args": {"a": []}}}
        )
        assert world.calls == 0
        assert out["failure"]["reason"] in ("needs_person", "no_strategy")

    def test_arguments_that_the_tools_own_types_refuse(self):
        seen = []

        def act(day: date) -> str:
            """Act."""
            return day.isoformat()

        def convert(**args: Any) -> str:
            seen.append(args)
            return "x"

        def decide(error):
            assert isinstance(error, DeserializationError)
            return Changed(Change("/args/day", error.raw["day"], "2026-02-28", Safety.EXACT, "r"))

        spec = ToolSpec.from_function(
            act, effect="read_only", on_error=on_error(deserialization_error=decide)
        )
        schema = {
            "name": "act",
            "parameters": {"type": "object", "properties": {"day": {"type": "string"}}},
        }
        lax = ToolSpec.from_schema(
            schema,
            call=lambda day: spec.run({"day": day}),
            effect="read_only",
            on_error=spec.on_error,
        )
        out = build_graph([lax]).invoke({"call": {"name": "act", "args": {"day": "tomorrow"}}})
        assert out["result"] == "2026-02-28"


class TestDeclining:
    @pytest.mark.parametrize(
        "answer",
        [
            None,
            lambda error: None,
            lambda error: GiveUp("not mine"),
            lambda error: "nonsense",
            lambda error: 1 / 0,
            lambda error: Retry(0),
            lambda error: Retry("many"),
            lambda error: Fix(None),
            lambda error: Fix(print, -1),
        ],
    )
    def test_goes_on_to_the_map(self, answer):
        given = {"call": {"name": "act", "args": {"a": "1"}}}
        out = run(World(0), on_error(invalid_args=answer), given)
        assert out["result"] == "done 1"
        changed = [e["changes"][0] for e in out["trail"] if e["node"] == "repair"]
        assert changed[-1]["strategy"] == "convert-type"

    def test_without_handler_and_rule_the_original_is_raised(self):
        raised = []

        def act(a: int) -> str:
            """Act."""
            raised.append(LookupError("mine"))
            raise raised[-1]

        spec = ToolSpec.from_function(act, effect="read_only")
        with pytest.raises(LookupError) as caught:
            build_graph([spec], strategies=EMPTY, on_failure="raise").invoke(CALL)
        assert caught.value is raised[0]

    def test_a_handler_that_declines_leaves_the_original(self):
        world = World(error=RuntimeError)
        with pytest.raises(RuntimeError, match="failure 1"):
            run(world, executing(lambda e: None), strategies=EMPTY, on_failure="raise")


class TestPriority:
    """Tool, then graph, then defaults; whole handlers; then the map."""

    @pytest.fixture(autouse=True)
    def defaults(self):
        before = default_on_error(on_error(execution_error=Result("defaults")))
        yield
        default_on_error(before)

    @pytest.mark.parametrize(
        ("own", "graph", "result"),
        [
            (executing(Result("tool")), executing(Result("graph")), "tool"),
            (None, executing(Result("graph")), "graph"),
            (None, {"act": executing(Result("graph"))}, "graph"),
            (executing(Result("tool")), {"act": executing(Result("graph"))}, "tool"),
            (None, None, "defaults"),
            (None, {}, "defaults"),
            (None, lambda error: Result("code"), "code"),
        ],
    )
    def test_who_is_heard(self, own, graph, result):
        assert run(World(), own, on_error=graph)["result"] == result

    def test_kinds_are_not_merged(self):
        own = on_error(invalid_args=Result("tool"))
        out = run(World(error=KeyError), own, on_error=executing(Result("graph")))
        assert out["failure"]["reason"] in ("no_strategy", "needs_person", "repeated_failure")

    @pytest.mark.parametrize("wrong", [5, "retry", {"atc": executing(None)}, {"act": 5}])
    def test_author_mistakes_raise_early(self, wrong):
        with pytest.raises(GraphSetupError):
            build_graph([World().spec()], on_error=wrong)

    def test_a_handler_must_be_able_to_decide(self):
        with pytest.raises(GraphSetupError, match="execution_error"):
            on_error(execution_error="retry")


class TestDecorator:
    def test_on_a_function(self):
        @on_error(execution_error=Result("caught"))
        def act(a: int) -> str:
            """Act."""
            raise KeyError("x")

        assert build_graph([act]).invoke(CALL)["result"] == "caught"

    def test_below_a_langchain_tool(self):
        @as_tool
        @on_error(execution_error=Result("caught"))
        def act(a: int) -> str:
            """Act."""
            raise KeyError("x")

        assert build_graph([act]).invoke(CALL)["result"] == "caught"

    def test_above_a_langchain_tool_it_says_where_it_belongs(self):
        @as_tool
        def act(a: int) -> str:
            """Act."""
            return ""

        with pytest.raises(GraphSetupError, match="below @tool"):
            on_error(execution_error=None)(act)


class State(TypedDict, total=False):
    arguments: dict[str, Any]
    answer: Any
    messages: list[Any]


def as_graph(function: Any) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("fix", lambda state: {"messages": [function(state["arguments"])]})
    builder.add_edge(START, "fix")
    builder.add_edge("fix", END)
    return builder.compile()


FIXERS: dict[str, Any] = {
    "callable": lambda: lambda request: "mended",
    "runnable": lambda: RunnableLambda(lambda given: "mended"),
    "graph": lambda: as_graph(lambda args: "mended"),
    "model": lambda: ScriptedModel(["mended"]),
    "bound model": lambda: ScriptedModel(["mended"]).bind(stop=["x"]),
}


class TestFix:
    @pytest.mark.parametrize("kind", FIXERS)
    def test_any_fixers_value_is_the_result(self, kind):
        world = World(error=RuntimeError)
        out = run(world, executing(Fix(FIXERS[kind]())), effect="mutating")
        assert (out["result"], world.calls) == ("mended", 1)

    def test_awaited_fixers(self):
        async def fixer(request):
            return "mended"

        async def handler(error):
            return Fix(fixer)

        graph = build_graph([World().spec(executing(handler))])
        assert asyncio.run(graph.ainvoke(CALL))["result"] == "mended"

    def test_gets_everything(self):
        seen = []

        def fixer(request):
            seen.append(request)
            return 1

        given = {**CALL, "request": "do it"}
        run(World(), executing(Fix(fixer)), given)
        (request,) = seen
        assert (request.tool, request.arguments, request.request) == ("act", {"a": 1}, "do it")
        assert request.error == "ValueError: failure 1"
        assert request.schema["required"] == ["a"]

    @pytest.mark.parametrize(("retries", "asked"), [(0, 1), (1, 2), (3, 4), (99, 8)])
    def test_failures_of_the_fixer_use_up_its_retries(self, retries, asked):
        times = []

        def fixer(request):
            times.append(1)
            raise OSError("fixer broke")

        out = run(World(), executing(Fix(fixer, retries)))
        assert len(times) == asked
        assert out["failure"]["reason"] == "attempts_exhausted"
        assert "fixer broke" in out["failure"]["detail"]

    def test_the_last_retry_counts(self):
        answers = iter([OSError("once"), "mended"])

        def fixer(request):
            answer = next(answers)
            if isinstance(answer, Exception):
                raise answer
            return answer

        assert run(World(), executing(Fix(fixer, 1)))["result"] == "mended"

    @pytest.mark.parametrize(
        ("raised", "reason"),
        [(Escalation("a=7", "low"), "escalated"), (HardFailure("binary"), "terminal_kind")],
    )
    def test_escalation_and_hard_failure_end_it_at_once(self, raised, reason):
        asked = []

        def fixer(request):
            asked.append(1)
            raise raised

        out = run(World(), executing(Fix(fixer, 5)))
        assert (out["failure"]["reason"], len(asked)) == (reason, 1)
        with pytest.raises(ToolExecutionError):
            run(World(), executing(Fix(fixer, 5)), on_failure="raise")

    @pytest.mark.parametrize(
        ("said", "severity"),
        [("low", "LOW"), ("CRITICAL", "CRITICAL"), ("odd", "HIGH"), (None, "HIGH")],
    )
    def test_a_model_escalates_with_the_built_in_tool(self, said, severity):
        args = {"reason": "use a=7"} | ({"severity": said} if said else {})
        out = run(World(), executing(Fix(ScriptedModel([tool_call("escalate", **args)]))))
        failure = out["failure"]
        assert (failure["reason"], failure["severity"]) == ("escalated", severity)
        assert "use a=7" in failure["for_model"]

    def test_a_model_throws(self):
        model = ScriptedModel([tool_call("throw_exception", reason="binary")])
        with pytest.raises(ToolExecutionError, match="act"):
            run(World(), executing(Fix(model, 3)), on_failure="raise")
        assert len(model.prompts) == 1

    def test_a_models_calls_are_counted_and_bounded(self):
        model = ScriptedModel([ValueError("x")] * 9)
        out = run(World(), executing(Fix(model, 7)), limits={"model_calls": 2})
        assert out["failure"]["counts"]["model_calls"] == 2
        assert "model calls" in out["failure"]["detail"]

    @pytest.mark.parametrize("is_async", [False, True])
    def test_the_models_inside_an_agent_are_counted_and_bounded(self, is_async):
        inner = ScriptedModel(["hm"], again=True)

        async def athink(args):
            return [await inner.ainvoke("?") for _ in range(9)][-1]

        def think(args):
            return [inner.invoke("?") for _ in range(9)][-1]

        fixer = RunnableLambda(think, afunc=athink)
        graph = build_graph([World().spec(executing(Fix(fixer, 7)))], limits={"model_calls": 3})
        out = asyncio.run(graph.ainvoke(CALL)) if is_async else graph.invoke(CALL)
        assert out["failure"]["reason"] == "attempts_exhausted"
        assert (len(inner.prompts), out["failure"]["counts"]["model_calls"]) == (3, 3)
        assert out["failure"]["counts"]["tokens"] == 30

    def test_the_prompt_of_a_model_shows_no_secret(self):
        model = ScriptedModel(["mended"])

        def act(a: int) -> str:
            """Act."""
            raise ValueError("password=hunter2! refused")

        spec = ToolSpec.from_function(act, effect="read_only", on_error=executing(Fix(model)))
        build_graph([spec]).invoke(CALL)
        assert "hunter2" not in str(model.prompts)


class TestFixOfBadArguments:
    GIVEN: ClassVar = {"call": {"name": "act", "args": {"a": "one?!"}}}

    @pytest.mark.parametrize(
        "answer",
        [{"a": 1}, '{"a": 1}', '```json\n{"a": 1}\n```', {"a": "1"}],
        ids=["object", "text", "fence", "text that the map mends"],
    )
    def test_are_read_and_checked_before_the_tool_runs(self, answer):
        world = World(0)
        out = run(world, on_error(invalid_args=Fix(lambda request: answer)), self.GIVEN)
        assert (out["result"], world.calls) == ("done 1", 1)

    def test_a_models_word_is_of_class_model(self):
        out = run(World(0), on_error(invalid_args=Fix(ScriptedModel([{"a": 1}]))), self.GIVEN)
        (change,) = [c for e in out["trail"] if e["node"] == "repair" for c in e["changes"]]
        assert (change["safety"], change["strategy"]) == ("model", "on-error")
        assert out["result"] == "done 1"

    @pytest.mark.parametrize("answer", ["prose", [], None, {}, {"a": []}, {"a": "[secret]"}])
    def test_nonsense_never_reaches_the_tool(self, answer):
        world, asked = World(0), []

        def fixer(request):
            asked.append(1)
            return answer

        out = run(world, on_error(invalid_args=Fix(fixer, 2)), self.GIVEN)
        assert (world.calls, "failure" in out) == (0, True)
        assert len(asked) <= 3

    def test_text_that_is_no_object(self):
        world = World(0)
        handler = on_error(
            invalid_args=Fix(lambda request: request.raw.replace(",}", "}").replace("#", '"'))
        )
        given = {"call": {"name": "act", "args": "{#a#: 1,}"}}
        assert run(world, handler, given)["result"] == "done 1"

    def test_a_sensitive_value_needs_a_person_also_where_code_fixes_it(self):
        schema = {
            "name": "pay",
            "parameters": {
                "type": "object",
                "properties": {"amount": {"type": "integer", "x-sensitive": True}},
            },
        }
        paid = []
        spec = ToolSpec.from_schema(
            schema,
            call=lambda **args: paid.append(args),
            on_error=on_error(invalid_args=Fix(lambda request: {"amount": 5})),
        )
        out = build_graph([spec]).invoke({"call": {"name": "pay", "args": {"amount": "lots"}}})
        assert paid == []
        assert "failure" in out

    def test_under_a_strict_map_no_fixer_decides(self):
        handler = on_error(invalid_args=Fix(ScriptedModel([{"a": 1}] * 3)))
        world = World(0)
        out = run(world, handler, self.GIVEN, strategies="strict")
        assert (world.calls, "failure" in out) == (0, True)

    def test_a_model_touches_only_what_is_at_fault(self):
        def act(a: int, amount: int) -> str:
            """Act."""
            return f"{a} {amount}"

        model = ScriptedModel([{"a": 1, "amount": 1000}] * 2)
        spec = ToolSpec.from_function(act, on_error=on_error(invalid_args=Fix(model)))
        given = {"call": {"name": "act", "args": {"a": "one!", "amount": 10}}}
        assert "failure" in build_graph([spec]).invoke(given)


class TestBuiltInTools:
    def test_are_there_only_where_they_are_listed(self):
        given = {"call": {"name": "escalate", "args": {"reason": "help"}}}
        assert "failure" in build_graph([World().spec()]).invoke(given)
        failure = build_graph([World().spec(), "escalate"]).invoke(given)["failure"]
        assert (failure["reason"], failure["severity"]) == ("escalated", "HIGH")

    def test_throw_exception_propagates(self):
        given = {"call": {"name": "throw_exception", "args": {"reason": "binary"}}}
        graph = build_graph(["throw_exception"], on_failure="raise")
        with pytest.raises(ToolExecutionError, match="binary"):
            graph.invoke(given)
        out = build_graph(["throw_exception"]).invoke(given)
        assert out["failure"]["reason"] == "terminal_kind"


def test_nothing_is_added_to_the_happy_path():
    plain = run(World(0))
    handled = run(World(0), on_error(execution_error=Retry(3), invalid_args=Retry(3)))
    seen = [[(e["node"], e["next"]) for e in out["trail"]] for out in (plain, handled)]
    assert seen[0] == seen[1] == [("plan", "execute"), ("execute", "__end__")]


def test_after_a_resume_a_stand_in_tells_what_was_raised():
    from selfcorrect.errors import RemoteError
    from selfcorrect.loop.consulting import error_of
    from selfcorrect.model import Call, Finding

    tool = World().spec()
    error = error_of(Call("act", {"a": 1}), [Finding("late")], tool, None, "TimeoutError")
    assert isinstance(error, ExecutionError)
    assert isinstance(error.cause, RemoteError)
    assert str(error.cause) == "TimeoutError: late"


BAD: dict[str, Any] = {"call": {"name": "act", "args": {"a": []}}}


def raising(error: Exception) -> Any:
    def fails(given: Any) -> Any:
        raise error

    return fails


def everywhere(error: Exception) -> dict[str, Any]:
    fix = Fix(raising(error), 3)
    return {"execution_error": fix, "invalid_args": fix}


class TestHardFailure:
    """It ends the run with its own reason and one type, whatever it is about."""

    @pytest.mark.parametrize("kind", ["execution_error", "invalid_args"])
    @pytest.mark.parametrize(
        "decide",
        [
            lambda hard: lambda error: Fix(raising(hard), 5),
            raising,
            lambda hard: lambda error: Terminal(str(hard)),
            lambda hard: Terminal(str(hard)),
        ],
    )
    def test_keeps_its_reason_and_type(self, decide, kind):
        hard = HardFailure("binary data, not JSON")
        given = CALL if kind == "execution_error" else BAD
        handler = on_error(**{kind: decide(hard)})
        report = run(World(), handler, given)["failure"]
        assert (report["reason"], report["detail"]) == ("terminal_kind", "binary data, not JSON")
        with pytest.raises(ToolExecutionError, match=r"'act' failed.*: binary data") as caught:
            run(World(), handler, given, on_failure="raise")
        assert caught.value.report.detail == "binary data, not JSON"

    @pytest.mark.parametrize("given", [CALL, BAD])
    def test_the_exception_itself_is_the_cause(self, given):
        hard = HardFailure("binary")
        handler = on_error(**everywhere(hard))
        with pytest.raises(ToolExecutionError) as caught:
            run(World(), handler, given, on_failure="raise")
        assert caught.value.__cause__ is hard
        assert caught.value.last_cause is hard

    @pytest.mark.parametrize("given", [CALL, BAD])
    def test_an_escalation_too(self, given):
        handler = on_error(**everywhere(Escalation("use a=7")))
        with pytest.raises(ToolExecutionError, match="use a=7"):
            run(World(), handler, given, on_failure="raise")

    def test_its_secrets_stay_here(self):
        key = "sk-proj-" + "a1B2" * 12
        failure = run(World(), executing(raising(HardFailure(f"key {key}"))))["failure"]
        assert key not in str(failure)


class TestFixThatDoesNotParse:
    """The fixer of bad arguments answers something else: the next handler hears of it."""

    def handler(self, answers: list[Any], then: Any, retries: int = 1) -> Any:
        def fixer(request):
            return answers.pop(0)

        return on_error(invalid_args=Fix(fixer, retries), deserialization_error=then)

    @pytest.mark.parametrize("text", ["not JSON", "[1, 2]", '"1"', "{'a': 1", ""])
    def test_reaches_deserialization_error(self, text):
        seen: list[DeserializationError] = []

        def then(error):
            seen.append(error)
            return Result("rescued")

        world = World(0)
        out = run(world, self.handler([text, text], then), BAD)
        assert (out["result"], world.calls) == ("rescued", 0)
        (error,) = seen
        assert (error.raw, error.target) == (text, "act")
        assert isinstance(error.cause, Exception)

    def test_only_when_the_retries_are_used_up(self):
        world = World(0)
        out = run(world, self.handler(["no", '{"a": 1}'], raising(AssertionError())), BAD)
        assert (out["result"], world.calls) == ("done 1", 1)

    def test_whose_fix_is_validated_like_any_other(self):
        requests = []

        def second(request):
            requests.append(request)
            return '{"a": 7}'

        out = run(World(0), self.handler(["7", "7"], Fix(second)), BAD)
        assert out["result"] == "done 7"
        assert (requests[0].raw, requests[0].wants) == ("7", "arguments")

    @pytest.mark.parametrize("then", [None, lambda error: None, Retry(5)])
    def test_that_declines_leaves_it_to_the_map(self, then):
        given = {"call": {"name": "act", "args": {"a": "1"}}}
        assert run(World(0), self.handler(["no", "no"], then), given)["result"] == "done 1"

    @pytest.mark.parametrize("retries", [0, 3, 99])
    def test_all_in_all_eight_steps(self, retries):
        asked = []

        def fixer(request):
            asked.append(1)
            return "no"

        both = Fix(fixer, retries)
        run(World(0), on_error(invalid_args=both, deserialization_error=both), BAD)
        assert len(asked) <= 8

    def test_a_hard_failure_there_ends_it(self):
        then = raising(HardFailure("binary"))
        with pytest.raises(ToolExecutionError, match="binary"):
            run(World(0), self.handler(["no", "no"], then), BAD, on_failure="raise")


class HttpError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status_code = status


class TestTheOriginal:
    """`on_failure="raise"`: where nothing was changed, the caller gets the tool's own exception."""

    @pytest.mark.parametrize("effect", ["read_only", "mutating", "destructive", None])
    @pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 415, 422, 451, 501])
    def test_whatever_the_status(self, status, effect):
        raised = HttpError(status)

        def act(a: int) -> str:
            """Act."""
            raise raised

        spec = ToolSpec.from_function(act, effect=effect)
        with pytest.raises(HttpError) as caught:
            build_graph([spec], on_failure="raise").invoke(CALL)
        assert caught.value is raised

    def test_not_where_the_policy_ends_the_run(self):
        def act(a: int) -> str:
            """Act."""
            raise HttpError(404)

        spec = ToolSpec.from_function(act, effect="read_only")
        policy = ToolErrorPolicy.of(["not_found"])
        with pytest.raises(ToolErrorTerminal) as caught:
            build_graph([spec], on_failure="raise", policy=policy).invoke(CALL)
        assert isinstance(caught.value.__cause__, HttpError)

    def test_not_where_something_was_changed(self):
        world = World()
        change = Change("/args/a", 1, 2, Safety.EXACT, "other")
        with pytest.raises(ToolExecutionError):
            run(world, executing(Changed(change)), on_failure="raise")
