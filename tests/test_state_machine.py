"""Whatever a deployment does to a graph: nothing doubled, nothing forgotten, one answer a question.

The model knows design §7 alone: what the tools did, and who said that a call may run again.
"""

import os
import threading
from collections import Counter

from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from kit import INTEGER, TEXT, Answered, with_rules
from langchain_core.tools import ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from selfcorrect import ErrorRule, NotDone, Result, Retry, ToolSpec, build_graph, resume
from selfcorrect.effects import Outcome
from selfcorrect.errors import AnsweredError
from selfcorrect.ledger import MemoryLedger, PostgresLedger, SqliteLedger

EXAMPLES = os.environ.get("STATE_MACHINE_EXAMPLES")
"""How many examples a long run takes of each ledger."""
REASONS = {
    *("no_strategy", "attempts_exhausted", "limit_reached", "terminal_kind", "repeated_failure"),
    *("needs_person", "rejected", "no_call", "refused", "unknown_outcome", "unavailable"),
    *("escalated", "invalid_input"),
}
TOOLS = {
    "pay": {"effect": "mutating"},
    "plain": {"effect": None},
    "asks": {"effect": "mutating"},
    "wipe": {"effect": "destructive"},
    "step": {"effect": "mutating", "atomic": True},
    "checks": {"effect": "mutating"},
    "slip": {"effect": "mutating", "receipt": "id"},
    "sure": {"effect": "mutating"},
    "put": {"effect": "idempotent"},
    "look": {"effect": "read_only"},
}
HARMLESS = ("put", "look")
PROPERTIES = {"to": TEXT, "amount": INTEGER, "note": TEXT}
MAP = with_rules(
    ErrorRule(id="ask", tool="asks", error=["TimeoutError", "ToolException"], repair=["ask-human"]),
    ErrorRule(id="sure", tool="sure", error=["TimeoutError"], repair=["sure"]),
    use={"sure": lambda *_: Retry(1, even_if_lost=True)},
)
DOUBT, REFUSED, DONE, NOT_DONE = "doubt", "refused", "done", "not done"
ENDS = {
    "ok": (True, None, DONE),
    "refused": (False, ToolException("no"), REFUSED),
    "refused in part": (True, Answered(422), REFUSED),
    "conflict": (True, Answered(409), REFUSED),
    "late": (True, TimeoutError("x"), DOUBT),
    "late before": (False, TimeoutError("x"), DOUBT),
    "down": (True, Answered(503), DOUBT),
    "broken": (False, ConnectionResetError("x"), DOUBT),
    "not done": (False, NotDone("x"), NOT_DONE),
    "cut": (False, None, DOUBT),
    "acted and cut": (True, None, DOUBT),
}
WRITES = st.tuples(st.sampled_from(["ledger", "ledger", "saver"]), st.integers(1, 5))
COURSES = st.fixed_dictionaries(
    {
        "ends": st.lists(st.sampled_from(["ok", "late", *ENDS]), max_size=3),
        "cut": st.none() | WRITES,
        "after": st.booleans(),
        "kills": st.booleans(),
    }
)
"""How the executions of a run end, and at which of its writes it is cut off."""


