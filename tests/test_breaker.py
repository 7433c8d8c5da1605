"""Circuit breakers: held to a specification, shared by workers, and told honestly."""

from __future__ import annotations

import asyncio
import io
import urllib.error
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from langchain.agents import create_agent
from langchain_core.tools import tool

from selfcorrect import MapError, SelfCorrection, StrategyMap, ToolSpec
from selfcorrect.errors import LedgerError
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger
from selfcorrect.loop.options import Options
from selfcorrect.loop.setup import assemble
from selfcorrect.loop.walk import awalk, walk
from selfcorrect.mapping.document import MapBreaker
from selfcorrect.model import ErrorKind
from selfcorrect.policies.breaker import Breaker
from selfcorrect.policies.fault_domain import host_of
from selfcorrect.policies.retry_budget import Budgets
from selfcorrect.policies.sharing import VIEW
from selfcorrect.testing import ScriptedModel, VirtualTime, tool_call

SAID = MapBreaker(failures=4, ratio=0.37, calls=10, pause=10)


class Specification:
    """What a circuit is to do, from the list of all that happened: nothing is summed up."""

    def __init__(self):
        self.results: list[tuple[float, bool]] = []
        self.opening = 0
        self.next_probe: float | None = None

    def admit(self, now):
        """`yes`, `probe` or `no`."""
        if self.next_probe is None:
            return "yes"
        if now < self.next_probe:
            return "no"
        self.next_probe = now + SAID.pause
        return "probe"

    def told(self, ok, now, probe=None):
        if self.next_probe is not None:
            if probe == self.opening and ok:
                self.next_probe, self.results = None, []
            elif probe == self.opening:
                self.next_probe = max(self.next_probe, now + SAID.pause)
            return
        self.results.append((now, ok))
        last = [good for _, good in self.results[-SAID.failures :]]
        weights = [(0.5 ** ((now - then) / 30), good) for then, good in self.results]
        calls = sum(weight for weight, _ in weights)
        failures = sum(weight for weight, good in weights if not good)
        in_a_row = len(last) == SAID.failures and not any(last)
        if not ok and (in_a_row or (calls >= SAID.calls and failures >= SAID.ratio * calls)):
            self.next_probe, self.opening = now + SAID.pause, self.opening + 1


def word(made):
    return "no" if made.wait else "yes" if made.probe is None else "probe"


WORKERS = 3
SECONDS = st.sampled_from((0.0, 0.01, 0.4, 1.0, 3.0, 9.7, 10.0, 31.0))


class OnOneBoard(RuleBasedStateMachine):
    """Workers that see one board at once do exactly what is specified."""

    def __init__(self):
        super().__init__()
        board = MemoryLedger()
        self.workers = [Breaker(SAID, board) for _ in range(WORKERS)]
        self.spec = Specification()
        self.now = 0.0
        self.under_way: list[tuple[int, object]] = []

    @rule(seconds=SECONDS)
    def time_passes(self, seconds):
        self.now += seconds

    @rule(worker=st.integers(0, WORKERS - 1))
    def asks(self, worker):
        made = self.workers[worker].admit("t", self.now)
        assert word(made) == self.spec.admit(self.now)
        if made.wait:
            assert abs(self.now + made.wait - self.spec.next_probe) < 1e-6
        else:
            self.under_way.append((worker, made))

    @precondition(lambda self: self.under_way)
    @rule(which=st.integers(0, 99), ok=st.sampled_from((True, False, False)))
    def ends(self, which, ok):
        worker, made = self.under_way.pop(which % len(self.under_way))
        self.workers[worker].told("t", made, self.now, ok=ok)
        self.spec.told(ok, self.now, made.probe)

    @precondition(lambda self: self.under_way)
    @rule(which=st.integers(0, 99))
    def is_killed(self, which):
        self.under_way.pop(which % len(self.under_way))

    @rule(times=st.integers(1, 6), ok=st.booleans(), worker=st.integers(0, WORKERS - 1))
    def calls(self, times, ok, worker):
        for _ in range(times):
            self.asks(worker)
            if self.under_way:
                self.ends(len(self.under_way) - 1, ok)


class Ticking(SqliteLedger):
    """A board with a clock of its own, which is not that of the workers."""

    clock = 1e9

    def _clock(self, cursor):
        return self.clock


