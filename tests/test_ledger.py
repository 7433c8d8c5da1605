"""Nothing that may have happened once is done twice, whichever process dies when."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
from hypothesis import example, given, settings, strategies as st
from kit import do_at_once, output_of, table
from test_may_run import shown

from selfcorrect import ToolSpec, build_graph
from selfcorrect.effects import Outcome
from selfcorrect.effects.again import (
    InProgress,
    Record,
    Refuse,
    Replay,
    Request,
    Reworded,
    Run,
    Vouch,
    may_run,
)
from selfcorrect.errors import LedgerError
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger, holder as holder_module
from selfcorrect.testing import play

UNKNOWN = Refuse("unknown_outcome")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def begin(ledger, key, doubt="d", **request):
    decide = partial(may_run, effect="mutating", own=(), request=Request(key, doubt, **request))
    return ledger.begin(Record(key, doubt, "book", about='{"n": 1}'), decide)


def statuses(ledger, **options):
    return {record.key: record.status for record in ledger.records(**options)}


@pytest.mark.parametrize(("name", "history", "key", "wanted"), table("ledger.txt", "histories"))
def test_what_a_history_allows(ledger, name, history, key, wanted):
    for other, status in history:
        assert begin(ledger, other) == Run()
        if status != "begun":
            ledger.settle(other, status, [other])
    before = ledger.records()
    verdict = begin(ledger, key)
    assert shown(verdict) == wanted
    if verdict == Run():
        assert ledger.records()[-1].key == key
        assert statuses(ledger)[key] == "begun"
    else:
        assert getattr(verdict, "value", [key]) == [key]
        assert ledger.records() == before


def test_a_call_of_another_scope_is_not_held_back(ledger):
    begin(ledger, "a")
    ledger.settle("a", "lost")
    assert begin(ledger, "b", doubt="other") == Run()


def test_a_call_in_other_words_is_held_once_after_a_lost_one(ledger):
    def ask(key, doubt):
        decide = partial(may_run, effect="mutating", own=(), request=Request(key=key, doubt=doubt))
        return ledger.begin(Record(key, doubt, "send", theme="invoice"), decide)

    assert ask("a", "first") == Run()
    ledger.settle("a", "lost")
    assert ask("b", "second") == Reworded()
    assert statuses(ledger, doubts=True) == {"a": "lost"}
    assert ask("c", "second") == Run()
    ledger.settle("c", "done")
    assert ask("d", "third") == Reworded()
    assert ask("e", "first") == UNKNOWN


def test_doubts_are_listed_until_a_person_settles_them(ledger):
    for key, status in (("a", "lost"), ("b", "done"), ("c", "not_done")):
        begin(ledger, key, doubt=key)
        ledger.settle(key, status)
    begin(ledger, "d", doubt="d")
    assert statuses(ledger, doubts=True) == {"a": "lost"}
    ledger.settle("a", "not_done", by="ann")
    assert ledger.records(doubts=True) == []
    assert ledger.records()[0] == Record("a", "a", "book", "not_done", about='{"n": 1}', by="ann")
    assert begin(ledger, "a", doubt="a") == Run()


@pytest.mark.parametrize("word", ["DONE", "Done", "doen", "begun", "held", "", None, 1, True])
def test_a_word_that_is_no_outcome_is_refused(ledger, word):
    begin(ledger, "a")
    with pytest.raises(LedgerError, match="done, not_done, refused, lost"):
        ledger.settle("a", word)
    assert statuses(ledger) == {"a": "begun"}


def test_an_outcome_is_written_as_its_word(ledger):
    for key in Outcome:
        begin(ledger, key.value, doubt=key.value)
        ledger.settle(key.value, key)
        assert type(statuses(ledger)[key.value]) is str
    assert statuses(ledger) == {outcome.value: outcome.value for outcome in Outcome}


@pytest.mark.parametrize("home", [{"task_id": 7}, {"task_id": 0}, {"task_id": "t\ud800"}, {}])
def test_a_record_says_when_where_and_why(ledger, home):
    def pay(to: str):
        return to

    spec = ToolSpec.from_function(pay, effect="mutating")
    request = f"Pay Ann with sk-abcdefghijklmnop1234 {'please ' * 500}"
    call = {"name": "pay", "args": {"to": "ann"}, "id": 5}
    before = time.time()
    play([spec], {"call": call, "request": request, **home}, ledger=ledger)
    (record,) = ledger.records()
    assert before <= record.time <= time.time()
    assert record.thread == str(home.get("task_id", "")).removesuffix("\ud800")
    assert record.call_id == "5"
    assert record.request.startswith("Pay Ann with [secret] please")
    assert len(record.request) <= 500


def test_a_record_names_the_thread_before_the_task(ledger):
    graph = build_graph([ToolSpec.from_function(len_of, effect="mutating")], ledger=ledger)
    given_ = {"call": {"name": "len_of", "args": {"x": "a"}}, "task_id": "task"}
    for thread in ("one", "two"):
        graph.invoke(given_, {"configurable": {"thread_id": thread}})
    assert [record.thread for record in ledger.records()] == ["one", "two"]


def len_of(x: str) -> int:
    return len(x)


def test_a_key_that_no_call_has_is_refused_with_the_near_one(ledger):
    begin(ledger, "5f3a9c")
    with pytest.raises(LedgerError, match="did you mean '5f3a9c'"):
        ledger.settle("5f3a9d", "done")
    assert statuses(ledger) == {"5f3a9c": "begun"}
    assert begin(ledger, "5f3a9c") == InProgress()


def test_values_and_strange_text_come_back(ledger):
    value = {"text": "\ud800 \0 é", "list": [1, None, 2.5]}
    ledger.begin(Record("a", "d", "book", about="\ud800x"), lambda _: Run())
    ledger.settle("a", "done", value)
    (record,) = ledger.records()
    assert record.value == value
    assert record.about.endswith("x")


def test_an_error_of_decide_writes_nothing(ledger):
    with pytest.raises(ZeroDivisionError):
        ledger.begin(Record("a", "d", "book"), lambda _: 1 / 0)
    assert ledger.records() == []
    assert begin(ledger, "a") == Run()


def test_threads_begin_a_call_once(ledger):
    verdicts = []
    do_at_once(*[lambda: verdicts.append(begin(ledger, "a"))] * 8)
    assert verdicts.count(Run()) == 1
    assert verdicts.count(InProgress()) == 7


def test_memory_forgets_the_oldest_and_keeps_doubts():
    ledger = MemoryLedger(size=3)
    for number in range(10):
        key = str(number)
        begin(ledger, key, doubt=key)
        if number:
            ledger.settle(key, "lost" if number == 1 else "done")
    assert list(statuses(ledger)) == ["0", "1", "9"]
    assert begin(ledger, "2", doubt="2") == Run()
    assert begin(ledger, "x", doubt="1") == UNKNOWN


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "done", "not_done", "refused", "lost", "again", "crash"]),
        st.sampled_from("abcd"),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=40)
@given(STEPS)
@example([("begin", "a"), ("again", "a"), ("refused", "a")])
@example([("begin", "a"), ("again", "a"), ("crash", "a"), ("refused", "a")])
@example([("begin", "a"), ("crash", "a"), ("not_done", "a")])
def test_all_ledgers_decide_alike(tmp_path_factory, server, steps):
    sqlite = SqliteLedger(tmp_path_factory.mktemp("l") / "ledger.db")
    ledgers = MemoryLedger(), sqlite, PostgresLedger(server.create())
    answers = []
    for ledger in ledgers:
        found = []
        for step, key in steps:
            doubt = "ab" if key in "ab" else "cd"
            if step == "begin":
                found.append(begin(ledger, key, doubt))
            elif step == "crash":
                crash(ledger)
            elif key not in statuses(ledger):
                with pytest.raises(LedgerError):
                    ledger.settle(key, "done")
            elif step == "again":
                ledger.settle(key, "not_done", by="ann")
            else:
                ledger.settle(key, step, key)
        crash(ledger)
        ends = [(each.key, each.status.replace("begun", "lost")) for each in ledger.records()]
        answers.append((found, ends, set(statuses(ledger, doubts=True))))
        crash(ledger)
    assert answers[0] == answers[1] == answers[2]


def crash(ledger):
    """End the holder: what is begun is in doubt."""
    if not isinstance(ledger, MemoryLedger):
        ledger.close()
        return
    for key, status in statuses(ledger).items():
        if status == "begun":
            ledger.settle(key, "lost")


@settings(deadline=None, max_examples=40)
@given(STEPS.map(lambda steps: [each for each in steps if each[0] not in ("again", "crash")]))
def test_nothing_begins_after_a_loss(steps):
    """Whatever happens in between, only a person's word lets an equal call run after a loss."""
    ledger, lost = MemoryLedger(), set()
    for step, key in steps:
        if step == "begin":
            assert begin(ledger, key) != Run() or not lost
        elif key in statuses(ledger):
            ledger.settle(key, step)
            lost = lost | {key} if step == "lost" else lost - {key}


