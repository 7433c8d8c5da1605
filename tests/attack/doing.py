"""A: what has been done."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from attack.core import Case, attack, keeps
from attack.hosts import (
    ACTING,
    DEPLOYED,
    HOSTS,
    MAPS,
    Log,
    Tool,
    in_agent,
    in_graph,
    native,
    play,
    shown,
    told,
)
from attack.inventing import (
    FAULTS,
    Fault,
    acting,
    arguments,
    broke_off,
    lie,
    lost_by_status,
    lost_connection,
    own_class,
    pretending,
    raised_to_refuse,
    raising,
    refused_by_status,
    respelled,
    spelled,
    wrapped,
)
from attack.mcp_servers import said, serve
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import RetryPolicy

from selfcorrect import Retry, SelfCorrection, build_graph
from selfcorrect.integrations.tool_node import SelfCorrectingToolNode
from selfcorrect.testing import ScriptedModel


def ran_more_than(tool: Tool, most: int) -> str | None:
    if len(tool.done) > most:
        return f"executed {len(tool.done)} times: {shown({'of': tool.done})}"
    return None


def about(tool: Tool, args: dict[str, Any], fault: Fault, *more: str) -> str:
    effect = tool.effect or "undeclared"
    return f"{effect} {tool.name}{shown(args)}; {fault.text}; {'; '.join(more)}"


def once(rng: Random, tool: Tool, args: dict[str, Any], fault: Fault, **more: Any) -> Case:
    """The runtime executes it once, in some host, under some shipped map."""
    host, strategies = rng.choice(HOSTS), rng.choice([*MAPS, *DEPLOYED * 2])
    tool.body = fault.body

    def run() -> str | None:
        play(host, [tool], tool.name, args, strategies=strategies, **more)
        return ran_more_than(tool, 1)

    return Case(about(tool, args, fault, host, Path(strategies).stem, *more), run)


# --- A1 ---------------------------------------------------------------------------------------


@attack("A1")
def prose_says_it_did_nothing(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    return once(rng, tool, args, raised_to_refuse(rng, tool, args))


@attack("A1")
def a_builtin_with_a_lie(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    kind = rng.choice([RuntimeError, RuntimeError, Exception, TypeError, OSError, AttributeError])
    words = lie(rng, tool, args)
    fault = Fault(f"raise {kind.__name__}({words!r})", "either", raising(lambda: kind(words)))
    return once(rng, tool, args, fault)


@attack("A1")
def an_error_that_says_how_to_mend(rng: Random) -> Case:
    """Bounds, names, formats, allowed values, in a `ValueError` after the tool acted."""
    tool = acting(rng)
    args = arguments(rng, tool)
    number = next(key for key, value in args.items() if isinstance(value, int))
    whom = next(key for key, value in args.items() if isinstance(value, str))
    words = rng.choice(
        [
            f"{number} must be at most {args[number] - 1}",
            f"{number}: {args[number]} is greater than the maximum of {args[number] // 2}",
            f"argument '{number}': expected string, got integer",
            f"{whom} {args[whom]!r} not found. Did you mean {args[whom] + 'son'!r}?",
            f"no {whom} named {args[whom]!r}; did you mean: '{args[whom].lower()}x'?",
            f"{whom} must be one of: {args[whom].upper()!r}, 'nobody'",
            f"unexpected argument {number!r}",
            f"unknown parameter {whom!r}, use 'beneficiary' instead",
            f"{whom} must be lower case: {args[whom].lower()!r}",
            f"{number} must be a multiple of 10",
            f"{whom} is too long (max 3 characters)",
            "missing required parameter 'confirm'; pass confirm=true",
        ]
    )
    kind = rng.choice([ValueError, LookupError, own_class(rng, ValueError), TypeError])
    fault = Fault(f"raise {kind.__name__}({words!r})", "either", raising(lambda: kind(words)))
    return once(rng, tool, args, fault)


@attack("A1")
def something_looks_like_evidence(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    return once(rng, tool, args, pretending(rng, tool, args))


@attack("A1")
def a_model_mends_after_an_execution(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    fault = rng.choice(FAULTS)(rng, tool, args)
    answers = [{key: "other" if isinstance(v, str) else 7 for key, v in args.items()}] * 9
    return once(rng, tool, args, fault, model=ScriptedModel(answers))


@attack("A1")
def a_server_refuses_in_other_words(rng: Random) -> Case:
    """What an MCP server answers after it acted: `isError`, or a protocol error of its own."""
    tool = acting(rng, effect=None)
    args = arguments(rng, tool)
    words = lie(rng, tool, args)
    if rng.random() < 0.4:
        tool.schema["properties"]["cabin"] = {"type": "string"}
        args["cabin"] = "Business"
        words = "cabin must be one of: 'economy', 'business', 'first'"
    code = rng.choice([None, None, -32602, -32601, -32603, -32000, 429])
    annotations = rng.choice(
        [None, {"atomic": True}, {"idempotentHint": True}, {"readOnlyHint": True}]
    )
    through = rng.choice(["session", "adapters"])
    strategies = rng.choice(MAPS)

    def run() -> str | None:
        asyncio.run(serve(tool, args, said(words, code), annotations, through, strategies))
        return ran_more_than(tool, 1)

    text = (
        f"MCP {through} {tool.name}{shown(args)} code {code} {words!r} {annotations} {strategies}"
    )
    return Case(text, run)


@attack("A1")
def a_handler_repeats_what_was_lost(rng: Random) -> Case:
    """`Retry(n)` holds after refused; after lost only with `even_if_lost`."""
    tool = acting(rng)
    args = arguments(rng, tool)
    fault = rng.choice([lost_connection, lost_by_status])(rng, tool, args)
    times = rng.randint(1, 5)
    return once(rng, tool, args, fault, on_error=lambda *_: Retry(times))


@attack("A1")
def an_atomic_tool_is_lost(rng: Random) -> Case:
    tool = acting(rng, effect=rng.choice(["mutating", "destructive"]))
    tool.atomic = True
    args = arguments(rng, tool)
    return once(
        rng, tool, args, rng.choice([lost_connection, lost_by_status, broke_off])(rng, tool, args)
    )


@attack("A1")
def a_shipped_map_declares_no_outcome(rng: Random) -> Case:
    """Only a deployment's own file may say `outcome`; a model's or tool's word for it is none."""
    path = rng.choice(MAPS)
    return Case(
        f"{Path(path).name} says outcome",
        lambda: (
            "a shipped map declares an outcome" if "\noutcome" in Path(path).read_text() else None
        ),
    )