class OnABoardElsewhere(RuleBasedStateMachine):
    """Workers whose views are a second old keep to the specification but for that second."""

    def __init__(self):
        super().__init__()
        self.board = Ticking(":memory:")
        self.workers = [Breaker(SAID, self.board) for _ in range(WORKERS)]
        # Each worker has a clock of its own.
        self.now = [100.0 * number for number in range(WORKERS)]
        self.probes: dict[int, list[float]] = {}
        self.own_row = [0] * WORKERS
        self.open_since: float | None = None
        self.closed_since = 0.0
        self.failed = False

    @property
    def time(self):
        return self.board.clock

    @rule(seconds=SECONDS)
    def some_time_passes(self, seconds):
        self.time_passes(seconds)

    def time_passes(self, seconds):
        self.board.clock += seconds
        self.now = [now + seconds for now in self.now]

    @rule(worker=st.integers(0, WORKERS - 1), ok=st.sampled_from((True, False, False)))
    def calls(self, worker, ok):
        self.time_passes(0.001)  # no two things happen at once
        breaker, now = self.workers[worker], self.now[worker]
        made = breaker.admit("t", now)
        what = word(made)
        opening = self.stands()[0]
        if what == "no":
            assert self.failed, "nothing ever failed, and a call was held back"
            assert self.is_open() or self.time < self.closed_since + VIEW + 1e-6
            return
        if what == "probe":
            assert made.probe == opening
            before = self.probes.setdefault(opening, [])
            assert all(self.time - then > SAID.pause - 1e-6 for then in before)
            before.append(self.time)
        else:
            assert self.own_row[worker] < SAID.failures
            assert self.open_since is None or self.time < self.open_since + VIEW + 1e-6
        breaker.told("t", made, now, ok=ok)
        self.failed = self.failed or not ok
        if what == "yes":
            self.own_row[worker] += 1
        if ok:
            self.own_row = [0] * WORKERS
        if what == "probe" and ok:
            assert not self.is_open(), "what found out that the service is back is believed"
        self.note()

    def stands(self):
        found = self.board.look("circuit:tool:t").value or {"opened": 0, "until": None}
        return found["opened"], found["until"]

    def is_open(self):
        return self.stands()[1] is not None

    def note(self):
        if self.is_open() and self.open_since is None:
            self.open_since = self.time
            self.own_row = [0] * WORKERS
        elif not self.is_open() and self.open_since is not None:
            self.open_since, self.closed_since = None, self.time
            self.own_row = [0] * WORKERS

    @invariant()
    def until_is_near(self):
        until = self.stands()[1]
        assert until is None or until <= self.time + SAID.pause + 1e-6

    def teardown(self):
        self.board.close()


SLOW = settings(
    max_examples=60, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)
TestOnOneBoard = OnOneBoard.TestCase
TestOnOneBoard.settings = settings(SLOW, max_examples=100)
TestOnABoardElsewhere = OnABoardElsewhere.TestCase
TestOnABoardElsewhere.settings = SLOW


# --- boards ---------------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def boards(request, tmp_path):
    """Two that share what stands on them, as two processes would."""
    if request.param == "memory":
        board = MemoryLedger()
        made = [board, board]
    elif request.param == "sqlite":
        made = [SqliteLedger(tmp_path / "ledger.db") for _ in range(2)]
    else:
        made = [PostgresLedger(request.getfixturevalue("postgres")) for _ in range(2)]
    yield made
    for each in made:
        getattr(each, "close", lambda: None)()


def test_a_board_is_changed_by_whoever_saw_it_last(boards):
    one, two = boards
    assert (one.look("a").version, one.look("a").value) == (0, None)
    assert one.swap("a", 0, {"n": 1})
    assert not two.swap("a", 0, {"n": 2})
    found = two.look("a")
    assert found.value == {"n": 1}
    assert two.swap("a", found.version, {"n": 3})
    assert not one.swap("a", found.version, {"n": 4})
    assert one.look("a").value == {"n": 3}
    assert one.look("b").version == 0


def test_of_many_who_ask_at_once_one_finds_out(boards):
    now = 0.0
    workers = [Breaker(MapBreaker(failures=1, pause=0.3), board) for board in boards * 4]
    made = workers[0].admit("t", now)
    workers[0].told("t", made, now, ok=False)
    import time

    for _ in range(3):
        time.sleep(0.35)
        with ThreadPoolExecutor(8) as pool:
            asked = list(pool.map(lambda worker: worker.admit("t", time.monotonic()), workers))
        assert [word(each) for each in asked].count("probe") == 1
        assert [word(each) for each in asked].count("yes") == 0