OTHER_PROCESS = """
import sys
from selfcorrect.effects.again import Record, Run
from selfcorrect.ledger import SqliteLedger
ledger = SqliteLedger(sys.argv[1])
ledger.begin(Record(sys.argv[2], "d", "book"), lambda _: Run())
print("begun", flush=True)
sys.stdin.read()
ledger.settle(sys.argv[2], "done", 1)
"""


@pytest.fixture
def start(path):
    processes = []

    def start_one(key):
        process = subprocess.Popen(
            [sys.executable, "-c", OTHER_PROCESS, str(path), key],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
        )
        processes.append(process)
        assert process.stdout.readline() == b"begun\n"
        return process

    yield start_one
    for process in processes:
        process.kill()
        process.communicate()


def holders(path):
    return list(path.parent.glob("*-holder-*"))


def test_a_live_process_leaves_no_doubt(path, start):
    process = start("a")
    ledger = SqliteLedger(path)
    assert ledger.records(doubts=True) == []
    assert begin(ledger, "a") == InProgress()
    assert begin(ledger, "b") == Run()
    process.communicate()
    assert begin(ledger, "a") == Replay(1)


def test_a_killed_process_leaves_a_doubt_at_once(path, start):
    ledger = SqliteLedger(path)
    process = start("a")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert [record.key for record in ledger.records(doubts=True)] == ["a"]
    assert begin(ledger, "a") == UNKNOWN
    assert begin(ledger, "b") == UNKNOWN
    assert begin(ledger, "b", vouches=[Vouch("a", "lost")]) == Run()
    assert len(holders(path)) == 1