BAD = {"cabin": ["economy", "business", "first"], "colour": ["red", "green", "blue"]}


def mendable(rng: Random, **more: Any) -> tuple[Tool, dict[str, Any], Fault, dict[str, Any]]:
    """A tool that refuses a value in words from which a rule finds the right one."""
    tool = acting(rng, **more)
    key = rng.choice([*BAD])
    right = rng.choice(BAD[key])
    slip = rng.choice([right.capitalize(), right.upper(), f"{right[:2]}-{right[2:]}"])
    tool.schema["properties"][key] = {"type": "string"}
    tool.schema["required"].append(key)
    args = {**arguments(rng, tool), key: slip}
    options = ", ".join(repr(each) for each in BAD[key])
    words = rng.choice(
        [
            f"invalid {key} {slip!r}: must be one of: {options}",
            f"{key} must be one of: {options}",
            f"{slip!r} is not a valid {key}, expected one of: {options}",
        ]
    )
    kind = rng.choice([ValueError, own_class(rng, ValueError)])

    def body(given: dict[str, Any]) -> Any:
        if given[key] != right:
            raise kind(words)
        return "done"

    return (
        tool,
        args,
        Fault(f"raise {kind.__name__}({words!r})", "refused", body),
        {**args, key: right},
    )


@keeps("A1")
def an_atomic_tool_that_refused_is_mended(rng: Random) -> Case:
    tool, args, fault, right = mendable(rng, effect="mutating")
    tool.body, tool.atomic = fault.body, True
    host = rng.choice(HOSTS)

    def run() -> str | None:
        play(host, [tool], tool.name, args)
        return None if tool.done == [args, right] else f"executed {shown({'of': tool.done})}"

    return Case(about(tool, args, fault, "atomic", host), run)


