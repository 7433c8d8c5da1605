"""The stepper without a browser: what it runs, what it never runs twice, where it stands."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from worlds import BROKEN, Flaky, World, asks, endless, letters, line, nested, sends

from selfcorrect import GraphSetupError, ToolSpec, build_graph
from selfcorrect.ledger import MemoryLedger
from selfcorrect.notebook import Stepper, show, trail
from selfcorrect.notebook.view_model import view_of

PATH = ["plan", "execute", "diagnose", "select_strategy", "repair", "validate", "retry", "execute"]


def status(stepper: Stepper) -> str:
    return view_of(stepper.standing)["status"]["text"]


def test_stepping_follows_the_nodes_to_the_result() -> None:
    world = World()
    stepper = Stepper(world.graph(), {"call": BROKEN})
    assert status(stepper) == "ready · next plan"
    ran = []
    while stepper.here.next:
        stepper.step()
        ran += stepper.here.frame.nodes
    assert ran == PATH
    assert status(stepper) == "finished: ok"
    assert stepper.values["result"] == "2 to CDG on 2026-10-26"
    assert len(world.booked) == 1


def test_the_callers_graph_is_not_changed() -> None:
    graph = World().graph()
    Stepper(graph, {"call": BROKEN}).run()
    assert graph.checkpointer is None
    assert graph.invoke({"call": BROKEN})["result"] == "2 to CDG on 2026-10-26"


@pytest.mark.parametrize("steps_back", range(1, 9))
def test_a_fork_never_executes_a_changing_tool_again(steps_back: int) -> None:
    world = World()
    stepper = Stepper(world.graph(), {"call": BROKEN}).run()
    for _ in range(steps_back):
        stepper.back()
    assert len(world.booked) == 1
    stepper.run()
    assert status(stepper) == "finished: ok"
    assert stepper.values["result"] == "2 to CDG on 2026-10-26"
    assert stepper.here.frame.replayed
    assert len(world.booked) == 1


def test_forks_of_forks_and_restarts_execute_nothing_again() -> None:
    world = World()
    stepper = Stepper(world.graph(), {"call": BROKEN}).run()
    for _ in range(3):
        stepper.restart().run()
        stepper.back().step()
    assert len(world.booked) == 1


def test_a_person_may_confirm_a_second_execution() -> None:
    world = World()
    stepper = Stepper(world.graph(), {"call": BROKEN}).run().back()
    second = view_of(stepper.standing)["second"]
    assert not second["needs_word"]
    assert "mutating" in second["text"]
    stepper.step(confirm=True)
    assert len(world.booked) == 2
    assert not stepper.here.frame.replayed


def test_a_second_execution_is_an_intent_of_its_own_in_the_callers_ledger() -> None:
    keys = []

    def pay(amount: int, idempotency_key: str = "") -> str:
        """Pay."""
        keys.append(idempotency_key)
        return f"paid {amount}"

    ledger = MemoryLedger()
    tool = ToolSpec.from_function(pay, effect="mutating", key_argument="idempotency_key")
    call = {"name": "pay", "args": {"amount": 1}}
    stepper = Stepper(build_graph([tool], ledger=ledger), {"call": call}).run()
    stepper.restart().run().back().step(confirm=True)
    assert len(set(keys)) == len(keys) == 2
    stepper.restart().run()
    assert len(keys) == 2


def test_a_read_only_tool_is_called_again() -> None:
    world = World()
    call = {"name": "search", "args": {"to": "CDG"}}
    stepper = Stepper(world.graph(), {"call": call}).run().back().step()
    assert world.searched == 2
    assert not stepper.here.frame.replayed


def test_a_failure_is_replayed_as_the_failure_it_was() -> None:
    world = World(TimeoutError("no answer after 30 s"))
    stepper = Stepper(world.graph(), {"call": BROKEN}).run()
    assert stepper.values["failure"]["reason"] == "unknown_outcome"
    stepper.restart().run()
    assert stepper.values["failure"]["reason"] == "unknown_outcome"
    assert len(world.booked) == 1


def test_a_refusal_is_replayed_as_a_refusal() -> None:
    world = World(PermissionError("not for you"))
    stepper = Stepper(world.graph(), {"call": BROKEN}).run()
    assert stepper.values["failure"]["reason"] == "refused"
    stepper.restart().run()
    assert stepper.values["failure"]["reason"] == "refused"
    assert len(world.booked) == 1


def test_who_confirms_a_second_execution_after_a_loss_gets_it() -> None:
    world = World(TimeoutError("no answer after 30 s"))
    call = {"name": "book", "args": {"to": "CDG", "day": "2026-10-26", "seats": 2}}
    stepper = Stepper(world.graph(), {"call": call}).run()
    assert stepper.values["failure"]["reason"] == "unknown_outcome"
    world.error = None
    stepper.goto(1).step(confirm=True)
    assert stepper.values["result"] == "2 to CDG on 2026-10-26"
    assert len(world.booked) == 2


def test_a_tool_whose_end_nobody_knows_needs_a_word() -> None:
    calls = []

    def pay(amount: int) -> str:
        """Pay."""
        calls.append(amount)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return f"paid {amount}"

    stepper = Stepper(
        build_graph([ToolSpec.from_function(pay, effect="mutating")]),
        {"call": {"name": "pay", "args": {"amount": 1}}},
    ).step()
    with pytest.raises(KeyboardInterrupt):
        stepper.step()
    with pytest.raises(GraphSetupError, match="nobody knows how it ended"):
        stepper.step()
    assert view_of(stepper.standing)["second"]["needs_word"]
    stepper.run()
    assert calls == [1]
    stepper.step(confirm=True)
    assert stepper.values["result"] == "paid 1"


def test_nodes_of_other_graphs_run_again_only_if_confirmed() -> None:
    runs = []
    stepper = Stepper(line(lambda _: runs.append(0), lambda _: runs.append(1)), {"word": "x"}).run()
    stepper.back()
    with pytest.raises(GraphSetupError, match="nobody declared it read only"):
        stepper.step()
    assert status(stepper) == "confirm first · next n1"
    assert runs == [0, 1]
    stepper.step(confirm=True)
    assert runs == [0, 1, 1]


def test_nodes_of_the_callers_own_run_again_only_if_confirmed() -> None:
    from selfcorrect.loop.nodes import NODES

    runs = []

    async def executor(state: Any, context: Any) -> Any:
        runs.append(1)
        return await NODES["execute"](state, context)

    world = World()
    stepper = Stepper(world.graph(executor=executor), {"call": BROKEN}).run().back()
    with pytest.raises(GraphSetupError, match="execute ran before"):
        stepper.step()
    assert len(runs) == 2
    stepper.step(confirm=True)
    assert len(runs) == 3


class Counted:
    """A wrapper that declares what it wraps."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.times = inner, 0

    async def __call__(self, state: Any, context: Any) -> Any:
        self.times += 1
        return await self.inner(state, context)


