"""An agent's run: what its messages tell of mended calls is shown step by step."""

from __future__ import annotations

from typing import Any

import pytest
from worlds import BROKEN, World, agent

from selfcorrect.notebook import Stepper, trail
from selfcorrect.notebook.agents import answered_in, asked_in, tell_messages
from selfcorrect.notebook.frame import Frame
from selfcorrect.notebook.view_model import view_of
from selfcorrect.testing import tool_call

ASKED = {"messages": [{"role": "user", "content": "Book me 2 seats to Paris"}]}


@pytest.fixture(scope="module")
def mended() -> Stepper:
    pytest.importorskip("langchain", reason="needs the extra agent")
    return Stepper(agent(tool_call("bok", to="CDG", seats="2"), "Done."), ASKED)


def titles(stepper: Stepper) -> list[str]:
    return [moment.frame.title for moment in stepper.history.moments]


def test_the_step_that_mended_says_so_with_its_changes(mended: Stepper) -> None:
    mended.step()
    frame = mended.here.frame
    assert frame.nodes == ("model",)
    assert frame.title == 'mended: bok→book, seats "2"→2'
    assert [(each["path"], each["strategy"]) for each in frame.changes] == [
        ("/name", "rename-tool"),
        ("/args/seats", "convert-type"),
    ]
    assert view_of(mended.standing)["frame"]["changes"][0]["after"] == '"book"'


def test_a_step_tells_only_what_it_wrote_itself(mended: Stepper) -> None:
    mended.goto(mended.history.tip.number).run()
    assert [title.startswith("mended") for title in titles(mended)] == [False, True, False, False]
    assert "mended: bok→book" in mended.text()


def test_the_last_step_shows_what_the_agent_said() -> None:
    stepper = Stepper(agent(tool_call("book", to="CDG", seats=2), "Done."), ASKED).run()
    assert view_of(stepper.standing)["result"] == "Done."
    assert "result: Done." in stepper.text()
    assert view_of(stepper.goto(1).standing)["result"] is None


def test_a_conversation_that_ends_with_a_call_has_no_answer_yet() -> None:
    call = {"name": "book", "args": {}, "id": "1"}
    calling = {"role": "assistant", "content": "x", "tool_calls": [call]}
    assert answered_in({"messages": [calling]}) is None
    assert answered_in({"messages": [{"role": "user", "content": "x"}]}) is None
    assert answered_in({}) is None


def test_a_run_is_called_by_what_was_asked(mended: Stepper) -> None:
    assert mended.recorded()[0].title == "Book me 2 seats to Paris"
    assert view_of(mended.standing)["title"] == "Book me 2 seats to Paris"
    named = Stepper(agent("Done."), ASKED, title="a booking")
    assert named.recorded()[0].title == "a booking"
    assert asked_in({"messages": [1, {"role": "user", "content": ["x"]}]}) == ""


def test_a_call_that_failed_and_one_that_was_not_made_are_told_apart() -> None:
    failed = Stepper(agent(tool_call("book", to="XXX", seats=2), "Sorry."), ASKED).run()
    frame = next(m.frame for m in failed.history.moments if "tools" in m.frame.nodes)
    assert (frame.tone, frame.title) == ("error", "failed: refused")
    held = Stepper(agent(tool_call("book", to="CDG"), "Sorry."), ASKED).step()
    assert held.here.frame.tone == "held"
    assert held.here.frame.title.startswith("not called: ")


def test_a_call_that_never_ran_is_no_failed_execution() -> None:
    stepper = Stepper(World().graph(), {"call": BROKEN}).run(until="diagnose")
    frame = stepper.here.frame
    assert (frame.tone, frame.title) == ("held", "not called: it does not fit the tool")
    assert "- execute" in stepper.text()
    refused = Stepper(World(PermissionError("403")).graph(), {"call": BROKEN}).run()
    tones = [m.frame.tone for m in refused.history.moments if "execute" in m.frame.nodes]
    assert tones == ["held", "error"]


@pytest.mark.parametrize(
    "note",
    [1, {"calls": 1}, {"calls": {"a": 1}}, {"changes": [1, {}]}, {"reason": 3}, {"reason": "x"}],
)
def test_any_note_is_told(note: Any) -> None:
    frame = Frame("", None)
    message = {"type": "tool", "response_metadata": {"selfcorrect": note}}
    tell_messages(frame, {"messages": "none"}, {"messages": [message]})
    assert len(frame.title) < 200


def test_what_was_mended_before_the_tool_was_called_is_a_run_of_its_own() -> None:
    records: list[Any] = []
    script = (tool_call("bok", to="CDG", seats="2"), tool_call("book", to="XXX", seats=1), "Sorry.")
    agent(*script, on_trail=records.append).invoke(ASKED)
    told = trail(records).recorded()
    assert [run.title for run in told] == ["Book me 2 seats to Paris"] * 3
    assert [run.status["text"] for run in told] == [
        "mended before it was called",
        "finished: ok",
        "finished: failed · refused",
    ]
    assert told[0].frames[-1].title == 'mended: bok→book, seats "2"→2'