@keeps("A1")
def a_map_declares_a_tool_atomic(rng: Random) -> Case:
    tool, args, fault, right = mendable(rng, effect=None)
    tool.body = fault.body

    def run() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "own.toml")
            path.write_text(
                'format = 1\nextends = ["default"]\n[effects]\n'
                f'"{tool.name[:3]}*" = {{ effect = "mutating", atomic = true }}\n'
            )
            in_graph([tool], {"call": {"name": tool.name, "args": args}}, strategies=str(path))
        return None if tool.done == [args, right] else f"executed {shown({'of': tool.done})}"

    return Case(about(tool, args, fault, "atomic by map"), run)


@keeps("A1")
def a_deployment_says_that_nothing_was_done(rng: Random) -> Case:
    """`outcome = "not_done"` in a rule of its own file."""
    tool = acting(rng)
    args = arguments(rng, tool)
    kind = own_class(rng)

    def body(_: dict[str, Any]) -> Any:
        if len(tool.done) == 1:
            raise kind("gate closed")
        return "done"

    tool.body = body

    def run() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "own.toml")
            path.write_text(
                'format = 1\nextends = ["default"]\n[[rule]]\nid = "gate"\n'
                f'error = "{kind.__name__}"\nmatch = "gate closed"\nkind = "transient"\n'
                'outcome = "not_done"\nrepair = ["wait"]\npriority = "critical"\n'
                f'example = "{kind.__name__}: gate closed"\n'
            )
            in_graph([tool], {"call": {"name": tool.name, "args": args}}, strategies=str(path))
        return None if len(tool.done) == 2 else f"executed {len(tool.done)} times"

    return Case(f"{tool.effect} {tool.name} {kind.__name__}, outcome by rule", run)


@keeps("A1")
def a_tool_that_reads_is_mended_and_repeated(rng: Random) -> Case:
    tool, args, fault, right = mendable(rng, effect="read_only")
    tool.body = fault.body
    host = rng.choice(HOSTS)

    def run() -> str | None:
        play(host, [tool], tool.name, args)
        return None if tool.done == [args, right] else f"executed {shown({'of': tool.done})}"

    return Case(about(tool, args, fault, host), run)


@keeps("A1")
def not_done_is_the_author_s_own_word(rng: Random) -> Case:
    tool, args, fault, right = mendable(rng, effect=rng.choice(ACTING))
    host = rng.choice(HOSTS)

    def run() -> str | None:
        from selfcorrect import NotDone

        def body(given: dict[str, Any]) -> Any:
            try:
                return fault.body(given)
            except ValueError as error:
                raise NotDone(str(error)) from None

        tool.body = body
        play(host, [tool], tool.name, args)
        return None if tool.done == [args, right] else f"executed {shown({'of': tool.done})}"

    return Case(about(tool, args, fault, "NotDone", host), run)