def test_a_wrapper_that_declares_what_it_wraps_is_replayed_like_it() -> None:
    from selfcorrect.loop.nodes import NODES

    executor, world = Counted(NODES["execute"]), World()
    stepper = Stepper(world.graph(executor=executor), {"call": BROKEN}).run()
    booked = len(world.booked)
    stepper.back().step()
    assert (len(world.booked), booked, executor.times) == (1, 1, 3)


def test_nodes_with_edges_of_their_own_are_stepped_through() -> None:
    def price(state: Any, context: Any) -> Any:
        return {"outcome": "fair"}

    graph = World().graph(
        nodes={"price": price},
        routes={
            "validate": {"valid": "price"},
            "price": {"fair": "retry", "dear": "report_failure"},
        },
    )
    stepper = Stepper(graph, {"call": BROKEN})
    stepper.run(until="price").step().run()
    ran = [name for moment in stepper.history.moments for name in moment.next]
    assert ran[-4:] == ["validate", "price", "retry", "execute"]
    assert "price" in stepper.shape.nodes


def test_back_and_goto_run_nothing() -> None:
    world = World()
    stepper = Stepper(world.graph(), {"call": BROKEN}).run()
    count = len(stepper.history)
    stepper.back().back().goto(3).goto("1").restart()
    assert len(stepper.history) == count
    assert status(stepper) == f"past · step 0 of {count - 1} · next plan"
    with pytest.raises(GraphSetupError, match="the start"):
        stepper.back()
    with pytest.raises(GraphSetupError, match="no moment"):
        stepper.goto("99")
    with pytest.raises(GraphSetupError, match="no moment"):
        stepper.goto("x")


