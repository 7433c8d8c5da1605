"""Policies are swapped while runs go on, and every run keeps the one that it started with."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from selfcorrect import GraphSetupError, MapError, ToolErrorPolicy, ToolSpec, build_graph
from selfcorrect.loop.context import AsyncHost, run_sync
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import walk, walk_in
from selfcorrect.mapping.loading import load_map
from selfcorrect.model import ErrorKind
from selfcorrect.policies import PolicySource

OPEN, SAFE = ToolErrorPolicy(), ToolErrorPolicy.operator_safe()
CALL = {"call": {"name": "look", "args": {}}}
TERMINAL = 'format = 1\n[policy]\nterminal = ["auth"]\n'
NOTHING = "format = 1\n[policy]\nterminal = []\n"


def denied() -> str:
    raise PermissionError("401 Unauthorized: the key has expired")


def tool(before: Any = lambda: None) -> ToolSpec:
    def look() -> str:
        """Look something up."""
        before()
        return denied()

    return ToolSpec.from_function(look, effect="read_only")


def ended(out: dict[str, Any]) -> bool:
    """Whether the policy ended the run."""
    return out["failure"]["reason"] == "terminal_kind"


def of(tenant: Any) -> dict[str, Any]:
    return {"configurable": {"tenant": tenant}}


# --- swapping by call -----------------------------------------------------------------------------


def test_a_swap_reaches_the_next_run_and_not_the_one_under_way():
    source = PolicySource()
    graph = build_graph([tool(lambda: source.swap(SAFE))], policy=source)
    assert not ended(graph.invoke(CALL))
    assert ended(graph.invoke(CALL))


def test_each_tenant_has_its_own_and_the_unknown_have_the_default():
    source = PolicySource(tenants={"acme": SAFE})
    graph = build_graph([tool()], policy=source)
    assert ended(graph.invoke(CALL, of("acme")))
    assert not ended(graph.invoke(CALL, of("nobody")))
    assert not ended(graph.invoke(CALL))
    source.swap(SAFE)
    source.swap(OPEN, tenant="acme")
    assert not ended(graph.invoke(CALL, of("acme")))
    assert ended(graph.invoke(CALL, of("nobody")))
    source.forget("acme")
    assert ended(graph.invoke(CALL, of("acme")))


def test_the_walker_knows_tenants_too():
    loop = assemble([tool()], Options(policy=PolicySource(tenants={"acme": SAFE})))
    assert ended(run_sync(walk_in(loop, CALL, loop.start(tenant="acme"))))
    assert not ended(walk(loop, CALL))
    there = loop.start(tenant="acme", host=AsyncHost())
    assert ended(asyncio.run(walk_in(loop, CALL, there)))


def test_what_the_map_ends_a_run_for_ends_it_under_every_policy():
    source = PolicySource()
    graph = build_graph([tool()], strategies="strict", policy=source)
    assert ended(graph.invoke(CALL))


def test_per_tool_policies_are_carried_too():
    graph = build_graph([tool()], policy=PolicySource(SAFE.for_tool("look", OPEN)))
    assert not ended(graph.invoke(CALL))


@pytest.mark.parametrize("policy", [OPEN, SAFE, SAFE.for_tool("a", OPEN).for_tool("b", SAFE)])
def test_a_policy_survives_as_plain_json(policy):
    data = json.loads(json.dumps(policy.as_data()))
    assert ToolErrorPolicy.from_data(data) == policy


@pytest.mark.parametrize("wrong", [None, "auth", {"auth"}])
def test_only_a_policy_is_a_policy(wrong):
    with pytest.raises(TypeError, match="ToolErrorPolicy"):
        PolicySource().swap(wrong)


def test_a_tenant_that_is_no_text_is_refused():
    with pytest.raises(GraphSetupError, match="tenant"):
        build_graph([tool()], policy=PolicySource()).invoke(CALL, of(7))


def test_a_run_that_is_resumed_elsewhere_keeps_its_policy():
    saver = InMemorySaver()
    config = {"configurable": {"thread_id": "1", "tenant": "acme"}}
    source = PolicySource(tenants={"acme": SAFE})
    first = build_graph([tool()], policy=source, checkpointer=saver)
    first.invoke(CALL, config, interrupt_before=["diagnose"])
    source.swap(OPEN, tenant="acme")
    second = build_graph([tool()], policy=source, checkpointer=saver)
    assert ended(second.invoke(None, config))
    assert not ended(second.invoke(CALL, config)), "a new run on the thread starts anew"


def test_a_planner_of_the_callers_own_cannot_lose_the_policy():
    def planner(state, context):
        call = state["call"]
        return {
            "outcome": "planned",
            "current": call,
            "original": call,
            "counts": {},
            "run": "1",
            "given": {},
        }

    source = PolicySource(SAFE)
    spec = tool(lambda: source.swap(OPEN))
    graph = build_graph([spec], policy=source, planner=planner, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    assert ended(graph.invoke(CALL, config))
    assert not ended(graph.invoke(CALL, config))


# --- swapping under load --------------------------------------------------------------------------


def under_load(source: PolicySource, started: dict[str, bool]) -> Any:
    """A graph whose tool swaps the default policy in the middle of each run.

    What each run started with is noted by its task id.
    """
    policies = cycle([SAFE, OPEN, SAFE, SAFE, OPEN])

    def note(state, context):
        started[state["given"]["task_id"]] = "auth" in state["policy"]["terminal"]
        return {}

    return build_graph(
        [tool(lambda: source.swap(next(policies)))],
        policy=source,
        on_edge={("plan", "execute"): note},
    )


def runs(count: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    tenants = cycle([{}, of("safe"), of("open"), {}])
    return [({**CALL, "task_id": str(n)}, next(tenants)) for n in range(count)]


def check(inputs: Any, outputs: Any, started: dict[str, bool]) -> None:
    fixed = {"safe": True, "open": False}
    for (sent, config), out in zip(inputs, outputs, strict=True):
        expected = started[sent["task_id"]]
        assert ended(out) == expected
        tenant = config.get("configurable", {}).get("tenant")
        assert expected == fixed.get(tenant, expected), tenant
    assert set(started.values()) == {True, False}


def test_threads_mix_nothing():
    source, started = PolicySource(tenants={"safe": SAFE, "open": OPEN}), {}
    graph, inputs = under_load(source, started), runs(80)
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda each: graph.invoke(*each), inputs))
    check(inputs, outputs, started)


def test_tasks_mix_nothing():
    source, started = PolicySource(tenants={"safe": SAFE, "open": OPEN}), {}
    graph, inputs = under_load(source, started), runs(80)

    async def all_at_once():
        return await asyncio.gather(*(graph.ainvoke(*each) for each in inputs))

    check(inputs, asyncio.run(all_at_once()), started)


# --- watching a file ------------------------------------------------------------------------------


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def watched(path, text=TERMINAL, **options):
    path.write_text(text, encoding="utf-8")
    clock = Clock()
    source = PolicySource(clock=clock)
    source.watch(path, every=5.0, **options)
    return source, clock


def kinds(source, tenant=None):
    return {kind.value for kind in source.policy(tenant).terminal}


def test_a_changed_file_is_seen_when_it_is_time(tmp_path):
    path = tmp_path / "my.toml"
    source, clock = watched(path)
    graph = build_graph([tool()], policy=source)
    assert ended(graph.invoke(CALL))
    path.write_text(NOTHING, encoding="utf-8")
    clock.now = 4.9
    assert ended(graph.invoke(CALL))
    clock.now = 5.0
    assert not ended(graph.invoke(CALL))


def test_a_change_within_the_same_tick_and_of_the_same_size_is_seen(tmp_path):
    path = tmp_path / "my.toml"
    source, clock = watched(path, TERMINAL.replace("auth", "not_found"))
    clock.now = 5.0
    assert kinds(source) == {"not_found"}
    before = path.stat()
    path.write_text(TERMINAL.replace("auth", "permanent"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    clock.now = 10.0
    assert kinds(source) == {"permanent"}


def test_a_settled_file_is_not_read_again(tmp_path, monkeypatch):
    path = tmp_path / "my.toml"
    source, clock = watched(path)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    clock.now = 5.0
    kinds(source)
    monkeypatch.setattr("selfcorrect.policies.source.reload_map", None)
    clock.now = 10.0
    assert kinds(source) == {"auth"}


@pytest.mark.parametrize(
    "broken",
    [
        TERMINAL[:-1],
        TERMINAL[: len(TERMINAL) // 2],
        "",
        "format = 1\n[policy]\nterminal = ['nonsense']\n",
        "\x00\x01",
        None,
    ],
    ids=["no last line break", "half", "empty", "wrong", "corrupted", "gone"],
)
def test_an_unusable_file_keeps_the_policy_and_says_so_once(tmp_path, caplog, broken):
    path = tmp_path / "my.toml"
    source, clock = watched(path)
    assert source.fault is None
    if broken is None:
        path.unlink()
    else:
        path.write_text(broken, encoding="utf-8")
    with caplog.at_level(logging.INFO, "selfcorrect"):
        for clock.now in (5.0, 10.0, 15.0):
            assert kinds(source) == {"auth"}
    assert source.fault is not None
    assert "my.toml" in str(source.fault)
    assert caplog.text.count("selfcorrect.policy_kept") == 1
    path.write_text(NOTHING, encoding="utf-8")
    clock.now = 20.0
    assert kinds(source) == set()
    assert source.fault is None


def test_a_file_cut_off_anywhere_never_relaxes_the_policy(tmp_path):
    text = 'format = 1\nextends = ["default"]\n\n[policy]\nterminal = [\n  "auth",\n]\n[limits]\n'
    path = tmp_path / "my.toml"
    source, clock = watched(path, text)
    for length in range(len(text)):
        path.write_text(text[:length], encoding="utf-8")
        clock.now += 5.0
        assert kinds(source) == {"auth"}, text[:length]


def test_a_map_that_extends_others_speaks_for_itself(tmp_path):
    (tmp_path / "base.toml").write_text(TERMINAL, encoding="utf-8")
    with pytest.raises(MapError, match=r"policy\.terminal"):
        watched(tmp_path / "my.toml", 'format = 1\nextends = ["./base.toml"]\n')


def test_tenants_are_watched_apart(tmp_path):
    source, clock = watched(tmp_path / "all.toml", NOTHING)
    own = tmp_path / "acme.toml"
    own.write_text(TERMINAL, encoding="utf-8")
    source.watch(own, tenant="acme")
    own.write_text("half", encoding="utf-8")
    clock.now = 5.0
    assert kinds(source, "acme") == {"auth"}
    assert kinds(source, "nobody") == kinds(source) == set()
    assert "acme.toml" in str(source.fault)


def test_a_swap_by_call_ends_the_watching(tmp_path):
    path = tmp_path / "my.toml"
    source, clock = watched(path)
    source.swap(OPEN)
    path.write_text(TERMINAL.replace("auth", "quota"), encoding="utf-8")
    clock.now = 5.0
    assert kinds(source) == set()


@pytest.mark.parametrize("text", ["nonsense", TERMINAL[:-1], "format = 1\n"])
def test_a_bad_map_never_starts(tmp_path, text):
    with pytest.raises(MapError):
        watched(tmp_path / "my.toml", text)


def test_code_in_a_map_can_be_refused(tmp_path):
    text = TERMINAL + '[use]\nx = "./x.py:f"\n'
    (tmp_path / "x.py").write_text("raise SystemExit('ran')\n", encoding="utf-8")
    with pytest.raises(MapError, match="use"):
        watched(tmp_path / "my.toml", text, allow_code=False)


def test_threads_that_read_a_changing_file_see_whole_policies_only(tmp_path):
    path = tmp_path / "my.toml"
    source, clock = watched(path)
    both = TERMINAL.replace('"auth"', '"auth", "quota"')

    def read(n):
        clock.now += 5.0
        if n % 10 == 0:
            path.write_text(both if n % 20 else TERMINAL, encoding="utf-8")
        return frozenset(kinds(source))

    with ThreadPoolExecutor(8) as pool:
        seen = set(pool.map(read, range(200)))
    assert seen <= {frozenset({"auth"}), frozenset({"auth", "quota"})}


PER_TOOL = """\
format = 1
extends = ["default"]
[policy]
terminal = ["quota"]
per_tool = { "look*" = ["auth"], "look_twice" = [] }
"""


def test_a_map_names_terminal_kinds_by_tool(tmp_path):
    (tmp_path / "own.toml").write_text(PER_TOOL, encoding="utf-8")
    policy = ToolErrorPolicy.of_map(load_map(tmp_path / "own.toml").policy)
    assert policy.classifies_terminal(ErrorKind.AUTH, "look")
    assert not policy.classifies_terminal(ErrorKind.QUOTA, "look"), "it holds instead"
    assert not policy.classifies_terminal(ErrorKind.AUTH, "look_twice"), "an exact name is first"
    assert policy.classifies_terminal(ErrorKind.QUOTA, "pay")
    assert ended(build_graph([tool()], strategies=tmp_path / "own.toml").invoke(CALL))


def test_a_policy_per_tool_does_not_escape_what_the_map_ends_a_run_for():
    lenient = SAFE.for_tool("look", OPEN)
    assert not ended(build_graph([tool()], policy=lenient).invoke(CALL))
    for policy in (lenient, PolicySource(lenient)):
        assert ended(build_graph([tool()], strategies="strict", policy=policy).invoke(CALL))


@given(
    st.lists(st.sampled_from([OPEN, SAFE, ToolErrorPolicy.of(["auth"])]), min_size=4, max_size=4),
    st.sampled_from(["look", "pay", "other"]),
    st.sampled_from(ErrorKind),
)
def test_joined_policies_end_a_run_where_one_of_them_does(parts, name, kind):
    one = parts[0].for_tool("l*", parts[1])
    other = parts[2].for_tool("pay", parts[3])
    both = one.joined(other, ["look", "pay"])
    either = one.classifies_terminal(kind, name) or other.classifies_terminal(kind, name)
    assert both.classifies_terminal(kind, name) == either