def test_counts_of_all_workers_make_one_retry_budget(boards):
    budgets = [Budgets(board).of("t", 0.5) for board in boards]
    for _ in range(10):
        for budget in budgets:
            budget.called(0.0)
    later = 2.0
    taken = [budget.may_repeat(later) for budget in budgets * 15]
    shared = boards[0] is boards[1]
    # Within a second a worker does not see what others take; never more than one view each.
    assert 9 <= sum(taken) <= (9 if shared else 20)
    for budget in budgets:
        budget.may_repeat(later + 2)  # tells the others what it took
    assert not any(budget.may_repeat(later + 4) for budget in budgets)


def test_a_board_that_is_away_leaves_each_worker_its_own_view():
    class Away(MemoryLedger):
        blocks = True
        away = False

        def look(self, name):
            if self.away:
                raise LedgerError("away")
            return super().look(name)

    board = Away()
    breaker = Breaker(MapBreaker(failures=3, pause=10), board)
    board.away = True
    for second in range(3):
        made = breaker.admit("t", second)
        assert word(made) == "yes"
        breaker.told("t", made, second, ok=False)
    assert word(breaker.admit("t", 3)) == "no"
    made = breaker.admit("t", 13)
    assert word(made) == "probe"
    assert word(breaker.admit("t", 13)) == "no"
    breaker.told("t", made, 13, ok=True)
    assert word(breaker.admit("t", 13)) == "yes"


def test_a_clock_that_is_set_back_holds_nothing_back_for_ever():
    board = Ticking(":memory:")
    breaker = Breaker(MapBreaker(failures=1, pause=10), board)
    breaker.told("t", breaker.admit("t", 0), 0, ok=False)
    board.clock -= 3_600
    assert word(breaker.admit("t", 2)) == "probe"
    board.close()


def test_what_stands_on_a_board_and_is_no_circuit_is_none():
    board = MemoryLedger()
    board.swap("circuit:tool:t", 0, {"colour": "red"})
    assert word(Breaker(SAID, board).admit("t", 0)) == "yes"


# --- whose failure it is --------------------------------------------------------------------------

REQUEST = httpx.Request("GET", "https://api.example.com:8443/v1?key=secret")


def wrapped(error):
    outer = RuntimeError("could not fetch")
    outer.__cause__ = error
    return outer


def test_the_host_is_that_of_the_exception_and_not_of_its_text():
    answer = httpx.Response(503, request=REQUEST)
    hosts = {
        httpx.ConnectError("no", request=REQUEST): "api.example.com",
        httpx.HTTPStatusError("503", request=REQUEST, response=answer): "api.example.com",
        wrapped(httpx.ReadTimeout("slow", request=REQUEST)): "api.example.com",
        urllib.error.HTTPError("http://b.example", 503, "", {}, io.BytesIO()): "b.example",  # type: ignore[arg-type]
        httpx.ConnectError("https://evil.example is down"): None,
        ConnectionError("https://evil.example"): None,
        ValueError("x"): None,
    }
    assert {error: host_of(error) for error in hosts} == hosts


def test_an_exception_that_lies_about_its_host_is_read_all_the_same():
    class Lying(Exception):
        @property
        def request(self):
            raise SystemExit

        url = "http://" + "x" * 300

    class Odd(Exception):
        url = "http://\u202egpj.example/"
        host = 3

    assert host_of(Lying()) is None
    assert host_of(Odd()) is None


def test_tools_of_one_host_share_its_circuit():
    breaker = Breaker(MapBreaker(failures=3), MemoryLedger())
    for name in ("a", "b", "a", "b"):
        made = breaker.admit(name, 0)
        if not made.wait:
            breaker.told(name, made, 0, ok=False, host="api.example.com")
    assert breaker.admit("a", 0).service == breaker.admit("b", 0).service == "host:api.example.com"
    assert word(breaker.admit("b", 0)) == "no"
    assert word(breaker.admit("c", 0)) == "yes"


def test_a_tool_of_many_hosts_is_not_held_back_for_one_of_them():
    breaker = Breaker(MapBreaker(failures=2), MemoryLedger())
    for host in ("a.example", "b.example", "b.example", "b.example", "b.example"):
        made = breaker.admit("fetch", 0)
        assert word(made) == "yes"
        breaker.told("fetch", made, 0, ok=False, host=host)