@keeps("A1")
def a_handler_repeats_what_was_refused(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    fault = raised_to_refuse(rng, tool, args)
    first: list[int] = []

    def body(given: dict[str, Any]) -> Any:
        if not first:
            first.append(1)
            fault.body(given)
        return "done"

    tool.body = body

    def run() -> str | None:
        in_graph([tool], {"call": {"name": tool.name, "args": args}}, on_error=lambda *_: Retry(2))
        return None if len(tool.done) == 2 else f"executed {len(tool.done)} times"

    return Case(about(tool, args, fault, "handler Retry(2)"), run)


@keeps("A1")
def what_our_own_check_finds_is_mended_before(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    number = next(key for key, value in args.items() if isinstance(value, int))
    host = rng.choice(HOSTS)
    # operator_safe lets a person decide about every change of a call that moves money.
    strategies = rng.choice([each for each in DEPLOYED if "operator_safe" not in each])

    def run() -> str | None:
        given = {**args, number: str(args[number])}
        play(host, [tool], tool.name, given, strategies=strategies)
        return None if tool.done == [args] else f"executed {shown({'of': tool.done})}"

    return Case(f"{tool.name} {number} as text; {host}; {strategies}", run)


# --- A2 ---------------------------------------------------------------------------------------

REFUSED = {"refused", "escalated", "needs_person", "terminal_kind"}


def outcome_case(rng: Random, make: Any) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    fault = make(rng, tool, args)
    tool.body = fault.body

    def run() -> str | None:
        out = in_graph([tool], {"call": {"name": tool.name, "args": args}}, strategies="default")
        more = ran_more_than(tool, 1)
        if more or fault.outcome == "either":
            return more
        reason = out["failure"]["reason"]
        if (reason == "unknown_outcome") != (fault.outcome == "lost"):
            return f"was {fault.outcome}, told as {reason}"
        return None if fault.outcome == "lost" or reason in REFUSED else f"told as {reason}"

    return Case(about(tool, args, fault, f"is {fault.outcome}"), run)


@attack("A2")
def a_raise_refuses(rng: Random) -> Case:
    return outcome_case(rng, raised_to_refuse)


@attack("A2")
def a_status_of_4xx_refuses(rng: Random) -> Case:
    return outcome_case(rng, refused_by_status)


@attack("A2")
def a_status_of_5xx_is_lost(rng: Random) -> Case:
    return outcome_case(rng, lost_by_status)


@attack("A2")
def a_connection_is_lost(rng: Random) -> Case:
    return outcome_case(rng, lost_connection)


@attack("A2")
def an_operation_breaks_off(rng: Random) -> Case:
    return outcome_case(rng, broke_off)


@attack("A2")
def everything_once_under_every_map(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    return once(rng, tool, args, rng.choice(FAULTS)(rng, tool, args))


@attack("A2")
def causes_in_causes_once_under_every_map(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    return once(rng, tool, args, wrapped(rng, tool, args))


@keeps("A2")
def a_tool_that_reads_is_repeated(rng: Random) -> Case:
    tool = acting(rng, effect=rng.choice(["read_only", "idempotent"]))
    args = arguments(rng, tool)
    host = rng.choice(HOSTS)
    kind = rng.choice([ConnectionResetError, TimeoutError])

    def body(_: dict[str, Any]) -> Any:
        if len(tool.done) == 1:
            raise kind("connection reset by peer")
        return "done"

    tool.body = body

    def run() -> str | None:
        play(host, [tool], tool.name, args)
        return None if len(tool.done) == 2 else f"executed {len(tool.done)} times"

    return Case(f"{tool.effect} {tool.name} {kind.__name__} {host}", run)


# --- A3 ---------------------------------------------------------------------------------------


def holds_call(text: str, args: dict[str, Any]) -> bool:
    """Whether the text holds, ready as JSON, an object with these arguments."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            found, _ = decoder.raw_decode(text, at)
        except ValueError:
            found = None
        if isinstance(found, dict) and args in (found, *found.values()):
            return True
        at = text.find("{", at + 1)
    return False


def proposed(rng: Random, where: str) -> Case:
    tool, args, fault, right = mendable(rng)
    tool.body = fault.body

    def run() -> str | None:
        if where == "agent":
            text = told(in_agent([tool], [native((tool.name, args))])[0])
        elif where == "tool node":
            text = told(play(where, [tool], tool.name, args))
        else:
            out = play(where, [tool], tool.name, args)
            text = out["failure"]["for_model"] if "failure" in out else str(out)
        more = ran_more_than(tool, 1)
        if more:
            return more
        return (
            None
            if holds_call(text, right)
            else f"the mended call {shown(right)} is not in {text!r}"
        )

    return Case(about(tool, args, fault, where), run)


@attack("A3")
def the_model_reads_the_mended_call(rng: Random) -> Case:
    return proposed(rng, rng.choice(["agent", "tool node"]))


@attack("A3")
def the_report_holds_the_mended_call(rng: Random) -> Case:
    return proposed(rng, rng.choice(["graph", "async graph"]))


@attack("A3")
def a_mended_call_is_not_run_under_any_map(rng: Random) -> Case:
    tool, args, fault, _ = mendable(rng)
    return once(rng, tool, args, fault)


@attack("A3")
def a_person_is_asked_and_nothing_runs_before(rng: Random) -> Case:
    tool, args, fault, _ = mendable(rng)
    tool.body = fault.body
    thread: Any = {"configurable": {"thread_id": str(rng.random())}}

    def run() -> str | None:
        graph = build_graph([tool.spec()], checkpointer=InMemorySaver())
        graph.invoke({"call": {"name": tool.name, "args": args, "id": "c0"}}, thread)
        return ran_more_than(tool, 1)

    return Case(about(tool, args, fault, "a person may be asked"), run)


@attack("A3")
def an_undeclared_tool_is_named_once(rng: Random) -> Case:
    tool = acting(rng, effect=None)
    tool.name += f"_{rng.randint(0, 10**9)}"
    args = arguments(rng, tool)
    fault = raised_to_refuse(rng, tool, args)
    tool.body = fault.body
    times = rng.randint(1, 3)

    def run() -> str | None:
        with Log() as log:
            graph = build_graph([tool.spec()])
            for number in range(times):
                graph.invoke({"call": {"name": tool.name, "args": args, "id": f"c{number}"}})
        lines = [each for each in log.lines if tool.name in each and "[effects]" in each]
        return None if len(lines) == 1 else f"named with the line to add {len(lines)} times"

    return Case(about(tool, args, fault, f"{times} calls"), run)


@keeps("A3")
def the_model_makes_the_mended_call_itself(rng: Random) -> Case:
    tool, args, fault, right = mendable(rng)
    tool.body = fault.body

    def run() -> str | None:
        script = [native((tool.name, args)), native((tool.name, right), start=1)]
        in_agent([tool], script)
        return None if tool.done == [args, right] else f"executed {shown({'of': tool.done})}"

    return Case(about(tool, args, fault), run)


# --- A4 and A5 --------------------------------------------------------------------------------


def lost(rng: Random, **more: Any) -> tuple[Tool, dict[str, Any], Fault]:
    tool = acting(rng, **more)
    args = arguments(rng, tool)
    fault = rng.choice([lost_connection, lost_by_status, broke_off])(rng, tool, args)
    tool.body = fault.body
    return tool, args, fault


def declared(rng: Random) -> str:
    return str(rng.choice(["mutating", "destructive"]))


@attack("A4")
def the_model_asks_again(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    times, strategies = rng.randint(1, 4), rng.choice(DEPLOYED)
    between = rng.random() < 0.3

    def run() -> str | None:
        script: list[Any] = [native((tool.name, args), start=n) for n in range(times + 1)]
        if between:
            script.insert(1, native(("look_up", {}), start=50))
        other = Tool("look_up", {}, effect="read_only")
        in_agent([tool, other], script, strategies=strategies)
        return ran_more_than(tool, 1)

    return Case(about(tool, args, fault, f"{times} times again", strategies), run)


@attack("A4")
def a_retry_policy_of_the_host(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    as_graph, has_thread = rng.random() < 0.5, rng.random() < 0.5

    def run() -> str | None:
        if as_graph:
            node: Any = build_graph([tool.spec()], on_failure="raise")
            inner = {"call": {"name": tool.name, "args": args, "id": "c0"}}
            work: Any = lambda _: {"messages": [str(node.invoke(inner))]}  # noqa: E731
        else:
            work = SelfCorrectingToolNode([tool.langchain()], on_failure="raise")
        builder: Any = StateGraph(MessagesState)
        policy = RetryPolicy(
            max_attempts=3, initial_interval=0.001, jitter=False, retry_on=Exception
        )
        builder.add_node("tools", work, retry_policy=policy)
        builder.add_edge(START, "tools")
        builder.add_edge("tools", END)
        built = builder.compile(checkpointer=InMemorySaver() if has_thread else None)
        config = {"configurable": {"thread_id": "t"}} if has_thread else None
        _swallow(lambda: built.invoke({"messages": [native((tool.name, args))]}, config))
        return ran_more_than(tool, 1)

    return Case(about(tool, args, fault, f"RetryPolicy graph={as_graph} thread={has_thread}"), run)


def _swallow(work: Any) -> Any:
    try:
        return work()
    except Exception as error:
        return error


@attack("A4")
def tool_retry_middleware(rng: Random) -> Case:
    from langchain.agents.middleware import ToolRetryMiddleware

    tool, args, fault = lost(rng)
    is_first, raises = rng.random() < 0.5, rng.random() < 0.5

    def run() -> str | None:
        retry: Any = ToolRetryMiddleware(max_retries=3, initial_delay=0.0, jitter=False)
        ours = SelfCorrection(on_failure="raise" if raises else "report")
        order = [retry, ours] if is_first else [ours, retry]
        model = ScriptedModel([native((tool.name, args)), *["done"] * 9])
        agent = create_agent(model, [tool.langchain()], middleware=order)
        _swallow(lambda: agent.invoke({"messages": [HumanMessage("please")]}))
        return ran_more_than(tool, 1)

    return Case(
        about(tool, args, fault, f"ToolRetryMiddleware first={is_first} raises={raises}"), run
    )


@attack("A4")
def the_same_thread_and_call_again(rng: Random) -> Case:
    tool, args, fault = lost(rng, effect=declared(rng))
    raises, times = rng.random() < 0.5, rng.randint(2, 4)
    new_ids = rng.random() < 0.4
    saver = rng.choice([True, False]) if not new_ids else True

    def run() -> str | None:
        more: dict[str, Any] = {"checkpointer": InMemorySaver()} if saver else {}
        graph = build_graph([tool.spec()], on_failure="raise" if raises else "report", **more)
        for number in range(times):
            call = {"name": tool.name, "args": args, "id": f"c{number * new_ids}"}
            config: Any = {"configurable": {"thread_id": "t"}}
            _swallow(lambda call=call, config=config: graph.invoke({"call": call}, config))
        return ran_more_than(tool, 1)

    how = f"invoked {times} times raises={raises} saver={saver} new ids={new_ids}"
    return Case(about(tool, args, fault, how), run)


@attack("A4")
def time_travel(rng: Random) -> Case:
    tool, args, fault = lost(rng, effect=declared(rng))
    in_an_agent, fraction = rng.random() < 0.5, rng.random()

    def run() -> str | None:
        config: Any = {"configurable": {"thread_id": "t"}}
        if in_an_agent:
            model = ScriptedModel([native((tool.name, args)), *["done"] * 9])
            graph: Any = create_agent(
                model,
                [tool.langchain()],
                middleware=[SelfCorrection()],
                checkpointer=InMemorySaver(),
            )
            graph.invoke({"messages": [HumanMessage("please")]}, config)
        else:
            graph = build_graph([tool.spec()], checkpointer=InMemorySaver())
            graph.invoke({"call": {"name": tool.name, "args": args, "id": "c0"}}, config)
        past = [state for state in graph.get_state_history(config) if state.next]
        for state in past if fraction < 0.5 else past[: max(1, int(len(past) * fraction))]:
            _swallow(lambda state=state: graph.invoke(None, state.config))
        return ran_more_than(tool, 1)

    return Case(about(tool, args, fault, f"time travel agent={in_an_agent}"), run)


@attack("A4")
def an_mcp_server_that_timed_out(rng: Random) -> Case:
    """408 is what a session says when no answer came."""
    tool = acting(rng, effect=None)
    args = arguments(rng, tool)
    words, strategies = lie(rng, tool, args), rng.choice(DEPLOYED)
    through, times = rng.choice(["session", "adapters"]), rng.randint(2, 3)

    def run() -> str | None:
        answer = said(words, 408)
        asyncio.run(serve(tool, args, answer, None, through, strategies, times=times))
        return ran_more_than(tool, 1)

    return Case(f"MCP {through} {tool.name}{shown(args)} {words!r} {strategies} × {times}", run)


@attack("A4")
def the_caller_resumes_an_agent_that_raised(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    times = rng.randint(1, 3)

    def run() -> str | None:
        model = ScriptedModel([native((tool.name, args), start=n) for n in range(6)])
        agent: Any = create_agent(
            model,
            [tool.langchain()],
            middleware=[SelfCorrection(on_failure="raise")],
            checkpointer=InMemorySaver(),
        )
        config: Any = {"configurable": {"thread_id": "t"}}
        _swallow(lambda: agent.invoke({"messages": [HumanMessage("please")]}, config))
        for _ in range(times):
            _swallow(lambda: agent.invoke(None, config))
        return ran_more_than(tool, 1)

    return Case(about(tool, args, fault, f"resumed {times} times"), run)


@keeps("A4")
def after_refused_the_model_may_ask_again(rng: Random) -> Case:
    tool = acting(rng)
    args = arguments(rng, tool)
    fault = raised_to_refuse(rng, tool, args)
    tool.body = fault.body

    def run() -> str | None:
        in_agent([tool], [native((tool.name, args), start=n) for n in range(2)])
        return None if len(tool.done) == 2 else f"executed {len(tool.done)} times"

    return Case(about(tool, args, fault), run)


@keeps("A4")
def a_person_s_message_ends_the_memory_of_an_undeclared_tool(rng: Random) -> Case:
    tool, args, fault = lost(rng, effect=None)

    def run() -> str | None:
        calls = [native((tool.name, args), start=n) for n in (0, 1)]
        model = ScriptedModel([calls[0], "it was lost", calls[1], "it was lost"])
        agent: Any = create_agent(
            model,
            [tool.langchain()],
            middleware=[SelfCorrection()],
            checkpointer=InMemorySaver(),
        )
        config: Any = {"configurable": {"thread_id": "t"}}
        agent.invoke({"messages": [HumanMessage("please")]}, config)
        agent.invoke({"messages": [HumanMessage("it was not done, once more")]}, config)
        return None if len(tool.done) == 2 else f"executed {len(tool.done)} times"

    return Case(about(tool, args, fault), run)


@keeps("A4")
def verify_says_that_it_did_not_happen(rng: Random) -> Case:
    tool = acting(rng, effect="mutating")
    args = arguments(rng, tool)

    def body(_: dict[str, Any]) -> Any:
        if len(tool.done) == 1:
            raise ConnectionResetError("reset by peer")
        return "done"

    tool.body = body

    def run() -> str | None:
        from selfcorrect.effects import Outcome

        spec = tool.spec(verify=lambda *_: Outcome.NOT_DONE)
        graph = build_graph([spec])
        for number in range(2):
            graph.invoke({"call": {"name": tool.name, "args": args, "id": f"c{number}"}})
        return None if len(tool.done) >= 2 else f"executed {len(tool.done)} times"

    return Case(f"{tool.name}{shown(args)} verify", run)


@keeps("A4")
def another_call_runs(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    number = next(key for key, value in args.items() if isinstance(value, int))
    other = {**args, number: args[number] + rng.choice([1, 10, -1])}

    def run() -> str | None:
        in_agent([tool], [native((tool.name, args)), native((tool.name, other), start=1)])
        return None if tool.done == [args, other] else f"executed {shown({'of': tool.done})}"

    return Case(about(tool, args, fault, f"then {shown(other)}"), run)


def spelled_again(tool: Tool, fault: Fault, one: Any, two: Any, strategies: str) -> Case:
    def run() -> str | None:
        script = [native((tool.name, one)), native((tool.name, two), start=1)]
        in_agent([tool], script, strategies=strategies)
        return ran_more_than(tool, 1)

    return Case(
        f"{tool.effect} {tool.name}: {shown(one)} = {shown(two)}; {fault.text}; {strategies}", run
    )


@attack("A5")
def the_same_spelled_differently(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    return spelled_again(tool, fault, args, respelled(rng, args, tool), rng.choice(DEPLOYED))


@attack("A5")
def a_default_named_or_left_out(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    key, default = rng.choice(
        [
            ("currency", "EUR"),
            ("urgent", False),
            ("retries", 0),
            ("tags", []),
            ("rate", 1.5),
            ("to_day", None),
        ]
    )
    kind = {"EUR": "string"}.get(default) if isinstance(default, str) else None
    kinds = {
        bool: "boolean",
        int: "integer",
        list: "array",
        float: "number",
        type(None): ["string", "null"],
    }
    tool.schema["properties"][key] = {"type": kind or kinds[type(default)], "default": default}
    one, two = args, {**args, key: default}
    if rng.random() < 0.5:
        one, two = two, one
    return spelled_again(tool, fault, one, two, rng.choice(DEPLOYED))


@attack("A5")
def the_same_inside_objects(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    line = {
        "type": "object",
        "properties": {
            "sku": {"type": "string"},
            "qty": {"type": "integer", "default": 1},
            "price": {"type": "number"},
        },
        "required": ["sku"],
    }
    is_list = rng.random() < 0.5
    tool.schema["properties"]["order"] = {"type": "array", "items": line} if is_list else line
    tool.schema["required"].append("order")
    inner = {"sku": rng.choice(["é-1", "Å77", "x"]), "price": rng.randint(2, 90)}
    again = spelled(rng, {**inner, **({"qty": 1} if rng.random() < 0.5 else {})})
    one = {**args, "order": [inner] if is_list else inner}
    two = {**respelled(rng, args, tool), "order": [again] if is_list else again}
    return spelled_again(tool, fault, one, two, rng.choice(DEPLOYED))


@attack("A5")
def the_same_for_the_graph_s_memory(rng: Random) -> Case:
    tool, args, fault = lost(rng, effect=declared(rng))
    again = respelled(rng, args, tool)

    def run() -> str | None:
        graph = build_graph([tool.spec()], checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "t"}}
        for given in (args, again):
            graph.invoke({"call": {"name": tool.name, "args": given, "id": "c0"}}, config)
        return ran_more_than(tool, 1)

    return Case(about(tool, args, fault, shown(again)), run)


@keeps("A5")
def what_differs_is_another_call(rng: Random) -> Case:
    tool, args, fault = lost(rng)
    whom = next(key for key in tool.schema["required"] if isinstance(args[key], str))
    other = {**args, whom: args[whom] + rng.choice(["2", " Jr", "x"])}

    def run() -> str | None:
        in_agent([tool], [native((tool.name, args)), native((tool.name, other), start=1)])
        return None if tool.done == [args, other] else f"executed {shown({'of': tool.done})}"

    return Case(about(tool, args, fault, f"then {shown(other)}"), run)