def test_files_of_dead_holders_are_swept(path, start):
    for key in "ab":
        process = start(key)
        process.communicate()
    assert len(holders(path)) == 1
    ledger = SqliteLedger(path)
    begin(ledger, "x", doubt="x")
    assert len(holders(path)) == 1
    ledger.close()
    assert holders(path) == []


def test_two_objects_of_one_process_see_each_other(path):
    one, other = SqliteLedger(path), SqliteLedger(path)
    assert begin(one, "a") == Run()
    assert begin(other, "a") == InProgress()
    one.close()
    assert begin(other, "a") == UNKNOWN
    assert begin(one, "a") == UNKNOWN


def test_a_holder_that_cannot_be_checked_is_a_doubt(path):
    one, other = SqliteLedger(path), SqliteLedger(path)
    begin(one, "a")
    (file,) = holders(path)
    one.close()
    file.mkdir()
    assert begin(other, "a") == UNKNOWN


@pytest.fixture
def connect(database):
    made = []

    def connect_one():
        made.append(PostgresLedger(database))
        return made[-1]

    yield connect_one
    for each in made:
        each.close()


@pytest.mark.parametrize("late", ["not_done", "refused"])
@pytest.mark.parametrize("newer", ["begun", "done", "lost"])
def test_a_holder_whose_lease_lapsed_does_not_speak_for_the_next(database, connect, late, newer):
    stopped, other = connect(), connect()
    begin(stopped, "a")
    with psycopg.connect(database) as connection:
        connection.execute("update selfcorrect_holders set until = '-infinity'")
    other.settle("a", "not_done", by="ann")
    assert begin(other, "a") == Run()
    if newer != "begun":
        other.settle("a", newer)
    stopped.settle("a", late)
    assert statuses(other) == {"a": newer}


BREAKS = """
create function fail() returns trigger language plpgsql as $$ begin raise 'full'; end $$;
create trigger fail before update on selfcorrect_calls execute function fail();
"""


@pytest.mark.parametrize("outcome", ["lost", "done"])
def test_an_outcome_that_cannot_be_written_is_a_doubt(database, connect, outcome):
    ledger = connect()
    begin(ledger, "a")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(BREAKS)
        with pytest.raises(LedgerError, match="full"):
            ledger.settle("a", outcome)
        connection.execute("drop trigger fail on selfcorrect_calls")
    assert begin(ledger, "b") == UNKNOWN