def test_a_probe_whose_error_names_a_host_settles_both_circuits():
    breaker = Breaker(MapBreaker(failures=1, pause=5), MemoryLedger())
    breaker.told("t", breaker.admit("t", 0), 0, ok=False)
    probe = breaker.admit("t", 6)
    assert word(probe) == "probe"
    breaker.told("t", probe, 6, ok=False, host="api.example.com")
    assert breaker.admit("t", 7).service == "host:api.example.com"
    assert word(breaker.admit("t", 7)) == "no"


# --- in a loop ------------------------------------------------------------------------------------


class Service:
    """A tool, and whether what it stands on is up."""

    def __init__(self, error=ConnectionError):
        self.error, self.up, self.calls = error, False, 0

    def act(self, item: str, amount: int = 1) -> str:
        """Act."""
        self.calls += 1
        if self.up:
            return f"{amount} {item}"
        raise self.error("down")

    def loop(self, effect="read_only", ledger=None, breaker=None, **options):
        self.time = VirtualTime()
        said = {"failures": 3, "pause": 10} if breaker is None else breaker
        spec = ToolSpec.from_function(self.act, effect=effect)
        strategies = StrategyMap(extends="default", breaker=said)
        return assemble(
            [spec], Options(strategies=strategies, ledger=ledger, time=self.time, **options)
        )


def call(number, **more):
    args = {"item": f"item-{number}"}
    return {"call": {"name": "act", "args": args, "id": f"c{number}"}, **more}


def reasons(loop, numbers):
    outs = [walk(loop, call(number)) for number in numbers]
    return [out["failure"]["reason"] if "failure" in out else "done" for out in outs]


def test_while_a_service_is_down_its_calls_are_held_back_and_the_model_is_told():
    service = Service()
    loop = service.loop()
    assert reasons(loop, range(3)) == ["attempts_exhausted", "unavailable", "unavailable"]
    assert service.calls == 3
    failure = walk(loop, call(9))["failure"]
    assert service.calls == 3
    left = float(failure["detail"].rpartition(", ")[2].split(" s")[0])
    assert 9 < left <= 10
    assert failure["for_model"].startswith(
        "The call was not made: its service fails, and rests until 2026-01-01T00:00:1"
    )
    assert failure["for_model"].endswith("Try another way, or call again after that.")
    assert failure["advice"]
    assert failure["until"].startswith("2026-01-01T00:00:1")


def test_when_a_service_is_back_one_call_finds_out_and_all_others_follow():
    service = Service()
    loop = service.loop()
    reasons(loop, range(5))
    service.time.sleep(10)
    assert reasons(loop, range(5, 8)) == ["unavailable"] * 3
    assert service.calls == 4
    service.up = True
    assert reasons(loop, range(8, 10)) == ["unavailable"] * 2
    service.time.sleep(10)
    assert reasons(loop, range(10, 20)) == ["done"] * 10
    assert service.calls == 14


def test_an_async_run_is_held_back_too(tmp_path):
    async def main():
        service = Service()
        loop = service.loop(ledger=SqliteLedger(tmp_path / "l.db"))
        outs = [await awalk(loop, call(number, task_id="t")) for number in range(4)]
        return service.calls, [out["failure"]["reason"] for out in outs]

    assert asyncio.run(main()) == (3, ["attempts_exhausted"] + ["unavailable"] * 3)


@pytest.mark.parametrize("error", [ValueError, PermissionError, LookupError])
def test_a_service_that_refuses_is_up(error):
    service = Service(error)
    loop = service.loop()
    assert "unavailable" not in reasons(loop, range(20))


def test_without_the_table_nothing_is_ever_held_back():
    service = Service()
    spec = ToolSpec.from_function(service.act, effect="read_only")
    loop = assemble([spec], Options(time=VirtualTime()))
    assert loop.context.breaker is None
    assert reasons(loop, range(20)) == ["attempts_exhausted"] * 20
    assert service.calls == 60


def test_tools_that_the_map_does_not_name_are_left_alone():
    service = Service()
    loop = service.loop(breaker={"failures": 1, "tools": ["other_*"]})
    assert "unavailable" not in reasons(loop, range(5))