def few(examples):
    return settings(
        max_examples=int(EXAMPLES or examples),
        stateful_step_count=20,
        deadline=None,
        derandomize=EXAMPLES is None,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


class Cut(BaseException):
    """Ends a process, or a task of one."""


class Plan:
    """Says at which write the next run is cut off, and whether its process dies of it."""

    def __init__(self):
        self.at, self.after, self.kills, self.dead = None, False, False, False

    def write(self, what, method, *args, **options):
        if self.dead:
            raise Cut
        is_now = self.at is not None and self.at[0] == what
        self.at = (what, self.at[1] - 1) if is_now else self.at
        is_now = is_now and self.at[1] == 0
        if is_now and not self.after:
            self.cut()
        value = method(*args, **options)
        if is_now:
            self.cut()
        return value

    def cut(self):
        self.at, self.dead = None, self.kills
        raise Cut


class Writes:
    """A ledger, as one process holds it."""

    def __init__(self, inner, plan):
        self.inner, self.plan, self.local = inner, plan, threading.local()
        self.blocks, self.records = inner.blocks, inner.records

    def begin(self, intent, decide):
        self.local.key = intent.key
        return self.plan.write("ledger", self.inner.begin, intent, decide)

    def settle(self, *args, **options):
        self.plan.write("ledger", self.inner.settle, *args, **options)


class Saver(InMemorySaver):
    """Checkpoints that outlive the process, but are written by it."""

    plan = Plan()

    def put(self, *args, **options):
        return self.plan.write("saver", super().put, *args, **options)

    def put_writes(self, *args, **options):
        return self.plan.write("saver", super().put_writes, *args, **options)


class Deployment(RuleBasedStateMachine):
    """Calls, crashes, replays, answers and decisions in any order."""

    open = MemoryLedger

    def __init__(self):
        super().__init__()
        self.lock, self.saver = threading.RLock(), Saver()
        # By identity: what became of it, its value, and the key of its record.
        self.status, self.values, self.keys, self.ran = {}, {}, {}, Counter()
        self.words, self.told, self.questions, self.inputs = [], set(), [], []
        self.ends, self.stands, self.answers, self.faults = [], None, {}, []
        self.called, self.is_cut = None, False
        self.store = type(self).open()
        self.start()

    def start(self):
        """Start a process."""
        self.plan = self.saver.plan = Plan()
        self.ledger = Writes(self.store, self.plan)
        tools = [self.tool(name, **options) for name, options in TOOLS.items()]
        options = {"strategies": MAP, "ledger": self.ledger, "limits": {"wait": 0.0}}
        self.kept = build_graph(
            tools, checkpointer=self.saver, before={"execute": self.look}, **options
        )
        self.bare = build_graph(tools, before={"execute": self.look}, **options)

    def tool(self, name, **options):
        if name == "checks":
            options["verify"] = lambda args: self.verified
        schema = {"type": "object", "properties": PROPERTIES, "required": ["to", "amount"]}
        described = {"name": name, "parameters": schema}
        return ToolSpec.from_schema(described, call=lambda **args: self.act(name, args), **options)

    def look(self, state, context):
        self.stands = place(state["given"], state["current"])

    # What the tools do.

    def act(self, name, args):
        with self.lock:
            end = self.ends.pop(0) if self.ends else "ok"
            acted, error, status = ENDS[end]
            equal = (self.scope, name, *map(str, sorted(args.items())))
            self.called = identity = (equal, self.stands)
            self.ran[identity] += 1
            value = {"tool": name, **args, "n": sum(self.ran.values())}
            value |= {"id": value["n"]} if end == "ok" else {}
            self.verified = Result(value) if acted else Outcome.NOT_DONE
            if name in HARMLESS:
                status = NOT_DONE
            else:
                self.check(identity, name)
                key = self.keys.setdefault(identity, self.ledger.local.key)
                if key != self.ledger.local.key or list(self.keys.values()).count(key) > 1:
                    self.faults.append(f"{identity} has no key of its own")
                self.told.discard(identity)
                if name == "step" and end in ("refused", "refused in part"):
                    status = NOT_DONE
                if name == "checks" and status == DOUBT and error:
                    status = DONE if acted else NOT_DONE
                self.status[identity] = status
                self.values[identity] = value if status == DONE else None
            if "cut" in end:
                self.plan.cut()
            if error is not None:
                raise error
            return value

    def check(self, identity, name):
        """An acting tool runs only where nothing forbids it, or a word says that it may."""
        # A fault that is raised here would be the tool's.
        against = self.obstacles(identity, name)
        if self.status.get(identity) == DONE:
            self.faults.append(f"doubled: {identity} was done")
        if self.ran[identity] > 1:
            # That one more call is wanted was said before its first execution.
            against = {each for each in against if self.status[each] != DONE}
        if name == "sure":
            against.discard(identity)
        if against:
            if (word := next((each for each in self.words if against <= each), None)) is None:
                self.faults.append(f"doubled: {identity} in spite of {against}")
            else:
                self.words.remove(word)

    def obstacles(self, identity, name):
        """Return what forbids a call: equal ones in doubt, its own refusal, too many done."""
        equal = [each for each in self.status if each[0] == identity[0]]
        against = {each for each in equal if self.status[each] == DOUBT}
        against |= {identity} if self.status.get(identity) in (REFUSED, DONE) else set()
        done = {each for each in equal if self.status[each] == DONE}
        return against | (done if len(done) >= (1 if name == "wipe" else 2) else set())

    # What is done to the graph.

    def drive(self, work, config=None):
        """Run the graph; whatever happens, the run ends as it must."""
        values = self.kept.get_state(config).values if config else {}
        if values.get("current"):
            self.stands = place(values["given"], values["current"])
        self.called = None
        try:
            out = work()
        except Cut:
            self.is_cut = True
            if threading.current_thread() is threading.main_thread():
                self.recover()
            return None
        except AnsweredError:
            return None
        finally:
            self.plan.at = None
        if asked := out.get("__interrupt__"):
            self.questions.append((self.kept.get_state(config).config, asked[0].value))
            self.told.update(self.known(asked[0].value))
        elif "failure" in out:
            assert out["failure"]["reason"] in REASONS
            self.told.update(self.known(out["failure"]))
        else:
            assert "result" in out
            value = out["result"] or {"tool": "look"}
            if value["tool"] not in HARMLESS and value not in self.values.values():
                self.faults.append(f"{value} is no execution's")
        return out

    def known(self, told):
        text = repr(told)
        return [each for each, key in self.keys.items() if key in text]

    def recover(self):
        """Go on after a crash: in another process if this one died."""
        self.is_cut = False
        if self.plan.dead:
            self.store.close()
            self.store = type(self).open()
            self.start()
        else:
            # The task was cancelled, and whoever cancelled it knows that.
            self.told.add(self.called)
        self.sync()

    def sync(self):
        """What was cut off between effect and outcome is in doubt."""
        for record in self.store.records():
            for identity, key in self.keys.items():
                if key == record.key and record.status in ("begun", "lost"):
                    self.status[identity] = DOUBT

    calls = st.fixed_dictionaries(
        {
            "name": st.integers(0, 1),
            "amount": st.sampled_from([1, 1, 1, "1", 2, None]),
            "id": st.sampled_from(["c1", "c1", "c2", None]),
            "message_id": st.sampled_from(["m1", "m1", "m2", None]),
            "index": st.sampled_from([None, None, 0]),
        }
    )
    scopes = st.sampled_from([*["thread 1"] * 5, "thread 2", "task 1", "none"])

    @initialize(names=st.lists(st.sampled_from(list(TOOLS)), min_size=1, max_size=2))
    def choose_tools(self, names):
        self.names = names

    @rule(given=calls, scope=scopes, course=COURSES)
    def call(self, given, scope, course):
        self.run(given, scope, course)

    @precondition(lambda self: self.inputs)
    @rule(
        at=st.integers(0, 9),
        course=COURSES,
        change=calls,
        keys=st.sets(st.sampled_from(["id", "index", "message_id", "amount"]), max_size=2),
    )
    def call_again(self, at, course, change, keys):
        """Make a call that was made before: the very same, or with another id or value."""
        given, scope = self.inputs[at % len(self.inputs)]
        self.run({**given, **{key: change[key] for key in keys}}, scope, course)

    def run(self, given, scope, course):
        self.inputs.append((given, scope))
        amount, name = given["amount"], self.names[given["name"] % len(self.names)]
        args = {"to": "ann"} | ({} if amount is None else {"amount": amount})
        call = {"name": name, "args": args, **({"id": given["id"]} if given["id"] else {})}
        whole = {"call": call, "message_id": given["message_id"], "index": given["index"]}
        home = scope.partition(" ")[0]
        self.scope = scope if home != "none" else ("none", len(self.inputs))
        if home == "task":
            whole["task_id"] = scope
        config = thread(scope) if home == "thread" else None
        self.follow(course)
        equal = (self.scope, name, f"('amount', {amount})", "('to', 'ann')")
        identity = (equal, place(whole, call))
        before = self.obstacles(identity, name)
        done = self.status.get(identity) == DONE
        is_clear = self.plan.at is None and given["amount"] is not None and name not in HARMLESS
        # An intent whose tool was never called is in doubt as well.
        known = {*self.keys.values()}
        is_clear &= all(each.key in known for each in self.store.records(doubts=True))
        is_clear &= all(each.key in known for each in self.store.records() if each.alive)
        value = self.values.get(identity)
        graph = self.kept if config else self.bare
        out = self.drive(lambda: graph.invoke(whole, config), config)
        if is_clear:
            if done:
                assert out["result"] == value, "another value"
            elif not before:
                assert self.called == identity, "it was to run"

    def follow(self, course):
        self.ends = [*course["ends"]]
        self.plan.at, self.plan.after = course["cut"], course["after"]
        self.plan.kills = course["kills"] and self.open is not MemoryLedger

    @rule(number=st.sampled_from("1112"), course=COURSES)
    def take_up(self, number, course):
        """Resume a thread that was cut off."""
        config = thread(f"thread {number}")
        known = self.kept.get_state(config)
        if not known.tasks:
            return
        self.scope = f"thread {number}"
        self.follow(course)
        self.drive(lambda: resume(self.kept, None, config), config)

    @rule(number=st.sampled_from("1112"), at=st.integers(0, 30), fork=st.booleans(), course=COURSES)
    def travel(self, number, at, fork, course):
        """Replay a thread from an earlier checkpoint, or fork it there."""
        past = [*self.kept.get_state_history(thread(f"thread {number}"))]
        past = [each for each in past if each.next and each.next != ("__start__",)]
        if not past:
            return
        config = past[at % len(past)].config
        self.scope = f"thread {number}"
        self.follow(course)

        def work():
            target = self.kept.update_state(config, {"counts": {}}) if fork else config
            return self.kept.invoke(None, target)

        self.drive(work, config)

    @precondition(lambda self: self.questions)
    @rule(
        at=st.integers(0, 5),
        answers=st.lists(
            st.sampled_from(
                [
                    {"action": "approve"},
                    {"action": "approve"},
                    {"action": "reject"},
                    {"action": "answer", "value": 1},
                    {"action": "answer", "value": 2},
                    {"action": "edit", "args": {"to": "ann", "amount": 1}},
                ]
            ),
            min_size=1,
            max_size=2,
        ),
        other=st.booleans(),
        at_once=st.booleans(),
        course=COURSES,
    )
    def answer(self, at, answers, other, at_once, course):
        """Answer a question: once, twice, otherwise, at once, or in the name of another one."""
        config, question = self.questions[-1 - at % len(self.questions)]
        self.scope = f"thread {config['configurable']['thread_id']}"
        self.follow(course)
        named = self.questions[0][1]["id"] if other else question["id"]
        if named == question["id"]:
            self.give_word(config, question, answers)

        def say(each):
            return lambda: self.kept.invoke(Command(resume={**each, "question": named}), config)

        if at_once and len(answers) == 2:
            both = [
                threading.Thread(target=self.drive, args=(say(each), config)) for each in answers
            ]
            for each in both:
                each.start()
            for each in both:
                each.join()
            if self.is_cut:
                self.recover()
        else:
            for each in answers:
                self.drive(say(each), config)

    def give_word(self, config, question, answers):
        """Of all answers to one question, one says that the call may run in spite of doubts."""
        asked = config["configurable"]["checkpoint_id"]
        if asked in self.answers:
            return
        keys = [each["key"] for each in question["doubts"]]
        doubts = {identity for identity, key in self.keys.items() if key in keys}
        if any(each["action"] != "reject" for each in answers):
            self.answers[asked] = answers
            if doubts:
                self.words.append(doubts)

    @precondition(lambda self: self.keys)
    @rule(at=st.integers(0, 9), outcome=st.sampled_from(Outcome))
    def settle(self, at, outcome):
        """A person says what became of a call, in doubt or not."""
        identity = list(self.keys)[at % len(self.keys)]
        self.store.settle(self.keys[identity], outcome, None, by="ann")
        of = {"done": DONE, "refused": REFUSED, "lost": DOUBT, "not_done": NOT_DONE}
        self.status[identity], self.values[identity] = of[outcome], None
        self.told.add(identity)

    @invariant()
    def nothing_is_doubled(self):
        assert not self.faults

    @invariant()
    def nothing_is_forgotten(self):
        doubts = {each.key for each in self.store.records(doubts=True)}
        for identity, status in self.status.items():
            if status == DOUBT:
                is_kept = self.keys[identity] in doubts
                assert is_kept or identity in self.told, "forgotten"

    def teardown(self):
        if self.open is not MemoryLedger:
            self.store.close()


def place(given, call):
    return given.get("message_id"), given.get("index"), call.get("id")


def thread(scope):
    return {"configurable": {"thread_id": scope[-1]}}


def test_memory():
    run_state_machine_as_test(Deployment, settings=few(40))


def test_sqlite(tmp_path):
    files = iter(range(10**9))

    class OnSqlite(Deployment):
        def __init__(self):
            path = tmp_path / f"{next(files)}.db"
            type(self).open = lambda: SqliteLedger(path)
            super().__init__()

    run_state_machine_as_test(OnSqlite, settings=few(15))


def test_postgres(database):
    import psycopg

    class OnPostgres(Deployment):
        def __init__(self):
            with psycopg.connect(database) as store:
                for table in ("calls", "holders"):
                    if store.execute(f"select to_regclass('selfcorrect_{table}')").fetchone()[0]:
                        store.execute(f"truncate selfcorrect_{table}")
            super().__init__()

        open = staticmethod(lambda: PostgresLedger(database))

    run_state_machine_as_test(OnPostgres, settings=few(8))
