"""Objects of other people: whatever their text, properties and bodies do, a run goes on."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from asked import read_error
from hypothesis import given, settings
from hypothesis import strategies as st

from selfcorrect import ToolSpec, build_graph, classify, foreign
from selfcorrect.foreign import is_plain, text_of, told
from selfcorrect.model import Call
from selfcorrect.plain import as_text, plain

NEVER = threading.Event()


def blocks(*_: Any) -> Any:
    NEVER.wait()


def raises(kind: type[BaseException]) -> Any:
    def raise_it(*_: Any) -> Any:
        raise kind("from within")

    return raise_it


WAYS = {
    "blocks": blocks,
    "loops": lambda *_: [None for _ in iter(lambda: NEVER.wait(0.01), True)],
    **{
        kind.__name__: raises(kind)
        for kind in (ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, RecursionError)
    },
    "no text": lambda *_: 12,
}
PLACES = ("__str__", "response", "status_code", "code", "headers", "body", "args", "__cause__")


def hostile(place: str, way: Any, base: type[Exception] = Exception) -> Exception:
    member = way if place.startswith("__str") else property(way)
    return type("Hostile", (base,), {place: member})("words")


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(foreign, "_FREE", threading.BoundedSemaphore(1_000))
    monkeypatch.setattr(told, "__defaults__", (0.05,))
    before = set(threading.enumerate())
    yield
    NEVER.set()  # else what loops would wake beside all later tests of this process
    for left in set(threading.enumerate()) - before:
        left.join(20)
    NEVER.clear()


@pytest.mark.parametrize("base", [Exception, ValueError, LookupError, OSError])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_an_error_that_cannot_be_read_is_told_so(place: str, way: str, base: Any) -> None:
    error = hostile(place, WAYS[way], base)
    findings = read_error(error, Call("act"), None)
    assert len(findings) == 1
    assert isinstance(findings[0].text, str)
    assert "Hostile" in findings[0].types[0] or findings[0].types
    assert classify(error)
    if place == "__str__" and way in ("blocks", "loops"):
        assert findings[0].text == "<Hostile: its text cannot be read>"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_a_run_ends_with_a_report(place: str, way: str) -> None:
    def act() -> str:
        """Act."""
        raise hostile(place, WAYS[way])

    graph = build_graph([ToolSpec.from_function(act, effect="read_only")])
    out = graph.invoke({"call": {"name": "act", "args": {}}})
    assert out["failure"]["reason"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", ["__str__", "__repr__"])
def test_results_and_other_values(place: str, way: str) -> None:
    value = type("Odd", (), {place: WAYS[way]})()
    assert isinstance(as_text(value), str)
    assert isinstance(plain([value]), list | str)


class Text(str):
    __slots__ = ()

    def strip(self, *_: Any) -> str:
        blocks()
        return ""

    lower = partition = split = strip


def test_a_text_that_is_none_of_ours() -> None:
    error = type("Odd", (Exception,), {"__str__": lambda _: Text("no seat"), "code": Text("E1")})()
    found = read_error(error, Call("act"), None)[0]
    assert (found.text, type(found.text), found.code) == ("no seat", str, "E1")


@pytest.mark.parametrize("way", WAYS)
def test_whether_an_error_is_the_host_s_own_is_asked_in_time(way: str) -> None:
    from selfcorrect.integrations.handled import is_hosts_own

    kind = type("Hostile", (ValueError,), {"__getattr__": WAYS[way]})
    assert not is_hosts_own(kind("x"))


def test_what_blocks_for_ever_does_not_use_up_all_threads(monkeypatch) -> None:
    monkeypatch.setattr(foreign, "_FREE", threading.BoundedSemaphore(3))
    before = threading.active_count()
    started = time.monotonic()
    assert [told(blocks, "late") for _ in range(200)] == ["late"] * 200
    assert threading.active_count() <= before + 3
    assert time.monotonic() - started < 20 * 0.05 + 5


@settings(max_examples=100)
@given(
    st.sampled_from([ValueError, KeyError, OSError, TimeoutError, RuntimeError, ZeroDivisionError]),
    st.lists(st.text() | st.integers() | st.none(), max_size=3),
)
def test_built_in_errors_need_no_thread(kind: Any, args: list[Any]) -> None:
    error = kind(*args)
    assert is_plain(error)
    assert text_of(error) == str(error)


def test_a_plain_failure_starts_no_thread(monkeypatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a thread for a plain error")

    monkeypatch.setattr(foreign.threading, "Thread", refuse)
    assert read_error(ValueError("no seat"), Call("act"), None)[0].text == "no seat"
    assert as_text(KeyError("x")) == "'x'"
    assert as_text(object()).startswith("<object object")