def test_goto_takes_the_node_that_is_next() -> None:
    world = World()
    stepper = Stepper(world.graph(), {"call": BROKEN}).run()
    count = len(stepper.history)
    stepper.goto(before="execute")
    assert status(stepper) == f"past · step 7 of {count - 1} · next execute"
    stepper.back().goto(before="execute")
    assert status(stepper) == f"past · step 1 of {count - 1} · next execute"
    assert stepper.goto(before="plan").here.number == 0
    assert (len(stepper.history), len(world.booked)) == (count, 1)
    with pytest.raises(GraphSetupError, match=r"'execute' is next nowhere .* run\(until='execute'"):
        stepper.goto(before="execute")
    with pytest.raises(GraphSetupError, match="did you mean 'execute'"):
        stepper.goto(before="exceute")
    with pytest.raises(GraphSetupError, match="the number of a moment, or before="):
        stepper.goto()
    with pytest.raises(GraphSetupError, match="the number of a moment, or before="):
        stepper.goto(1, before="execute")
    assert stepper.here.number == 0


def test_breakpoints_and_until() -> None:
    stepper = Stepper(World().graph(), {"call": BROKEN}).break_at("repair").run()
    assert status(stepper) == "paused before repair"
    assert stepper.here.next == ("repair",)
    stepper.run(until="retry")
    assert stepper.here.next == ("retry",)
    with pytest.raises(GraphSetupError, match="did you mean 'repair'"):
        stepper.break_at("repiar")
    stepper.break_at("repair", on=False).run()
    assert status(stepper) == "finished: ok"


@pytest.mark.parametrize("at", range(8))
def test_edited_arguments_run_as_they_were_edited(at: int) -> None:
    world = World()
    stepper = Stepper(world.graph(), {"call": BROKEN})
    for _ in range(at):
        stepper.step()
    stepper.edit({"args": {"to": "LHR", "day": "2026-10-27", "seats": 3}})
    assert stepper.here.frame.kind == "edit"
    assert world.booked == []
    stepper.run()
    assert stepper.values["result"] == "3 to LHR on 2026-10-27"
    assert len(world.booked) == 1
    if at:
        human = [change for change in stepper.values["changes"] if change["safety"] == "human"]
        assert {change["path"] for change in human} >= {"/args/to"}
        assert any(event["node"] == "edit" for event in stepper.values["trail"])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"agrs": {}}, "did you mean 'args'"),
        ({}, "an object of keys"),
        ({"args": []}, "must be an object"),
        ({"args": {"to": float("nan")}}, "not a JSON number"),
        ({"name": " "}, "must be text"),
        ({"strategy": "format-date"}, "where repair is next"),
        ({"current": 1}, "an object with name and args"),
    ],
)
def test_a_bad_edit_writes_nothing(edit: Any, message: str) -> None:
    stepper = Stepper(World().graph(), {"call": BROKEN}).step().step()
    count, before = len(stepper.history), stepper._driver.state().config
    with pytest.raises(GraphSetupError, match=message):
        stepper.edit(edit)
    assert len(stepper.history) == count
    assert stepper._driver.state().config == before