def test_what_is_done_is_replayed_also_while_calls_are_held_back():
    service = Service()
    loop = service.loop("mutating", MemoryLedger())
    service.up = True
    assert walk(loop, call(1, task_id="t"))["result"] == "1 item-1"
    service.up = False
    for number in range(2, 8):
        walk(loop, call(number, task_id="t"))
    assert walk(loop, call(8, task_id="t"))["failure"]["reason"] == "unavailable"
    assert walk(loop, call(1, task_id="t"))["result"] == "1 item-1"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_what_is_held_back_was_not_done_and_forgets_no_doubt(kind, tmp_path):
    """Also where a person said "again": nothing was done, so the word is still to be given."""
    service = Service()
    ledger = MemoryLedger() if kind == "memory" else SqliteLedger(tmp_path / "l.db")
    loop = service.loop("mutating", ledger)
    assert walk(loop, call(1, task_id="t"))["failure"]["reason"] == "unknown_outcome"
    for number in range(2, 4):
        walk(loop, call(number, task_id="t"))
    assert service.calls == 3
    assert walk(loop, call(4, task_id="t"))["failure"]["reason"] == "unavailable"
    again = assemble(
        list(loop.context.tools.values()),
        Options(strategies=loop.context.strategies, ledger=ledger, time=service.time),
    )
    import dataclasses

    context = dataclasses.replace(loop.context, again=True)
    held = walk(dataclasses.replace(loop, context=context), call(1, task_id="t"))
    assert held["failure"]["reason"] == "unknown_outcome"
    service.up = True
    service.time.sleep(3_600)
    if kind == "sqlite":
        ledger.forget(-1)  # its clock is not the virtual one: the circuit is forgotten, no doubt is
    assert walk(again, call(1, task_id="t"))["failure"]["reason"] == "unknown_outcome"
    assert service.calls == 3
    out = walk(again, call(4, task_id="t"))
    assert out["result"] == "1 item-4"


def test_a_call_that_finds_out_and_is_not_made_leaves_it_to_the_next():
    breaker = Breaker(MapBreaker(failures=1, pause=5), MemoryLedger())
    breaker.told("t", breaker.admit("t", 0), 0, ok=False)
    probe = breaker.admit("t", 6)
    breaker.returned(probe, 6)
    assert word(breaker.admit("t", 6.2)) == "probe"
    breaker.returned(probe, 6.5)  # it is another one's turn by now
    assert word(breaker.admit("t", 6.5)) == "no"
    breaker.told("t", probe, 7, ok=True)
    breaker.returned(probe, 7)
    assert word(breaker.admit("t", 7)) == "yes"


def test_in_an_agent_a_healthy_call_counts_and_a_held_back_one_is_told():
    service = Service()
    service.up = True

    @tool
    def act(item: str) -> str:
        """Act."""
        return service.act(item)

    act.metadata = {"effect": "read_only"}
    strategies = StrategyMap(
        extends="default", breaker={"failures": 3, "pause": 60}, limits={"attempts": 1}
    )
    calls = [tool_call("act", f"c{number}", item=str(number)) for number in range(6)]
    agent = create_agent(
        ScriptedModel([*calls, "over"]), [act], middleware=[SelfCorrection(strategies=strategies)]
    )
    service.up = False
    said = [m.text for m in agent.invoke({"messages": "go"})["messages"] if m.type == "tool"]
    assert service.calls == 3
    assert ["rests until" in text for text in said] == [False] * 3 + [True] * 3


# --- in a map -------------------------------------------------------------------------------------


def load(tmp_path, text):
    (tmp_path / "m.toml").write_text(f'format = 1\nextends = ["default"]\n{text}')
    return StrategyMap.load(tmp_path / "m.toml")


def test_a_map_says_it_and_the_more_specific_one_wins_key_by_key(tmp_path):
    assert StrategyMap.load("default").breaker is None
    base = load(tmp_path, "[breaker]\n")
    assert base.breaker == MapBreaker()
    (tmp_path / "n.toml").write_text(
        'format = 1\nextends = ["./m.toml"]\n[breaker]\nfailures = 9\nkinds = ["rate_limit"]\n'
    )
    (tmp_path / "m.toml").write_text("format = 1\n[breaker]\nfailures = 2\npause = 60\n")
    found = StrategyMap.load(tmp_path / "n.toml").breaker
    assert (found.failures, found.pause, found.kinds) == (9, 60, (ErrorKind.RATE_LIMIT,))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("failres = 3", "failures"),
        ("failures = 0", "greater than"),
        ("ratio = 1.5", "less than or equal to 1"),
        ("pause = 0", "greater than 0"),
        ('kinds = ["down"]', "down"),
    ],
)
def test_a_slip_in_it_is_told(tmp_path, text, why):
    with pytest.raises(MapError, match=why) as caught:
        load(tmp_path, f"[breaker]\n{text}\n")
    assert "m.toml" in str(caught.value)