@pytest.mark.parametrize("verdict", [Run(), Reworded()])
def test_a_verdict_outlives_a_connection_that_broke_behind_it(connect, monkeypatch, verdict):
    ledger, transaction, left = connect(), psycopg.Connection.transaction, [1]

    @contextmanager
    def break_once(self):
        with transaction(self) as made:
            yield made
        if left:
            left.pop()
            self.close()
            raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(psycopg.Connection, "transaction", break_once)
    assert ledger.begin(Record("a", "d", "book"), lambda _: verdict) == verdict


def _begin_in(path, key, answers):
    answers.put(begin(SqliteLedger(path), key))


def test_many_processes_make_one_file_and_begin_once(path):
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    processes = [context.Process(target=_begin_in, args=(path, "a", answers)) for _ in range(4)]
    for process in processes:
        process.start()
    found = [answers.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert found.count(Run()) == 1


def test_a_fork_opens_the_file_anew(path):
    ledger = SqliteLedger(path)
    assert begin(ledger, "a") == Run()
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        verdicts = [begin(ledger, "a"), begin(ledger, "b")]
        os.write(ready[1], b"1" if verdicts == [InProgress(), Run()] else b"0")
        os.read(done[0], 1)
        os._exit(0)
    assert os.read(ready[0], 1) == b"1"
    assert begin(ledger, "b") == InProgress()
    assert ledger.records(doubts=True) == []
    os.write(done[1], b"1")
    os.waitpid(child, 0)
    assert statuses(ledger, doubts=True) == {"b": "begun"}
    ledger.settle("a", "done")
    assert begin(ledger, "a") == Replay(None)


class Failing(sqlite3.Connection):
    """A connection whose k-th statement fails."""

    left = None

    def execute(self, *args):
        if Failing.left is not None:
            Failing.left -= 1
            if Failing.left < 0:
                raise sqlite3.OperationalError("disk I/O error")
        return super().execute(*args)


@pytest.fixture
def failing(monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(
        holder_module.sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Failing)
    )
    yield Failing
    Failing.left = None


@pytest.mark.parametrize("k", range(20))
def test_a_failing_statement_never_hides_a_call(path, failing, k):
    """Either the call is known not to run, or it is in doubt for everybody at once."""
    ledger, ran = SqliteLedger(path), False
    failing.left = k
    try:
        ran = begin(ledger, "a") == Run()
        ledger.settle("a", "done", 1)
        is_settled = True
    except LedgerError:
        is_settled = False
    failing.left = None
    other = SqliteLedger(path)
    for each in (other, ledger):
        verdict = begin(each, "b")
        assert verdict == (Run() if is_settled or not ran else UNKNOWN)
        if verdict == Run():
            each.settle("b", "not_done")
    if not is_settled and ran:
        ledger.settle("a", "done", 2)
        assert begin(other, "a") == Replay(2)


def test_a_failed_settle_of_one_call_is_a_doubt_for_a_live_process(path, failing):
    ledger = SqliteLedger(path)
    begin(ledger, "a")
    failing.left = 0
    with pytest.raises(LedgerError, match="disk I/O error"):
        ledger.settle("a", "done")
    failing.left = None
    assert begin(ledger, "z", doubt="z") == Run()
    assert statuses(SqliteLedger(path), doubts=True) == {"a": "begun"}


def a_database(path, *statements):
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b"not a database, but a longer text" * 50),
        lambda path: a_database(path, "create table calls (key text)"),
        lambda path: a_database(path, "pragma journal_mode = wal", "create table x (y)"),
        lambda path: a_database(path, "pragma application_id = 7"),
        lambda path: a_database(
            path, f"pragma application_id = {0x53434C47}", "pragma user_version = 1"
        ),
    ],
)
def test_another_file_is_refused_and_stays_as_it_is(path, make):
    make(path)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=r"ledger\.db is .*another path"):
        SqliteLedger(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_an_unusable_path_is_a_ledger_error(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "where.db"):
        with pytest.raises(LedgerError, match=str(path)):
            SqliteLedger(path)


def test_importing_the_package_loads_no_database():
    code = (
        "import sys, selfcorrect.ledger as l; assert 'sqlite3' not in sys.modules; "
        "l.MemoryLedger; assert 'sqlite3' not in sys.modules; l.SqliteLedger"
    )
    output_of(code)