def test_another_strategy_may_be_chosen_where_repair_is_next() -> None:
    stepper = Stepper(World().graph(), {"call": BROKEN}).run(until="repair")
    form = view_of(stepper.standing)["form"]
    assert "ask-human" in form["strategies"]
    with pytest.raises(GraphSetupError, match="has no strategy"):
        stepper.edit({"strategy": "format-dat"})
    stepper.edit({"strategy": form["strategies"][-1]})
    assert stepper.values["selected"][0]["strategy"] == form["strategies"][-1]


RELATIVE = {"name": "book", "args": {"to": "CDG", "day": "tomorrow", "seats": 2}}


def test_options_that_a_person_chose_are_those_it_is_mended_with() -> None:
    plain = Stepper(World().graph(), {"call": RELATIVE}).run()
    assert plain.values.get("result") is None
    stepper = Stepper(World().graph(), {"call": RELATIVE}).run(until="repair")
    assert view_of(stepper.standing)["form"]["options"]["format-date"] == "{}"
    stepper.edit({"options": {"relative": True}})
    assert "chose format-date" in stepper.here.frame.title
    assert json.loads(view_of(stepper.standing)["form"]["options"]["format-date"]) == {
        "relative": True
    }
    stepper.run()
    assert stepper.values["result"].startswith("2 to CDG on 20")
    assert any(
        event["selected"][0]["options"] == {"format-date": {"relative": True}}
        for event in stepper.values["trail"]
        if event["node"] == "edit"
    )


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"options": {"relativ": True}}, "options.relativ.*did you mean 'relative'"),
        ({"options": {"relative": "yes"}}, "options.relative.*should be bool"),
        ({"options": {"timezone": "Mars"}}, "cannot be made: .*Mars"),
        ({"options": [1]}, "options of a strategy are an object"),
        ({"strategy": "ask-human", "options": {"relative": True}}, "unknown option"),
        ({"strategy": "clamp", "options": {}}, "has no strategy 'clamp'"),
    ],
)
def test_wrong_options_write_nothing(edit: Any, message: str) -> None:
    stepper = Stepper(World().graph(), {"call": RELATIVE}).run(until="repair")
    count, before = len(stepper.history), stepper._driver.state().config
    with pytest.raises(GraphSetupError, match=message):
        stepper.edit(edit)
    assert len(stepper.history) == count
    assert stepper._driver.state().config == before
    with pytest.raises(GraphSetupError, match="where repair is next"):
        stepper.back().edit({"options": {}})


def test_a_person_is_asked_and_answers() -> None:
    world = World()
    call = {"name": "book", "args": {"to": "CDG", "day": "2026-10-26", "seats": "2.5"}}
    stepper = Stepper(world.graph(), {"call": call}).run()
    assert status(stepper) == "waiting for a person"
    assert "seats" in view_of(stepper.standing)["question"]["text"]
    with pytest.raises(GraphSetupError, match="answer first"):
        stepper.step()
    stepper.answer(3).run()
    assert stepper.values["result"] == "3 to CDG on 2026-10-26"
    stepper.goto(stepper.history.line()[-4])
    with pytest.raises(GraphSetupError, match="nobody is asked"):
        stepper.answer(4)
    assert len(world.booked) == 1


def test_an_earlier_question_is_asked_again_on_a_fork() -> None:
    world = World()
    call = {"name": "book", "args": {"to": "CDG", "day": "2026-10-26", "seats": "2.5"}}
    stepper = Stepper(world.graph(), {"call": call}).run()
    asked = stepper.here.number
    stepper.answer(3).run().goto(asked).step()
    assert status(stepper) == "waiting for a person"
    stepper.answer(4).run()
    assert [each["seats"] for each in world.booked] == [3, 4]


def test_an_interrupt_of_another_graph() -> None:
    stepper = Stepper(asks(), {"word": ""}).run()
    assert status(stepper) == "waiting for a person"
    assert view_of(stepper.standing)["question"]["text"] == '"how many?"'
    assert stepper.answer({"n": 2}).run().values["word"] == "{'n': 2}"


