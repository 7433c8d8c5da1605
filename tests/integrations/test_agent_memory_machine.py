"""Whatever comes in whatever order: in an agent, too, no call is made twice or forgotten."""

from __future__ import annotations

import os
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool
from memory_kit import DAY, SEAMS, SKEWS, VERDICTS, Lost, Refused, Store, Truth, dose, skewed

from selfcorrect import SelfCorrection, resume
from selfcorrect.testing import ScriptedModel

NIGHT = int(os.environ.get("NIGHT", "300"))
THREADS = st.sampled_from(["t", "u"])
AMOUNTS = st.sampled_from([5, "5", 6])
CALLS = st.lists(AMOUNTS, min_size=1, max_size=2)
APART = st.sampled_from([[5], ["5"], [6], [5, 6]])
ROUNDS = st.lists(CALLS, min_size=1, max_size=2)


class Talk(RuleBasedStateMachine):
    """Two conversations, whose model counts the ids of its calls anew in each message."""

    def __init__(self, dsn: str | None = None, *, declared: bool = True) -> None:
        super().__init__()
        self.store, self.truth, self.declared = Store(dsn), Truth(), declared
        self.rounds: list[list[Any]] = []
        self.ending: type[BaseException] | None = None
        self.retries = False
        self.builds()

    def pay(self, amount: int) -> str:
        """Pay."""
        if self.ending is Refused:
            raise Refused("not today")
        made = self.store.act(amount)
        if self.ending is not None:
            raise self.ending("no answer")
        return made

    def decides(self, messages: Any) -> Any:
        """The model makes the calls that it was given, one round after the other."""
        spoken = max(place for place, each in enumerate(messages) if each.type == "human")
        done = sum(each.type == "ai" for each in messages[spoken:])
        if done >= len(self.rounds):
            return "done"
        made = [
            {"name": "pay", "args": {"amount": amount}, "id": f"call_{n}", "type": "tool_call"}
            for n, amount in enumerate(self.rounds[done])
        ]
        return self.says_so(AIMessage("", tool_calls=made, id=uuid4().hex), messages[spoken].id)

    def says_so(self, message: AIMessage, person: str) -> AIMessage:
        # By its place: an id that was used before is made a new one.
        calls = [[n, int(each["args"]["amount"])] for n, each in enumerate(message.tool_calls)]
        self.store.notes(said=message.id, calls=calls, person=person)
        return message

    def builds(self) -> None:
        metadata = {"effect": "mutating"} if self.declared else None
        around = [ToolRetryMiddleware(max_retries=2, initial_delay=0)] if self.retries else []
        self.agent: Any = create_agent(
            ScriptedModel([self.decides], again=True),
            [StructuredTool.from_function(self.pay, metadata=metadata)],
            middleware=[*around, SelfCorrection(ledger=self.store.ledger)],
            checkpointer=self.store.saver,
        )

    @rule(retries=st.booleans())
    def restarts(self, retries: bool) -> None:
        """Another process takes over; perhaps with a middleware that tries everything again."""
        self.retries = retries
        self.store.closes()
        self.store.opens()
        self.builds()

    @rule(
        thread=THREADS,
        rounds=ROUNDS,
        ending=st.sampled_from([None, None, Lost, Refused, KeyboardInterrupt]),
        again=st.booleans(),
        skew=st.sampled_from(SKEWS),
    )
    def is_told(self, thread: str, rounds: Any, ending: Any, again: bool, skew: float) -> None:
        """A person says something, and the model makes calls."""
        if ending is KeyboardInterrupt:
            rounds = [rounds[0][:1]]
        self.rounds, given = rounds, {"messages": [HumanMessage("pay", id=uuid4().hex)]}
        config = self._config(thread, again=again)
        with skewed(skew):
            self._made(thread, lambda: self.agent.invoke(given, config), ending, again=again)

    @rule(thread=THREADS, calls=APART, again=st.booleans())
    def is_taken_up(self, thread: str, calls: Any, again: bool) -> None:
        """`resume`: the rest of what was begun, else the answer, or what is said now."""
        self.rounds = [calls]
        config = self._config(thread)
        given = {"messages": [HumanMessage("pay", id=uuid4().hex)]}
        shown = self._shows(self.agent.get_state(config))
        work = lambda: resume(self.agent, given, config, again=again)  # noqa: E731
        self._made(thread, work, None, again=again, shown=shown)

    @rule(thread=THREADS, calls=APART, seam=st.sampled_from(SEAMS), again=st.booleans())
    def is_killed(self, thread: str, calls: Any, seam: str, again: bool) -> None:
        """The process dies over a message."""
        self.rounds, given = [calls], {"messages": [HumanMessage("pay", id=uuid4().hex)]}

        def work() -> None:
            self.builds()
            self.agent.invoke(given, self._config(thread, again=again))

        self._dies(thread, seam, work, again=again)

    @rule(thread=THREADS, place=st.integers(0, 30), seam=st.sampled_from([None, None, *SEAMS]))
    def goes_back(self, thread: str, place: int, seam: str | None) -> None:
        """Time travel to any checkpoint from which the tools come next."""
        past = [
            each
            for each in self.agent.get_state_history(self._config(thread))
            if "tools" in each.next
        ]
        if not past:
            return
        there = past[place % len(past)]
        self.rounds = []  # what comes behind is told in words
        shown = self._shows(there)

        def work() -> None:
            if seam is not None:
                self.builds()
            self.agent.invoke(None, there.config)

        if seam is None:
            self._made(thread, work, None, again=False, shown=shown)
        else:
            self._dies(thread, seam, work, again=False, shown=shown)

    @rule(skew=st.sampled_from(SKEWS))
    def forgets(self, skew: float) -> None:
        """What is older than any run here; a machine's clock that is off makes nothing old."""
        with skewed(skew):
            self.store.ledger.forget(10 * DAY if self.store.dsn is None else DAY)

    @rule()
    def is_hit(self) -> None:
        """A row in doubt is damaged; from then on more may be in doubt, and nothing less."""
        where = "(SELECT key FROM selfcorrect_intents WHERE doubt IS NOT NULL LIMIT 1)"
        statement = f"UPDATE selfcorrect_intents SET status = 'done' WHERE key = {where}"
        self.truth.is_damaged |= self.store.statement(statement) > 0

    @rule(verdict=st.sampled_from(VERDICTS))
    def is_settled(self, verdict: str) -> None:
        self.truth.is_settled(self.store, verdict)

    def _config(self, thread: str, *, again: bool = False) -> Any:
        from selfcorrect.loop.context import AGAIN

        word = {AGAIN: True} if again else {}
        return {"configurable": {"thread_id": thread, **word}, "recursion_limit": 40}

    def _shows(self, there: Any) -> int:
        """Write down the calls that a checkpoint would make next; how many lines that took."""
        if "tools" not in there.next:
            return 0
        messages = there.values["messages"]
        person = next(each.id for each in reversed(messages) if each.type == "human")
        self.says_so(next(each for each in reversed(messages) if each.type == "ai"), person)
        return 1

    def _made(self, thread: str, work: Any, ending: Any, *, again: bool, shown: int = 0) -> None:
        self.ending, before = ending, len(self.store.told()) - shown
        try:
            work()
        except KeyboardInterrupt:
            assert ending is KeyboardInterrupt
        finally:
            self.ending = None
        for said, acts, _ in self._groups(before):
            self._judged(thread, said, acts, ending, again=again)

    def _dies(self, thread: str, seam: str, work: Any, *, again: bool, shown: int = 0) -> None:
        before = len(self.store.told()) - shown
        self.store.dies(seam, work)
        self.builds()
        for said, acts, settled in self._groups(before):
            for n, amount in said["calls"]:
                made = acts.count(amount)
                ending = None if settled & self._numbers(before, amount) else Lost
                alone = said | {"calls": [[n, amount]]}
                self._judged(thread, alone, [amount] * made, ending, again=again, killed=True)

    def _groups(self, before: int) -> list[tuple[Any, list[int], set[int]]]:
        """Each message of the model, what was done after it, and what was settled."""
        found: list[tuple[Any, list[int], set[int]]] = []
        for line in self.store.told()[before:]:
            if "said" in line:
                found.append((line, [], set()))
            elif "act" in line:
                found[-1][1].append(line["act"])
            else:
                found[-1][2].update(line["settled"])
        return found

    def _numbers(self, before: int, amount: int) -> set[int]:
        earlier = sum("act" in each for each in self.store.told()[:before])
        acts = [each["act"] for each in self.store.told("act")]
        return {n for n, each in enumerate(acts, 1) if n > earlier and each == amount}

    def _judged(
        self, thread: str, said: Any, acts: Any, ending: Any, *, again: bool, killed: bool = False
    ) -> None:
        truth = self.truth
        assert {*acts} <= {amount for _, amount in said["calls"]}
        for amount in {amount for _, amount in said["calls"]}:
            equal = (thread, amount) if self.declared else (thread, amount, said["person"])
            these = [(thread, said["said"], n, each) for n, each in said["calls"] if each == amount]
            made = acts.count(amount)
            can = [this for this in these if truth.may(this, equal, again=again)]
            must = [this for this in these if truth.must(this, equal, again=again)]
            assert made <= len(can), "made twice, or a doubt was forgotten"
            if not killed and ending is not Refused:
                assert made >= (len(must) if ending is None else bool(must)), "nothing against it"
            if again:  # of one that was killed nobody knows how far it came
                truth.lifted(equal)
            truth.unsure |= {equal, *these} if killed or ending is Refused else set()
            for this in can if made else ():
                if ending is None:
                    truth.was_done(this, None)
                else:
                    truth.was_lost(this, equal)

    def teardown(self) -> None:
        self.store.ends()


@pytest.mark.parametrize("declared", [True, False])
def test_in_an_agent_nothing_is_made_twice_or_forgotten(declared: bool) -> None:
    run_state_machine_as_test(lambda: Talk(declared=declared), settings=dose(3, 6))


def test_in_an_agent_with_postgres_nothing_is_made_twice_or_forgotten(postgres: str) -> None:
    run_state_machine_as_test(lambda: Talk(postgres), settings=dose(3, 6))


@pytest.mark.nightly
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_in_an_agent_all_night(kind: str, declared: bool, request: Any) -> None:
    dsn = request.getfixturevalue("postgres") if kind == "postgres" else None
    run_state_machine_as_test(lambda: Talk(dsn, declared=declared), settings=dose(NIGHT))