def test_a_node_that_raises_is_tried_again_by_a_step() -> None:
    flaky = Flaky(1)
    stepper = Stepper(line(flaky), {"word": "x"}).step()
    assert status(stepper) == "error in n0: RuntimeError: the node broke"
    assert view_of(stepper.standing)["actions"]["step"]["label"] == "Retry"
    stepper.step()
    assert flaky.runs == 2
    assert status(stepper) == "finished: ok"


def test_a_failing_run_tells_every_attempt() -> None:
    stepper = Stepper(World(PermissionError("403 forbidden")).graph(), {"call": BROKEN}).run()
    view = view_of(stepper.standing)
    assert view["status"]["text"].startswith("finished: failed")
    assert len(view["report"]["attempts"]) == len(stepper.values["failure"]["attempts"]) == 1
    assert "403" in view["report"]["attempts"][0]["text"]
    assert "attempt 1 refused" in stepper.text()


def test_a_run_that_never_ends_stops_at_its_limit() -> None:
    stepper = Stepper(endless(), {"word": ""}, limit=25).run()
    assert status(stepper) == "limit reached · 25 steps in one run · next again"
    assert len(stepper.run().history) == 51


def test_fan_out() -> None:
    stepper = Stepper(letters(), {"seen": []}).step()
    assert status(stepper) == "ready · next b, c, d"
    stepper.step()
    assert sorted(stepper.here.frame.nodes) == ["b", "c", "d"]
    with pytest.raises(GraphSetupError, match="several nodes"):
        stepper.edit({"word": "x"})
    assert stepper.step().values["word"] == "abcd"


def test_sends_are_a_multiset() -> None:
    stepper = Stepper(sends(), {"seen": []}).step()
    assert status(stepper) == "ready · next work ×3"
    stepper.run()
    assert sorted(stepper.values["seen"]) == ["x", "y", "z"]
    assert view_of(stepper.standing)["marks"]["visits"]["work"] == 3


def test_a_graph_inside_is_one_node_and_tells_what_ran_in_it() -> None:
    stepper = Stepper(nested(), {"seen": []}).step()
    assert stepper.here.frame.inside == ["n0", "n1"]
    assert stepper.here.next == ("after",)
    assert 'data-node="outer"' in show(nested()).to_svg()


def test_an_edit_of_another_graph_replaces_what_a_reducer_would_append_to() -> None:
    stepper = Stepper(line(lambda _: {"seen": ["a"]}, lambda _: {"seen": ["b"]}), {"seen": []})
    stepper.step().edit({"seen": ["z"]})
    assert stepper.here.next == ("n1",)
    assert stepper.run().values["seen"] == ["z", "b"]
    with pytest.raises(GraphSetupError, match="did you mean 'seen'"):
        stepper.goto(1).edit({"sen": []})


async def _abook(to: str) -> str:
    return f"booked {to}"


def test_an_async_tool_steps_too() -> None:
    graph = build_graph([ToolSpec.from_function(_abook, effect="mutating", name="abook")])
    stepper = Stepper(graph, {"call": {"name": "abook", "args": {"to": "CDG"}}}).run()
    assert stepper.values["result"] == "booked CDG"
    assert stepper.back().step().here.frame.replayed


def test_an_async_graph_that_is_not_ours() -> None:
    async def node(_: Any) -> dict[str, Any]:
        return {"word": "async"}

    assert Stepper(line(node), {"word": ""}).run().values["word"] == "async"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_new_process_picks_the_thread_up(tmp_path: Any, *, asynchronous: bool) -> None:
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="needs the extra sqlite")
    path, world = str(tmp_path / "runs.sqlite"), World()

    def stepper(inputs: Any = None) -> Stepper:
        connection = sqlite3.connect(path, check_same_thread=False)
        graph = world.graph(checkpointer=sqlite.SqliteSaver(connection))
        return Stepper(graph, inputs, thread="trip", asynchronous=asynchronous)

    first = stepper({"call": BROKEN}).step().step()
    again = stepper({"call": BROKEN})
    assert [m.frame.nodes for m in again.history.moments] == [
        m.frame.nodes for m in first.history.moments
    ]
    assert again.here.next == ("diagnose",)
    again.run()
    assert len(world.booked) == 1
    third = stepper()
    assert status(third) == "finished: ok"
    third.restart().run()
    assert third.here.frame.replayed
    assert len(world.booked) == 1
    assert stepper().history.tip.next == ()


def test_a_question_outlives_the_process(tmp_path: Any) -> None:
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="needs the extra sqlite")
    connection = sqlite3.connect(tmp_path / "runs.sqlite", check_same_thread=False)
    graph = World().graph(checkpointer=sqlite.SqliteSaver(connection))
    call = {"name": "book", "args": {"to": "CDG", "day": "2026-10-26", "seats": "2.5"}}
    Stepper(graph, {"call": call}, thread="t").run()
    again = Stepper(graph, thread="t")
    assert status(again) == "waiting for a person"
    assert again.answer(2).run().values["result"] == "2 to CDG on 2026-10-26"


def test_without_the_extra_the_static_copy_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    display = pytest.importorskip("IPython.display", reason="needs the extra jupyter")
    import selfcorrect.notebook.display as ours

    shown: list[Any] = []
    monkeypatch.setattr(display, "display", lambda each, **_: shown.append(each))
    monkeypatch.setattr(ours, "find_spec", lambda name: None)
    Stepper(World().graph(), {"call": BROKEN})._ipython_display_()
    (bundle,) = [each._repr_mimebundle_() for each in shown]
    for text in bundle.values():
        assert "pip install" in text
        assert "selfcorrect[jupyter]" in text
    assert 'src="data:image/svg+xml;base64,' in bundle["text/html"]


def test_wrong_use_is_refused() -> None:
    with pytest.raises(GraphSetupError, match="compiled LangGraph graph"):
        Stepper(object(), {})
    with pytest.raises(GraphSetupError, match="give inputs"):
        Stepper(World().graph())
    stepper = Stepper(World().graph(), {"call": BROKEN}).run()
    with pytest.raises(GraphSetupError, match="the run is over"):
        stepper.step()
    with pytest.raises(GraphSetupError, match="the run is over"):
        stepper.edit({"args": {}})


def test_secrets_are_masked_and_kept_through_an_edit() -> None:
    world = World()
    call = {"name": "book", "args": {**BROKEN["args"], "password": "hunter2!"}}
    stepper = Stepper(world.graph(), {"call": call}).step()
    everything = stepper.to_html() + stepper.to_json() + stepper.text()
    assert "hunter2" not in everything + json.dumps(view_of(stepper.standing))
    form = view_of(stepper.standing)["form"]
    from selfcorrect.notebook.form import edit_from

    edited = edit_from(stepper.standing, form["text"].replace('"two"', "2"), None)
    assert edited["args"]["password"] == "hunter2!"
    assert edited["args"]["seats"] == 2


def test_a_trail_tells_a_run_that_is_over() -> None:
    out = World().graph().invoke({"call": BROKEN})
    told = trail({"title": "a booking", **out}).text()
    assert told.startswith("a booking · finished: ok")
    assert '/args/seats  "two" → 2  (convert-type, inferred)' in told
    assert trail(out["trail"]).text().startswith("run · no end was recorded")
    assert len(trail([out, out]).recorded()) == 2


def test_model_costs_are_told_by_step() -> None:
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    usage = {"input_tokens": 30, "output_tokens": 5, "total_tokens": 35}
    message = AIMessage("hi", usage_metadata=usage, response_metadata={"model_name": "m-1"})
    model = GenericFakeChatModel(messages=iter([message]))
    graph = line(lambda _: {"word": model.invoke("x").content})
    stepper = Stepper(graph, {"word": ""}, prices={"m-": (1.0, 2.0)}).step()
    assert stepper.here.frame.model == {
        "calls": 1, "input": 30, "output": 5, "models": ["m-1"], "cost": 0.00004,
    }  # fmt: skip
